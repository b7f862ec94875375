"""What it costs to look for the values of an answer, and that addresses are found as before."""

from __future__ import annotations

import random
import re

import pytest

from sponsio_like.values.leaks import ADDRESS, carried_in
from tests.support.costs import beside


@pytest.mark.parametrize("piece", ["x", "1-", "a.", "0x", "x@", "a@b."])
def test_a_long_run_without_blanks_is_searched_once(piece: str) -> None:
    """It was searched from each letter on: 60,000 letters took 4 to 9 seconds."""
    assert beside(lambda: carried_in(piece * (60_000 // len(piece)))) < 300


def test_addresses_are_those_that_are_found_by_searching_from_each_letter_on() -> None:
    """In texts of letters, signs and @ in any order."""
    dice, plain = random.Random(3), re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
    for _ in range(20_000):
        text = "".join(dice.choices("a@.+- b_\xe9", k=dice.randint(0, 14)))
        assert [each for each in ADDRESS.findall(text) if "@" in each] == plain.findall(text)
