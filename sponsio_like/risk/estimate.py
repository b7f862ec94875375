"""The risk of one state, as it is looked up: counts, bounds, and what they were counted from."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

from sponsio_like.risk.model import State

By: TypeAlias = Literal["observed", "backoff", "unknown"]
Verdict: TypeAlias = Literal["runs", "above", "in doubt"]
"""`runs`: the upper bound is at most the threshold; `above`: the lower bound is above it."""


class Risk(NamedTuple):
    """The risk of one state: `hits` of `runs` were bad within the horizon, bounded by `lo`, `hi`.

    `by`: `observed` for this very state; `backoff` for the state with fewer symbols, `reach` of
    them (a back-off), since too few runs came here; `unknown` if no run ever did: from 0 to 1.
    """

    state: State
    runs: int
    hits: int
    lo: float
    hi: float
    by: By
    reach: int
    horizon: int | None

    @property
    def estimate(self) -> float | None:
        """The share of the runs that were bad; None without any."""
        return self.hits / self.runs if self.runs else None

    def record(self, threshold: float) -> dict[str, Any]:
        """Return what a record of the log says of it."""
        return {
            "state": [self.state[0], list(self.state[1]), self.state[2]],
            "runs": self.runs,
            "hits": self.hits,
            "lo": round(self.lo, 6),
            "hi": round(self.hi, 6),
            "by": self.by,
            "horizon": self.horizon,
            "threshold": threshold,
        }
