"""Advice on random guards, followed: what has to come first makes the refused call legal."""

from __future__ import annotations

import random
import warnings
from collections import Counter

import pytest

from sponsio_like import Blocked, Guard, contract
from sponsio_like.errors import ContractError
from tests.advice.advised import BEYOND, ENDINGS, OTHER, TOOLS, Copies, follow, way_of
from tests.support.size import sized

PARTS = (
    "G(called({x}) -> Y O {b})",
    "G(called({x}) -> Y O[<={n}] {b})",
    "G(called({x}) -> Y (!{a} S {b}))",
    "G(called({x}) -> H[<={n}] (called({x}) | !{b}))",
    "G(called({x}) -> !Y O {b} | Y O {c})",
    "G(called({x}) & Y O {b} -> Y O {c})",
    "G(called({x}) -> count({y}) <= {n})",
    "G({a} -> X F {b})",
    "G({a} -> F[<={n}] {b})",
    "G({a} -> G[<={n}] !called({x}))",
    "(!called({x}) W {b})",
    "(!called({x}) W ({b} & Y O {c}))",
)
GUARDS, CALLS = sized(500, 60), 9
"""Guards, and calls that one session of each tries."""


def guard_of(dice: random.Random) -> Guard | None:
    """A guard of two to four contracts; None if it does not load."""
    made = []
    for n in range(dice.randint(2, 4)):
        what = dice.choices(("called", "done", "failed"), (3, 3, 1), k=3)
        atoms = {name: f"{w}({dice.choice(TOOLS)})" for name, w in zip("abc", what, strict=True)}
        tools = {"x": dice.choice(TOOLS), "y": dice.choice(TOOLS), "n": dice.randint(1, 4)}
        text = dice.choice(PARTS).format(**atoms, **tools)
        made.append(contract(str(n)).guarantees({"ltl": text}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # calls that can never be made are refused all the same
        try:
            return Guard(made)
        except ContractError:
            return None


def mistakes(number: int, told: Counter[str]) -> list[str]:
    """What advice was wrong in one random session of the guard of this number."""
    dice, wrong = random.Random(number), list[str]()
    guard = guard_of(dice)
    if guard is None:
        return []
    copies, state = Copies(guard), 0
    for _ in range(CALLS):
        tool = dice.choice((*TOOLS, OTHER))
        outcome = copies.outcome(state, tool)
        if isinstance(outcome, Blocked):
            wrong += [outcome.advice] * is_wrong(copies, state, tool, outcome.advice, told)
        ending = dice.choice((*ENDINGS, "open"))
        state = copies.after(state, ("call", tool, ending)) or state
        for id in copies.flying(state):
            if dice.random() < 0.4:
                state = copies.after(state, ("land", id, dice.choice(ENDINGS))) or state
    return wrong


def is_wrong(copies: Copies, state: int, tool: str, advice: str, told: Counter[str]) -> bool:
    """True if the way does not make the call legal; or if there is one, where none is told."""
    way = way_of(advice)
    if way is None:
        told[advice.rpartition("; ")[2]] += 1
        short = copies.shortest(state, tool, BEYOND, people=False)
        return short is not None
    told[f"{len(way.steps)} steps"] += 1
    ends = [follow(copies, state, way.steps, free) for free in ENDINGS]
    return any(end is None or not copies.legal(end, tool, people=False) for end in ends)


@pytest.fixture(scope="module")
def told() -> Counter[str]:
    """How many refusals were told what; empty before the first test."""
    return Counter()


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, GUARDS, 20))
def test_following_the_advice_makes_the_call_legal(first: int, told: Counter[str]) -> None:
    """Whatever the endings that it leaves open; and where it knows no way, no short one exists."""
    wrong = [each for number in range(first, first + 20) for each in mistakes(number, told)]
    assert not wrong


@pytest.mark.long
def test_ways_of_several_lengths_were_told(told: Counter[str]) -> None:
    """Else the test before says little."""
    assert {"1 steps", "2 steps", "no calls make it legal in this session"} <= set(told)
