"""Texts by someone who had not seen the kinds: what breaks a rule, and honest work near to it.

In: `blind_texts.jsonl`, each with the rule that is meant.
`docs/kinds-measured.md` has how many were told right before anything was changed for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sponsio_like.kinds import UNREADABLE, email, shell, url
from sponsio_like.values import under

TEXTS = (Path(__file__).parent / "blind_texts.jsonl").read_text("utf-8")
ROWS = [json.loads(line) for line in TEXTS.splitlines()]
WORKSPACE = ("/workspace",)


def inside(paths: tuple[Any, ...]) -> bool:
    """True if all paths lie in the workspace."""
    return all(under(each, WORKSPACE) is True for each in paths)


RULES: dict[str, Callable[[str], bool]] = {
    "no_rm": lambda text: not {"rm", UNREADABLE} & {*shell(text)["runs"]},
    "no_pipe_to_shell": lambda text: shell(text)["pipes_to_shell"] == (False,),
    "writes_inside": lambda text: inside(shell(text)["writes"] + shell(text)["deletes"]),
    "host_api": lambda text: url(text)["host"] == ("api.corp.com",),
    "no_private": lambda text: url(text)["private"] == (False,),
    "inside_workspace": lambda text: under(text, WORKSPACE) is True,
    "domain_corp": lambda text: {*email(text)["domain"]} == {"corp.com"},
}
"""What each rule lets pass."""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['rule']}:{row['text'][:60]}")
def test_a_text_is_told_right(row: dict[str, str]) -> None:
    """What breaks the rule is seen, or cannot be told; honest work passes."""
    assert RULES[row["rule"]](row["text"]) is (row["expect"] == "pass"), row["why"]
