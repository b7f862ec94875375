"""Decomposes a guarantee into the parts that are watched one by one.

In: a formula. Out: a `Decomposition`: what is owed at every position anew, and what is owed once,
from the first position. `f W g`, `f U g` and `f R g` at the top, over formulas without future
operators, are read as safety over the past.
"""

from __future__ import annotations

from dataclasses import dataclass

import sponsio_like.logic.formula as f

_FUTURE = (f.Next, f.WeakNext, f.Eventually, f.Always, f.Until, f.WeakUntil, f.Release)


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The parts of a guarantee.

    `always[k]`: a conjunction that is owed at every position anew, with one instance for each.
    `rest`: a conjunction that is owed once, from the first position.
    """

    always: tuple[tuple[f.Formula, ...], ...]
    rest: tuple[f.Formula, ...]


def decompose(formula: f.Formula) -> Decomposition:
    """Return the parts of a guarantee."""
    always: list[tuple[f.Formula, ...]] = []
    rest: list[f.Formula] = []
    for part in (safe for conjunct in conjuncts(formula) for safe in _read(conjunct)):
        match part:
            case f.Always(body, None):
                always.append(tuple(conjuncts(body)))
            case f.Constant(True):
                pass
            case _:
                rest.append(part)
    return Decomposition(tuple(always), tuple(rest))


def conjuncts(formula: f.Formula) -> list[f.Formula]:
    """Return the parts of nested conjunctions, in order."""
    out: list[f.Formula] = []
    stack = [formula]
    while stack:
        part = stack.pop()
        if isinstance(part, f.And):
            stack.extend(reversed(part.parts))
        else:
            out.append(part)
    return out


def looks_ahead(formula: f.Formula) -> bool:
    """True if there is a future operator in the formula."""
    return any(isinstance(node, _FUTURE) for node in f.postorder(formula))


def _read(part: f.Formula) -> tuple[f.Formula, ...]:
    match part:
        case f.WeakUntil(left, right) | f.Until(left, right) | f.Release(left, right):
            if looks_ahead(left) or looks_ahead(right):
                return (part,)
    match part:
        case f.WeakUntil(left, right):
            return (f.Always(f.disj(left, f.Once(right))),)
        case f.Until(left, right):
            return (f.Always(f.disj(left, f.Once(right))), f.Eventually(right))
        case f.Release(left, right):
            return (f.Always(f.disj(right, f.Yesterday(f.Once(left)))),)
    return (part,)
