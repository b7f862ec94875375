"""Documents are read by CI: made parts are as they would be made, and what is named exists."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool

from sponsio_like import ContractError, Guard
from sponsio_like.logic.printer import FUNCTIONS
from tests.adapters.scripted import Scripted, calls
from tests.project.pages import DOCS, GUIDES, PAGES
from tests.reference.trace_tables import TABLES, places
from tests.semantics.manifest import statements
from tests.support.size import PART

ROOT = DOCS.parent


def name(path: Path) -> str:
    """A page as people write it: relative to the root."""
    return path.relative_to(ROOT).as_posix()


PLAYED = ("own-rules", "sentences", "how-it-works") if PART else GUIDES
MADE = [path for path in PAGES if path.stem in PLAYED or path.stem not in GUIDES]


@pytest.mark.parametrize("path", MADE, ids=name)
def test_made_pages_are_up_to_date(path: Path) -> None:
    """A page that is made is what `python -m tests.project.pages --write` would write."""
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


def section(title: str) -> str:
    """The section of the page about meaning that has this title."""
    text = (DOCS / "semantics.md").read_text("utf-8")
    (found,) = re.findall(rf"^## \d+\. {title}\n(.*?)^## ", text, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.mark.parametrize("word", sorted({*FUNCTIONS} - {"initially"}))
def test_every_atom_and_term_is_explained(word: str) -> None:
    """It has a row in the tables of atoms and terms, and stands in the text syntax."""
    rows = re.findall(r"^\| (.*?) \|", section("Atoms") + section("Terms"), re.MULTILINE)
    assert any(re.search(rf"`{word}\b", row) for row in rows)
    syntax = re.findall(r"^```\n(.*?)^```", section("Text syntax"), re.DOTALL | re.MULTILINE)
    assert re.search(rf"\b{word}\b", syntax[0])


README = (ROOT / "README.md").read_text("utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
FILES = dict(re.findall(r"```yaml title=(\S+)\n(.*?)```", README, re.DOTALL))
CONTRACTS = [
    pytest.param(text, id=f"{name(page)} {number}")
    for page in sorted(DOCS.rglob("*.md"))
    for number, text in enumerate(
        re.findall(r"```yaml\n(version: .*?)```", page.read_text("utf-8"), re.DOTALL)
    )
]


@tool
def check_policy(order: int) -> str:
    """A tool, as a reader of the README may have it."""
    return f"{order}: yes"


@tool
def issue_refund(order: int) -> str:
    """Another one."""
    return f"{order}: paid"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the contract files that the README shows."""
    for each, text in FILES.items():
        (tmp_path / each).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda text: text.splitlines()[0])
def test_the_programs_of_the_readme_run(program: str) -> None:
    """What the README shows in Python runs as it stands there, and guards something."""
    script = [calls((each.name, {"order": 1}, each.name)) for each in (issue_refund, check_policy)]
    model = Scripted(script=lambda: [*script, "done"])
    names: dict[str, Any] = {"model": model, "tools": [check_policy, issue_refund]}
    exec(program, names)  # noqa: S102  our own text
    assert names["guard"].policy.clauses
    if "agent" in names:
        thread = {"configurable": {"thread_id": "1"}}
        said = names["agent"].invoke({"messages": [("user", "go on")]}, thread)["messages"]
        told = {each.tool_call_id: each.status for each in said if each.type == "tool"}
        assert told == {"issue_refund": "error", "check_policy": "success"}


@pytest.mark.parametrize("text", CONTRACTS)
def test_the_contracts_of_the_docs_load(text: str, tmp_path: Path) -> None:
    """Every contract file in the docs is one; only modules of the reader's own may be missing."""
    file = tmp_path / "contracts.yaml"
    file.write_text(text, "utf-8")
    refused = ""
    try:
        Guard.from_yaml(file)
    except ContractError as error:
        refused = str(error)
    assert not refused or re.search(r"`my_\w+\.?\w*:\w+`", refused), refused


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
        if other.suffix in (".png", ".svg"):
            continue
        headings = re.findall(r"^#+ (.+)$", other.read_text("utf-8"), re.MULTILINE)
        slugs = {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
        assert not anchor or anchor in slugs, target


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=name)
def test_named_files_exist(page: Path) -> None:
    """Every file that a page names with its folder exists."""
    paths = re.findall(r"`((?:[\w-]+/)+[\w.-]+\.\w+)`", page.read_text("utf-8"))
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_page_on_the_engine_names_every_room() -> None:
    """Every folder of the package stands on docs/how-it-works.md, and no other does."""
    text = (DOCS / "how-it-works.md").read_text("utf-8")
    rooms = {path.parent.name for path in (ROOT / "sponsio_like").glob("*/__init__.py")}
    assert {room for room in rooms if not re.search(rf"`{room}`|\b{room}\b:", text)} == set()
    assert set(re.findall(r'\["(\w+): ', text)) <= rooms


def test_every_page_is_found_from_the_readme() -> None:
    """The table of pages in README leads to every page, by itself or by a page that it names."""
    table = README.partition("| to read | page |")[2].partition("\n\n")[0]
    named = {ROOT / page for page in re.findall(r"`(docs/[\w/-]+\.md)`", table)}
    behind = {
        (page.parent / target).resolve()
        for page in named
        for target in re.findall(r"\]\(([\w./-]+\.md)[#)]", page.read_text("utf-8"))
    }
    assert set(DOCS.rglob("*.md")) - named - behind == set()
