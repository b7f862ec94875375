"""Every behaviour is tried with every adapter that does not declare it impossible."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from tests.adapters.harness import Adapter, Open, staged
from tests.adapters.matrix import ADAPTERS
from tests.adapters.postgres import missing, server


@pytest.fixture(autouse=True)
def _nothing_ran(request: pytest.FixtureRequest) -> None:
    """No body has run when a test begins: modules that keep what bodies received call it `RAN`."""
    getattr(request.module, "RAN", []).clear()


@pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.name.replace(" ", "-"))
def opened(request: pytest.FixtureRequest) -> Open:
    """A function that opens a new agent of the adapter under contracts."""
    adapter: Adapter = request.param
    behaviour = request.function.__name__.removeprefix("test_")
    if behaviour in adapter.cannot:
        pytest.skip(f"{adapter.name}: {adapter.cannot[behaviour]}")
    return partial(staged, adapter)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of a Postgres server that has room for checkpoints."""
    if missing():
        pytest.skip(f"not installed: {', '.join(missing())}")
    with server() as address:
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(address) as saver:
            saver.setup()
        yield address
