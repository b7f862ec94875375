"""Reads a contract file with all that it includes: files, folders, files of packages.

In: a path, several, or a text. Out: a `Piece` for each file, filled in, with those it includes;
and every mistake in how they are put together, at its place. `loader.py` reads what they say.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from sponsio_like.contracts.imports import import_named
from sponsio_like.contracts.operands import check_keys
from sponsio_like.contracts.parameter_section import filled_in
from sponsio_like.contracts.yaml_document import SIZE_CAP, Document, parse
from sponsio_like.errors import ContractError, Problem, Problems, changed, closest

FILES_CAP = 1_000
"""The most files that are read as one."""
CHAIN_CAP = 32
"""The longest chain of files, each of which includes the next."""
ENDINGS = (".yaml", ".yml")
"""The ends of names of contract files, in a folder."""

Source: TypeAlias = "str | Path | Sequence[str | Path]"
"""A contract file, a folder of them, or several of these."""


Texts: TypeAlias = Mapping[Path, str]
"""Texts that are read in the place of those of files."""
NO_TEXTS: Final[Texts] = MappingProxyType({})


@dataclass(slots=True, eq=False)
class Piece:
    """One of several files that are read as one.

    `name` stands for it in messages; `digest` is the hash of its text and of what was filled in.
    """

    name: str
    document: Document
    digest: str = ""
    includes: list[Piece] = field(default_factory=list)
    unread: tuple[Problem, ...] = ()
    """The mistakes in the YAML of its text, located."""
    holes: frozenset[str] = frozenset()
    """The places of values that could not be filled in."""
    of_several: bool = False
    """True if it is no file: it stands for several that were given."""

    @property
    def data(self) -> Mapping[str, Any]:
        """The mapping that the file is; empty if it is none."""
        return self.document.data if isinstance(self.document.data, dict) else {}

    def located(self, problem: Problem) -> Problem:
        """Return the problem with file, line and column; inside a text, of the very character."""
        spot = self.document.spot(problem.path, of_key=problem.of_key)
        column = spot.column
        inner = problem.where.partition(":")[2] if problem.where.startswith("1:") else ""
        if inner.isdecimal() and spot.text is not None:
            column = spot.text + int(inner) - 1
        return Problem(problem.what, f"{self.name}:{spot.line}:{column}", problem.hint)

    def place(self, path: tuple[str | int, ...]) -> str:
        """Return file, line and column of the value at this path."""
        spot = self.document.spot(path)
        return f"{self.name}:{spot.line}:{spot.column}"

    def all(self) -> list[Piece]:
        """Return the piece and those it includes, each once, those that are included first."""
        found: dict[int, Piece] = {}
        _gather(self, found)
        return list(found.values())


def _gather(piece: Piece, found: dict[int, Piece]) -> None:
    for each in piece.includes:
        if id(each) not in found:
            _gather(each, found)
    found[id(piece)] = piece


@dataclass(slots=True)
class _ReadFiles:
    """The files that have been read, and the problems found in them."""

    found: list[Problem] = field(default_factory=list)
    pieces: dict[tuple[str, str], Piece] = field(default_factory=dict)
    instead: Texts = field(default_factory=dict)


def of_text(
    text: str, name: str, path: Path | None, instead: Texts = NO_TEXTS
) -> tuple[Piece, list[Problem]]:
    """Return the piece of a text, and the problems of it and of the files that it includes.

    Raises `ContractError` if the text is no YAML. Without a path it can include nothing.
    """
    seen = _ReadFiles(instead=instead)
    chain, folder = ((), None) if path is None else ((os.path.realpath(path),), path.parent)
    return _piece(text, name, folder, {}, seen, chain), seen.found


def of_files(
    paths: Iterable[Path], name: str, instead: Texts = NO_TEXTS
) -> tuple[Piece, list[Problem]]:
    """Return a piece that includes these files, and their problems."""
    seen, root = (
        _ReadFiles(instead=instead),
        Piece(name, Document(data={"version": 1, "include": []}), of_several=True),
    )
    for path in paths:
        try:
            root.includes.append(_included(path, {}, seen, ()))
        except ContractError as error:
            seen.found += error.problems
    root.digest = _digest("", {}, root.includes)
    return root, seen.found


def files_of(source: Source) -> list[Path]:
    """Return the contract files that the argument names; those of a folder in order of their names.

    Raises `ContractError` for a folder without any.
    """
    given = [source] if isinstance(source, (str, Path)) else list(source)
    return [file for each in given for file in _files(Path(each))]


def _files(path: Path) -> list[Path]:
    if not _is_folder(path):
        return [path]
    found = sorted(each for each in path.iterdir() if each.suffix in ENDINGS and each.is_file())
    if not found:
        raise ContractError.of("no contract file is in this folder", "", str(path))
    return found


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # ValueError: a path that cannot be one
        return False


def contract_text(path: str | Path, instead: Texts = NO_TEXTS) -> str:
    """Return the text of a contract file, or the one that is to be read in its place.

    Raises `ContractError` if it cannot be read.
    """
    if (given := instead.get(Path(path))) is not None:
        return given
    try:
        with Path(path).open("rb") as file:
            raw = file.read(4 * SIZE_CAP)  # what is longer is refused where it is parsed
    except (OSError, ValueError) as error:  # ValueError: a path that cannot be one
        reason = getattr(error, "strerror", None) or error
        raise ContractError.of(f"cannot be read: {reason}", "", str(path)) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].split(b"\n")
        where = f"{path}:{len(before)}:{len(before[-1]) + 1}"
        raise ContractError.of("not UTF-8 text", "save the file as UTF-8", where) from None


def source_name(source: Source) -> str:
    """Return the name of contract files in messages."""
    return str(source) if isinstance(source, (str, Path)) else ", ".join(map(str, source))


def sources_of(root: Piece) -> tuple[str, ...]:
    """Return the names of all files that were read."""
    return tuple(dict.fromkeys(each.name for each in root.all() if each.digest))


# --- one file -------------------------------------------------------------------------------------


def _piece(
    text: str,
    name: str,
    folder: Path | None,
    given: Mapping[str, Any],
    seen: _ReadFiles,
    chain: tuple[str, ...],
) -> Piece:
    """Return the piece of a text, with what it includes. `chain`: the files that lead to it."""
    try:
        document = parse(text)
    except ContractError as error:
        raise changed(error, lambda p: replace(p, where=f"{name}:{p.where or '1:1'}")) from None
    unread = tuple(replace(each, where=f"{name}:{each.where}") for each in document.problems)
    piece, problems = Piece(name, document, unread=unread), Problems()
    written = document.data
    document.data, holes = filled_in(document, given, problems)
    piece.holes = frozenset(piece.place(path) for path in holes)
    values = {} if document.data == written else document.data
    import_named(piece.data, folder, problems)
    for i, entry in enumerate(_entries(piece.data, problems)):
        for path, inner in _entries_with_values(entry, ("include", i), folder, problems):
            try:
                piece.includes.append(_included(path, inner, seen, chain))
            except ContractError as error:
                seen.found += [_at_entry(each, piece, ("include", i)) for each in error.problems]
    seen.found += [piece.located(each) for each in problems.found]
    piece.digest = _digest(text, values, piece.includes)
    return piece


def _at_entry(problem: Problem, piece: Piece, at: tuple[str | int, ...]) -> Problem:
    """Return the problem of an included file, at the entry if it could not be read."""
    if problem.where.rpartition(":")[2].isdecimal():
        return problem
    where = f"`{problem.where}` " if problem.where else ""
    return piece.located(Problem(f"{where}{problem.what}", hint=problem.hint, path=at))


def _digest(text: str, values: Mapping[str, Any], includes: Sequence[Piece]) -> str:
    """Return the hash of a file, of what was filled in, and of all that it includes."""
    parts = [text.encode(errors="replace")]
    parts += [json.dumps(values, sort_keys=True).encode()] if values else []
    parts += [each.digest.encode() for each in includes]
    return sha256(b"\0".join(parts)).hexdigest()[:16]


# --- what it includes -----------------------------------------------------------------------------


def _entries(data: Mapping[str, Any], problems: Problems) -> list[Any]:
    if "include" not in data:
        return []
    entries = data["include"]
    if not isinstance(entries, list) or not entries:
        problems.add(f"`{entries}` is no list of files", "write [base.yaml]", "include")
        return []
    return entries


def _entries_with_values(
    entry: Any, at: tuple[str | int, ...], folder: Path | None, problems: Problems
) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the files that an entry of `include:` names, each with the values of its parameters."""
    given: Any = {}
    if isinstance(entry, Mapping):
        own = Problems()
        check_keys(entry, ("file", "with"), "include", own)
        problems.found += [replace(each, path=(*at, *each.path)) for each in own.found]
        given = entry.get("with", {})
        if not isinstance(given, Mapping):
            problems.add(f"`{given}` gives no values", "write with: {limit: 3}", *at, "with")
            given = {}
        entry, at = entry.get("file"), (*at, "file") if "file" in entry else at
    if not isinstance(entry, str) or not entry.strip():
        what = f"`{entry}` is no file" if entry is not None else "an include without `file`"
        problems.add(what, "write base.yaml, a folder, or package:file.yaml", *at)
    elif folder is None:
        hint = "write it into a file, which is read from its folder"
        problems.add("a text has no folder to include from", hint, *at)
    else:
        found = problems.attempt(at, _paths, entry, folder) or []
        yield from ((path, given) for path in found)


def _paths(entry: str, folder: Path) -> list[Path]:
    """Return the files of an entry: a path, a folder, or `package:path`."""
    package, sign, inside = entry.partition(":")
    if not sign or len(package) == 1:  # C:/rules is a path
        return _files(folder / entry)
    known = package.isidentifier() and find_spec(package)  # a name without dots: nothing is run
    if not known or not known.submodule_search_locations:
        raise ContractError.of(
            f"there is no package `{package}`", "install it, or correct its name"
        )
    return _files(Path(known.submodule_search_locations[0]) / inside)


def _included(
    path: Path, given: Mapping[str, Any], seen: _ReadFiles, chain: tuple[str, ...]
) -> Piece:
    """Return the piece of a file; the same one if it has been read with the same values."""
    real = os.path.realpath(path)
    if real in chain:
        names = [Path(each).name for each in (*chain[chain.index(real) :], real)]
        raise ContractError.of(f"a file includes itself: {' -> '.join(names)}", "leave one out")
    if len(chain) >= CHAIN_CAP:
        raise ContractError.of(f"more than {CHAIN_CAP} files, one in the other", "include flatter")
    key = (real, json.dumps(given, sort_keys=True, default=str))
    if key not in seen.pieces:
        if len(seen.pieces) >= FILES_CAP:
            raise ContractError.of(f"more than {FILES_CAP} files", "include fewer")
        text = contract_text(path, seen.instead)
        piece = _piece(text, str(path), path.parent, given, seen, (*chain, real))
        seen.pieces[key] = piece
        declared = piece.data.get("parameters")
        names = [*declared] if isinstance(declared, Mapping) else []
        unknown = [name for name in given if name not in names]
        if unknown:
            what = f"`{path.name}` has no parameter `{unknown[0]}`"
            raise ContractError.of(what, closest(unknown[0], names) or "leave it out")
    return seen.pieces[key]
