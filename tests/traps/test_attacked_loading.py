"""Contracts that looked armed and were not, or that stopped honest work; and what loading says."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Guard, contract
from sponsio_like.patterns import (
    precedence,
    value_from,
)
from tests.manifest import requirement
from tests.traps.test_found_cut import played

VET = {"tool": "vet", "args": {"name": "$w"}}


def loaded(*rules: Any, tools: Any = None) -> Guard:
    """A guard of one contract with these rules."""
    return Guard([contract("rule").guarantees(*rules)], tools=tools)


# --- what lacks the field of a value --------------------------------------------------------------


@requirement("S-VALUE-15")
@pytest.mark.parametrize(
    "tool", [["pay", "transfer_*"], ["transfer_*", "pay"], "p*", "*ay", ["pay", "*"]], ids=str
)
def test_a_glob_beside_a_name_disarms_nothing(tool: Any) -> None:
    """A call of a tool that is named, or that a glob is about, has to have the field."""
    for rule in (
        precedence({"tool": tool, "args": {"to": "$w"}}, VET),
        value_from(tool, "to", "vet"),
    ):
        assert played(rule, ("vet", {"name": "bob"}, "bob"), ("pay", {})) == "AB", rule
        assert played(rule, ("vet", {"name": "bob"}, "bob"), ("pay", {"to": "bob"})) == "AA", rule


@requirement("S-VALUE-15")
@pytest.mark.parametrize("tool", ["*", ["pay", "*"], None], ids=str)
def test_any_tool_at_all_may_lack_the_field(tool: Any) -> None:
    """The bare `*`, or no tool, speaks of tools that have no such field."""
    match = {"args": {"to": "$w"}} | ({} if tool is None else {"tool": tool})
    assert played(precedence(match, VET), ("look", {}), ("look", {"to": "eve"})) == "AB"
    if tool is not None:
        assert played(value_from(tool, "to", "vet"), ("look", {}), ("look", {"to": "eve"})) == "AB"


def test_missing_skip_is_of_every_alternative() -> None:
    """`missing: skip` says of all the tools that the field is optional."""
    match = {"tool": ["pay", "transfer_*"], "args": {"to": "$w"}, "missing": "skip"}
    assert played(precedence(match, VET), ("pay", {}), ("transfer_all", {})) == "AA"
