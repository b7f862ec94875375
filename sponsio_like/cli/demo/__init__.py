"""The demo: a recorded run under attack, without contracts, with them, and in observe mode.

In: a trace file and a contract file (the demo's own, unless others are given). Out: text on a
console. All that is shown comes from these two files.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from sponsio_like.errors import SponsioLikeError

if TYPE_CHECKING:
    from rich.console import Console

    from sponsio_like.terminal import Styled

FOLDER = Path(__file__).parent
CONTRACTS = FOLDER / "contracts.yaml"
EXCERPT = FOLDER / "excerpt.jsonl"


def run(console: Console, contracts: Path | None = None, trace: Path | None = None) -> None:
    """Show the demo. Raises `ContractError` or `TraceError` for files that cannot be read."""
    from sponsio_like.cli.demo.screen import Screen
    from sponsio_like.cli.demo.story import read_story

    Screen(console).draw(read_story(contracts or CONTRACTS, trace or EXCERPT))


def save_files(folder: Path) -> list[Styled]:
    """Copy the demo's files into a folder; return the lines that say how to go on.

    Raises `SponsioLikeError` rather than overwrite a file.
    """
    from sponsio_like.cli.demo.screen import program_here

    page: list[Styled] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for source in (CONTRACTS, EXCERPT, FOLDER / "README.md"):
            target = folder / source.name
            if target.exists():
                raise SponsioLikeError(f"{target}: is there already; choose another folder")
            shutil.copyfile(source, target)
            page.append((f"wrote {target}", ""))
    except OSError as error:
        raise SponsioLikeError(f"{folder}: cannot be written: {error.strerror}") from error
    command = f"{program_here()} demo --contracts {folder / CONTRACTS.name}"
    page.append((f"change them, then: {command} --trace {folder / EXCERPT.name}", "bold"))
    return page
