"""Gathers the contracts of a file and of those that it includes, with what `overrides:` changes.

In: a `Piece`. Out: an `ListedContract` for each contract, as it was written, and what stands in
place of its keys; and a problem for an override that matches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from sponsio_like.contracts.composition import Piece
from sponsio_like.contracts.operands import check_keys
from sponsio_like.errors import Problem, Problems, closest
from sponsio_like.logic import is_glob
from sponsio_like.outcome import Mode

FORM = "write {name: .., mode: observe}"


@dataclass(slots=True, eq=False)
class ListedContract:
    """A contract as it was written, in the list of a file.

    `over` has, for each key that an override gives, the file and the number of that override.
    `mode` is that of its file, or of the nearest that includes it.
    """

    data: Any
    piece: Piece
    index: int
    over: dict[str, tuple[Piece, int]] = field(default_factory=dict)
    mode: Mode | None = None

    @property
    def name(self) -> str:
        """The name as it was written; empty if there is none."""
        name = self.data.get("name") if isinstance(self.data, Mapping) else None
        return name.strip() if isinstance(name, str) else ""

    @property
    def outermost(self) -> Piece:
        """The file whose words its values may use: the last that changes it, else its own."""
        return [self.piece, *(piece for piece, _ in self.over.values())][-1]

    @property
    def place(self) -> str:
        """The place of its name, in its file."""
        return self.piece.place(("contracts", self.index, "name"))

    def located(self, problem: Problem) -> Problem:
        """Return a problem of the contract at its place, in its file or in that of an override."""
        key = str(problem.path[0]) if problem.path else ""
        if key in self.over:
            piece, i = self.over[key]
            return piece.located(replace(problem, path=("overrides", i, *problem.path)))
        path = ("contracts", self.index, *problem.path)
        return self.piece.located(replace(problem, path=path))


def entries(root: Piece, keys: Iterable[str], found: list[Problem]) -> list[ListedContract]:
    """Return the contracts of a file and of those it includes, included ones first.

    `keys` are those of a contract, which an override may give. What is wrong is added to `found`.
    """
    gathered: list[ListedContract] = []
    for piece in root.all():
        value = piece.data.get("contracts")
        problems = Problems()
        if isinstance(value, list) and value:
            gathered += [ListedContract(data, piece, i) for i, data in enumerate(value)]
        elif piece.data and ("contracts" in piece.data or "include" not in piece.data):
            what = "no contracts" if not value else "`contracts` is not a list"
            problems.add(what, "write `contracts:` and below it `- name: ..`", "contracts")
        if "overrides" in piece.data:
            before, gathered = gathered, _overridden(piece, gathered, (*keys,), problems)
            if piece is root and before and not gathered:
                problems.add(
                    "no contract is left", "remove fewer: all would be allowed", "overrides"
                )
        found += [piece.located(each) for each in problems.found]
    return gathered


def _overridden(
    piece: Piece, gathered: list[ListedContract], keys: tuple[str, ...], problems: Problems
) -> list[ListedContract]:
    """Return the contracts as the overrides of a file leave them."""
    value = piece.data["overrides"]
    if not isinstance(value, list) or not value:
        problems.add(
            f"`{value}` is no list of overrides", f"below `overrides:`, {FORM}", "overrides"
        )
        return gathered
    below = [each for each in piece.all() if each is not piece]
    for i, override in enumerate(value):
        at = ("overrides", i)
        own = Problems()
        if not _is_override(override, keys, own):
            problems.found += [replace(each, path=(*at, *each.path)) for each in own.found]
            continue
        name = override["name"].strip()
        meant = [each for each in gathered if each.piece in below and _matches(each.name, name)]
        if not meant:
            what, hint = _unmatched(name, piece, gathered, below)
            problems.add(what, hint, *at, "name")
        if override.get("remove"):
            gathered = [each for each in gathered if each not in meant]
            continue
        for entry in meant:
            _change(entry, override, piece, i, problems)
    return gathered


def _is_override(override: Any, keys: tuple[str, ...], problems: Problems) -> bool:
    """True if an override can be applied; else add the problem."""
    if not isinstance(override, Mapping):
        problems.add(f"`{override}` is no override", FORM)
        return False
    check_keys(override, (*keys, "remove"), "override", problems)
    name = override.get("name")
    if not isinstance(name, str) or not name.strip():
        problems.add("an override without `name`", "write the name of a contract", "name")
    remove = override.get("remove")
    if "remove" in override and remove is not True:
        problems.add(f"`{remove}` is not true", "write remove: true, or leave it out", "remove")
    elif remove and len(override) > 2:
        problems.add("what is removed cannot be changed", "leave one out", "remove", of_key=True)
    elif len(override) < 2:
        problems.add("an override that changes nothing", FORM)
    return not problems.found


def _matches(name: str, wanted: str) -> bool:
    return name == wanted or (is_glob(wanted) and fnmatchcase(name, wanted))


def _unmatched(
    name: str, piece: Piece, gathered: list[ListedContract], below: list[Piece]
) -> tuple[str, str]:
    if any(each.piece is piece and each.name == name for each in gathered):
        return f"`{name}` is a contract of this file", "change it there"
    names = [each.name for each in gathered if each.piece in below]
    hint = closest(name, names) or "overrides change contracts of included files"
    return f"no included contract is named `{name}`", hint


def _change(
    entry: ListedContract, override: Mapping[str, Any], piece: Piece, i: int, problems: Problems
) -> None:
    """Replace keys of a contract by those of an override."""
    for key in (key for key in override if key != "name"):
        before = entry.over.get(key)
        if before is not None and before[0] not in piece.all():
            what = f"`{key}` of `{entry.name}` is changed in {before[0].name}, too"
            problems.add(what, "change it in one of them", "overrides", i, key, of_key=True)
        entry.over[key] = (piece, i)
        if isinstance(entry.data, Mapping):
            entry.data = {**entry.data, key: override[key]}
