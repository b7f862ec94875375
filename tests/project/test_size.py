"""How many cases of a test are tried by `make check`, `make test` and `make all`."""

from __future__ import annotations

import pytest

from tests.support.size import drawn

CASES = [f"test_x[{number}]" for number in range(30)]


@pytest.mark.parametrize(
    ("tests", "quick", "long", "alone"),
    [("check", 5, 0, 0), ("test", 30, 10, 1), ("all", 30, 30, 1), ("", 30, 30, 1)],
)
def test_cases_are_drawn(tests: str, quick: int, long: int, alone: int) -> None:
    """The same cases are drawn each time; `make check` tries no long test."""
    assert len(drawn(CASES, is_long=False, tests=tests)) == quick
    tried = drawn(CASES, is_long=True, tests=tests)
    assert len(tried) == long
    assert drawn(reversed(CASES), is_long=True, tests=tests) == tried
    assert len(drawn(["test_x"], is_long=True, tests=tests)) == alone
    assert drawn(["test_x"], is_long=False, tests=tests) == ["test_x"]
