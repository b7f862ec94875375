"""The engine says what the oracle says: every small formula, on every short trace, at every event.

Compared are, after each event, what is violated and at which position, what time has violated, the
verdict, and what would be unfulfilled; what is blocked; and that a snapshot changes none of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.oracle import Formula
from tests.tables import groups, sample, table
from tests.walk import Disagreement, forked, restored, walk, walk_enforced

CHUNK = 10


def chunks() -> list[object]:
    """The formulas, some at a time."""
    found: list[object] = []
    for name, formulas in groups().items():
        for n, start in enumerate(range(0, len(formulas), CHUNK)):
            found.append(pytest.param(formulas[start : start + CHUNK], id=f"{name} {n}"))
    return found


def first(disagreements: Iterator[Disagreement]) -> str:
    """The first disagreement in words; nothing if there is none."""
    return "\n".join(str(each) for each in itertools.islice(disagreements, 1))


@pytest.mark.parametrize("formulas", chunks())
def test_the_engine_agrees_with_the_oracle(formulas: list[Formula]) -> None:
    """After every event, violations, verdict and unfulfilled obligations are those of the oracle."""
    for formula in formulas:
        assert first(walk(table(formula), forked)) == ""


@pytest.mark.parametrize("formulas", chunks())
def test_exactly_the_calls_that_violate_are_blocked(formulas: list[Formula]) -> None:
    """A call is blocked if and only if the oracle reports it, and then nothing has changed."""
    for formula in formulas:
        assert first(walk_enforced(table(formula))) == ""


@pytest.mark.parametrize("n", range(3))
def test_a_restored_session_goes_on_as_if_nothing_had_happened(n: int) -> None:
    """A session that is written down and restored after every event says what the oracle says."""
    some = [*groups()["templates"][n::3], *groups()["timed"][n::3]][::2] + sample(2, 4, seed=n)
    for formula in some:
        assert first(walk(table(formula), restored)) == ""
