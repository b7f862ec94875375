"""Tests whether the predictions of a model of risk come true: how well it was calibrated, and an
alarm when reality is worse.

In: for each run that ended, the risk that was predicted and what became of it. Out: Brier's score,
a reliability table; and an e-process: a bet, fair if the predictions are right, that reality is
worse, whose wealth passes 1 / alpha with probability alpha at most, however long it is watched
(Ville, 1939; Ramdas et al., Statistical Science 2023).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sponsio_like.errors import RiskError

BETS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""The shares of what may be lost that are bet, side by side; the wealth is their mean."""


class Bin(NamedTuple):
    """The predictions between two values: how many, their mean, and the share that came true."""

    lo: float
    hi: float
    runs: int
    predicted: float
    observed: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The score of predictions: Brier's (0 is best), the mean gap of the bins, and the bins."""

    runs: int
    brier: float
    gap: float
    bins: tuple[Bin, ...]


def calibration(pairs: Iterable[tuple[float, bool]], bins: int = 10) -> Calibration:
    """Return the calibration of predictions, each with what happened. Raises `RiskError` if there
    are none.
    """
    seen = list(pairs)
    if not seen:
        raise RiskError("there is nothing to calibrate: no run has a prediction")
    sorted_in: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for p, happened in seen:
        sorted_in[min(int(p * bins), bins - 1)].append((p, happened))
    table = tuple(_bin(i, bins, each) for i, each in enumerate(sorted_in) if each)
    brier = sum((p - happened) ** 2 for p, happened in seen) / len(seen)
    gap = sum(each.runs * abs(each.predicted - each.observed) for each in table) / len(seen)
    return Calibration(len(seen), brier, gap, table)


def _bin(i: int, bins: int, each: Sequence[tuple[float, bool]]) -> Bin:
    predicted = sum(p for p, _ in each) / len(each)
    observed = sum(happened for _, happened in each) / len(each)
    return Bin(i / bins, (i + 1) / bins, len(each), predicted, observed)


class Alarm:
    """A test, by betting, of whether runs end badly more often than the model predicts. `rings`: it
    was won, at level alpha.

    Give each run one prediction, made before its end was known; leave out runs that were stopped.
    """

    def __init__(self, alpha: float = 0.05) -> None:
        if not 0 < alpha < 1:
            raise RiskError(f"alpha is {alpha}; write a number between 0 and 1")
        self.alpha, self.runs = alpha, 0
        self.highest = 1.0
        self._wealth = [1.0] * len(BETS)

    @property
    def wealth(self) -> float:
        """The wealth of the test now; 1 at the start."""
        return sum(self._wealth) / len(self._wealth)

    @property
    def rings(self) -> bool:
        """True once the wealth has passed 1 / alpha; then it stays so."""
        return self.highest >= 1 / self.alpha

    def see(self, predicted: float, happened: bool) -> bool:
        """Count a run, and return True if the alarm rings. Raises `RiskError` for no probability.

        A factor `1 + b (x - p) / p` is 1 on average if `p` is right, and never negative.
        """
        if not 0 <= predicted <= 1:
            raise RiskError(f"the prediction is {predicted}; write a probability")
        p = max(predicted, 1e-6)
        self._wealth = [
            wealth * (1 + bet * (float(happened) - p) / max(p, 1 - p))
            for bet, wealth in zip(BETS, self._wealth, strict=True)
        ]
        self.runs += 1
        self.highest = max(self.highest, self.wealth)
        return self.rings
