"""Plays the sessions of a batch with whatever version of the package is on the path.

    python -P player.py BATCH

Out: a pickle with what was said of each event. It imports nothing but what every version has, and
nothing of the tests.
"""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

from sponsio_like import Blocked, Guard
from sponsio_like.contracts import Contract, Rule, Scope
from sponsio_like.errors import ContractError
from sponsio_like.syntax import read


def contract_of(plain: dict[str, Any]) -> Contract:
    """Return the contract of its plain data."""
    kind, start, stop = plain["scope"] or (None, None, None)
    return Contract(
        plain["name"],
        tuple(Rule(read(text), by=tuple(by)) for text, by in plain["rules"]),
        assumption=plain["assumption"] and read(plain["assumption"]),
        segment=kind and Scope(kind, start and read(start), stop and read(stop)),
    )


def happen(session: Any, event: dict[str, Any]) -> Any:
    """Let the event happen, and return what the session says of it."""
    who = {key: event[key] for key in ("agent", "depth") if key in event}
    match event["type"]:
        case "call":
            outcome = session.decide(event["tool"], event["args"], id=event["id"], **who)
            ask = isinstance(outcome, Blocked) and int(event["id"]) % 8 == 0
            return [said(outcome), outcome.advice if ask else ""]
        case "result":
            key = "output" if event["status"] == "ok" else "error"
            return repr(session.settle(event["id"], **{key: event["output"]}))
        case "message":
            return said(session.message(event["role"], event["text"], usage=event.get("usage")))
        case "refused":
            return repr(session.refused(event["tool"], event["args"], **who))
        case "step":
            return repr(session.step(event["atoms"]))
        case "fact":
            return repr(session.fact(event["key"], event["value"]))
    raise ValueError(event)


def said(outcome: Any) -> list[str]:
    """Return the kind of an outcome, and its violations in the order of their texts."""
    found = getattr(outcome, "violations", None) or ()
    return [type(outcome).__name__, *sorted(map(repr, found))]


def play(guard: Any, events: list[dict[str, Any]], stop: int) -> list[Any]:
    """Return what was said of each event of one session, and at its end."""
    now = [0.0]
    session = guard.session(clock=lambda: now[0])
    out: list[Any] = []
    for number, event in enumerate(events):
        now[0] = event["time"]
        try:
            told = happen(session, event)
        except ContractError as error:
            told = f"{type(error).__name__}: {error}"
        out.append([told, session.verdicts() if number % 3 == 0 else ""])
        if number == stop:
            kept = json.loads(json.dumps(session.snapshot()))
            session = guard.restore(kept, clock=lambda: now[0])
    out.append([repr(session.pending()), repr(session.finish()), session.verdicts()])
    return out


def played(contracts: list[dict[str, Any]], mode: Any, sessions: list[Any]) -> Any:
    """Return what was said in each session of one guard; the message if it cannot be made."""
    try:
        guard = Guard([contract_of(each) for each in contracts], mode=mode)
    except ContractError as error:
        return f"refused: {error}"
    return [play(guard, events, stop) for events, stop in sessions]


if __name__ == "__main__":
    tasks = pickle.loads(Path(sys.argv[1]).read_bytes())  # noqa: S301  the caller wrote it
    done = [played(contracts, mode, sessions) for _, contracts, mode, sessions in tasks]
    sys.stdout.buffer.write(pickle.dumps(done))
