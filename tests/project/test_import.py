"""Importing the package is cheap: `import sponsio_like` stands in front of every agent's start."""

from __future__ import annotations

import subprocess
import sys

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


def test_command_line_starts_without_the_network_stack() -> None:
    """`sponsio_like.cli` can be imported without loading httpx or any agent framework."""
    program = "import sponsio_like.cli, sys; print(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert not {"httpx", "langchain_core", "langgraph"} & set(shown.stdout.split())
