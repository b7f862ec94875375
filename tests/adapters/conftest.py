"""Every behaviour is tried with every adapter that does not declare it impossible."""

from __future__ import annotations

from functools import partial

import pytest

from tests.adapters.harness import Adapter, Open, staged
from tests.adapters.matrix import ADAPTERS


@pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.name.replace(" ", "-"))
def opened(request: pytest.FixtureRequest) -> Open:
    """A function that opens a new agent of the adapter under contracts."""
    adapter: Adapter = request.param
    behaviour = request.function.__name__.removeprefix("test_")
    if behaviour in adapter.cannot:
        pytest.skip(f"{adapter.name}: {adapter.cannot[behaviour]}")
    return partial(staged, adapter)
