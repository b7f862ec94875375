"""Refuses a guarantee that is vacuous: no trace violates it where its assumption and scope hold.

In: a compiled clause. Out: nothing, or a `ContractError`. Everything that has happened within a
segment is left free, so a contract that could work is never refused.
"""

from __future__ import annotations

import itertools
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.contracts import Scope
from sponsio_like.engine import Clause
from sponsio_like.errors import ContractError
from sponsio_like.logic import decompose
from sponsio_like.monitor import Monitor, Program

_REMEMBERS = (f.Yesterday, f.WeakYesterday, f.Once, f.Historically, f.Since, f.Compare)


def check_not_vacuous(clause: Clause) -> None:
    """Refuse a guarantee that no trace can violate where its assumption and its scope hold."""
    scope, assumption = clause.contract.segment, clause.contract.assumption
    if scope is None and assumption is None:
        return
    assumed = f.TRUE if assumption is None else assumption
    inside = f.TRUE if scope is None else _inside(scope)
    if clause.monitor.plain:
        bad = _broken(clause, exact=scope is None)
    else:
        bad = f.TRUE
        if scope is not None and scope.stop is not None:
            inside = f.disj(inside, scope.stop & f.Yesterday(inside))
    if _happens(f.conj(assumed, inside, bad), clause):
        return
    if not _happens(assumed, clause):
        raise ContractError.of("the assumption is never true", "leave it out, or correct it")
    if not _happens(inside, clause):
        raise ContractError.of("no segment of the scope ever begins", "correct its conditions")
    if scope is None:
        what = "nothing can violate the guarantee where the assumption holds"
        raise ContractError.of(what, "correct the assumption")
    also = "" if assumption is None else ", where the assumption holds"
    raise ContractError.of(
        f"nothing can violate the guarantee inside the scope{also}",
        "a segment includes the position that begins it, and excludes the one that ends it",
    )


def _inside(scope: Scope) -> f.Formula:
    """Return the formula "this position is in a segment"."""
    match scope:
        case Scope("before", _, f.Formula() as stop):
            return ~f.Once(stop)
        case Scope("after", f.Formula() as start):
            return f.Once(start)
        case Scope(_, f.Formula() as start, f.Formula() as stop):
            return f.Since(~stop, start)
    return f.TRUE


def _broken(clause: Clause, *, exact: bool) -> f.Formula:
    """Return the formula "what is owed at every position does not hold at this one".

    Unless `exact`, everything that is remembered or compared in it is left free.
    """
    owed = f.conj(*(part for parts in decompose(clause.rule.formula).always for part in parts))
    return ~(owed if exact else _forgetful(owed))


def _forgetful(root: f.Formula) -> f.Formula:
    """Return the formula with everything that is remembered, or compared, left free."""
    numbers = itertools.count()

    def swap(part: Any) -> f.Node | None:
        return f.Approved(f"free {next(numbers)}", "") if isinstance(part, _REMEMBERS) else None

    return f.rewritten(root, swap)


def _happens(formula: f.Formula, clause: Clause) -> bool:
    """True if this formula holds at some position of some trace."""
    reading = decompose(f.Eventually(formula))
    monitor = Monitor(Program(), reading, clause.monitor.search.tools)
    start = monitor.start
    joint = frozenset(residual for each in start.live for residual in each)
    return monitor.search.reachable("kind", joint, start.registers, -1, more=True)
