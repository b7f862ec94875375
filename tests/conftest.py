"""What all tests share: a clean environment and random search that repeats itself."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the developer's own shell may relax what a test enforces."""
    for name in os.environ:
        if name.startswith("SPONSIO_LIKE_"):
            monkeypatch.delenv(name)
