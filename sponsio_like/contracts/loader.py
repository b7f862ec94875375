"""Loads contract files: YAML to contracts, or every mistake with its file, line and column.

In: a path or a text (docs/semantics.md has the format). Out: a `File`; or a `ContractError` with
all problems of the file at once; then nothing of it is loaded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import sponsio_like.contracts.about as said
from sponsio_like.contracts.conditions import assumption
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import (
    Contract,
    guarantee,
    read_mode,
    read_modes,
    read_name,
    read_world,
    scope,
)
from sponsio_like.contracts.inventory import (
    Inventory,
    elsewhere,
    misplaced,
    read_inventory,
    read_unlisted,
)
from sponsio_like.contracts.operands import only
from sponsio_like.contracts.risk_section import RiskSection, read_risk
from sponsio_like.contracts.strategy import strategy
from sponsio_like.contracts.targets import Vocabulary, read_target
from sponsio_like.contracts.yaml_document import SIZE_CAP, Document, parse
from sponsio_like.errors import ContractError, Problem, Problems
from sponsio_like.logic.formula import Target
from sponsio_like.outcome import Mode

FILE_KEYS = ("version", "mode", "tools", "elsewhere", "unlisted", "actions", "contracts", "risk")
CONTRACT_KEYS = ("name", "assume", "scope", "guarantee", "strategy", "mode", "world", *said.KEYS)
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

    @property
    def tools(self) -> tuple[str, ...] | None:
        """The names of the declared tools; None if the file declares none."""
        return None if self.inventory.tools is None else tuple(self.inventory.tools)


Judge: TypeAlias = Callable[[File], object]
"""A function that raises `ContractError` for contracts that can be read, and are wrong."""


def load(path: str | Path, judge: Judge | None = None) -> File:
    """Read a contract file. Raises `ContractError` with every mistake in it.

    Where there are mistakes, `judge` is asked about the contracts that have none yet.
    """
    try:
        with Path(path).open("rb") as file:
            raw = file.read(4 * SIZE_CAP)  # what is longer is refused below
    except (OSError, ValueError) as error:  # ValueError: a path that cannot be one
        reason = getattr(error, "strerror", None) or error
        raise ContractError.of(f"cannot be read: {reason}", "", str(path)) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].split(b"\n")
        where = f"{path}:{len(before)}:{len(before[-1]) + 1}"
        raise ContractError.of("not UTF-8 text", "save the file as UTF-8", where) from None
    return loads(text, str(path), judge)


def loads(text: str, name: str = "contracts", judge: Judge | None = None) -> File:
    """Read the text of a contract file; `name` stands for the file in messages."""
    try:
        document = parse(text)
    except ContractError as error:
        raise ContractError(
            *(replace(p, where=f"{name}:{p.where or '1:1'}") for p in error.problems)
        ) from None
    problems = Problems()
    file = _file(document, problems, name)
    unread = [replace(problem, where=f"{name}:{problem.where}") for problem in document.problems]
    places = {problem.where for problem in unread}  # what cannot be read is not judged again
    located = [_located(problem, document, name) for problem in problems.found]
    found = dict.fromkeys(unread + [each for each in located if each.where not in places])
    if found or file is None:
        words = any(problem.path[:1] == ("actions",) for problem in problems.found)
        if judge is not None and file is not None and not words:
            found |= dict.fromkeys(_judged(file, document, found, judge))
        raise ContractError(*sorted(found, key=_place))
    return replace(file, digest=sha256(text.encode(errors="replace")).hexdigest()[:16])


def _judged(
    file: File, document: Document, found: Iterable[Problem], judge: Judge
) -> tuple[Problem, ...]:
    """Return the problems that `judge` finds in contracts without mistakes in their own lines."""
    items = ((path, spot) for path, spot in document.values.items() if len(path) == 2)
    starts = [spot.line for path, spot in items if path[0] == "contracts"]
    wrong = {bisect_right(starts, _place(problem)[0]) for problem in found}
    lines = ((each, _place(Problem("", each.where))[0]) for each in file.contracts)
    whole = tuple(each for each, line in lines if bisect_right(starts, line) not in wrong)
    try:
        judge(replace(file, contracts=whole))
    except ContractError as error:
        return error.problems
    return ()


def _located(problem: Problem, document: Document, name: str) -> Problem:
    """Return the problem with file, line and column; inside a formula, of the very character."""
    spot = document.spot(problem.path, of_key=problem.of_key)
    line, column = spot.line, spot.column
    inner = problem.where.partition(":")[2] if problem.where.startswith("1:") else ""
    if inner.isdecimal() and spot.text is not None:
        column = spot.text + int(inner) - 1
    return Problem(problem.what, f"{name}:{line}:{column}", problem.hint)


def _place(problem: Problem) -> tuple[int, int]:
    _, line, column = problem.where.rsplit(":", 2)
    return (int(line), int(column)) if line.isdecimal() else (0, 0)


# --- the file -------------------------------------------------------------------------------------


def _file(document: Document, problems: Problems, name: str) -> File | None:
    data = document.data
    if not isinstance(data, dict):
        what = "an empty file" if data is None else "the file is not a mapping"
        problems.add(what, "begin with `version: 1` and `contracts:`")
        return None
    only(data, FILE_KEYS, "contract file", problems)
    _version(data, problems)
    known = _inventory(data, problems)
    words = _vocabulary(data, known, problems)
    mode = _part(data, "mode", (), problems, read_mode)
    contracts = _contracts(data.get("contracts"), words, problems)
    named = [
        replace(each, where=_where(document, i, name)) for i, each in enumerate(contracts) if each
    ]
    risk = _part(data, "risk", (), problems, read_risk, words)
    return File(tuple(named), mode, known, words.actions, risk=risk)


def _where(document: Document, i: int, name: str) -> str:
    spot = document.spot(("contracts", i, "name"))
    return f"{name}:{spot.line}:{spot.column}"


def _version(data: Mapping[str, Any], problems: Problems) -> None:
    version = data.get("version")
    if version is None:
        problems.add("`version` is missing", f"write `version: {VERSION}`")
    elif version != VERSION or isinstance(version, (bool, float)):
        problems.add(f"version `{version}` is not known", f"write `version: {VERSION}`", "version")


def _part(
    data: Mapping[str, Any],
    key: str,
    at: tuple[str | int, ...],
    problems: Problems,
    read: Callable[..., _T],
    *args: Any,
) -> _T | None:
    """Return what stands under `key`, read by `read`; None if nothing does, or with a mistake."""
    if key not in data:
        return None
    if data[key] is None:
        problems.add(f"`{key}` is empty", "write a value, or leave it out", *at, key)
        return None
    return problems.attempt((*at, key), read, data[key], *args)


# --- tools and actions ----------------------------------------------------------------------------


def _inventory(data: Mapping[str, Any], problems: Problems) -> Inventory:
    tools = _part(data, "tools", (), problems, read_inventory)
    others = _part(data, "elsewhere", (), problems, elsewhere) or ()
    rest = _part(data, "unlisted", (), problems, read_unlisted)
    problems.found += misplaced("tools" in data, tools or (), others, rest)
    return Inventory(tools, others, rest or "refuse")


def _vocabulary(data: Mapping[str, Any], known: Inventory, problems: Problems) -> Vocabulary:
    words = Vocabulary(known.tools, elsewhere=known.elsewhere)
    actions = data.get("actions", {})
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


def _contracts(value: Any, words: Vocabulary, problems: Problems) -> list[Contract | None]:
    if not isinstance(value, list) or not value:
        what = "no contracts" if not value else "`contracts` is not a list"
        problems.add(what, "write `contracts:` and below it `- name: ..`", "contracts")
        return []
    read = [_contract(each, ("contracts", i), words, problems) for i, each in enumerate(value)]
    first: dict[str, int] = {}
    for i, contract in enumerate(read):
        if contract is None:
            continue
        if first.setdefault(contract.name, i) != i:
            what = f"two contracts are named `{contract.name}`"
            problems.add(what, "rename one", "contracts", i, "name")
    return read


def _contract(
    data: Any, at: tuple[str | int, ...], words: Vocabulary, problems: Problems
) -> Contract | None:
    if not isinstance(data, dict):
        problems.add(f"`{data}` is not a contract", "write {name: .., guarantee: ..}", *at)
        return None
    own = Problems()
    only(data, CONTRACT_KEYS, "contract", own)
    for key in ("name", "guarantee"):
        if key not in data:
            own.add(f"a contract without `{key}`", f"write {key}: ..")
    problems.found += [replace(problem, path=(*at, *problem.path)) for problem in own.found]
    name = _part(data, "name", at, problems, read_name)
    mode, share = _part(data, "mode", at, problems, read_modes) or (None, 1.0)
    read = Contract(
        name or "",
        _rules(data, at, words, problems),
        _part(data, "assume", at, problems, assumption, words),
        _part(data, "scope", at, problems, scope, words),
        _part(data, "strategy", at, problems, strategy, words),
        mode,
        share=share,
        on_world=_part(data, "world", at, problems, read_world) or False,
        about=_about(data, at, problems),
    )
    return read if name else None


def _about(data: Mapping[str, Any], at: tuple[str | int, ...], problems: Problems) -> said.About:
    return said.About(
        _part(data, "because", at, problems, said.words) or "",
        _part(data, "owner", at, problems, said.words) or "",
        _part(data, "severity", at, problems, said.severity),
        _part(data, "tags", at, problems, said.tags) or (),
    )


def _rules(
    data: Mapping[str, Any], at: tuple[str | int, ...], words: Vocabulary, problems: Problems
) -> tuple[Rule, ...]:
    value = data.get("guarantee")
    if not isinstance(value, list):
        rule = _part(data, "guarantee", at, problems, guarantee, words)
        return (rule,) if rule else ()
    if not value:
        problems.add("an empty list", "write at least one guarantee", *at, "guarantee")
    return tuple(_all(value, (*at, "guarantee"), words, problems))


def _all(
    values: Iterable[Any], at: tuple[str | int, ...], words: Vocabulary, problems: Problems
) -> Iterable[Rule]:
    for i, value in enumerate(values):
        rule = problems.attempt((*at, i), guarantee, value, words)
        if rule is not None:
            yield rule
