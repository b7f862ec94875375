"""One agent session: decide before a call runs, settle when it has run.

Flow: tool, args -> Outcome. The session answers the host and writes the log; what stands against
a call is found by its interceptor.
"""

from __future__ import annotations

import copy
import itertools
import secrets
import time as _time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sponsio_like.advice import Refusal
from sponsio_like.compiler import Policy
from sponsio_like.context import checked, names, tokens_of
from sponsio_like.errors import SessionError
from sponsio_like.events import Call, Message, Result, Step, Unreadable, digest
from sponsio_like.freezing import freeze, freeze_args
from sponsio_like.interceptor import Attempt, Interceptor
from sponsio_like.ledger import Ledger
from sponsio_like.monitor import Verdict
from sponsio_like.outcome import (
    Allowed,
    Blocked,
    Outcome,
    Redirect,
    Redirected,
    Unfulfilled,
    Violation,
)
from sponsio_like.records import SILENT, Log
from sponsio_like.snapshot import part
from sponsio_like.verdicts import Finding, enforced, observed, renamed, strictest


class Session:
    """The trace of one task of one agent, as far as its contracts need to remember it.

    Made by `Guard.session`. Any number of threads or tasks may decide on one session.
    `started_anew`: after a restore, the contracts that had changed and lost their state.
    """

    def __init__(
        self,
        policy: Policy,
        id: str,
        *,
        clock: Callable[[], float] = _time.time,
        assume_success: bool = False,
        log: Log = SILENT,
    ) -> None:
        self.id = id
        self.policy = policy
        self.started_anew: tuple[str, ...] = ()
        self._inner = Interceptor(policy, clock)
        self._assume_success = assume_success
        self._log = log
        self._ids = itertools.count(1)
        self._token = secrets.token_hex(4)
        self._finished = False

    @property
    def calls(self) -> int:
        """How many calls were let through."""
        return self._inner.calls

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

        Deciding an id that is in flight again gives the first answer and counts nothing; with
        another tool or other arguments it is blocked. Raises `SessionError` after `finish`.
        """
        self._next_turn()
        return self._decide(tool, args, id, agent, depth)

    def decide_batch(
        self, calls: Iterable[Sequence[Any]], *, agent: str = "agent", depth: int = 0
    ) -> list[Outcome]:
        """Decide the parallel calls `(tool, args[, id])` of one model turn, one after another.

        Each sees those before it as in flight: three `pay(60)` under a limit of 100 end with one
        paid.
        """
        batch = [_item(call) for call in calls]
        self._next_turn()
        return [self._decide(tool, args, id, agent, depth) for tool, args, id in batch]

    def _new_id(self) -> str:
        """An id for a call that came without one; no host makes such ids."""
        return f"auto-{self._token}-{next(self._ids)}"

    def _decide(self, tool: str, args: Any, id: str | None, agent: str, depth: int) -> Outcome:
        self._check_open()
        if not all(isinstance(each, str) for each in (tool, "" if id is None else id)):
            raise SessionError(f"tool {tool!r} and id {id!r} have to be strings")
        started = _time.perf_counter()
        call = Call(tool, {}, self._new_id() if id is None else id, agent, depth)
        attempt = Attempt()
        try:
            call = replace(call, args=freeze_args(args))
            outcome, attempt = self._decision(call, _mark(call))
        except Exception as error:  # fail closed: whatever goes wrong, the tool does not run
            outcome = self._failed(call, error)
        again = attempt.flight is not None and isinstance(outcome, type(attempt.flight.outcome))
        self._log.decision(self.id, call, outcome, attempt.found, attempt.late, started, again)
        return outcome

    def _standing(self, call: Call, mark: str, attempt: Attempt) -> Outcome:
        """The answer to an id that is in flight already, or to one call too many."""
        flight = attempt.flight
        if flight is None:
            return self._refused(call, "too many calls are in flight; settle some of them first")
        if flight.digest == mark:
            return _own(flight.outcome)
        reason = f"call id `{call.id}` is in flight with another tool or other arguments"
        return self._refused(call, reason)

    def _refused(self, call: Call, reason: str) -> Outcome:
        """No contract's doing: blocked if anything is enforced here, otherwise only said."""
        position = self._inner.calls
        if not self.policy.enforces:
            seen = Violation("session", position, call.tool, "blocked", reason, "observe")
            return Allowed(call.id, (), (seen,))
        violation = Violation("session", position, call.tool, "blocked", reason)
        return Blocked(call.id, (violation,), lambda: reason)

    def _failed(self, call: Call, error: Exception) -> Outcome:
        return self._refused(call, f"the decision failed: {type(error).__name__}: {error}")

    def _decision(self, call: Call, mark: str) -> tuple[Outcome, Attempt]:
        def allowed(found: tuple[Finding, ...]) -> Outcome:
            return Allowed(call.id, enforced(found), observed(found))

        first = self._inner.attempt(call, mark, allowed)
        if first.flight is not None or first.full:
            return self._standing(call, mark, first), first
        if first.before is None:
            return allowed(first.found), first
        answer = strictest(first.found)
        if isinstance(answer, Redirect):
            return self._redirected(call, mark, answer, first)
        return self._blocked(call, first.found, first.before), first

    def _redirected(
        self, call: Call, mark: str, answer: Redirect, first: Attempt
    ) -> tuple[Outcome, Attempt]:
        """Decide the substitute like any call, under the same id.

        Unless it is let through, block.
        """
        safe = replace(call, tool=answer.tool, args=renamed(call.args, answer))
        redirected = Redirected(call.id, safe.tool, safe.args, enforced(first.found))
        second = self._inner.attempt(safe, mark, lambda _: redirected)
        found = (*first.found, *second.found)
        if second.before is None:
            return _own(redirected), replace(first, found=found)
        return self._blocked(call, found, second.before), replace(first, found=found)

    def _blocked(
        self, event: Call | Message, found: tuple[Finding, ...], before: Ledger
    ) -> Blocked:
        inner, id = self._inner, event.id if isinstance(event, Call) else ""
        refusal = Refusal(before, event, inner.context, inner.time, found, inner.flying())
        return Blocked(id, enforced(found), refusal.explain)

    def _check_open(self) -> None:
        if self._finished:
            raise SessionError(f"session `{self.id}` is finished; open a new one")

    # --- results, messages, facts -------------------------------------------------------------

    def _next_turn(self) -> None:
        """Where nobody settles, the calls of earlier turns count as done now."""
        if self._assume_success:
            for id in list(self._inner.flights):
                self.settle(id)

    def settle(self, id: str, *, output: Any = None, error: Any = None) -> tuple[Violation, ...]:
        """The call has run: with `output`, or with an `error`. The violations that this reveals.

        The first result counts; later ones, and results of calls that were not let through, are
        only logged.
        """
        flight = self._inner.land(id)
        if flight is None:
            self._log.ignored(self.id, id)
            return ()
        result = Result("ok", freeze(output)) if error is None else Result("error", freeze(error))
        revealed = self._inner.settle(flight, result)
        self._log.settlement(self.id, id, flight.tool, result.status, revealed)
        return revealed

    def message(
        self, role: str, text: str = "", *, usage: Mapping[str, Any] | None = None
    ) -> Outcome:
        """A message. Role `assistant` is a response, decided before it is shown.

        Others are recorded.
        """
        self._check_open()
        self._next_turn()
        self._inner.used(tokens_of(usage))
        event = Message(role.casefold(), text)
        try:
            attempt = self._inner.attempt(event)
            outcome: Outcome = Allowed("", enforced(attempt.found), observed(attempt.found))
            if attempt.before is not None:
                outcome = self._blocked(event, attempt.found, attempt.before)
        except Exception as error:  # fail closed, as for a call
            attempt, outcome = Attempt(), self._failed(Call(f"message:{role}"), error)
        self._log.message(self.id, role, outcome, attempt.found, attempt.late)
        return outcome

    def step(self, atoms: Iterable[str]) -> tuple[Violation, ...]:
        """A plain observation: the names that hold now. The violations that it makes."""
        self._check_open()
        attempt = self._inner.attempt(Step(names(atoms)))
        violations = (*attempt.late, *(each.violation for each in attempt.found))
        self._log.step(self.id, violations)
        return violations

    def fact(self, key: str, value: Any) -> None:
        """Tell the session something of its context, visible from the next decision on.

        `permissions` is a list, or a map from agent to list; `approval` one standing approval; any
        other key is plain context.
        """
        self._inner.told(key, checked(key, freeze(value)))
        self._log.fact(self.id, key)

    # --- the end ------------------------------------------------------------------------------

    def verdicts(self) -> dict[str, Verdict]:
        """What is known of every contract: `violated`, `satisfied` for good, or `inconclusive`."""
        return self._inner.verdicts()

    def pending(self) -> tuple[Unfulfilled, ...]:
        """The obligations that are open now, in words."""
        return self._inner.open()

    def finish(self) -> tuple[Unfulfilled, ...]:
        """End the session. What stays unfulfilled.

        A call in flight is read whichever way violates.
        """
        late, left = self._inner.close()
        self._finished = True
        self._log.finish(self.id, late, left)
        return left

    def snapshot(self) -> dict[str, Any]:
        """The whole state as JSON data, for `Guard.restore`.

        It has the values that contracts remember.
        """
        return self._inner.snapshot({"session": self.id, "finished": self._finished})

    def resume(self, data: Mapping[str, Any]) -> None:
        """Take over the state of a snapshot; `Guard.restore` calls this on a new session."""
        self.started_anew = self._inner.restore(data)
        self._finished = part(data, "finished", bool)
        self._log.restored(self.id, self.started_anew)


def _mark(call: Call) -> str:
    """What tells this call from others under its id; what cannot be read is like no other."""
    try:
        return f"{digest(call.tool, call.args)} {call.agent} {call.depth}"
    except Unreadable:
        return secrets.token_hex(16)


def _item(call: Sequence[Any]) -> tuple[Any, Any, Any]:
    """One call of a batch. Raises `SessionError` before anything is decided."""
    if not isinstance(call, (list, tuple)) or len(call) not in (2, 3):
        raise SessionError(
            f"{call!r} is no call of a batch; write (tool, args) or (tool, args, id)"
        )
    return call[0], call[1], call[2] if len(call) > 2 else None


def _own(outcome: Outcome) -> Outcome:
    """The outcome with arguments that the host may change."""
    if isinstance(outcome, Redirected):
        return replace(outcome, args=copy.deepcopy(outcome.args))
    return outcome
