"""Random guarantees and sessions, few at a time: the engine says what the oracle says.

`test_fuzz` asks in addition that the pairs are varied. In pieces they are quick enough for mutants
of the engine (`tests/planted/mutate.py`).
"""

from __future__ import annotations

import pytest

from tests.fuzz.campaign import work
from tests.support.size import sized

FORMULAS = 5
SEED = 11


@pytest.mark.long
@pytest.mark.parametrize("piece", range(sized(16, 4)))
def test_the_engine_agrees_with_the_oracle(piece: int) -> None:
    """On some 300 random pairs of a guarantee and a session none disagrees."""
    tally = work(SEED, piece * FORMULAS, FORMULAS)
    assert tally.failures == []
    assert tally.pairs >= FORMULAS
