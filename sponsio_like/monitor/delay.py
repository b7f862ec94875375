"""Counts how many positions a refused one has to wait at least, as far as its own past tells.

In: a state, and the letter of the position. Out: a lower bound, by search over abstract states:
counters, sums and clocks are as the formula likes best, and so is all that calls say of themselves.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from sponsio_like.monitor.monitor import Monitor, State
from sponsio_like.monitor.past import Letter, Registers

FREE_CAP = 6
"""Most free bits of the refused position of which all values are tried."""
REACHED_CAP = 128
"""Most abstract states that are looked at."""
KNOWN_CAP = 1_024
"""Most answers that are remembered of one formula."""


def positions_until(
    monitor: Monitor,
    state: State,
    letter: Letter,
    last: int,
    without: frozenset[int] = frozenset(),
) -> float:
    """Return a number of positions before which this letter violates the formula in any case.

    Infinite if it does so for ever; 0 where that is not known. `last`: the last position;
    `without`: slots that are false at the positions between.
    """
    search = monitor.search
    if not monitor.plain or state.branches or search.abstract.free > FREE_CAP:
        return 0
    told = tuple([value is True for value in letter])
    key = ("until", search.registers(state.registers, last), told, without)
    found = monitor.asked.get(key)
    if found is None:
        letters = [each for each in search.letters if not any(each[k] for k in without)]
        found = _searched(monitor, key[1], told, letters) if search.complete else 0
        if len(monitor.asked) >= KNOWN_CAP:
            monitor.asked.clear()
        monitor.asked[key] = found
    return found


def _searched(
    monitor: Monitor, start: Registers, letter: Letter, letters: Sequence[Letter]
) -> float:
    """Return after how many positions the letter can pass, by breadth-first search."""
    steps = monitor.search.steps("satisfy")
    seen, frontier, length = {start}, [start], 0
    while frontier:
        if any(_passes(monitor, registers, letter) for registers in frontier):
            return length
        length += 1
        following: list[Registers] = []
        for registers in frontier:
            for each in letters:
                reached = steps.registers(registers, each)
                if reached not in seen:
                    seen.add(reached)
                    following.append(reached)
                    if len(seen) > REACHED_CAP:
                        return length
        frontier = following
    return math.inf


def _passes(monitor: Monitor, registers: Registers, letter: Letter) -> bool:
    """True if the formula holds at this letter for some values of the free bits."""
    abstract = monitor.search.abstract
    roots = [root for parts in monitor.always for root in parts]
    for bits in itertools.product((True, False), repeat=abstract.free):
        values = abstract.past.read((*letter, *bits), registers, 1, 0.0)
        if all(values[root] for root in roots):
            return True
    return False
