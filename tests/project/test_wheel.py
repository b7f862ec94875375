"""What is published works: the built wheel, alone in a fresh environment, outside the checkout."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (python|sponsio-like) (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
EXAMPLES = [
    path for path in sorted((ROOT / "examples").glob("*.py")) if path.stem != "langgraph_refund"
]
"""The examples that need nothing but the wheel."""


def run(*command: str | Path, cwd: Path) -> str:
    """The output of a command that must succeed and that knows nothing of the checkout."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COVERAGE"))}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, as a publisher would."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    [path] = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of programs of an environment that has only the wheel and what it asks for."""
    home = tmp_path_factory.mktemp("wheel")
    venv.create(home / "env", with_pip=True)
    programs = home / "env" / ("Scripts" if os.name == "nt" else "bin")
    run(programs / "python", "-m", "pip", "install", "--quiet", wheel, cwd=home)
    yield programs
    shutil.rmtree(home / "env")


def test_wheel_carries_types_licence_and_data(wheel: Path) -> None:
    """The wheel has every file of the package, `py.typed` and the demo's data among them."""
    listed = set(zipfile.ZipFile(wheel).namelist())
    package = (
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "sponsio_like").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    assert set(package) <= listed
    assert "sponsio_like/py.typed" in listed
    assert any(name.endswith("licenses/LICENSE") for name in listed)
    assert {name.partition("/")[0] for name in listed if ".dist-info/" not in name} == {
        "sponsio_like",
        "pytest_sponsio_like.py",
    }


def test_wheel_is_what_is_imported(installed: Path, tmp_path: Path) -> None:
    """The tests of the wheel see the wheel, not the checkout."""
    shown = run(
        installed / "python",
        "-c",
        "import sponsio_like; print(sponsio_like.__file__)",
        cwd=tmp_path,
    )
    assert "site-packages" in shown
    assert str(ROOT) not in shown


def test_demo_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """`sponsio-like demo` runs offline from the wheel, in an empty folder."""
    shown = run(installed / "sponsio-like", "demo", cwd=tmp_path)
    assert "blocked" in shown.lower()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run_from_the_wheel(example: Path, installed: Path, tmp_path: Path) -> None:
    """Each example prints what its docstring promises."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shown = run(installed / "python", f"examples/{example.name}", cwd=tmp_path)
    promise = ast.get_docstring(ast.parse(example.read_text("utf-8"))) or ""
    _, command, promised = promise.partition(f"$ python examples/{example.name}\n")
    assert command, f"the docstring of {example.name} must show what it prints"
    assert shown.strip() == promised.strip()


def test_types_are_seen_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """A type checker reads the package's own types from the wheel."""
    user = tmp_path / "user.py"
    user.write_text("from sponsio_like.errors import SponsioLikeError\nraise SponsioLikeError\n")
    python = f"--python-executable={installed / 'python'}"
    assert "Success" in run(sys.executable, "-m", "mypy", "--strict", python, user, cwd=tmp_path)


def test_readme_keeps_its_promises(installed: Path, tmp_path: Path) -> None:
    """The README's example does what it shows: named blocks are files, `$` lines are run."""
    blocks = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
    for _, name, text in blocks:
        if name:
            (tmp_path / name).write_text(text, "utf-8")
    sessions = [text for kind, _, text in blocks if kind == "console"]
    promises = [promise for text in sessions for promise in COMMAND.findall(text)]
    assert promises
    for program, arguments, promised in promises:
        assert promised.strip() in run(installed / program, *arguments.split(), cwd=tmp_path)
