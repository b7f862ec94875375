"""Changes the mode of one contract of a file from observe to enforce, and nothing else in the text.

In: the contract files, a name, and perhaps a part of the sessions. Out: the file in which the mode
of this contract stands, and its text with the mode changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from sponsio_like.checks import read_file
from sponsio_like.contracts import MODES, Contract, File, Source, fingerprint, parse, read_share
from sponsio_like.errors import ContractError, closest

WRITTEN = re.compile(r"""["']?\b(?:observe|enforce)\b["']?|\{[^{}]*\}""")
"""A mode, as it may be written."""


def _with_mode(files: Sequence[Path], own: Path, name: str, share: str = "") -> tuple[Path, str]:
    """Return the file that says the mode of a contract, and its text in which it is enforced.

    `files` are in the order in which they are read, `own` the one that has the contract: an
    override of a file that includes it may say the mode. Raises `ContractError` as `promoted` does,
    and where the override is of several contracts.
    """
    for path in reversed(files):
        text = path.read_text("utf-8")
        document = parse(text)
        for i, each in reversed([*enumerate(_listed(document.data, "overrides"))]):
            wanted = each.get("name")
            if "mode" not in each or not isinstance(wanted, str):
                continue
            if wanted == name:
                return path, promoted(text, name, share, "overrides")
            if fnmatchcase(name, wanted):
                spot = document.spot(("overrides", i, "mode"))
                raise ContractError.of(
                    f"the override of `{wanted}` says the mode of `{name}`, and of others",
                    f"write below it: - {{name: {name}, mode: observe}}",
                    f"{path}:{spot.line}:{spot.column}",
                )
    return own, promoted(own.read_text("utf-8"), name, share)


def promotion(source: Source, file: File, contract: Contract, share: str = "") -> tuple[Path, str]:
    """Return the file that says the mode of a contract, and its text in which it is enforced.

    Raises `ContractError` for a mode that cannot be changed there for this contract alone.
    """
    own = Path(contract.where.rsplit(":", 2)[0])  # it may stand in a file that is included
    place, text = _with_mode([Path(each) for each in file.sources], own, contract.name, share)
    _check(file, read_file(source, instead={place: text}), contract.name, share)
    return place, text


def _check(before: File, after: File, name: str, share: str) -> None:
    """Raise `ContractError` unless the mode of this contract is all that has changed."""
    part = read_share(share) if share else 1.0
    old, new = _told(before.contracts), _told(after.contracts)
    wanted = {each: ("enforce", part, old[each][2]) if each == name else old[each] for each in old}
    said = new[name][0] or after.mode or "enforce"
    if {**new, name: (said, *new[name][1:])} != wanted:
        raise ContractError.of(
            f"`{name}` is not enforced by changing its mode here",
            "another part of the files says it, too: write it by hand",
        )


def _told(contracts: Iterable[Contract]) -> dict[str, tuple[Any, float, str]]:
    return {each.name: (each.mode, each.share, fingerprint(each)) for each in contracts}


def _listed(data: Any, section: str) -> list[Any]:
    listed = data.get(section) if isinstance(data, dict) else None
    return [e if isinstance(e, dict) else {} for e in listed] if isinstance(listed, list) else []


def promoted(text: str, name: str, share: str = "", section: str = "contracts") -> str:
    """Return the text of the file in which this contract has `mode: enforce`, or `mode: {enforce:
    10%}`.

    `section`: `overrides`, if it is one of these that says it. Raises `ContractError` if nothing
    there has this name, and for what is no share.
    """
    mode = f"{{enforce: {100 * read_share(share):g}%}}" if share else "enforce"
    document = parse(text)
    listed = _listed(document.data, section)
    names = [each.get("name") for each in listed]
    if name not in names:
        raise ContractError.of(f"there is no contract `{name}`", closest(name, map(str, names)))
    at = len(names) - 1 - names[::-1].index(name) if section == "overrides" else names.index(name)
    lines = text.splitlines(keepends=True)
    path = (section, at)
    if "mode" in listed[at]:
        said = listed[at]["mode"]
        if isinstance(said, str) and said not in MODES:
            raise ContractError.of(
                f"the mode of `{name}` is `{said}`", "write observe or enforce in its place"
            )
        spot = document.spot((*path, "mode"))
        line = lines[spot.line - 1]
        head, rest = line[: spot.column - 1], line[spot.column - 1 :]
        lines[spot.line - 1] = head + WRITTEN.sub(lambda _: mode, rest, count=1)
        return "".join(lines)
    spot = document.spot((*path, "name"), of_key=True)
    line, column = lines[spot.line - 1], spot.column - 1
    whole = document.spot(path)
    flow = lines[whole.line - 1][whole.column - 1 : whole.column] == "{"
    between = ", " if flow else "\n" + " " * column
    lines[spot.line - 1] = f"{line[:column]}mode: {mode}{between}{line[column:]}"
    return "".join(lines)
