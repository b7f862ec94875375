"""Confidence bounds on a rate, of so many out of so many: those of Clopper and Pearson.

In: counts. Out: a bound that the true rate keeps with the given confidence, whatever it is. The
bound is a quantile of the beta distribution; its integral is Lentz's continued fraction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

CONFIDENCE = 0.95
TINY = 1e-300
ENOUGH = 1e-14


def upper_bound(hits: int, of: int, confidence: float = CONFIDENCE) -> float:
    """Return the upper confidence bound of the rate; the confidence is one-sided."""
    if not 0 <= hits <= of:
        raise ValueError(f"{hits} of {of} is no rate")
    return rate_with_tail(hits, of, 1 - confidence)


def lower_bound(hits: int, of: int, confidence: float = CONFIDENCE) -> float:
    """Return the lower confidence bound of the rate; the confidence is one-sided."""
    return 1 - upper_bound(of - hits, of, confidence)


@lru_cache(maxsize=200_000)
def rate_with_tail(hits: int, of: int, tail: float) -> float:
    """Return the rate at which at most so many hits have the probability `tail`; 1 if all hit."""
    if hits == of:
        return 1.0
    return _solved(lambda rate: _beta(of - hits, hits + 1, 1 - rate), tail)


def needed(hits: int, most: float, confidence: float = CONFIDENCE) -> int:
    """Return the smallest number of trials with so many hits whose upper bound is at
    most `most`.
    """
    few, many = hits, max(2 * hits, 1)
    while upper_bound(hits, many, confidence) > most:
        few, many = many, 2 * many
    while many - few > 1:
        middle = (few + many) // 2
        if upper_bound(hits, middle, confidence) > most:
            few = middle
        else:
            many = middle
    return many


def _solved(falling: Callable[[float], float], target: float) -> float:
    """Return where a falling function of a rate has this value."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if falling(middle) > target:
            low = middle
        else:
            high = middle
    return high


def _beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 100_000):
        odd, even = a + 2 * m - 1, a + 2 * m
        for step in (
            m * (b - m) * x / (odd * even),
            -(a + m) * (a + b + m) * x / (even * (even + 1)),
        ):
            d = 1 / _away(1 + step * d)
            c = _away(1 + step / c)
            value *= c * d
        if abs(1 - c * d) < ENOUGH:
            break
    return front * value


def _away(value: float) -> float:
    return value if abs(value) > TINY else TINY
