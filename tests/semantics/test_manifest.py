"""The manifest holds in both directions: each requirement has tests, and each test says which."""

from __future__ import annotations

from collections import Counter

import pytest

import sponsio_like.patterns  # noqa: F401  declares the patterns
from sponsio_like.contracts.declaration import catalog
from tests.semantics.manifest import (
    IDS,
    ROOT,
    UNPLANTED,
    UNTESTED,
    bugs,
    carriers,
    requirements,
    statements,
)
from tests.semantics.manifest_rows import PATTERNS, STATEMENTS, TRAPS

IN_SCOPE = {f"T-{number:02}" for number in (*range(1, 21), 23, *range(25, 29), *range(30, 49))}


def test_every_statement_has_a_row() -> None:
    """The statements of docs/semantics.md are those of the manifest, no more and no fewer."""
    assert set(statements()) == set(STATEMENTS)


def test_every_pattern_has_a_row() -> None:
    """The patterns of the package are those of the manifest."""
    ours = {each.name for each in catalog() if each.build.__module__.startswith("sponsio_like.")}
    assert ours == {id.removeprefix("C-") for id in PATTERNS}


def test_every_trap_has_a_row() -> None:
    """The traps that can be met so far have a row each."""
    assert set(TRAPS) == IN_SCOPE


def test_every_row_says_something() -> None:
    """Ids are well formed and unique, and each stands for a sentence."""
    rows = list(requirements())
    assert [row.id for row in rows if not IDS.fullmatch(row.id)] == []
    assert [id for id, times in Counter(row.id for row in rows).items() if times > 1] == []
    assert [row.id for row in rows if len(row.says.split()) < 3] == []


def test_every_row_is_carried_by_a_test() -> None:
    """A requirement is carried by a test that names it, or is a gap with a reason; not both."""
    carried = {id for id, tests in carriers().items() if tests}
    missing = [row.id for row in requirements() if row.id not in carried | set(UNTESTED)]
    assert missing == []
    assert carried & set(UNTESTED) == set()


def test_every_id_that_a_test_names_exists() -> None:
    """A test cannot carry what is not required."""
    assert set(carriers()) <= {row.id for row in requirements()}


def test_every_carrier_exists() -> None:
    """A test that is named is a function of its file."""
    for tests in carriers().values():
        for test in tests:
            assert f"def {test.function}(" in (ROOT / test.file).read_text("utf-8"), test


def test_every_row_has_a_planted_bug() -> None:
    """Every requirement has a bug that its tests must find, or a reason why not."""
    known = bugs()
    assert [
        row.id for row in requirements() if row.id not in UNPLANTED and row.bug not in known
    ] == []


def test_gaps_are_rows_with_reasons() -> None:
    """A gap is a requirement, and its reason is a sentence."""
    known = {row.id for row in requirements()}
    for gaps in (UNTESTED, UNPLANTED):
        assert set(gaps) <= known
        assert [id for id, reason in gaps.items() if len(reason.split()) < 4] == []


def test_every_bug_is_used() -> None:
    """No bug is planted for nothing, and each has its own name."""
    names = [bug.name for bug in bugs().values()]
    assert set(names) == {row.bug for row in requirements()}


@pytest.mark.parametrize("bug", bugs().values(), ids=lambda bug: bug.name)
def test_every_bug_can_be_planted(bug: object) -> None:
    """What a bug replaces stands in its file exactly once, and is replaced by something else."""
    from tests.planted.planted_meaning import Bug

    assert isinstance(bug, Bug)
    text = (ROOT / "sponsio_like" / bug.file).read_text("utf-8")
    assert text.count(bug.old) == 1
    assert bug.old != bug.new
