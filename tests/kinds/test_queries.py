"""Queries that break one of four rules, and honest ones near to them.

In: `queries.txt`, a query a line, in sections. `docs/kinds-measured.md` has how many were told
right before anything was changed for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sponsio_like.kinds import UNREADABLE, sql
from tests.kinds.sections import sections

READING = {"select", "explain", "show", "describe"}
UNBOUNDED = {"delete_all", "update_all", "truncate", "drop", UNREADABLE}


def last(name: Any) -> str:
    """The name of a table or a column, without those before it."""
    return "" if name is UNREADABLE else name.lower().rpartition(".")[2]


def names(text: str, fact: str, name: str) -> bool:
    """True if a fact has this name, or may have it."""
    return any(each is UNREADABLE or last(each) == name for each in sql(text)[fact])


def only_reads(text: str) -> bool:
    """True if nothing but reading is done, and nothing reaches out."""
    facts = sql(text)
    return {*facts["verbs"]} <= READING and not facts["reaches_out"]


RULES: dict[str, Callable[[str], bool]] = {
    "only": only_reads,
    "bounded": lambda text: not {*sql(text)["verbs"]} & UNBOUNDED,
    "no_users": lambda text: not names(text, "reads", "users"),
    "no_pw": lambda text: not names(text, "columns", "password"),
}
"""What each rule lets pass."""
SECTIONS = sections("queries.txt")


@pytest.mark.parametrize("rule", RULES)
def test_what_breaks_a_rule_is_seen_or_unknown(rule: str) -> None:
    """No query of the section passes."""
    assert [text for text in SECTIONS[rule, "stop"] if RULES[rule](text)] == []


@pytest.mark.parametrize("rule", RULES)
def test_honest_queries_pass(rule: str) -> None:
    """No query of the section is refused."""
    assert [text for text in SECTIONS[rule, "pass"] if not RULES[rule](text)] == []


def test_every_rule_has_its_queries() -> None:
    """Each section has texts, and no text stands in one twice."""
    assert {rule for rule, _ in SECTIONS} == set(RULES)
    for texts in SECTIONS.values():
        assert len(texts) >= 15
        assert len(texts) == len(set(texts))
