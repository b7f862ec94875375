"""Random guarantees and sessions, few at a time: what the oracle says, and both ways of the engine.

`test_fuzz` asks in addition that the pairs are varied. In pieces they are quick enough for mutants
of the engine (`tests/planted/mutate.py`).
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.campaign import work
from tests.fuzz.twins import compared

FORMULAS = 5
SEED = 11


@pytest.mark.parametrize("piece", range(16))
def test_the_engine_agrees_with_the_oracle(piece: int) -> None:
    """On some 300 random pairs of a guarantee and a session none disagrees."""
    tally = work(SEED, piece * FORMULAS, FORMULAS)
    assert tally.failures == []
    assert tally.pairs >= FORMULAS


@pytest.mark.parametrize("piece", range(4))
def test_a_lane_says_what_the_monitor_says(piece: int) -> None:
    """On some 150 random sessions the short way and the long way do not differ."""
    tally: Counter[str] = Counter()
    found = [compared(SEED, piece * 30 + number, tally) for number in range(30)]
    assert [each for each in found if each] == []
    assert tally["short"]
