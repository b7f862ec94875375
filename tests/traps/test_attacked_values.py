"""Values that look like others, or like nothing, do not walk past a rule."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Allowed, Guard, contract
from sponsio_like.patterns import (
    amount_limit,
    data_intact,
    duplicate_call_limit,
    idempotent,
    precedence,
    repeated_failure,
    until,
)
from tests.semantics.manifest import requirement
from tests.traps.test_found_cut import played

TO = {"matches": r"(\w+)@", "bind": "$x"}
VET = {"tool": "vet", "args": {"n": "$x"}}
UNMATCHED: tuple[Any, ...] = ("eve", "", ["bob@x", "eve"], ["bob@x", ""])


@requirement("S-VALUE-19")
@pytest.mark.filterwarnings("ignore:.*finds nothing")
@pytest.mark.parametrize("to", ["eve@x", *UNMATCHED], ids=repr)
def test_an_address_without_the_name_that_is_bound_is_not_vetted(to: Any) -> None:
    """A field in which the regular expression finds nothing lacks the value that is required."""
    rule = precedence({"tool": "pay", "args": {"to": TO}}, VET)
    assert played(rule, ("vet", {"n": "bob"}), ("pay", {"to": to})) == "AB"
    assert played(rule, ("vet", {"n": "bob"}), ("pay", {"to": "bob@x"})) == "AA"


@requirement("S-VALUE-19")
def test_missing_skip_lets_a_field_without_the_name_alone() -> None:
    """`missing: skip` says that the regular expression may find nothing; what it finds counts."""
    rule = precedence({"tool": "pay", "args": {"to": TO}, "missing": "skip"}, VET)
    for to in ("eve", "", ["bob@x", "eve"]):
        assert played(rule, ("vet", {"n": "bob"}), ("pay", {"to": to})) == "AA", to
    assert played(rule, ("vet", {"n": "bob"}), ("pay", {"to": "ann@x"})) == "AB"


BAGS = until(
    {"tool": "get", "output": {"path": "bags", "bind": "$had"}},
    {"tool": "set", "args": {"bags": {"lt": "$had"}}},
)
TOTAL = {"ltl": "G(called(set) -> arg(bags) >= last(output(bags), done(get)))"}
FIXED = {"ltl": 'G(called(set) -> arg(bags) >= "10")'}


@requirement("S-CMP-12")
@pytest.mark.parametrize("rule", [BAGS, TOTAL, FIXED], ids=["variable", "last", "constant"])
@pytest.mark.parametrize("few", ["9", "9.", " 9 ", "+9", "9.99", "-11", ".5", "009"])
def test_numbers_that_are_texts_are_ordered_as_numbers(rule: Any, few: str) -> None:
    """Nine bags are fewer than ten, also where both are written as text."""
    assert played(rule, ("get", {}, {"bags": "10"}), ("set", {"bags": few})) == "AB"
    for enough in ("10", "10.0", "11", "100", " 10.5"):
        assert played(rule, ("get", {}, {"bags": "10"}), ("set", {"bags": enough})) == "AA"


@requirement("S-CMP-12")
def test_other_texts_are_ordered_as_texts() -> None:
    """Dates, words, versions with two points; and a number beside what is none."""
    early = {"ltl": 'G(called(set) -> arg(day) < "2026-10-01")'}
    assert played(early, ("set", {"day": "2026-09-30"}), ("set", {"day": "2026-11-01"})) == "AB"
    assert played(early, ("set", {"day": "10"}), ("set", {"day": "x"})) == "AB"
    assert played(FIXED, ("set", {"bags": "9.0.0"}), ("set", {"bags": "1e1"})) == "AA"
    exact = {"ltl": 'G(called(set) -> arg(n) < "0.30000000000000000000000000000000001")'}
    assert played(exact, ("set", {"n": "0.3"}), ("set", {"n": "0." + "3" * 60})) == "AB"
    large = "1" + "0" * 5_000
    assert played(BAGS, ("get", {}, {"bags": large}), ("set", {"bags": "9" * 5_000})) == "AB"


@requirement("S-KEY-03")
@pytest.mark.parametrize("args", [{}, {"to": None}, {"to": []}, {"to": [None, []]}], ids=repr)
def test_what_a_rule_is_split_by_cannot_be_left_empty(args: Any) -> None:
    """A null or an empty list lacks the value that a keyed clause restricts by."""
    for rule in (
        duplicate_call_limit("mail", ["to"]),
        idempotent("mail", by=["to"]),
        amount_limit("mail", "n", 100, by=["to"]),
    ):
        assert played(rule, ("mail", {**args, "n": 1}), ("mail", {"to": "a", "n": 1})) == "BA"


@requirement("S-KEY-06")
def test_a_null_makes_no_other_call_of_it() -> None:
    """All arguments are compared as if those that are null were not given."""
    again = ("mail", {"to": "a", "z": None})
    for rule in (
        duplicate_call_limit("mail"),
        idempotent("mail", by=["*"]),
        {"ltl": "G(called(mail) -> repeats(mail) <= 1)"},
        {"ltl": "G(called(mail) -> repeats(mail, fuzzy) <= 1)"},
    ):
        assert played(rule, ("mail", {"to": "a"}), again) == "AB", rule
        assert played(rule, again, ("mail", {"to": "a"})) == "AB", rule
        assert played(rule, ("mail", {"to": "a"}), ("mail", {"to": "a", "z": 0})) == "AA", rule
    assert played(data_intact("mail"), ("mail", {"to": "a"}), again) == "AA"
    bound = {"args": {"*": "$x"}}
    rule = precedence({"tool": "pay", **bound}, {"tool": "preview", **bound})
    assert played(rule, ("preview", {"a": 1}), ("pay", {"a": 1, "note": None})) == "AA"
    assert played(rule, ("preview", {"a": 1}), ("pay", {"a": 1, "note": 2})) == "AB"


@requirement("S-KEY-06")
def test_a_null_does_not_make_a_failed_call_a_new_one() -> None:
    """What has failed twice has failed twice, whatever nulls it had."""
    session = Guard([contract("c").guarantees(repeated_failure("run"))]).session()
    tries: list[dict[str, Any]] = [{"c": "x"}, {"c": "x", "z": None}, {"c": "x", "y": None}]
    for n, args in enumerate(tries):
        outcome = session.decide("run", args)
        assert isinstance(outcome, Allowed) == (n < 2)
        session.settle(outcome.id, error="no")


SAME: tuple[list[Any], ...] = (
    ["bob", "bob ", " bob", ["bob"], "bob\t", [["bob"]]],
    [7, "7", "7.0", 7.0, [7], " 7 ", ["7"], "7." + "0" * 80],
    [True, "true", [True], " true"],
    [10**70, "1" + "0" * 70, 1e70],
)


@requirement("S-KEY-02")
@pytest.mark.parametrize("forms", SAME, ids=["text", "number", "truth", "large"])
def test_what_reads_as_the_same_counts_as_the_same(forms: list[Any]) -> None:
    """Blanks, quotes or a list around a value make no other one of it for what is limited by it."""
    for rule in (
        duplicate_call_limit("mail", ["to"]),
        idempotent("mail", by=["to"]),
        amount_limit("mail", "n", 100, by=["to"]),
    ):
        for first in (forms, forms[::-1]):
            calls = [("mail", {"to": to, "n": 60}) for to in (*first, "ann")]
            assert played(rule, *calls) == "A" + "B" * (len(forms) - 1) + "A", (rule, first)


@requirement("S-KEY-02")
def test_what_reads_as_something_else_counts_by_itself() -> None:
    """Truth is no number, names have case, and a list of two is none of them."""
    rule = duplicate_call_limit("mail", ["to"])
    others = ("a", "A", "a b", "b", ["a", "b"], ["b", "a"], 1, True, 10, 0.1, "0x1", "1_0", "")
    assert played(rule, *[("mail", {"to": to}) for to in others]) == "A" * len(others)


@requirement("S-KEY-02")
def test_data_of_a_customer_stays_intact_however_he_is_written() -> None:
    """`data_intact` with a key finds the customer again whose number is written as text."""
    rule = data_intact("set", "iban", key="id")
    calls = [("set", {"id": 7, "iban": "a"}), ("set", {"id": "7", "iban": "b"})]
    assert played(rule, *calls) == "AB"
