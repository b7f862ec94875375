"""Computes the past by recurrence: each past operator has one register, updated at each position.

In: the nodes of a `Program`. Out: for every node without future operators, a function from the
letter and the registers to its value, and one that updates its register. No earlier position is
read again (Havelund and Rosu, "Synthesizing Monitors for Safety Properties", 2002).
"""

from __future__ import annotations

import bisect
import decimal
import functools
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from sponsio_like.events import MISSING, elapsed
from sponsio_like.events import comparison_test as compare_terms
from sponsio_like.logic.formula import Seconds, Steps
from sponsio_like.monitor.program import TERMS, Op, Program, operands

Values: TypeAlias = list[Any]
Letter: TypeAlias = tuple[Any, ...]
Registers: TypeAlias = tuple[Any, ...]

Value: TypeAlias = Callable[[Values, Letter, Registers, int, float], Any]
"""(values so far, letter, registers before, position, time) -> the node's value."""
Update: TypeAlias = Callable[[Values, Letter, Registers, int, float], Any]
"""(all values, letter, registers before, position, time) -> the register after."""


EXACT = decimal.Context(prec=20_000)
"""The arithmetic of sums: it has more digits than numbers may have, so that sums are exact."""
INFINITE = float("inf")
"""The steps, or the seconds, since something that never happened."""


LateUpdate: TypeAlias = Callable[[Any, int, float], Any]
"""(register, position, time) -> the register, now that its body counts at this earlier position."""


@dataclass(frozen=True, slots=True)
class Register:
    """One register: its node, its value before the first position, and how it is updated.

    `late`: how it is updated if an earlier position counts after all; None if the positions since
    would have to be read again.
    """

    node: int
    start: Any
    update: Update
    late: LateUpdate | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """The functions that read nodes and update registers at a position.

    `values[i]` is None for a node that looks ahead, and for a term that no node reads.
    """

    values: tuple[Value | None, ...]
    cells: tuple[Register, ...]

    @property
    def start(self) -> Registers:
        """The registers before the first position."""
        return tuple(cell.start for cell in self.cells)

    def read(self, letter: Letter, registers: Registers, position: int, time: float) -> Values:
        """Return the value of every node at this position; None for nodes without one."""
        out: Values = []
        for value in self.values:
            out.append(None if value is None else value(out, letter, registers, position, time))
        return out

    def after(
        self, values: Values, letter: Letter, registers: Registers, position: int, time: float
    ) -> Registers:
        """Return the registers after this position."""
        return tuple(
            [cell.update(values, letter, registers, position, time) for cell in self.cells]
        )


def compile_past(program: Program) -> Past:
    """Return the recurrences of all nodes of `program`."""
    values: list[Value | None] = []
    cells: list[Register] = []
    used = {k for op in program.nodes for k in operands(op)}
    for i, op in enumerate(program.nodes):
        if program.looks_ahead(i) or (op[0] in TERMS and i not in used):
            values.append(None)
            continue
        value, cell = compile_node(op, len(cells), i)
        values.append(value)
        if cell is not None:
            cells.append(cell)
    return Past(tuple(values), tuple(cells))


def compile_node(op: Op, r: int, i: int) -> tuple[Value, Register | None]:
    """Return the function of a node's value, and its register (number `r`) if it has one."""
    match op:
        case ("true",):
            return (lambda v, x, s, p, t: True), None
        case ("false",):
            return (lambda v, x, s, p, t: False), None
        case ("lit", slot, negated):
            return (lambda v, x, s, p, t: (x[slot] is True) is not negated), None
        case ("and", *parts):
            return (lambda v, x, s, p, t: all([v[k] for k in parts])), None
        case ("or", *parts):
            return (lambda v, x, s, p, t: any([v[k] for k in parts])), None
        case ("cmp", a, name, b, (negated, bad)):
            return compare_nodes(a, name, b, negated, bad), None
        case ("value", slot):
            return (lambda v, x, s, p, t: x[slot]), None
        case ("elapsed", slot):
            return (lambda v, x, s, p, t: elapsed(x[slot], t)), None
        case ("count" | "sum" | "since" | "age" | "repeats" | "last", *_):
            return _term(op, r, i)
        case ("O" | "H", _, Steps() | Seconds()):
            return _bounded(op, r, i)
        case ("YO" | "WYH", _, _):
            return _earlier(op, r, i)
    return _operator(op, r, i)


def _operator(op: Op, r: int, i: int) -> tuple[Value, Register]:
    """Return value and register of Y, WY, O, H, S or T without a bound: one bit."""
    keep: Update = lambda v, x, s, p, t: v[i]  # noqa: E731
    match op:
        case ("Y", a):
            return (lambda v, x, s, p, t: s[r]), Register(i, False, lambda v, x, s, p, t: v[a])
        case ("WY", a):
            return (lambda v, x, s, p, t: s[r]), Register(i, True, lambda v, x, s, p, t: v[a])
        case ("O", a, None):
            once: LateUpdate = lambda r, p, t: True  # noqa: E731
            return (lambda v, x, s, p, t: v[a] or s[r]), Register(i, False, keep, once)
        case ("H", a, None):
            never: LateUpdate = lambda r, p, t: False  # noqa: E731
            return (lambda v, x, s, p, t: v[a] and s[r]), Register(i, True, keep, never)
        case ("S", a, b):
            return (lambda v, x, s, p, t: v[b] or (v[a] and s[r])), Register(i, False, keep)
        case ("T", a, b):
            return (lambda v, x, s, p, t: v[b] and (v[a] or s[r])), Register(i, True, keep)
    raise TypeError(f"not a past operator: {op!r}")


def _bounded(op: Op, r: int, i: int) -> tuple[Value, Register]:
    """Return value and register of O or H with a bound.

    The register is when the body last was true (O), or false (H).
    """
    name, a, bound = op
    sought = name == "O"
    limit = bound.count
    if isinstance(bound, Steps):
        return (
            lambda v, x, s, p, t: (
                sought if v[a] is sought or (s[r] is not None and p - s[r] <= limit) else not sought
            )
        ), Register(
            i,
            None,
            lambda v, x, s, p, t: p if v[a] is sought else _recent(s[r], p - limit),
            _latest_step,
        )
    return (
        lambda v, x, s, p, t: (
            sought if v[a] is sought or (s[r] is not None and t - s[r] <= limit) else not sought
        )
    ), Register(
        i,
        None,
        lambda v, x, s, p, t: t if v[a] is sought else _recent(s[r], t - limit),
        _latest_time,
    )


def _earlier(op: Op, r: int, i: int) -> tuple[Value, Register]:
    """Return value and register of O or H over positions before this one.

    The register is that of `_bounded`, so that it stays as it is while the body is false (O).
    """
    name, a, bound = op
    sought = name == "YO"
    most = bound.count
    return (
        lambda v, x, s, p, t: sought if s[r] is not None and p - s[r] <= most else not sought
    ), Register(i, None, lambda v, x, s, p, t: p if v[a] is sought else _recent(s[r], p - most))


def _latest_step(last: Any, position: int, _: float) -> Any:
    return position if last is None else max(last, position)


def _latest_time(last: Any, _: int, time: float) -> Any:
    return time if last is None else max(last, time)


def _recent(last: Any, oldest: Any) -> Any:
    """Return `last`; None once it is before `oldest`, where it no longer matters."""
    return None if last is None or last < oldest else last


def compare_nodes(a: int, op: Any, b: int, negated: bool, bad: bool) -> Value:
    """Return the function that compares nodes `a` and `b`; `bad` is its value if they cannot be."""

    def value(v: Values, x: Letter, s: Registers, p: int, t: float) -> bool:
        left, right = v[a], v[b]
        known = left is not MISSING and right is not MISSING
        answer = compare_terms(left, op, right) if known else None
        return bad if answer is None else answer is not negated

    return value


# --- terms ------------------------------------------------------------------------------------


def _term(op: Op, r: int, i: int) -> tuple[Value, Register]:
    keep: Update = lambda v, x, s, p, t: v[i]  # noqa: E731
    match op:
        case ("count", a, reset, None, _):
            fresh = _reset(reset)
            more: LateUpdate = lambda r, p, t: r + 1  # noqa: E731
            return (lambda v, x, s, p, t: 0 if fresh(v) else s[r] + bool(v[a])), Register(
                i, 0, keep, more if reset < 0 else None
            )
        case ("count", a, reset, bound, most):
            return _window(a, reset, bound, most, r, i)
        case ("sum", slot, bound):
            return _sum(slot, bound, r, i)
        case ("since", a):
            return (
                lambda v, x, s, p, t: 0 if v[a] else INFINITE if s[r] is None else p - s[r]
            ), Register(i, None, lambda v, x, s, p, t: p if v[a] else s[r], _latest_step)
        case ("age", a):
            return (
                lambda v, x, s, p, t: 0 if v[a] else INFINITE if s[r] is None else t - s[r]
            ), Register(i, None, lambda v, x, s, p, t: t if v[a] else s[r], _latest_time)
        case ("last", a, b):
            return (lambda v, x, s, p, t: s[r]), Register(
                i, MISSING, lambda v, x, s, p, t: kept(v[a]) if v[b] else s[r]
            )
        case ("repeats", slot, similar):
            return _repeats(slot, similar, r, i)
    raise TypeError(f"not a term: {op!r}")


KEPT_CAP = 1_024
"""Longest text, in characters, that is remembered as a value."""


def kept(value: Any) -> Any:
    """Return the value if it is small enough to be remembered, else `MISSING`."""
    small = isinstance(value, (bool, int, float, Decimal, type(None)))
    return value if small or (isinstance(value, str) and len(value) <= KEPT_CAP) else MISSING


def _reset(reset: int) -> Callable[[Values], Any]:
    return (lambda v: False) if reset < 0 else (lambda v: v[reset])


def stamps_within(stamps: tuple[Any, ...], before: float) -> tuple[Any, ...]:
    """Return the stamps later than `before`; `stamps` are in order."""
    return stamps[bisect.bisect_right(stamps, before) :]


def _window(
    a: int, reset: int, bound: Steps | Seconds, most: int, r: int, i: int
) -> tuple[Value, Register]:
    """Return a count over a sliding window; its register holds the latest `most` stamps in it."""
    width, fresh, by_step = bound.count, _reset(reset), isinstance(bound, Steps)

    def stamps(v: Values, s: Registers, p: int, t: float) -> tuple[Any, ...]:
        if fresh(v):
            return ()
        now = p if by_step else t
        left = stamps_within(s[r], now - width)
        return (*left, now)[-most:] if v[a] else left

    late: LateUpdate = lambda r, p, t: tuple(sorted((*r, p if by_step else t)))[-most:]  # noqa: E731
    return (lambda v, x, s, p, t: len(stamps(v, s, p, t))), Register(
        i, (), lambda v, x, s, p, t: stamps(v, s, p, t), late if reset < 0 else None
    )


def _sum(slot: int, bound: Steps | Seconds | None, r: int, i: int) -> tuple[Value, Register]:
    """Return a decimal sum; an unreadable amount makes it `MISSING` at this position only."""
    zero = Decimal(0)

    def total(x: Letter, s: Registers, p: int, t: float) -> Any:
        amount = x[slot]
        return MISSING if amount is MISSING else EXACT.add(_held(s[r], bound, p, t), amount)

    def after(v: Values, x: Letter, s: Registers, p: int, t: float) -> Any:
        amount = zero if x[slot] is MISSING else x[slot]
        if bound is None:
            return EXACT.add(s[r], amount)
        held = tuple((stamp, each) for stamp, each in s[r] if _inside(stamp, bound, p, t))
        return (*held, (p if isinstance(bound, Steps) else t, amount)) if amount else held

    return (lambda v, x, s, p, t: total(x, s, p, t)), Register(
        i, zero if bound is None else (), after
    )


def _held(register: Any, bound: Steps | Seconds | None, p: int, t: float) -> Decimal:
    if bound is None:
        return Decimal(register)
    held = (each for stamp, each in register if _inside(stamp, bound, p, t))
    return functools.reduce(EXACT.add, held, Decimal(0))


def _inside(stamp: Any, bound: Steps | Seconds, p: int, t: float) -> bool:
    return bool(stamp > (p if isinstance(bound, Steps) else t) - bound.count)


SIMILAR = 0.9
"""Token-set similarity (Jaccard) from which two calls count as the same, for `fuzzy`."""


def _repeats(slot: int, similar: str, r: int, i: int) -> tuple[Value, Register]:
    """Return the length of the run of equal (or similar) calls that this call belongs to.

    The register is (key, length, position) of the last such call.
    """

    def length(x: Letter, s: Registers, p: int) -> int:
        key, (last, run, where) = x[slot], s[r]
        if key is None:
            return 0
        return run + 1 if where == p - 1 and last is not None and _alike(last, key, similar) else 1

    def after(v: Values, x: Letter, s: Registers, p: int, t: float) -> Any:
        return s[r] if x[slot] is None else (x[slot], length(x, s, p), p)

    return (lambda v, x, s, p, t: length(x, s, p)), Register(i, (None, 0, -1), after)


def _alike(a: Any, b: Any, similar: str) -> bool:
    if similar == "equal" or a == b:
        return bool(a == b)
    (tool, said), (other, again) = a, b
    return bool(tool == other and len(said & again) >= SIMILAR * len(said | again))
