"""What agents tried with the values of arguments: keys, shapes, numbers, texts, patterns."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import pytest
import re2

from sponsio_like import Allowed, Blocked, ContractError, Guard, Session, contract
from sponsio_like.events import relations as values
from sponsio_like.patterns import (
    arg_allowlist,
    arg_blacklist,
    arg_value_range,
    idempotent,
    rate_limit,
)
from tests.support.costs import beside


def session(*rules: Any) -> Session:
    """A session under these rules."""
    return Guard([contract("rule").guarantees(*rules)]).session()


def decided(rule: Any, args: Any, tool: str = "pay") -> str:
    """What one rule says to one call."""
    outcome = session(rule).decide(tool, args)
    return {Allowed: "allowed", Blocked: "blocked"}[type(outcome)]


# --- values that choose a monitor -----------------------------------------------------------------


def test_what_is_no_number_chooses_no_monitor_of_its_own() -> None:
    """NaN, bytes and the like are no key: each call that has one violates, and leaves nothing."""
    mine = session(idempotent("pay", by=["o"]))
    for odd in (math.nan, b"\xff", object(), {"a": math.nan}):
        assert all(isinstance(mine.decide("pay", {"o": odd}), Blocked) for _ in range(3))
    assert isinstance(mine.decide("pay", {"o": 1}), Allowed)
    assert isinstance(mine.decide("pay", {"o": 1.0}), Blocked)
    assert len(str(mine.snapshot()["clauses"])) < 500


def test_long_values_are_remembered_by_their_hash() -> None:
    """A key of 100,000 characters costs no more than a short one, and is still its own."""
    mine = session(idempotent("pay", by=["o"]))
    for n in range(20):
        assert isinstance(mine.decide("pay", {"o": f"{n}" + "x" * 60_000}), Allowed)
        mine.settle(mine.decide("other").id)
    assert isinstance(mine.decide("pay", {"o": "7" + "x" * 60_000}), Blocked)
    assert len(str(mine.snapshot()["clauses"])) < 10_000


SHADOWED = {"o": {"amount": 10**6}, "o.amount": 1}


@pytest.mark.parametrize(
    ("rule", "args"),
    [
        (arg_value_range("pay", "o.amount", max=10), SHADOWED),
        (arg_value_range("pay", "o.amount", max=10), {"o": {"amount": 1}, "o.amount": 10**6}),
        ({"ltl": "G !called(pay, o.amount > 500)"}, SHADOWED),
        ({"ltl": "G(called(pay) -> arg(o.amount) <= 500)"}, SHADOWED),
        ({"ltl": "G(called(pay) -> sum(pay, o.amount) <= 500)"}, SHADOWED),
        (arg_blacklist("pay", "o.to", ["eve"]), {"o": {"to": "eve"}, "o.to": "bob"}),
        (arg_blacklist("pay", "o.to", ["eve"]), {"o": {"to": "bob"}, "o.to": "eve"}),
        (arg_allowlist("pay", "o.to", ["bob"]), {"o": {"to": "eve"}, "o.to": "bob"}),
        (arg_allowlist("pay", "o[].to", ["bob"]), {"o": [{"to": "eve"}], "o[].to": "bob"}),
    ],
)
def test_a_key_with_a_dot_hides_nothing(rule: Any, args: Any) -> None:
    """An argument that is named like a path does not stand in front of what the path leads to."""
    assert decided(rule, args) == "blocked"


def test_a_key_with_a_dot_is_no_new_value() -> None:
    """A call with two values at the path of a key violates: it cannot be told which one counts."""
    mine = session(idempotent("pay", by=["o.id"]))
    assert isinstance(mine.decide("pay", {"o": {"id": 1}}), Allowed)
    for n in range(5):
        assert isinstance(mine.decide("pay", {"o": {"id": 1}, "o.id": n}), Blocked)


# --- numbers --------------------------------------------------------------------------------------


def test_sums_are_exact_whatever_their_size() -> None:
    """One is not lost beside ten to the power of thirty-one, nor beside a very small amount."""
    rule = {"ltl": f"G(called(pay) -> sum(pay, n) <= {10**31})"}
    mine = session(rule)
    assert isinstance(mine.decide("pay", {"n": 10**31}), Allowed)
    assert isinstance(mine.decide("pay", {"n": 1}), Blocked)
    assert isinstance(mine.decide("pay", {"n": Decimal(10) ** -30}), Blocked)
    assert isinstance(mine.decide("pay", {"n": 0}), Allowed)


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        {"rm -rf /": 1},
        {"run": {"deep": {"rm  -rf": True}}},
        [{"rm\t-rf": 0}],
        ["rm", ["-rf"]],
        [["rm"], ["-rf"]],
        [["sudo", ["rm"]], [["-rf"], "/"]],
        {"argv": [["rm"], "-rf"]},
    ],
    ids=str,
)
def test_a_blacklist_reads_keys_and_nested_lists(command: Any) -> None:
    """The keys of objects are texts as well, and the words of lists in lists are one line."""
    rule = arg_blacklist("bash", "command", ["rm -rf"])
    assert decided(rule, {"command": command}, "bash") == "blocked"


def test_operators_of_query_languages_are_keys() -> None:
    """A forbidden operator is found where query languages have it: as the key of an object."""
    rule = arg_blacklist("find", "filter", [r"\$where"])
    assert decided(rule, {"filter": {"$where": "1"}}, "find") == "blocked"
    assert decided(rule, {"filter": {"a": [{"$where": "1"}]}}, "find") == "blocked"
    assert decided(rule, {"filter": {"name": "x"}}, "find") == "allowed"


COMPOSED, APART = "caf\u00e9", "cafe\u0301"


@pytest.mark.parametrize(
    "rule",
    [
        arg_blacklist("pay", "to", [COMPOSED]),
        {"ltl": f'G !called(pay, to matches "{COMPOSED}")'},
        {"ltl": f'G(called(pay) -> !arg(to) matches "{COMPOSED}")'},
    ],
    ids=["blacklist", "condition", "comparison"],
)
@pytest.mark.parametrize("to", [COMPOSED, APART, f"au {APART}!"], ids=ascii)
def test_regular_expressions_see_one_form_of_accents(rule: Any, to: str) -> None:
    """A letter and its accent are found, whether the text has them as one character or as two."""
    assert decided(rule, {"to": to}) == "blocked"


def test_an_allowlist_takes_either_form_of_an_accent() -> None:
    """A text is allowed if it, or its composed form, matches; without the accent it is not."""
    rule = arg_allowlist("pay", "to", [COMPOSED])
    assert [decided(rule, {"to": to}) for to in (COMPOSED, APART)] == ["allowed"] * 2
    assert decided(rule, {"to": "cafe"}) == "blocked"
    assert decided(arg_blacklist("pay", "to", [APART]), {"to": APART}) == "blocked"


def test_heaps_of_accents_are_no_text() -> None:
    """A text with more accents in a row than any language has cannot be searched: it violates."""
    rule = arg_blacklist("pay", "to", [COMPOSED])
    assert decided(rule, {"to": "x" + "\u0300" * 100 + APART}) == "blocked"
    assert decided(rule, {"to": "x" + "\u0300" * 100}) == "blocked"
    assert decided(rule, {"to": "x" + "\u0300\u0316" * 5}) == "allowed"


# --- regular expressions --------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["\ud800", "a\udfff"], ids=ascii)
def test_half_a_character_is_no_pattern(pattern: str) -> None:
    """A pattern that is no text is a mistake of the contract, not an exception of a library."""
    with pytest.raises(ContractError, match="half a character"):
        session(arg_blacklist("sh", "c", [pattern]))
    with pytest.raises(ContractError, match="half a character"):
        session(rate_limit({"tool": "sh", "args": {"c": {"matches": pattern}}}, 1))


@pytest.mark.parametrize("before", [[], ["x"], ["x", r"\\\\Qy"]], ids=len)
@pytest.mark.parametrize("after", [[], ["y.z"], [r"\Qo"]], ids=len)
def test_a_quotation_that_is_not_closed_is_a_pattern(before: list[str], after: list[str]) -> None:
    r"""`\Qrm -r.` without `\E` is a pattern like any other, alone and among others."""
    patterns = [*before, r"\Qrm -r.", *after]
    rule = arg_blacklist("sh", "c", patterns)
    for text in ("rm -r.", "sudo rm -r. /", "rm\t -r.", *("yxz" for _ in after[:1] if "." in _)):
        assert decided(rule, {"c": text}, "sh") == "blocked"
    assert decided(rule, {"c": "rm -rf"}, "sh") == "allowed"
    allowed = arg_allowlist("sh", "c", patterns)
    assert decided(allowed, {"c": "rm -r."}, "sh") == "allowed"
    assert decided(allowed, {"c": "rm -r./"}, "sh") == "blocked"


def test_no_regular_expression_is_compiled_in_a_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was compiled when the contracts were loaded is kept: any number of them is searched."""
    rules = [
        arg_blacklist("sh", "c", ["bad"]),
        arg_allowlist("sh", "c", ["[a-z ]*"]),
        {"ltl": 'G !called(sh, c matches "evil")'},
        {"ltl": 'G(called(sh) -> !arg(c) matches "wrong")'},
        {"ltl": 'G(called(sh) -> count(called(sh, c matches "once")) <= 1)'},
        {"ltl": 'G !text matches "secret"'},
    ]
    mine = session(*rules)
    values.regex.cache_clear()
    monkeypatch.setattr(re2, "compile", None)  # nothing can be compiled any more
    said = [mine.decide("sh", {"c": text}) for text in ("ls", "bad", "LS", "evil", "wrong")]
    assert [type(each) for each in said] == [Allowed, *[Blocked] * 4]
    assert [type(mine.decide("sh", {"c": "once"})) for _ in range(2)] == [Allowed, Blocked]
    assert isinstance(mine.message("assistant", "a secret"), Blocked)


def test_a_large_regular_expression_is_searched_in_short_texts() -> None:
    """A program of thousands of instructions reads a few thousand characters; more violates."""
    rule = arg_blacklist("sh", "c", [".{0,500}evil"])
    assert decided(rule, {"c": "ab" * 1_000}, "sh") == "allowed"
    assert decided(rule, {"c": "ab" * 1_000 + "evil"}, "sh") == "blocked"
    assert decided(rule, {"c": "ab" * 30_000}, "sh") == "blocked"
    small = arg_blacklist("sh", "c", ["evil[a-z]{1,50};"])
    assert decided(small, {"c": "ab" * 30_000}, "sh") == "allowed"


@pytest.mark.parametrize(
    "pattern", [".{0,500}c", "([ab]{1,30}){1,30}c", "[ab]*a[ab]{100}c", r"(\w{1,20}\s){1,20};"]
)
def test_no_regular_expression_takes_seconds(pattern: str) -> None:
    """Even a pattern and a text that are made for each other are decided within a second or two."""
    coin = random.Random(1)
    mine = session(arg_blacklist("sh", "c", [pattern]))
    for size in (2_000, 4_000, 10_000, 65_000):
        text = "".join(coin.choice("ab") for _ in range(size))
        assert beside(lambda text=text: mine.decide("sh", {"c": text})) < 2_000  # type: ignore[misc]
