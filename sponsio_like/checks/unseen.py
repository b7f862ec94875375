"""Refuses a guarantee that a value which never occurs would violate.

In: a clause with value variables. Out: nothing, or a `ContractError`. Such a guarantee would speak
of values that nobody names, and be violated on their behalf.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.engine import Clause
from sponsio_like.errors import ContractError
from sponsio_like.logic import decompose
from sponsio_like.monitor import (
    BINDING,
    Monitor,
    Program,
    all_vars,
    relations,
    vars_given_by_context,
    vars_in,
)

SAME = "some value"
"""The stand-in for a value that occurs."""


def check_unbound_values(clause: Clause) -> None:
    """Raise `ContractError` if a value that never occurs would violate the guarantee."""
    scope, assumption = clause.contract.segment, clause.contract.assumption
    begins = [each for each in (assumption, scope.start if scope else None) if each is not None]
    if any(all_vars(each) for each in begins):
        return  # the assumption or the scope binds it
    assert clause.bound is not None
    names = frozenset(clause.bound.names.places)
    nodes = [slot.node for slot in clause.slots]
    apart = any(
        relations(node, clause.bound.names) or any(vars_given_by_context(node)) for node in nodes
    )
    sizes = range(1, len(names)) if apart else ()  # else an event binds all of them, or none
    for unseen in (names, *(frozenset(e) for n in sizes for e in combinations(sorted(names), n))):
        if unseen and _breaks(clause, _unseen(clause.rule.formula, unseen)):
            shown = ", ".join(f"`${name}`" for name in sorted(unseen))
            raise ContractError.of(
                f"a value of {shown} that never occurs would violate `{clause.rule.formula!r}`",
                "bind the variable at the event that is judged, and write the rest as a guarantee "
                "of its own",
            )


def _breaks(clause: Clause, formula: f.Formula) -> bool:
    """True if some trace violates the formula."""
    monitor = Monitor(Program(), decompose(formula), clause.monitor.search.tools)
    state = monitor.start
    joint = frozenset(residual for each in state.live for residual in each)
    return monitor.search.reachable("harsh", joint, state.registers, -1, more=True)


def _unseen(root: f.Formula, unseen: frozenset[str]) -> f.Formula:
    """Return the formula where some variables have values that never occur, and all others the
    same.
    """

    def swap(node: Any) -> f.Node | None:
        match node:
            case f.Happens(what, target):
                left = _left(target, unseen)
                return f.Happens(what, left) if left else f.FALSE
            case f.Sum(target, path, bound):
                left = _left(target, unseen)
                return f.Sum(left, path, bound) if left else f.Const(0)
            case f.OutputIs(path, op, f.Var(name)):
                return f.FALSE if name in unseen else f.OutputIs(path, _plain(op), SAME)
            case f.TextIs(_, f.Var(name)):
                return f.FALSE if name in unseen else f.MessageBy("*")
            case f.Compare() if any(name in unseen for name in vars_given_by_context(node)):
                return f.FALSE
            case f.Variable(name) if name not in unseen:
                return f.Const(SAME)
        return None

    return f.rewritten(root, swap)


def _left(target: f.Target, unseen: frozenset[str]) -> f.Target:
    """Return the matches that can hold: those that bind no value that never occurs."""
    left = (match for match in target if not _binds(match, unseen))
    return tuple(_grounded(match, unseen) for match in left)


def _plain(op: f.Op) -> f.Op:
    return "=" if op in BINDING else op


def _binds(match: f.Match, unseen: frozenset[str]) -> bool:
    found = vars_in(f.Happens("called", (match,)))
    return any(var.name in unseen and op in BINDING for op, var in found)


def _grounded(match: f.Match, unseen: frozenset[str]) -> f.Match:
    """Return the match without its conditions on values that never occur, and with `SAME` for
    others.
    """
    left: list[f.Condition] = []
    for each in match.conditions:
        if not isinstance(each.value, f.Var):
            left.append(each)
        elif each.value.name not in unseen:
            left.append(replace(each, value=SAME, op=_plain(each.op)))
    return replace(match, conditions=tuple(left))
