"""Judges one event of a session against every contract, atomically.

Flow: event -> Attempt. INVARIANT: no lock is held while user code runs (atoms, clock): an event is
read first, then judged and committed under the lock. INVARIANT: what is refused leaves no trace; no
monitor sees it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from sponsio_like.engine import (
    NOTHING_OPENED,
    Finding,
    Ledger,
    Opened,
    Policy,
    ResultPart,
    expire,
    findings_of,
    in_doubt,
    judge,
    keep_all,
    left_to_answer,
    lost,
    open_clauses,
    open_obligations,
    reported,
    stoppable,
    strictest,
    verdicts,
)
from sponsio_like.errors import STRAIN, Finished
from sponsio_like.events import NOTHING_TOLD, Call, Context, Event, Step, Ticket
from sponsio_like.monitor import Change, Judgement, Now, Verdict
from sponsio_like.outcome import (
    Allowed,
    Block,
    Decision,
    Outcome,
    Unfulfilled,
    Violation,
)
from sponsio_like.session.flights import (
    FULL,
    NO_FLIGHTS,
    NOTHING_UNREAD,
    Answer,
    Attempt,
    Flight,
    PassedCall,
    event_and_reads,
    id_of,
    refusal_before,
)
from sponsio_like.session.gate import Gate
from sponsio_like.session.refuse import after_refusal, count_refusal
from sponsio_like.session.snapshot import Written
from sponsio_like.session.tickets import Tickets
from sponsio_like.session.user_code import (
    EventReading,
    judge_event,
    read_event,
    ticking,
    time_of,
    time_or_last,
)
from sponsio_like.session.world import NO_WORLD, StoreFailed, WorldState
from sponsio_like.worlds import World

T = TypeVar("T")
TRIES = 3
"""Most readings of an event while the host tells the session more: an atom may do so itself."""


class Interceptor:
    """All the state of one session, behind one lock. `world`: the state of contracts on the world.

    `sequential`: True if nothing has happened since a call had a lane but such calls, each settled
    before the next, and nothing but contracts can stand against one; all else resets it.
    `latest`: the call that a lane has let through last, as long as nothing has happened since: the
    ledger does not have it yet. `lanes`: those of the policy, by tool.
    `settling`: the calls whose results are being settled, by id; a snapshot has them in flight.
    `doubt`: why the state is in doubt, if it is; `written`: a cache of snapshots.
    """

    __slots__ = (
        "clock", "context", "doubt", "finished", "flights", "gate", "lanes", "last_response",
        "latest", "ledger", "lock", "policy", "sequential", "settling", "tick", "tickets", "time",
        "unread", "warned", "world", "written",
    )  # fmt: skip

    def __init__(
        self,
        policy: Policy,
        clock: Callable[[], float],
        session: str,
        world: World | None,
        gate: Gate | None = None,
    ) -> None:
        self.policy, self.gate = policy, gate
        self.lanes = policy.lanes
        self.context = NOTHING_TOLD
        self.flights = NO_FLIGHTS
        self.unread = NOTHING_UNREAD  # why the latest answer of a tool could not be read
        self.latest: PassedCall | None = None
        self.last_response: tuple[Event, Outcome] | None = (
            None  # the latest response that was let through
        )
        self.settling = NO_FLIGHTS
        self.finished = self.warned = self.sequential = False
        self.doubt = ""
        self.time = float("-inf")
        self.tickets = Tickets(session)
        self.ledger = Ledger(policy, apart=world is not None)
        self.world = NO_WORLD
        if world is not None:
            self.world = WorldState(self.ledger, session, world)
            self.world.refresh()
        self.written: Written | None = None
        self.clock, self.tick = clock, ticking(clock)
        self.lock = threading.Lock()

    def reopen(self) -> None:
        """Open the lock in a process that was forked, which does not have the thread that held it:
        nobody knows how much that had changed. Calls that other threads were settling are in
        flight.
        """
        if self.lock.locked():
            forked = "the process was forked while a call was decided"
            self.lock, self.doubt = threading.Lock(), self.doubt or forked
            self.doubts()
        if self.settling:
            self.flights, self.settling = {**self.settling, **self.flights}, NO_FLIGHTS
            self.sequential = False

    @property
    def calls(self) -> int:
        """The number of calls that were let through."""
        return self.ledger.calls + (self.latest is not None)

    def stand(self, place: str) -> None:
        """Set the place in the history of the host where the next calls stand."""
        with self.lock:
            self.flush_fast()
            self.world.set_place(place)

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
        late, tries = list[Violation](), 0
        while True:
            tries += 1
            with self.lock:
                self.flush_fast()
                touched, context = self.ledger.touched(event), self.context
            now = time_of(self.clock) if stoppable(event) else self.now()
            if isinstance(event, Call):
                at = max(now, self.time)  # the next line takes half the time of `replace`
                event = Call(event.tool, event.args, event.id, event.agent, event.depth, at)
            reads, failed, spent = read_event(self.ledger, event, touched, context, self.calls)
            seen = EventReading(event, touched, reads, failed, now, context, spent, tries >= TRIES)
            try:
                with self.lock:
                    self.flush_fast()
                    attempt = self._try(seen, mark, answer, rulings, late, substitute=substitute)
            except StoreFailed as error:
                if isinstance(event, Step):
                    late.append(lost(self.policy, self.calls, None, str(error)))
                return Attempt(late=tuple(late), why=str(error))
            if attempt is not None:
                return replace(attempt, late=tuple(late)) if late else attempt

    def now(self) -> float:
        """Return the time; the last one known if the clock fails."""
        return time_or_last(self.clock, self.time)

    def _try(
        self,
        seen: EventReading,
        mark: str,
        answer: Answer,
        rulings: Mapping[str, Decision],
        late: list[Violation],
        *,
        substitute: bool,
    ) -> Attempt | None:
        """Make one attempt, under the lock.

        None if time or another thread has changed what was read: then it has to be read anew.
        """
        event = seen.event
        if self.finished:
            raise Finished(self.tickets.session)
        with self.world.open(late):
            key = self.world.key(event, mark)
            stands = self._standing(event, late)
            if stands is not None:
                return stands
            late += self.expire(seen.time, self.context)
            if self._is_outdated(seen):
                return None
            counted = self.world.counted(key)
            judgement, failed = judge_event(self.ledger, seen, counted, self.time, self.calls)
            against = judgement.witnesses
            found = (*findings_of(self.policy, against, event, self.calls, rulings), *failed)
            ticket = self.tickets.approved(id_of(event), mark, self.time)
            ahead = () if substitute else self._ahead(event, left_to_answer(found, ticket), rulings)
            found = (*found, *ahead)
            left = found if substitute else left_to_answer(found, ticket)
            answers = strictest(left) if stoppable(event) else None
            if answers is not None:
                self._counts(ahead, answers)
                if not substitute:
                    self.context = after_refusal(self.policy, self.context, event, left, answers)
                before = self.ledger.before(event, against)
                return Attempt(found, (), before, answers, spent=seen.spent)
            if self.world.full(key):
                return Attempt(why=FULL)
            self.world.let_through(judgement, key)
        self._happens(event, judgement, (mark, key), answer(found), ticket)
        return Attempt(found)

    def _is_outdated(self, seen: EventReading) -> bool:
        """True if what was read of an event is not what would be read of it now."""
        told = not seen.stands and self.policy.reads_otherwise(seen.context, self.context)
        refused = seen.context.denied is not self.context.denied
        return told or refused or self.ledger.touched(seen.event) != seen.touched

    def _standing(self, event: Event, late: list[Violation]) -> Attempt | None:
        """Return what stands against an event before any contract is asked;
        None if nothing does.
        """
        stands = refusal_before(self.flights, event, self.context, enforces=self.policy.enforces)
        if stands is None and self.ledger.half_written:
            late += self._warned()
            why = in_doubt(self.policy, event, self.doubt)
            stands = Attempt(why=why) if why else None
        return stands

    def _ahead(
        self, event: Event, left: tuple[Finding, ...], rulings: Mapping[str, Decision]
    ) -> tuple[Finding, ...]:
        """Return what the gate finds against a call that the contracts let through."""
        if self.gate is None or not isinstance(event, Call) or strictest(left) is not None:
            return ()
        found = self.gate.ahead(self.ledger, event, self.ledger.calls, rulings)
        return () if found is None else (found,)

    def _counts(self, ahead: tuple[Finding, ...], answers: Decision) -> None:
        """Tell the gate that its finding refuses the call, if it does."""
        if self.gate is not None and isinstance(answers, Block):
            for each in ahead:
                self.gate.refused(each)

    def _happens(
        self,
        event: Event,
        judgement: Judgement,
        names: tuple[str, str],
        outcome: Outcome,
        ticket: Ticket | None,
    ) -> None:
        """Let the event through, and use up its ticket."""
        before = self.ledger.half_written
        if isinstance(event, Call):
            self.begin_call(event, judgement, names, outcome)
        else:
            shown = event, outcome
            self.ledger.commit(judgement, self.world.lineage)
            self.last_response = shown
        self.ledger.half_written = True
        self.tickets.use(ticket)
        self.ledger.half_written = before

    def note_refusal(self, event: Event, found: Iterable[Finding] = ()) -> None:
        """Count a refusal that was not certain yet when it was attempted; it may end the run."""
        with self.lock:
            self.sequential = False
            self.context = count_refusal(self.policy, self.context, event, found)

    def begin_call(
        self,
        call: Call,
        judgement: Judgement,
        names: tuple[str | PassedCall, str],
        outcome: Outcome | None,
        *,
        result_part: ResultPart = "all",
    ) -> None:
        """Let the call through: from now on it is in flight. `names`: its mark, and its key in the
        world. `result_part`: as in `Flight`.
        """
        (mark, key), sources, before = names, self.policy.delivering(call), self.ledger.half_written
        waits = self.ledger.waiting(judgement, self.world.lineage)
        position = self.ledger.calls
        self.ledger.commit(judgement, self.world.lineage)
        self.fly(
            call.id, Flight(call.tool, mark, position, waits, outcome, sources, key, result_part)
        )
        self.world.used(call.id)
        if self.gate is not None:
            self.gate.began((call.id, call.tool, call.args, call.agent, call.depth))
        self.ledger.half_written = before

    def begin(
        self,
        kept: PassedCall,
        outcome: Outcome | None = None,
        violated: tuple[int, ...] = (),
        *,
        runs: bool = False,
    ) -> bool:
        """Make a call that a lane has let through a call in flight; False, and nothing has changed,
        if a clause cannot judge it, or forbids it.

        `violated`: the clauses that it violates, none of which stops it. `runs`: the host knows
        that it was let through.
        """
        if not self._begin_fast(kept, outcome, violated):
            call, reads = event_and_reads(kept)
            judgement = judge(self.ledger, call, reads, kept[5])
            errors = [error for _, error in judgement.failed]
            if not runs and (errors or (judgement.violated and not violated)):
                return False
            for error in errors:
                if isinstance(error, STRAIN):
                    raise error
            self.begin_call(call, judgement, (kept, ""), outcome, result_part=kept[6].result_part)
            if errors:  # a clause has not seen a call that runs
                self.doubts(errors[0])
        self.time = max(self.time, kept[5])
        return True

    def _begin_fast(
        self, kept: PassedCall, outcome: Outcome | None, violated: tuple[int, ...]
    ) -> bool:
        """Do as `begin` does, in one pass; False if that is not possible."""
        id, tool, _, _, _, time, lane, checked, woken = kept
        ledger, half_written = self.ledger, self.ledger.half_written
        if violated and not ledger.stores.keys().isdisjoint(violated):
            return False
        try:
            also: Opened | None = NOTHING_OPENED
            if woken:
                reads = (each for other, x in woken for each in other.reads()(x))
                also = open_clauses(ledger, reads, time)
            waits = None if also is None else lane.opened()(ledger, checked, time)
        except Exception as error:  # a clause that fails answers for itself: `judge` says which
            if ledger.half_written != half_written or isinstance(error, STRAIN):
                raise
            return False
        if also is None or waits is None:
            return False
        if woken:
            keep_all(ledger, also.rests)
            waits += also.waits
        if violated:
            ledger.violates(violated)
        position = ledger.calls - 1  # it is counted
        said = (tool, kept, position, tuple(waits), outcome, lane.sources, "", lane.result_part)
        self.fly(id, tuple.__new__(Flight, said))
        if self.gate is not None:
            self.gate.began(kept[:5])
        ledger.half_written = half_written
        return True

    def fly(self, id: str, flight: Flight) -> None:
        """Add a call in flight."""
        if self.flights is NO_FLIGHTS:
            self.flights = {}
        self.flights[id] = flight
        self.latest, self.sequential = None, False  # if there was one, it is this call

    def flush_fast(self) -> None:
        """Make the latest call a call in flight like any other, since something else happens.

        The lock is held. Raises what a clause raises for want of memory or stack: nothing has
        changed then, and the call is the latest still.
        """
        self.sequential = False
        if self.latest is not None:
            self.begin(self.latest, runs=True)

    def doubts(self, error: Exception | None = None) -> None:
        """Note that the contracts' state is in doubt: something was raised half-way through a
        change.

        From now on, enforced contracts refuse everything that they could refuse.
        """
        self.ledger.half_written, self.sequential = True, False
        what = "a failure" if error is None else type(error).__name__
        self.doubt = self.doubt or f"{what} while call {max(self.calls - 1, 0)} was recorded"

    def _warned(self) -> tuple[Violation, ...]:
        """Return the violation that the state is in doubt, the first time; later, none."""
        self.doubts()
        first, self.warned = not self.warned, True
        what = f"the state of session `{self.tickets.session}` is in doubt: {self.doubt}"
        return (lost(self.policy, self.calls, None, what),) if first else ()

    def expire(self, now: float, context: Context) -> tuple[Violation, ...]:
        """Move the session to this time; return what that violates, which is told once."""
        self.time = max(self.time, now, self.world.time)
        self.world.passes(self.time)
        gone = expire(self.ledger, Now(self.time, context))
        return reported(self.policy, gone, self.calls, None) if gone else ()

    def with_tickets(self, ask: Callable[[Tickets, float], T]) -> T:
        """Return the answer of `ask`, which gets the session's tickets and the
        time, under the lock.
        """
        now = self.now()
        with self.lock:
            self.flush_fast()
            self.time = max(self.time, now)
            return ask(self.tickets, self.time)

    def at_ledger(self, ask: Callable[[Ledger, float], T]) -> T:
        """Return the answer of `ask`, which gets the ledger and the time, and leaves the ledger as
        it is.
        """
        now = self.now()
        with self.lock:
            self.flush_fast()
            self.world.refresh()
            return ask(self.ledger, max(self.time, now, self.world.time))

    def pending_calls(self) -> tuple[tuple[str, str, tuple[Change, ...]], ...]:
        """Return the calls in flight: their ids, their tools, and what waits for their results."""
        with self.lock:
            if self.latest is not None:
                self.flush_fast()
            return self.flying()

    def flying(self) -> tuple[tuple[str, str, tuple[Change, ...]], ...]:
        """Return what `pending_calls` does, under the lock, if there is no latest call."""
        return tuple((id, each.tool, self.waits(each)) for id, each in self.flights.items())

    def in_flight(self) -> list[str]:
        """The ids of the calls in flight."""
        with self.lock:
            return [*self.flights, *(() if self.latest is None else (self.latest[0],))]

    def waits(self, flight: Flight) -> tuple[Change, ...]:
        """Return what waits for the result of this call, in the world and in the session."""
        return (*self.world.waiting(flight.key), *flight.waits)

    def told(self, key: str, value: Any) -> None:
        """Add a fact to the context, visible from the next decision on."""
        now = self.now()
        with self.lock:
            self.flush_fast()
            self.time = max(self.time, now)
            self.context = self.context.told(key, value, self.time)

    def used(self, tokens: int) -> None:
        """Add tokens that the model has used."""
        with self.lock:
            self.flush_fast()
            self.context = self.context.used(tokens)

    def verdicts(self) -> dict[str, Verdict]:
        """Return the verdict of every contract, by name."""
        return self.at_ledger(lambda ledger, _: verdicts(ledger))

    def close(self) -> tuple[tuple[Violation, ...], tuple[Unfulfilled, ...], bool]:
        """Finish the session: return what time has violated, what stays unfulfilled, True if it was
        open.
        """
        now, late = self.now(), list[Violation]()
        with self.lock:
            self.flush_fast()
            with suppress(StoreFailed), self.world.open(late):
                late += self.expire(now, self.context)
            first, self.finished = not self.finished, True
            return tuple(late), open_obligations(self.ledger, Now(self.time, self.context)), first

    def open(self) -> tuple[Unfulfilled, ...]:
        """Return the obligations that would be unfulfilled if the session ended now."""
        return self.at_ledger(
            lambda ledger, _: open_obligations(ledger, Now(self.time, self.context))
        )
