"""Explains the violations on a recorded trace for people: a small timeline for each.

In: contracts, a trace. Out: `ExplainedViolation`s: contract, values, calls that matter; as lines or
as JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeAlias

from sponsio_like.advice import plainly
from sponsio_like.contracts import UNSAID, About
from sponsio_like.engine import Clause
from sponsio_like.errors import ContractError
from sponsio_like.monitor import Key, Reason, value_text
from sponsio_like.outcome import Unfulfilled, Violation
from sponsio_like.replay.replay import Replay, TraceVerdict
from sponsio_like.replay.reread import Reader, keys_in
from sponsio_like.replay.witness import Explanation, explanations, lacking_key, merge_explanations
from sponsio_like.terminal import Styled
from sponsio_like.traces import CallEvent, Event, MessageEvent, ResultEvent, StepEvent, Trace

WIDTH = 72
"""The most characters of a call that are shown."""
KEYS_CAP = 400
"""The most values that are all explained; of more, only those that the replay has named."""
Word: TypeAlias = Callable[[Any], Any]
"""A function from a value to the value itself, or to a label for it."""
LABEL = re.compile(r'"(#\d+)"')
SAID = {
    "violates": "violates it",
    "forbids": "forbids it",
    "missing": "was missing",
    "counted": "was counted last",
    "asks": "still waits for",
    "unread": "could not be told",
}


EventPlace: TypeAlias = tuple[int, float]
"""The number of calls before an event, and the number of the event: infinite, if it is a call."""
Breach: TypeAlias = Violation | Unfulfilled
"""A violation or unfulfilled obligation that the replay has found."""


@dataclass(frozen=True, slots=True)
class ExplainedViolation:
    """One contract, violated or left open at one call, for these values.

    They are the values of its variables, or `by`: those of the fields that it is split by.
    `applied` is the number of events of the trace to which the contract applied.
    """

    contract: str
    message: str
    values: tuple[tuple[str, Any], ...]
    told: Explanation
    by: bool = False
    applied: int = 0
    about: About = UNSAID

    def as_json(self, trace: str, word: Word = plainly) -> dict[str, Any]:
        """Return the finding as `sponsio-like explain --json` prints it."""
        each = (
            {"what": r.what, "call": r.call, **_event(r), "text": r.text} for r in self.told.reasons
        )
        return {
            "id": trace,
            "contract": self.contract,
            "applied": self.applied,
            "message": self.message,
            **({"about": said} if (said := self.about.said()) else {}),
            "call": self.told.call,
            **_event(self.told),
            "open": self.told.open,
            "witnesses": list(self.told.witnesses),
            "values": {name: word(value) for name, value in self.values},
            "because": list(each),
        }


def _event(told: Explanation | Reason) -> dict[str, int]:
    """Return the number of a message, or a step, as JSON data; empty for a call."""
    return {} if told.event is None else {"event": told.event}


def explained(
    replay: Replay, trace: Trace, only: str | None = None, judged: TraceVerdict | None = None
) -> list[ExplainedViolation]:
    """Return the findings of the contracts, or `only` of this one, on a trace.

    `judged` is what the replay has made of the trace, if that is known. Raises `ContractError` if
    there is no such contract.
    """
    names = [contract.name for contract in replay.contracts]
    if only is not None and only not in names:
        raise ContractError.of(f"no contract is named `{only}`", f"there are: {', '.join(names)}")
    judged = judged or replay.judge(trace)
    policy = replay.play(trace).session.policy
    every: list[Breach] = [*judged.violations, *judged.unfulfilled]
    found: list[ExplainedViolation] = []
    for name in dict.fromkeys(each.contract for each in every):
        if only in (None, name):
            pairs = zip(policy.owner, policy.clauses, strict=True)
            own = [clause for k, clause in pairs if policy.contracts[k].name == name]
            mine = [each for each in every if each.contract == name]
            found += _of_contract(own, trace.events, mine)
    about, applied = {each.name: each.about for each in replay.contracts}, judged.applied
    for i, one in enumerate(found):
        name = one.contract
        found[i] = replace(one, applied=applied.get(name, 0), about=about.get(name, UNSAID))
    return sorted(found, key=lambda each: (*_place(each.told), each.contract))


def _of_contract(
    clauses: Sequence[Clause], events: Sequence[Event], named: Sequence[Breach]
) -> Iterator[ExplainedViolation]:
    """Yield each violation that the replay has found, with its reasons.

    Where no reason can be told (memory was full, say), the violation is told without one.
    """
    violated = {each.position: each for each in named if isinstance(each, Violation)}
    owed = [each for each in named if isinstance(each, Unfulfilled)]
    told: set[int] = set()
    for clause in clauses:
        for key, one in _of_clause(clause, events, named):
            if bool(owed) if one.open else one.call in violated:
                told.add(-1 if one.open else one.call)
                values = _values(clause, key)
                yield ExplainedViolation(
                    named[0].contract, named[0].message, values, one, bool(clause.by)
                )
    for position in violated.keys() - told:
        each = violated[position]
        event = None if each.tool else _no_call(events, position)
        bare = Explanation(position, (), witnesses=(position,), event=event)
        yield ExplainedViolation(each.contract, each.message, each.values, bare)
    for left in owed if -1 not in told else ():
        end = sum(isinstance(event, CallEvent) for event in events)
        yield ExplainedViolation(
            left.contract, left.message, left.values, Explanation(end, (), open=True)
        )


def _no_call(events: Sequence[Event], position: int) -> int | None:
    """Return the first message or step between these calls; None if there is none."""
    calls = accumulate((isinstance(event, CallEvent) for event in events), initial=0)
    each = enumerate(zip(events, calls, strict=False))
    places = (
        at
        for at, (event, n) in each
        if isinstance(event, (MessageEvent, StepEvent)) and n == position
    )
    return next(places, None)


def _of_clause(
    clause: Clause, events: Sequence[Event], named: Sequence[Breach]
) -> Iterator[tuple[Key | None, Explanation]]:
    reader = Reader(clause)
    if clause.by:
        for one in lacking_key(reader, events):
            yield None, one
    everybody = set[tuple[int, int | None, bool]]()
    for key in _keys(reader, events, named):
        whole = clause.bindings is not None and key == clause.bindings.nobody
        for one in merge_explanations(explanations(reader, events, key)):
            name = (one.call, one.event, one.open)
            if whole:
                everybody.add(name)
            elif name in everybody and not _binds(reader, events, one, key):
                continue  # told already, as true for every value
            yield None if whole else key, one


def _keys(reader: Reader, events: Sequence[Event], named: Sequence[Breach]) -> Iterable[Key | None]:
    """Return the keys of values to explain; first, the key that stands for all others."""
    clause = reader.clause
    if clause.by:
        return _split(reader, events, named)
    keys = keys_in(reader, events)
    if len(keys) > KEYS_CAP:
        told = {each.values for each in named}
        keys = [key for key in keys if _values(clause, key) in told]
    return keys if clause.bindings is None else [clause.bindings.nobody, *keys]


def _split(reader: Reader, events: Sequence[Event], named: Sequence[Breach]) -> list[Key | None]:
    """Return the values of the violating calls; of all calls for violations without a call."""
    parts = [reader.part(event.call) for event in events if isinstance(event, CallEvent)]
    places = [each.position for each in named if isinstance(each, Violation) and each.tool]
    if len(places) == len(named):
        parts = [parts[place] for place in places]
    return [key for key in dict.fromkeys(parts) if key is not None]


def _binds(reader: Reader, events: Sequence[Event], told: Explanation, key: Key | None) -> bool:
    """True if this call, or this message, has this value by itself."""
    calls: list[object] = [event.call for event in events if isinstance(event, CallEvent)]
    at = calls[told.call : told.call + 1]
    if told.event is not None:
        at = [each.message for each in events[told.event :][:1] if isinstance(each, MessageEvent)]
    seen = reader.seen.get(id(at[0])) if at else None
    return seen is not None and key in seen.keys


def _values(clause: Clause, key: Key | None) -> tuple[tuple[str, Any], ...]:
    if key is None:
        return ()
    if clause.bindings is not None:
        return clause.bindings.said(key)
    parts = zip(clause.by, key, strict=True)
    return tuple(
        (path, value_text(part)) for path, part in parts if path != "@tool"
    )  # the call shows it


# --- for people -----------------------------------------------------------------------------------


def page(trace: Trace, found: Iterable[ExplainedViolation], word: Word = plainly) -> list[Styled]:
    """Return the findings as timelines. `word` makes what is written for a value."""
    lines = _lines(trace.events, word)
    out: list[Styled] = []
    for each in found:
        sign = "" if each.by else "$"
        said = (f", {sign}{name} = {_written(word(v))}" for name, v in each.values)
        values = "".join(said)
        what = "still open" if each.told.open else "violated"
        out.append((f"{each.contract}: {what} in {trace.id}{values}", "bold"))
        out += [(f"  {said}", "dim") for said in (each.about.because, each.message) if said]
        out += _timeline(each.told, lines)
        out.append(("", ""))
    return out


def _place(each: Explanation | Reason) -> EventPlace:
    call = -1 if each.call is None else each.call
    return call, math.inf if each.event is None else each.event


def _timeline(told: Explanation, lines: Mapping[EventPlace, str]) -> Iterator[Styled]:
    reasons = list(told.reasons)
    if not any(each.what in ("violates", "asks") for each in reasons) and not told.open:
        reasons.append(Reason("violates", told.call, "", told.event))
    places = {_place(told): list[Reason]()}
    for each in reasons:
        if each.call is not None:
            places.setdefault(_place(each), []).append(each)
    for place, mine in sorted(places.items()):
        said = "; ".join(dict.fromkeys(map(_said, mine)))
        style = "bold red" if any(each.what == "violates" for each in mine) else ""
        yield lines.get(place, f"  call {place[0]:<4} (the end)"), style
        if said:
            yield f"            <- {said}", ""
    for each in reasons:
        if each.call is None:
            since = "never happened" if each.what == "missing" else SAID[each.what]
            yield f"  {'-':<9} {each.text}", ""
            yield f"            <- {since} so far", ""


def _said(reason: Reason) -> str:
    if reason.what == "unread":
        return reason.text
    if reason.what == "missing":
        return f"since then is missing: {reason.text}"
    if reason.what == "asks":
        return f"still waits for {reason.text or 'an answer'}"
    return f"{SAID[reason.what]}: {reason.text}" if reason.text else SAID[reason.what]


def _written(value: Any) -> str:
    return LABEL.sub(r"\1", json.dumps(value, default=str))


def _lines(events: Iterable[Event], word: Word) -> dict[EventPlace, str]:
    """Return each call, message and step as one line, by its place."""
    out: dict[EventPlace, str] = {}
    ids: dict[str, EventPlace] = {}
    calls = 0
    for at, event in enumerate(events):
        match event:
            case CallEvent(call, result):
                args = ", ".join(f"{k}={_written(word(v))}" for k, v in call.args.items())
                ids[call.id] = calls, math.inf
                failed = result is not None and result.status == "error"
                line = _short(f"{call.tool}({args})") + (" failed" if failed else "")
                out[calls, math.inf] = f"  call {calls:<4} {line}"
                calls += 1
            case ResultEvent(id, result, _) if result.status == "error" and id in ids:
                out[ids[id]] += " failed"
            case MessageEvent(message):
                line = f"{message.role}: {_written(word(message.text))}"
                out[calls, at] = f"  {'message':<9} {_short(line)}"
            case StepEvent(step):
                out[calls, at] = f"  {'step':<9} {_short(', '.join(sorted(step.atoms)))}"
    return out


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 2]}.."
