"""Bounds on a probability from counts: Clopper and Pearson's interval, in plain Python.

In: how many of how many runs. Out: an interval that holds the probability at the stated
confidence, whatever the probability is (Biometrika 26, 1934). The look-up at run time needs it, and
no numbers library; each pair of counts is computed once.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

STEPS = 200
"""Most steps of the continued fraction; it ends long before."""
TINY = 1e-300


class Interval(NamedTuple):
    """The bounds of a probability."""

    lo: float
    hi: float

    @property
    def width(self) -> float:
        """The distance of the bounds."""
        return self.hi - self.lo


def clopper_pearson(hits: int, runs: int, delta: float = 0.05, unknown: int = 0) -> Interval:
    """Return the two-sided interval of `hits` of `runs`, at confidence 1 - delta.

    `unknown` further runs are counted against whatever is claimed: as no hits in the lower bound,
    and as hits in the upper one.
    """
    total = runs + unknown
    return Interval(_lower(hits, total, delta), _upper(hits + unknown, total, delta))


@lru_cache(maxsize=200_000)
def _lower(hits: int, runs: int, delta: float) -> float:
    if hits == 0:
        return 0.0
    return _quantile(delta / 2, hits, runs - hits + 1)


@lru_cache(maxsize=200_000)
def _upper(hits: int, runs: int, delta: float) -> float:
    if hits == runs:
        return 1.0
    return 1.0 - _quantile(delta / 2, runs - hits, hits + 1)


def _quantile(level: float, a: float, b: float) -> float:
    """Return the quantile of the beta distribution, by bisection: 60 halvings are exact."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _beta_below(middle, a, b) < level:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_below(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function, by its continued fraction."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1.0 - front * _fraction(1.0 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction, by Lentz's method (Press et al., Numerical Recipes, 6.4)."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, STEPS + 1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1.0 / _away(1.0 + term * d), _away(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _away(value: float) -> float:
    return value if abs(value) > TINY else TINY
