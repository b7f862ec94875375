"""Watch one formula, one position at a time.

Flow: (State, letter) -> Step(State, what broke). A monitor never looks back: registers are its past, what
is owed is its future, and calls in flight wait in a window. States are immutable: to ask is to step and
to throw the step away; to commit is to keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from sponsio_like.atoms import OPEN
from sponsio_like.future import Future, Position
from sponsio_like.past import Letter, Registers, compile_past
from sponsio_like.program import PAST, STATEFUL, Program, operands
from sponsio_like.reading import Reading
from sponsio_like.residual import (
    NO,
    YES,
    Residual,
    holds_at_end,
    literals_of,
    mapped,
    one,
    strictest,
)
from sponsio_like.search import Goal, Search, endings, in_flight, settle

Verdict: TypeAlias = Literal["violated", "satisfied", "inconclusive"]
Instance: TypeAlias = frozenset[Residual]

WINDOW_CAP = 1_000
"""Most positions remembered because an earlier call is still in flight."""


class Entry(NamedTuple):
    """A position that a late result may still change for the past operators after it."""

    position: int
    time: float
    before: Registers
    letter: Letter


class State(NamedTuple):
    """All that a monitor remembers. Small, immutable, hashable.

    `live`: the instances that still owe something. `lost`: together they cannot be kept any more.
    `broken`: a violation was let through; the verdict has latched.
    """

    registers: Registers
    live: frozenset[Instance]
    window: tuple[Entry, ...] = ()
    lost: bool = False
    broken: bool = False


class Step(NamedTuple):
    """A state, and whether reaching it violates the formula now."""

    state: State
    violated: bool


class Monitor:
    """One compiled formula. Immutable and shared; every method takes a state and returns one."""

    def __init__(
        self, program: Program, reading: Reading, tools: Iterable[str] | None = None
    ) -> None:
        self.program = program
        self.always = tuple(tuple(program.add(part) for part in parts) for parts in reading.always)
        self.rest = tuple(program.add(part) for part in reading.rest)
        self.past = compile_past(program)
        self.future = Future(program)
        self.plain = not self.rest and not any(
            self._owing(root) for roots in self.always for root in roots
        )
        self.recalls = _recalled(program)
        self.search = Search(program, self.past, self.future, self.always, tools)

    def _owing(self, root: int) -> bool:
        """Whether `root` can leave anything for later positions or results."""
        return self.future.ahead[root] or self.future.waits[root]

    @property
    def start(self) -> State:
        """The state before the first position."""
        first = frozenset(
            one(("X" if not _holds_on_nothing(self.program, root) else "W", root))
            for root in self.rest
        )
        return State(self.past.start, frozenset({first} if first else ()))

    # --- positions ----------------------------------------------------------------------------

    def step(self, state: State, letter: Letter, position: int, time: float) -> Step:
        """The state after this position. Violated: no continuation keeps the formula any more."""
        values = self.past.read(letter, state.registers, position, time)
        after = self.past.after(values, letter, state.registers, position, time)
        window = self._recall(state, letter, position, time)
        if self.plain:
            bad = not all(values[root] for roots in self.always for root in roots)
            return Step(State(after, state.live, window, False, state.broken or bad), bad)
        at = Position(letter, values, position, time)
        return self._judge(state, self._next(state, at), after, window, position)

    def _next(self, state: State, at: Position) -> list[Instance]:
        known: dict[int, Residual] = {}
        owed = self.future.owed
        instances = [
            strictest(self.future.progress(r, at, known) for r in each) for each in state.live
        ]
        return instances + [strictest(owed(root, at) for root in roots) for roots in self.always]

    def _recall(
        self, state: State, letter: Letter, position: int, time: float
    ) -> tuple[Entry, ...]:
        waiting = any(letter[slot] is OPEN for slot in self.recalls)
        if not state.window and not waiting:
            return ()
        if len(state.window) >= WINDOW_CAP:
            raise WindowFull(state.window[0].position)
        return (*state.window, Entry(position, time, state.registers, letter))

    def _judge(
        self,
        old: State,
        instances: list[Instance],
        registers: Registers,
        window: tuple[Entry, ...],
        position: int,
    ) -> Step:
        """Drop the instances that are lost; see whether those left can be kept together."""
        owing = [each for each in instances if each]
        live = frozenset(
            each
            for each in owing
            if self._possible("kind", each, registers, window, position, more=False)
        )
        dead = len(live) < len(set(owing))
        lost = not self._possible("kind", _joint(live), registers, window, position, more=True)
        bad = dead or (lost and not old.lost)
        return Step(State(registers, live, window, lost, old.broken or bad), bad)

    # --- results, time, the end ---------------------------------------------------------------

    def settle(
        self, state: State, settled: int, final: Mapping[int, bool], position: int, time: float
    ) -> Step:
        """The state once the call at position `settled` has its result; `position` is the last one."""
        window, registers = self._refolded(state, settled, final, position, time)
        if self.plain:
            return Step(state._replace(registers=registers, window=window), False)
        instances = [strictest(settle(r, settled, final) for r in each) for each in state.live]
        return self._judge(state, instances, registers, window, position)

    def expire(self, state: State, position: int, time: float) -> Step:
        """The state once `time` has come: what was due before it is over."""
        due = [
            lit
            for each in state.live
            for lit in literals_of(each)
            if lit[0] in "fg" and lit[2] < time
        ]
        if not due:
            return Step(state, False)

        def value(literal: tuple[object, ...]) -> Residual:
            return one(literal) if literal not in due else NO if literal[0] == "f" else YES

        instances = [strictest(mapped(r, value) for r in each) for each in state.live]
        return self._judge(state, instances, state.registers, state.window, position)

    def open_ends(self, state: State) -> list[Instance]:
        """The instances that would be unfulfilled if the session ended now."""
        return [each for each in state.live if not self._ends_well(each)]

    def _ends_well(self, instance: Instance) -> bool:
        """Whether it holds at the end, whichever way the calls in flight are read."""
        ways = endings(self.program.slots, in_flight(instance, ()))
        if ways is None:
            return False
        return all(all(holds_at_end(r) for r in _settled(instance, way)) for way in ways)

    def verdict(self, state: State, position: int) -> Verdict:
        """Violated once broken, for ever; satisfied when no continuation can break it."""
        if state.broken:
            return "violated"
        free = self._possible(
            "harsh", _joint(state.live), state.registers, state.window, position, more=True
        )
        return "inconclusive" if free else "satisfied"

    # --- calls in flight ----------------------------------------------------------------------

    def _possible(
        self,
        goal: Goal,
        joint: Iterable[Residual],
        registers: Registers,
        window: tuple[Entry, ...],
        position: int,
        *,
        more: bool,
    ) -> bool:
        """Whether a continuation reaches `goal`, for some results of the calls in flight."""
        owed = frozenset(joint)
        if NO in owed:
            return goal == "harsh"
        if self.plain and not owed and goal == "kind":
            return True
        flying = in_flight(owed, [(entry.position, entry.letter) for entry in window])
        if not flying:
            return self.search.reachable(goal, owed, registers, position, more=more)
        ways = endings(self.program.slots, flying)
        if ways is None:
            return True
        for way in ways:
            after = self._fold(
                window, {p: {} if late else final for p, (final, late) in way.items()}, position
            )
            if self.search.reachable(
                goal, strictest(_settled(owed, way)), after or registers, position, more=more
            ):
                return True
        return False

    def _refolded(
        self, state: State, settled: int, final: Mapping[int, bool], position: int, time: float
    ) -> tuple[tuple[Entry, ...], Registers]:
        """Window and registers, with the result of the call at `settled` filled in."""
        if not any(entry.position == settled for entry in state.window):
            return state.window, state.registers
        window = _filled(state.window, settled, final)
        entries, registers = self._replay(window, position, time)
        while entries and OPEN not in entries[0].letter:
            entries.pop(0)
        return tuple(entries), registers

    def _fold(
        self, window: tuple[Entry, ...], finals: Mapping[int, Mapping[int, bool]], position: int
    ) -> Registers:
        """The registers if the calls in flight settled so; unmentioned slots stay open."""
        if not window:
            return ()
        for settled, final in finals.items():
            window = _filled(window, settled, final)
        return self._replay(window, position, window[-1].time)[1]

    def _replay(
        self, window: Iterable[Entry], position: int, time: float
    ) -> tuple[list[Entry], Registers]:
        """Step the past over the window again, quiet positions between its entries included."""
        entries = list(window)
        registers = entries[0].before
        done: list[Entry] = []
        for k, entry in enumerate(entries):
            done.append(entry._replace(before=registers))
            registers = self._past_step(entry.letter, registers, entry.position, entry.time)
            until = entries[k + 1].position if k + 1 < len(entries) else position + 1
            registers = self.coast(registers, entry.position + 1, until, entry.time)
        return done, registers

    def _past_step(
        self, letter: Letter, registers: Registers, position: int, time: float
    ) -> Registers:
        values = self.past.read(letter, registers, position, time)
        return self.past.after(values, letter, registers, position, time)

    def coast(self, registers: Registers, first: int, until: int, time: float) -> Registers:
        """The registers after the positions `first .. until-1`, none of which the formula speaks of."""
        letter = self.search.quiet_letter
        for position in range(first, min(until, first + self.search.settles_within)):
            registers = self._past_step(letter, registers, position, time)
        for position in range(
            max(first + self.search.settles_within, until - self.search.settles_within), until
        ):
            registers = self._past_step(letter, registers, position, time)
        return registers


def overall(verdicts: set[Verdict]) -> Verdict:
    """The verdict of a conjunction."""
    if "violated" in verdicts:
        return "violated"
    return "satisfied" if verdicts == {"satisfied"} else "inconclusive"


class WindowFull(Exception):
    """Too much has happened since the call at `position` went into flight."""

    def __init__(self, position: int) -> None:
        super().__init__(
            f"call at position {position} is in flight for more than {WINDOW_CAP} positions; settle it"
        )
        self.position = position


def _joint(live: Iterable[Instance]) -> frozenset[Residual]:
    return strictest(residual for instance in live for residual in instance)


def _settled(
    residuals: Iterable[Residual], way: Mapping[int, tuple[dict[int, bool], bool]]
) -> list[Residual]:
    out = list(residuals)
    for position, (final, _) in way.items():
        out = [settle(residual, position, final) for residual in out]
    return out


def _filled(
    window: tuple[Entry, ...], settled: int, final: Mapping[int, bool]
) -> tuple[Entry, ...]:
    return tuple(
        entry._replace(letter=tuple(final.get(i, value) for i, value in enumerate(entry.letter)))
        if entry.position == settled
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
        if i in under and op[0] == "lit" and program.slots[op[1]].waits:
            found.add(op[1])
    return tuple(sorted(found))


def _holds_on_nothing(program: Program, root: int) -> bool:
    """Whether `root` holds on the empty trace."""
    known: list[bool] = []
    for op in program.nodes:
        match op:
            case ("and", *parts):
                known.append(all(known[k] for k in parts))
            case ("or", *parts):
                known.append(any(known[k] for k in parts))
            case ("lit", _, negated):
                known.append(negated)
            case _:
                known.append(op[0] in ("true", "WX", "G", "R", "WY", "H", "T"))
    return known[root]
