"""Two versions held against each other: a change of meaning is seen, and nothing else is.

Another version is a copy of the package, with one line of it changed or none.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.fuzz import versions


def copy(folder: Path) -> Path:
    """A copy of the package."""
    shutil.copytree(
        versions.ROOT / "sponsio_like",
        folder / "sponsio_like",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return folder


@pytest.mark.long
def test_a_change_of_meaning_is_a_difference(tmp_path: Path) -> None:
    """Once a line of the copy is changed, so that no obligation is ever violated; not before."""
    old, batch = copy(tmp_path), [versions.task(3, number) for number in range(16)]
    tally: Counter[str] = Counter()
    assert versions.compared(old, batch, tally) == []
    assert tally["guards"] > 10
    assert tally["calls"] > 300
    assert tally["refusals"] > 20
    changed = old / "sponsio_like/monitor/monitor.py"
    line = "        dead = len(live) < len(all_live)\n"
    assert line in changed.read_text()
    changed.write_text(changed.read_text().replace(line, "        dead = False\n"))
    assert versions.compared(old, batch, tally)
