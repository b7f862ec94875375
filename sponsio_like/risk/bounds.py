"""Bounds on a probability from counts: Clopper and Pearson's interval.

In: how many of how many runs. Out: an interval that holds the probability at the stated
confidence, whatever the probability is (Biometrika 26, 1934).
"""

from __future__ import annotations

from typing import NamedTuple

from sponsio_like.replay import rate_with_tail


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
    total, tail = runs + unknown, delta / 2
    upper = rate_with_tail(hits + unknown, total, tail)
    return Interval(1 - rate_with_tail(total - hits, total, tail), upper)
