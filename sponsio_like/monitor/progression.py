"""Progresses the future of a formula: what a position leaves for the positions after it to show.

In: a node and the values of a position. Out: a `Residual` (Bacchus and Kabanza, 1998), always
minimal. A status atom of a call in flight is a literal of its own until the call settles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sponsio_like.events import LATE, OPEN
from sponsio_like.logic.formula import Seconds, Steps
from sponsio_like.monitor.past import Letter, Values
from sponsio_like.monitor.program import FUTURE, Program, operands
from sponsio_like.monitor.residual import (
    BOUNDED,
    NO,
    YES,
    Literal,
    Residual,
    both,
    conjunction_of,
    disjunction_of,
    either,
    mapped,
    one,
)


@dataclass(frozen=True, slots=True)
class Position:
    """One position as progression sees it.

    `clock`: how bounds in seconds are read. `real`: by the time of the position. `satisfy` and
    `violate`: for the search (`reachability.py`), the time that passes is the best for the formula,
    or the worst.
    """

    letter: Letter
    values: Values
    number: int
    time: float
    clock: str = "real"


class Progression:
    """Progression over the nodes of one program.

    `ahead`: for each node, True if it looks ahead; `waits`: True if a result may still decide it.
    """

    def __init__(self, program: Program) -> None:
        self.nodes = program.nodes
        self.waits = _waiting(program)
        self.ahead = [program.looks_ahead(i) for i in range(len(program.nodes))]
        self._order: dict[int, tuple[int, ...]] = {}
        self._is_simple: bool | None = None

    def order(self, root: int) -> tuple[int, ...]:
        """Return the nodes to evaluate for `root`, children first."""
        if root not in self._order:
            seen: set[int] = set()
            stack = [root]
            while stack:
                i = stack.pop()
                if i not in seen:
                    seen.add(i)
                    stack.extend(self._below(i))
            self._order[root] = tuple(sorted(seen))
        return self._order[root]

    def _below(self, i: int) -> tuple[int, ...]:
        op = self.nodes[i]
        if not (self.ahead[i] or self.waits[i]) or op[0] in ("X", "WX"):
            return ()
        return operands(op)

    def owed(self, root: int, at: Position) -> Residual:
        """Return what is left to be shown if `root` is to hold at this position."""
        known: dict[int, Residual] = {}
        for i in self.order(root):
            known[i] = self._owed(i, at, known)
        return known[root]

    def _owed(self, i: int, at: Position, known: dict[int, Residual]) -> Residual:
        if not (self.ahead[i] or self.waits[i]):
            return YES if at.values[i] else NO
        match self.nodes[i]:
            case ("lit", slot, negated):
                return _status(at, slot, negated)
            case ("and", *parts):
                return conjunction_of([known[k] for k in parts])
            case ("or", *parts):
                return disjunction_of([known[k] for k in parts])
            case ("X", body):
                return self._next(body, at)
            case ("WX", body):
                return one(("W", body))
            case ("F", body, bound):
                return either(known[body], self._later("F", i, bound, at))
            case ("G", body, bound):
                return both(known[body], self._later("G", i, bound, at))
            case ("U", left, right):
                return either(known[right], both(known[left], one(("X", i))))
            case ("R", left, right):
                return both(known[right], either(known[left], one(("W", i))))
        raise TypeError(f"not a node of the future: {self.nodes[i]!r}")

    def _next(self, i: int, at: Position) -> Residual:
        """Return what X of a node leaves for later positions."""
        match self.nodes[i]:
            case ("F", body, Steps(count)) if self._owes_bounds():
                return one(("F", body, at.number + 1 + count))
        return one(("X", i))

    def _owes_bounds(self) -> bool:
        """True if all operators of the future are `F` with a bound in steps, and `X` of it."""
        if self._is_simple is None:
            bounded = {
                i for i, op in enumerate(self.nodes) if op[0] == "F" and isinstance(op[2], Steps)
            }
            others = [op for i, op in enumerate(self.nodes) if i not in bounded]
            self._is_simple = all(
                op[0] not in FUTURE or (op[0] == "X" and op[1] in bounded) for op in others
            )
        return self._is_simple

    def _later(self, kind: str, i: int, bound: Any, at: Position) -> Residual:
        """Return what F or G at node `i` leaves for the positions after this one."""
        match bound:
            case Steps(0):
                return NO if kind == "F" else YES
            case Steps(count):
                return one((kind, self.nodes[i][1], at.number + count))
            case Seconds(count) if at.clock == "real":
                return one((kind.lower(), i, at.time + count))
            case Seconds():
                return timeless((kind.lower(), i, 0), at.clock)
        return one(("X" if kind == "F" else "W", i))

    def progress(self, residual: Residual, at: Position, known: dict[int, Residual]) -> Residual:
        """Return what is left of `residual` after this position.

        `known` caches what each node owes at this position.
        """

        def owed(node: int) -> Residual:
            if node not in known:
                known[node] = self.owed(node, at)
            return known[node]

        def value(literal: Literal) -> Residual:
            match literal:
                case ("X" | "W", node):
                    return owed(node)
                case ("F" | "f" as kind, node, due):
                    return either(owed(self._body(kind, node)), _until(literal, due, at, NO))
                case ("G" | "g" as kind, node, due):
                    return both(owed(self._body(kind, node)), _until(literal, due, at, YES))
            return one(literal)

        return mapped(residual, value)

    def passes(self, literals: Iterable[Literal], at: Position, known: dict[int, Residual]) -> bool:
        """True if this position leaves literals with bounds, and residuals of them, as they are."""
        for literal in literals:
            kind, node = literal[:2]
            if kind == "D":
                continue
            if kind not in BOUNDED or not _goes_beyond(kind, literal[2], at):
                return False
            if self._told(kind, node, at, known) != (NO if kind in "Ff" else YES):
                return False
        return True

    def ends(self, literal: Literal, at: Position, known: dict[int, Residual]) -> Residual | None:
        """Return what this position leaves of a literal with a bound, whatever that is.

        None if it depends on the bound.
        """
        kind, node, *_ = literal
        ended = YES if kind in "Ff" else NO
        return ended if self._told(kind, node, at, known) == ended else None

    def _told(self, kind: str, node: int, at: Position, known: dict[int, Residual]) -> Residual:
        """Return what is owed of the node that a bounded literal is about."""
        body = self._body(kind, node)
        if body not in known:
            known[body] = self.owed(body, at)
        return known[body]

    def _body(self, kind: str, node: int) -> int:
        """Return the node that a bounded literal is about: with a bound in seconds, its operand."""
        return node if kind in "FG" else int(self.nodes[node][1])


def timeless(literal: Literal, clock: str) -> Residual:
    """Return a literal without its time, as it is best to `satisfy` or to `violate` the formula."""
    kind, node, _ = literal
    if kind == "f":
        return one(("X", node)) if clock == "satisfy" else NO
    return YES if clock == "satisfy" else one(("W", node))


def _until(literal: Literal, due: float, at: Position, over: Residual) -> Residual:
    """Return the literal if its bound goes beyond this position, else `over`."""
    return one(literal) if _goes_beyond(literal[0], due, at) else over


def _goes_beyond(kind: str, due: float, at: Position) -> bool:
    return at.number < due if kind in "FG" else at.time <= due


def _status(at: Position, slot: int, negated: bool) -> Residual:
    value = at.letter[slot]
    if value is OPEN:
        return one(("D", at.number, slot, not negated))
    return YES if (value is True or value is LATE) is not negated else NO


def _waiting(program: Program) -> list[bool]:
    """Return, by node, True if it looks ahead or reads a status atom outside past operators."""
    waits: list[bool] = []
    for op in program.nodes:
        match op:
            case ("lit", slot, _):
                waits.append(program.slots[slot].waits)
            case ("and" | "or", *parts):
                waits.append(any(waits[k] for k in parts))
            case _:
                waits.append(op[0] in FUTURE)
    return waits
