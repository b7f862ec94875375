"""Abstractions that somebody has written: predicates, and what is valid."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from sponsio_like.errors import RiskError
from sponsio_like.risk import Abstraction, predicate

KITCHEN: dict[str, Any] = {
    "microwave": {"on": True, "holds": ["fork", "soup"]},
    "watts": 800,
    "who": "ann",
    "doors": [{"open": False, "n": 1}, {"open": True, "n": 2}],
}
CASES = {
    "microwave.on == true": True,
    "microwave.on": True,
    "watts": False,
    "watts == 800": True,
    "watts == 800.0": True,
    "watts != 800": False,
    "watts < 800": False,
    "watts <= 800": True,
    "watts > -1.5e3": True,
    "watts >= 801": False,
    'who == "ann"': True,
    "who < 3": False,
    "watts == true": False,
    "nothing == 1": False,
    "nothing != 1": False,
    "not nothing == 1": True,
    "nothing == null": False,
    'some x in microwave.holds: x == "fork"': True,
    'all x in microwave.holds: x == "fork"': False,
    "some d in doors: (d.open and d.n == 2)": True,
    "all d in doors: d.n > 0": True,
    "some d in who: d == 1": False,
    "all d in who: d == 1": False,
    "doors.1.open and not doors.0.open": True,
    "doors.7.open": False,
    "watts == 1 or watts == 800 and who == who": True,
    "(watts == 1 or watts == 800) and not microwave.on": False,
}


@pytest.mark.parametrize("text", CASES)
def test_predicates_hold_as_they_read(text: str) -> None:
    """Each comparison, connective and quantifier; what is missing makes comparisons false."""
    assert predicate(text)(KITCHEN) is CASES[text]


@pytest.mark.parametrize("text", ["", "a ==", "a = 1", "some x: x", "a == 1 and", "1 == a", "(a"])
def test_what_is_no_predicate_is_refused(text: str) -> None:
    """A text that cannot be read is an error with its column, and an example."""
    with pytest.raises(RiskError, match="is not understood; write"):
        predicate(text)


def kitchen() -> Abstraction:
    """A microwave that cannot be on while open, and cannot go from off to fire."""
    return Abstraction(
        {"on": "m.on", "open": "m.open", "fire": "m.fire"},
        impossible=["on and open"],
        steps=[("not on and not fire", "fire")],
    )


def test_states_are_encoded_and_decoded() -> None:
    """An observation becomes one bit a predicate, and names come back."""
    state = kitchen().encode({"m": {"on": True, "open": False}})
    assert state == (True, False, False)
    assert kitchen().decode(state) == {"on": True, "open": False, "fire": False}


def test_all_valid_states_are_listed_and_filtered() -> None:
    """Of the eight states two are impossible; an expression over names picks among the rest."""
    every = [bits for bits in product((False, True), repeat=3) if not (bits[0] and bits[1])]
    assert kitchen().states() == every
    assert kitchen().filter("fire and not open") == {(False, False, True), (True, False, True)}
    with pytest.raises(RiskError, match="`smoke` is no predicate"):
        kitchen().filter("smoke")


def test_only_declared_steps_are_possible() -> None:
    """A step that was declared impossible, or has an impossible end, cannot be taken."""
    off, on, fire = (False,) * 3, (True, False, False), (False, False, True)
    assert kitchen().can_reach(off, on)
    assert not kitchen().can_reach(off, fire)
    assert kitchen().can_reach(on, fire)
    assert not kitchen().can_reach(on, (True, True, False))


def test_validity_is_checked_on_every_trace_that_is_read() -> None:
    """A trace with a state or a step that was declared impossible is refused with its place."""
    good: list[dict[str, Any]] = [{"m": {}}, {"m": {"on": True}}, {"m": {"on": True, "fire": True}}]
    assert len(kitchen().checked(good)) == 3
    with pytest.raises(RiskError, match=r"t7: observation 1: the state \(on, open\)"):
        kitchen().checked([{}, {"m": {"on": True, "open": True}}], "t7")
    with pytest.raises(RiskError, match=r"observation 1: no step was declared to lead to \(fire\)"):
        kitchen().checked([{}, {"m": {"fire": True}}])


def test_too_many_predicates_are_refused() -> None:
    """An abstraction has 1 to 20 predicates, since its states are listed."""
    for n in (0, 21):
        with pytest.raises(RiskError, match="write 1 to 20"):
            Abstraction({f"p{i}": "a" for i in range(n)})
