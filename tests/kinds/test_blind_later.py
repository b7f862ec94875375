"""A later table, by one who had read `docs/kinds.md` alone: evasions and honest neighbours.

In: `blind_later.jsonl`, each with the rule that is meant. What the evasions of `rm` do was tried in
bash, where the programs were at hand. A second one, in `blind_last.jsonl`, was not run anywhere.
`docs/kinds-measured.md` has how many were told right at first.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sponsio_like.kinds  # noqa: F401  declares the kinds
from sponsio_like.values import TEXT_KINDS, UNREADABLE, under

FILES = ("blind_later.jsonl", "blind_last.jsonl")
TEXTS = [(Path(__file__).parent / each).read_text("utf-8") for each in FILES]
ROWS = [json.loads(line) for text in TEXTS for line in text.split("\n") if line]
WORKSPACE = ("/workspace",)
SECRETS = ("/etc", "/root", "~/.ssh")

Facts = dict[str, tuple[Any, ...]]


def none_of(name: str, *values: Any) -> Callable[[Facts], bool]:
    """A rule that lets pass texts of which a fact is known, and has none of these values."""
    return lambda facts: not {*values, UNREADABLE} & {*facts[name]}


def only(name: str, *values: Any) -> Callable[[Facts], bool]:
    """A rule that lets pass texts of which a fact has these values alone."""
    return lambda facts: {*facts[name]} <= {*values}


def inside(facts: Facts) -> bool:
    """True if nothing is written or deleted outside of the workspace."""
    return all(under(each, WORKSPACE) is True for each in facts["writes"] + facts["deletes"])


def reads_none(facts: Facts) -> bool:
    """True if nothing that is read lies in the folders of secrets."""
    return all(under(each, SECRETS) is False for each in facts["reads"])


RULES: dict[str, Callable[[Facts], bool]] = {
    "no_rm": none_of("runs", "rm"),
    "no_pipe_to_shell": only("pipes_to_shell", False),
    "writes_inside": inside,
    "reads_no_secrets": reads_none,
    "select_only": only("verbs", "select"),
    "no_users": none_of("read_names", "users"),
    "not_every_row": none_of("verbs", "delete_all", "update_all"),
    "no_password": none_of("columns", "password"),
    "no_private": only("private", False),
    "inside_workspace": lambda facts: under(facts["whole"][0], WORKSPACE) is True,
    "domain_corp": only("domain", "corp.com"),
    "domain_api": only("name", "api.corp.com"),
}
"""What each rule lets pass."""


def is_told_right(row: dict[str, str]) -> bool:
    """True if what breaks the rule is refused, and honest work passes."""
    name = row["rule"]
    if name == "host_api":
        rule = only("hosts" if row["kind"] == "shell" else "host", "api.corp.com")
    else:
        rule = RULES[name]
    return rule(dict(TEXT_KINDS[row["kind"]].read(row["text"]))) is (row["expect"] == "pass")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['rule']}:{row['text'][:60]}")
def test_a_text_is_told_right(row: dict[str, str]) -> None:
    """What breaks the rule is seen, or cannot be told; honest work passes."""
    assert is_told_right(row), row["why"]
