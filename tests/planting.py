"""Plant each bug of the manifest, and see whether the tests of its requirement notice.

    python -m tests.planting [ids or beginnings of ids ...]

In: `tests/manifest.py`. Out: the requirements whose tests do not find their bug; exit status 1 if
there are any. Every trial runs on a copy of the package and the tests, in a process of its own.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.manifest import ROOT, UNPLANTED, UNTESTED, Requirement, bugs, carriers, requirements

JOBS = 2
SECONDS = 120
"""Longest trial; tests that hang have noticed something."""


def trial(requirement: Requirement) -> str:
    """What is wrong with a requirement's bug, or nothing."""
    bug = bugs()[requirement.bug]
    nodes = [carrier.node for carrier in carriers()[requirement.id]]
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        for part in ("sponsio_like", "tests", "pyproject.toml", "docs", "README.md"):
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copy(ROOT / part, Path(folder, part))
        place = Path(folder, "sponsio_like", bug.file)
        text = place.read_text("utf-8")
        if text.count(bug.old) != 1:
            return f"stands {text.count(bug.old)} times in {bug.file}: {bug.old!r}"
        place.write_text(text.replace(bug.old, bug.new), "utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *nodes]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return ""
    return {0: "is not noticed", 1: ""}.get(done.returncode, done.stdout[-2000:] + done.stderr)


def main(chosen: Sequence[str]) -> int:
    """Try all requirements, or those whose ids begin so."""
    planted = [
        each
        for each in requirements()
        if each.id not in UNTESTED | UNPLANTED and each.id.startswith(tuple(chosen or [""]))
    ]
    missed = 0
    with ThreadPoolExecutor(JOBS) as pool:
        for requirement, wrong in zip(planted, pool.map(trial, planted), strict=True):
            missed += bool(wrong)
            if wrong:
                print(f"{requirement.id}: “{requirement.bug}” {wrong}", flush=True)
    print(f"{len(planted) - missed} of {len(planted)} planted bugs are noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
