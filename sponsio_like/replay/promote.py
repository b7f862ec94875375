"""Turns one contract of a file from observe to enforce; everything else stays as it is written.

In: the text of a contract file, a name, and perhaps a part of the sessions. Out: the text, with the
mode of this contract changed.
"""

from __future__ import annotations

import re

from sponsio_like.contracts import parse, read_share
from sponsio_like.errors import ContractError, closest

WRITTEN = re.compile(r"""["']?\b(?:observe|enforce)\b["']?|\{[^{}]*\}""")
"""A mode, as it may be written."""


def promoted(text: str, name: str, share: str = "") -> str:
    """Return the text in which this contract says `mode: enforce`, or `mode: {enforce: 10%}`.

    Raises `ContractError` if no contract of the file has this name, and for what is no share.
    """
    mode = f"{{enforce: {100 * read_share(share):g}%}}" if share else "enforce"
    document = parse(text)
    listed = document.data.get("contracts", []) if isinstance(document.data, dict) else []
    names = [each.get("name") for each in listed if isinstance(each, dict)]
    if name not in names:
        raise ContractError.of(f"there is no contract `{name}`", closest(name, map(str, names)))
    at = next(i for i, each in enumerate(listed) if each.get("name") == name)
    lines = text.splitlines(keepends=True)
    path = ("contracts", at)
    if "mode" in listed[at]:
        spot = document.values[(*path, "mode")]
        line = lines[spot.line - 1]
        head, rest = line[: spot.column - 1], line[spot.column - 1 :]
        lines[spot.line - 1] = head + WRITTEN.sub(lambda _: mode, rest, count=1)
        return "".join(lines)
    spot = document.keys[(*path, "name")]
    line, column = lines[spot.line - 1], spot.column - 1
    whole = document.values[path]
    flow = lines[whole.line - 1][whole.column - 1 : whole.column] == "{"
    between = ", " if flow else "\n" + " " * column
    lines[spot.line - 1] = f"{line[:column]}mode: {mode}{between}{line[column:]}"
    return "".join(lines)
