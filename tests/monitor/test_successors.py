"""Steps of the search that are remembered, against steps that are computed from the definition."""

from __future__ import annotations

import random
from typing import Any

import pytest

import sponsio_like.logic.formula as f
from sponsio_like.logic.decomposition import decompose
from sponsio_like.logic.formula import Seconds
from sponsio_like.monitor import successors
from sponsio_like.monitor.abstraction import abstracted
from sponsio_like.monitor.monitor import Monitor
from sponsio_like.monitor.program import Program
from sponsio_like.monitor.progression import Position
from sponsio_like.monitor.reachability import FAR
from sponsio_like.monitor.residual import NO, Residual, conjunction, shifted
from sponsio_like.monitor.successors import Goal, Place
from sponsio_like.syntax import read
from tests.fuzz.fuzz_cases import Formulas
from tests.fuzz.worst import formula_of
from tests.support.size import sized

ASSUMED = read("O(done(late) -> failed(later) | output.n = 3)")
assert isinstance(ASSUMED, f.Formula)
GOALS: tuple[Goal, ...] = ("satisfy", "violate")


def monitor_of(number: int) -> Monitor:
    """The monitor of a random formula: every second one has many obligations."""
    dice = random.Random(number)
    formula = read(formula_of(dice)) if number % 2 else Formulas(dice).guarantee()
    assert isinstance(formula, f.Formula)
    made = Monitor(Program(), decompose(formula))
    Program(beside=made.program).add(ASSUMED)  # as an assumption does, before the first search
    return made


def owed_in(place: Place) -> frozenset[Residual]:
    """What is owed at a place."""
    return frozenset(part.residual for part in place[0].parts)


def defined(made: Monitor, place: Place, k: int, goal: Goal, *, more: bool) -> Any:
    """What is owed after letter `k`, and the registers, by the definition of a step."""
    search, future = made.search, made.future
    letter, past = search.letters[k], search.abstract.past
    waiting = {i for i, slot in enumerate(search.slots) if slot.waits}
    undecided = tuple(i not in waiting and value for i, value in enumerate(letter))
    seen = past.read(undecided, place[1], 1, 0.0)
    at = Position(letter, seen, 1, 0.0, goal)
    owed = [future.progress(each, at, {}) for each in owed_in(place)]
    if more:
        owed += [future.owed(root, at) for roots in made.always for root in roots]
    left = conjunction(owed)
    if NO in left:
        return frozenset({NO}), ()
    after = past.after(past.read(letter, place[1], 1, 0.0), letter, place[1], 1, 0.0)
    now = [
        value
        if bound is not None and isinstance(bound[1], Seconds)
        else abstracted(value, bound, 1)
        for value, bound in zip(after, search.abstract.bounds, strict=True)
    ]
    return shifted(left, 1), tuple(now)


@pytest.mark.parametrize("number", range(sized(60, 30)))
def test_a_remembered_step_is_the_step(number: int) -> None:
    """On random walks, with what is owed anew and without it, for both goals."""
    made, dice = monitor_of(number), random.Random(-number)
    owed = frozenset(residual for each in made.start.live for residual in each)
    for goal in GOALS:
        steps = made.search.steps(goal)
        place = made.search._place(goal, owed, made.start.registers, -1)
        for _ in range(30):
            k, more = dice.randrange(len(made.search.letters)), dice.random() < 0.8
            after = steps.after(place, k, more=more)
            assert (owed_in(after), after[1]) == defined(made, place, k, goal, more=more)
            if after[0] is not steps.none:
                place = after


@pytest.mark.parametrize("number", range(sized(40, 20)))
def test_letters_that_show_the_same_are_one(number: int) -> None:
    """Each letter leads to one of the places that follow, and none is counted twice."""
    made = monitor_of(number)
    owed = frozenset(residual for each in made.start.live for residual in each)
    steps = made.search.steps("satisfy")
    place = made.search._place("satisfy", owed, made.start.registers, -1)
    following = list(steps.following(place, more=True))
    each = [steps.after(place, k, more=True) for k in range(len(made.search.letters))]
    assert sum(count for _, count in following) == len(each)
    assert {reached for reached, _ in following} == set(each)
    assert all(
        sum(many for other, many in following if other == reached) == each.count(reached)
        for reached, _ in following
    )


@pytest.mark.parametrize("number", range(sized(40, 12)))
def test_forgetting_changes_no_answer(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that forgets before each question finds what one finds that remembers.

    How far away, and which of the two ends its budget first, depends on what is remembered.
    """
    made = [monitor_of(number) for _ in range(2)]
    state, dice = made[0].start, random.Random(number)
    for at in range(8):
        letter = dice.choice(made[0].search.letters)[: len(made[0].search.slots)]
        state = made[0].step(state, letter, at, 0.0).state
        if state.branches:
            return
        for goal in GOALS:
            found = []
            for each, cap in zip(made, (successors.STEPS_CAP, 0), strict=True):
                monkeypatch.setattr(successors, "STEPS_CAP", cap)
                asked = (goal, frozenset(r for one in state.live for r in one), state.registers, at)
                if any(lit[0] == "D" for r in asked[1] for term in r for lit in term):
                    return
                found.append(each.search.distance(*asked, more=True))
            if FAR in found:  # a budget ended: then it is possible, and the other may not deny it
                assert None not in found
            else:
                assert (found[0] is None) is (found[1] is None)


def test_what_a_part_does_not_read_is_not_progressed_again() -> None:
    """Twenty letters of other tools are one step of `F called(a)`."""
    others = " & ".join(f"G(called(t{k}) -> Y O called(a))" for k in range(20))
    made = Monitor(Program(), decompose(read(f"F called(a) & {others}")))
    owed = frozenset(residual for each in made.start.live for residual in each)
    steps = made.search.steps("satisfy")
    place = made.search._place("satisfy", owed, made.start.registers, -1)
    for k in range(len(made.search.letters)):
        steps.after(place, k, more=True)
    (part,) = place[0].parts
    assert len(made.search.letters) > 20
    assert len(part.after) == 2


def test_slots_that_come_later_are_none_of_the_letters() -> None:
    """The last bit of a letter is a free truth, also where the program has got a slot with its
    number since, which waits for a result.
    """
    made = Monitor(Program(), decompose(read("G F[<=3] (delivered(called(b)) = age(done(*)))")))
    Program(beside=made.program).add(ASSUMED)
    owed = frozenset({frozenset({frozenset({("F", 3, 3)})})})
    assert made.program.nodes[3][0] == "cmp"
    assert made.search.distance("satisfy", owed, made.start.registers, 0, more=False) == 1
