"""Documents are read by CI: made parts are as they would be made, and what is named exists."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest

from tests.manifest import statements
from tests.pages import DOCS, PAGES
from tests.trace_tables import TABLES, places

ROOT = DOCS.parent


def name(path: Path) -> str:
    """A page as people write it: relative to the root."""
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_made_pages_are_up_to_date(path: Path) -> None:
    """A page that is made is what `python -m tests.pages --write` would write."""
    assert path.read_text("utf-8") == PAGES[path]()


def test_every_table_has_its_place() -> None:
    """Every table stands on the page about meaning, once."""
    text = (DOCS / "semantics.md").read_text("utf-8")
    assert sorted(places(text)) == sorted(TABLES)


def test_statements_are_numbered_in_order() -> None:
    """The statements of a section are numbered from 01, without gaps, each id once."""
    text = (DOCS / "semantics.md").read_text("utf-8")
    ids = re.findall(r"^- \*\*(S-[A-Z]+-\d\d)\*\*", text, re.MULTILINE)
    assert sorted(ids) == sorted(statements())
    for area, members in groupby(ids, key=lambda id: id[:-3]):
        numbers = [int(id[-2:]) for id in members]
        assert numbers == list(range(1, len(numbers) + 1)), area


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every link inside the docs leads to a file, and to a heading of it."""
    text = page.read_text("utf-8")
    for target in re.findall(
        r"\]\(([^)\s]+)\)", re.sub(r"```.*?```|`[^`\n]*`", "x", text, flags=re.DOTALL)
    ):
        file, _, anchor = target.partition("#")
        if "://" in file:
            continue
        other = (page.parent / file) if file else page
        assert other.exists(), target
        headings = re.findall(r"^#+ (.+)$", other.read_text("utf-8"), re.MULTILINE)
        slugs = {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
        assert not anchor or anchor in slugs, target


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=name)
def test_named_files_exist(page: Path) -> None:
    """Every file that a page names with its folder exists."""
    paths = re.findall(r"`((?:[\w-]+/)+[\w.-]+\.\w+)`", page.read_text("utf-8"))
    assert [path for path in paths if not (ROOT / path).exists()] == []
