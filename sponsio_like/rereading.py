"""A recorded trace, as a clause with value variables reads it: once, for all values.

In: a clause, the events of a trace. Out: what it read of each event and of each result, and all
values that occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sponsio_like.bindings import Revealed, Sight
from sponsio_like.clause import Clause
from sponsio_like.context import NOTHING_TOLD, Context
from sponsio_like.events import Event as Happening
from sponsio_like.events import Result
from sponsio_like.past import Letter
from sponsio_like.trace import Called, Event, Said, Seen, Settled, Told
from sponsio_like.variables import Key
from sponsio_like.watch import Change, Place


@dataclass(slots=True)
class Reader:
    """What a clause with variables reads of the events of one trace: once, for all"""

    clause: Clause
    seen: dict[int, Sight] = field(default_factory=dict)
    heard: dict[tuple[int, Letter], Revealed] = field(default_factory=dict)

    def sight(self, event: Happening, context: Context) -> Sight:
        """What was read of an event."""
        if id(event) not in self.seen:
            self.seen[id(event)] = self.clause.sight(event, context)
        return self.seen[id(event)]

    def revealed(self, change: Change, result: Result, tool: str) -> Revealed:
        """What the result of a call decides."""
        bound, name = self.clause.bound, (id(result), change.letter)
        assert bound is not None
        if name not in self.heard:
            final = self.clause.results(change.letter, result, tool)
            self.heard[name] = bound.settled(change.letter, result, final, change.given)
        return self.heard[name]


def keys_in(reader: Reader, events: Sequence[Event]) -> list[Key | None]:
    """All values of the variables that occur in a trace; None for a clause without variables."""
    bound = reader.clause.bound
    if bound is None:
        return [None]
    found: dict[Key, None] = {}
    context, calls = NOTHING_TOLD, dict[str, tuple[Change, str]]()
    for event in events:
        match event:
            case Told(name, value, time):
                context = context.told(name, value, time)
            case Called(call, result):
                found.update(dict.fromkeys(bound.keys_of(call, context)))
                sight = reader.sight(call, context)
                change = Change(0, None, Place(0, 0), None, sight.others, sight.given)
                calls[call.id] = (change, call.tool)
                if result is not None:
                    told = reader.revealed(change, result, call.tool)
                    found.update(dict.fromkeys(told.keys))
            case Settled(id, result, _) if id in calls:
                found.update(
                    dict.fromkeys(reader.revealed(calls[id][0], result, calls[id][1]).keys)
                )
            case Said(message, _):
                found.update(dict.fromkeys(bound.keys_of(message, context)))
            case Seen():
                pass
    return list(found)
