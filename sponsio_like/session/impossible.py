"""Finds the tools that are impossible now: every call is blocked, whatever its arguments.

In: the state of a session, tools, and who would call them. Out: some of these tools. Only what is
certain counts: a contract that is enforced and blocks, violated in every state that the call may
meet. Nothing changes, no atom of a user is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import TypeAlias

from sponsio_like.advice import View, view
from sponsio_like.engine import Clause, Ledger, Policy, inventory_mode
from sponsio_like.errors import ContractError
from sponsio_like.events import Call, Context
from sponsio_like.logic.formula import Delivered, postorder
from sponsio_like.monitor import ClauseState, Letter, PositionCounts, TooManyBranches
from sponsio_like.outcome import Block, Stop
from sponsio_like.session.interceptor import Interceptor

KEYS_TRIED = 64
"""Most keys of a clause with `by` that are tried; with more, one of them may allow the call."""
VIEWS_CAP = 4_096
"""Most pairs of a tool and an agent whose views are cached for one policy."""

Views: TypeAlias = "dict[int, View | None]"


def impossible_tools(
    inner: Interceptor, tools: Iterable[str], by: tuple[str, int], *, settling: bool
) -> frozenset[str]:
    """Return the tools of which every call by this agent, at this depth, is blocked.

    `settling`: calls in flight will count as done when the next call is decided.
    """
    calls = [Call(tool, {}, "", *by) for tool in tools]

    def ask(ledger: Ledger, now: float) -> frozenset[str]:
        if inner.context.stopped and inner.policy.enforces:
            return frozenset(call.tool for call in calls)
        unsettled = _unsettled(inner) if settling and inner.flights else frozenset()
        moment = Knowledge(ledger, inner.context, now, unsettled)
        return frozenset([call.tool for call in calls if moment.excludes(call)])

    return inner.at_ledger(ask)


def _unsettled(inner: Interceptor) -> frozenset[int]:
    """Return the clauses that the results of calls in flight may change."""
    flights = inner.flights.values()
    waits = (
        *(each.waits for each in flights),
        *(inner.world.waiting(each.key) for each in flights),
    )
    found = {change.clause for changes in waits for change in changes}
    if any(flight.sources for flight in flights):
        found |= {i for i, clause in enumerate(inner.policy.clauses) if _counts_results(clause)}
    return frozenset(found)


def _counts_results(clause: Clause) -> bool:
    nodes = (node for slot in clause.slots for node in postorder(slot.node))
    return any(isinstance(node, Delivered) for node in nodes)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The state of a session now. `unsettled`: clauses of which nothing is certain."""

    ledger: Ledger
    context: Context
    time: float
    unsettled: frozenset[int]
    _known: dict[tuple[int, frozenset[int], Letter], bool] = field(default_factory=dict)

    def excludes(self, call: Call) -> bool:
        """True if the inventory, or some clause, is certain to block the call, whatever its
        arguments.
        """
        policy = self.ledger.policy
        if inventory_mode(policy) == "enforce" and not policy.inventory.has(call.tool):
            return True
        views = _views(policy, call)
        for i in self.ledger.touched(call):
            if i not in views:
                views[i] = _blocking(policy, i, call)
            seen = views[i]
            if seen is not None and i not in self.unsettled and self._refuses(i, seen, call):
                return True
        return False

    def _refuses(self, i: int, seen: View, call: Call) -> bool:
        """True if this clause is certain to block the call; cached for tools
        that it treats alike.
        """
        if seen.told is None:
            return self._violated(i, seen, seen.letter(call, self.context), call)
        name = (i, seen.unknown, seen.told)
        if name not in self._known:
            self._known[name] = self._violated(i, seen, seen.told, call)
        return self._known[name]

    def _violated(self, i: int, seen: View, letter: Letter, call: Call) -> bool:
        """True if such a call violates in every state that it may meet."""
        own = set(seen.clause.by) - {"@agent"}
        if own and len(self.ledger.keyed[i]) > KEYS_TRIED:
            return False
        try:
            return all(
                due >= self.time and seen.violated(state, letter, at, self.time)
                for state, at, due in self._states(i, seen.clause, call, split=bool(own))
            )
        except (TooManyBranches, ContractError):
            return False  # not certain: it may be blocked, but for another reason

    def _states(
        self, i: int, clause: Clause, call: Call, *, split: bool
    ) -> Iterator[tuple[ClauseState, PositionCounts, float]]:
        """Yield the states of a clause that the call may meet, each with its deadline."""
        alarms = self.ledger.alarms
        if not clause.by:
            yield self.ledger.states[i], self.ledger.next(i), alarms.get((i, ()), inf)
            return
        known = self.ledger.keyed[i]
        for key in (None, *known) if split else (clause.key(call),):
            state, length = known.get(key) or (clause.start, 0)
            yield state, PositionCounts(length, length), alarms.get((i, key), inf)


def _views(policy: Policy, call: Call) -> Views:
    name = (call.tool, call.agent)
    found: Views | None = policy.views.get(name)
    if found is None:
        found = {}
        if len(policy.views) < VIEWS_CAP:
            policy.views[name] = found
    return found


def _blocking(policy: Policy, i: int, call: Call) -> View | None:
    """Return the view of a clause that blocks; None if it observes, asks, holds or redirects."""
    enforced = policy.modes[policy.owner[i]] == "enforce"
    if not enforced or not isinstance(policy.decision(i), Block | Stop):
        return None
    return view(policy.clauses[i], call)
