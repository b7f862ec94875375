"""A missing field does not have the value that a condition names; what requires it is not met."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like.patterns import (
    absent,
    arg_allowlist,
    arg_blacklist,
    arg_length_limit,
    arg_value_range,
    precedence,
    until,
    value_from,
)
from tests.semantics.manifest import requirement
from tests.traps.test_found_cut import played

PAYMENT = precedence(
    {"tool": "pay", "args": {"to": "$who"}},
    {"tool": "find_customer", "output": {"path": "id", "bind": "$who"}},
)
MISSING: dict[str, dict[str, Any]] = {
    "no key": {"iban": "x", "amount": 1e6},
    "null": {"to": None},
    "an empty list": {"to": []},
    "nulls": {"to": [None, []]},
}


@requirement("S-VALUE-15")
@pytest.mark.parametrize("args", MISSING.values(), ids=MISSING)
def test_a_payment_to_nobody_is_not_to_somebody_looked_up(args: dict[str, Any]) -> None:
    """What binds a value in the match of `precedence` is required of the call."""
    assert played(PAYMENT, ("find_customer", {}, {"id": "bob"}), ("pay", args)) == "AB"
    assert played(value_from("pay", "to", "find"), ("find", {}, "bob"), ("pay", args)) == "AB"


@requirement("S-VALUE-15")
def test_missing_skip_lets_calls_without_the_field_alone() -> None:
    """`missing: skip` says that the field is optional; a glob speaks of tools without it, too."""
    match = {"tool": "pay", "args": {"to": "$who"}, "missing": "skip"}
    vet = {"tool": "vet", "args": {"name": "$who"}}
    assert played(precedence(match, vet), ("pay", {}), ("pay", {"to": "eve"})) == "AB"
    rule = value_from({"tool": "pay", "missing": "skip"}, "to", "find")
    assert played(rule, ("pay", {}), ("pay", {"to": "eve"})) == "AB"
    anything = {"tool": "*", "args": {"to": "$who"}}
    assert (
        played(precedence(anything, vet), ("vet", {"name": "bob"}), ("pay", {"to": "bob"})) == "AA"
    )


CC = "mallory@evil.com"
OPTIONAL: dict[str, Any] = {
    "equals": absent({"tool": "send", "args": {"cc[]": CC}}),
    "a list": absent({"tool": "send", "args": {"cc": CC}}),
    "in": absent({"tool": "send", "args": {"cc": {"in": [CC, "eve"]}}}),
    "matches": absent({"tool": "send", "args": {"cc": {"matches": "evil"}}}),
    "greater": absent({"tool": "send", "args": {"cc": {"gt": 100}}}),
    "unequal": absent({"tool": "send", "args": {"cc": {"ne": "ann"}}}),
    "every": absent({"tool": "send", "args": {"cc[]": {"every": {"ne": "ann"}}}}),
    "term": {"ltl": 'G(called(send) -> !arg(cc) = "mallory@evil.com")'},
    "nested": absent({"tool": "send", "args": {"cc.name": {"in": [CC]}}}),
    "condition of precedence": precedence({"tool": "send", "args": {"cc": CC}}, "vet"),
}


@requirement("S-CMP-08")
@pytest.mark.parametrize("rule", OPTIONAL.values(), ids=OPTIONAL)
@pytest.mark.parametrize("cc", [..., None, []], ids=["no key", "null", "empty"])
def test_a_rule_about_a_field_leaves_calls_without_it_alone(rule: Any, cc: Any) -> None:
    """A mail without `cc`, with null or with an empty list has none of the values forbidden."""
    if cc == [] and "every" in repr(rule):
        return  # all of no elements: see S-VALUE-05
    args = {"to": "ann"} | ({} if cc is ... else {"cc": cc})
    assert played(rule, ("send", args), ("send", args)) == "AA"


def test_a_rule_about_a_field_still_bites() -> None:
    """The same rules refuse a mail with the field that they forbid."""
    for name, rule in OPTIONAL.items():
        cc = {"greater": 200, "nested": {"name": CC}}.get(name, CC)
        cc = [cc] if name in ("equals", "every") else cc
        assert played(rule, ("send", {"cc": cc}), ("send", {"cc": cc}))[-1] == "B", name


def test_the_trigger_of_until_needs_its_field() -> None:
    """A call without the amount is no large payment, and forbids nothing afterwards."""
    rule = until({"tool": "pay", "args": {"amount": {"gt": 100}}}, "send")
    assert played(rule, ("pay", {}), ("send", {})) == "AA"
    assert played(rule, ("pay", {"amount": "n/a"}), ("send", {})) == "AB"


@requirement("S-CMP-08")
@pytest.mark.parametrize("args", [{}, {"n": None}, {"n": []}], ids=str)
def test_what_is_required_of_a_field_does_not_hold_of_a_missing_one(args: Any) -> None:
    """Requirements are not met by leaving the field out; blacklists and lengths are."""
    for rule in (
        {"ltl": "G(called(pay) -> arg(n) <= 100)"},
        {"ltl": "G(called(pay) -> called(pay, n in [1, 2]))"},
        {"ltl": "G(called(pay) -> arg(n) != 3)"},
        {"ltl": "G(called(pay) -> sum(pay, n) <= 100)"},
        arg_allowlist("pay", "n", [".*a"]),
        arg_value_range("pay", "n", 0, 10),
    ):
        assert played(rule, ("pay", args)) == "B", rule
    for rule in (arg_blacklist("pay", "n", ["rm"]), arg_length_limit("pay", "n", 3)):
        assert played(rule, ("pay", args)) == "A", rule


def test_an_explicit_null_is_null() -> None:
    """`= null` holds of null itself, and of no field that is not there."""
    rule = {"ltl": "G !called(pay, n = null)"}
    assert played(rule, ("pay", {"n": None})) == "B"
    assert played(rule, ("pay", {})) == "A"
