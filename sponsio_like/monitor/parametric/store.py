"""Stores what a clause with value variables remembers: one state for all values that share it.

In: watches by key (one value for each variable). Out: the watch of any key; all keys without a
state of their own share `rest`. A position that treats all values alike moves the states, not the
keys. Memory is capped. A key may be forgotten only if that can refuse more, never if it permits
more.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sponsio_like.monitor.monitor import State
from sponsio_like.monitor.parametric.variables import Key
from sponsio_like.monitor.state import ClauseState

VALUES_CAP = 100_000
"""Most values of one clause that have a state of their own."""
RELATED_CAP = 1_000
"""The same for clauses that compare every value with each event."""
STATES_CAP = 256
"""Most states of a clause that has to step each of them at every call."""
GAPS_CAP = 2_048
"""Most values that are forgotten before the dictionary of values is made anew: the gaps that they
leave would be looked at whenever the oldest value is wanted.
"""
LOOKED_AT = 256
"""Most values that are examined to find one that may be forgotten."""


class SharedState:
    """The state that some keys are in. `into`: the cell that it was merged into, or None.

    `moved`: the call at which its state last changed; -1 if it never has.
    """

    __slots__ = ("into", "keys", "moved", "watch")

    def __init__(self, watch: ClauseState) -> None:
        self.watch = watch
        self.into: SharedState | None = None
        self.keys = 0
        self.moved = -1


class ValueStates:
    """The states of one clause by key, and the state of all other keys (`rest`).

    `keys`: the cell of each key, and the call at which the key came into it. `broken`: a violation
    by some value was let through. `blind`: something that must not be forgotten could not be
    stored.
    """

    __slots__ = (
        "_dropped",
        "_last",
        "blind",
        "broken",
        "cap",
        "cells",
        "keys",
        "permits",
        "rest",
        "states",
    )

    def __init__(
        self,
        start: ClauseState,
        cap: int,
        permits: Callable[[ClauseState, ClauseState], bool],
        states: int,
    ) -> None:
        self.cap, self.permits, self.states = cap, permits, states
        self.rest = self._last = SharedState(start)
        self.cells: dict[ClauseState, SharedState] = {start: self.rest}
        self.keys: dict[Key, tuple[SharedState, int]] = {}  # the oldest first
        self._dropped = 0
        self.blind = self.broken = False

    # --- asking -------------------------------------------------------------------------------

    def watch(self, key: Key) -> ClauseState:
        """Return the state of this key."""
        entry = self.keys.get(key)
        return (self.rest if entry is None else self._root(key, entry)).watch

    def since(self, key: Key | None) -> int:
        """Return the call at which the state of this key last changed; -1 if it never has."""
        if key is None or key not in self.keys:
            return self.rest.moved
        moved = self._root(key, self.keys[key]).moved
        return max(moved, self.keys[key][1])

    def watches(self, but: Collection[Key] = ()) -> list[ClauseState]:
        """Return every state that some key is in, without counting the keys of `but`."""
        entries = ((key, self.keys[key]) for key in but if key in self.keys)
        taken = Counter(self._root(key, entry) for key, entry in entries)
        return [
            watch
            for watch, cell in self.cells.items()
            if cell is self.rest or cell.keys > taken[cell]
        ]

    def example(self, watch: ClauseState, but: Collection[Key] = ()) -> Key | None:
        """Return a key in this state that is not one of `but`; None if it is the state of all
        others.
        """
        cell = self.cells.get(watch)
        if cell is None or cell is self.rest:
            return None
        each = ((key, self._root(key, entry)) for key, entry in list(self.keys.items()))
        return next((key for key, root in each if root is cell and key not in but), None)

    def knows(self, key: Key) -> bool:
        """True if this key has a state of its own."""
        return key in self.keys

    def has_room(
        self, more: int, states: Collection[ClauseState], new: Collection[ClauseState]
    ) -> bool:
        """True if `more` further keys can be stored, and be in the states `new` beside `states`."""
        if len(states) + len(new) > self.states:
            return all(self.permits(each, self.rest.watch) for each in new)
        lacking = len(self.keys) + more - self.cap
        return (
            lacking <= 0
            or more == 0
            or len(list(itertools.islice(self._idle(lacking), lacking))) == lacking
        )

    # --- changing -----------------------------------------------------------------------------

    def put(self, key: Key, watch: ClauseState, call: int) -> None:
        """Set the state of this key; note in `blind` if there is no room for it."""
        watch = self._latched(watch)
        entry = self.keys.get(key)
        cell = self.rest if entry is None else self._root(key, entry)
        if cell.watch == watch:
            return
        if watch == self.rest.watch:
            self.drop(key)
            return
        full = len(self.keys) >= self.cap and not self._make_room() if entry is None else False
        if full or (entry is None and len(self.cells) >= self.states and watch not in self.cells):
            self.blind = self.blind or not self.permits(watch, self.rest.watch)
            return
        into = self._cell(watch)
        into.keys += 1
        self.keys[key] = (into, call)
        if entry is not None:
            self._left(cell)

    def put_all(self, keys: Sequence[Key], watch: ClauseState, call: int) -> None:
        """Set the state of keys that have none of their own, as `put` does one by one."""
        if not keys:
            return
        watch = self._latched(watch)
        if watch == self.rest.watch:
            return
        room = len(self.keys) + len(keys) <= self.cap
        if not room or (len(self.cells) >= self.states and watch not in self.cells):
            for key in keys:
                self.put(key, watch, call)
            return
        into = self._cell(watch)
        into.keys += len(keys)
        self.keys.update(dict.fromkeys(keys, (into, call)))

    def _cell(self, watch: ClauseState) -> SharedState:
        """Return the cell of this state, a new one if need be.

        It looks at the last one first, since many values get the same state in a row.
        """
        last = self._last
        if last.watch is watch and last.keys > 0 and last.into is None:
            return last
        found = self.cells.get(watch)
        if found is None:
            found = self.cells[watch] = SharedState(watch)
        self._last = found
        return found

    def drop(self, key: Key) -> None:
        """Forget this key: its state is that of all others again."""
        entry = self.keys.get(key)
        if entry is not None:
            cell = self._root(key, entry)
            del self.keys[key]
            self._dropped += 1
            if self._dropped > GAPS_CAP:
                self.keys, self._dropped = dict(self.keys), 0
            self._left(cell)

    def move(self, moves: Mapping[ClauseState, ClauseState], call: int) -> None:
        """Replace each state by the one that `moves` has for it; merge states that have become
        equal.
        """
        if all(old is new or old == new for old, new in moves.items()):
            return
        cells, self.cells = list(self.cells.values()), {}
        for cell in cells:
            watch = self._latched(moves.get(cell.watch, cell.watch))
            cell.moved = cell.moved if watch == cell.watch else call
            cell.watch = watch
        cells.sort(key=lambda cell: (cell is not self.rest, cell.moved))  # the oldest cell stays
        for cell in cells:
            into = self.cells.setdefault(cell.watch, cell)
            if into is not cell:
                cell.into = into
                into.keys += cell.keys

    def _root(self, key: Key, entry: tuple[SharedState, int]) -> SharedState:
        cell, call = entry
        while cell.into is not None:
            cell, call = cell.into, max(call, cell.moved)
        if cell is not entry[0]:
            self.keys[key] = (cell, call)
        return cell

    def _latched(self, watch: ClauseState) -> ClauseState:
        """Return the state without `broken`, which is remembered once for all keys."""
        self.broken = self.broken or watch.violated
        return watch._replace(violated=False) if watch.violated else watch

    def _left(self, cell: SharedState) -> None:
        """Count one key less in this cell, and remove the cell if it was the last."""
        cell.keys -= 1
        if cell.keys == 0 and cell is not self.rest:
            del self.cells[cell.watch]

    def _idle(self, wanted: int = 1) -> Iterator[Key]:
        """Yield keys that may be forgotten, the oldest first."""
        for key, entry in itertools.islice(self.keys.items(), LOOKED_AT + wanted):
            cell = _end(entry[0])
            if cell is self.rest or self.permits(cell.watch, self.rest.watch):
                yield key

    def _make_room(self) -> bool:
        key = next(self._idle(), None)
        if key is not None:
            self.drop(key)
        return key is not None

    # --- copies -------------------------------------------------------------------------------

    def copy(self, keys: Iterable[Key]) -> ValueStates:
        """Return a copy to try changes on, with no keys but these."""
        twin = ValueStates(self.rest.watch, self.cap, self.permits, self.states)
        twin.blind, twin.broken, twin.rest.moved = self.blind, self.broken, self.rest.moved
        for key in {key for key in keys if key in self.keys}:
            twin.put(key, self.watch(key), self.since(key))
        return twin

    def plain(self) -> tuple[Any, ...]:
        """Return all of it as a tuple of plain records."""
        numbers = {watch: n for n, watch in enumerate(self.cells)}
        keys = {key: (numbers[self.watch(key)], self.since(key)) for key in list(self.keys)}
        rest = (numbers[self.rest.watch], self.rest.moved)
        return (tuple(numbers), rest, keys, self.blind, self.broken)

    def fill(self, plain: Any) -> None:
        """Take over what `plain` has returned."""
        watches, (rest, since), keys, blind, broken = plain
        self.__init__(watches[rest], self.cap, self.permits, self.states)  # type: ignore[misc]
        self.rest.moved, self.blind, self.broken = since, bool(blind), bool(broken)
        for key, (number, call) in keys.items():  # no cap: all were stored before
            cell = self._cell(watches[number])
            cell.keys += 1
            self.keys[key] = (cell, call)


def _end(cell: SharedState) -> SharedState:
    """Return the cell that this one was merged into at last, or itself."""
    while cell.into is not None:
        cell = cell.into
    return cell


def only_permits(watch: ClauseState, rest: ClauseState) -> bool:
    """True if forgetting this state, so that `rest` takes its place, can only refuse more.

    So it is if they differ only in registers of the guarantee that are true here and false in
    `rest`: such a register can only permit. The gate, which has the assumption, must be the same.
    """
    same = watch._replace(segment=None) == rest._replace(segment=None)
    return same and _above(watch.segment, rest.segment)


def _above(mine: State | None, other: State | None) -> bool:
    if mine is None or other is None or mine.branches or mine.live != other.live:
        return False
    pairs = zip(mine.registers, other.registers, strict=True)
    return all(one == two or (one is True and two is False) for one, two in pairs)


def never(_: ClauseState, __: ClauseState) -> bool:
    """Return False: no state may be forgotten."""
    return False
