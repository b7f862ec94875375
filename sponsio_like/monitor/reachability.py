"""Searches for a continuation that makes a formula true, or false: the source of exact verdicts.

In: what is owed and the registers. Out: yes or no, by breadth-first search over abstract states;
where much is owed, the obligations are first met one after another, the most urgent one first.
Answers are cached for all sessions. A budget bounds each search; beyond it the answer is
"possible": a verdict may then be late, never wrong.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from sponsio_like.monitor.abstraction import abstract, abstracted
from sponsio_like.monitor.alphabet import letters, unconcerned_letter
from sponsio_like.monitor.letter_values import LetterValues
from sponsio_like.monitor.past import Letter, Past, Registers
from sponsio_like.monitor.program import PAST, Program, bounded_steps
from sponsio_like.monitor.progression import Progression, timeless
from sponsio_like.monitor.residual import (
    Literal,
    Residual,
    literals_of,
    mapped,
    one,
    rank,
    shifted,
    without_bounds,
)
from sponsio_like.monitor.successors import (
    LITERALS_FREE,
    PARTS_FREE,
    Goal,
    Obligation,
    ObligationSet,
    Place,
    Successors,
)

Owed: TypeAlias = frozenset[Residual]

BUDGET = 4_000
"""Most transitions that one search at run time takes."""
CROWD = 8
"""From so many residuals on all bounds that are far away are first taken for one."""
MANY = 2
"""From so many residuals on they are met one after another before all continuations are tried."""
IN_TURN = 1_500
"""Most transitions that this takes."""
SINGLE_FREE, BOUNDED_FREE = 16, 2
"""Such a transition costs one more for so many literals that stand alone, and for so many of these
that have a bound in steps, which is another one at each position.
"""
GIVEN = 4
"""After so many transitions it goes on only if all can be met at this rate."""
HORIZON = 16
"""A bound farther away is at first taken for this one (`F`), or for one without end (`G`)."""
FOREVER = 1 << 40
"""The bound of a `G` without end."""
PLACES_CAP = 64
"""Most places at one distance that are compared with each other."""
MEMO_CAP = 4_000
"""Most answers remembered for one formula, and most places on ways that were found."""
WAYS = 4
"""Most ways, those that were found last, that are tried from the next place."""
FAR = 1 << 31
"""The distance of a goal that the search has neither found nor excluded."""


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
        rest: Sequence[int],
        tools: Iterable[str] | None = None,
    ) -> None:
        self.slots = tuple(program.slots)
        self.abstract = abstract(program, past)
        self.tools = None if tools is None else tuple(tools)
        self.limited = False
        self.complete = True
        self.unconcerned_letter = unconcerned_letter(program.slots)
        self.settles_within = settles_within(program)
        self._anew = bool(always)
        self._made = functools.partial(
            Successors, future=future, always=always, rest=rest, letters=lambda: self.letters
        )
        self._program = program
        self._successors: dict[Goal, Successors] = {}
        self._memo: dict[Any, int | None] = {}
        self._helped: dict[int, int] = {}
        self._ways: list[tuple[int, ...]] = []
        self._on_way: tuple[dict[Place, int], dict[Place, int]] = ({}, {})

    @functools.cached_property
    def letters(self) -> list[Letter]:
        """Every letter that one more position could be."""
        found, self.complete = letters(self.slots, self.abstract.free, self.tools)
        self.limited = self.limited or not self.complete
        both = self.abstract.contrary
        return [each for each in found if not any(each[one] and each[other] for one, other in both)]

    @functools.cached_property
    def _values(self) -> LetterValues:
        return LetterValues(self._program, self.slots, self.abstract, lambda: self.letters)

    @functools.cached_property
    def _unconcerned_letters(self) -> list[int]:
        """The numbers of the letters of a call that no contract names."""
        count = len(self.unconcerned_letter)
        return [k for k, each in enumerate(self.letters) if each[:count] == self.unconcerned_letter]

    # --- questions ----------------------------------------------------------------------------

    def reachable(
        self, goal: Goal, joint: Owed, registers: Registers, at: int, *, more: bool
    ) -> bool:
        """True if some continuation reaches `goal`, or if none was found within the budget.

        No call may be in flight.
        """
        return self.distance(goal, joint, registers, at, more=more) is not None

    def reachable_later(self, goal: Goal, joint: Owed, registers: Registers) -> bool:
        """True if `goal` can be reached from the start, after at least one position."""
        return self._search(goal, self._place(goal, joint, registers, -1), True, BUDGET) is not None

    def probed(self, joint: Owed, registers: Registers) -> bool:
        """True if searches from every place after the first position end within their budgets."""
        start, steps = self._place("satisfy", joint, registers, -1), self.steps("satisfy")
        budget, firsts = BUDGET, dict[Place, None]()
        for place, count in steps.following(start, more=True):
            budget -= count * place[0].trouble
            if budget < 0:
                return False
            firsts[place] = None
        for place in firsts:
            if not self.limited and place[0] is not steps.none and not place[0].met:
                key = ("satisfy", place, True)
                if key not in self._memo:
                    self._remember(key, self._search("satisfy", place, True, BUDGET))
        return not self.limited

    def distance(
        self, goal: Goal, joint: Owed, registers: Registers, at: int, *, more: bool
    ) -> int | None:
        """Return after how many further positions `goal` can be reached; None: never.

        At the earliest, if no continuation has been found before; else along the first that is
        found. `at`: the last position; `more`: later positions owe `always` as well. `FAR` if the
        budget ended.
        """
        if goal == "satisfy" and more and len(joint) >= CROWD:
            far_off = self._far_off(joint, registers, at)
            known = 0 if far_off[0].met else self._memo.get((goal, far_off, more))
            if known is not None:
                return known
        place = self._place(goal, joint, registers, at)
        if place[0].met:
            return 0
        if not place[0].parts and not (more and self._anew):
            return None  # nothing is owed, so nothing can be broken
        key = (goal, place, more)
        if key not in self._memo:
            self._remember(key, self._distance(goal, place, more))
        return self._memo[key]

    def is_near(self, joint: Owed, registers: Registers, at: int) -> bool:
        """True if a continuation that keeps `joint`, and all that later positions owe, is found
        without trying all continuations.
        """
        if len(joint) >= CROWD and self._is_near([self._far_off(joint, registers, at)]):
            return True
        return self._is_near(self._places(self._place("satisfy", joint, registers, at)))

    def _is_near(self, places: Sequence[Place]) -> bool:
        """True if such a continuation is found from the last of these places, which owes least."""
        place = places[-1]
        if place[0].met:
            return True
        key = ("satisfy", place, True)
        far = self._memo[key] if key in self._memo else self._quickly(places, True)
        if far is None or far == FAR:
            return False
        self._remember(key, far)
        return True

    def _far_off(self, joint: Owed, registers: Registers, at: int) -> Place:
        """Return what `_firm` makes of the place that stands for what is owed."""
        alike: dict[Any, Residual] = {}
        for each in joint:
            shape, bounds = without_bounds(each)
            ends = tuple([min(abs(due) - at, HORIZON + 1) for due in bounds])
            alike.setdefault(each if shape is None else (shape, ends), each)
        owed = frozenset([firm(residual, at) for residual in alike.values()])
        return self._place("satisfy", owed, registers, 0)

    def _distance(self, goal: Goal, place: Place, more: bool) -> int | None:
        """Return the distance from an abstract place in which the goal is not met."""
        places = self._places(place) if goal == "satisfy" else [place]
        known = self._memo.get((goal, places[0], more)) if len(places) == 2 else None
        if known is not None:
            return known
        far = self._quickly(places, more) if goal == "satisfy" else None
        if far is not None:
            return far
        for each in places:
            key = (goal, each, more)
            far = self._memo[key] if key in self._memo else self._search(goal, each, more, BUDGET)
            self._remember(key, far)
            if far is not None:
                return far
        return None

    def _places(self, place: Place) -> list[Place]:
        """Return the places to ask, one after the other: one that owes no less is asked first."""
        firm = self._firm(place)
        return [place] if firm == place else [firm, place]

    def _quickly(self, places: Sequence[Place], more: bool) -> int | None:
        """Return the length of a continuation that satisfies, found without trying all; else None.

        First those that were found last; then, where much is owed, one part after another.
        """
        place, known = self.steps("satisfy").apart(places[-1]), self._on_way[more]
        far = known.get(places[-1], known.get(place))
        for way in self._ways:
            far = self._followed(place, way, more) if far is None else far
        if far is not None:
            return far
        if len(place[0].parts) >= MANY:
            for each in places:
                far = self._in_turn(each, more)
                if far is not None:
                    self._remember(("satisfy", each, more), far)
                    return far
        return None

    def dead_end(self, joint: Owed, registers: Registers, cap: int) -> int | None:
        """Return after how many steps a place is reached that violates nothing yet, while every
        continuation violates.

        0 if there is none; None if that is not known after `cap` places.
        """
        start, moves = self._place("satisfy", joint, registers, -1), self.steps("satisfy")
        seen, frontier, steps = {start}, [start], 0
        while frontier:
            following: list[Place] = []
            steps += 1
            for place in frontier:
                for reached, _ in moves.following(place, more=True):
                    if reached[0] is moves.none or reached in seen:
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
        if place[0].met:
            return 0
        key = ("satisfy", place, True)
        if key not in self._memo:
            self._remember(key, self._search("satisfy", place, True, BUDGET))
        return self._memo[key]

    def registers(self, real: Registers, at: int) -> Registers:
        """Return the abstract registers of real ones, relative to position `at`."""
        pairs = zip(self.abstract.source, self.abstract.bounds, strict=True)
        return tuple([abstracted(real[source], bound, at) for source, bound in pairs])

    # --- searching ----------------------------------------------------------------------------

    def _remember(self, key: Any, answer: int | None) -> None:
        if len(self._memo) >= MEMO_CAP:
            self._memo.clear()
        self._memo[key] = answer

    def steps(self, goal: Goal) -> Successors:
        """Return the steps towards a goal, which are made when they are first asked for."""
        found = self._successors.get(goal)
        if found is None:
            found = self._successors.setdefault(goal, self._made(goal, self._values))
        return found

    def _place(self, goal: Goal, joint: Owed, registers: Registers, at: int) -> Place:
        """Return the place of the search that stands for what is owed after position `at`."""

        def value(literal: Literal) -> Residual:
            match literal[0]:
                case "f" | "g":
                    return timeless(literal, goal)
                case "F" | "G":
                    return one((literal[0], literal[1], literal[2] - at))
            return one(literal)

        owed = [mapped(residual, value) for residual in joint]
        return self.steps(goal).joint(owed), self.registers(registers, at)

    def _firm(self, place: Place) -> Place:
        """Return a place that owes at least as much, the same for all bounds that are far away."""
        joint = self.steps("satisfy").joint(map(firm, _residuals(place[0])))
        return place if joint is place[0] else (joint, place[1])

    def _in_turn(self, place: Place, more: bool) -> int | None:
        """Return the length of a continuation that meets one residual after another; None if this
        finds none, as where it comes to a place again.
        """
        length, budget, steps = 0, IN_TURN, self.steps("satisfy")
        passed, most = dict[Place, int](), 0
        while not place[0].met:
            place = steps.apart(place)
            urgent, left = _most_urgent(place[0]), len(place[0].parts)
            most, trouble = most or left, _trouble_in_turn(place[0])
            slow = len(passed) >= GIVEN and left * trouble * len(passed) > budget * (most - left)
            if slow or place in passed:
                return None
            for i in self._helping(urgent, place[1]):
                budget -= trouble
                reached = steps.apart(steps.after(place, i, more=more))
                if len(reached[0].parts) <= left and not _is_about(reached[0], urgent.nodes):
                    self._helped[urgent.nodes] = i
                    passed[place] = i
                    place, length = reached, length + 1
                    break
            else:
                waited = self._waited(place, more)
                if waited is None:
                    return None
                place, length = waited[0], length + waited[1]
            if budget < 0:
                return None
        if length == len(passed):  # it has not waited
            self._note_way([*passed.items()], 0, more)
        return length

    def _helping(self, urgent: Obligation, registers: Registers) -> Iterator[int]:
        """Yield the numbers of all letters, the one first that has helped before, and then those
        that show what the obligation reads.
        """
        helped = self._helped.get(urgent.nodes)
        yield from () if helped is None else (helped,)
        yield from self.steps("satisfy").telling(registers, urgent.reads)

    def _waited(self, place: Place, more: bool) -> tuple[Place, int] | None:
        """Return the place when the first `G` has run out, and after how many positions; None if
        something else changes until then.
        """
        steps, owed = self.steps("satisfy"), _residuals(place[0])
        bounds = [each for each in literals_of(owed) if each[0] in "FG"]
        if not bounds:
            return None
        first = min(bounds, key=lambda each: (each[2], each[0]))
        if first[0] == "F" or first[2] >= FOREVER:
            return None
        unchanged = (steps.joint(shifted(owed, 1)), place[1])
        for k in self._unconcerned_letters:
            if steps.after(place, k, more=more) == unchanged:
                last = (steps.joint(shifted(owed, first[2] - 1)), place[1])
                return steps.after(last, k, more=more), first[2]
        return None

    def _search(self, goal: Goal, start: Place, more: bool, budget: int) -> int | None:
        steps, found = self.steps(goal), self._on_way[more] if goal == "satisfy" else {}
        none, frontier = steps.none, [start]
        before: dict[Place, tuple[Place, int]] = {start: (start, -1)}
        while frontier:
            following: list[Place] = []
            for place in frontier:
                known = place[0].after[more]
                for shown, count in steps.moves(place[1]):
                    joint = known.get(shown.bits) or steps.owed_after(place[0], shown, more)
                    budget -= count * joint.trouble
                    if joint.met:
                        return self._reached(goal, _way(before, place, shown.number), 0, more)
                    reached = joint, shown.after
                    if joint is none or reached in before:
                        continue
                    if reached in found:
                        way = _way(before, place, shown.number)
                        return self._reached(goal, way, found[reached], more)
                    before[reached] = place, shown.number
                    following.append(reached)
                if budget < 0:
                    self.limited = True
                    return FAR
            frontier = _foremost(following, frontier, goal)
        if not self.complete:
            return FAR  # a letter that was left out might reach it
        for place in before:
            self._remember((goal, place, more), None)
        return None

    def _reached(self, goal: Goal, way: list[tuple[Place, int]], rest: int, more: bool) -> int:
        if goal == "satisfy":
            self._note_way(way, rest, more)
        return len(way) + rest

    def _note_way(self, way: list[tuple[Place, int]], rest: int, more: bool) -> None:
        """Remember a way that satisfies: the places on it, each with the letter that follows."""
        known = self._on_way[more]
        if len(known) >= MEMO_CAP:
            known.clear()
        for passed, (place, _) in enumerate(way):
            known[place] = len(way) - passed + rest
        letters = tuple([k for _, k in way])
        if rest == 0 and letters not in self._ways:
            self._ways = [letters, *self._ways[: WAYS - 1]]

    def _followed(self, place: Place, way: Sequence[int], more: bool) -> int | None:
        """Return the length of this way from another place; None if it does not satisfy there."""
        steps, passed = self.steps("satisfy"), list[tuple[Place, int]]()
        for k in way:
            passed.append((place, k))
            place = steps.after(place, k, more=more)
            if place[0].met:
                self._note_way(passed, 0, more)
                return len(passed)
            if place[0] is steps.none:
                return None
        return None


def firm(residual: Residual, at: int = 0) -> Residual:
    """Return a residual that implies this one, the same for all bounds that are far away.

    Its bounds count from position `at`.
    """

    def value(literal: Literal) -> Residual:
        match literal:
            case ("F", node, due):
                return one(("F", node, min(due - at, HORIZON)))
            case ("G", node, due):
                return one(("G", node, FOREVER if due - at > HORIZON else due - at))
        return one(literal)

    return mapped(residual, value)


def _residuals(joint: ObligationSet) -> Owed:
    return frozenset([part.residual for part in joint.parts])


def _most_urgent(joint: ObligationSet) -> Obligation:
    """Return the part that has to be met by the first bound; the same one in every process."""
    unmet = [each for each in joint.parts if not each.holds]
    least = min([(each.due, each.nodes) for each in unmet])
    first = [each for each in unmet if (each.due, each.nodes) == least]
    return first[0] if len(first) == 1 else min(first, key=lambda each: rank([each.residual]))


def _trouble_in_turn(joint: ObligationSet) -> int:
    """Return the cost of a transition to it where obligations are met one after another.

    Single literals are looked up, and seldom compared.
    """
    longer = [part for part in joint.parts if part.literals > 1]
    alternatives = sum([len(part.residual) for part in longer])
    literals = sum([part.literals for part in longer])
    single = (len(joint.parts) - len(longer)) // SINGLE_FREE
    single += sum([part.due < math.inf for part in joint.parts]) // BOUNDED_FREE
    return 1 + single + alternatives * alternatives // PARTS_FREE + literals // LITERALS_FREE


def _is_about(joint: ObligationSet, nodes: int) -> bool:
    """True if anything about these nodes is owed, or if nothing can be met any more."""
    return any([part.nodes & nodes or not part.residual for part in joint.parts])


def _way(before: dict[Place, tuple[Place, int]], place: Place, k: int) -> list[tuple[Place, int]]:
    """Return the places from the start to this one, each with the letter that follows it."""
    way = []
    while k >= 0:
        way.append((place, k))
        place, k = before[place]
    return way[::-1]


def _foremost(places: list[Place], before: list[Place], goal: Goal) -> list[Place]:
    """Return the places without those from which no goal is reached sooner than from another.

    Of two places with equal registers, the one that owes less is satisfied first; the one that owes
    more is violated first. The places `before`, one position earlier, count as others.
    """
    if len(places) > PLACES_CAP:
        return places
    others: dict[Registers, list[ObligationSet]] = {}
    for joint, registers in before[:PLACES_CAP]:
        others.setdefault(registers, []).append(joint)
    kept: dict[Registers, list[ObligationSet]] = {}
    for joint, registers in places:
        mine = kept.setdefault(registers, [])
        if _is_behind(joint, mine, goal) or _is_behind(joint, others.get(registers, ()), goal):
            continue
        mine[:] = [each for each in mine if not _is_behind(each, (joint,), goal)]
        mine.append(joint)
    return [place for place in places if place[0] in kept[place[1]]]


def _is_behind(joint: ObligationSet, others: Iterable[ObligationSet], goal: Goal) -> bool:
    """True if one of the other joints reaches the goal wherever this one does."""
    if goal == "satisfy":
        return any([joint.implies(other) for other in others])
    return any([other.implies(joint) for other in others])


def settles_within(program: Program) -> int:
    """Return after how many positions that no contract speaks of registers no longer change."""
    bounds = [bound.count for op in program.nodes if (bound := bounded_steps(op)) is not None]
    depth = sum(op[0] in PAST for op in program.nodes)
    return depth + sum(bounds) + 1
