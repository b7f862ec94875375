"""Importing the package is cheap: `import sponsio_like` stands in front of every agent's start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

LIMIT = 0.150
"""Seconds, on an idle machine."""
ASYNCIO = 1.5
"""At most so many times as long as `import asyncio` in the same process, on a busy one."""
LATER = ("httpx", "lark", "langchain_core", "langgraph", "pydantic", "rich", "typer")

PROBE = """
import json, sys, time
start = time.perf_counter()
import asyncio
yardstick = time.perf_counter() - start
before = set(sys.modules)
start = time.perf_counter()
import sponsio_like
seconds = time.perf_counter() - start
loaded = sorted(set(sys.modules) - before)
print(json.dumps({"ratio": seconds / yardstick, "seconds": seconds, "loaded": loaded}))
"""


@pytest.fixture(scope="module")
def probes(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Seven imports in fresh interpreters, with compiled files as after an installation."""
    cache = f"pycache_prefix={tmp_path_factory.mktemp('compiled')}"
    command = [sys.executable, "-X", cache, "-c", PROBE]
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    runs = [
        subprocess.run(command, check=True, capture_output=True, text=True, env=env)
        for _ in range(8)
    ]
    return [json.loads(run.stdout) for run in runs[1:]]


@pytest.mark.parametrize("heavy", [*LATER, "yaml"])
def test_heavy_modules_are_imported_where_used(heavy: str, probes: list[dict[str, Any]]) -> None:
    """`import sponsio_like` loads no parser, terminal, network, logging or framework module."""
    assert heavy not in probes[0]["loaded"]


def test_import_is_fast(probes: list[dict[str, Any]]) -> None:
    """`import sponsio_like` takes less than 150 ms."""
    quickest = min(probe["seconds"] for probe in probes)
    assert quickest < LIMIT or min(probe["ratio"] for probe in probes) < ASYNCIO


def test_command_line_starts_without_the_network_stack() -> None:
    """`sponsio_like.cli` can be imported without loading httpx or any agent framework."""
    program = "import sponsio_like.cli, sys; print(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert not {"httpx", "langchain_core", "langgraph"} & set(shown.stdout.split())
