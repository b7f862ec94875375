"""`import:` of a contract file, and `--import`: the modules that declare what a file uses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.metadata import EntryPoint
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard
from sponsio_like.contracts import imports, load, loads
from sponsio_like.events import CUSTOM
from tests.semantics.manifest import requirement

NUMBERS = count()
RULES = """
from sponsio_like import atom

@atom("{atom}")
def told(event, context):
    return event.args.get("day") == "sunday"
"""
FILE = """\
version: 1
import: [{module}]
contracts:
  - name: nobody is paid on sunday
    guarantee: {{ltl: "G(called(pay) -> !{atom}())"}}
"""


@pytest.fixture
def names() -> Iterator[dict[str, str]]:
    """Names of a module and of an atom that no other test has."""
    number = next(NUMBERS)
    found = {"module": f"imported_rules_{number}", "atom": f"imported_sunday_{number}"}
    yield found
    sys.modules.pop(found["module"], None)
    CUSTOM.pop(found["atom"], None)


def written(folder: Path, names: dict[str, str], rules: str = RULES) -> Path:
    """Return the contract file of a folder, with the module beside it."""
    (folder / f"{names['module']}.py").write_text(rules.format(**names), "utf-8")
    file = folder / "contracts.yaml"
    file.write_text(FILE.format(**names), "utf-8")
    return file


def told(file: Path) -> str:
    """Return the mistakes of a file that is refused."""
    with pytest.raises(ContractError) as refused:
        load(file)
    return str(refused.value)


@requirement("S-FILE-14")
def test_a_file_imports_the_module_beside_it(tmp_path: Path, names: dict[str, str]) -> None:
    """Its atom decides; the search path is as it was."""
    before = list(sys.path)
    session = Guard.from_yaml(written(tmp_path, names)).session()
    assert isinstance(session.decide("pay", {"day": "sunday"}), Blocked)
    assert isinstance(session.decide("pay", {"day": "monday"}), Allowed)
    assert sys.path == before


def test_an_included_file_imports_too(tmp_path: Path, names: dict[str, str]) -> None:
    """The module lies beside the file that names it."""
    inner = tmp_path / "pack"
    inner.mkdir()
    written(inner, names)
    outer = tmp_path / "all.yaml"
    outer.write_text("version: 1\ninclude: [pack]\n", "utf-8")
    assert [each.name for each in load(outer).contracts] == ["nobody is paid on sunday"]


def test_a_module_where_python_looks_comes_first(tmp_path: Path, names: dict[str, str]) -> None:
    """What lies beside a file stands in for no module that is installed."""
    (tmp_path / "json.py").write_text("raise ValueError", "utf-8")
    file = tmp_path / "contracts.yaml"
    file.write_text("version: 1\nimport: [json]\ncontracts: []\n", "utf-8")
    assert "json" not in told(file)


@requirement("S-FILE-14")
def test_a_text_imports_nothing(tmp_path: Path, names: dict[str, str]) -> None:
    """A text may name modules that are imported already."""
    with pytest.raises(ContractError, match=f"cannot import `{names['module']}`"):
        loads(FILE.format(**names))
    load(written(tmp_path, names))
    assert loads(FILE.format(**names)).contracts


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("raise KeyError('x')\n", "raised when it was imported: KeyError: 'x' ({module}.py:1)"),
        ("import no_such_thing\n", "ModuleNotFoundError: No module named 'no_such_thing'"),
        ("def f(:\n", "cannot be read: line 1: invalid syntax"),
        ("raise SystemExit(3)\n", "raised when it was imported: SystemExit: 3"),
        (
            'from sponsio_like import atom\n\n@atom("ctx_told")\ndef mine(event, context): ...\n',
            "declares what cannot be: atom `ctx_told` exists already",
        ),
    ],
)
def test_a_module_that_cannot_be_imported_is_a_mistake_of_the_file(
    tmp_path: Path, names: dict[str, str], rules: str, said: str
) -> None:
    """The mistake stands at the name, and says what went wrong in which line of the module."""
    file = written(tmp_path, names)
    (tmp_path / f"{names['module']}.py").write_text(rules, "utf-8")
    message = told(file)
    assert message.startswith(f"{file}:2:10: `{names['module']}` ")
    assert said.format(**names) in message


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("[no_such_rules]", "there is no module `no_such_rules` where Python looks, nor in"),
        ("[no_such.rules]", "there is no module `no_such.rules`"),
        ("[..rules]", "`..rules` is no module"),
        ("[7]", "`7` is no module"),
        ("['os; x']", "`os; x` is no module"),
        ("[]", "is no list of modules"),
        ("my_rules", "is no list of modules"),
    ],
)
def test_what_is_no_module_is_refused(tmp_path: Path, value: str, said: str) -> None:
    """Each has its place, and what to write."""
    file = tmp_path / "contracts.yaml"
    file.write_text(f"version: 1\nimport: {value}\n", "utf-8")
    assert said in told(file)


def test_an_installed_package_offers_rules_by_a_name(
    tmp_path: Path, names: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry point is loaded when a file names it; until then its module is not imported."""
    file = written(tmp_path, names)
    text = file.read_text("utf-8").replace(f"[{names['module']}]", "[acme-rules]")
    file.write_text(text, "utf-8")
    offered = EntryPoint("acme-rules", names["module"], imports.GROUP)
    asked = {"group": imports.GROUP, "name": offered.name}
    monkeypatch.setattr(
        metadata, "entry_points", lambda **given: [offered] if given == asked else []
    )
    assert names["module"] not in sys.modules
    assert load(file).contracts


@pytest.mark.long
@pytest.mark.parametrize("place", [0, 1, 3], ids=["first", "after the command", "last"])
def test_the_command_line_imports(tmp_path: Path, names: dict[str, str], place: int) -> None:
    """`--import` stands before the command or behind it."""
    file = written(tmp_path, names)
    file.write_text(file.read_text("utf-8").replace(f"import: [{names['module']}]\n", ""), "utf-8")
    command: list[Any] = ["check", file.name, "--json"]
    command[place:place] = ["--import", names["module"]]
    done = subprocess.run(
        [sys.executable, "-m", "sponsio_like", *command],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
