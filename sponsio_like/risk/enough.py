"""Stopping rules: how many more runs a state needs before its probabilities are near the truth.

In: the counts of moves. Out: for each state the runs that it has and needs, by equation (2) of
Pro2Guard (which is Chen's bound) in both readings. It promises that each transition probability is
within eps, for all states together at 1 - delta, if runs are independent and the chain is one; it
promises nothing about the risk itself, which multiplies errors along long runs: of a loop of 2 %
bad, 2 % end, 45 in 100 answers were off by more than eps. For the risk, read its interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from sponsio_like.errors import RiskError
from sponsio_like.risk.model import RiskModel, described

Reading: TypeAlias = Literal["strong", "literal", "conditioned"]
"""`strong`: enough for every successor, which gives the paper's worked example; `literal`: for the
least demanding one, as the formula is printed; `conditioned`: the strong one, times the square of
how much the chain multiplies errors (a factor of our own, for the published one was not at hand:
see `conditioning`).
"""
READINGS: tuple[Reading, ...] = ("strong", "literal", "conditioned")
MARGIN = 1.1
"""The factor 11/10 of the conditioned rule, for the factor is estimated, too."""


class RunsNeeded(NamedTuple):
    """The runs that a state has, and needs; `more`: how many are missing."""

    state: str
    has: int
    needs: int

    @property
    def more(self) -> int:
        """The runs that are missing."""
        return max(0, self.needs - self.has)


def runs_needed(ratio: float, eps: float, delta: float) -> float:
    """Return the right side of equation (2) for one successor with this share of the counts."""
    inside = 0.25 - (abs(0.5 - ratio) - 2 * eps / 3) ** 2
    return 2 / eps**2 * math.log(2 / delta) * inside


def needed_of_row(
    row: Mapping[str, int], states: int, eps: float, delta: float, reading: Reading = "strong"
) -> float:
    """Return the runs that a row of counts needs, one of so many states."""
    total = sum(row.values())
    ratios = [n / total for n in row.values()] if total else [0.5]
    if reading == "literal":
        return runs_needed(max(ratios, key=lambda p: abs(0.5 - p)), eps, delta / states)
    return max(runs_needed(ratio, eps, delta / states) for ratio in ratios)


def runs_missing(
    model: RiskModel, eps: float, delta: float, reading: Reading = "strong"
) -> list[RunsNeeded]:
    """Return what each state of a model has and needs, those that miss most first.

    Raises `RiskError` for an eps or a delta out of range, and for a reading that is none.
    """
    for name, value in (("eps", eps), ("delta", delta)):
        if not 0 < value < 1:
            raise RiskError(f"{name} is {value}; write a number between 0 and 1")
    if reading not in READINGS:
        raise RiskError(f"reading is `{reading}`; write one of {', '.join(READINGS)}")
    rows: dict[str, dict[str, int]] = {}
    for (one, other), n in model.moves.items():
        rows.setdefault(_said(one), {})[_said(other)] = n
    factor = 1.0
    if reading == "conditioned":
        factor = (MARGIN * conditioning(rows)) ** 2
        reading = "strong"
    needs = []
    for name, row in rows.items():
        wanted = factor * needed_of_row(row, len(rows), eps, delta, reading)
        needs.append(RunsNeeded(name, sum(row.values()), math.ceil(wanted)))
    return sorted(needs, key=lambda need: (-need.more, need.state))


def conditioning(rows: Mapping[str, Mapping[str, int]]) -> float:
    """Return how many times the error of single probabilities the error of the risk may be.

    The risk differs by the sum over the steps of a run of what a row's errors make of the true
    risk: half the sum of their sizes at most. So it is half of the most successors, times the most
    steps that the learned chain expects: if every successor was seen, for then nothing is left out.
    """
    totals = {name: sum(row.values()) for name, row in rows.items()}
    steps = dict.fromkeys(rows, 0.0)
    for _ in range(100_000):
        after = {
            name: 1.0 + sum(n * steps.get(to, 0.0) for to, n in row.items()) / totals[name]
            for name, row in rows.items()
        }
        moved = max((abs(after[name] - steps[name]) for name in rows), default=0.0)
        steps = after
        if moved < 1e-9:
            break
    width = max((len(row) for row in rows.values()), default=2) / 2
    return max(1.0, width) * max(steps.values(), default=1.0)


def _said(node: object) -> str:
    return node if isinstance(node, str) else described(node)  # type: ignore[arg-type]
