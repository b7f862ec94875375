"""Lets pytest run the tests that stand in contract files: `pytest contracts.yaml`.

A YAML file is collected if both `tests:` and one of `contracts:` and `include:` stand at its top;
any other is left to others. The library is imported when such a file is found, not before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ENDINGS = (".yaml", ".yml")
TESTS = re.compile(r"^tests[ \t]*:", re.MULTILINE)
CONTRACTS = re.compile(r"^(?:contracts|include)[ \t]*:", re.MULTILINE)


class FailedTest(Exception):
    """Raised for a test that failed; the text says what differs from what is expected."""


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a collector for a contract file with tests; None for any other file."""
    if file_path.suffix not in ENDINGS:
        return None
    try:
        text = file_path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    if not TESTS.search(text) or not CONTRACTS.search(text):
        return None
    found: pytest.Collector = ContractFile.from_parent(parent, path=file_path)
    return found


class ContractFile(pytest.File):
    """A contract file with tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each test. A file with mistakes is an error of the collection."""
        from sponsio_like.checks import read_file
        from sponsio_like.errors import SponsioLikeError

        try:
            file = read_file(self.path)
        except SponsioLikeError as error:
            raise self.CollectError(str(error)) from None
        for test in file.tests:
            yield WrittenItem.from_parent(self, name=test.name, file=file, test=test)


class WrittenItem(pytest.Item):
    """One test of a contract file."""

    def __init__(self, *, file: Any, test: Any, **options: Any) -> None:
        super().__init__(**options)
        self.file, self.test = file, test

    def runtest(self) -> None:
        """Play the trace; raise `FailedTest` if something else happens than is expected."""
        from sponsio_like.replay import run_tests

        results = run_tests(replace(self.file, tests=(self.test,))).results
        wrong = [each.wrong for each in results if not each.passed]
        if wrong:
            raise FailedTest("; ".join(wrong))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return what went wrong in one line, without a traceback through pytest."""
        from sponsio_like.errors import SponsioLikeError

        if isinstance(excinfo.value, (FailedTest, SponsioLikeError)):
            return f"{self.test.where}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place of the test: file, line (from 0), name."""
        _, line, _ = self.test.where.rsplit(":", 2)
        return self.path, int(line) - 1, self.name
