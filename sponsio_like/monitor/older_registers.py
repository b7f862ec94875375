"""Reads the states of older snapshots, which kept `Y O[<=n] f` and `WY H[<=n] f` in two registers.

In: a state with a register for `O[<=n] f` and one for the `Y` above it. Out: the state with the one
register that a program has in their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sponsio_like.monitor.monitor import Monitor, State
from sponsio_like.monitor.past import Registers
from sponsio_like.monitor.program import EARLIER, Op
from sponsio_like.monitor.trees import INNER, Tree, TreeNode
from sponsio_like.monitor.windows import WindowEntry


def has_one_register(monitor: Monitor) -> bool:
    """True if older snapshots have more registers than this monitor."""
    return any(monitor.program.nodes[cell.node][0] in EARLIER for cell in monitor.past.cells)


def with_one_register(monitor: Monitor, state: State) -> State:
    """Return the state with the registers of today. Raises `ValueError` if it has others."""
    older = _Older(monitor)
    if len(state.registers) != older.length:
        raise ValueError("registers are missing")
    trees = tuple(older.tree(k, tree) for k, tree in enumerate(state.branches))
    return state._replace(registers=older.registers(state.registers), branches=trees)


class _Older:
    """The places of the registers in older snapshots; `length`: how many there were."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        ops = [monitor.program.nodes[cell.node] for cell in monitor.past.cells]
        self._places, self._bits, self.length = _places(ops)

    def registers(self, older: Registers) -> Registers:
        """Return the registers of today."""
        return tuple([older[place] for place in self._places])

    def tree(self, k: int, tree: Tree) -> Tree:
        """Return a tree, or the window that stands in its place, with the registers of today."""
        entry: Any = tree
        if isinstance(entry, WindowEntry):
            return entry._replace(before=self.registers(entry.before))  # type: ignore[return-value]
        cells = self._monitor.branches.groups[k].cells
        places = [self._places[r] for r in cells]
        held = sorted({*places, *[self._bits[r] for r in cells if r in self._bits]})
        return tuple([self._leaf(node, [held.index(each) for each in places]) for node in tree])

    @staticmethod
    def _leaf(node: TreeNode, places: Sequence[int]) -> TreeNode:
        return node if isinstance(node, INNER) else tuple([node[place] for place in places])


def _places(ops: Iterable[Op]) -> tuple[list[int], dict[int, int], int]:
    """Return where each register stood; where the bit of a `Y` stood, by its register of today;
    and how many there were.
    """
    places, bits, length = list[int](), dict[int, int](), 0
    for r, op in enumerate(ops):
        places.append(length)
        if op[0] in EARLIER:
            length += 1
            bits[r] = length
        length += 1
    return places, bits, length
