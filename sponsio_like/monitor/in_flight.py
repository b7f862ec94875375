"""Calls in flight, for the past.

Positions that a late result may still change for what comes after.

In: registers and letters. Out: a window, and the registers once a result has been filled in.
Without a call in flight the window is empty: nothing is kept of the trace.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.events import OPEN
from sponsio_like.monitor.alphabet import settlements
from sponsio_like.monitor.past import Letter, Past, Registers
from sponsio_like.monitor.program import PAST, STATEFUL, Program, operands
from sponsio_like.monitor.residual import NO, YES, Residual, conjunction, literals_of, mapped, one

CAP = 1_000
"""Most positions remembered because an earlier call is still in flight."""


WAYS_CAP = 1_024
"""Most combinations of results of calls in flight that are tried, or told apart."""
STEPS_CAP = 10_000
"""Most steps over the positions of a window that one question takes."""


class Entry(NamedTuple):
    """A position, with the registers before it and what was read at it."""

    position: int
    time: float
    before: Registers
    letter: Letter


Window: TypeAlias = tuple[Entry, ...]
Owed: TypeAlias = frozenset[Residual]
Outcome: TypeAlias = tuple[Registers, Owed]
"""What is remembered, and what is owed."""
Fate: TypeAlias = tuple[Letter, Mapping[int, bool]]


class WindowFull(Exception):
    """Too much has happened since the call at `position` went into flight."""

    def __init__(self, position: int) -> None:
        super().__init__(
            f"call at position {position} is in flight for more than {CAP} positions; settle it"
        )
        self.position = position


class Recall:
    """Steps the past over a window again.

    `quiet` is the letter of a position that nobody speaks of;

    after `settles_within` such positions the registers no longer change.
    """

    def __init__(self, program: Program, past: Past, quiet: Letter, settles_within: int) -> None:
        self.past = past
        self.all_slots = program.slots
        self.timeless = not any(_clocked(op) for op in program.nodes)
        self.slots = _recalled(program)
        self.quiet = quiet
        self.settles_within = settles_within

    def extended(self, window: Window, entry: Entry) -> Window:
        """The window with one more position, if it has to be remembered. Raises `WindowFull`."""
        if not window and not any(entry.letter[slot] is OPEN for slot in self.slots):
            return ()
        if len(window) >= CAP:
            raise WindowFull(window[0].position)
        return (*window, entry)

    def settled(
        self, window: Window, at: int, final: Mapping[int, bool], last: int
    ) -> tuple[Window, Registers] | None:
        """Window and registers once the call at `at` has its result.

        None if that changes nothing.
        """
        if not any(entry.position == at for entry in window):
            return None
        entries, registers = self._replay(_filled(window, at, final), last)
        while entries and OPEN not in entries[0].letter:
            entries.pop(0)
        return tuple(entries), registers

    def supposing(
        self, window: Window, finals: Mapping[int, Mapping[int, bool]], last: int
    ) -> Registers:
        """The registers if the calls in flight settled so.

        Slots that are not mentioned stay open.
        """
        for at, final in finals.items():
            window = _filled(window, at, final)
        return self._replay(window, last)[1]

    def outcomes(
        self, owed: Owed, registers: Registers, window: Window, last: int
    ) -> set[Outcome] | None:
        """What is remembered, and owed, for each way in which the calls in flight may settle.

        Ways that come to the same are one: their number grows with what is told apart, and not with
        that of the calls. None if there are too many.
        """
        waiting = open_positions(owed, ())
        inside = {entry.position for entry in window} if waiting else set()
        beside = {at: found for at, found in waiting.items() if at not in inside}
        lefts = settled_ways(self.all_slots, owed, beside)
        if lefts is None or not window:
            return None if lefts is None else {(registers, left) for left in lefts}
        states, steps = {(window[0].before, left) for left in lefts}, 0
        fixed, gap = None, 0
        for k, entry in enumerate(window):
            until = window[k + 1].position if k + 1 < len(window) else last + 1
            same = fixed is not None and entry.letter == fixed and entry.position not in waiting
            if same and min(until - entry.position, self.settles_within + 1) == gap:
                continue  # one more of these leaves everything as it is
            gap = min(until - entry.position, self.settles_within + 1)
            fates = _fates(self.all_slots, entry, waiting.get(entry.position, ()))
            steps += len(fates) * len(states)
            if steps > STEPS_CAP:
                return None
            found = {self._after(state, entry, until, fate) for state in states for fate in fates}
            fixed = entry.letter if self.timeless and found == states else None
            states = found
        return states

    def _after(self, state: Outcome, entry: Entry, until: int, fate: Fate) -> Outcome:
        (registers, left), (letter, final) = state, fate
        registers = self._step(letter, registers, entry.position, entry.time)
        registers = self._coast(registers, entry.position + 1, until, entry.time)
        return registers, conjunction(settle(each, entry.position, final) for each in left)

    def _replay(self, window: Window, last: int) -> tuple[list[Entry], Registers]:
        """Step over the window, and over the quiet positions between its entries, up to `last`."""
        registers = window[0].before
        done: list[Entry] = []
        for k, entry in enumerate(window):
            done.append(entry._replace(before=registers))
            registers = self._step(entry.letter, registers, entry.position, entry.time)
            until = window[k + 1].position if k + 1 < len(window) else last + 1
            registers = self._coast(registers, entry.position + 1, until, entry.time)
        return done, registers

    def _coast(self, registers: Registers, first: int, until: int, time: float) -> Registers:
        """Over the positions `first .. until-1`, none of which the formula speaks of."""
        soon = min(until, first + self.settles_within)
        late = max(soon, until - self.settles_within)
        for position in (*range(first, soon), *range(late, until)):
            registers = self._step(self.quiet, registers, position, time)
        return registers

    def _step(self, letter: Letter, registers: Registers, position: int, time: float) -> Registers:
        values = self.past.read(letter, registers, position, time)
        return self.past.after(values, letter, registers, position, time)


def open_calls(window: Iterable[Entry]) -> list[tuple[int, Letter]]:
    """The positions of the window, with their letters."""
    return [(entry.position, entry.letter) for entry in window]


def _filled(window: Window, at: int, final: Mapping[int, bool]) -> Window:
    return tuple(
        entry._replace(
            letter=tuple(
                final.get(i, value) if value is OPEN else value
                for i, value in enumerate(entry.letter)
            )
        )
        if entry.position == at
        else entry
        for entry in window
    )


def _recalled(program: Program) -> tuple[int, ...]:
    """The slots of status atoms that stand under a past operator."""
    found: set[int] = set()
    under: set[int] = set()
    for i in reversed(range(len(program.nodes))):
        op = program.nodes[i]
        if op[0] in PAST or op[0] in STATEFUL or i in under:
            under.update(operands(op))
        if i in under and op[0] in ("lit", "value") and program.slots[op[1]].waits:
            found.add(op[1])
    return tuple(sorted(found))


# --- how calls in flight may settle --------------------------------------------------------------


def open_positions(
    joint: Iterable[Residual], window: Iterable[tuple[int, Letter]]
) -> dict[int, list[int]]:
    """The positions of calls in flight, each with its open slots."""
    found: dict[int, set[int]] = {}
    for literal in literals_of(joint):
        if literal[0] == "D":
            found.setdefault(literal[1], set()).add(literal[2])
    for position, letter in window:
        waiting = {i for i, value in enumerate(letter) if value is OPEN}
        if waiting:
            found.setdefault(position, set()).update(waiting)
    return {position: sorted(slots) for position, slots in sorted(found.items())}


Ending: TypeAlias = Mapping[int, tuple[dict[int, bool], bool]]


def endings(slots: Any, flying: Mapping[int, list[int]]) -> Iterator[Ending] | None:
    """Every way in which the calls in flight may settle; None if there are too many."""
    options = [settlements(slots, open_slots) for open_slots in flying.values()]
    total = 1
    for each in options:
        total *= len(each)
    if total > WAYS_CAP:
        return None
    return (
        dict(zip(flying, combination, strict=True)) for combination in itertools.product(*options)
    )


def settled_ways(slots: Any, owed: Owed, flying: Mapping[int, list[int]]) -> set[Owed] | None:
    """What is left of what is owed, for each way in which these calls may settle."""
    lefts = {owed}
    for at, open_slots in flying.items():
        finals = [final for final, late in settlements(slots, open_slots) if not late]
        lefts = {
            conjunction(settle(each, at, final) for each in left)
            for left in lefts
            for final in finals
        }
        if len(lefts) > WAYS_CAP:
            return None
    return lefts


def _fates(slots: Any, entry: Entry, owed: Iterable[int]) -> list[Fate]:
    """How a call may settle: what is read of it then, by when, and what it settles."""
    unread = (i for i, value in enumerate(entry.letter) if value is OPEN)
    open_slots = sorted({*unread, *owed})
    if not open_slots:
        return [(entry.letter, {})]
    found: dict[Any, Fate] = {}
    for final, late in settlements(slots, open_slots):
        known = {} if late else final
        letter = tuple(
            known.get(i, value) if value is OPEN else value for i, value in enumerate(entry.letter)
        )
        found[letter, tuple(final.items())] = (letter, final)
    return list(found.values())


def _clocked(op: Any) -> bool:
    """Whether the node remembers when, or how often."""
    return op[0] in STATEFUL or (op[0] in ("O", "H") and op[2] is not None)


def settle(residual: Residual, position: int, final: Mapping[int, bool]) -> Residual:
    """The residual once the call at `position` has settled so."""

    def value(literal: Any) -> Residual:
        if literal[0] != "D" or literal[1] != position or literal[2] not in final:
            return one(literal)
        return YES if final[literal[2]] is literal[3] else NO

    return mapped(residual, value)
