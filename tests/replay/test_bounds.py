"""Bounds on rates are those of Clopper and Pearson, as they stand in tables."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sponsio_like.replay import lower_bound, needed, upper_bound


def at_most(hits: int, of: int, rate: float) -> float:
    """The chance of at most so many hits, by its definition."""
    p = Fraction(rate)
    each = (math.comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(hits + 1))
    return float(sum(each))


@pytest.mark.parametrize(("hits", "of"), [(0, 1), (0, 10), (1, 10), (5, 100), (99, 100), (40, 200)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_at_the_bound_so_few_hits_are_just_as_unlikely(
    hits: int, of: int, confidence: float
) -> None:
    """At the upper bound, the chance of seeing no more hits is what the confidence leaves."""
    bound = upper_bound(hits, of, confidence)
    assert at_most(hits, of, bound) == pytest.approx(1 - confidence, rel=1e-9)
    assert lower_bound(of - hits, of, confidence) == pytest.approx(1 - bound)


@pytest.mark.parametrize(
    ("hits", "of", "bound"),
    [(0, 59, 0.0495), (0, 299, 0.00997), (1, 93, 0.04995), (10, 1_000_000, 1.69622e-05)],
)
def test_known_bounds(hits: int, of: int, bound: float) -> None:
    """59 without a hit show less than 5 %, 299 less than 1 %; a million are no trouble."""
    assert upper_bound(hits, of) == pytest.approx(bound, rel=1e-3)


def test_ends() -> None:
    """Of nothing, or where all are hits, nothing is known above; less than nothing is no count."""
    assert (upper_bound(0, 0), upper_bound(3, 3), lower_bound(0, 5)) == (1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="no rate"):
        upper_bound(2, 1)


@pytest.mark.parametrize(("hits", "most"), [(0, 0.05), (0, 0.01), (2, 0.05)])
def test_what_is_needed_is_just_enough(hits: int, most: float) -> None:
    """One fewer would not show it."""
    count = needed(hits, most)
    assert upper_bound(hits, count) <= most < upper_bound(hits, count - 1)
