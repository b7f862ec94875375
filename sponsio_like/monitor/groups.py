"""Groups the registers of a program by what results of calls in flight can change together.

In: a program and its past. Out: each group with the slots that it waits for, and the registers that
follow from others and so belong to none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sponsio_like.logic.formula import Const
from sponsio_like.monitor.past import Past, Register
from sponsio_like.monitor.program import Op, Program, operands


class Group(NamedTuple):
    """Registers that read one another: the numbers of the registers, and of the nodes they read.

    `waits`: the atoms below them that wait for results; `outputs`: the values that do. `body`: the
    node whose truth is added to the register, if results do nothing else to it; else -1.
    `literals`: all atoms below them.
    """

    cells: tuple[int, ...]
    nodes: tuple[int, ...]
    waits: tuple[int, ...]
    outputs: tuple[int, ...]
    body: int
    literals: tuple[int, ...] = ()


def groups_of(program: Program, past: Past) -> Iterator[Group]:
    """Yield the registers that wait for results, each with all those that it reads.

    Without those that follow from others.
    """
    echoes = {r for r, _ in echoes_of(program, past)}
    cells = {cell.node: r for r, cell in enumerate(past.cells) if r not in echoes}
    below = {i: _cone(program, i) for i in cells}
    inner = {j for i, cone in below.items() for j in cone if j != i}
    for i in cells:
        slots = [program.nodes[k][1] for k in below[i] if program.nodes[k][0] in ("lit", "value")]
        waits = {k for k in slots if program.slots[k].waits}
        if i not in inner and waits:
            mine = tuple([cells[k] for k in below[i] if k in cells])
            outputs = tuple(sorted(k for k in waits if program.slots[k].kind == "value"))
            atoms = tuple(sorted(waits.difference(outputs)))
            body = _body(program, past.cells[cells[i]]) if not outputs and len(mine) == 1 else -1
            literals = tuple(sorted({k for k in slots if program.slots[k].kind == "atom"}))
            yield Group(mine, below[i], atoms, outputs, body, literals)


def echoes_of(program: Program, past: Past) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the registers of `Y` and `WY` that follow from other registers at any time.

    Each with the nodes below it, the body last. A `Y` follows if its body can be computed from the
    other registers behind the position, and no register reads the `Y`.
    """
    cells = {cell.node for cell in past.cells}
    inner = {j for i in cells for j in _cone(program, i) if j != i}
    for r, cell in enumerate(past.cells):
        op = program.nodes[cell.node]
        if op[0] in ("Y", "WY") and cell.node not in inner:
            nodes = _read_at_last(program, int(op[1]))
            if nodes is not None:
                yield r, nodes


def _read_at_last(program: Program, body: int) -> tuple[int, ...] | None:
    """Return the nodes that tell what `body` is at the last position; None if there is more."""
    found, stack = set[int](), [body]
    while stack:
        i = stack.pop()
        op = program.nodes[i]
        if op[0] in ("and", "or", "cmp"):
            stack += operands(op)
        elif not _is_lasting(program, op):
            return None
        found.add(i)
    return tuple(sorted(found))


def _is_lasting(program: Program, op: Op) -> bool:
    """True if the register after a position tells what the node is there."""
    match op:
        case ("O" | "H", _, bound):
            return bound is None
        case ("count", _, _, bound, _):
            return bound is None
        case ("value", slot):
            return isinstance(program.slots[slot].node, Const)
    return op[0] in ("S", "T", "true", "false")


def at_last(
    program: Program, past: Past, i: int, values: list[Any], registers: Sequence[Any]
) -> Any:
    """Return what node `i` is at the last position, from the registers after it."""
    op = program.nodes[i]
    for r, cell in enumerate(past.cells):
        if cell.node == i:
            return registers[r]
    if op[0] == "value":
        constant = program.slots[op[1]].node
        assert isinstance(constant, Const)
        return constant.value
    value = past.values[i]
    assert value is not None
    return value(values, (), (), 0, 0.0)


def _body(program: Program, cell: Register) -> int:
    """Return the node below a register whose truth late results can only add to it; else -1."""
    op = program.nodes[cell.node]
    if cell.late is None:
        return -1
    body = int(op[1])
    known = [program.nodes[k] for k in _cone(program, body)]
    simple = all(each[0] in ("lit", "and", "or", "true", "false") for each in known)
    signs = {each[2] for each in known if each[0] == "lit" and program.slots[each[1]].waits}
    one_way = signs == {op[0] == "H"} or (is_plain_count(op) and len(signs) == 1)
    return body if simple and one_way else -1


def is_plain_count(op: Op) -> bool:
    """True for a count that no bound and no reset concerns: each position adds to it alone."""
    return op[0] == "count" and op[2] < 0 and op[3] is None


def _cone(program: Program, root: int) -> tuple[int, ...]:
    """Return the nodes at and below `root`, children first."""
    found, stack = set[int](), [root]
    while stack:
        i = stack.pop()
        if i not in found:
            found.add(i)
            stack += operands(program.nodes[i])
    return tuple(sorted(found))
