"""The tests of contract files in pytest: which files are collected, and what a failure says."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = """\
version: 1
contracts:
  - {name: first, guarantee: tool `check` must precede `pay`}
tests:
  - {name: right, trace: check pay, expect: allowed}
  - {name: wrong, trace: pay, expect: allowed}
"""


def ran(folder: Path, *args: str) -> str:
    """What pytest prints in a folder, with this plugin and no other."""
    own = {name: each for name, each in os.environ.items() if not name.startswith("PYTEST_")}
    own |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    options = ["-q", "-p", "pytest_sponsio_like", "-p", "no:cacheprovider", *args]
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.long
def test_each_test_of_a_file_is_a_test_of_pytest(tmp_path: Path) -> None:
    """A failure is one line with its place, and no traceback."""
    (tmp_path / "contracts.yaml").write_text(FILE, "utf-8")
    said = ran(tmp_path)
    assert "1 failed, 1 passed" in said
    assert "contracts.yaml:6:12: `pay` was blocked by `first`; expected: allowed" in said
    assert "Traceback" not in said
    assert "site-packages" not in said


def test_one_test_is_chosen_by_its_name(tmp_path: Path) -> None:
    """Names are pytest's node ids."""
    (tmp_path / "contracts.yaml").write_text(FILE, "utf-8")
    assert "1 passed" in ran(tmp_path, "contracts.yaml::right")


def test_a_file_with_mistakes_is_an_error(tmp_path: Path) -> None:
    """It says what `check` says, and no test of it runs."""
    (tmp_path / "contracts.yaml").write_text(FILE.replace("expect", "expects"), "utf-8")
    said = ran(tmp_path)
    assert "contracts.yaml:5:" in said
    assert "did you mean `expect`?" in said
    assert "1 error" in said


@pytest.mark.long
@pytest.mark.parametrize(
    "text", ["a: 1\n", "tests:\n- a\n", "contracts: []\n", "x:\n  tests: 1\n  contracts: 2\n", "\0"]
)
def test_other_files_are_left_alone(text: str, tmp_path: Path) -> None:
    """A file that is no contract file with tests is not even read by the library."""
    (tmp_path / "other.yaml").write_text(text, "utf-8")
    probe = "import sys\ndef pytest_unconfigure():\n    print('sponsio_like' in sys.modules)\n"
    (tmp_path / "conftest.py").write_text(probe, "utf-8")
    said = ran(tmp_path)
    assert "no tests ran" in said
    assert said.splitlines()[-1] == "False"


def test_pytest_finds_the_plugin_where_the_package_is_installed() -> None:
    """It is declared, and lies in the wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    declared = project["project"]["entry-points"]["pytest11"]
    assert declared == {"pytest_sponsio_like": "pytest_sponsio_like"}
    packed = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    assert packed == ["sponsio_like", "pytest_sponsio_like.py"]
