"""What the dearest decision takes, where one guarantee has many obligations: counted, not timed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.fuzz.worst import Cost, campaign, quantile
from tests.support.size import sized

STEPS, PROGRESSED, SHOWN = 3_000, 1_000, 1_500
"""Most steps, residuals, and positions read, that one decision may cost the search."""


@pytest.fixture(scope="module")
def found() -> list[Cost]:
    """What some hundred decisions took; with `make all`, a thousand."""
    return campaign(sized(1_000, 300), seed=15)


@pytest.mark.long
def test_no_decision_computes_much(found: list[Cost]) -> None:
    """Eight to twelve obligations in one guarantee, and calls in flight."""
    assert 0 < max(each.steps for each in found) <= STEPS
    assert 0 < max(each.progressed for each in found) <= PROGRESSED
    assert 0 < max(each.shown for each in found) <= SHOWN


@pytest.mark.long
def test_most_decisions_compute_next_to_nothing(found: list[Cost]) -> None:
    """What one decision has had computed, the next ones read: the median is none."""
    assert quantile([each.steps for each in found], 0.5) <= 30
    assert quantile([each.progressed for each in found], 0.99) <= PROGRESSED / 5


@pytest.mark.long
@pytest.mark.parametrize(("seed", "number"), [(5, 25), (5, 26)])
def test_every_process_decides_the_same(seed: int, number: int) -> None:
    """What a set lists first, which differs between processes, makes no difference."""
    script = f"from tests.fuzz.worst import decided; print(decided({seed}, {number}))"
    said = set()
    for hashes in ("0", "3"):
        env = {**os.environ, "PYTHONHASHSEED": hashes}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env
        )
        said.add(done.stdout)
    assert len(said) == 1
    assert "Allowed" in said.pop()
