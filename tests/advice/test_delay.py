"""How long a refused event has to wait by the past of its contract alone: a lower bound."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from sponsio_like import Blocked, Guard, contract
from sponsio_like.logic.decomposition import decompose
from sponsio_like.monitor import positions_until
from sponsio_like.monitor.monitor import Monitor, State
from sponsio_like.monitor.past import Letter
from sponsio_like.monitor.program import Program
from sponsio_like.patterns import must_precede, no_reversal
from sponsio_like.syntax import read
from tests.support.size import sized

TEXTS = (
    "G(called(a) -> Y O called(b))",
    "G(called(a) -> Y O[<=2] called(b))",
    "G(called(a) -> !O called(b))",
    "G(called(a) -> !O[<=2] called(b))",
    "G(called(a) -> Y H !called(c) | Y O called(b))",
    "G(called(a) -> Y Y called(b))",
    "G(called(a) -> (Y O called(b) & Y O called(c)))",
    "G(called(a) -> Y (!called(c) S called(b)))",
    "G(called(a) -> count(b) >= 2)",
    "G(called(a) -> Y O[<=5s] called(b))",
    "G(called(a) -> Y O done(b))",
    "G !called(a)",
)
DEPTH = 3


def after(made: Monitor, state: State, letters: tuple[Letter, ...], at: int) -> State:
    """The state after these letters, a second apart."""
    for letter in letters:
        state = made.step(state, letter, at, float(at)).state
        at += 1
    return state


def least(made: Monitor, state: State, letter: Letter, at: int) -> float:
    """After how many positions the letter violates nothing, by trying all of up to three."""
    real = list(dict.fromkeys(each[: len(made.program.slots)] for each in made.search.letters))
    for length in range(DEPTH + 1):
        for way in itertools.product(real, repeat=length):
            then = after(made, state, way, at)
            if not made.step(then, letter, at + length, float(at + length)).violated:
                return length
    return math.inf


@pytest.mark.parametrize("text", TEXTS)
def test_no_event_passes_sooner(text: str) -> None:
    """What is never told to pass does not pass, and nothing passes before its time."""
    made, dice = Monitor(Program(), decompose(read(text))), random.Random(text)
    real = [each[: len(made.program.slots)] for each in made.search.letters]
    for _ in range(sized(12, 4)):
        length = dice.randint(0, 4)
        state = after(made, made.start, tuple(dice.choices(real, k=length)), 0)
        for letter in real:
            until = positions_until(made, state, letter, length - 1)
            found = least(made, state, letter, length)
            assert until <= found or found == math.inf
            if "count" not in text and "s]" not in text and found < math.inf:
                assert until == found


@pytest.mark.parametrize(("text", "until"), [(TEXTS[0], 1), (TEXTS[2], math.inf), (TEXTS[3], 2)])
def test_how_long_is_known(text: str, until: float) -> None:
    """After `b` by one position; the call that needs `b`, that never may follow it, or not soon."""
    made = Monitor(Program(), decompose(read(text)))
    call = {name: made.search.letters[k] for k, name in enumerate("ab")}
    before = () if text == TEXTS[0] else (call["b"],)
    state = after(made, made.start, before, 0)
    assert positions_until(made, state, call["a"], len(before) - 1) == until


def test_without_what_bears_on_it_a_goal_is_never_reached() -> None:
    """Slots that are to stay false are false at all positions between."""
    made = Monitor(Program(), decompose(read("G(called(a) -> Y O[<=2] called(b))")))
    letter = made.search.letters[0]
    (b,) = [k for k, slot in enumerate(made.search.slots) if "b" in repr(slot.node)]
    assert positions_until(made, made.start, letter, -1) == 1
    assert positions_until(made, made.start, letter, -1, frozenset({b})) == math.inf


def test_what_stays_refused_for_ever_is_said_at_once() -> None:
    """A second contract that could be met makes no difference."""
    guard = Guard(
        [
            contract("closed").guarantees(no_reversal("close", "pay")),
            contract("checked").guarantees(must_precede("check", "pay")),
        ]
    )
    session = guard.session()
    session.settle(session.decide("close").id, output="ok")
    outcome = session.decide("pay")
    assert isinstance(outcome, Blocked)
    assert outcome.advice.endswith("no calls make it legal in this session")
