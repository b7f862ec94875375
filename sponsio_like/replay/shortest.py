"""Finds the shortest trace that keeps a contract, and the shortest that breaks it, by trying.

In: a contract. Out: `Shortest`: both traces, as events and in the short notation of traces; each
has been judged. All traces of the events of `letters.py` are tried, the shorter ones first, up to a
budget; after that one event that is repeated.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sponsio_like.contracts import ALL_INPUTS, Contract
from sponsio_like.replay.letters import Letter, letters_of, numbers_of
from sponsio_like.replay.replay import Replay, TraceVerdict
from sponsio_like.traces import trace_of

BUDGET = 6_000
"""The most traces that are judged."""
REPEATED = 200
"""The most times that one event is repeated."""
JSON_WORDS = ("true", "false", "null")
Events = tuple[Letter, ...]


@dataclass(frozen=True, slots=True)
class Shortest:
    """The shortest traces that were found; None where none was.

    `owed`: the trace breaks the contract only because it ends there. `all_tried`: no shorter trace
    of these events was left out.
    """

    keeps: Events | None
    breaks: Events | None
    owed: bool = False
    all_tried: bool = True


def shortest_of(contract: Contract, budget: int = BUDGET) -> Shortest:
    """Return the shortest trace that keeps the contract and makes it apply, and one that breaks it.

    Raises `ContractError` if the contract cannot be compiled.
    """
    replay = Replay([contract])
    keeps = spare = breaks = None
    owed = False
    tried = 0
    for word in _words(contract):
        if word[-1].get("type") == "fact":
            continue  # a call or a message is judged, a fact is not
        if tried >= budget or (keeps is not None and breaks is not None):
            break
        tried += 1
        judged = judge_events(replay, word)
        if not judged.clean:
            if breaks is None:
                breaks, owed = word, not judged.violations
        elif keeps is None and any(judged.applied.values()):
            keeps = word
        elif spare is None:
            spare = word
    return Shortest(keeps or spare, breaks, owed, tried < budget)


def _words(contract: Contract) -> Iterator[Events]:
    """Yield traces: all up to some length, then those that repeat one event."""
    letters = letters_of(contract)
    yield from itertools.chain.from_iterable(
        itertools.product(letters, repeat=n) for n in range(1, _whole_levels(len(letters)) + 1)
    )
    most = max((int(n) for n in numbers_of(contract) if n < REPEATED), default=4) + 2
    starts: list[Events] = [(), *((each,) for each in letters)]
    for times in range(2, most + 1):
        for start, each in itertools.product(starts, letters):
            yield (*start, *(each,) * times)


def _whole_levels(size: int) -> int:
    """Return the length up to which all traces are tried."""
    level = 1
    while size ** (level + 1) <= BUDGET / 2 and level < 6:
        level += 1
    return max(level, 2)


def judge_events(replay: Replay, events: Iterable[Mapping[str, Any]]) -> TraceVerdict:
    """Return what becomes of these events, as a trace that has every input."""
    return replay.judge(replace(trace_of({"events": timed(events)}, "made"), inputs=ALL_INPUTS))


def timed(word: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the events with their times, as a trace file has them."""
    time, out = -1.0, list[dict[str, Any]]()
    for each in word:
        time += each.get("wait", 1.0)
        event = {key: value for key, value in each.items() if key != "wait"}
        kind = "call" if "tool" in event else event["type"]
        status = {"status": "ok"} if kind == "call" and "status" not in event else {}
        out.append({"type": kind, **event, **status, "time": time})
    return out


# --- in words -------------------------------------------------------------------------------------


def shortest_lines(contract: Contract) -> list[tuple[str, str]]:
    """Return the shortest traces as people read them, each with its label."""
    found = shortest_of(contract)
    left = "none was found" + ("" if found.all_tried else f" among {BUDGET:,}")
    owed = ", if the session ends there" if found.owed else ""
    return [
        ("keeps", left if found.keeps is None else notation(found.keeps)),
        ("breaks", left if found.breaks is None else notation(found.breaks) + owed),
    ]


def notation(word: Iterable[Mapping[str, Any]], *, whole: bool = False) -> str:
    """Return a trace in the short notation of docs/patterns.md.

    What is repeated stands once, and long texts are cut, unless it is wanted `whole`.
    """
    if whole:
        return " ".join(_note(each, whole=True) for each in word)
    parts = []
    for each, group in itertools.groupby(word, key=_note):
        times = len(list(group))
        parts.append(
            each if times == 1 else f"{each} (x{times})" if times > 3 else _again(each, times)
        )
    return " ".join(parts) or "(nothing)"


def _again(text: str, times: int) -> str:
    return " ".join([text] * times)


def _note(event: Mapping[str, Any], *, whole: bool = False) -> str:
    wait = f"+{event['wait']:g}s " if "wait" in event else ""
    if "tool" not in event:
        return wait + _note_of_other(event, whole=whole)
    pairs = event.get("args", {}).items()
    args = ", ".join(f"{_key(key)}={_value(value, whole=whole)}" for key, value in pairs)
    said = str(event["tool"]) + (f"({args})" if args else "")
    said += f"@{event['agent']}" if "agent" in event else ""
    said += f"^{event['depth']}" if "depth" in event else ""
    said += {"error": "!", "refused": "~"}.get(event.get("status", ""), "")
    return wait + said + (f"={_value(event['output'], whole=whole)}" if "output" in event else "")


def _key(name: str) -> str:
    return name if name.isidentifier() else _value(name, whole=True)


def _note_of_other(event: Mapping[str, Any], *, whole: bool) -> str:
    if event["type"] == "message":
        tokens = event.get("usage", {}).get("total_tokens")
        return (
            f"tokens:{tokens}"
            if tokens
            else f"msg:{event['role']}={_value(event['text'], whole=whole)}"
        )
    key, value = event["key"], event["value"]
    if key == "permissions":
        return f"permit:{','.join(value)}"
    if key == "approval":
        return f"approve:{value['action']}/{value['role']}"
    return f"ctx:{key}={_value(value, whole=whole)}"


def _value(value: Any, *, whole: bool = False) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    long = isinstance(value, str) and len(value) > 40 and not whole
    plain = isinstance(value, str) and value.isidentifier() and value not in JSON_WORDS
    return f'"{value[:3]}.."' if long else value if plain else text
