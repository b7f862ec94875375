"""Caches what a clause reads of the events of a recorded trace, for all values of its variables.

In: a clause, the events of a trace. Out: the context at each event, and, for a clause with value
variables, its letters for each event and each result, and all values that occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sponsio_like.engine import Clause, Unread, unread_in_result, unread_slots
from sponsio_like.events import NOTHING_TOLD, Call, Context, Result, concerns, tokens_of
from sponsio_like.events import Event as Happening
from sponsio_like.logic.formula import Delivered, postorder
from sponsio_like.logic.formula import Denied as Refusals
from sponsio_like.monitor import BoundLetters, Change, Key, Letter, PositionCounts, Revealed
from sponsio_like.traces import CallEvent, DenialEvent, Event, FactEvent, MessageEvent, ResultEvent


class EventMoment(NamedTuple):
    """An event, the context when it is decided, and the context when it has its result."""

    event: Event
    before: Context
    after: Context


@dataclass(slots=True)
class Reader:
    """A cache of what a clause reads of the events of one trace."""

    clause: Clause
    seen: dict[int, BoundLetters] = field(default_factory=dict)
    parts: dict[int, Any] = field(default_factory=dict)
    heard: dict[tuple[int, Letter], Revealed] = field(default_factory=dict)
    told: list[EventMoment] = field(default_factory=list)
    lost: dict[int, Unread] = field(default_factory=dict)
    vague: dict[tuple[int, Letter], tuple[str, ...]] = field(default_factory=dict)

    def moments(self, events: Sequence[Event]) -> list[EventMoment]:
        """Return the events, each with the context before it and after its result."""
        if not self.told:
            self.told = list(_moments(self.clause, events))
        return self.told

    def bound_letters(self, event: Happening, context: Context) -> BoundLetters:
        """Return the letters that the clause reads of an event. Raises what atoms of
        users raise.
        """
        if id(event) not in self.seen:
            self.seen[id(event)] = self.clause.bound_letters(event, context)
        return self.seen[id(event)]

    def unread(self, event: Happening, context: Context, letter: Letter) -> Unread:
        """Return the slots that could not be read of an event, each with the reason in words."""
        if id(event) not in self.lost:
            self.lost[id(event)] = unread_slots(self.clause, event, context, letter)
        return self.lost[id(event)]

    def unheard(self, change: Change, result: Result, tool: str) -> tuple[str, ...]:
        """Return in words what could not be read of a result."""
        name = (id(result), change.letter)
        if name not in self.vague:
            self.vague[name] = unread_in_result(self.clause, change.letter, result, tool)
        return self.vague[name]

    def part(self, call: Call) -> Any:
        """Return the values of the fields that a clause is split by, of a call; None if
        it lacks one.
        """
        if id(call) not in self.parts:
            self.parts[id(call)] = self.clause.key(call)
        return self.parts[id(call)]

    def revealed(self, change: Change, result: Result, tool: str) -> Revealed:
        """Return the letters of a call with its result, for each value of the variables."""
        bindings, name = self.clause.bindings, (id(result), change.letter)
        assert bindings is not None
        if name not in self.heard:
            final = self.final(change, result, tool)
            self.heard[name] = bindings.settled(change.letter, result, final, change.given)
        return self.heard[name]

    def final(self, change: Change, result: Result, tool: str) -> dict[int, Any]:
        """Return the values of the slots that wait for a result; if an atom raises,
        those that violate.
        """
        try:
            return self.clause.results(change.letter, result, tool)
        except Exception:  # an atom is user code; the result counts all the same
            return self.clause.worst(change.letter)


def _moments(clause: Clause, events: Sequence[Event]) -> Iterator[EventMoment]:
    nodes = [node for slot in clause.slots for node in postorder(slot.node)]
    sources = {each: concerns(each.target) for each in nodes if isinstance(each, Delivered)}
    counted = {each: concerns(each.target) for each in nodes if isinstance(each, Refusals)}
    context, coming = NOTHING_TOLD, dict[str, list[Delivered]]()
    for event in events:
        match event:
            case FactEvent(name, value, time):
                context = context.told(name, value, time)
            case MessageEvent(_, usage):
                context = context.used(tokens_of(usage))
            case DenialEvent(call):
                terms = [each for each, asks in counted.items() if asks(call) is not False]
                context = context.refused(call, terms)
            case CallEvent(call):
                mine = [each for each, asks in sources.items() if asks(call) is not False]
                coming[call.id] = mine
        before = context
        if isinstance(event, ResultEvent) or (
            isinstance(event, CallEvent) and event.result is not None
        ):
            id = event.id if isinstance(event, ResultEvent) else event.call.id
            context = context.arrived(coming.pop(id, ()))
        yield EventMoment(event, before, context)


def keys_in(reader: Reader, events: Sequence[Event]) -> list[Key | None]:
    """Return all values of the variables in a trace; `[None]` for a clause without variables."""
    if reader.clause.bindings is None:
        return [None]
    found: dict[Key, None] = {}
    calls = dict[str, tuple[Change, str]]()
    for event, context, _ in reader.moments(events):
        match event:
            case CallEvent(call, result):
                found.update(dict.fromkeys(_bound_by(reader, call, context)))
                calls[call.id] = (_change(reader, call, context), call.tool)
                if result is not None:
                    told = reader.revealed(*_with(calls[call.id], result))
                    found.update(dict.fromkeys(told.keys))
            case ResultEvent(id, result, _) if id in calls:
                found.update(dict.fromkeys(reader.revealed(*_with(calls[id], result)).keys))
            case MessageEvent(message, _):
                found.update(dict.fromkeys(_bound_by(reader, message, context)))
    return list(found)


def _with(call: tuple[Change, str], result: Result) -> tuple[Change, Result, str]:
    return call[0], result, call[1]


def _bound_by(reader: Reader, event: Happening, context: Context) -> list[Key]:
    bindings = reader.clause.bindings
    assert bindings is not None
    return bindings.keys_of(event, context)


def _change(reader: Reader, call: Call, context: Context) -> Change:
    """Return the change that a call in flight makes; an empty one if the call cannot be read."""
    try:
        reading = reader.bound_letters(call, context)
    except Exception:  # an atom is user code; what it cannot tell binds nothing
        return Change(0, None, PositionCounts(0, 0), None, ())
    return Change(0, None, PositionCounts(0, 0), None, reading.others, reading.given)
