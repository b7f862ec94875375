"""Steps one formula through positions: (State, letter) -> Step(State, violated).

A monitor keeps no trace: registers hold its past, residuals its future, and branches what the past
is for each result that calls in flight may have. States are immutable. A caller asks by stepping
and throwing the step away, and commits by keeping it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from sponsio_like.events import MISSING
from sponsio_like.logic import Decomposition
from sponsio_like.logic.formula import Const
from sponsio_like.monitor.branches import OFTEN, SLOTS_CAP, SOURCE_CAP, Branches, End
from sponsio_like.monitor.in_flight import (
    WaitingResiduals,
    best_results,
    open_positions,
    settle_residual,
    settled_ways,
    without_results,
)
from sponsio_like.monitor.owed import (
    Group,
    Instance,
    is_bounded,
    owing,
    times_due,
    waiting_for,
)
from sponsio_like.monitor.past import Letter, Registers, compare_nodes, compile_past
from sponsio_like.monitor.past_source import Stepped, compiled_step
from sponsio_like.monitor.program import Program, Slot, bounded_steps
from sponsio_like.monitor.progression import Position, Progression
from sponsio_like.monitor.reachability import FAR, Search
from sponsio_like.monitor.residual import (
    BOUNDED,
    NO,
    YES,
    Residual,
    at_the_end,
    conjunction,
    holds_at_end,
    literals_of,
    mapped,
    one,
    rank,
    renumbered,
)
from sponsio_like.monitor.successors import Goal
from sponsio_like.monitor.trees import Trees, branching

Verdict: TypeAlias = Literal["violated", "satisfied", "inconclusive"]
IDLE_CAP = 256
"""Most letters of which a monitor remembers that they leave a state as it is that owes nothing."""


class State(NamedTuple):
    """All that a monitor remembers between two positions: small, immutable, hashable.

    `live`: the instances that still owe something; `branches`: the registers for each way in which
    calls in flight may settle; `lost`: the live instances can no longer be kept together.
    """

    registers: Registers
    live: frozenset[Instance]
    branches: Trees = ()
    lost: bool = False


class MonitorStep(NamedTuple):
    """A state; `violated`: reaching it violates the formula."""

    state: State
    violated: bool


class Monitor:
    """One compiled formula. Sessions share it: its methods take states and return new ones.

    `always`: the nodes owed at every position; `rest`: the other nodes; `plain`: nothing is ever
    owed to later positions or results; `counts_steps`: a past operator has a bound in steps.
    """

    def __init__(
        self, program: Program, reading: Decomposition, tools: Iterable[str] | None = None
    ) -> None:
        self.program = program
        self.always = tuple(tuple(program.add(part) for part in parts) for parts in reading.always)
        self.rest = tuple(program.add(part) for part in reading.rest)
        program.share_registers()
        self.past = compile_past(program)
        self.future = Progression(program)
        self.plain = not self.rest and not any(
            self._owing(root) for roots in self.always for root in roots
        )
        self.counts_steps = any(bounded_steps(op) is not None for op in program.nodes)
        self.search = Search(program, self.past, self.future, self.always, self.rest, tools)
        self.branches = Branches(program, self.past)
        atoms = all(each.kind == "atom" for each in program.slots)
        self._may_idle = atoms and not (self.plain or self.past.cells)
        self._forget()

    def _forget(self) -> None:
        """Begin without anything that was asked before."""
        self.asked: dict[Any, Any] = {}  # answers about it that are remembered elsewhere
        self._asked = 0
        self._compiled: Stepped | None = None
        self._idle: set[Letter] = set()

    def over(self, slots: list[Slot]) -> Monitor:
        """Return the monitor of the same formula over other slots.

        They stand for calls and values that are alike, or different, as those of this one are.
        """
        twin = object.__new__(Monitor)
        twin.__dict__.update(self.__dict__)
        twin.program = self.program.over(slots)
        twin.branches = self.branches.over(twin.program)
        twin._forget()
        return twin

    def _owing(self, root: int) -> bool:
        """True if `root` can owe anything to later positions or results."""
        return self.future.ahead[root] or self.future.waits[root]

    @property
    def start(self) -> State:
        """The state before the first position."""
        held = _holds_on_nothing(self.program) if self.rest else []
        first = frozenset(one(("W" if held[root] else "X", root)) for root in self.rest)
        return State(self.past.start, frozenset({first} if first else ()))

    # --- positions ----------------------------------------------------------------------------

    def step(self, state: State, letter: Letter, position: int, time: float) -> MonitorStep:
        """Return the state after this position; violated if no continuation keeps the formula any
        more.

        `time`: in seconds.
        """
        if self.plain and (self._compiled is not None or self._is_often_asked()):
            assert self._compiled is not None
            bad, after = self._compiled(letter, state.registers, position, time)
            pair = (state.registers, after)
            trees = self.branches.after(state.branches, pair, letter, position, time)
            return MonitorStep(State(after, state.live, trees), bad)
        idle = self._may_idle and not (state.live or state.lost)
        if idle and letter in self._idle:
            return MonitorStep(state, False)
        values = self.past.read(letter, state.registers, position, time)
        after = self.past.after(values, letter, state.registers, position, time)
        pair = (state.registers, after)
        trees = self.branches.after(state.branches, pair, letter, position, time)
        if self.plain:
            bad = not all(values[root] for roots in self.always for root in roots)
            return MonitorStep(State(after, state.live, trees), bad)
        at = Position(letter, values, position, time)
        step = self._judge(state, self._next(state, at), after, trees, position)
        if idle and not step.violated and step.state == state and len(self._idle) < IDLE_CAP:
            self._idle.add(letter)
        return step

    def _is_often_asked(self) -> bool:
        """Compile the step once it has been asked for a few times; true from then on."""
        self._asked += 1
        if self._asked < OFTEN or len(self.program.nodes) > SOURCE_CAP:
            return False
        roots = [root for roots in self.always for root in roots]
        self._compiled = compiled_step(self.program, self.past, roots)
        return True

    def owes_other(self, state: State, letter: Letter, position: int, time: float) -> bool:
        """True if this position leaves something else to be owed than what is owed before it.

        Whether that can be kept is not asked, which is much less work than a step. True as well if
        a bound in steps is owed, and no way to keep it is known: then no position may be skipped.
        """
        if self.plain:
            return False
        if is_bounded(state.live) and self.ahead(state, position - 1) == FAR:
            return True
        values = self.past.read(letter, state.registers, position, time)
        owed = self._next(state, Position(letter, values, position, time))
        return {each for each in owed if each} != state.live

    def _next(self, state: State, at: Position) -> list[Instance]:
        known: dict[int, Residual] = {}
        owed, progress, found = self.future.owed, self.future.progress, owing(state.live)
        left: list[Instance] = []
        for group in found.groups:
            left += self._left_of(group, at, known)
        for each in found.others:
            left.append(conjunction(progress(r, at, known) for r in each))
        return left + [conjunction(owed(root, at) for root in roots) for roots in self.always]

    def _left_of(
        self, group: Group, at: Position, known: dict[int, Residual]
    ) -> Iterable[Instance]:
        """Return what a position leaves of instances that are alike but for their bounds."""
        if self.future.passes(group.literals, at, known):
            return group.instances
        if group.only and group.only[0] in BOUNDED:
            ended = self.future.ends(group.only, at, known)
            if ended is not None:
                return [conjunction([ended])]
        progress = self.future.progress
        each = [residual for instance in group.instances for residual in instance]
        return [conjunction([progress(residual, at, known)]) for residual in each]

    def _judge(
        self,
        old: State,
        instances: list[Instance],
        registers: Registers,
        trees: Trees,
        position: int,
    ) -> MonitorStep:
        """Return the state without the instances that no continuation keeps; violated if there are
        any.

        It is violated, too, when the instances left can no longer be kept together and could
        before.
        """
        owed = [each for each in instances if each]
        all_live = frozenset(owed)
        joint = _joint(all_live, old.live)
        if owed and self._is_near(joint, registers, trees, position):
            return MonitorStep(State(registers, all_live, trees), False)
        if len(owed) > 1:
            owed.sort(key=rank)  # what is asked first may spend the budget of what is asked later
        live = frozenset(
            each
            for each in owed
            if self._possible("satisfy", each, registers, trees, position, more=False)
        )
        dead = len(live) < len(all_live)
        lost = not self._possible("satisfy", _joint(live), registers, trees, position, more=True)
        bad = dead or (lost and not old.lost)
        return MonitorStep(State(registers, live, trees, lost), bad)

    # --- results, time, the end ---------------------------------------------------------------

    def settle(
        self, state: State, settled: int, final: Mapping[int, bool], position: int
    ) -> MonitorStep:
        """Return the state once the call at position `settled` has its result.

        `final`: the truth of its slots, by number; `position`: the last position.
        """
        if self.plain and not state.branches:
            return MonitorStep(state, False)
        trees, registers = self.branches.settled(state.branches, state.registers, settled, final)
        if self.plain:
            return MonitorStep(state._replace(registers=registers, branches=trees), False)
        waiting, others = waiting_for(state.live, settled)
        instances = [conjunction(settle_residual(r, settled, final) for r in e) for e in waiting]
        return self._judge(state, others + instances, registers, trees, position)

    def expire(self, state: State, position: int, time: float) -> MonitorStep:
        """Return the state at `time`. Of what was due before, `F` has failed and `G` is kept."""
        if min(times_due(state.live), default=time) >= time:
            return MonitorStep(state, False)
        each_literal = (lit for each in state.live for lit in literals_of(each))
        due = {lit for lit in each_literal if lit[0] in "fg" and lit[2] < time}

        def value(literal: tuple[object, ...]) -> Residual:
            return one(literal) if literal not in due else NO if literal[0] == "f" else YES

        instances = [conjunction(mapped(r, value) for r in each) for each in state.live]
        return self._judge(state, instances, state.registers, state.branches, position)

    def open_ends(self, live: Iterable[Instance]) -> list[Instance]:
        """Return the instances that would be unfulfilled if the session ended now."""
        found, known = owing(frozenset(live)), dict[Instance, bool]()
        left = [each for each in found.others if not self._ends_as(each, known)]
        for group in found.groups:  # at the end no bound matters
            left += () if self._ends_as(group.instances[0], known) else group.instances
        return left

    def _ends_as(self, instance: Instance, known: dict[Instance, bool]) -> bool:
        """Return `_ends_well`, known of instances that wait for another call in the same way."""
        calls = sorted({each[1] for each in literals_of(instance) if each[0] == "D"})
        alike = renumbered(instance, {at: i for i, at in enumerate(calls)}) if calls else instance
        if alike not in known:
            known[alike] = self._ends_well(instance)
        return known[alike]

    def closed(self, state: State) -> tuple[frozenset[Instance], bool]:
        """Return what results of calls in flight may still decide if no position follows.

        And True if an instance is violated by that.
        """
        owed = [conjunction(at_the_end(residual) for residual in each) for each in state.live]
        return self._left(owed, lost=state.lost)

    def settled(
        self, hanging: frozenset[Instance], at: int, final: Mapping[int, bool]
    ) -> tuple[frozenset[Instance], bool]:
        """Return the same as `closed` after one more result, that of the call at position `at`."""
        owed = [
            conjunction(settle_residual(residual, at, final) for residual in each)
            for each in hanging
        ]
        return self._left(owed, lost=not self._may_end_well(_joint(hanging)))

    def _left(self, owed: list[Instance], *, lost: bool) -> tuple[frozenset[Instance], bool]:
        left = frozenset(each for each in owed if each and self._may_end_well(each))
        dead = len(left) < len({each for each in owed if each})
        return left, dead or (not lost and not self._may_end_well(_joint(left)))

    def _may_end_well(self, instance: Instance) -> bool:
        """True if the instance holds at the end for some results of the calls in flight."""
        lefts = settled_ways(self.program.slots, instance, open_positions(instance))
        return lefts is None or any(not left for left in lefts)

    def _ends_well(self, instance: Instance) -> bool:
        """True if the instance holds at the end for all results of the calls in flight."""
        lefts = settled_ways(self.program.slots, instance, open_positions(instance))
        return lefts is not None and all(holds_at_end(r) for left in lefts for r in left)

    def ahead(self, state: State, position: int) -> int:
        """Return the least number of further positions that keeps all that is owed.

        `FAR` if a call is in flight, or if the search found no such number.
        """
        each = state.live if state.lost else [_joint(state.live)]
        if state.branches or any(map(open_positions, each)):
            return FAR
        found = [
            self.search.distance("satisfy", owed, state.registers, position, more=not state.lost)
            for owed in each
        ]
        return max((FAR if far is None else far for far in found), default=0)

    def possible(self, owed: Instance, state: State, position: int) -> bool:
        """True if some continuation keeps `owed`."""
        return self._possible(
            "satisfy", owed, state.registers, state.branches, position, more=False
        )

    def verdict(self, state: State, position: int) -> Verdict:
        """Return `satisfied` if no continuation can violate the formula, else `inconclusive`.

        That a formula is violated is remembered by the clause, not here.
        """
        free = self._possible(
            "violate", _joint(state.live), state.registers, state.branches, position, more=True
        )
        return "inconclusive" if free else "satisfied"

    # --- calls in flight ----------------------------------------------------------------------

    def _possible(
        self,
        goal: Goal,
        joint: Iterable[Residual],
        registers: Registers,
        trees: Trees,
        position: int,
        *,
        more: bool,
    ) -> bool:
        """True if a continuation reaches `goal` for some results of the calls in flight.

        True as well if there are too many of these results to try.
        """
        owed = frozenset(joint)
        if NO in owed:
            return goal == "violate"
        if self.plain and not owed and goal == "satisfy":
            return True
        if not trees and not open_positions(owed):
            return self.search.reachable(goal, owed, registers, position, more=more)
        if any(
            self.search.reachable(goal, left, now, position, more=more)
            for now, left in self._some_ends(owed, registers, trees)
        ):
            return True
        found = self.branches.ends(trees, registers, owed)
        if found is None:
            self.search.limited = True
            return True
        return any(
            self.search.reachable(goal, left, registers, position, more=more)
            for registers, left in sorted(found, key=lambda each: len(each[1]))
        )

    def _is_near(self, owed: Instance, registers: Registers, trees: Trees, position: int) -> bool:
        """True if for some results of the calls in flight a continuation is soon found that keeps
        all that is owed, now and at every later position.
        """
        if NO in owed:
            return False
        if not trees and not open_positions(owed):
            return self.search.is_near(owed, registers, position)
        certain = frozenset({NO}) if trees else without_results(owed)
        if NO not in certain and self.search.is_near(certain, registers, position):
            return True
        return any(
            NO not in left and self.search.is_near(left, now, position)
            for now, left in self._some_ends(owed, registers, trees)
        )

    def _some_ends(self, owed: Instance, registers: Registers, trees: Trees) -> Iterator[End]:
        """Yield two of the ends of `Branches`: those with the first, and with the last, of the
        results that help what is owed most. None where results have values that are remembered.
        """
        flying, waiting = branching(trees), open_positions(owed)
        if flying and any(group.outputs for group in self.branches.groups):
            return
        asked: dict[Any, list[dict[int, bool]]] = {}
        for which in (0, -1):
            finals, left = dict[int, dict[int, bool]](), WaitingResiduals(owed)
            for at in sorted({*flying, *waiting}):
                slots = sorted({*flying.get(at, ()), *waiting.get(at, ())})
                if len(slots) > SLOTS_CAP:
                    return
                key = tuple(slots), left.wanted(at)
                best = asked.get(key) or best_results(self.program.slots, slots, key[1])
                asked[key] = best
                finals[at] = best[which]
                left.settle(at, best[which])
            yield self.branches.end(trees, registers, finals), left.rest()


def overall(verdicts: set[Verdict]) -> Verdict:
    """Return the verdict of a conjunction whose parts have these verdicts."""
    if "violated" in verdicts:
        return "violated"
    return "satisfied" if verdicts == {"satisfied"} else "inconclusive"


def _joint(
    live: Iterable[Instance], before: frozenset[Instance] = frozenset()
) -> frozenset[Residual]:
    return owing(frozenset(live), before).joint


def _holds_on_nothing(program: Program) -> list[Any]:
    """Return for each node if it holds on the empty trace, and for each term its value there."""
    known: list[Any] = []
    for op in program.nodes:
        match op:
            case ("count" | "sum" | "repeats", *_):
                known.append(0)
            case ("since" | "age", *_):
                known.append(math.inf)
            case ("last", *_):
                known.append(MISSING)
            case ("elapsed", *_):
                known.append(math.inf)
            case ("value", slot):
                constant = program.slots[slot].node
                known.append(constant.value if isinstance(constant, Const) else MISSING)
            case ("cmp", left, name, right, (negated, bad)):
                known.append(compare_nodes(left, name, right, negated, bad)(known, (), (), 0, 0.0))
            case ("and", *parts):
                known.append(all(known[k] for k in parts))
            case ("or", *parts):
                known.append(any(known[k] for k in parts))
            case ("lit", _, negated):
                known.append(negated)
            case _:
                known.append(op[0] in ("true", "WX", "G", "R", "WY", "WYH", "H", "T"))
    return known
