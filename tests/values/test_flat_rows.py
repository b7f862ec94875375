"""Rows of plain values are copied at once, with what is read, and left, as if each was read."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import pytest

from sponsio_like.values import frozen
from sponsio_like.values.frozen import Room, frozen_copy
from tests.support.costs import work

VALUES = ["", "a", "é" * 5, 0, -7, 1 << 62, 1 << 63, 10**30, 0.5, 1e300, math.inf, None, True]
NAMES = ["a", "b", "c", "d", "é", "e\u0301", 7, b"x", None]


def made(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.5:
        return rng.choice([*VALUES, Decimal(3), "z" * 9])
    if rng.random() < 0.4:
        return [made(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(NAMES): made(rng, depth - 1) for _ in range(rng.randrange(4))}


def read(value: Any, room: Room, depth: int) -> Any:
    """The copy, and all that is left of the room."""
    copy = repr(frozen_copy(value, depth, room))
    return copy, room.met, room.values, room.digits, room.characters


@pytest.mark.parametrize("seed", range(300))
def test_rows_are_read_as_if_each_value_was(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy and all that is left of the room are the same, whatever stands in the rows."""
    rng = random.Random(seed)
    value, depth = [made(rng, 3) for _ in range(3)], rng.randrange(4)
    sizes = rng.choice([3, 8, 100]), rng.choice([25, 1000]), rng.choice([5, 20, 1000])
    found = read(value, Room(*sizes), depth)
    monkeypatch.setattr(frozen, "_is_flat", lambda *_: False)
    expected = read(value, Room(*sizes), depth)
    assert found[:2] == expected[:2]
    if not expected[1]:
        assert found == expected


def test_a_row_costs_what_a_few_values_cost() -> None:
    """A row takes fewer than 20 calls of functions."""
    rows = [{"id": n, "name": "x", "open": True, "sum": 0.5} for n in range(1_000)]
    assert work(lambda: frozen_copy(rows, 9, Room(100_000))) < 1_000 * 20
