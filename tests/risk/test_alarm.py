"""Calibration, and the alarm that rings when reality is worse than predicted."""

from __future__ import annotations

import random

import pytest

from sponsio_like.errors import RiskError
from sponsio_like.risk import Alarm, calibration


def test_brier_and_bins_are_counted_by_hand() -> None:
    """Two predictions of .2, one true; one of .9, true."""
    found = calibration([(0.2, True), (0.2, False), (0.9, True)])
    assert found.brier == pytest.approx((0.64 + 0.04 + 0.01) / 3)
    assert found.gap == pytest.approx((2 * 0.3 + 0.1) / 3)
    assert [(each.runs, each.observed) for each in found.bins] == [(2, 0.5), (1, 1.0)]
    with pytest.raises(RiskError, match="nothing to calibrate"):
        calibration([])


def rings(rng: random.Random, actual: float, factor: float, runs: int) -> bool:
    """True if the alarm rings where the true risk is `factor` times the predicted one."""
    alarm = Alarm(0.05)
    for _ in range(runs):
        p = rng.uniform(0.02, actual)
        if alarm.see(p, rng.random() < p * factor):
            return True
    return False


def test_false_alarms_are_as_rare_as_stated() -> None:
    """With right predictions, watched all the time, at most 5 % of 400 sequences ring."""
    rng = random.Random(31)
    assert sum(rings(rng, 0.5, 1.0, 500) for _ in range(400)) <= 0.05 * 400


def test_it_rings_when_reality_is_worse() -> None:
    """Where the risk is twice the prediction, every sequence rings."""
    rng = random.Random(37)
    assert all(rings(rng, 0.5, 2.0, 500) for _ in range(50))


def test_it_stays_silent_when_reality_is_better() -> None:
    """Fewer bad runs than predicted are no reason for an alarm."""
    rng = random.Random(41)
    assert not any(rings(rng, 0.5, 0.6, 500) for _ in range(100))


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(p: float) -> None:
    """A prediction lies between 0 and 1."""
    with pytest.raises(RiskError, match="write a probability"):
        Alarm().see(p, happened=True)
    with pytest.raises(RiskError, match="write a number"):
        Alarm(p)
