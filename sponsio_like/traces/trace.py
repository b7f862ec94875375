"""Reads traces: what agents did, one session a line.

In: a file of JSON lines, plain or gzip. Out: `Trace`s, one by one: typed events with their times,
and the inputs that the session delivers. What is not understood is refused with its place,
`file:line: event n`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.errors import SessionError, TraceError, closest
from sponsio_like.events import Call, Message, Result, Status, Step, check_fact, tokens_of
from sponsio_like.traces.foreign import beside, line_seen, misnamed, type_meant

RAW = "_raw"
"""The name under which arguments are kept that are no JSON object."""

ALWAYS = frozenset({"results", "time", "finish", "tool_names"})
"""The inputs that every trace delivers: a result and a time are assumed where none is written."""


class CallEvent(NamedTuple):
    """A call. `result` is how it settled at once; None while it waits for a later result.

    If the call is held, a person with the role `approved_by` says yes; empty: nobody answers.
    """

    call: Call
    result: Result | None
    approved_by: str = ""


class DenialEvent(NamedTuple):
    """A call that was refused when the trace was recorded: it did not happen."""

    call: Call


class ResultEvent(NamedTuple):
    """The result of an earlier call."""

    id: str
    result: Result
    time: float


class MessageEvent(NamedTuple):
    """A message, and the tokens that it took."""

    message: Message
    usage: Mapping[str, Any]


class FactEvent(NamedTuple):
    """A fact that the host told."""

    key: str
    value: Any
    time: float


class StepEvent(NamedTuple):
    """A plain step."""

    step: Step


Event: TypeAlias = CallEvent | DenialEvent | ResultEvent | MessageEvent | FactEvent | StepEvent


@dataclass(frozen=True, slots=True)
class Trace:
    """One session.

    `fields` are the other fields of its line; `inputs` are those that its events deliver.
    """

    id: str
    events: tuple[Event, ...]
    inputs: frozenset[str]
    fields: Mapping[str, Any]
    where: str = ""
    beside: frozenset[tuple[str, str]] = frozenset()
    """Tools, each with a field that stood beside empty arguments, and was not read."""
    withheld: frozenset[tuple[str, ...]] = frozenset()
    """The content that a decision log did not record: `("args", "pay")`, `("texts", "user")`, .."""

    @property
    def calls(self) -> int:
        """The number of its calls."""
        return sum(isinstance(event, CallEvent) for event in self.events)


def trace_of(value: Mapping[str, Any], where: str = "") -> Trace:
    """Return the trace that a JSON object describes; without an id, its place is its id.

    Raises `TraceError` for what is not understood.
    """
    events = value.get("events")
    if not isinstance(events, list):
        raise TraceError(f"{where}: {line_seen(value)}")
    reader = _EventReader(where, events)
    fields = {key: each for key, each in value.items() if key not in ("id", "events")}
    name = value.get("id")
    id = where if name is None else name if isinstance(name, str) else json.dumps(name)
    return Trace(id, tuple(reader.events()), reader.inputs(), fields, where, beside(events))


class _EventReader:
    """A reader of the events of one trace, in order."""

    def __init__(self, where: str, raw: Sequence[Any]) -> None:
        self.where = where
        self.raw = raw
        self.place = 0
        self.time = -1.0
        self.calls = 0
        self.flying: dict[str, list[str]] = {}

    def events(self) -> Iterator[Event]:
        results = self._results()
        named = {str(event["id"]) for event in self.raw if _names_itself(event)}
        for place, event in enumerate(self.raw):
            self.place = place
            self.time = self._time(event)
            yield self._event(event, results, named)

    def _event(self, event: Any, results: Mapping[str, list[int]], named: set[str]) -> Event:
        kind = event.get("type", "call")
        if lost := misnamed(kind, event) if isinstance(kind, str) else None:
            raise self._wrong(lost)
        match kind:
            case "call":
                return self._call(event, results, named)
            case "result":
                if event.get("id") is None:
                    raise self._wrong("a result needs `id`, that of its call")
                waiting = self.flying.get(str(event["id"]))
                id = waiting.pop(0) if waiting else str(event["id"])
                return ResultEvent(id, self._result(event), self.time)
            case "message":
                message = Message(
                    self._text(event, "role"), self._text(event, "text", ""), self.time
                )
                return MessageEvent(message, self._usage(event))
            case "fact":
                return FactEvent(self._text(event, "key"), self._fact(event), self.time)
            case "step":
                return StepEvent(Step(self._atoms(event), self.time))
        meant = type_meant(kind)
        hint = f"write `{meant}`" if meant else closest(kind, ("call", "result", *_OTHERS))
        raise self._wrong(f"unknown type `{kind}`; {hint}")

    def _call(
        self, event: Mapping[str, Any], results: Mapping[str, list[int]], named: set[str]
    ) -> CallEvent | DenialEvent:
        """Read a call.

        Of several in flight with one id, each gets an id of its own, and results in order.
        """
        id = event.get("id")
        name = given = str(self.calls) if id is None else str(id)
        waiting = self.flying.setdefault(given, [])
        left = [place for place in results.get(given, ()) if place > self.place]
        waits = event.get("status") is None and len(left) > len(waiting)
        while name in waiting or (name in named and (id is None or name != given)):
            name = f"#{name}"
        if waits:
            waiting.append(name)
        refused = event.get("status") == "refused"
        self.calls += not refused
        call = Call(
            self._text(event, "tool"),
            _args(event.get("args")),
            name,
            self._text(event, "agent", "agent"),
            self._depth(event),
            self.time,
        )
        if refused:
            return DenialEvent(call)
        approved_by = self._text(event, "approved_by", "")
        return CallEvent(call, None if waits else self._result(event), approved_by)

    def _results(self) -> dict[str, list[int]]:
        """Return the places of the results of each call.

        Raises `TraceError` for events that are no objects.
        """
        found: dict[str, list[int]] = {}
        for place, event in enumerate(self.raw):
            self.place = place
            if not isinstance(event, dict):
                raise self._wrong('it must be a JSON object, like {"tool": "search"}')
            if event.get("type") == "result":
                found.setdefault(str(event.get("id")), []).append(place)
        return found

    # --- fields -------------------------------------------------------------------------------

    def _result(self, event: Mapping[str, Any]) -> Result:
        return Result(self._status(event), event.get("output"))

    def _status(self, event: Mapping[str, Any]) -> Status:
        match event.get("status"):
            case "ok" | None:
                return "ok"
            case "error":
                return "error"
        raise self._wrong(f"`status` is `{event['status']}`; write `ok`, `error` or `refused`")

    def _text(self, event: Mapping[str, Any], field: str, otherwise: str | None = None) -> str:
        value = event.get(field)
        if isinstance(value, str):
            return value
        if value is None and otherwise is not None:
            return otherwise
        if value is None:
            raise self._wrong(f"a {event.get('type', 'call')} needs `{field}`")
        raise self._wrong(f"`{field}` must be a text, not {json.dumps(value)[:40]}")

    def _time(self, event: Mapping[str, Any]) -> float:
        """Return the event's own time, else one second after the event before."""
        time = event.get("time")
        if time is None:
            return self.time + 1.0
        if isinstance(time, bool) or not isinstance(time, int | float) or not math.isfinite(time):
            raise self._wrong("`time` must be a number of seconds, like 12.5")
        return float(time)

    def _depth(self, event: Mapping[str, Any]) -> int:
        depth = event.get("depth")
        if depth is None:
            return 0
        if isinstance(depth, bool) or not isinstance(depth, int):
            raise self._wrong("`depth` must be a whole number, like 1")
        return depth

    def _usage(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        usage = event.get("usage")
        if usage is None:
            return {}
        try:
            tokens_of(usage if isinstance(usage, dict) else "")
        except SessionError:
            raise self._wrong('`usage` must be like {"total_tokens": 12}') from None
        return dict(usage)

    def _fact(self, event: Mapping[str, Any]) -> Any:
        try:
            return check_fact(event.get("key"), event.get("value"))
        except SessionError as error:
            raise self._wrong(str(error)) from None

    def _atoms(self, event: Mapping[str, Any]) -> frozenset[str]:
        atoms = event.get("atoms")
        if isinstance(atoms, list) and all(isinstance(atom, str) for atom in atoms):
            return frozenset(atoms)
        raise self._wrong('a step needs `atoms`, a list like ["door_open"]')

    def _wrong(self, what: str) -> TraceError:
        return TraceError(f"{self.where}: event {self.place}: {what}")

    # --- inputs -------------------------------------------------------------------------------

    def inputs(self) -> frozenset[str]:
        """Return the inputs that these events deliver; one that no event shows was not recorded."""
        found = set(ALWAYS)
        for event in self.raw:
            kind = event.get("type", "call")
            found |= {name for name, field in _CALL_INPUTS if kind == "call" and field in event}
            if kind == "message":
                found |= {"messages", "usage"} if event.get("usage") else {"messages"}
            if kind == "fact":
                found.add("facts")
        return frozenset(found)


_OTHERS = ("message", "fact", "step")
_CALL_INPUTS = (("agents", "agent"), ("depth", "depth"))


def _names_itself(event: Any) -> bool:
    return event.get("type", "call") == "call" and event.get("id") is not None


def _args(args: Any) -> Mapping[str, Any]:
    """Return the arguments as an object; a text is parsed, anything else is kept as `_raw`."""
    if args is None:
        return {}
    if isinstance(args, str):
        try:
            read = json.loads(args)
        except (ValueError, RecursionError):
            read = args
        return read if isinstance(read, dict) else {RAW: args}
    return args if isinstance(args, dict) else {RAW: args}
