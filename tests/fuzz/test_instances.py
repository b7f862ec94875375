"""A contract with a value variable decides as one contract for each value does."""

from __future__ import annotations

import pytest

from sponsio_like.monitor.parametric import store
from tests.fuzz.instances import campaign
from tests.support.size import sized


@pytest.mark.long
def test_values_are_as_if_each_had_a_contract_of_its_own() -> None:
    """With bounds, events without a value, and up to four calls in flight."""
    found = campaign(sized(300, 40), seed=1)
    assert found.differences == []
    assert found.calls > 30 * found.guards
    assert 100 < found.refused < found.calls


def test_values_that_skip_what_they_have_to_see_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A deadline that is seen one position late is a difference."""
    wakes_at = store.ValueStates.wakes_at

    def late(self: store.ValueStates, last: int, wake: object) -> int:
        return wakes_at(self, last, lambda state: wake(state) + 1)  # type: ignore[operator]

    monkeypatch.setattr(store.ValueStates, "wakes_at", late)
    assert campaign(40, seed=1).differences
