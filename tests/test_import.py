"""Importing the package is cheap: `import sponsio_like` stands in front of every agent's start."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

LIMIT = 0.150
LATER = ("httpx", "lark", "langchain_core", "langgraph", "pydantic", "rich", "structlog", "typer")

PROBE = """
import json, sys, time
before = set(sys.modules)
start = time.perf_counter()
import sponsio_like
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "loaded": sorted(set(sys.modules) - before)}))
"""


def probe() -> tuple[float, list[str]]:
    """How long `import sponsio_like` takes in a fresh interpreter, and what it loads."""
    shown = subprocess.run(
        [sys.executable, "-c", PROBE], check=True, capture_output=True, text=True
    )
    answer = json.loads(shown.stdout)
    return answer["seconds"], answer["loaded"]


@pytest.mark.parametrize("heavy", [*LATER, "yaml"])
def test_heavy_modules_are_imported_where_used(heavy: str) -> None:
    """`import sponsio_like` loads no parser, terminal, network, logging or framework module."""
    _, loaded = probe()
    assert heavy not in loaded


def test_import_is_fast() -> None:
    """`import sponsio_like` takes less than 150 ms."""
    assert min(probe()[0] for _ in range(7)) < LIMIT


def test_command_line_starts_without_the_network_stack() -> None:
    """`sponsio_like.cli` can be imported without loading httpx or any agent framework."""
    program = "import sponsio_like.cli, sys; print(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert not {"httpx", "langchain_core", "langgraph"} & set(shown.stdout.split())
