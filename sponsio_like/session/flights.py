"""Calls on their way: what came of trying to let one through, and what is kept until its result.

In: an attempt of the interceptor. Out: `Attempt`, and `Flight` with its form in a snapshot.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.engine import Checked, Finding, Lane, Ledger, ResultPart, stoppable
from sponsio_like.events import Call, Context, Event, Message
from sponsio_like.logic.formula import Delivered
from sponsio_like.monitor import Change, Read
from sponsio_like.outcome import Allowed, Decision, Outcome, Redirected, Violation
from sponsio_like.values import NotCanonical, digest

IN_FLIGHT_CAP = 1_000
"""Most calls in flight at once in a session."""
UNLIKE = "?"
"""The first letter of the mark of an event that cannot be read, and so is like no other."""
FULL = "too many calls are in flight; settle some of them first"


Woken: TypeAlias = tuple[tuple[Lane, Checked], ...]
PassedCall: TypeAlias = tuple[str, str, Mapping[str, Any], str, int, float, Lane, Checked, Woken]
"""The last call, let through by its lane, as long as nothing has happened since: its id, tool,
arguments, agent and depth, its time, its lane, what that and lanes of woken clauses have read.

A plain tuple is made in a third of the time of a named one.
"""


class Flight(NamedTuple):
    """A call that was let through and has no result yet."""

    tool: str
    mark: str | tuple[Any, ...]
    """The fingerprint of the call; or what it is made of, as long as nobody has asked."""
    position: int
    waits: tuple[Change, ...]
    first: Outcome | None
    """The outcome that the host was given; None: that it may run."""
    sources: tuple[Delivered, ...] = ()
    key: str = ""
    """Its name in the world."""
    result_part: ResultPart = "all"
    """The part of its result that contracts read."""

    def outcome(self, id: str) -> Outcome:
        """Return the outcome that the host was given for the call of this id."""
        return self.first or Allowed(id)

    @property
    def digest(self) -> str:
        """The mark of the call."""
        if isinstance(self.mark, str):
            return self.mark
        id, tool, args, agent, depth, *_ = self.mark
        return event_fingerprint(Call(tool, args, id, agent, depth))


NO_FLIGHTS: Any = MappingProxyType({})
"""The calls in flight of all sessions that have none; to add one, a session makes a dict."""


NOTHING_UNREAD: Mapping[str, str] = MappingProxyType({})
"""The answers of tools that could not be read, of all sessions that have none."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of trying to let an event through. `late`: what time gone by has violated.

    `before` is the ledger that refused it, for the advice, and `answer` the strictest of what its
    contracts answer; `flight` a call with the same id that is in flight already, `why` what stands
    against it besides. None of these: it was let through now. `again`: it was told before.
    `spent`: it was too much work to read all of the event.
    """

    found: tuple[Finding, ...] = ()
    late: tuple[Violation, ...] = ()
    before: Ledger | None = None
    answer: Decision | None = None
    again: bool = False
    flight: Flight | None = None
    why: str = ""
    spent: bool = False

    def told_before(self, outcome: Outcome) -> bool:
        """True if the host has had this outcome already."""
        first = None if self.flight is None else self.flight.outcome(outcome.id)
        return self.again or (first is not None and isinstance(outcome, type(first)))


Answer = Callable[[tuple[Finding, ...]], Outcome]
"""The outcome for an event that is let through, whatever was found."""


def refusal_before(
    flights: dict[str, Flight], event: Event, context: Context, *, enforces: bool
) -> Attempt | None:
    """Return what stands against an event before any contract is asked; None if nothing.

    The run is over; the id of a call is in use; it is one call too many.
    """
    if context.stopped and enforces and stoppable(event):
        return Attempt(why=f"the run was stopped by `{context.stopped}`, for good")
    if not isinstance(event, Call):
        return None
    flight = flights.get(event.id)
    if flight is not None:
        return Attempt(flight=flight)
    if len(flights) < IN_FLIGHT_CAP:
        return None
    if enforces:
        return Attempt(why=FULL)
    del flights[next(iter(flights))]  # only observed: forget the oldest
    return None


def id_of(event: Event) -> str:
    """The id that a ticket is bound to; messages have none."""
    return event.id if isinstance(event, Call) else ""


def event_fingerprint(event: Call | Message) -> str:
    """Return the text that tells this event from others under its id."""
    try:
        if isinstance(event, Call):
            return f"{digest(event.tool, event.args)} {event.agent} {event.depth}"
        return digest("response", {"text": event.text})
    except (NotCanonical, TypeError, ArithmeticError):  # numbers of an odd kind
        return UNLIKE + secrets.token_hex(16)


def flight_data(flight: Flight) -> tuple[Any, ...]:
    """A call in flight, as a snapshot keeps it."""
    outcome = flight.first
    instead = (outcome.tool, outcome.args) if isinstance(outcome, Redirected) else None
    sources = tuple(repr(source) for source in flight.sources)
    kept = (flight.tool, flight.digest, flight.position, flight.waits, instead, sources)
    return (*kept, flight.key) if flight.key else kept


def all_resumed(
    kept: Mapping[str, Any], moved: Mapping[int, int], sources: Mapping[str, Delivered]
) -> dict[str, Flight]:
    """All calls in flight of a snapshot."""
    return {id: resumed(id, flight, moved, sources) for id, flight in kept.items()}


def resumed(
    id: str, kept: tuple[Any, ...], moved: Mapping[int, int], sources: Mapping[str, Delivered]
) -> Flight:
    """The call in flight that a snapshot has kept; `moved`: old clause numbers to new ones."""
    tool, mark, position, waits, instead, named, *key = kept
    changes = tuple(
        change._replace(clause=moved[change.clause], state=None)
        for change in waits
        if change.clause in moved
    )
    outcome = None if instead is None else Redirected(id, instead[0], instead[1], ())
    known = tuple(sources[name] for name in named if name in sources)
    return Flight(tool, mark, position, changes, outcome, known, *key)


def event_and_reads(kept: PassedCall) -> tuple[Call, list[Read]]:
    """Return the call as an event, and the letters that its clauses read."""
    id, tool, args, agent, depth, time, lane, checked, woken = kept
    pairs = ((lane, checked), *woken)
    reads = [each for lane, checked in pairs for each in lane.reads()(checked)]
    return Call(tool, args, id, agent, depth, time), reads
