"""Notifies of violations: the notifiers of the contract, and those of the guard.

In: what a session did. Out: notices in mailboxes. After a result, and at the end, nothing can be
stopped any more: callables that are strategies run then, too, and their answers change nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sponsio_like.contracts import said_of
from sponsio_like.engine import Finding, Policy
from sponsio_like.notices import Mailbox, Notice
from sponsio_like.outcome import (
    Allowed,
    Ask,
    Decision,
    Escalate,
    Held,
    Outcome,
    Redirected,
    Unfulfilled,
    Violation,
)

GOING = (Allowed, Redirected)
"""The outcomes of calls that run."""


@dataclass(frozen=True, slots=True)
class Notifications:
    """The notifications of one session. `everyone`: the mailboxes that get all of them."""

    policy: Policy
    session: str
    everyone: tuple[Mailbox, ...] = ()

    def after_decision(
        self, call: str, outcome: Outcome, late: Iterable[Violation], found: Iterable[Finding]
    ) -> None:
        """Notify of what time had violated when the decision was made, and of the decision."""
        self.reported("", late)
        self.decided(call, found, outcome)

    def decided(self, call: str, found: Iterable[Finding], outcome: Outcome) -> None:
        """Notify of the contracts that a decided event violates."""
        ticket = outcome.ticket if isinstance(outcome, Held) else None
        going = isinstance(outcome, GOING)  # then its ticket was answered
        for _, each, decision, _ in found:
            if each.mode != "enforce" or (going and isinstance(decision, Escalate)):
                continue
            boxes = self._boxes(each, decision)
            if not boxes:
                continue
            notice = self._about(each, call)
            if ticket is not None and each.contract in ticket.contracts:
                notice = replace(notice, ticket=ticket.id, roles=ticket.roles)
            for box in boxes:
                box.post(notice)

    def reported(self, call: str, violations: Iterable[Violation]) -> None:
        """Notify of violations that a result or time has revealed; nothing can
        be stopped any more.
        """
        for each in violations:
            self._reported(each, self._about(each, call))

    def ended(self, calls: int, left: Iterable[Unfulfilled]) -> None:
        """Notify of what is still owed when the session ends."""
        names = (each.name for each in self.policy.contracts)
        modes = dict(zip(names, self.policy.modes, strict=True))
        for each in left:
            mode, about = modes[each.contract], said_of(each)
            owed = Violation(each.contract, calls, None, "reported", each.message, mode, **about)
            self._reported(owed, replace(self._about(owed, ""), action="unfulfilled"))

    def _about(self, each: Violation, call: str) -> Notice:
        return Notice(
            self.session,
            each.contract,
            each.tool,
            call,
            each.position,
            each.action,
            each.message,
            because=each.because,
            owner=each.owner,
            severity=each.severity,
            tags=each.tags,
        )

    def _reported(self, each: Violation, notice: Notice) -> None:
        if each.mode != "enforce":
            return
        for decision in self.policy.answers(each.contract):
            if isinstance(decision, Ask):
                _run(decision, each)
        for box in self._boxes(each):
            box.post(notice)

    def _boxes(self, violation: Violation, *ruled: Decision) -> Iterable[Mailbox]:
        """Return the mailboxes that are told of this violation, each once."""
        answers = (*self.policy.answers(violation.contract), *ruled)
        own = [box for each in answers if isinstance(each, Escalate) for box in each.notify]
        return dict.fromkeys((*own, *self.everyone)) if own else self.everyone


def _run(ask: Ask, violation: Violation) -> None:
    try:
        ask.function(violation)
    except Exception:  # a strategy is user code; there is nothing left to stop
        logging.getLogger("sponsio_like").exception("strategy %s failed", ask.name)
