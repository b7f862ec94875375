"""Reads the sessions of a decision log as traces.

In: the records of a log, in any order of sessions. Out: one `Trace` a session. What the log does
not have is named in `Trace.withheld`, and what depends on it is not judged: arguments, answers and
texts that were not asked for, and the sessions whose calls are not all there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sponsio_like.errors import TraceError
from sponsio_like.traces.jsonl import Line, ignored, read_lines, stamp_seconds
from sponsio_like.traces.trace import CallEvent, Trace, trace_of

CUT: tuple[str, ...] = ("calls",)
"""The name of what is missing where some records of a session are."""


@dataclass(slots=True)
class _LoggedSession:
    """One session, as far as its records have been read."""

    where: str
    events: list[dict[str, Any]] = field(default_factory=list)
    withheld: set[tuple[str, ...]] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    held: dict[str, dict[str, Any]] = field(default_factory=dict)
    passed: int = 0
    furthest: int = -1
    ended: bool = False
    contracts: str = ""


def is_log(value: Mapping[str, Any]) -> bool:
    """True if a line is a record of a decision log."""
    return isinstance(value.get("event"), str) and "events" not in value


def read_records(path: str | Path, progress: Callable[[int], None] = ignored) -> Iterator[Line]:
    """Yield the records of a log one by one, each with its place `file:line`.

    A line that is not JSON is a record `dropped`, which counts one lost record: what it said is not
    known. A last line that is incomplete is left out. Raises `TraceError` if the first line is not
    JSON: then this is no log.
    """
    damaged = list[str]()
    for line in read_lines(path, progress, torn=True, lost=damaged.append):
        yield from map(_damaged, damaged)
        damaged.clear()
        yield line
    yield from map(_damaged, damaged)


def _damaged(where: str) -> Line:
    return Line(where, {"event": "dropped", "records": 1, "damaged": True})


def lost_by(record: Mapping[str, Any]) -> int:
    """Return the number of records that were lost before this one. Raises `TypeError`."""
    if record.get("event") != "dropped":
        return 0
    lost = record.get("records")
    if type(lost) is not int or lost < 0:
        raise TypeError(f"{lost!r} is no number of records")
    return lost


def logged_traces(lines: Iterable[Line]) -> Iterator[Trace]:
    """Yield the sessions of a log, each when it has ended, then those that have not.

    Raises `TraceError` for a line that is no record of a log.
    """
    known: dict[str, _LoggedSession] = {}
    gap = False
    for where, record in lines:
        event = record.get("event")
        if not isinstance(event, str):
            raise TraceError(f"{where}: not a record of a decision log: it has no `event`")
        if event == "dropped":
            gap = True  # however many
            for told in known.values():
                told.withheld.add(CUT)
        session = record.get("session")
        if not isinstance(session, str):
            continue
        told = known.setdefault(session, _LoggedSession(where, withheld={CUT} if gap else set()))
        try:
            _tell(told, event, record)
        except (KeyError, TypeError, AttributeError):
            raise TraceError(f"{where}: not a `{event}` record of a decision log") from None
        if told.ended:
            yield _trace(session, known.pop(session))
    for session, told in known.items():
        yield _trace(session, told)


def _tell(told: _LoggedSession, event: str, record: Mapping[str, Any]) -> None:
    if record.get("again"):
        return
    match event:
        case "decision":
            _decided(told, record)
        case "settlement":
            if str(record["id"]) not in told.ids:
                told.withheld.add(CUT)
                return
            said = {"type": "result", "id": record["id"], "status": record["status"]}
            if _whole(record, "output"):
                said["output"] = record["output"]
            else:
                told.withheld.add(("outputs", record["tool"]))
            told.events.append(_timed(said, record))
        case "message" if record["outcome"] == "allowed":
            _said(told, record)
        case "fact":
            if not _whole(record, "value"):
                told.withheld.add(("facts", record["key"]))
                return
            fact = {"type": "fact", "key": record["key"], "value": record["value"]}
            told.events.append(_timed(fact, record))
        case "step":
            step = {"type": "step", "atoms": list(record.get("atoms", ()))}
            told.events.append(_timed(step, record))
        case "refused":
            told.events.append(_call(told, record, record["tool"], status="refused"))
        case "restored":
            if not told.events:
                told.withheld.add(CUT)
        case "finish":
            told.ended = True
            if told.passed < record.get("calls", 0):
                told.withheld.add(CUT)


def _decided(told: _LoggedSession, record: Mapping[str, Any]) -> None:
    id, outcome = str(record["id"]), record["outcome"]
    if outcome in ("allowed", "redirected"):
        told.passed += 1
        told.furthest = max(told.furthest, record.get("position", -1))
        told.ids.add(id)
        if outcome == "allowed":
            told.events.append(_call(told, record, record["tool"], id=id))
        else:
            instead = (
                {"args": record["substitute_args"]} if _whole(record, "substitute_args") else {}
            )
            about = {**record, "withheld": (), "args": None, **instead}
            told.events.append(_call(told, about, record["substitute"], id=id))
    elif outcome == "blocked":
        told.events.append(_call(told, record, record["tool"], id=id, status="refused"))


def _whole(record: Mapping[str, Any], name: str) -> bool:
    """True if a record has this field, and nothing was taken out of it."""
    return name in record and name not in record.get("redacted", ())


def _call(
    told: _LoggedSession, record: Mapping[str, Any], tool: str, **more: Any
) -> dict[str, Any]:
    args = record.get("args")
    if args is None:
        told.withheld.add(("args", tool))
    told.withheld |= {("args", tool, name) for name in record.get("withheld", ())}
    about = {"tool": tool, "args": args or {}, "agent": record.get("agent", "agent"), **more}
    return _timed(about | {"depth": record.get("depth", 0)}, record)


def _said(told: _LoggedSession, record: Mapping[str, Any]) -> None:
    role = record["role"]
    message: dict[str, Any] = {"type": "message", "role": role, "text": record.get("text", "")}
    if not _whole(record, "text"):
        told.withheld.add(("texts", role))
    if tokens := record.get("tokens"):
        message["usage"] = {"total_tokens": tokens}
    told.events.append(_timed(message, record))


def _timed(event: dict[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event with its time: that of the session, else that of the line."""
    time = record.get("time")
    time = stamp_seconds(record.get("timestamp")) if time is None else time
    return event if time is None else event | {"time": time}


def _trace(session: str, told: _LoggedSession) -> Trace:
    if told.furthest >= told.passed:
        told.withheld.add(CUT)
    trace = trace_of({"id": session, "events": told.events}, told.where)
    heard = {str(each["id"]) for each in told.events if each.get("type") == "result"}
    pairs = zip(trace.events, told.events, strict=True)
    events = tuple(  # a call without a result is in flight still: none is made up for it
        CallEvent(event.call, None)
        if isinstance(event, CallEvent) and raw.get("id") not in heard
        else event
        for event, raw in pairs
    )
    inputs = trace.inputs if told.ended else trace.inputs - {"finish"}
    return replace(trace, events=events, inputs=inputs, withheld=frozenset(told.withheld))
