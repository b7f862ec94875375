"""What has to hold: every required behaviour, the tests that carry it, a bug they must find.

In: the statements of docs/semantics.md, the catalog of patterns, known traps. Out: `requirements`;
tests say which of them they carry with `@requirement("S-OP-01")`;
`tests/semantics/test_manifest.py` holds both sides together. What is missing stands in `UNTESTED`
and `UNPLANTED`, each with its reason.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from tests.planted.planted_meaning import BUGS, Bug
from tests.semantics.manifest_rows import PATTERNS, STATEMENTS, TRAPS, UNPLANTED, UNTESTED

__all__ = ["UNPLANTED", "UNTESTED", "Carrier", "Requirement", "bugs", "carriers", "requirement"]

ROOT = Path(__file__).parents[2]
SEMANTICS = ROOT / "docs" / "semantics.md"
STATEMENT = re.compile(r"^- \*\*(S-[A-Z]+-\d\d)\*\* ((?:.+\n(?:  .+\n)*))", re.MULTILINE)
IDS = re.compile(r"S-[A-Z]+-\d\d|C-[a-z_]+|T-\d\d")

_Test = TypeVar("_Test", bound=Callable[..., object])


@dataclass(frozen=True)
class Requirement:
    """A behaviour that is required: S- a statement of the docs, C- a pattern, T- a trap.

    `bug` is the name of a planted bug that its tests must find
    (`tests/planted/planted_meaning.py`).
    """

    id: str
    says: str
    bug: str


@dataclass(frozen=True)
class Carrier:
    """A test that carries a requirement; `case`: just this case of a parametrized test."""

    file: str
    function: str
    case: str = ""

    @property
    def node(self) -> str:
        """How pytest names it."""
        return f"{self.file}::{self.function}" + (f"[{self.case}]" if self.case else "")


CARRIERS: dict[str, list[Carrier]] = {}
"""The tests of every requirement, as far as their modules have been imported."""


def requirement(*ids: str, cases: bool = False) -> Callable[[_Test], _Test]:
    """Mark the test that carries these requirements.

    `cases`: of a parametrized test, each is carried by the case that is named after it, such as
    `C-rate_limit` by `test_x[rate_limit]`.
    """

    def carry(test: _Test) -> _Test:
        code = test.__code__
        file = Path(code.co_filename).relative_to(ROOT).as_posix()
        for id in ids:
            case = id.partition("-")[2] if cases else ""
            carriers = CARRIERS.setdefault(id, [])
            carrier = Carrier(file, code.co_name, case)
            if carrier not in carriers:
                carriers.append(carrier)
        return test

    return carry


@cache
def carriers() -> dict[str, list[Carrier]]:
    """The tests of every requirement, from all test modules whose libraries are installed."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        with suppress(pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return CARRIERS


def bugs() -> dict[str, Bug]:
    """The planted bugs, by name."""
    return {bug.name: bug for bug in BUGS}


def statements() -> dict[str, str]:
    """Every statement of docs/semantics.md, by its id."""
    found = STATEMENT.findall(SEMANTICS.read_text("utf-8"))
    return {id: " ".join(text.split()) for id, text in found}


def requirements() -> Iterator[Requirement]:
    """Every required behaviour."""
    from sponsio_like.contracts.declaration import catalog  # a page may be made without the engine

    said = statements()
    for id, bug in STATEMENTS.items():
        yield Requirement(id, said.get(id, ""), bug)
    meanings = {f"C-{declared.name}": declared.summary for declared in catalog()}
    for id, bug in PATTERNS.items():
        yield Requirement(id, meanings.get(id, ""), bug)
    for id, (says, bug) in TRAPS.items():
        yield Requirement(id, says, bug)
