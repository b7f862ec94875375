"""Reads the windows of older snapshots: the positions that a late result could still change.

In: a window. Out: the branches that a state has in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sponsio_like.monitor.monitor import Monitor, State
from sponsio_like.monitor.past import Letter, Registers
from sponsio_like.monitor.trees import Trees


class WindowEntry(NamedTuple):
    """A position, with the registers before it and what was read at it."""

    position: int
    time: float
    before: Registers
    letter: Letter


def of_today(monitor: Monitor, state: State, last: int) -> State:
    """Return the state with branches, if it was read with a window; `last`: the last position."""
    read: tuple[object, ...] = state.branches
    window = [each for each in read if isinstance(each, WindowEntry)]
    if not window:
        return state
    return state._replace(branches=branches_of_window(monitor, window, last))


def branches_of_window(monitor: Monitor, window: Sequence[WindowEntry], last: int) -> Trees:
    """Return the branches after position `last`; between the entries, no contract was concerned."""
    trees: Trees = ()
    registers = window[0].before
    for letter, position, time in _positions(monitor, window, last):
        values = monitor.past.read(letter, registers, position, time)
        after = monitor.past.after(values, letter, registers, position, time)
        trees = monitor.branches.after(trees, (registers, after), letter, position, time)
        registers = after
    return trees


def _positions(
    monitor: Monitor, window: Sequence[WindowEntry], last: int
) -> Iterator[tuple[Letter, int, float]]:
    """Yield the positions that change registers: of those between entries, the first and last."""
    quiet, enough = monitor.search.unconcerned_letter, monitor.search.settles_within
    untils = [*[entry.position for entry in window[1:]], last + 1]
    for entry, until in zip(window, untils, strict=True):
        yield entry.letter, entry.position, entry.time
        soon = min(until, entry.position + 1 + enough)
        late = max(soon, until - enough)
        for position in (*range(entry.position + 1, soon), *range(late, until)):
            yield quiet, position, entry.time
