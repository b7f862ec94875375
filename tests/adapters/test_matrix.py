"""What adapters declare: what their frameworks cannot do, each with its reason, and truly so."""

from __future__ import annotations

from functools import partial

import pytest

from tests.adapters import bench
from tests.adapters.behaviours import BEHAVIOURS
from tests.adapters.harness import Adapter, staged
from tests.adapters.matrix import ADAPTERS

DECLARED = [
    pytest.param(each, behaviour, id=f"{each.name.replace(' ', '-')}-{behaviour}")
    for each in ADAPTERS
    for behaviour in each.cannot
]


def test_adapters_have_their_own_names() -> None:
    """A name stands for one adapter."""
    names = [each.name for each in ADAPTERS]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize(("adapter", "behaviour"), DECLARED)
def test_what_cannot_be_done_is_a_behaviour_and_has_a_reason(
    adapter: Adapter, behaviour: str
) -> None:
    """A declaration names a behaviour that exists, and says why in a sentence."""
    assert behaviour in BEHAVIOURS
    assert len(adapter.cannot[behaviour].split()) >= 4


@pytest.mark.parametrize(("adapter", "behaviour"), DECLARED)
def test_what_is_declared_impossible_is_not_done(
    adapter: Adapter, behaviour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A behaviour that an adapter shows after all is not declared any more."""
    monkeypatch.setattr(bench, "PATIENCE", 0.1)
    with pytest.raises(Exception):  # noqa: B017, PT011  whatever goes wrong
        BEHAVIOURS[behaviour](partial(staged, adapter))
