"""Importing the package is cheap: `import sponsio_like` stands in front of every agent's start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LATER = (
    "httpx",
    "lark",
    "langchain_core",
    "langgraph",
    "pydantic",
    "rich",
    "ruamel",
    "typer",
    "yaml",
)
PROBE = """
import sys
before = set(sys.modules)
import sponsio_like
print(*sorted(set(sys.modules) - before))
"""


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """The modules that `import sponsio_like` loads, in a fresh interpreter."""
    command = [sys.executable, "-c", PROBE]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.parametrize("heavy", LATER)
def test_heavy_modules_are_imported_where_used(heavy: str, loaded: set[str]) -> None:
    """`import sponsio_like` loads no parser, terminal, network, logging or framework module."""
    assert heavy not in loaded


def test_import_loads_the_standard_library_and_this_package_alone(loaded: set[str]) -> None:
    """`import sponsio_like` loads nothing of any other package, and no event loop."""
    tops = {name.partition(".")[0] for name in loaded}
    assert tops <= {*sys.stdlib_module_names, "sponsio_like"}
    assert not tops & {"asyncio", "email", "http", "sqlite3", "ssl", "unittest", "xml"}


FIRST_CALLS = """
import sys
from sponsio_like import Guard
guard = Guard.from_yaml("contracts.yaml")
session = guard.session()
before = {name.partition(".")[0] for name in sys.modules}
session.decide("bash", {"command": "if a; then rm $(b) > c; fi"})
session.decide("bash", {"command": "rm x | sort 2> y"})
session.decide("query", {"query": "delete from a where b = 1"})
session.decide("send", {"to": "a@b.de", "body": "+49 30 123456, DE02120300000000202051"})
print(*sorted({name.partition(".")[0] for name in sys.modules} - before))
"""
CONTRACTS = """
version: 1
tools:
  bash: {fields: {command: shell}}
  query: {fields: {query: sql}}
  send: {fields: {to: email, body: personal}}
contracts:
  - name: shell
    guarantee: {pattern: dangerous_bash_commands, tool: bash}
  - name: sql
    guarantee: {pattern: dangerous_sql_verbs, tool: query}
  - name: texts
    guarantee: {pattern: absent, match: {tool: send, args: {body: {finds: [phone, iban]}}}}
"""


def test_the_first_calls_import_no_library(tmp_path: Path) -> None:
    """Each library that reads the texts of calls is imported when the contracts are loaded."""
    (tmp_path / "contracts.yaml").write_text(CONTRACTS, "utf-8")
    command = [sys.executable, "-c", FIRST_CALLS]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert shown.stdout.split() == []


def test_the_pattern_of_shell_lines_is_compiled_where_a_contract_names_one(
    loaded: set[str],
) -> None:
    """It takes a tenth of a second."""
    assert "sponsio_like.kinds.shell_plain" in loaded
    assert "sponsio_like.kinds.shell_line" not in loaded


def test_command_line_starts_without_the_network_stack() -> None:
    """`sponsio_like.cli` can be imported without loading httpx or any agent framework."""
    program = "import sponsio_like.cli, sys; print(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert not {"httpx", "langchain_core", "langgraph"} & set(shown.stdout.split())
