"""The glossary names files that are there, and each term once."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| ([^|]+) \| [^|]+ \| `([^`]+)` \|$", re.MULTILINE)


def rows() -> list[tuple[str, str]]:
    """The terms, each with its place in the code."""
    return ROW.findall((ROOT / "docs/glossary.md").read_text("utf-8"))


def test_each_term_is_said_once() -> None:
    """No word of the glossary has two meanings."""
    terms = [term for term, _ in rows()]
    assert len(terms) == len(set(terms)) >= 40


def test_the_code_has_each_term_where_the_glossary_says() -> None:
    """The file is there, and speaks of the term."""
    for term, place in rows():
        text = f"{place} {(ROOT / place).read_text('utf-8')}".casefold()
        assert any(word in text for word in term.casefold().split()), (term, place)
