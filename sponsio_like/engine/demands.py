"""Says in words what a clause demands, and what is still owed to it.

Argument values of a call never stand in these words.
"""

from __future__ import annotations

from sponsio_like.engine.clause import Clause
from sponsio_like.monitor import Instance, Literal, literals_of
from sponsio_like.syntax import show

FULL = "memory is full, so that it cannot be told any more"
"""The text for a contract that had no memory left for something that it must not forget."""


def demand(clause: Clause) -> str:
    """Return what had to hold: the pattern's sentence, else the formula."""
    return clause.rule.sentence or show(clause.rule.formula)


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


def _node(clause: Clause, i: int) -> str:
    """Return what node `i` waits for, in terms of its atoms."""
    nodes, slots = clause.monitor.program.nodes, clause.monitor.program.slots
    match nodes[i]:
        case ("lit", slot, negated):
            return f"{'!' if negated else ''}{show(slots[slot].node)}"
        case ("U", _, right):
            return _node(clause, right)
        case ("or" | "and" as kind, *parts):
            word = " or " if kind == "or" else " and "
            return word.join(dict.fromkeys(_node(clause, k) for k in parts[:4]))
        case ("F" | "X" | "WX" | "O", body, *_):
            return _node(clause, body)
    return "what the contract says"
