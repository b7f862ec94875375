"""Loads contract files: YAML to contracts, or every mistake with its file, line and column.

In: a path or a text (docs/semantics.md has the format). Out: a `File`; or a `ContractError` with
all problems of the file at once; then nothing of it is loaded.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from sponsio_like.contracts import about
from sponsio_like.contracts.composition import (
    NO_TEXTS,
    Piece,
    Source,
    Texts,
    contract_text,
    files_of,
    of_files,
    of_text,
    source_name,
    sources_of,
)
from sponsio_like.contracts.conditions import assumption
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import (
    Contract,
    read_guarantee,
    read_mode,
    read_modes,
    read_name,
    read_scope,
    read_world,
)
from sponsio_like.contracts.field_kinds import (
    FieldKind,
    declared_in,
    is_text_kind,
    joined_kinds,
)
from sponsio_like.contracts.inventory import (
    Fields,
    Inventory,
    Unlisted,
    misplaced,
    names_in,
    read_elsewhere,
    read_inventory,
    read_unlisted,
)
from sponsio_like.contracts.operands import check_keys
from sponsio_like.contracts.overrides import ListedContract, entries
from sponsio_like.contracts.risk_section import RiskSection, read_risk
from sponsio_like.contracts.strategies import strategy
from sponsio_like.contracts.targets import Vocabulary, read_target
from sponsio_like.contracts.tests_section import WrittenTest, read_tests
from sponsio_like.errors import ContractError, Problem, Problems, read_each
from sponsio_like.logic.formula import Target
from sponsio_like.outcome import Mode

FILE_KEYS = (
    "version", "import", "include", "parameters", "env", "mode", "tools", "elsewhere", "unlisted",
    "actions", "contracts", "overrides", "risk", "tests",
)  # fmt: skip
ABOUT_KEYS = (*about.KEYS, "advice")
CONTRACT_KEYS = (
    "name", "assume", "scope", "guarantee", "strategy", "mode", "world", *ABOUT_KEYS,
)  # fmt: skip
VERSION = 1

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class File:
    """A contract file that has been read. `inventory` has the tools that it declares."""

    contracts: tuple[Contract, ...]
    mode: Mode | None = None
    inventory: Inventory = field(default_factory=Inventory, hash=False)
    actions: Mapping[str, Target] = field(default_factory=dict, hash=False)
    version: int = VERSION
    digest: str = field(default="", compare=False)
    """The hash of the file, by which a log says which contracts were in force."""
    risk: RiskSection | None = None
    sources: tuple[str, ...] = field(default=(), compare=False)
    """The paths of all files that were read."""
    tests: tuple[WrittenTest, ...] = ()
    kinds: tuple[FieldKind, ...] = field(default=(), compare=False)
    """The fields whose text has a grammar, each with the place where its kind is declared."""

    @property
    def tools(self) -> tuple[str, ...] | None:
        """The names of the declared tools; None if the file declares none."""
        return None if self.inventory.tools is None else tuple(self.inventory.tools)

    @property
    def words(self) -> Vocabulary:
        """The tools and actions that its sentences may name, and the kinds of fields."""
        kinds = _by_tool(self.kinds)
        return Vocabulary(self.inventory.tools, self.actions, self.inventory.elsewhere, kinds)


Judge: TypeAlias = Callable[[File], object]
"""A function that raises `ContractError` for contracts that can be read, and are wrong."""


def load(
    source: Source,
    judge: Judge | None = None,
    kinds: Iterable[FieldKind] = (),
    instead: Texts = NO_TEXTS,
) -> File:
    """Read a contract file, a folder of them, or several of these.

    `kinds` are those of fields that are declared elsewhere: by code, by schemas of tools; `instead`
    has texts that are read in the place of those of files. Raises `ContractError` with every
    mistake. Where there are some, `judge` is asked about the contracts that have none yet.
    """
    files = files_of(source)
    if isinstance(source, (str, Path)) and files == [Path(source)]:
        text = contract_text(source, instead)
        root, found = of_text(text, str(source), Path(source), instead)
    else:
        root, found = of_files(files, source_name(source), instead)
    return _read_group(root, found, judge, kinds)


def loads(text: str, name: str = "contracts", judge: Judge | None = None) -> File:
    """Read the text of a contract file; `name` stands for the file in messages."""
    return _read_group(*of_text(text, name, None), judge)


def _read_group(
    root: Piece, found: list[Problem], judge: Judge | None, kinds: Iterable[FieldKind] = ()
) -> File:
    """Return the file with all that the files it includes declare.

    Raises `ContractError` with every mistake, in the order of the files and their lines.
    """
    pieces = root.all()
    together = _FileGroup(root, pieces, tuple(kinds))
    file = _file(together)
    unread = [problem for piece in pieces for problem in piece.unread]
    places = {problem.where for problem in unread}  # what cannot be read is not judged again
    places |= {where for piece in pieces for where in piece.holes}
    judged = [*found, *(each for each in together.found if each.where not in places)]
    wrong = dict.fromkeys(unread + judged)
    if wrong or file is None:
        if judge is not None and file is not None and not together.wordless:
            wrong |= dict.fromkeys(_judged(file, together, wrong, judge))
        order = {piece.name: i for i, piece in enumerate(pieces)}
        raise ContractError(*sorted(wrong, key=lambda each: _place(each, order)))
    return replace(file, digest=root.digest, sources=sources_of(root))


@dataclass(slots=True)
class _FileGroup:
    """The files that are read as one, the tools and actions they declare, and the
    mistakes in them.
    """

    root: Piece
    pieces: list[Piece]
    given: tuple[FieldKind, ...] = ()
    found: list[Problem] = field(default_factory=list)
    words: dict[int, Vocabulary] = field(default_factory=dict)
    modes: dict[int, Mode | None] = field(default_factory=dict)
    wordless: bool = False
    """True if an action could not be read: then no contract is judged."""
    broken: set[str] = field(default_factory=set)
    """The contracts that could not be read wholly, by name."""

    def note(self, piece: Piece, problems: Problems) -> None:
        """Note the problems of one file."""
        self.found += [piece.located(each) for each in problems.found]
        self.wordless |= any(each.path[:1] == ("actions",) for each in problems.found)


def _judged(
    file: File, together: _FileGroup, found: Iterable[Problem], judge: Judge
) -> tuple[Problem, ...]:
    """Return the problems that `judge` finds in contracts without mistakes in their own lines."""
    starts: dict[str, list[int]] = {}
    for piece in together.pieces:
        paths = (path for path in piece.document.values if len(path) == 2)
        mine = [path for path in paths if path[0] == "contracts"]
        starts[piece.name] = [piece.document.spot(path).line for path in mine]

    def stretch(where: str) -> tuple[str, int]:
        name, line, _ = where.rsplit(":", 2)
        return name, bisect_right(starts.get(name, []), int(line) if line.isdecimal() else 0)

    wrong = {stretch(problem.where) for problem in found if problem.where.count(":") >= 2}
    whole = tuple(
        each
        for each in file.contracts
        if each.name not in together.broken and stretch(each.where) not in wrong
    )
    try:
        judge(replace(file, contracts=whole))
    except ContractError as error:
        return error.problems
    return ()


def _place(problem: Problem, order: Mapping[str, int]) -> tuple[int, int, int]:
    name, line, column = problem.where.rsplit(":", 2)
    at = (int(line), int(column)) if line.isdecimal() else (0, 0)
    return (order.get(name, -1), *at)


# --- the file -------------------------------------------------------------------------------------


def _file(together: _FileGroup) -> File | None:
    """Return the content of all files as one `File`; None if the first is no mapping."""
    root = together.root
    for piece in together.pieces:
        problems = Problems()
        _head(piece, root, together, problems)
        together.note(piece, problems)
    if not isinstance(root.document.data, dict):
        return None
    known = _inventory(together)
    kinds = _kinds(together, places := dict[tuple[str, str], str]())
    known = replace(known, places=places)
    told = Vocabulary(known.tools, elsewhere=known.elsewhere, kinds=_by_tool(kinds))
    for piece in together.pieces:
        problems = Problems()
        together.words[id(piece)] = _vocabulary(piece, told, together, problems)
        together.note(piece, problems)
    contracts = _contracts(together)
    words = together.words[id(root)]
    problems = Problems()
    risk = _section_of(root.data, "risk", problems, read_risk, words)
    together.note(root, problems)
    tests = _tests(together, contracts)
    mode = together.modes.get(id(root))
    return File(contracts, mode, known, words.actions, risk=risk, tests=tests, kinds=kinds)


def _tests(together: _FileGroup, contracts: Iterable[Contract]) -> tuple[WrittenTest, ...]:
    """Return the tests of the files that were given; those of files they include are their own."""
    root, names = together.root, [each.name for each in contracts]
    found: list[WrittenTest] = []
    for piece in root.includes if root.of_several else [root]:
        problems = Problems()
        read = _section_of(piece.data, "tests", problems, read_tests, names) or ()
        together.note(piece, problems)
        for i, each in enumerate(read):
            found.append(replace(each, where=piece.place(("tests", i, "name"))))
    return tuple(found)


def _head(piece: Piece, root: Piece, together: _FileGroup, problems: Problems) -> None:
    """Read the keys that stand for a file itself."""
    data = piece.document.data
    if not isinstance(data, dict):
        what = "an empty file" if data is None else "the file is not a mapping"
        problems.add(what, "begin with `version: 1` and `contracts:`")
        return
    check_keys(data, FILE_KEYS, "contract file", problems)
    _version(data, problems)
    together.modes[id(piece)] = _section_of(data, "mode", problems, read_mode)
    if "risk" in data and piece is not root:
        hint = "write it in the file that is loaded"
        problems.add("an included file has a section `risk`", hint, "risk", of_key=True)


def _version(data: Mapping[str, Any], problems: Problems) -> None:
    version = data.get("version")
    if version is None:
        problems.add("`version` is missing", f"write `version: {VERSION}`")
    elif version != VERSION or isinstance(version, (bool, float)):
        shown = json.dumps(version, default=str)
        problems.add(f"version `{shown}` is not known", f"write `version: {VERSION}`", "version")


def _section_of(
    data: Mapping[str, Any],
    key: str,
    problems: Problems,
    read: Callable[..., _T],
    *args: Any,
) -> _T | None:
    """Return the value of `key`, read by `read`; None if the key is missing or has a mistake."""
    if key not in data:
        return None
    if data[key] is None:
        problems.add(f"`{key}` is empty", "write a value, or leave it out", key)
        return None
    return problems.attempt((key,), read, data[key], *args)


# --- tools and actions ----------------------------------------------------------------------------


def _inventory(together: _FileGroup) -> Inventory:
    """Return the tools that the files declare together."""
    tools: dict[str, Fields | None] | None = None
    others: dict[str, None] = {}
    unlisted: Unlisted | None = None
    for piece in together.pieces:
        problems = Problems()
        read = _section_of(piece.data, "tools", problems, read_inventory)
        read = read or names_in(piece.data.get("tools"))  # after a mistake, names are still known
        if read:
            tools = _joined(tools or {}, read, piece, problems)
        others |= dict.fromkeys(
            _section_of(piece.data, "elsewhere", problems, read_elsewhere) or ()
        )
        said = _section_of(piece.data, "unlisted", problems, read_unlisted)
        if unlisted not in (None, said) and said is not None:
            what = f"`unlisted` is `{said}` here, and `{unlisted}` in a file that is included"
            problems.add(what, "say it once", "unlisted")
        unlisted = said or unlisted
        together.note(piece, problems)
    listed = any("tools" in piece.data for piece in together.pieces)
    for each in misplaced(listed, tools or (), others, unlisted):
        at = str(each.path[0])
        said_by = next(piece for piece in reversed(together.pieces) if at in piece.data)
        together.found.append(said_by.located(each))
    return Inventory(tools, tuple(others), unlisted or "refuse")


def _joined(
    known: dict[str, Fields | None],
    more: dict[str, Fields | None],
    piece: Piece,
    problems: Problems,
) -> dict[str, Fields | None]:
    """Return the tools of two files; fields that only one of them declares for a tool are kept."""
    for name, fields in more.items():
        before = known.get(name)
        if fields is not None and before not in (None, fields):
            at = ("tools", name) if isinstance(piece.data["tools"], dict) else ("tools",)
            what = f"tool `{name}` has other fields in a file that is included"
            problems.add(what, "declare them once", *at)
    return {**known, **{name: each for name, each in more.items() if each or name not in known}}


def _kinds(together: _FileGroup, places: dict[tuple[str, str], str]) -> tuple[FieldKind, ...]:
    """Return the kinds of fields that are texts with a grammar, of the files and of elsewhere.

    The places of those that the files declare are added to `places`.
    """
    own = {(each.tool, each.field): (each, piece) for each, piece in declared_in(together.pieces)}
    places |= {key: each.place for key, (each, _) in own.items()}
    wrong = list[Problem]()
    found = joined_kinds((*(each for each, _ in own.values()), *together.given), wrong)
    for each in wrong:
        _, piece = own.get((str(each.path[1]), str(each.path[3])), (None, together.root))
        together.found.append(piece.located(each))
    return tuple(each for each in found.values() if is_text_kind(each.kind))


def _by_tool(kinds: Iterable[FieldKind]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for each in kinds:
        found.setdefault(each.tool, {})[each.field] = each.kind
    return found


def _vocabulary(
    piece: Piece, known: Vocabulary, together: _FileGroup, problems: Problems
) -> Vocabulary:
    """Return the words of a file: those `known`, its actions, and those of files it includes."""
    words = known
    for each in piece.includes:
        for action, meant in together.words[id(each)].actions.items():
            if words.actions.get(action, meant) != meant:
                what = f"action `{action}` is defined in two files that are included"
                problems.add(what, "rename one", "include")
            words = replace(words, actions={**words.actions, action: meant})
    actions = piece.data.get("actions", {})
    if not isinstance(actions, dict):
        problems.add(f"`{actions}` is no map of actions", "write {name: [tool, ..]}", "actions")
        return words
    names = list(actions)
    for i, action in enumerate(names):
        at = ("actions", action)
        for later in _named(actions[action]) & set(names[i:]):
            problems.add(f"action `{later}` is not defined above", "move it up", *at)
        if action in (known.tools or ()) or action in known.elsewhere:
            problems.add(f"`{action}` is a tool already", "rename the action", *at, of_key=True)
        if action in words.actions:
            what = f"action `{action}` is defined in a file that is included"
            problems.add(what, "rename the action", *at, of_key=True)
        read = problems.attempt(at, read_target, actions[action], words)
        words = replace(words, actions={**words.actions, action: read or ()})
    return words


def _named(value: Any) -> set[str]:
    """Return the names in the definition of an action."""
    match value:
        case str():
            return {value}
        case list():
            return {name for each in value for name in _named(each)}
        case dict():
            return _named(value.get("tool"))
    return set()


# --- contracts ------------------------------------------------------------------------------------


def _contracts(together: _FileGroup) -> tuple[Contract, ...]:
    """Return the contracts of all files, those that are included first."""
    read: list[Contract] = []
    first: dict[str, Contract] = {}
    for entry in entries(together.root, CONTRACT_KEYS, together.found):
        problems = Problems()
        found = _contract(entry, together, problems)
        if found is not None:
            if other := first.get(found.name):
                far = other.where.rsplit(":", 2)[0] != found.where.rsplit(":", 2)[0]
                also = f"; the other stands at {other.where}" if far else ""
                what = f"two contracts are named `{found.name}`"
                problems.add(what, f"rename one{also}", "name")
            first.setdefault(found.name, found)
            read.append(found)
        together.broken |= {entry.name} if problems.found else set()
        together.found += [entry.located(each) for each in problems.found]
    return tuple(read)


def _mode_of(piece: Piece, together: _FileGroup) -> Mode | None:
    """Return the mode of an included file, or of the nearest that includes it and says one."""
    if piece is together.root:
        return None  # it is that of the whole
    said = together.modes.get(id(piece))
    outer = next((each for each in together.pieces if piece in each.includes), together.root)
    return said or _mode_of(outer, together)


def _contract(entry: ListedContract, together: _FileGroup, problems: Problems) -> Contract | None:
    data, words = entry.data, together.words[id(entry.outermost)]
    if not isinstance(data, dict):
        problems.add(f"`{data}` is not a contract", "write {name: .., guarantee: ..}")
        return None
    check_keys(data, CONTRACT_KEYS, "contract", problems)
    for key in ("name", "guarantee"):
        if key not in data:
            problems.add(f"a contract without `{key}`", f"write {key}: ..")
    name = _section_of(data, "name", problems, read_name)
    mode, share = _section_of(data, "mode", problems, read_modes) or (None, 1.0)
    read = Contract(
        name or "",
        _rules(data, words, problems),
        _section_of(data, "assume", problems, assumption, words),
        _section_of(data, "scope", problems, read_scope, words),
        _section_of(data, "strategy", problems, strategy, words),
        mode or _mode_of(entry.piece, together),
        entry.place,
        share=share,
        on_world=_section_of(data, "world", problems, read_world) or False,
        about=_about(data, problems),
    )
    return read if name else None


def _about(data: Mapping[str, Any], problems: Problems) -> about.About:
    if not data.keys() & ABOUT_KEYS:
        return about.UNSAID
    return about.About(
        _section_of(data, "because", problems, about.read_words) or "",
        _section_of(data, "owner", problems, about.read_words) or "",
        _section_of(data, "severity", problems, about.read_severity),
        _section_of(data, "tags", problems, about.read_tags) or (),
        _section_of(data, "advice", problems, about.read_advice) or (),
    )


def _rules(data: Mapping[str, Any], words: Vocabulary, problems: Problems) -> tuple[Rule, ...]:
    value = data.get("guarantee")
    if not isinstance(value, list):
        rule = _section_of(data, "guarantee", problems, read_guarantee, words)
        return (rule,) if rule else ()
    if not value:
        problems.add("an empty list", "write at least one guarantee", "guarantee")
    return tuple(problems.attempt(("guarantee",), read_each, read_guarantee, value, words) or ())
