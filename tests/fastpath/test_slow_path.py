"""The semantics, once more: every call decided by the readable monitor, none by a lane."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.size import WHOLE

ROOT = Path(__file__).parents[2]
TRIED = "tests/semantics" if WHOLE else "tests/semantics/test_operators.py"


@pytest.mark.long
def test_the_slow_path_means_the_same() -> None:
    """What contracts mean does not depend on the way a call goes."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TRIED]
    environment = {**os.environ, "SLOW_PATH": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:]
