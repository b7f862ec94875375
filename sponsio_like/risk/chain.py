"""Markov chains: states, rows of probabilities, labels. Exact where they are made of counts.

In: counts of moves, or rows. Out: a `MarkovChain` whose rows sum to 1, exactly if they are
fractions; or a `BoundedChain`, whose probabilities are only known within bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from sponsio_like.errors import RiskError
from sponsio_like.risk.bounds import Interval, clopper_pearson
from sponsio_like.risk.model import BAD, BEGIN, END, RiskModel, described

Row: TypeAlias = Mapping[int, Any]
"""The probability of each successor, by its number."""
FLOAT_SLACK = 1e-9
"""The distance from 1 that the sum of a row of floats may have."""
ELSEWHERE = "elsewhere"
"""The state of all that was never seen, in a bounded chain."""


@dataclass(frozen=True, slots=True)
class MarkovChain:
    """A discrete-time Markov chain. `labels`: the states that each name holds in."""

    names: tuple[str, ...]
    rows: tuple[Row, ...] = field(hash=False)
    labels: Mapping[str, frozenset[int]] = field(hash=False)
    start: int = 0

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.names):
            raise RiskError(f"{len(self.names)} states and {len(self.rows)} rows")
        for name, row in zip(self.names, self.rows, strict=True):
            _check_row(name, row, len(self.names))

    @property
    def exact(self) -> bool:
        """True if every probability is a fraction."""
        return all(isinstance(p, Fraction | int) for row in self.rows for p in row.values())

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.names)


@dataclass(frozen=True, slots=True)
class BoundedChain:
    """A chain of which only bounds of the probabilities are known."""

    names: tuple[str, ...]
    rows: tuple[Mapping[int, Interval], ...] = field(hash=False)
    labels: Mapping[str, frozenset[int]] = field(hash=False)
    start: int = 0

    def __post_init__(self) -> None:
        for name, row in zip(self.names, self.rows, strict=True):
            low = math.fsum(each.lo for each in row.values())
            high = math.fsum(each.hi for each in row.values())
            right = all(0 <= each.lo <= each.hi <= 1 for each in row.values())
            if not right or low > 1 + FLOAT_SLACK or high < 1 - FLOAT_SLACK:
                raise RiskError(f"state `{name}`: no probabilities within these bounds sum to 1")

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.names)


def _check_row(name: str, row: Row, size: int) -> None:
    if any(not 0 <= j < size for j in row) or any(p < 0 for p in row.values()):
        raise RiskError(f"state `{name}`: a successor or a probability that cannot be")
    if all(isinstance(p, Fraction | int) for p in row.values()):
        total: Any = sum(row.values(), Fraction(0))
        wrong = total != 1
    else:
        total = math.fsum(row.values())
        wrong = not abs(total - 1) <= FLOAT_SLACK
    if wrong:
        raise RiskError(f"state `{name}`: its probabilities sum to {total}, not to 1")


def smoothed(
    counts: Mapping[Hashable, int],
    successors: Iterable[Hashable],
    alpha: Fraction | int,
) -> dict[Hashable, Fraction]:
    """Return the probabilities of the valid `successors`, each with `alpha` added to its count.

    They sum to 1 exactly; whatever is not among the successors gets nothing. Raises `RiskError` if
    a count is of no valid successor, or if there is nothing to divide.
    """
    valid = list(dict.fromkeys(successors))
    if strange := [each for each in counts if counts[each] and each not in valid]:
        raise RiskError(f"a step to `{strange[0]}` was counted, and declared impossible")
    weight = {each: counts.get(each, 0) + Fraction(alpha) for each in valid}
    total = sum(weight.values(), Fraction(0))
    if not total:
        raise RiskError("a state without counts has no probabilities; give alpha, or bounds")
    return {each: n / total for each, n in weight.items() if n}


def learned_chain(
    traces: Iterable[Sequence[Hashable]],
    states: Sequence[Hashable],
    can_reach: Callable[[Any, Any], bool],
    *,
    alpha: Fraction | int = 1,
    labels: Mapping[str, Iterable[Hashable]] | None = None,
    start: Hashable | None = None,
) -> MarkovChain:
    """Return the chain of traces of states, smoothed over valid successors only.

    A state without counts and without valid successors stays where it is. Raises `RiskError` for a
    step that cannot be.
    """
    number = {state: i for i, state in enumerate(states)}
    counts: dict[Hashable, dict[Hashable, int]] = {state: {} for state in states}
    for trace in traces:
        for one, other in pairwise(trace):
            if one not in number or other not in number or not can_reach(one, other):
                raise RiskError(f"a trace steps from `{one}` to `{other}`, which cannot be")
            counts[one][other] = counts[one].get(other, 0) + 1
    rows = []
    for state in states:
        valid = [each for each in states if can_reach(state, each)]
        if not valid or not (alpha or counts[state]):
            rows.append({number[state]: Fraction(1)})
            continue
        row = smoothed(counts[state], valid, alpha)
        rows.append({number[each]: p for each, p in row.items()})
    named = {
        name: frozenset(number[each] for each in members)
        for name, members in (labels or {}).items()
    }
    first = 0 if start is None else number[start]
    return MarkovChain(tuple(map(str, states)), tuple(rows), named, first)


# --- from a model -----------------------------------------------------------------------------


def chain_of(model: RiskModel) -> MarkovChain:
    """Return the chain of a model's moves as they were counted: no smoothing, exact fractions.

    States: where runs begin, every state that was seen, `bad` and `end`. A state whose runs were
    all stopped there leads to `end`, with the label `unknown`.
    """
    names, number, out = _numbered(model)
    rows: list[Row] = []
    unknown = set()
    for i, row in enumerate(out):
        total = sum(row.values())
        if total == 0 and i < len(out) - 2:
            unknown.add(i)
        stay = i if i >= len(out) - 2 else number[END]
        rows.append({j: Fraction(n, total) for j, n in row.items()} or {stay: Fraction(1)})
    labels = _labels(number) | {"unknown": frozenset(unknown)}
    return MarkovChain(names, tuple(rows), labels)


def bounded_chain(model: RiskModel, delta: float = 0.05) -> BoundedChain:
    """Return the chain of a model with bounds for every probability at once, at 1 - delta.

    What was never seen after a state may follow it as well: it leads `elsewhere`, which may be as
    bad as anything.
    """
    names, number, out = _numbered(model)
    away = len(out)
    pieces = sum(len(row) + 1 for row in out if row)
    rows: list[dict[int, Interval]] = []
    for i, row in enumerate(out):
        total, each = sum(row.values()), delta / max(pieces, 1)
        if i >= len(out) - 2:
            rows.append({i: Interval(1.0, 1.0)})
            continue
        bounds = {j: clopper_pearson(n, total, each) for j, n in row.items()}
        rows.append({**bounds, away: clopper_pearson(0, total, each)})
    rows.append({number[BAD]: Interval(0.0, 1.0), number[END]: Interval(0.0, 1.0)})
    return BoundedChain((*names, ELSEWHERE), tuple(rows), _labels(number))


def _numbered(model: RiskModel) -> tuple[tuple[str, ...], dict[Any, int], list[dict[int, int]]]:
    nodes: list[Any] = [BEGIN, *sorted(model.states), BAD, END]
    number = {node: i for i, node in enumerate(nodes)}
    out: list[dict[int, int]] = [{} for _ in nodes]
    for (one, other), n in model.moves.items():
        out[number[one]][number[other]] = n
    names = tuple(node if isinstance(node, str) else described(node) for node in nodes)
    return names, number, out


def _labels(number: Mapping[Any, int]) -> dict[str, frozenset[int]]:
    return {each: frozenset([number[each]]) for each in (BAD, END)}
