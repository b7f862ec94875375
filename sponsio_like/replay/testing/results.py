"""Says how the tests of one file went: as lines and a table, or as JSON.

In: the path of a contract file. Out: `Results`, and what is printed of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sponsio_like.checks import read_file
from sponsio_like.replay.testing.mutants import Mutant, surviving
from sponsio_like.replay.testing.run import Tested, run_tests
from sponsio_like.terminal import Styled, Table, counted


@dataclass(frozen=True, slots=True)
class Results:
    """The results of the tests of one file. `survivors` are None if no mutants were tried."""

    name: str
    tested: Tested
    survivors: tuple[Mutant, ...] | None = None

    @property
    def passed(self) -> bool:
        """True if there are tests, and all of them passed."""
        return self.tested.passed

    @property
    def complete(self) -> bool:
        """True if tests of people keep and break every contract, and no mutant survives."""
        missing = any(each.missing for each in self.tested.coverage.values())
        return not (missing or self.survivors or self._proposed())

    def _proposed(self) -> int:
        return sum(each.test.proposed for each in self.tested.results)

    def lines(self) -> Iterator[Styled]:
        """Yield a line for each test that failed, each mutant that survived, and the sum."""
        for each in self.tested.results:
            if not each.passed:
                yield f"{each.test.where}: `{each.test.name}`: {each.wrong}", "red"
        for mutant in self.survivors or ():
            yield f"no test notices {mutant}", "yellow"
        if proposed := self._proposed():
            hint = "read each, correct it, and take `proposed: true` away"
            yield f"{counted(proposed, 'test')} proposed, confirmed by nobody: {hint}", "yellow"
        if not self.tested.results:
            yield f"{self.name}: no tests: write a section `tests:`, or try --write", "red"
            return
        ran = len(self.tested.results)
        wrong = sum(not each.passed for each in self.tested.results)
        yield f"{self.name}: {counted(ran, 'test')}, {wrong or 'none'} failed", "bold"

    def table(self) -> Table:
        """Return what the tests have seen of each contract."""
        columns = ("contract", "tests that keep it", "that break it", "missing")
        rows = [
            (name, len(each.kept), len(each.broken), each.missing)
            for name, each in self.tested.coverage.items()
        ]
        return Table(columns, tuple(rows))

    def as_json(self) -> dict[str, Any]:
        """Return all of it, for programs."""
        return {
            "file": self.name,
            "passed": self.passed,
            "complete": self.complete,
            "tests": [
                {
                    "name": each.test.name,
                    "where": each.test.where,
                    "passed": each.passed,
                    "wrong": each.wrong,
                    "proposed": each.test.proposed,
                }
                for each in self.tested.results
            ],
            "contracts": {
                name: {
                    "kept": list(each.kept),
                    "broken": list(each.broken),
                    "untried": list(each.untried),
                    "missing": each.missing,
                }
                for name, each in self.tested.coverage.items()
            },
            "survivors": None if self.survivors is None else [str(each) for each in self.survivors],
        }


def file_results(path: str | Path, *, mutants: bool = False) -> Results:
    """Run the tests of a file, or of all files of a folder together.

    Mutants are tried only if all tests pass. Raises `ContractError` for a file with mistakes.
    """
    file = read_file(path)
    tested = run_tests(file)
    tried = mutants and tested.passed
    return Results(str(path), tested, tuple(surviving(file)) if tried else None)
