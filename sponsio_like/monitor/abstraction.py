"""Abstracts the past of a program for the search: counters, sums and clocks become free bits.

In: a program and its past. Out: a past over longer letters. Behind the slots stands one free bit
for each comparison, and one for each bound in seconds of O and H.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sponsio_like.logic.formula import Seconds, Steps
from sponsio_like.monitor.past import Past, Register, Value, compile_node
from sponsio_like.monitor.program import STAMPED, STATEFUL, Program, operands


@dataclass(frozen=True, slots=True)
class Abstract:
    """The past of a program, with its counters, sums and clocks replaced by free bits.

    `source[k]`: the number of the real register of cell k; `bounds[k]`: its operator and bound, for
    O and H; `free`: how many free bits there are; `contrary`: pairs of free bits, of a comparison
    and of its negation. Both bits of a pair are never true together; both are false where the
    comparison cannot be made.
    """

    past: Past
    source: tuple[int, ...]
    bounds: tuple[Any, ...]
    free: int
    contrary: tuple[tuple[int, int], ...]


def abstract(program: Program, past: Past) -> Abstract:
    """Return the past with free bits in the place of comparisons and of bounds in seconds.

    The free bits are read behind the slots of a letter.
    """
    real = {cell.node: k for k, cell in enumerate(past.cells)}
    values: list[Value | None] = []
    cells: list[Register] = []
    free = len(program.slots)
    compared: dict[int, int] = {}
    for i, op in enumerate(program.nodes):
        value, cell, taken = _abstract_node(program, i, op, len(cells), free)
        if op[0] == "cmp":
            compared[i] = free
        free += taken
        values.append(value)
        if cell is not None:
            cells.append(cell)
    source = tuple(real[cell.node] for cell in cells)
    bounds = tuple(_bound(program, cell) for cell in cells)
    past, taken = Past(tuple(values), tuple(cells)), free - len(program.slots)
    return Abstract(past, source, bounds, taken, tuple(_contrary(program, compared)))


def _contrary(program: Program, compared: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the free bits of a comparison and of its negation, for each such pair."""
    said = _said(program) if len(compared) > 1 else []
    for (i, bit), (j, other) in itertools.combinations(compared.items(), 2):
        negated = program.nodes[i][4][0], program.nodes[j][4][0]
        if said[i] == said[j] and negated[0] is not negated[1]:
            yield bit, other


def _said(program: Program) -> list[int]:
    """Return a number for each node; equal numbers mean equal nodes.

    The defaults of slots, and the negation of comparisons, make no difference.
    """
    numbers: dict[Any, int] = {}
    said: list[int] = []
    for op in program.nodes:
        slot = op[1] if op[0] in ("lit", "value", "sum", "repeats", "elapsed") else None
        about = None if slot is None else program.slots[slot].node
        rest = tuple(each for each in op if isinstance(each, (str, Steps, Seconds)))
        negated = op[2] if op[0] == "lit" else None
        key = (rest, about, negated, tuple(said[k] for k in operands(op)))
        said.append(numbers.setdefault(key, len(numbers)))
    return said


def _bound(program: Program, cell: Register) -> Any:
    op = program.nodes[cell.node]
    return (op[0], op[2]) if op[0] in STAMPED else None


def _abstract_node(
    program: Program, i: int, op: Any, r: int, free: int
) -> tuple[Value | None, Register | None, int]:
    if program.looks_ahead(i) or op[0] in STATEFUL or op[0] == "value":
        return None, None, 0
    match op:
        case ("cmp", *_):
            return (lambda v, x, s, p, t: x[free]), None, 1
        case ("O", a, Seconds()):
            cell = Register(i, False, lambda v, x, s, p, t: v[a] or s[r])
            return (lambda v, x, s, p, t: v[a] or (x[free] and s[r])), cell, 1
        case ("H", a, Seconds()):
            cell = Register(i, True, lambda v, x, s, p, t: v[a] and s[r])
            return (lambda v, x, s, p, t: v[a] and (x[free] or s[r])), cell, 1
    return (*compile_node(op, r, i), 0)


def within_steps(value: int | None, bound: Steps, last: int) -> int | None:
    """Return the position relative to `last`; None if there is none, or the bound has run out."""
    return None if value is None or value + bound.count <= last else value - last


def abstracted(value: Any, bound: Any, at: int) -> Any:
    """Return the value of a real register in the abstract past.

    Positions become relative to `at`. Of a time, only the truth is kept that the operator would
    have without its bound. Other registers stay as they are.
    """
    match bound:
        case (_, Steps() as steps):
            return within_steps(value, steps, at)
        case ("O", Seconds()):
            return value is not None
        case ("H", Seconds()):
            return value is None
    return value
