"""The phrasings of the catalog: each is said in a table, its arguments in their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations

import pytest

from sponsio_like import ContractError
from sponsio_like.contracts import read_sentence
from sponsio_like.contracts import sentences as reader
from sponsio_like.contracts.declaration import CATALOG
from sponsio_like.contracts.demands import same_meaning
from sponsio_like.contracts.prose.forest import trees
from sponsio_like.contracts.prose.grammar import grammar_for
from sponsio_like.patterns.phrasings import PHRASINGS
from tests.contracts.test_phrases import SENTENCES
from tests.sentences.test_sentences import MEANT, TABLE, Row, expected

TOOLS = {"every", "tools", "names", "one", "one_tool", "union", "tool_name", "later"}
NO_ORDER = {"mutual_exclusion", "segregation_of_duty"}
"""Patterns that mean the same with their arguments exchanged."""
ARGUMENT = re.compile(r"\{([\w.*]+):(\w+)\}")


@cache
def spoken() -> dict[int, list[Row]]:
    """Return the rows of the tables that are said with each phrasing."""
    said: dict[int, list[Row]] = {}
    rows = [*TABLE, *(Row(each, None, None) for each in SENTENCES)]
    for row in rows:
        for tree in trees(grammar_for(reader.phrasings()), "start", row.sentence):
            for child in tree.children:
                if re.fullmatch(r"p\d+", child.data):
                    said.setdefault(int(child.data[1:]), []).append(row)
    return said


def test_every_row_of_phrasings_is_read_by_its_pattern() -> None:
    """No row stands below the name of a pattern that does not read it."""
    assert {name: CATALOG[name].says for name in PHRASINGS} == PHRASINGS


@pytest.mark.long
def test_every_phrasing_is_said_in_a_table() -> None:
    """No phrasing of the package is without a sentence that says what it means."""
    silent = [
        text
        for i, (name, text) in enumerate(reader.phrasings())
        if i not in spoken() and CATALOG[name].build.__module__.startswith("sponsio_like.")
    ]
    assert silent == []


def exchanged() -> Iterator[tuple[str, int, str]]:
    """Yield each phrasing with two of its arguments exchanged, if they are of one kind."""
    for i, (name, text) in enumerate(reader.phrasings()):
        found = [(a, "tools" if kind in TOOLS else kind) for a, kind in ARGUMENT.findall(text)]
        for (first, kind), (second, other) in combinations(found, 2):
            if (
                first != second
                and kind == other
                and name not in NO_ORDER
                and not re.search(r"NOT \(precede|MUST BE_CALLED after", text)
            ):
                blank = text.replace(f"{{{first}:", "{?:").replace(f"{{{second}:", f"{{{first}:")
                yield f"{text} ({first}, {second})", i, blank.replace("{?:", f"{{{second}:")


@pytest.mark.long
@pytest.mark.parametrize(
    ("i", "text"), [e[1:] for e in exchanged()], ids=[e[0] for e in exchanged()]
)
def test_arguments_that_are_exchanged_in_a_phrasing_are_noticed(
    i: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A phrasing whose arguments stand in each other's places makes some row of a table wrong."""
    name = reader.phrasings()[i][0]
    rows = [row for row in spoken().get(i, ()) if row in MEANT]
    monkeypatch.setattr(reader, "phrasings", lambda: ((name, text),))
    monkeypatch.setattr(reader, "readings", lambda sentence: ())
    assert any(wrong(row) for row in rows)


def wrong(row: Row) -> bool:
    """True if the sentence is not what is expected of it."""
    try:
        return not same_meaning(read_sentence(row.sentence, row.words), expected(row))
    except ContractError:
        return True
