"""Stores what a clause with value variables remembers: one state for all values that share it.

In: states by key (one value for each variable). Out: the state of any key; all keys without a
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
from sponsio_like.monitor.parametric.variables import Key, TextKeys
from sponsio_like.monitor.state import ClauseState
from sponsio_like.values import WordIndex, cores_of

VALUES_CAP = 100_000
"""Most values of one clause that have a state of their own."""
RELATED_CAP = 1_000
"""The same for clauses that compare every value with each event."""
STATES_CAP = 256
"""Most states of a clause that has to step each of them at every call."""
SKIPPED_CAP = 1_000
"""The same where a call steps only the states of the values that it binds."""
GAPS_CAP = 2_048
"""Most values that are forgotten before the dictionary of values is made anew: the gaps that they
leave would be looked at whenever the oldest value is wanted.
"""
LOOKED_AT = 256
"""Most values that are examined to find one that may be forgotten."""


class SharedState:
    """The state that some keys are in. `into`: the cell that it was merged into, or None.

    `moved`: the call at which its state last changed; -1 if it never has. `wake`: the next position
    that the state has to see, whatever the tool; `due`: when its first bound in seconds runs out;
    both None until they are asked for.
    """

    __slots__ = ("due", "into", "keys", "moved", "state", "wake")

    def __init__(self, state: ClauseState) -> None:
        self.state = state
        self.into: SharedState | None = None
        self.keys = 0
        self.moved = -1
        self.wake: int | None = None
        self.due: float | None = None

    def becomes(self, state: ClauseState, call: int) -> None:
        """Replace the state, at this call."""
        if state != self.state:
            self.moved, self.wake, self.due = call, None, None
        self.state = state


class _Text:
    """A text whose values are in one cell, since this call, but for those in `keys`."""

    __slots__ = ("call", "cell", "words")

    def __init__(self, words: WordIndex, cell: SharedState, call: int) -> None:
        self.words, self.cell, self.call = words, cell, call


class ValueStates:
    """The states of one clause by key, and the state of all other keys (`rest`).

    `keys`: the cell of each key, and the call at which the key came into it. `texts`: the values of
    these, the oldest first, are not in `keys` until they are asked for; `held` is room for so many.
    `broken`: a violation by some value was let through. `blind`: something that must not be
    forgotten could not be stored.
    """

    __slots__ = (
        "_cores",
        "_dropped",
        "_gone",
        "_last",
        "blind",
        "broken",
        "cap",
        "cells",
        "held",
        "keys",
        "most_states",
        "permits",
        "rest",
        "texts",
    )

    def __init__(
        self,
        start: ClauseState,
        cap: int,
        permits: Callable[[ClauseState, ClauseState], bool],
        most_states: int,
    ) -> None:
        self.cap, self.permits, self.most_states = cap, permits, most_states
        self.rest = self._last = SharedState(start)
        self.cells: dict[ClauseState, SharedState] = {start: self.rest}
        self.keys: dict[Key, tuple[SharedState, int]] = {}  # the oldest first
        self.texts: list[_Text] = []
        self._cores = set[str]()  # those of all texts, and of some that were forgotten
        self.held = self._dropped = self._gone = 0
        self.blind = self.broken = False

    # --- asking -------------------------------------------------------------------------------

    def state(self, key: Key) -> ClauseState:
        """Return the state of this key."""
        entry = self.entry(key)
        return (self.rest if entry is None else self._root(key, entry)).state

    def entry(self, key: Key) -> tuple[SharedState, int] | None:
        """Return the cell of this key, and since which call it is in there; None if it has none.

        One that is found in a text is noted.
        """
        entry = self.keys.get(key)
        if entry is None and self.texts:
            entry = self._in_texts(key)
            if entry is not None and not self.is_full():
                self.keys[key] = entry
                entry[0].keys += 1
        return entry

    def _in_texts(self, key: Key) -> tuple[SharedState, int] | None:
        """Return the cell and the call of the first text that has this key."""
        value = key[0]
        cores = cores_of(value) if type(value) is str else None
        if cores is None or not self._cores.issuperset(cores):
            return None
        for text in self.texts:
            if text.words.has(value, cores):
                cell, call = _resolved(text.cell, text.call)
                if cell is not self.rest:
                    return cell, call
        return None

    def standing_in(self, keys: TextKeys) -> list[Key]:
        """Return the keys with a state of their own that stand in a text."""
        if len(self.keys) <= keys.words.size:
            return [key for key in self.keys if key in keys]
        return [key for key in keys if key in self.keys]

    @property
    def tells(self) -> bool:
        """True if some key is in another state than all others, or was."""
        return bool(self.keys or self.texts)

    def is_full(self) -> bool:
        """True if there is no room for one more key, unless one is forgotten."""
        return len(self.keys) + self.held >= self.cap

    def since(self, key: Key | None) -> int:
        """Return the call at which the state of this key last changed; -1 if it never has."""
        entry = None if key is None else self.entry(key)
        if key is None or entry is None:
            return self.rest.moved
        cell, call = _resolved(*entry)
        return max(cell.moved, call)

    def states(
        self, but: Collection[Key] = (), *, woken_by: int | None = None
    ) -> list[ClauseState]:
        """Return every state that some key is in, without counting the keys of `but`.

        `woken_by`: only those that have to see this position, whatever the tool.
        """
        entries = ((key, self.keys[key]) for key in but if key in self.keys)
        taken = Counter(self._root(key, entry) for key, entry in entries)
        return [
            state
            for state, cell in self.cells.items()
            if (woken_by is None or cell.wake is None or cell.wake <= woken_by)
            and (cell is self.rest or cell.keys > taken[cell])
        ]

    def wakes_at(self, last: int, wake: Callable[[ClauseState], int]) -> int:
        """Return the first position after `last` that a state has to see; `wake` says it of one."""
        for cell in self.cells.values():
            if cell.wake is None or cell.wake <= last:
                cell.wake = wake(cell.state)
        return min([cell.wake for cell in self.cells.values() if cell.wake is not None])

    def due_at(self, due: Callable[[ClauseState], float]) -> float:
        """Return when the first bound in seconds runs out; `due` says it of one state."""
        for cell in self.cells.values():
            if cell.due is None:
                cell.due = due(cell.state)
        return min([cell.due for cell in self.cells.values() if cell.due is not None])

    def overdue(self, time: float) -> list[ClauseState]:
        """Return the states of which a bound in seconds has run out by now."""
        each = self.cells.values()
        return [cell.state for cell in each if cell.due is None or cell.due < time]

    def example(self, state: ClauseState, but: Collection[Key] = ()) -> Key | None:
        """Return a key in this state that is not one of `but`; None if it is the state of all
        others.
        """
        cell = self.cells.get(state)
        if cell is None or cell is self.rest:
            return None
        each = ((key, self._root(key, entry)) for key, entry in list(self.keys.items()))
        return next((key for key, root in each if root is cell and key not in but), None)

    def examples(self) -> dict[ClauseState, Key]:
        """Return the first key in each state, without the state of all others."""
        found: dict[SharedState, Key] = {}
        for key, entry in list(self.keys.items()):
            found.setdefault(self._root(key, entry), key)
        return {cell.state: key for cell, key in found.items() if cell is not self.rest}

    def knows(self, key: Key) -> bool:
        """True if this key has a state of its own."""
        return self.entry(key) is not None

    def has_room(
        self, more: int, states: Collection[ClauseState], new: Collection[ClauseState]
    ) -> bool:
        """True if `more` further keys can be stored, and be in the states `new` beside `states`."""
        if len(states) + len(new) > self.most_states:
            return all(self.permits(each, self.rest.state) for each in new)
        lacking = len(self.keys) + self.held + more - self.cap
        if lacking > 0:
            lacking -= sum(each.words.size for each in self.texts if self._may_forget(each))
        return (
            lacking <= 0
            or more == 0
            or len(list(itertools.islice(self._idle(lacking), lacking))) == lacking
        )

    # --- changing -----------------------------------------------------------------------------

    def put(self, key: Key, state: ClauseState, call: int) -> None:
        """Set the state of this key; note in `blind` if there is no room for it."""
        state = self._latched(state)
        entry = self.entry(key)
        cell = self.rest if entry is None else self._root(key, entry)
        if cell.state == state:
            return
        if state == self.rest.state and not (self.texts and self._in_texts(key)):
            self.drop(key)
            return
        entry = self.keys.get(key)
        full = self.is_full() and not self._make_room() if entry is None else False
        if full or (
            entry is None and len(self.cells) >= self.most_states and state not in self.cells
        ):
            self.blind = self.blind or not self.permits(state, self.rest.state)
            return
        into = self._cell(state)
        into.keys += 1
        self.keys[key] = (into, call)
        if entry is not None:
            self._left(cell)

    def put_all(self, keys: Sequence[Key], state: ClauseState, call: int) -> None:
        """Set the state of keys that have none of their own, as `put` does one by one."""
        if not keys:
            return
        state = self._latched(state)
        if state == self.rest.state:
            return
        room = len(self.keys) + self.held + len(keys) <= self.cap
        if not room or (len(self.cells) >= self.most_states and state not in self.cells):
            for key in keys:
                self.put(key, state, call)
            return
        into = self._cell(state)
        into.keys += len(keys)
        self.keys.update(dict.fromkeys(keys, (into, call)))

    def put_text(self, keys: TextKeys, state: ClauseState, call: int) -> None:
        """Set the state of all keys of a text that have none of their own.

        The oldest texts are forgotten if there is no room.
        """
        state, words = self._latched(state), keys.words
        if state == self.rest.state:
            return
        while len(self.keys) + self.held + words.size > self.cap and self.texts:
            if not self._may_forget(self.texts[0]):
                break
            self._forget_text()
        fits = len(self.keys) + self.held + words.size <= self.cap
        if not fits or (len(self.cells) >= self.most_states and state not in self.cells):
            self.put_all([key for key in keys if not self.knows(key)], state, call)
            return
        into = self._cell(state)
        into.keys += words.size
        self.held += words.size
        self.texts.append(_Text(words, into, call))
        self._cores |= words.cores

    def _forget_text(self) -> None:
        """Forget the oldest text."""
        text = self.texts.pop(0)
        self.held -= text.words.size
        self._left(_end(text.cell), text.words.size)
        self._gone += 1
        if self._gone > len(self.texts):
            self._cores, self._gone = set().union(*(each.words.cores for each in self.texts)), 0

    def _may_forget(self, text: _Text) -> bool:
        cell = _end(text.cell)
        return cell is self.rest or self.permits(cell.state, self.rest.state)

    def _cell(self, state: ClauseState) -> SharedState:
        """Return the cell of this state, a new one if need be.

        It looks at the last one first, since many values get the same state in a row.
        """
        last = self._last
        if last.state is state and last.keys > 0 and last.into is None:
            return last
        found = self.cells.get(state)
        if found is None:
            found = self.cells[state] = SharedState(state)
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
            cell.becomes(self._latched(moves.get(cell.state, cell.state)), call)
        cells.sort(key=lambda cell: (cell is not self.rest, cell.moved))  # the oldest cell stays
        for cell in cells:
            into = self.cells.setdefault(cell.state, cell)
            if into is not cell:
                cell.into = into
                into.keys += cell.keys

    def _root(self, key: Key, entry: tuple[SharedState, int]) -> SharedState:
        cell, call = _resolved(*entry)
        if cell is not entry[0] and key in self.keys:
            self.keys[key] = (cell, call)
        return cell

    def _latched(self, state: ClauseState) -> ClauseState:
        """Return the state without `broken`, which is remembered once for all keys."""
        self.broken = self.broken or state.violated
        return state._replace(violated=False) if state.violated else state

    def _left(self, cell: SharedState, keys: int = 1) -> None:
        """Count fewer keys in this cell, and remove the cell if they were the last."""
        cell.keys -= keys
        if cell.keys == 0 and cell is not self.rest:
            del self.cells[cell.state]

    def _idle(self, wanted: int = 1) -> Iterator[Key]:
        """Yield keys that may be forgotten, the oldest first."""
        for key, entry in itertools.islice(self.keys.items(), LOOKED_AT + wanted):
            cell, otherwise = _end(entry[0]), self.rest
            if self.texts:
                otherwise, _ = self._in_texts(key) or (self.rest, 0)
            if cell is otherwise or self.permits(cell.state, otherwise.state):
                yield key

    def _make_room(self) -> bool:
        """Forget the oldest key, or the oldest text if that is older."""
        key = next(self._idle(), None)
        text = self.texts[0] if self.texts and self._may_forget(self.texts[0]) else None
        if text is not None and (key is None or text.call <= self.keys[key][1]):
            self._forget_text()
            return True
        if key is not None:
            self.drop(key)
        return key is not None

    # --- copies -------------------------------------------------------------------------------

    def copy(self, keys: Iterable[Key]) -> ValueStates:
        """Return a copy to try changes on, with no keys but these."""
        twin = ValueStates(self.rest.state, self.cap, self.permits, self.most_states)
        twin.blind, twin.broken, twin.rest.moved = self.blind, self.broken, self.rest.moved
        for key in {key for key in keys if self.knows(key)}:
            twin.put(key, self.state(key), self.since(key))
        return twin

    def plain(self) -> tuple[Any, ...]:
        """Return all of it as a tuple of plain records."""
        numbers = {state: n for n, state in enumerate(self.cells)}
        ends = [(each.words.written(), *_resolved(each.cell, each.call)) for each in self.texts]
        texts = tuple((words, numbers[cell.state], call) for words, cell, call in ends)
        keys = {key: (numbers[self.state(key)], self.since(key)) for key in list(self.keys)}
        rest = (numbers[self.rest.state], self.rest.moved)
        known = (tuple(numbers), rest, keys, self.blind, self.broken)
        return (*known, texts) if texts else known

    def fill(self, plain: Any) -> None:
        """Take over what `plain` has returned, or an older version without texts."""
        states, (rest, since), keys, blind, broken, *texts = plain
        self.__init__(states[rest], self.cap, self.permits, self.most_states)  # type: ignore[misc]
        self.rest.moved, self.blind, self.broken = since, bool(blind), bool(broken)
        for key, (number, call) in keys.items():  # no cap: all were stored before
            cell = self._cell(states[number])
            cell.keys += 1
            self.keys[key] = (cell, call)
        for words, number, call in texts[0] if texts else ():
            index, cell = WordIndex(*words), self._cell(states[number])
            cell.keys += index.size
            self.held += index.size
            self.texts.append(_Text(index, cell, call))
            self._cores |= index.cores


def _resolved(cell: SharedState, call: int) -> tuple[SharedState, int]:
    """Return the cell that this one was merged into at last, and since which call."""
    while cell.into is not None:
        cell, call = cell.into, max(call, cell.moved)
    return cell, call


def _end(cell: SharedState) -> SharedState:
    """Return the cell that this one was merged into at last, or itself."""
    while cell.into is not None:
        cell = cell.into
    return cell


def only_permits(state: ClauseState, rest: ClauseState) -> bool:
    """True if forgetting this state, so that `rest` takes its place, can only refuse more.

    So it is if they differ only in registers of the guarantee that are true here and false in
    `rest`: such a register can only permit. The gate, which has the assumption, must be the same.
    """
    same = state._replace(segment=None) == rest._replace(segment=None)
    return same and _above(state.segment, rest.segment)


def _above(mine: State | None, other: State | None) -> bool:
    if mine is None or other is None or mine.branches or mine.live != other.live:
        return False
    pairs = zip(mine.registers, other.registers, strict=True)
    return all(one == two or (one is True and two is False) for one, two in pairs)


def never(_: ClauseState, __: ClauseState) -> bool:
    """Return False: no state may be forgotten."""
    return False
