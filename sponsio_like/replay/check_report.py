"""Checks contract files and reports all that is wrong: as lines, as JSON, as notes for GitHub.

In: paths. Out: a `CheckedFile` for each, with its mistakes, its warnings, and what its contracts do
to each other; nothing is raised for a file with mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sponsio_like.checks import (
    compile_policy,
    counted_apart,
    lowered,
    outdated,
    read_file,
    spellings,
)
from sponsio_like.contracts import FieldKind, File
from sponsio_like.errors import ContractError, Problem
from sponsio_like.replay.together import PairFindings, found_together
from sponsio_like.terminal import Styled

PAIRS = 100
"""The pairs of contracts that are compared in one run, unless it says otherwise."""
PLACE = re.compile(r"(.*):(\d+):(\d+)", re.DOTALL)
WORD = re.compile(r'"[^"]*"|\'[^\']*\'|[\w*/@$-]+(?:[.:][\w*/@$-]+)*|\S')
"""The text that a mistake begins with."""
NOTHING = PairFindings((), 0, 0, 0)


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A contract file, or a folder of them, with its mistakes, warnings and findings.

    `file` is None if there are mistakes; `left` are the lines that say what was not checked.
    """

    name: str
    file: File | None
    mistakes: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    found: PairFindings = NOTHING
    left: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[Problem, ...]:
        """The warnings, and the findings about pairs of contracts that no warning covers."""
        told = " ".join(each.what for each in self.warnings)
        new = (
            each.problem
            for each in self.found.findings
            if not each.claim.tool or f"`{each.claim.tool}` can never be called" not in told
        )
        return (*self.warnings, *new)

    def as_json(self) -> dict[str, Any]:
        """Return all of it, for programs."""
        return {
            "file": self.name,
            "contracts": None if self.file is None else len(self.file.contracts),
            "errors": [_plain(each) for each in self.mistakes],
            "warnings": [_plain(each) for each in self.remarks],
            "together": [each.as_json() for each in self.found.findings],
            "kinds": [] if self.file is None else [each._asdict() for each in self.file.kinds],
            "notes": [*self.notes()],
            "not_checked": [*self.left, *self.found.limits],
        }

    def kinds(self) -> Iterator[str]:
        """Yield a line for each field whose text is read by a grammar, and where that is said."""
        for each in () if self.file is None else self.file.kinds:
            yield f"`{each.field}` of `{each.tool}` is read as `{each.kind}`: {each.place}"

    def notes(self) -> Iterator[str]:
        """Yield a line about contracts that count over days, and in each session anew."""
        names = [] if self.file is None else counted_apart(self.file.contracts)
        if names:
            said = ", ".join(f"`{each}`" for each in names)
            yield f"counted in each session anew, unless `world: true` (docs/deployment.md): {said}"

    def annotations(self) -> Iterator[str]:
        """Yield a line for each mistake and warning, as GitHub's workflows read them."""
        yield from (_annotation("error", each) for each in self.mistakes)
        yield from (_annotation("warning", each) for each in self.remarks)


def checked(
    path: Path,
    names: Callable[[File], Sequence[str]],
    pairs: int = PAIRS,
    kinds: Iterable[FieldKind] = (),
) -> CheckedFile:
    """Return the mistakes, warnings and findings of a contract file.

    `names` returns what could not be checked; `kinds` are those of fields, declared elsewhere.
    """
    try:
        file = read_file(path, kinds=kinds)
        policy = compile_policy(file.contracts, file.mode or "enforce", file.inventory)
        left = tuple(names(file))
    except ContractError as error:
        return CheckedFile(str(path), None, error.problems)
    found = NOTHING
    if pairs > 0 and len(file.contracts) > 1:
        found = found_together(file.contracts, file.mode or "enforce", file.inventory, pairs)
    meant = (*spellings(file.contracts, file.words), *outdated(file.contracts, file.tools or ()))
    warned = dict.fromkeys((*policy.warnings, *meant, *lowered(file.contracts)))
    return CheckedFile(str(path), file, (), tuple(warned), found, left)


# --- places ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Marked:
    """The place of a problem: the file, the line and the columns of the text that it is about."""

    file: str
    line: int
    column: int
    end: int
    text: str


def _marked(problem: Problem) -> _Marked | None:
    """Return the place of a problem, with its line; None if it has none."""
    found = PLACE.fullmatch(problem.where)
    if found is None:
        return None
    line, column = int(found[2]), int(found[3])
    try:
        text = Path(found[1]).read_text("utf-8").split("\n")[line - 1].rstrip("\r")
    except (OSError, ValueError, IndexError):
        text = ""
    word = WORD.match(text, column - 1)
    return _Marked(found[1], line, column, word.end() + 1 if word else column + 1, text)


def underlined(problems: Iterable[Problem], color: str = "bold red") -> list[Styled]:
    """Return problems as lines, each above its place in the file, underlined."""
    page: list[Styled] = []
    for each in problems:
        page.append((str(each), ""))
        place = _marked(each)
        if place is not None and place.text.strip():
            before = re.sub(r"\S", " ", place.text[: place.column - 1])
            page.append((f"    {place.text}", "dim"))
            page.append((f"    {before}{'^' * (place.end - place.column)}", color))
    return page


def _plain(problem: Problem) -> dict[str, Any]:
    place = _marked(problem)
    where: dict[str, Any] = {"file": problem.where or None}
    if place is not None:
        where = {"file": place.file, "line": place.line}
        where |= {"column": place.column, "end_column": place.end}
    return {**where, "message": problem.what, "hint": problem.hint}


def _annotation(level: str, problem: Problem) -> str:
    place = _marked(problem)
    said = f"{problem.what}; {problem.hint}" if problem.hint else problem.what
    message = said.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    if place is None:
        return f"::{level}::{message}"
    name = place.file
    for sign in "%\r\n:,":
        name = name.replace(sign, f"%{ord(sign):02X}")
    ends = f"line={place.line},col={place.column},endColumn={place.end}"
    return f"::{level} file={name},{ends}::{message}"
