"""What all tests share: a clean environment and random search that repeats itself."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.size import tried

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
gc.set_threshold(500_000, 20, 20)  # tests make many small objects that go by themselves


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


# `asyncio.run` replaces Python's own handler only: each time it does, `signal` writes out the task
# with the whole state that a graph has returned, and throws the text away.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _interrupted)


@pytest.fixture(autouse=True, scope="session")
def _no_settings_from_outside() -> Iterator[None]:
    """No variable of the developer's own shell may relax what a test enforces."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("SPONSIO_LIKE_"):
                patch.delenv(name)
        yield


@pytest.fixture(autouse=True, scope="session")
def _the_slow_path() -> Iterator[None]:
    """With `SLOW_PATH` in the environment every call is decided by the readable monitor."""
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("SLOW_PATH"):
            patch.setattr("sponsio_like.session.session.try_fast", lambda *_: None)
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Names of cases are the same in every process: none has an address in it. Draw cases."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid}: give this case an id of its own")
    names = tried((item.nodeid, item.get_closest_marker("long") is not None) for item in items)
    if left := [item for item in items if item.nodeid not in names]:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item.nodeid in names]


def pytest_collection_finish() -> None:
    """The collected tests are not looked through again at every garbage collection."""
    gc.collect()
    gc.freeze()
