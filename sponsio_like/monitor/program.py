"""Compiles formulas to what monitors run: negation normal form, as a numbered list of nodes.

In: a `Formula`. Out: a `Program`: nodes, children before parents, and the slots they read from a
position. Negation stands only before atoms, so just one truth value of an atom can violate. This
value is its `default`, taken where a comparison cannot be made.

    ("lit", slot, negated)          ("true",) ("false",) ("and", i, j, ..) ("or", i, j, ..)
    ("X", i) ("WX", i) ("F", i, bound) ("G", i, bound) ("U", i, j) ("R", i, j)
    ("Y", i) ("WY", i) ("O", i, bound) ("H", i, bound) ("S", i, j) ("T", i, j)     T: dual of S
    ("YO", i, steps) ("WYH", i, steps)      O and H over that many positions before this one
    ("cmp", i, op, j, negated)      over terms:
    ("value", slot) ("count", i, reset or -1, bound, keep) ("sum", slot, bound)
    ("since", i) ("age", i) ("repeats", slot, similar) ("last", i, j) ("elapsed", slot)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.errors import ContractError
from sponsio_like.events import is_status
from sponsio_like.logic.formula import Steps

Op: TypeAlias = tuple[Any, ...]
Todo: TypeAlias = "tuple[f.Node, bool, bool]"

FUTURE = frozenset({"X", "WX", "F", "G", "U", "R"})
EARLIER = frozenset({"YO", "WYH"})
PAST = frozenset({"Y", "WY", "O", "H", "S", "T"}) | EARLIER
STAMPED = frozenset({"O", "H"}) | EARLIER
"""Operators of the past that may have a bound; with one, they remember when something was so."""
STATEFUL = frozenset({"count", "sum", "since", "age", "repeats", "last", "elapsed"})
TERMS = STATEFUL | {"value"}
_IDEMPOTENT = frozenset({"F", "G", "O", "H"})
_BACKWARD = PAST | STATEFUL | {"cmp"}
WINDOW_CAP = 10_000
"""Most events that one sliding window remembers."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing to read from a position: an atom, a term's value, or a term's input.

    `default`: the answer of an atom that violates; `waits`: it is known once the call has settled.
    """

    kind: Literal["atom", "value", "amount", "key"]
    node: f.Node
    default: bool = False
    waits: bool = False


class Program:
    """The nodes of formulas, and the slots they read.

    Programs that read the same letters share their slots: a new one takes those of `beside`. Of
    that one, registers may be read behind the position, too, where `Y` tells what is so at it.
    """

    def __init__(self, beside: Program | None = None) -> None:
        self._joins = beside is None
        self.nodes: list[Op] = []
        self.slots: list[Slot] = [] if beside is None else beside.slots
        self._known: dict[Op, int] = {}
        self._unread: dict[Op, int] = {}
        self.slot_of: dict[Slot, int] = {} if beside is None else beside.slot_of
        self._ahead: list[bool] = []

    def over(self, slots: list[Slot]) -> Program:
        """Return the same nodes over other slots; nothing can be added to them."""
        twin = object.__new__(Program)
        twin.__dict__.update(self.__dict__)
        twin.slots, twin.slot_of = slots, {}
        return twin

    def add(self, formula: f.Formula, violates: bool = False) -> int:
        """Add `formula` and return the number of its node.

        `violates`: the value that a comparison takes where it cannot be made. Raises
        `ContractError` for a future operator below a past one.
        """
        root = (formula, True, violates)
        done: dict[Todo, int] = {}
        stack: list[Todo] = [root]
        while stack:
            todo = stack[-1]
            if todo in done:
                stack.pop()
                continue
            wanted, build = _plan(todo)
            missing = [each for each in wanted if each not in done]
            if missing:
                stack.extend(reversed(missing))
                continue
            done[stack.pop()] = build(self, [done[each] for each in wanted])
        return done[root]

    def node(self, *op: Any) -> int:
        """Return the number of this node, which is added if it is new; `F F f` is `F f`, as for G,
        O, H.
        """
        if op[0] in _IDEMPOTENT and op[2] is None and self.nodes[op[1]][::2] == (op[0], None):
            return int(op[1])
        if op in self._unread:
            self._known[op] = self._unread.pop(op)
            self.nodes[self._known[op]] = op
        if op not in self._known:
            self._check(op)
            self._known[op] = len(self.nodes)
            self.nodes.append(op)
        return self._known[op]

    def earlier(self, name: str, body: int, steps: int) -> int:
        """Return the number of `YO` or `WYH`, behind a number that is kept for the operator below.

        Snapshots have the numbers of nodes, from before these two were one.
        """
        below = (name[-1], body, Steps(steps - 1))
        if not self._joins:
            return self.node(name[:-1], self.node(*below))
        if below not in self._known and below not in self._unread:
            self._unread[below] = len(self.nodes)
            self.nodes.append(("false",))
        return self.node(name, body, Steps(steps))

    def share_registers(self) -> None:
        """Let `Y O[<=n] f` read the register of `O[<=n] f` where this stands by itself, too.

        To be called when all formulas are there.
        """
        for i, op in enumerate(self.nodes):
            if op[0] in EARLIER:
                below = self._known.get((op[0][-1], op[1], Steps(op[2].count - 1)))
                if below is not None:
                    del self._known[op]
                    self.nodes[i] = (op[0][:-1], below)
                    self._known[self.nodes[i]] = i

    def slot(self, slot: Slot) -> int:
        """Return the number of this slot, which is added if it is new."""
        if slot not in self.slot_of:
            self.slot_of[slot] = len(self.slots)
            self.slots.append(slot)
        return self.slot_of[slot]

    def _check(self, op: Op) -> None:
        if op[0] in _BACKWARD and any(self.looks_ahead(i) for i in operands(op)):
            raise ContractError.of(
                f"future operator below the past operator `{op[0]}`",
                "say it from the other side: let the future operator stand outside",
            )

    def looks_ahead(self, i: int) -> bool:
        """True if node `i` is a future operator, or has one below it."""
        for op in self.nodes[len(self._ahead) :]:
            self._ahead.append(op[0] in FUTURE or any(self._ahead[j] for j in operands(op)))
        return self._ahead[i]


def bounded_steps(op: Op) -> Steps | None:
    """Return the bound in steps of an operator that remembers a position; None for all others."""
    return op[2] if op[0] in STAMPED and isinstance(op[2], Steps) else None


def operands(op: Op) -> tuple[int, ...]:
    """Return the numbers of the nodes directly under `op`."""
    match op:
        case ("and" | "or" | "U" | "R" | "S" | "T", *parts):
            return tuple(parts)
        case ("cmp", left, _, right, _):
            return (left, right)
        case ("last", term, body):
            return (term, body)
        case ("count", body, reset, _, _):
            return (body,) if reset < 0 else (body, reset)
        case ("X" | "WX" | "F" | "G" | "Y" | "WY" | "since" | "age", body, *_):
            return (body,)
        case ("O" | "H" | "YO" | "WYH", body, _):
            return (body,)
    return ()


# --- negation normal form -------------------------------------------------------------------

_Build: TypeAlias = Callable[[Program, list[int]], int]
_DUAL = {"X": "WX", "WX": "X", "F": "G", "G": "F", "Y": "WY", "WY": "Y", "O": "H", "H": "O"}
_UNARY: dict[type, str] = {
    f.Next: "X",
    f.WeakNext: "WX",
    f.Eventually: "F",
    f.Always: "G",
    f.Yesterday: "Y",
    f.WeakYesterday: "WY",
    f.Once: "O",
    f.Historically: "H",
}


def _plan(todo: Todo) -> tuple[list[Todo], _Build]:
    """Return what has to be numbered before `todo`, and the function that then numbers it."""
    node, sign, bad = todo
    match node:
        case f.Constant(value):
            return [], lambda p, _: p.node("true" if value is sign else "false")
        case f.Not(body):
            return [(body, not sign, bad)], lambda _, done: done[0]
        case f.And(parts) | f.Or(parts):
            name = "and" if isinstance(node, f.And) is sign else "or"
            return [(part, sign, bad) for part in parts], lambda p, done: p.node(
                name, *dict.fromkeys(done)
            )
        case f.Implies(left, right):
            name = "or" if sign else "and"
            return [(left, not sign, bad), (right, sign, bad)], lambda p, done: p.node(
                name, *dict.fromkeys(done)
            )
        case f.Iff(left, right):
            return _iff(left, right, sign, bad)
    if type(node) in _UNARY:
        return _unary(node, sign, bad)
    return _binary(node, sign, bad)


def _iff(left: f.Formula, right: f.Formula, sign: bool, bad: bool) -> tuple[list[Todo], _Build]:
    """Return the plan of `f <-> g`: `(f & g) | (!f & !g)`; negated, `(f & !g) | (!f & g)`."""
    wanted: list[Todo] = [
        (left, True, bad),
        (right, sign, bad),
        (left, False, bad),
        (right, not sign, bad),
    ]
    return wanted, lambda p, d: p.node("or", p.node("and", d[0], d[1]), p.node("and", d[2], d[3]))


def _unary(node: f.Node, sign: bool, bad: bool) -> tuple[list[Todo], _Build]:
    match node:
        case f.Yesterday(f.Once(of, Steps(n))) | f.WeakYesterday(f.Historically(of, Steps(n))):
            earlier = "YO" if isinstance(node, f.Yesterday) is sign else "WYH"
            return [(of, sign, bad)], lambda p, done: p.earlier(earlier, done[0], n + 1)
    name = _UNARY[type(node)]
    name = name if sign else _DUAL[name]
    body: f.Formula = node.body  # type: ignore[attr-defined]
    tail: tuple[f.Bound, ...] = (node.bound,) if name in "FGOH" else ()  # type: ignore[attr-defined]
    return [(body, sign, bad)], lambda p, done: p.node(name, done[0], *tail)


def _binary(node: f.Node, sign: bool, bad: bool) -> tuple[list[Todo], _Build]:
    match node:
        case f.Until(left, right):
            name = "U" if sign else "R"
        case f.Release(left, right):
            name = "R" if sign else "U"
        case f.Since(left, right):
            name = "S" if sign else "T"
        case f.WeakUntil(left, right):  # f W g = g R (f | g); its negation is !g U (!f & !g)
            outer, inner = ("R", "or") if sign else ("U", "and")
            pair: list[Todo] = [(left, sign, bad), (right, sign, bad)]
            return pair, lambda p, d: p.node(outer, d[1], p.node(inner, *dict.fromkeys(d)))
        case f.Compare():
            return _compare(node, sign, bad)
        case f.Term():
            return _term(node, sign, bad)
        case _:
            return [], lambda p, _: p.node("lit", _atom(p, node, sign, bad), not sign)
    return [(left, sign, bad), (right, sign, bad)], lambda p, d: p.node(name, *d)


def _atom(program: Program, node: f.Node, sign: bool, bad: bool) -> int:
    assert isinstance(node, f.Formula)
    return program.slot(Slot("atom", node, default=bad is sign, waits=is_status(node)))


# --- comparisons and terms ------------------------------------------------------------------


_STATEFUL = (f.Count, f.Sum, f.StepsSince, f.Age, f.Repeats, f.Last, f.FactAge, f.ApprovalAge)


def _stateful(node: f.Term) -> bool:
    return isinstance(node, _STATEFUL)


def _compare(node: f.Compare, sign: bool, bad: bool) -> tuple[list[Todo], _Build]:
    left, op, right = node.left, node.op, node.right
    if not _stateful(left) and not _stateful(right):
        return [], lambda p, _: p.node("lit", _atom(p, node, sign, bad), not sign)
    most = (op in ("<", "<=")) is sign
    wanted: list[Todo] = [(left, not most, bad), (right, most, bad)]
    if op not in ("<", "<=", ">", ">="):  # neither a larger nor a smaller value helps
        wanted = [(left, True, False), (right, True, False)]
    keep = _keep(right) if isinstance(left, f.Count) else _keep(left)
    negated = not sign

    def build(p: Program, done: list[int]) -> int:
        ends = [_kept(p, i, keep) for i in done]
        return p.node("cmp", ends[0], op, ends[1], (negated, bad))

    return wanted, build


def _keep(limit: f.Term) -> int:
    """Return how many events a window has to remember to be compared with `limit`; -1: too many."""
    value = limit.value if isinstance(limit, f.Const) else None
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return WINDOW_CAP
    if value + 2 > WINDOW_CAP:
        return -1
    return max(2, int(value) + 2)


def _kept(program: Program, i: int, keep: int) -> int:
    op = program.nodes[i]
    if op[0] != "count" or op[3] is None:
        return i
    if keep < 0:
        raise ContractError.of(
            "limit of a sliding window is too large", f"at most {WINDOW_CAP - 2} are allowed"
        )
    return program.node(*op[:4], keep)


def _term(node: f.Term, up: bool, bad: bool) -> tuple[list[Todo], _Build]:
    """Return the plan of a term.

    `up`: a larger value makes the guarantee easier to keep, so what is unknown is not counted.
    """
    match node:
        case f.Count(body, None, bound):
            return [(body, True, bad if up else not bad)], lambda p, d: p.node(
                "count", d[0], -1, bound, WINDOW_CAP
            )
        case f.Count(body, reset, bound):
            assert reset is not None
            wanted: list[Todo] = [
                (body, True, bad if up else not bad),
                (reset, True, not bad if up else bad),
            ]
            return wanted, lambda p, d: p.node("count", d[0], d[1], bound, WINDOW_CAP)
        case f.StepsSince(body) | f.Age(body):
            name = "since" if isinstance(node, f.StepsSince) else "age"
            return [(body, True, not bad if up else bad)], lambda p, d: p.node(name, d[0])
        case f.Sum(_, _, bound):
            return [], lambda p, _: p.node("sum", p.slot(Slot("amount", node)), bound)
        case f.Last(value, body):
            return [(value, up, bad), (body, True, False)], lambda p, d: p.node("last", *d)
        case f.FactAge() | f.ApprovalAge():
            return [], lambda p, _: p.node("elapsed", p.slot(Slot("value", node)))
        case f.Repeats(_, similar):
            return [], lambda p, _: p.node("repeats", p.slot(Slot("key", node)), similar)
    waits = isinstance(node, f.Output)
    return [], lambda p, _: p.node("value", p.slot(Slot("value", node, waits=waits)))
