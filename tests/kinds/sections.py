"""Reads texts that stand in sections, a text a line: the rule, and whether it stops the texts.

In: the name of a file in this folder. Out: the texts by their rule, and by `stop` or `pass`.
"""

from __future__ import annotations

from pathlib import Path


def sections(name: str) -> dict[tuple[str, str], list[str]]:
    """The texts of each section."""
    found: dict[tuple[str, str], list[str]] = {}
    rows: list[str] = []
    for line in (Path(__file__).parent / name).read_text("utf-8").splitlines():
        if line.startswith("== "):
            rule, told = line[3:].split()
            rows = found.setdefault((rule, told), [])
        else:
            rows.append(line)
    return found
