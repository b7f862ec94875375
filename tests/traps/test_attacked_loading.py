"""Contracts that looked armed and were not, or that stopped honest work; and what loading says."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Guard, contract
from sponsio_like.errors import ContractError
from sponsio_like.patterns import (
    approval_freshness,
    backup_before_destructive,
    destructive_action_gate,
    dry_run_before_commit,
    must_confirm,
    must_precede,
    precedence,
    required_steps_completion,
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


# --- orders of everything ---------------------------------------------------------------------

LOGIN: dict[str, Any] = {
    "must_precede": must_precede("login", "*"),
    "a list": must_precede(["sso", "login"], ["pay", "*"]),
    "precedence": precedence({"tool": "*"}, "login"),
    "required_steps_completion": required_steps_completion(["login"], "*"),
    "approval_freshness": approval_freshness("login", "*", 5),
    "must_confirm": must_confirm("*", by="login"),
    "destructive_action_gate": destructive_action_gate("*", gate="login"),
    "backup_before_destructive": backup_before_destructive("login", "*"),
    "dry_run_before_commit": dry_run_before_commit("login", "*"),
}


@requirement("S-LOAD-16")
@pytest.mark.parametrize("rule", LOGIN.values(), ids=LOGIN)
def test_log_in_before_anything_else(rule: Any) -> None:
    """A glob that is restricted does not cover the tools that it needs first."""
    assert played(rule, ("pay", {}), ("login", {}, "yes"), ("pay", {})) == "BAA"


@requirement("S-LOAD-16")
def test_a_confirmation_that_the_glob_looks_like_confirms() -> None:
    """`*pay` looks like `confirm_pay`, which is what it needs; each run needs its own."""
    rule = must_confirm("*pay", by="confirm_pay")
    yes: tuple[Any, ...] = ("confirm_pay", {}, "yes")
    assert played(rule, ("pay", {}), yes, ("pay", {}), ("repay", {})) == "BAAB"
    assert played(must_confirm("*", by="ask"), ("ask", {}, "yes"), ("a", {}), ("b", {})) == "AAB"


@requirement("S-LOAD-16")
def test_every_step_of_a_gate_for_all_is_open() -> None:
    """None of several steps waits for the other ones."""
    rule = required_steps_completion(["aml", "kyc"], "*")
    assert (
        played(rule, ("loan", {}), ("kyc", {}), ("loan", {}), ("aml", {}), ("loan", {})) == "BABAA"
    )


@requirement("S-LOAD-16")
def test_only_what_is_needed_is_left_out_of_a_glob() -> None:
    """Of a prerequisite with arguments, other calls of the tool are covered all the same."""
    tests = {"tool": "bash", "args": {"command": {"matches": "^pytest"}}}
    rule = must_precede(tests, "*")
    assert played(rule, ("bash", {"command": "rm"}), ("bash", {"command": "pytest"})) == "BA"
    assert (
        played(must_precede("login", "pay_*"), ("pay_it", {}), ("login", {}), ("pay_it", {}))
        == "BAA"
    )
    by_all = must_precede("*", "pay_*")
    assert played(by_all, ("pay_it", {}), ("look", {}), ("pay_it", {})) == "BAA"


def test_what_is_named_is_restricted_even_if_it_is_needed() -> None:
    """A name in the list is no glob: what waits for itself is still refused."""
    with pytest.raises(ContractError, match="can never be called"):
        loaded(must_precede("login", ["login", "*"]))


# --- values in orders -------------------------------------------------------------------------


@requirement("S-LOAD-16")
def test_an_order_of_values_is_not_passed_by_leaving_the_field_out() -> None:
    """What binds a value in what is restricted is required of the call, in all orders."""
    pay = {"tool": "pay", "args": {"to": "$w"}}
    for rule in (
        must_precede(VET, pay),
        required_steps_completion([VET], pay),
        approval_freshness(VET, pay, 5),
        backup_before_destructive(VET, pay),
        dry_run_before_commit(VET, pay),
        must_confirm(pay, by=VET),
        destructive_action_gate(pay, gate=VET),
    ):
        vet = ("vet", {"name": "bob"}, "yes")
        assert played(rule, vet, ("pay", {})) == "AB", rule
        assert played(rule, vet, ("pay", {"to": "bob"})) == "AA", rule
        assert played(rule, vet, ("pay", {"to": "eve"})) == "AB", rule
    assert played(must_precede(VET, pay | {"missing": "skip"}), ("pay", {})) == "A"
