"""Reports the verdict of every contract, and what is still owed, without any event.

In: a ledger. Out: verdicts by contract, obligations in words.
"""

from __future__ import annotations

from typing import Any

from sponsio_like.engine.demands import FULL, demand, owed
from sponsio_like.engine.ledger import Ledger
from sponsio_like.engine.policy import Policy
from sponsio_like.monitor import ClauseState, Now, Verdict, overall
from sponsio_like.outcome import Unfulfilled


def verdicts(ledger: Ledger) -> dict[str, Verdict]:
    """Return the verdict of every contract, by name."""
    policy = ledger.policy
    found: dict[str, set[Verdict]] = {contract.name: set() for contract in policy.contracts}
    for i, watch, last in ledger.all_watches():
        found[policy.all.names[i]].add(policy.clauses[i].verdict(watch, last))
    return {name: overall(verdicts) for name, verdicts in found.items()}


def owing(ledger: Ledger, now: Now) -> tuple[Unfulfilled, ...]:
    """Return the obligations that would be unfulfilled if the session ended now."""
    policy = ledger.policy
    found: dict[Unfulfilled, None] = {}
    for i, watch, last in ledger.all_watches():
        clause = policy.clauses[i]
        ends = clause.open_ends(watch)
        if ends and clause.assumed(watch, last, now):
            messages, values = (
                sorted(owed(clause, each) for each in ends),
                _values(ledger, i, watch),
            )
            found.update((_owing(policy, i, each, values), None) for each in messages)
    for i, store in ledger.bound.items():
        if store.blind and not policy.clauses[i].is_plain:
            message = f"{FULL}: {demand(policy.clauses[i])}"
            found[_owing(policy, i, message)] = None
    return tuple(found)


def _owing(
    policy: Policy, i: int, message: str, values: tuple[tuple[str, Any], ...] = ()
) -> Unfulfilled:
    about = policy.contracts[policy.owner[i]].about
    return Unfulfilled(policy.all.names[i], message, values, **about.said())


def _values(ledger: Ledger, i: int, watch: ClauseState) -> tuple[tuple[str, Any], ...]:
    """Return values of the variables of clause `i` that are in this state; empty if it has none."""
    key = ledger.bound[i].example(watch._replace(violated=False)) if i in ledger.bound else None
    return () if key is None else ledger.witness(i, key).values
