"""Contracts that looked armed and were not, or that stopped honest work; and what loading says."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import ContractWarning, Guard, contract
from sponsio_like.errors import ContractError
from sponsio_like.patterns import (
    absent,
    amount_limit,
    approval_freshness,
    arg_allowlist,
    arg_blacklist,
    arg_length_limit,
    arg_value_range,
    backup_before_destructive,
    destructive_action_gate,
    dry_run_before_commit,
    must_confirm,
    must_precede,
    precedence,
    required_steps_completion,
    value_from,
)
from tests.semantics.manifest import requirement
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


# --- kinds ------------------------------------------------------------------------------------

TOOLS: dict[str, Any] = {
    "pay": {"fields": {"amount": "string", "n": "integer", "to": "string", "tags": "[string]"}},
    "vet": {"fields": {"id": "integer", "name": "string"}},
    "note": None,
}
UNLIKE: dict[str, Any] = {
    "a blacklist of numbers": arg_blacklist("pay", "n", ["4"]),
    "an allowlist of numbers": arg_allowlist("pay", "n", ["4.*"]),
    "a text that is no number": absent({"tool": "pay", "args": {"n": "many"}}),
    "one of several": absent({"tool": "pay", "args": {"n": {"in": [1, "2"]}}}),
    "a regular expression": absent({"tool": "pay", "args": {"n": {"matches": "4"}}}),
    "a number that is a text": absent({"tool": "pay", "args": {"amount": {"gt": 100}}}),
    "an element": absent({"tool": "pay", "args": {"tags[]": 3}}),
    "a range of a text": arg_value_range("pay", "amount", 0, 5),
    "a total of texts": amount_limit("pay", "amount", 100),
    "two kinds of one value": precedence(
        {"tool": "pay", "args": {"to": "$w"}}, {"tool": "vet", "args": {"id": "$w"}}
    ),
    "a formula": 'G !called(pay, n = "4")',
}


@requirement("S-LOAD-17")
@pytest.mark.parametrize("rule", UNLIKE.values(), ids=UNLIKE)
def test_a_field_is_not_compared_with_another_kind(rule: Any) -> None:
    """What is declared of a field is held against the values that contracts compare it with."""
    loaded({"ltl": rule} if isinstance(rule, str) else rule)
    with pytest.raises(ContractError, match=r"a number|a text"):
        loaded({"ltl": rule} if isinstance(rule, str) else rule, tools=TOOLS)


@requirement("S-LOAD-17")
@pytest.mark.parametrize(
    "rule",
    [
        arg_blacklist("pay", "to", ["eve"]),
        arg_blacklist("pay", "*", ["eve"]),
        arg_blacklist(["pay", "note"], "to", ["eve"]),
        arg_length_limit("pay", "n", 3),
        arg_value_range("pay", "n", 0, 5),
        absent({"tool": "pay", "args": {"n": {"gt": 3.5}}}),
        absent({"tool": "pay", "args": {"n": None}}),
        absent({"tool": "pay", "args": {"tags": "x"}}),
        absent({"tool": "pay", "args": {"tags[]": {"in": ["x"]}}}),
        absent({"tool": "*", "args": {"n": "4"}}),
        precedence({"tool": "pay", "args": {"to": "$w"}}, VET),
        precedence({"tool": "pay", "args": {"n": "$w"}}, {"tool": "vet", "args": {"id": "$w"}}),
    ],
)
def test_values_of_the_kind_load(rule: Any) -> None:
    """What may come out either way is not refused, nor what some tool may have."""
    loaded(rule, tools=TOOLS)


@requirement("S-LOAD-13")
@pytest.mark.parametrize(
    ("args", "instead"),
    [
        ({"amount": ">100"}, "write {gt: 100}"),
        ({"amount": "<= 2.5"}, "write {le: 2.5}"),
        ({"amount": {"ge": 5, "le": 3}}, "correct the bounds"),
        ({"amount": {"gt": 5, "le": 5}}, "correct the bounds"),
    ],
)
def test_a_comparison_that_is_a_text_or_empty_is_refused(args: Any, instead: str) -> None:
    """What never matches is refused, with what was meant."""
    with pytest.raises(ContractError, match=instead):
        loaded(absent({"tool": "pay", "args": args}))


@requirement("S-LOAD-13")
def test_bounds_with_something_between_load() -> None:
    """One value is between equal bounds; elements of a list may be different ones."""
    for args in ({"a": {"ge": 5, "le": 5}}, {"a[]": {"gt": 5, "lt": 3}}, {"a": {"in": [">1"]}}):
        assert loaded(absent({"tool": "pay", "args": args})).policy.warnings == ()


@requirement("S-LOAD-14")
def test_a_text_that_looks_like_a_glob_is_warned_of() -> None:
    """Globs are of tools; a value is compared as it is."""
    with pytest.warns(ContractWarning, match="write {matches: "):
        loaded(absent({"tool": "send", "args": {"to": "*@evil.com"}}))
