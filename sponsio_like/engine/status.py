"""Reports the verdict of every contract, what is demanded, and what is still owed, in words.

In: a ledger, or one clause. Out: verdicts by contract, obligations. Argument values of a call never
stand in these words.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from sponsio_like.engine.clause import Clause
from sponsio_like.engine.ledger import Ledger
from sponsio_like.engine.policy import Policy
from sponsio_like.monitor import Instance, Literal, Now, Verdict, literals_of, overall
from sponsio_like.outcome import Unfulfilled
from sponsio_like.syntax import show

FULL = "memory is full, so that it cannot be told any more"
"""The text for a contract that had no memory left for something that it must not forget."""
NESTED = 100
"""Deepest nesting of operators of which it is said what they wait for."""


def demand(clause: Clause) -> str:
    """Return what had to hold: the pattern's sentence, else the formula."""
    if clause.rule.sentence:
        return clause.rule.sentence
    if demand not in clause.asked:  # a long formula takes longer to write down than to judge
        clause.asked[demand] = show(clause.rule.formula)
    return str(clause.asked[demand])


def owed(clause: Clause, instance: Instance) -> str:
    """Return what has to happen before the session ends."""
    wants = sorted(
        {_want(clause, literal) for literal in literals_of(instance) if literal[0] in "XFfD"}
    )
    missing = ", ".join(wants)
    return f"{demand(clause)}; still missing: {missing}" if missing else demand(clause)


def _want(clause: Clause, literal: Literal) -> str:
    if literal[0] == "D":
        return "the result of a call in flight"
    return _node(clause, literal[1])


def _node(clause: Clause, i: int, deepest: int = NESTED) -> str:
    """Return what node `i` waits for, in terms of its atoms, if it is nested no deeper."""
    nodes, slots = clause.monitor.program.nodes, clause.monitor.program.slots
    match nodes[i] if deepest else ():
        case ("lit", slot, negated):
            return f"{'!' if negated else ''}{show(slots[slot].node)}"
        case ("U", _, right):
            return _node(clause, right, deepest - 1)
        case ("or" | "and" as kind, *parts):
            word = " or " if kind == "or" else " and "
            return word.join(dict.fromkeys(_node(clause, k, deepest - 1) for k in parts[:4]))
        case ("F" | "X" | "WX" | "O", body, *_):
            return _node(clause, body, deepest - 1)
    return "what the contract says"


def verdicts(ledger: Ledger) -> dict[str, Verdict]:
    """Return the verdict of every contract, by name."""
    policy = ledger.policy
    found: dict[str, set[Verdict]] = {contract.name: set() for contract in policy.contracts}
    for i, state, last in ledger.all_states():
        found[policy.all.names[i]].add(policy.clauses[i].verdict(state, last))
    return {name: overall(verdicts) for name, verdicts in found.items()}


def open_obligations(ledger: Ledger, now: Now) -> tuple[Unfulfilled, ...]:
    """Return the obligations that would be unfulfilled if the session ended now."""
    policy = ledger.policy
    found: dict[tuple[int, str, str], Unfulfilled] = {}
    examples = functools.cache(lambda i: ledger.stores[i].examples())
    for i, state, last in ledger.all_states():
        clause = policy.clauses[i]
        ends = clause.open_ends(state)
        if ends and clause.assumed(state, last, now):
            key = examples(i).get(state._replace(violated=False)) if i in ledger.stores else None
            values = () if key is None else ledger.witness(i, key).values
            for each in _messages(clause, ends):
                found[policy.owner[i], each, repr(values)] = _owing(policy, i, each, values)
    for i, store in ledger.stores.items():
        if store.blind and not policy.clauses[i].is_plain:
            message = f"{FULL}: {demand(policy.clauses[i])}"
            found[policy.owner[i], message, repr(())] = _owing(policy, i, message)
    return tuple(found.values())


def _messages(clause: Clause, ends: Iterable[Instance]) -> list[str]:
    """Return what has to happen, in words, which say nothing of bounds: each once, in order."""
    alike = {frozenset(map(_what, literals_of(one))): one for one in ends}
    return sorted({owed(clause, each) for each in alike.values()})


def _what(literal: Literal) -> tuple[Any, ...]:
    """Return what a literal waits for, apart from its bound, and of calls in flight from which."""
    return literal[:1] if literal[0] == "D" else literal[:2]


def _owing(
    policy: Policy, i: int, message: str, values: tuple[tuple[str, Any], ...] = ()
) -> Unfulfilled:
    about = policy.contracts[policy.owner[i]].about
    return Unfulfilled(policy.all.names[i], message, values, **about.said())
