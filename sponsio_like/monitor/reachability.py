"""Searches for a continuation that makes a formula true, or false: the source of exact verdicts.

In: what is owed and the registers. Out: yes or no, by breadth-first search over abstract states;
where much is owed, the obligations are first met one after another, the most urgent one first.
Answers are cached for all sessions. A budget bounds each search; beyond it the answer is
"possible": a verdict may then be late, never wrong.
"""

from __future__ import annotations

import functools
import math
import typing
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from sponsio_like.logic.formula import Seconds, Steps
from sponsio_like.monitor.abstraction import abstract, abstracted
from sponsio_like.monitor.alphabet import letters, quiet
from sponsio_like.monitor.past import Letter, Past, Registers
from sponsio_like.monitor.program import PAST, Program
from sponsio_like.monitor.progression import Position, Progression, timeless
from sponsio_like.monitor.residual import (
    NO,
    Literal,
    Residual,
    conjunction,
    entails,
    holds_at_end,
    literals_of,
    mapped,
    one,
    shifted,
)

Goal: TypeAlias = typing.Literal["kind", "harsh"]
"""`kind`: look for a continuation that satisfies. `harsh`: for one that violates."""
Joint: TypeAlias = frozenset[Residual]
Place: TypeAlias = tuple[Joint, Registers]

BUDGET = 4_000
"""Most transitions that one search at run time takes."""
TIRED = 100
"""Most that it takes where one from a place with other bounds has ended without an answer."""
NODES_FREE = 50
"""A transition costs one more for each so many nodes of the formula."""
PARTS_FREE = 16
"""A transition costs one more for each so many comparisons of alternatives."""
LITERALS_FREE = 4
"""A transition costs one more for each so many literals."""
MANY = 2
"""From so many residuals on they are met one after another before all continuations are tried."""
IN_TURN = 80
"""Most transitions that this takes."""
HORIZON = 16
"""A bound farther away is at first taken for this one (`F`), or for one without end (`G`)."""
FOREVER = 1 << 40
"""The bound of a `G` without end."""
PLACES_CAP = 64
"""Most places at one distance that are compared with each other."""
MEMO_CAP = 4_000
"""Most answers remembered for one formula."""
FAR = 1 << 31
"""The distance of a goal that the search has neither found nor excluded."""

NONE: Joint = frozenset({NO})


class Search:
    """The search over one program. `always`: the roots owed at every position.

    `limited`: some answer was not exact, for want of budget or letters; `complete`: no letter was
    left out.
    """

    def __init__(
        self,
        program: Program,
        past: Past,
        future: Progression,
        always: Sequence[Sequence[int]],
        tools: Iterable[str] | None = None,
    ) -> None:
        self.slots = tuple(program.slots)
        self.waiting = frozenset(i for i, slot in enumerate(self.slots) if slot.waits)
        self.future = future
        self.always = always
        self.abstract = abstract(program, past)
        self.tools = None if tools is None else tuple(tools)
        self.limited = False
        self.complete = True
        self.quiet_letter = quiet(program.slots)
        self.settles_within = settles_within(program)
        self._memo: dict[Any, int | None] = {}
        self._tired: set[Any] = set()
        self._helped: dict[frozenset[int], int] = {}

    @functools.cached_property
    def letters(self) -> list[Letter]:
        """Every letter that one more position could be."""
        found, self.complete = letters(self.slots, self.abstract.free, self.tools)
        self.limited = self.limited or not self.complete
        both = self.abstract.contrary
        return [each for each in found if not any(each[one] and each[other] for one, other in both)]

    @functools.cached_property
    def _quiet_letters(self) -> list[Letter]:
        """The letters of a call that no contract names."""
        count = len(self.quiet_letter)
        return [each for each in self.letters if each[:count] == self.quiet_letter]

    # --- questions ----------------------------------------------------------------------------

    def reachable(
        self, goal: Goal, joint: Joint, registers: Registers, at: int, *, more: bool
    ) -> bool:
        """True if some continuation reaches `goal`, or if none was found within the budget.

        No call may be in flight.
        """
        return self.distance(goal, joint, registers, at, more=more) is not None

    def reachable_later(self, goal: Goal, joint: Joint, registers: Registers) -> bool:
        """True if `goal` can be reached from the start, after at least one position."""
        start = (self._timeless(joint, goal, -1), self.registers(registers, -1))
        return self._search(goal, start, True, BUDGET) is not None

    def probed(self, joint: Joint, registers: Registers) -> bool:
        """True if searches from every place after the first position end within their budgets."""
        start = (self._timeless(joint, "kind", -1), self.registers(registers, -1))
        budget, firsts = BUDGET, dict[Place, None]()
        for place in self.successors(start, "kind", True):
            budget -= self._trouble(place[0])
            if budget < 0:
                return False
            firsts[place] = None
        for place in firsts:
            if not self.limited and place[0] != NONE and not self._met(place[0], "kind"):
                key = ("kind", place, True)
                if key not in self._memo:
                    self._remember(key, self._search("kind", place, True, BUDGET))
        return not self.limited

    def distance(
        self, goal: Goal, joint: Joint, registers: Registers, at: int, *, more: bool
    ) -> int | None:
        """Return after how many further positions `goal` can be reached; None: never.

        At the earliest, where little is owed; else of the first continuation that was found. `at`:
        the last position; `more`: later positions owe `always` as well. `FAR` if the budget ended.
        """
        place = (self._timeless(joint, goal, at), self.registers(registers, at))
        if self._met(place[0], goal):
            return 0
        if not place[0] and not (more and self.always):
            return None  # nothing is owed, so nothing can be broken
        key = (goal, place, more)
        if key not in self._memo:
            self._remember(key, self._distance(goal, place, more))
        return self._memo[key]

    def _distance(self, goal: Goal, place: Place, more: bool) -> int | None:
        """Return the distance from an abstract place in which the goal is not met."""
        firm = (frozenset(map(_firm, place[0])), place[1])
        places = [place] if goal == "harsh" or firm == place else [firm, place]
        known = self._memo.get((goal, firm, more)) if len(places) == 2 else None
        if known is not None:
            return known
        if goal == "kind" and len(place[0]) >= MANY:
            for each in places:
                far = self._in_turn(each, more)
                if far is not None:
                    self._remember((goal, each, more), far)
                    return far
        for each in places:
            key = (goal, each, more)
            far = self._memo[key] if key in self._memo else self._searched(goal, each, more)
            self._remember(key, far)
            if far is not None:
                return far
        return None

    def _searched(self, goal: Goal, place: Place, more: bool) -> int | None:
        """Search; with a small budget for what satisfies, where a large one has ended for the like.

        What violates is asked for verdicts alone, by no decision.
        """
        like = (more, frozenset(each[:2] for each in literals_of(place[0])))
        tired = goal == "kind" and like in self._tired
        far = self._search(goal, place, more, TIRED if tired else BUDGET)
        if far == FAR and goal == "kind":
            if len(self._tired) >= MEMO_CAP:
                self._tired.clear()
            self._tired.add(like)
        return far

    def dead_end(self, joint: Joint, registers: Registers, cap: int) -> int | None:
        """Return after how many steps a place is reached that breaks nothing, and that nothing
        continues well.

        0 if there is none; None if that is not known after `cap` places.
        """
        start = (self._timeless(joint, "kind", -1), self.registers(registers, -1))
        seen, frontier, steps = {start}, [start], 0
        while frontier:
            following: list[Place] = []
            steps += 1
            for place in frontier:
                for reached in self.successors(place, "kind", True):
                    if reached[0] == NONE or reached in seen:
                        continue
                    if len(seen) >= cap:
                        return None
                    seen.add(reached)
                    if self._far(reached) is None:
                        return steps
                    following.append(reached)
            frontier = following
        return None if self.limited else 0

    def _far(self, place: Place) -> int | None:
        """Return the distance of what satisfies, from an abstract place; None: never."""
        if self._met(place[0], "kind"):
            return 0
        key = ("kind", place, True)
        if key not in self._memo:
            self._remember(key, self._search("kind", place, True, BUDGET))
        return self._memo[key]

    def registers(self, real: Registers, at: int) -> Registers:
        """Return the abstract registers of real ones, relative to position `at`."""
        out = []
        for source, bound in zip(self.abstract.source, self.abstract.bounds, strict=True):
            out.append(abstracted(real[source], bound, at))
        return tuple(out)

    # --- searching ----------------------------------------------------------------------------

    def _remember(self, key: Any, answer: int | None) -> None:
        if len(self._memo) >= MEMO_CAP:
            self._memo.clear()
        self._memo[key] = answer

    def _timeless(self, joint: Joint, goal: Goal, at: int) -> Joint:
        def value(literal: Any) -> Residual:
            match literal[0]:
                case "f" | "g":
                    return timeless(literal, goal)
                case "F" | "G":
                    return one((literal[0], literal[1], literal[2] - at))
            return one(literal)

        return _conjunction(mapped(residual, value) for residual in joint)

    @staticmethod
    def _met(joint: Joint, goal: Goal) -> bool:
        holds = all(holds_at_end(residual) for residual in joint)
        return holds if goal == "kind" else not holds

    def _in_turn(self, place: Place, more: bool) -> int | None:
        """Return the length of a continuation that meets one residual after another; None if this
        finds none.
        """
        length, budget = 0, IN_TURN
        while not self._met(place[0], "kind"):
            urgent = min((each for each in place[0] if not holds_at_end(each)), key=_urgency)
            about = frozenset(literal[1] for term in urgent for literal in term)
            first, count = self._helped.get(about, 0), len(self.letters)
            for i in (first, *range(first), *range(first + 1, count)):
                budget -= self._trouble(place[0])
                reached = self._after(place, self.letters[i], "kind", more)
                if _is_closer(reached[0], place[0], about):
                    self._helped[about] = i
                    place, length = reached, length + 1
                    break
            else:
                waited = self._waited(place, more)
                if waited is None:
                    return None
                place, length = waited[0], length + waited[1]
            if budget < 0:
                return None
        return length

    def _waited(self, place: Place, more: bool) -> tuple[Place, int] | None:
        """Return the place when the first `G` has run out, and after how many positions; None if
        something else changes until then.
        """
        bounds = [each for each in literals_of(place[0]) if each[0] in "FG"]
        if not bounds:
            return None
        first = min(bounds, key=lambda each: each[2])
        if first[0] == "F" or first[2] >= FOREVER:
            return None
        unchanged = (shifted(place[0], 1), place[1])
        for quiet_one in self._quiet_letters:
            if self._after(place, quiet_one, "kind", more) == unchanged:
                last = (shifted(place[0], first[2] - 1), place[1])
                return self._after(last, quiet_one, "kind", more), first[2]
        return None

    def _search(self, goal: Goal, start: Place, more: bool, budget: int) -> int | None:
        seen = {start}
        frontier = [start]
        length = 0
        while frontier:
            length += 1
            following: list[Place] = []
            for place in frontier:
                for reached in self.successors(place, goal, more):
                    budget -= self._trouble(reached[0])
                    if self._met(reached[0], goal):
                        return length
                    if reached not in seen and reached[0] != NONE:
                        seen.add(reached)
                        following.append(reached)
                if budget < 0:
                    self.limited = True
                    return FAR
            frontier = _foremost(following, frontier, goal)
        if not self.complete:
            return FAR  # a letter that was left out might reach it
        for place in seen:
            self._remember((goal, place, more), None)
        return None

    def _trouble(self, joint: Joint) -> int:
        """Return the cost of a transition: each part of what is owed is compared with each other
        part.
        """
        parts = sum(map(len, joint))
        literals = sum(len(term) for residual in joint for term in residual)
        nodes = len(self.future.nodes)
        return 1 + nodes // NODES_FREE + parts * parts // PARTS_FREE + literals // LITERALS_FREE

    def successors(self, place: Place, goal: Goal, more: bool) -> Iterator[Place]:
        """Yield the place one position later, for every letter."""
        for letter in self.letters:
            yield self._after(place, letter, goal, more)

    def _after(self, place: Place, letter: Letter, goal: Goal, more: bool) -> Place:
        """Return the place one position later, where that position is this letter."""
        joint, registers = place
        past = self.abstract.past
        seen = past.read(self._undecided(letter), registers, 1, 0.0)
        owed = self._owed(joint, Position(letter, seen, 1, 0.0, goal), more)
        if owed == NONE:
            return NONE, ()
        values = past.read(letter, registers, 1, 0.0)
        after = past.after(values, letter, registers, 1, 0.0)
        return self._timeless(owed, goal, 1), self._shifted(after)

    def _undecided(self, letter: Letter) -> Letter:
        """Return the letter at the time of the decision, when the call has not settled."""
        if not self.waiting:
            return letter
        return tuple([i not in self.waiting and value for i, value in enumerate(letter)])

    def _owed(self, joint: Joint, at: Position, more: bool) -> Joint:
        known: dict[int, Residual] = {}
        parts = [self.future.progress(residual, at, known) for residual in joint]
        if more:
            parts.extend(self.future.owed(root, at) for roots in self.always for root in roots)
        return _conjunction(parts)

    def _shifted(self, registers: Registers) -> Registers:
        out = []
        for value, bound in zip(registers, self.abstract.bounds, strict=True):
            timed = bound is not None and isinstance(bound[1], Seconds)
            out.append(value if timed else abstracted(value, bound, 1))
        return tuple(out)


def _firm(residual: Residual) -> Residual:
    """Return a residual that implies this one, the same for all bounds that are far away."""

    def value(literal: Literal) -> Residual:
        match literal:
            case ("F", node, due) if due > HORIZON:
                return one(("F", node, HORIZON))
            case ("G", node, due) if due > HORIZON:
                return one(("G", node, FOREVER))
        return one(literal)

    return mapped(residual, value)


def _urgency(residual: Residual) -> float:
    """Return the first bound of a residual that must be met by then; infinite if it has none."""
    return min((each[2] for term in residual for each in term if each[0] == "F"), default=math.inf)


def _is_closer(reached: Joint, before: Joint, about: frozenset[int]) -> bool:
    """True if nothing about these nodes is owed any more, and less in all."""
    if reached == NONE or len(reached) > len(before):
        return False
    return not any(literal[1] in about for each in reached for term in each for literal in term)


def _foremost(places: list[Place], before: list[Place], goal: Goal) -> list[Place]:
    """Return the places without those from which no goal is reached sooner than from another.

    Of two places with equal registers, the one that owes less is satisfied first; the one that owes
    more is violated first. The places `before`, one position earlier, count as others.
    """
    if len(places) > PLACES_CAP:
        return places
    kept: list[Place] = []
    for place in places:
        if not any(_ahead(each, place, goal) for each in (*kept, *before[:PLACES_CAP])):
            kept = [each for each in kept if not _ahead(place, each, goal)]
            kept.append(place)
    return kept


def _ahead(one: Place, other: Place, goal: Goal) -> bool:
    weak, strong = (one, other) if goal == "kind" else (other, one)
    return one[1] == other[1] and all(
        any(entails(stronger, weaker) for stronger in strong[0]) for weaker in weak[0]
    )


def settles_within(program: Program) -> int:
    """Return after how many positions that no contract speaks of registers no longer change."""
    bounds = [op[2].count for op in program.nodes if op[0] in "OH" and isinstance(op[2], Steps)]
    depth = sum(op[0] in PAST for op in program.nodes)
    return depth + sum(bounds) + 1


def _conjunction(residuals: Iterable[Residual]) -> Joint:
    each = conjunction(residuals)
    return NONE if NO in each else each
