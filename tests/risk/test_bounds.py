"""Bounds from counts: the interval that others compute, and what it promises."""

from __future__ import annotations

import random

import pytest

from sponsio_like.risk import clopper_pearson
from tests.semantics.manifest import requirement

scipy_stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("runs", [1, 2, 5, 30, 400, 36_000])
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
def test_bounds_are_those_of_the_beta_distribution(runs: int, delta: float) -> None:
    """The plain code gives what scipy gives, to 1e-9."""
    rng = random.Random(runs)
    for hits in {0, 1, runs // 2, runs - 1, runs, rng.randint(0, runs)}:
        if hits < 0:
            continue
        mine = clopper_pearson(hits, runs, delta)
        lo = scipy_stats.beta.ppf(delta / 2, hits, runs - hits + 1) if hits else 0.0
        hi = scipy_stats.beta.ppf(1 - delta / 2, hits + 1, runs - hits) if hits < runs else 1.0
        assert mine == pytest.approx((lo, hi), abs=1e-9)


def test_without_runs_anything_is_possible() -> None:
    """No data bound nothing."""
    assert clopper_pearson(0, 0) == (0.0, 1.0)


@requirement("S-RISK-06")
@pytest.mark.parametrize("runs", [5, 23, 60])
@pytest.mark.parametrize("risk", [0.003, 0.1, 0.5, 0.97])
def test_coverage_is_exactly_at_least_what_is_stated(runs: int, risk: float) -> None:
    """Summed over every outcome, the interval holds the true risk with probability >= 95 %."""
    held = sum(
        scipy_stats.binom.pmf(hits, runs, risk)
        for hits in range(runs + 1)
        if clopper_pearson(hits, runs).lo <= risk <= clopper_pearson(hits, runs).hi
    )
    assert held >= 0.95
