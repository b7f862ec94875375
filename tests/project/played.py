"""Pages that a reader can follow by hand: played from top to bottom, in an empty folder.

In: the text of a page. Out: the same text, with what its commands print. A block of a page is a
file (`title=NAME`), lines added to one (`add=NAME`), commands with what they print (`console`), or
a picture (`mermaid`). Any other block raises, since nothing would run it.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
FILE = re.compile(r"(title|add)=([\w.-]+)")
CHANGING = re.compile(
    r"(?<=\bin )\d+\.\d+s|\b(?:auto|session)-[0-9a-f]{16}|\bticket-[0-9a-f]{16}"
    r'|(?<="timestamp": ")[^"]+|(?<="microseconds": )[\d.]+'
)
"""What differs from run to run: times, and ids made at random."""
PROGRAMS = {
    "python": '"{python}" "$@"',
    "pytest": '"{python}" -m pytest -p no:cacheprovider -p pytest_sponsio_like "$@"',
    "sponsio-like": '"{python}" -m sponsio_like "$@"',
}


def played(text: str) -> str:
    """Return the page with the outputs that its commands have. Raises `ValueError` for a block
    that nothing runs.
    """
    with TemporaryDirectory() as here, TemporaryDirectory() as programs:
        path = _programs(Path(programs))
        return BLOCK.sub(lambda block: _block(block, Path(here), path), text)


def _programs(folder: Path) -> str:
    """Write the programs that a reader has installed; return the search path that finds them."""
    for name, line in PROGRAMS.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\nexec {line.format(python=sys.executable)}\n", "utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def _block(block: re.Match[str], here: Path, path: str) -> str:
    kind, info, body = block.groups()
    if kind == "mermaid":
        return block[0]
    if kind == "console":
        return f"```console\n{''.join(_console(body, here, path))}```"
    file = FILE.fullmatch(info)
    if file is None:
        raise ValueError(f"nothing runs this block:\n{block[0]}")
    with (here / file[2]).open("w" if file[1] == "title" else "a", encoding="utf-8") as target:
        target.write(body)
    return block[0]


def _console(body: str, here: Path, path: str) -> Iterator[str]:
    """Yield each command, and what it prints; as it stood, if only times and ids differ."""
    for part in re.split(r"^(?=\$ )", body, flags=re.MULTILINE):
        if not part:
            continue
        command, _, before = part.removeprefix("$ ").partition("\n")
        after = _run(command, here, path)
        same = CHANGING.sub("*", before) == CHANGING.sub("*", after)
        yield f"$ {command}\n{before if same else after}"


def _run(command: str, here: Path, path: str) -> str:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    own |= {"PATH": path, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    own["EXAMPLES"] = str(ROOT / "examples")  # a reader names the folder that they have
    own["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a reader has none
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=here,
        env=own,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "".join(f"{line}\n" for line in lines)
