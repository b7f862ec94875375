"""A digest of short values is that of the canonical form, which is written in less time."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sponsio_like.values import canonical_form
from sponsio_like.values.canonical_form import NotCanonical, digest
from sponsio_like.values.limits import DEPTH_CAP
from tests.support.size import sized

TEXTS = ("", "a", "\u00e9", "x" * 1_024, "x" * 1_025, "a b", "1")
NUMBERS = (0, 1, -1, 10, -1_000, 10**15, 10**15 - 1, -(10**15), 10**20, True, False, 1.0, 1.5, None)


def value(rng: random.Random, depth: int) -> Any:
    """A value of JSON."""
    kind = rng.randrange(4 if depth else 2)
    if kind < 2:
        return rng.choice((TEXTS, NUMBERS)[kind])
    if kind == 2:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice("abc\u00e9"): value(rng, depth - 1) for _ in range(rng.randrange(4))}


@pytest.mark.parametrize("seed", range(sized(4, 40)))
def test_the_short_way_writes_what_the_long_way_does(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the values are, and however they are nested."""
    rng = random.Random(seed)
    each = [{f"k{i}": value(rng, 3) for i in range(rng.randrange(4))} for _ in range(500)]
    quick = [digest("t", args) for args in each]
    assert sum(canonical_form._flat(args) is not None for args in each) > 100
    monkeypatch.setattr(canonical_form, "_flat", lambda _: None)
    assert quick == [digest("t", args) for args in each]


@pytest.mark.parametrize("levels", range(DEPTH_CAP - 3, DEPTH_CAP + 2))
def test_what_is_nested_too_deeply_has_no_digest_either_way(
    levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The short way ends where the long one does."""
    nested: Any = 1
    for _ in range(levels):
        nested = [nested]

    def said() -> str:
        try:
            return digest("t", {"a": nested})
        except NotCanonical:
            return ""

    quick = said()
    monkeypatch.setattr(canonical_form, "_flat", lambda _: None)
    assert quick == said()
