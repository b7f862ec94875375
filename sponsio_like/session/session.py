"""Answers the host for one agent session: decide before a call runs, settle when it has run.

Flow: tool, args -> Outcome. The session writes the log and notifies; its interceptor judges.
"""

from __future__ import annotations

import os
import threading
import time as _time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, NoReturn

from sponsio_like.checks import check_names
from sponsio_like.engine import Policy
from sponsio_like.errors import STRAIN, Finished, SessionError
from sponsio_like.events import (
    Call,
    Step,
    Ticket,
    check_fact,
    check_message,
    check_settled,
    names,
    of_batch,
    tokens_of,
    tool_of,
)
from sponsio_like.monitor import Verdict
from sponsio_like.notices import Mailbox
from sponsio_like.outcome import (
    Allowed,
    Outcome,
    Redirected,
    Unfulfilled,
    Violation,
    blocked_for,
    let_through,
)
from sponsio_like.session.active import active
from sponsio_like.session.collected import COLLECTING, elsewhere, is_collecting, would_wait
from sponsio_like.session.decide import decided, refuse_without_contract
from sponsio_like.session.decision_log import KEEPS_DECISION, SILENT, Log
from sponsio_like.session.denied import Fit, LaneRefusal
from sponsio_like.session.fast import FastFinding, settle_fast, taken_back, try_fast
from sponsio_like.session.flights import Attempt, PassedCall
from sponsio_like.session.gate import Gate
from sponsio_like.session.ids import own_id
from sponsio_like.session.impossible import impossible_tools
from sponsio_like.session.interceptor import Interceptor
from sponsio_like.session.notify import Notifications
from sponsio_like.session.resume import read_text, restore, snapshot, snapshot_text
from sponsio_like.session.settle import Settlement, settle
from sponsio_like.session.tickets import Tickets, as_id
from sponsio_like.values import given_args, given_value
from sponsio_like.worlds import World

MAKING = threading.Lock()
"""Held while the state of a session is made."""
WITHIN = "the garbage collector has called this tool while its thread decided another call"


def _forked() -> None:
    """Open the lock in a process that was forked: it does not have the thread that held it."""
    global MAKING  # noqa: PLW0603  the name is that of the lock
    MAKING = threading.Lock()


if hasattr(os, "register_at_fork"):  # there are systems that cannot fork
    os.register_at_fork(after_in_child=_forked)


class Session:
    """The trace of one task of one agent, as far as its contracts need to remember it.

    Made by `Guard.session`. Any number of threads or tasks may decide on one session.
    `started_anew`: after a restore, the contracts that had changed and lost their state.
    """

    def __init__(  # noqa: PLR0913 - each is an option
        self,
        policy: Policy,
        id: str,
        *,
        clock: Callable[[], float] = _time.time,
        assume_success: bool = False,
        log: Log = SILENT,
        notify: tuple[Mailbox, ...] = (),
        world: World | None = None,
        gate: Gate | None = None,
    ) -> None:
        self.id, self.policy, self._gate = id, policy, gate
        self._clock, self._world = clock, world
        self._assume_success = assume_success
        self._log, self._notify = log, notify
        self._logs = log.sink is not None
        self._direct = world is None and not assume_success
        self._timed = clock is not _time.time
        self._made: Interceptor | None = None  # a cached property would make a dict
        if world is not None:  # its store may be slow: this does not hold the lock of all sessions
            self._made = self._new()
        self._notes: Notifications | None = None
        self.started_anew = () if world is None else self._inner.world.started_anew

    def _new(self) -> Interceptor:
        return Interceptor(self.policy, self._clock, self.id, self._world, self._gate)

    @property
    def _inner(self) -> Interceptor:
        """The state, made when something happens for the first time."""
        if self._made is None:
            with MAKING:  # threads share it
                if self._made is None:
                    self._made = self._new()
        return self._made

    @_inner.setter
    def _inner(self, inner: Interceptor) -> None:
        self._made = inner

    def _forked(self) -> None:
        """Go on in a process that was forked. If a thread that is not there was deciding, the state
        is in doubt.
        """
        if self._made is not None:
            self._made.reopen()

    @property
    def _teller(self) -> Notifications:
        """The notifications, made when there is something to tell."""
        if self._notes is None:
            self._notes = Notifications(self.policy, self.id, self._notify)
        return self._notes

    @_teller.setter
    def _teller(self, teller: Notifications) -> None:
        self._notes = teller

    @property
    def calls(self) -> int:
        """The number of calls that were let through."""
        return self._inner.calls

    @property
    def open(self) -> bool:
        """True until the session is finished."""
        return self._made is None or not self._made.finished

    def place(self, where: str) -> None:
        """Set the checkpoint of the host at which the next calls stand; the world counts each once
        there.

        Raises `SessionError` for a place that is not a string.
        """
        self._inner.stand(where)

    def active(
        self, *, agent: str | None = None, depth: int | None = None
    ) -> AbstractContextManager[Session]:
        """Make decorated tools belong to this session within the `with` block, and within its
        tasks.

        `agent` makes their calls, at this `depth`; if not given: as in a block around this one.
        Raises `ContractError` if contracts name what none of the decorated tools is.
        """
        check_names(self.policy)
        return active(self, agent, depth)

    def decide(
        self,
        tool: str,
        args: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        agent: str = "agent",
        depth: int = 0,
    ) -> Outcome:
        """Decide a call before it runs. A call that is let through is in flight until `settle`.

        Returns `Allowed`, `Blocked`, `Held` or `Redirected`. Deciding an id that is in flight again
        gives the first answer and counts nothing; with another tool or other arguments it is
        blocked. Raises `SessionError` after `finish`, and for a tool, id, agent or depth of a wrong
        type.
        """
        if not self._direct or COLLECTING:
            self._next_turn()
            return self._decide(tool, args, id, agent, depth)
        started = _time.perf_counter() if self._logs else 0.0
        own, found = own_id(id), None
        try:
            passed = try_fast(self._made or self._inner, tool, args, own, agent, depth)
            if type(passed) is tuple:
                if self._logs:
                    self._log_passed(passed, started)
                return let_through(own)
            if type(passed) is LaneRefusal and self._tells_nobody(passed):
                return blocked_for(own, passed)
            found = passed
        except Exception:  # whatever goes wrong, the slow path decides
            taken_back(self._inner, own)
        return self._decided(found or Call(tool, {}, own, agent, depth), args, started=started)

    def _tells_nobody(self, found: LaneRefusal) -> bool:
        """True if the violations of this call are neither logged nor notified of."""
        told = self._logs or self._notify
        return not told and self.policy.notifying.isdisjoint(found.violated)

    def decide_batch(
        self, calls: Iterable[Sequence[Any]], *, agent: str = "agent", depth: int = 0
    ) -> list[Outcome]:
        """Decide the parallel calls `(tool, args[, id])` of one model turn, one after another.

        Each sees those before it in flight: of three `pay(60)` under a limit of 100 one is paid. An
        id that stood in the batch before is blocked: it would run twice and count once. Raises
        `SessionError` as `decide` does, before anything is decided.
        """
        batch = of_batch(calls)
        self._next_turn()
        return [self._decide(*call[:3], agent, depth, None, call[3]) for call in batch]

    def impossible(
        self, tools: Iterable[str], *, agent: str = "agent", depth: int = 0
    ) -> frozenset[str]:
        """Return the tools of which every new call is certain to be blocked now, whatever its
        arguments.

        Nothing changes. Raises `SessionError` after `finish`.
        """
        self._check_open()
        return impossible_tools(self._inner, tools, (agent, depth), settling=self._assume_success)

    def _decide(
        self, tool: str, args: Any, id: str | None, agent: str, depth: int,
        fit: Fit | None = None, why: str = "",
    ) -> Outcome:  # fmt: skip
        """Decide as `decide` does, whatever is logged; `why`: the reason to refuse the call."""
        if COLLECTING and would_wait(self._inner.lock):
            call = Call(tool, {}, own_id(id), agent, depth)
            return refuse_without_contract(self._inner, call, WITHIN, counts=False)
        started = _time.perf_counter() if self._logs else 0.0
        own = own_id(id)
        found: PassedCall | FastFinding | LaneRefusal | None = None
        if self._direct and not why:
            try:
                passed = try_fast(self._made or self._inner, tool, args, own, agent, depth)
                if type(passed) is tuple:
                    if self._logs:
                        self._log_passed(passed, started)
                    return let_through(own)
                found = passed
            except Exception:  # as above
                taken_back(self._inner, own)
        event = found or Call(tool, {}, own, agent, depth)
        return self._decided(event, args, fit, why, started)

    def _decided(
        self, event: Any, args: Any, fit: Fit | None = None, why: str = "", started: float = 0.0
    ) -> Outcome:
        """Make and tell the outcome of a call, or of what its lane has found."""
        self._check_open()
        with suppress(*STRAIN):
            if isinstance(event, Call):
                tool_of(event.tool, event.id, event.agent, event.depth)
        call, outcome, attempt = decided(self._inner, event, args, fit, why)
        with KEEPS_DECISION:
            again = attempt.told_before(outcome)
            outcome = self._log.advised(self.id, outcome)
            self._logged(call, outcome, attempt, started, again=again)
            told = () if again else attempt.found
            self._teller.after_decision(outcome.id, outcome, attempt.late, told)
        return outcome

    def _log_passed(self, call: PassedCall, started: float) -> None:
        """Log that a call was let through, of which nothing is violated."""
        at = self.id, started, self._inner.calls - 1, self._now if self._timed else None
        risk = None if self._gate is None else self._gate.told(call[0])
        self._log.passed(at, call[:5], risk)

    def _risk(self, id: str) -> dict[str, Any] | None:
        """Return what the log says of the risk of this call; None without a gate."""
        return None if self._gate is None else self._gate.told(id)

    @property
    def _now(self) -> float | None:
        """The time of the session, where its clock is not that of the machine."""
        if not self._timed:
            return None
        time = self._inner.time
        return time if time - time == 0 else None

    def _logged(
        self, call: Call, outcome: Outcome, attempt: Attempt, started: float, *, again: bool
    ) -> None:
        if not self._logs:
            return
        passed = not again and isinstance(outcome, Allowed | Redirected)
        at = (self.id, started, self._inner.calls - passed, self._now)
        risk = self._risk(call.id)
        self._log.decision(at, call, outcome, attempt.found, attempt.late, again, risk)

    def _check_open(self) -> None:
        if self._inner.finished:
            raise Finished(self.id)

    def risks(self, tools: Iterable[str]) -> list[Any]:
        """Return the risk of calling each of these tools next, the least upper bound first.

        Nothing changes. Raises `SessionError` for a session without a policy of risk.
        """
        gate = self._gate
        if gate is None:
            raise SessionError("this session has no policy of risk; open it with session(risk=..)")
        names = list(tools)
        found = self._inner.at_ledger(lambda ledger, _: [gate.risk(ledger, n, {}) for n in names])
        return sorted(found, key=lambda each: (each.hi, each.lo))

    def ticket(self, ticket: Ticket | str) -> Ticket:
        """Return a ticket as it stands now. Raises `SessionError` if there is no such ticket."""
        return self._inner.with_tickets(lambda tickets, now: tickets.known(as_id(ticket), now))

    def tickets(self) -> tuple[Ticket, ...]:
        """Return the tickets that wait for an answer."""
        return self._inner.with_tickets(lambda tickets, now: tickets.waiting(now))

    def asked(self, ticket: Ticket | str, at: float) -> Ticket:
        """Count the time to answer from `at`, for hosts that decide a held call again; return the
        ticket.
        """
        return self._inner.with_tickets(lambda tickets, now: tickets.asked(as_id(ticket), at, now))

    def approve(self, ticket: Ticket | str, *, by: str, role: str = "") -> Ticket:
        """Answer yes, and return the ticket. Once every contract has its yes, the call may run.

        It is let through when it is decided again, under the same id. Raises `SessionError` for a
        ticket that is not open, for a role that may not answer it, and for an empty `by`.
        """
        return self._answered(lambda tickets, now: tickets.approve(as_id(ticket), by, role, now))

    def deny(self, ticket: Ticket | str, *, by: str, role: str = "") -> Ticket:
        """Answer no, which is final; return the ticket. Raises `SessionError` as `approve` does."""
        return self._answered(lambda tickets, now: tickets.deny(as_id(ticket), by, role, now))

    def revoke(self, ticket: Ticket | str, *, by: str) -> Ticket:
        """Take an approval back before its call is let through; return the ticket.

        Raises `SessionError` for a ticket that is closed, or whose call was let through.
        """
        return self._answered(lambda tickets, now: tickets.revoke(as_id(ticket), by, now))

    def expire(self, ticket: Ticket | str) -> Ticket:
        """Close a ticket that nobody will answer: its call is refused. Raises `SessionError`."""
        return self._answered(lambda tickets, now: tickets.expire(as_id(ticket), now))

    def _answered(self, act: Callable[[Tickets, float], Ticket]) -> Ticket:
        answered = self._inner.with_tickets(act)
        self._log.ticket(self.id, answered)
        return answered

    def _next_turn(self) -> None:
        """Settle the calls of earlier turns as done, if the session assumes success."""
        for id in list(self._inner.flights) if self._assume_success else ():
            self.settle(id)

    def settle(self, id: str, *, output: Any = None, error: Any = None) -> tuple[Violation, ...]:
        """Settle a call that has run, with `output` or with an `error`; return the violations it
        reveals.

        The first result counts; later ones, and those of calls not let through, are only logged.
        Within the garbage collector it returns at once, and another thread settles the call.
        Raises `SessionError` for an id that is not a string.
        """
        landed: Settlement | None = None
        if COLLECTING and is_collecting():
            elsewhere(self.settle, id, output=output, error=error)
            return ()
        if self._direct:
            try:
                landed = settle_fast(self._made or self._inner, id, output, error)
            except Exception:  # whatever goes wrong, the slow path settles it
                landed = None
        if landed is None:
            with suppress(*STRAIN):
                check_settled(id)
            landed = settle(self._inner, id, output, error)
        elif not landed[1]:
            if self._logs:
                now = self._now if self._timed else None
                self._log.settled(self.id, id, landed[0], (output, error), now)
            return ()
        with KEEPS_DECISION:
            if landed is None:
                self._log.ignored(self.id, id)
            else:
                self._log.settlement(self.id, id, landed, (output, error), self._now)
                if landed[1]:
                    self._teller.reported(id, landed[1])
        return () if landed is None else landed[1]

    def refused(self, tool: str, args: Mapping[str, Any] | None = None, *,
                agent: str = "agent", depth: int = 0) -> None:  # fmt: skip
        """Count a call that somebody else has refused, for terms with `denied`."""
        call = Call(tool_of(tool, "", agent, depth), given_args(args), "", agent, depth)
        self._inner.note_refusal(call)
        self._log.refused(self.id, ("", call.tool, call.args, agent, depth), self._now)

    def message(self, role: str, text: str | None = "", *,
                usage: Mapping[str, Any] | None = None) -> Outcome:  # fmt: skip
        """Decide a response (role `assistant`) before it is shown; record a message of another
        role.

        Returns the outcome. `usage`: the tokens that it has cost. Raises `SessionError` for
        anything but a string, for a usage without a number of tokens, and after `finish`.
        """
        self._check_open()
        event, tokens = check_message(role, text), tokens_of(usage)
        self._next_turn()
        self._inner.used(tokens)
        _, outcome, attempt = decided(self._inner, event)
        with KEEPS_DECISION:
            late, again, said = attempt.late, attempt.again, (event.text, tokens, self._now)
            self._log.message(self.id, role, outcome, attempt.found, late, again=again, said=said)
            self._teller.after_decision("", outcome, late, () if again else attempt.found)
        return outcome

    def step(self, atoms: Iterable[str]) -> tuple[Violation, ...]:
        """Record a plain step, by the names that hold now; return the violations that it makes.

        Raises `SessionError` for anything but a list of names, and after `finish`.
        """
        self._check_open()
        step = Step(names(atoms))
        attempt = self._inner.attempt(step)
        violations = (*attempt.late, *(each.violation for each in attempt.found))
        with KEEPS_DECISION:
            self._log.step(self.id, step.atoms, violations, self._now)
            self._teller.reported("", violations)
        return violations

    def fact(self, key: str, value: Any) -> None:
        """Tell a fact of the context, for later calls: `permissions`, `approval`, or any other key.

        Raises `SessionError` for an approval or permissions that cannot be understood.
        """
        self._inner.told(key, check_fact(key, given_value(value)))
        with KEEPS_DECISION:
            self._log.fact(self.id, key, value, self._now)

    def verdicts(self) -> dict[str, Verdict]:
        """Return the verdict of every contract: `violated`, `satisfied` for good, or
        `inconclusive`.
        """
        return self._inner.verdicts()

    def pending(self) -> tuple[Unfulfilled, ...]:
        """Return the obligations that are open now, in words."""
        return self._inner.open()

    def finish(self) -> tuple[Unfulfilled, ...]:
        """End the session, and return what stays unfulfilled.

        A call in flight counts in whichever way violates. Notifiers are told, once.
        """
        late, left, first = self._inner.close()
        self._log.finish(self.id, late, left, self.calls, self._now)
        self._teller.reported("", late)
        if first:
            self._teller.ended(self.calls, left)
        return left

    def __copy__(self) -> Session:
        """Return the session itself: two copies would each let through what one may."""
        return self

    def __deepcopy__(self, _: Any) -> Session:
        """Return the session itself, as `__copy__` does."""
        return self

    def __reduce__(self) -> NoReturn:
        """Raise `SessionError`: a session is no data."""
        raise SessionError("a session cannot be pickled; `snapshot()` is its state, for `restore`")

    def snapshot(self) -> dict[str, Any]:
        """Return the state as JSON data, with the values that contracts remember, for
        `Guard.restore`.
        """
        return snapshot(self._inner, self.id)

    def resume(self, data: Mapping[str, Any]) -> None:
        """Take over the state of a snapshot; `Guard.restore` calls this on a new session."""
        self.started_anew = restore(self._inner, data)
        self._log.restored(self.id, self.started_anew)


def decide_fitted(
    session: Session, tool: str, args: Any, id: str | None, by: tuple[str, int], fit: Fit
) -> Outcome:
    """Decide as `Session.decide` does; a substitute is decided on what it will
    receive, by `fit`.
    """
    session._next_turn()  # noqa: SLF001  a method that is not for users
    return session._decide(tool, args, id, *by, fit)  # noqa: SLF001


def saved(session: Session) -> str | dict[str, Any]:
    """Return a snapshot of a session, for hosts that write it down after each call.

    It is a text, made of what has changed since; or data, where there is no text for it.
    """
    try:
        return snapshot_text(session._inner, session.id)  # noqa: SLF001  as above
    except ValueError:  # a number of too many digits
        return session.snapshot()


def read_saved(data: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the snapshot that was `saved`. Raises `SnapshotError` for one that was changed."""
    return read_text(data) if isinstance(data, str) else data
