"""One agent session: decide before a call runs, settle when it has run.

Flow: tool, args -> Outcome. INVARIANT: a blocked call never happened, so no monitor sees it. INVARIANT: no lock is held
while user code runs (atoms, clock, log): events are read first, judged and committed under the lock.
"""

from __future__ import annotations

import itertools
import threading
import time as _time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sponsio_like import records
from sponsio_like.advice import Refusal
from sponsio_like.atoms import Context
from sponsio_like.compiler import Policy
from sponsio_like.errors import SessionError
from sponsio_like.events import Call, Event, Message, Result, Step, digest
from sponsio_like.freezing import freeze
from sponsio_like.monitor import Verdict, overall
from sponsio_like.ledger import Change, Judgement, Ledger, Read
from sponsio_like.snapshot import decode, put_back, take
from sponsio_like.outcome import (
    Allowed,
    Blocked,
    Outcome,
    Redirect,
    Redirected,
    Unfulfilled,
    Violation,
)
from sponsio_like.verdicts import (
    Finding,
    enforced,
    findings,
    observed,
    renamed,
    reported,
    stoppable,
    strictest,
    unreadable,
)
from sponsio_like.demands import owed

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

    `before` is the ledger that refused it, for the advice; None if it was let through.
    """

    found: tuple[Finding, ...]
    late: tuple[Violation, ...]
    before: Ledger | None = None


class Session:
    """The trace of one task of one agent, as far as its contracts need to remember it.

    Made by `Guard.session`. Any number of threads or tasks may decide on one session.
    """

    def __init__(
        self,
        policy: Policy,
        id: str,
        *,
        clock: Callable[[], float] = _time.time,
        assume_success: bool = False,
        log: records.Log = records.SILENT,
    ) -> None:
        self.id = id
        self.policy = policy
        self._ledger = Ledger(policy)
        self._context = Context()
        self._clock = clock
        self._assume_success = assume_success
        self._log = log
        self._lock = threading.Lock()
        self._flights: dict[str, Flight] = {}
        self._ids = itertools.count(1)
        self._calls = 0
        self._time = float("-inf")
        self._finished = False
        self.started_anew: tuple[str, ...] = ()

    # --- deciding -----------------------------------------------------------------------------

    def decide(
        self,
        tool: str,
        args: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        agent: str = "agent",
        depth: int = 0,
    ) -> Outcome:
        """Whether the call may run. A call that was let through is in flight until `settle`.

        Deciding an id that is in flight again gives the first answer and counts nothing; with another
        tool or other arguments it is blocked. Raises `SessionError` after `finish`.
        """
        self._next_turn()
        return self._decide(self._call(tool, args, id, agent, depth))

    def decide_batch(
        self, calls: Iterable[Sequence[Any]], *, agent: str = "agent", depth: int = 0
    ) -> list[Outcome]:
        """Decide the parallel calls `(tool, args[, id])` of one model turn, in order, each seeing those before it."""
        self._next_turn()
        batch = [
            self._call(tool, args, rest[0] if rest else None, agent, depth)
            for tool, args, *rest in calls
        ]
        return [self._decide(call) for call in batch]

    def _call(self, tool: str, args: Any, id: str | None, agent: str, depth: int) -> Call:
        name = id if id is not None else f"auto-{next(self._ids)}"
        return Call(tool, freeze({} if args is None else args), name, agent, depth)

    def _decide(self, call: Call) -> Outcome:
        self._check_open()
        started = _time.perf_counter()
        found: tuple[Finding, ...] = ()
        late: tuple[Violation, ...] = ()
        try:
            mark = digest(call.tool, call.args)
            outcome = self._again(call, mark)
            if outcome is None:
                outcome, found, late = self._decision(call, mark)
        except Exception as error:  # fail closed: whatever goes wrong, the tool does not run
            outcome = self._broken(call, error)
        self._log.decision(self.id, call, self._calls, outcome, found, late, started)
        return outcome

    def _again(self, call: Call, mark: str) -> Outcome | None:
        """The answer to an id that is in flight already, or to one call too many."""
        with self._lock:
            flight, flying = self._flights.get(call.id), len(self._flights)
        if flight is not None and flight.digest == mark:
            return flight.outcome
        if flight is not None:
            return self._refused(
                call, f"call id `{call.id}` is in flight with another tool or other arguments"
            )
        if flying >= IN_FLIGHT_CAP:
            return self._refused(call, f"{flying} calls are in flight; settle some of them first")
        return None

    def _refused(self, call: Call, reason: str) -> Outcome:
        """No contract's doing: blocked if anything is enforced here, otherwise only said."""
        if not self.policy.enforces:
            return Allowed(
                call.id,
                (),
                (Violation("session", self._calls, call.tool, "blocked", reason, "observe"),),
            )
        return Blocked(
            call.id,
            (Violation("session", self._calls, call.tool, "blocked", reason),),
            lambda: reason,
        )

    def _broken(self, call: Call, error: Exception) -> Outcome:
        return self._refused(call, f"the decision failed: {type(error).__name__}: {error}")

    def _decision(
        self, call: Call, mark: str
    ) -> tuple[Outcome, tuple[Finding, ...], tuple[Violation, ...]]:
        first = self._attempt(
            call, mark, lambda found: Allowed(call.id, enforced(found), observed(found))
        )
        if first.before is None:
            return (
                Allowed(call.id, enforced(first.found), observed(first.found)),
                first.found,
                first.late,
            )
        answer = strictest(first.found)
        if not isinstance(answer, Redirect):
            return self._blocked(call, first.found, first.before), first.found, first.late
        safe = replace(call, tool=answer.tool, args=renamed(call.args, answer))
        redirected = Redirected(call.id, safe.tool, safe.args, enforced(first.found))
        second = self._attempt(safe, mark, lambda found: redirected)
        found = (*first.found, *second.found)
        if second.before is None:
            return redirected, found, first.late
        return self._blocked(call, found, second.before), found, first.late

    def _blocked(self, call: Call, found: tuple[Finding, ...], before: Ledger) -> Blocked:
        refusal = Refusal(before, call, self._context.copy(), self._time, found)
        return Blocked(call.id, enforced(found), refusal.explain)

    def _attempt(
        self, event: Event, mark: str, answer: Callable[[tuple[Finding, ...]], Outcome]
    ) -> Attempt:
        """Read without the lock; under it, judge, and commit if nothing stands against it."""
        while True:
            with self._lock:
                touched = self._ledger.touched(event)
            reads, failed = self._read(touched, event)
            now = self._clock()
            with self._lock:
                late = self._expire(now)
                if self._ledger.touched(event) != touched:
                    continue
                judgement = self._ledger.judge(event, reads, self._time)
                found = (*findings(self.policy, judgement.violated, event, self._calls), *failed)
                if stoppable(event) and strictest(found) is not None:
                    return Attempt(found, late, self._ledger.copy([read.key for read in reads]))
                self._let_through(event, judgement, mark, answer(found))
            return Attempt(found, late)

    def _read(self, touched: Iterable[int], event: Event) -> tuple[list[Read], list[Finding]]:
        """What every touched clause reads; and those that cannot, because an atom raised."""
        reads: list[Read] = []
        failed: list[Finding] = []
        for i in touched:
            try:
                reads.append(self._ledger.read(i, event, self._context))
            except Exception as error:  # an atom is user code; a clause that cannot be read blocks
                failed.append(unreadable(self.policy, i, event, self._calls, error))
        return reads, failed

    def _let_through(self, event: Event, judgement: Judgement, mark: str, outcome: Outcome) -> None:
        self._ledger.commit(judgement)
        if isinstance(event, Call):
            waits = self._ledger.waiting(judgement)
            self._flights[event.id] = Flight(event.tool, mark, self._calls, waits, outcome)
            self._calls += 1

    def _expire(self, now: float) -> tuple[Violation, ...]:
        self._time = max(self._time, now)
        violated = self._ledger.expire(self._time)
        return reported(self.policy, violated, self._calls, None) if violated else ()

    def _check_open(self) -> None:
        if self._finished:
            raise SessionError(f"session `{self.id}` is finished; open a new one")

    # --- results, messages, facts -------------------------------------------------------------

    def _next_turn(self) -> None:
        """Where nobody settles, the calls of earlier turns count as done now."""
        if self._assume_success:
            for id in list(self._flights):
                self.settle(id)

    def settle(self, id: str, *, output: Any = None, error: Any = None) -> tuple[Violation, ...]:
        """The call has run: with `output`, or with an `error`. The violations that this reveals, if any.

        The first result counts; later ones, and results of calls that were not let through, are logged.
        """
        with self._lock:
            flight = self._flights.pop(id, None)
        if flight is None:
            self._log.ignored(self.id, id)
            return ()
        result = Result("ok", freeze(output)) if error is None else Result("error", freeze(error))
        clauses = self.policy.clauses
        finals = [
            clauses[change.clause].results(change.letter, result, flight.tool)
            for change in flight.waits
        ]
        now = self._clock()
        with self._lock:
            late = self._expire(now)
            pairs = zip(flight.waits, finals, strict=True)
            bad = [
                change.clause
                for change, final in pairs
                if self._ledger.settle(change, final, self._time)
            ]
        revealed = (*late, *reported(self.policy, bad, flight.position, flight.tool))
        self._log.settlement(self.id, id, flight.tool, result.status, revealed)
        return revealed

    def message(
        self, role: str, text: str = "", *, usage: Mapping[str, Any] | None = None
    ) -> Outcome:
        """A message. Role `assistant` is a response, decided before it is shown; others are recorded."""
        self._check_open()
        self._context.tokens += int((usage or {}).get("total_tokens") or 0)
        event = Message(role, text)
        late: tuple[Violation, ...] = ()
        try:
            attempt = self._attempt(event, "", lambda found: Allowed(""))
            late = attempt.late
            outcome: Outcome = Allowed("", enforced(attempt.found), observed(attempt.found))
            if attempt.before is not None:
                refusal = Refusal(
                    attempt.before, event, self._context.copy(), self._time, attempt.found
                )
                outcome = Blocked("", enforced(attempt.found), refusal.explain)
        except Exception as error:  # fail closed, as for a call
            outcome = self._broken(Call(f"message:{role}"), error)
        self._log.message(self.id, role, outcome, late)
        return outcome

    def step(self, atoms: Iterable[str]) -> tuple[Violation, ...]:
        """A plain observation: the names that hold now. The violations that it makes."""
        self._check_open()
        attempt = self._attempt(Step(frozenset(atoms)), "", lambda found: Allowed(""))
        violations = (*attempt.late, *(each.violation for each in attempt.found))
        self._log.step(self.id, violations)
        return violations

    def fact(self, key: str, value: Any) -> None:
        """Tell the session something of its context, visible from the next decision on."""
        with self._lock:
            self._context = self._context.told(key, freeze(value))
        self._log.fact(self.id, key)

    # --- the end ------------------------------------------------------------------------------

    def verdicts(self) -> dict[str, Verdict]:
        """What is known of every contract: `violated`, `satisfied` for good, or `inconclusive`."""
        with self._lock:
            found: dict[str, set[Verdict]] = {}
            for i, watch, length in self._ledger.all_watches():
                name = self.policy.contracts[self.policy.owner[i]].name
                found.setdefault(name, set()).add(
                    self.policy.clauses[i].verdict(watch, length - 1)
                )
        return {c.name: overall(found.get(c.name, set())) for c in self.policy.contracts}

    def pending(self) -> tuple[Unfulfilled, ...]:
        """The obligations that are open now, in words."""
        with self._lock:
            return self._open()

    def finish(self) -> tuple[Unfulfilled, ...]:
        """End the session. The obligations that stay unfulfilled; a call in flight is read whichever way violates."""
        now = self._clock()
        with self._lock:
            late = self._expire(now)
            left = self._open()
            self._finished = True
        self._log.finish(self.id, late, left)
        return left

    # --- snapshots ----------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """The whole state as JSON data, for `Guard.restore`. It has the values that contracts remember."""
        with self._lock:
            rest = {
                "session": self.id,
                "calls": self._calls,
                "ids": next(self._ids),
                "time": self._time,
            }
            flights = {id: _plain(flight) for id, flight in self._flights.items()}
            return take(self.policy, self._ledger, self._context, {**rest, "flights": flights})

    def _restore(self, data: Mapping[str, Any]) -> None:
        """Take over the state of a snapshot; contracts that have changed since start anew."""
        self._ledger, self._context, self.started_anew, moved = put_back(self.policy, data)
        self._calls, self._time = decode(data["calls"]), decode(data["time"])
        self._ids = itertools.count(decode(data["ids"]))
        flights = decode(data["flights"])
        self._flights = {id: _flight(id, plain, moved) for id, plain in flights.items()}
        self._log.restored(self.id, self.started_anew)

    def _open(self) -> tuple[Unfulfilled, ...]:
        found: dict[Unfulfilled, None] = {}
        for i, watch, length in self._ledger.all_watches():
            clause = self.policy.clauses[i]
            ends = clause.open_ends(watch)
            if ends and clause.assumed(
                watch, clause.read_nothing(self._context), length - 1, self._time
            ):
                name = self.policy.contracts[self.policy.owner[i]].name
                found.update((Unfulfilled(name, owed(clause, each)), None) for each in ends)
        return tuple(found)


def _plain(flight: Flight) -> tuple[Any, ...]:
    """A call in flight, as a snapshot keeps it."""
    instead = (
        (flight.outcome.tool, flight.outcome.args)
        if isinstance(flight.outcome, Redirected)
        else None
    )
    return (flight.tool, flight.digest, flight.position, flight.waits, instead)


def _flight(id: str, plain: tuple[Any, ...], moved: Mapping[int, int]) -> Flight:
    tool, mark, position, waits, instead = plain
    kept = tuple(
        change._replace(clause=moved[change.clause]) for change in waits if change.clause in moved
    )
    outcome: Outcome = Allowed(id) if instead is None else Redirected(id, *instead, ())
    return Flight(tool, mark, position, kept, outcome)
