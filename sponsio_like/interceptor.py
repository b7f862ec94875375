"""Stand between the model and the tools: judge one event against every contract, atomically.

Flow: event -> Attempt. INVARIANT: no lock is held while user code runs (atoms, clock): an event
is read first, then judged and committed under the lock. INVARIANT: what is refused leaves no
trace; no monitor sees it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from sponsio_like.clause import Change, Now
from sponsio_like.compiler import Policy
from sponsio_like.context import Context
from sponsio_like.demands import owed
from sponsio_like.events import Call, Event, Result
from sponsio_like.flights import IN_FLIGHT_CAP, Answer, Attempt, Flight, plain, resumed
from sponsio_like.ledger import Judgement, Ledger, Read
from sponsio_like.monitor import Verdict, overall
from sponsio_like.outcome import Allowed, Ask, Decision, Escalate, Outcome, Unfulfilled, Violation
from sponsio_like.snapshot import part, put_back, take
from sponsio_like.tickets import Asked, Desk, Ticket
from sponsio_like.verdicts import (
    Finding,
    findings,
    holding,
    reported,
    stoppable,
    strictest,
    unreadable,
)

T = TypeVar("T")


class Interceptor:
    """All the state of one session, behind one lock."""

    def __init__(self, policy: Policy, clock: Callable[[], float]) -> None:
        self.policy = policy
        self.context = Context()
        self.flights: dict[str, Flight] = {}
        self.calls = 0
        self.time = float("-inf")
        self.desk = Desk()
        self._ledger = Ledger(policy)
        self._clock = clock
        self._lock = threading.Lock()

    # --- positions ----------------------------------------------------------------------------

    def attempt(
        self,
        event: Event,
        mark: str = "",
        answer: Answer = lambda _: Allowed(""),
        rulings: Mapping[str, Decision] = MappingProxyType({}),
        *,
        substitute: bool = False,
    ) -> Attempt:
        """Let the event through unless a contract stands against it.

        `rulings`: what callables of the user have answered, by contract. A ticket of the call is
        used up by its `substitute` too, but answers nothing that stands against that.
        """
        late: tuple[Violation, ...] = ()
        while True:
            with self._lock:
                touched = self._ledger.touched(event)
            reads, failed = self._read(touched, event)
            now = self._ask_clock() if stoppable(event) else self._read_clock()
            with self._lock:
                standing = self._standing(event)
                if standing is not None:
                    return replace(standing, late=late)
                late += self._expire(now)
                if self._ledger.touched(event) != touched:
                    continue  # time or another thread has moved on: other clauses have to be read
                judgement = self._ledger.judge(event, reads, self.time)
                failed += [self._unreadable(event, *each) for each in judgement.failed]
                violated = judgement.violated
                found = (*findings(self.policy, violated, event, self.calls, rulings), *failed)
                ticket = self.desk.approved(id_of(event), mark, self.time)
                left = found if substitute else _without(found, ticket)
                against = strictest(left) if stoppable(event) else None
                if against is not None:
                    keys = [clause.key(event) for clause in self.policy.clauses if clause.by]
                    before = self._ledger.copy(keys)
                    return Attempt(found, late, before, against)
                self._let_through(event, judgement, mark, answer(found))
                if ticket is not None:
                    self.desk.use(ticket)
            return Attempt(found, late)

    def _standing(self, event: Event) -> Attempt | None:
        """What stands against a call before any contract is asked: its id, or one call too many."""
        if not isinstance(event, Call):
            return None
        flight = self.flights.get(event.id)
        if flight is not None:
            return Attempt(flight=flight)
        if len(self.flights) < IN_FLIGHT_CAP:
            return None
        if self.policy.enforces:
            return Attempt(full=True)
        del self.flights[next(iter(self.flights))]  # only observed: forget the oldest
        return None

    def _read(self, touched: Iterable[int], event: Event) -> tuple[list[Read], list[Finding]]:
        """What every touched clause reads; and those that cannot, because an atom raised."""
        reads: list[Read] = []
        failed: list[Finding] = []
        for i in touched:
            try:
                reads.append(self._ledger.read(i, event, self.context))
            except Exception as error:  # an atom is user code; a clause that cannot be read blocks
                failed.append(self._unreadable(event, i, error))
        return reads, failed

    def _unreadable(self, event: Event, i: int, error: Exception) -> Finding:
        return unreadable(self.policy, i, event, self.calls, error)

    def _let_through(self, event: Event, judgement: Judgement, mark: str, outcome: Outcome) -> None:
        self._ledger.commit(judgement)
        if isinstance(event, Call):
            waits, sources = self._ledger.waiting(judgement), self.policy.delivering(event)
            flight = Flight(event.tool, mark, self.calls, waits, outcome, sources)
            self.flights[event.id] = flight
            self.calls += 1

    def _expire(self, now: float) -> tuple[Violation, ...]:
        self.time = max(self.time, now)
        violated = self._ledger.expire(Now(self.time, self.context))
        return reported(self.policy, violated, self.calls, None) if violated else ()

    def at_desk(self, ask: Callable[[Desk, float], T]) -> T:
        """Ask the session's desk for something, at this time."""
        now = self._read_clock()
        with self._lock:
            self.time = max(self.time, now)
            return ask(self.desk, self.time)

    # --- results ------------------------------------------------------------------------------

    def land(self, id: str) -> Flight | None:
        """Take the call out of the air; None if it is not in flight."""
        with self._lock:
            return self.flights.pop(id, None)

    def flying(self) -> tuple[tuple[str, str, tuple[Change, ...]], ...]:
        """The calls in flight: their ids, their tools, and what waits for their results."""
        with self._lock:
            return tuple((id, each.tool, each.waits) for id, each in self.flights.items())

    def settle(self, flight: Flight, result: Result) -> tuple[Violation, ...]:
        """The call has its result. What that reveals, and what time has."""
        finals = [self._final(change, result, flight.tool) for change in flight.waits]
        now = self._read_clock()
        with self._lock:
            self.context = self.context.arrived(flight.sources)
            late = self._expire(now)
            present = Now(self.time, self.context)
            bad = [
                change.clause
                for change, final in zip(flight.waits, finals, strict=True)
                if self._ledger.settle(change, final, present)
            ]
        return (*late, *reported(self.policy, bad, flight.position, flight.tool))

    def _final(self, change: Change, result: Result, tool: str) -> dict[int, bool]:
        """What the clause reads in the result; where an atom raises, what violates."""
        clause = self.policy.clauses[change.clause]
        try:
            return clause.results(change.letter, result, tool)
        except Exception:  # an atom is user code; the result has to be taken all the same
            return clause.worst(change.letter)

    def _ask_clock(self) -> float:
        """The time. Raises `ValueError` for what is no time: it would disarm every time bound."""
        now = float(self._clock())
        if not math.isfinite(now):
            raise ValueError(f"the clock says {now}")
        return now

    def _read_clock(self) -> float:
        """The time, where nothing can be refused any more."""
        try:
            return self._ask_clock()
        except Exception:  # the clock is user code; time then stands still
            return self.time

    # --- facts, verdicts, the end -------------------------------------------------------------

    def told(self, key: str, value: Any) -> None:
        """A fact of the context, visible from the next decision on."""
        now = self._read_clock()
        with self._lock:
            self.time = max(self.time, now)
            self.context = self.context.told(key, value, self.time)

    def used(self, tokens: int) -> None:
        """Tokens that the model has used."""
        with self._lock:
            self.context = self.context.used(tokens)

    def verdicts(self) -> dict[str, Verdict]:
        """What is known of every contract."""
        found: dict[str, set[Verdict]] = {
            contract.name: set() for contract in self.policy.contracts
        }
        with self._lock:
            for i, watch, last in self._ledger.all_watches():
                verdict = self.policy.clauses[i].verdict(watch, last)
                found[self._name(i)].add(verdict)
        return {name: overall(verdicts) for name, verdicts in found.items()}

    def close(self) -> tuple[tuple[Violation, ...], tuple[Unfulfilled, ...]]:
        """What time has violated until now, and what stays unfulfilled."""
        now = self._read_clock()
        with self._lock:
            return self._expire(now), self._open()

    def open(self) -> tuple[Unfulfilled, ...]:
        """The obligations that would be unfulfilled if the session ended now."""
        with self._lock:
            return self._open()

    def _open(self) -> tuple[Unfulfilled, ...]:
        found: dict[Unfulfilled, None] = {}
        now = Now(self.time, self.context)
        for i, watch, last in self._ledger.all_watches():
            clause = self.policy.clauses[i]
            ends = clause.open_ends(watch)
            if ends and clause.assumed(watch, last, now):
                messages = sorted(owed(clause, each) for each in ends)
                found.update((Unfulfilled(self._name(i), each), None) for each in messages)
        return tuple(found)

    def _name(self, clause: int) -> str:
        return self.policy.contracts[self.policy.owner[clause]].name

    # --- snapshots ----------------------------------------------------------------------------

    def snapshot(self, rest: Mapping[str, Any]) -> dict[str, Any]:
        """The whole state as JSON data."""
        with self._lock:
            flights = {id: plain(flight) for id, flight in self.flights.items()}
            tickets = self.desk.plain()
            mine = {
                "calls": self.calls,
                "time": self.time,
                "flights": flights,
                "tickets": tickets,
            }
            return take(self.policy, self._ledger, self.context, {**rest, **mine})

    def restore(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        """Take over the state of a snapshot.

        The contracts that have changed since and start anew.
        """
        self._ledger, self.context, started_anew, moved = put_back(self.policy, data)
        self.calls, self.time = part(data, "calls", int), part(data, "time", int, float)
        sources = {repr(source): source for source in self.policy.sources}
        for id, kept in part(data, "flights", dict).items():
            self.flights[id] = resumed(id, kept, moved, sources)
        self.desk.resume(
            part(data, "tickets", list),
            lambda asked: asked.contract not in started_anew and self._still_asks(asked),
        )
        return started_anew

    def _still_asks(self, asked: Asked) -> bool:
        """Whether the contract would ask the same people today."""
        answers = self.policy.answers(asked.contract)
        return any(isinstance(each, Ask) for each in answers) or asked.roles in [
            each.roles for each in answers if isinstance(each, Escalate)
        ]


def id_of(event: Event) -> str:
    """The id that a ticket is bound to; messages have none."""
    return event.id if isinstance(event, Call) else ""


def _without(found: tuple[Finding, ...], ticket: Ticket | None) -> tuple[Finding, ...]:
    """What is left to be answered once the ticket has been approved."""
    if ticket is None:
        return found
    answered = {(asked.contract, asked.roles) for asked in ticket.asked}
    pairs = ((each.clause, (each.violation.contract, to.roles)) for each, to in holding(found))
    held = {clause for clause, asked in pairs if asked in answered}
    return tuple(each for each in found if each.clause not in held)
