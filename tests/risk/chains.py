"""Random chains, and a second way to solve them: dense elimination over fractions."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from sponsio_like.risk import MarkovChain

Rows = Sequence[Mapping[int, Fraction]]


def random_chain(rng: random.Random, size: int) -> MarkovChain:
    """A chain with some successors a state, and the labels `bad` and `goal`."""
    rows = []
    for _ in range(size):
        to = rng.sample(range(size), rng.randint(1, min(size, 4)))
        weights = [rng.randint(1, 9) for _ in to]
        rows.append({j: Fraction(w, sum(weights)) for j, w in zip(to, weights, strict=True)})
    bad, goal = rng.sample(range(size), 1), rng.sample(range(size), min(2, size))
    labels = {"bad": frozenset(bad), "goal": frozenset(goal)}
    return MarkovChain(tuple(map(str, range(size))), tuple(rows), labels)


def as_floats(chain: MarkovChain) -> MarkovChain:
    """The same chain in floats, which is solved by iteration."""
    rows = tuple({j: float(p) for j, p in row.items()} for row in chain.rows)
    return MarkovChain(chain.names, rows, chain.labels)


def until(rows: Rows, stay: Collection[int], goal: Collection[int]) -> list[Fraction]:
    """The probability of `stay U goal`: the least solution, by Gauss and Jordan."""
    size = len(rows)
    able = set(goal)
    for _ in range(size):
        able |= {i for i in stay if any(j in able for j, p in rows[i].items() if p)}
    matrix = []
    for i in range(size):
        row = [Fraction(int(i == j)) for j in range(size)] + [Fraction(int(i in goal))]
        if i in able and i not in goal:
            for j, p in rows[i].items():
                row[j] -= p
        matrix.append(row)
    for k in range(size):
        pivot = next(i for i in range(k, size) if matrix[i][k])
        matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
        matrix[k] = [each / matrix[k][k] for each in matrix[k]]
        for i in range(size):
            if i != k and matrix[i][k]:
                factor = matrix[i][k]
                matrix[i] = [a - factor * b for a, b in zip(matrix[i], matrix[k], strict=True)]
    return [row[-1] for row in matrix]


def until_within(
    rows: Rows, stay: Collection[int], goal: Collection[int], steps: int, i: int
) -> Fraction:
    """The probability of `stay U<=steps goal` from one state, path by path."""
    if i in goal:
        return Fraction(1)
    if i not in stay or steps == 0:
        return Fraction(0)
    each = (p * until_within(rows, stay, goal, steps - 1, j) for j, p in rows[i].items())
    return sum(each, Fraction(0))
