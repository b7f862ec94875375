"""Tells why a call was refused by its lane, when somebody asks.

In: what was refused, and the state at that moment. Out: the violations, and the advice, which are
worked out when they are read for the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sponsio_like.advice import Refusal
from sponsio_like.engine import (
    Finding,
    Ledger,
    enforced,
    findings_of,
    in_modes,
    renamed,
    witnesses,
)
from sponsio_like.events import Call, Context
from sponsio_like.monitor import Change, Witness
from sponsio_like.outcome import Block, Mode, Redirect, Violation
from sponsio_like.session.flights import UNLIKE, Attempt, event_fingerprint
from sponsio_like.values import given_args

Fit = Callable[[Redirect], Mapping[str, Any] | str]
"""A function that returns the arguments that a substitute will receive, or why it cannot run."""


@dataclass(slots=True)
class LaneRefusal:
    """A call that clauses stop, of which each enforced one blocks; called, it returns the advice.

    `before`: the ledger that refused it; `violated`: the clauses, and `known` their witnesses, if
    they cannot be told from that ledger; `modes`: those of the contracts. The context, the time,
    and what is known of calls in flight and of unread answers are as in `Refusal`.
    """

    call: Call
    before: Ledger
    violated: tuple[int, ...]
    known: dict[int, Witness] | None
    modes: tuple[Mode, ...]
    context: Context
    flights: tuple[tuple[str, str, tuple[Change, ...]], ...]
    unread: Mapping[str, str]
    _found: tuple[Finding, ...] | None = field(default=None, init=False, repr=False)
    _refusal: Refusal | None = field(default=None, init=False, repr=False)

    @property
    def found(self) -> tuple[Finding, ...]:
        """The findings, one for each contract."""
        if self._found is None:
            before, policy = self.before, self.before.policy
            if policy.modes is not self.modes:  # they were changed since
                policy = in_modes(policy, self.modes)
            known = self.known or witnesses(before, self.violated, self.call)
            self._found = findings_of(policy, known, self.call, before.calls)
        return self._found

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The violations of enforced contracts."""
        return enforced(self.found)

    @property
    def attempt(self) -> Attempt:
        """The same as the result of an attempt."""
        return Attempt(self.found, (), self.before, Block())

    def __call__(self) -> str:
        """Return the advice."""
        if self._refusal is None:
            self._refusal = Refusal(
                self.before,
                self.call,
                self.context,
                self.call.time,
                self.found,
                self.flights,
                substitute=partial(substitute, self.call),
                unread=self.unread,
            )
        return self._refusal.explain()


def substitute(call: Call, answer: Redirect, fit: Fit | None = None) -> Call | str:
    """Return the call of the substitute, on what it will receive; or why there can be none."""
    safe = replace(call, tool=answer.tool, args=renamed(call.args, answer))
    instead = f"`{safe.tool}` was to run instead"
    if event_fingerprint(safe).startswith(UNLIKE):
        return f"{instead}, but the arguments of `{call.tool}` cannot be read"
    if fit is None:
        return safe
    args = fit(answer)
    if isinstance(args, str):
        return f"{instead}, but it cannot: {args}"
    return replace(safe, args=given_args(args))
