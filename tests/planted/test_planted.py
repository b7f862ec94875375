"""Each bug that is planted in the engine stands in the code, or no test could notice it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planted.planted import BUGS, Planted

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_can_be_planted(bug: Planted) -> None:
    """What it replaces stands in its file exactly once, and its test's file is there."""
    text = (ROOT / "sponsio_like" / bug.file).read_text("utf-8")
    assert text.count(bug.old) == 1
    assert bug.old != bug.new
    assert (ROOT / bug.test.partition("::")[0]).exists()
