"""Stand between the model and the tools: judge one event against every contract, atomically.

Flow: event -> Attempt. INVARIANT: no lock is held while user code runs (atoms, clock): an event
is read first, then judged and committed under the lock. INVARIANT: what is refused leaves no
trace; no monitor sees it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sponsio_like.clause import Change, Now
from sponsio_like.compiler import Policy
from sponsio_like.context import Context
from sponsio_like.demands import owed
from sponsio_like.events import Call, Event, Result
from sponsio_like.ledger import Judgement, Ledger, Read
from sponsio_like.monitor import Verdict, overall
from sponsio_like.outcome import Allowed, Outcome, Redirected, Unfulfilled, Violation
from sponsio_like.snapshot import part, put_back, take
from sponsio_like.verdicts import Finding, findings, reported, stoppable, strictest, unreadable

IN_FLIGHT_CAP = 1_000
"""Most calls in flight at once in a session."""


class Flight(NamedTuple):
    """A call that was let through and has no result yet."""

    tool: str
    digest: str
    position: int
    waits: tuple[Change, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of trying to let an event through. `late`: what time gone by has violated.

    `before` is the ledger that refused it, for the advice; `flight` a call with the same id that
    is in flight already, `full` one call too many. None of these: it was let through now.
    """

    found: tuple[Finding, ...] = ()
    late: tuple[Violation, ...] = ()
    before: Ledger | None = None
    flight: Flight | None = None
    full: bool = False


Answer = Callable[[tuple[Finding, ...]], Outcome]


class Interceptor:
    """All the state of one session, behind one lock."""

    def __init__(self, policy: Policy, clock: Callable[[], float]) -> None:
        self.policy = policy
        self.context = Context()
        self.flights: dict[str, Flight] = {}
        self.calls = 0
        self.time = float("-inf")
        self._ledger = Ledger(policy)
        self._clock = clock
        self._lock = threading.Lock()

    # --- positions ----------------------------------------------------------------------------

    def attempt(
        self, event: Event, mark: str = "", answer: Answer = lambda _: Allowed("")
    ) -> Attempt:
        """Let the event through unless a contract stands against it."""
        late: tuple[Violation, ...] = ()
        while True:
            with self._lock:
                touched = self._ledger.touched(event)
            reads, failed = self._read(touched, event)
            now = self._ask_clock()
            with self._lock:
                standing = self._standing(event)
                if standing is not None:
                    return standing
                late += self._expire(now)
                if self._ledger.touched(event) != touched:
                    continue  # time or another thread has moved on: other clauses have to be read
                judgement = self._ledger.judge(event, reads, self.time)
                failed += [self._unreadable(event, *each) for each in judgement.failed]
                found = (*findings(self.policy, judgement.violated, event, self.calls), *failed)
                if stoppable(event) and strictest(found) is not None:
                    keys = [clause.key(event) for clause in self.policy.clauses if clause.by]
                    return Attempt(found, late, self._ledger.copy(keys))
                self._let_through(event, judgement, mark, answer(found))
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
        self.flights.pop(
            next(iter(self.flights))
        )  # only observed: forget the oldest, disturb nobody
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
            waits = self._ledger.waiting(judgement)
            self.flights[event.id] = Flight(event.tool, mark, self.calls, waits, outcome)
            self.calls += 1

    def _expire(self, now: float) -> tuple[Violation, ...]:
        self.time = max(self.time, now)
        violated = self._ledger.expire(Now(self.time, self.context))
        return reported(self.policy, violated, self.calls, None) if violated else ()

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
        with self._lock:
            self.context = self.context.told(key, value)

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
                found.update(
                    (Unfulfilled(self._name(i), owed(clause, each)), None) for each in ends
                )
        return tuple(found)

    def _name(self, clause: int) -> str:
        return self.policy.contracts[self.policy.owner[clause]].name

    # --- snapshots ----------------------------------------------------------------------------

    def snapshot(self, rest: Mapping[str, Any]) -> dict[str, Any]:
        """The whole state as JSON data."""
        with self._lock:
            flights = {id: _plain(flight) for id, flight in self.flights.items()}
            mine = {"calls": self.calls, "time": self.time, "flights": flights}
            return take(self.policy, self._ledger, self.context, {**rest, **mine})

    def restore(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        """Take over the state of a snapshot.

        The contracts that have changed since and start anew.
        """
        self._ledger, self.context, started_anew, moved = put_back(self.policy, data)
        self.calls, self.time = part(data, "calls", int), part(data, "time", int, float)
        flights = part(data, "flights", dict)
        self.flights = {id: _flight(id, plain, moved) for id, plain in flights.items()}
        return started_anew


def _plain(flight: Flight) -> tuple[Any, ...]:
    """A call in flight, as a snapshot keeps it."""
    outcome = flight.outcome
    instead = (outcome.tool, outcome.args) if isinstance(outcome, Redirected) else None
    return (flight.tool, flight.digest, flight.position, flight.waits, instead)


def _flight(id: str, plain: tuple[Any, ...], moved: Mapping[int, int]) -> Flight:
    tool, mark, position, waits, instead = plain
    kept = tuple(
        change._replace(clause=moved[change.clause]) for change in waits if change.clause in moved
    )
    outcome: Outcome = Allowed(id)
    if instead is not None:
        outcome = Redirected(id, instead[0], instead[1], ())
    return Flight(tool, mark, position, kept, outcome)
