"""Decides whether calls that no contract speaks of leave a state as it is, so that it may skip
them.

In: states before and after such a call. Out: whether it stays, and the next position that a bound
in steps makes it see all the same.
"""

from __future__ import annotations

from typing import Any

from sponsio_like.logic.formula import Steps
from sponsio_like.monitor.monitor import Monitor, State
from sponsio_like.monitor.past import Register
from sponsio_like.monitor.residual import literals_of, shifted

NEVER = 1 << 62


def memory(monitor: Monitor, state: State, position: int) -> Any:
    """Return the state with positions relative to `position`, as a key for caches."""
    cells = zip(monitor.past.cells, state.registers, strict=True)
    registers = tuple(
        value - position if value is not None and _is_position(monitor, cell) else value
        for cell, value in cells
    )
    return registers, frozenset(shifted(each, position) for each in state.live)


def awaits_results(state: State) -> bool:
    """True if the state waits for the result of some call."""
    return bool(state.window) or any(
        literal[0] == "D" for each in state.live for literal in literals_of(each)
    )


def _is_position(monitor: Monitor, cell: Register) -> bool:
    op = monitor.program.nodes[cell.node]
    return op[0] == "since" or (op[0] in ("O", "H") and isinstance(op[2], Steps))


def is_unchanged(monitor: Monitor, before: State, after: State) -> bool:
    """True if no register has changed, but for what a bound has made it forget."""
    pairs = zip(monitor.past.cells, before.registers, after.registers, strict=True)
    return all(old == new or _forgotten(monitor, cell, old, new) for cell, old, new in pairs)


def _forgotten(monitor: Monitor, cell: Register, old: Any, new: Any) -> bool:
    op = monitor.program.nodes[cell.node]
    if op[0] in ("O", "H") and op[2] is not None:
        return new is None
    return op[0] in ("count", "sum") and isinstance(old, tuple) and set(new) <= set(old)


def due(monitor: Monitor, state: State, position: int) -> int:
    """Return the next position that the state has to see because of a bound in steps, or `NEVER`.

    A state may skip positions: what can be kept within n further positions can be kept by n later
    ones as well, as long as no bound runs out before the last of them.
    """
    if not state.live and not monitor.counts_steps:
        return NEVER
    literals = [literal for each in state.live for literal in literals_of(each)]
    owed: set[int] = {lit[2] for lit in literals if lit[0] in "FG" and lit[2] > position}
    kept: set[int] = set()
    for cell, value in zip(monitor.past.cells, state.registers, strict=True):
        op = monitor.program.nodes[cell.node]
        if op[0] in ("O", "H") and isinstance(op[2], Steps) and value is not None:
            kept.add(value + op[2].count)
    kept = {last for last in kept if last >= position}
    if not owed and not kept:
        return NEVER
    ahead = monitor.ahead(state, position) if state.live else 0
    turns = [last - max(ahead - 1, 0) for last in owed] + [last + 1 - ahead for last in kept]
    return max(min(turns), position + 1)
