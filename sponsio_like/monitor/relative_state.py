"""Reads a state relative to a position: as a key, and as what further positions leave unchanged.

In: a state, and a position. Out: a key that is equal for states that go on alike; whether a call
that no contract speaks of leaves a state as it is, and the next position that a bound in steps
makes it see all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sponsio_like.logic.formula import Steps
from sponsio_like.monitor.abstraction import within_steps
from sponsio_like.monitor.in_flight import open_positions
from sponsio_like.monitor.monitor import Monitor, State
from sponsio_like.monitor.owed import bounds_after
from sponsio_like.monitor.past import Register, Registers
from sponsio_like.monitor.program import STAMPED, bounded_steps
from sponsio_like.monitor.residual import literals_of, renumbered, shifted
from sponsio_like.monitor.trees import (
    INNER,
    Addition,
    Branch,
    Comparison,
    Tree,
    TreeNode,
    branching,
)

NEVER = 1 << 62


def memory(monitor: Monitor, state: State, position: int) -> Any:
    """Return the state with positions relative to `position`, as a key for caches.

    Calls in flight are told apart by their order.
    """
    cells = monitor.past.cells
    registers = _relative(monitor, cells, state.registers, position)
    live = frozenset(shifted(each, position) for each in state.live)
    waiting = {*branching(state.branches), *open_positions(r for each in live for r in each)}
    if not waiting:
        return registers, live
    ranks = {at: k for k, at in enumerate(sorted(waiting))}
    trees = tuple(
        tuple([_ranked(monitor, mine, node, position, ranks) for node in tree])
        for mine, tree in cells_of_trees(monitor, state)
    )
    return registers, frozenset(renumbered(each, ranks) for each in live), trees


def cells_of_trees(monitor: Monitor, state: State) -> Iterator[tuple[list[Register], Tree]]:
    """Yield the trees of a state, each with the registers that its leaves hold."""
    for group, tree in zip(monitor.branches.groups, state.branches, strict=False):
        yield [monitor.past.cells[r] for r in group.cells], tree


def _ranked(
    monitor: Monitor, cells: Sequence[Register], node: TreeNode, at: int, ranks: Mapping[int, int]
) -> Any:
    match node:
        case Branch():
            return node._replace(at=ranks[node.at])
        case Addition():
            return ranks[node.at]  # positions leave it as it is
        case Comparison():
            return _written(node)
    return _relative(monitor, cells, node, at)


def _written(node: Comparison) -> Comparison:
    """Return a comparison as a part of a key: its operands may be equal, and not the same."""
    return node._replace(left=repr(node.left), right=repr(node.right))


def _relative(
    monitor: Monitor, cells: Sequence[Register], registers: Registers, position: int
) -> Registers:
    pairs = zip(cells, registers, strict=True)
    return tuple(
        value - position if value is not None and _is_position(monitor, cell) else value
        for cell, value in pairs
    )


def key_after(monitor: Monitor, state: State, last: int) -> Any:
    """Return a key that is equal for states that cannot be told apart after the position `last`.

    Unlike `memory`, it leaves out what bounds in steps have made the state forget by then; calls
    in flight keep their positions.
    """
    live = frozenset(shifted(each, last) for each in state.live)
    trees = tuple(
        tuple([_left_of(monitor, cells, node, last) for node in tree])
        for cells, tree in cells_of_trees(monitor, state)
    )
    return _left_of(monitor, monitor.past.cells, state.registers, last), live, trees, state.lost


def _left_of(monitor: Monitor, cells: Sequence[Register], node: Any, last: int) -> Any:
    match node:
        case Branch() | Addition():
            return node
        case Comparison():
            return _written(node)
    nodes, pairs = monitor.program.nodes, zip(cells, node, strict=True)
    return tuple(_left(nodes[cell.node], value, last) for cell, value in pairs)


def _left(op: Any, value: Any, last: int) -> Any:
    match op:
        case ("since", _):
            return None if value is None else value - last
        case (_, _, Steps() as bound) if op[0] in STAMPED:
            return within_steps(value, bound, last)
        case ("count", _, _, Steps(width), _):
            return tuple(each - last for each in value if each + width > last + 1)
        case ("sum", _, Steps(width)):
            return tuple((each - last, more) for each, more in value if each + width > last + 1)
        case ("repeats", *_):
            return value[:2] if value[2] == last else None
    return value


def awaits_results(state: State) -> bool:
    """True if the state waits for the result of some call."""
    return bool(state.branches) or any(
        literal[0] == "D" for each in state.live for literal in literals_of(each)
    )


def _is_position(monitor: Monitor, cell: Register) -> bool:
    op = monitor.program.nodes[cell.node]
    return op[0] == "since" or bounded_steps(op) is not None


def is_unchanged(monitor: Monitor, before: State, after: State) -> bool:
    """True if no register has changed, but for what a bound has made it forget.

    That is so however the calls in flight settle.
    """
    if not _same(monitor, monitor.past.cells, before.registers, after.registers):
        return False
    if before.branches is after.branches:
        return True
    trees = zip(cells_of_trees(monitor, before), cells_of_trees(monitor, after), strict=False)
    return len(before.branches) == len(after.branches) and all(
        len(old) == len(new)
        and all(
            one == two if isinstance(one, INNER) else _same(monitor, cells, one, two)
            for one, two in zip(old, new, strict=True)
        )
        for (cells, old), (_, new) in trees
    )


def _same(monitor: Monitor, cells: Sequence[Register], old: Any, new: Any) -> bool:
    if isinstance(new, INNER):
        return False
    pairs = zip(cells, old, new, strict=True)
    return all(one == two or _forgotten(monitor, cell, one, two) for cell, one, two in pairs)


def _forgotten(monitor: Monitor, cell: Register, old: Any, new: Any) -> bool:
    op = monitor.program.nodes[cell.node]
    if op[0] in STAMPED and op[2] is not None:
        return new is None
    return op[0] in ("count", "sum") and isinstance(old, tuple) and set(new) <= set(old)


def due(monitor: Monitor, state: State, position: int) -> int:
    """Return the next position that the state has to see because of a bound in steps, or `NEVER`.

    A state may skip positions: what can be kept within n further positions can be kept by n later
    ones as well, as long as no bound runs out before the last of them.
    """
    if not state.live and not monitor.counts_steps:
        return NEVER
    owed = bounds_after(state.live, position)
    kept: set[int] = set()
    for cells, registers in _all_registers(monitor, state):
        for cell, value in zip(cells, registers, strict=True):
            bound = bounded_steps(monitor.program.nodes[cell.node])
            if bound is not None and value is not None:
                kept.add(value + bound.count)
    kept = {last for last in kept if last >= position}
    if not owed and not kept:
        return NEVER
    ahead = monitor.ahead(state, position) if state.live else 0
    turns = [last - max(ahead - 1, 0) for last in owed] + [last + 1 - ahead for last in kept]
    return max(min(turns), position + 1)


def _all_registers(
    monitor: Monitor, state: State
) -> Iterator[tuple[Sequence[Register], Registers]]:
    """Yield the registers, and those at the end of each branch."""
    yield monitor.past.cells, state.registers
    for cells, tree in cells_of_trees(monitor, state):
        for node in tree:
            if not isinstance(node, INNER):
                yield cells, node
