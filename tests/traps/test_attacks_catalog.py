"""What agents and hosts tried with the catalog: words, tokens, times, confirmations, shapes."""

from __future__ import annotations

import functools
import unicodedata
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard, Session, SessionError, contract
from sponsio_like.patterns import (
    approval_active,
    arg_blacklist,
    arg_length_limit,
    arg_value_range,
    confirm_after_source,
    data_intact,
    destructive_action_gate,
    max_length,
    must_confirm,
    no_keywords,
    rate_limit,
    token_budget,
    untrusted_source_gate,
)
from sponsio_like.values.visible_text import UNSEEN
from tests.semantics.manifest import ROOT, requirement
from tests.support.costs import beside
from tests.support.play import Clock

APPROVAL = {"action": "pay", "role": "boss", "decision": "approve", "by": "ann"}


def session(*rules: Any, **options: Any) -> Session:
    """A session under these rules."""
    return Guard([contract("rule").guarantees(*rules)]).session(**options)


def lets(mine: Session, tool: str = "pay", **args: Any) -> bool:
    """Whether the call is let through; it is settled at once."""
    outcome = mine.decide(tool, args)
    if isinstance(outcome, Allowed):
        mine.settle(outcome.id, output="done")
    return isinstance(outcome, Allowed)


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("between", ["", "\u200b", "\ufe0f"])
def test_a_heap_of_marks_is_no_response(between: str) -> None:
    """Text that heaps up marks, or would without what is not seen, is refused, and soon."""
    mine = session(no_keywords(["acme"]))
    text = "a" + f"\u0300{between}" * 10_000 + f"\u0316{between}" * 10_000
    outcomes: list[Any] = []
    assert beside(lambda: outcomes.append(mine.message("assistant", text))) < 1_000
    assert [type(each) for each in outcomes] == [Blocked]


def test_text_is_normalised_in_one_place() -> None:
    """Only what bounds the time of it puts text into a normal form of Unicode."""
    files = (ROOT / "sponsio_like").rglob("*.py")
    callers = [path.name for path in files if "unicodedata.normalize" in path.read_text("utf-8")]
    assert callers == ["canonical_form.py"]


@pytest.mark.parametrize(
    "text",
    [
        "_acme_",
        "**acme**",
        "the acme_corp",
        "\U0001d400\U0001d402\U0001d40c\U0001d404",  # bold capitals
        "\U0001d41a\U0001d41c\U0001d426\U0001d41e",  # bold letters
        "\uff21\uff23\uff2d\uff25",  # wide capitals
        "ac\ufe0fme",
        "a\u034fcme",
        "ac\u00adme",
        "acm\u3164e",
        "acme\U000e0041",
    ],
    ids=ascii,
)
def test_a_word_is_found_in_any_dress(text: str) -> None:
    """Emphasis, mathematical letters, and characters that are not seen hide no word."""
    assert isinstance(session(no_keywords(["acme"])).message("assistant", text), Blocked)


@pytest.mark.parametrize("text", ["acmes", "acme1", "pacme", "ac me", "acm\u00e9", "\u00fcacme"])
def test_a_part_of_a_word_is_not_the_word(text: str) -> None:
    """A letter or a digit beside it makes it another word."""
    assert isinstance(session(no_keywords(["acme"])).message("assistant", text), Allowed)


def test_every_format_character_is_not_seen() -> None:
    """All that Unicode calls a format is left out of what is searched."""
    formats = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) == "Cf"]
    assert [ascii(each) for each in formats if not UNSEEN.fullmatch(each)] == []


def test_signs_that_stand_for_many_are_too_much_text() -> None:
    """A text that is longer than 64 KB once its ligatures are spelt out is refused."""
    mine = session(no_keywords(["acme"]))
    assert isinstance(mine.message("assistant", "\ufdfa" * 1_000), Allowed)
    assert isinstance(mine.message("assistant", "\ufdfa" * 60_000), Blocked)


@requirement("S-TRACE-09")
def test_a_message_without_a_text_is_empty() -> None:
    """The content of a turn that only calls tools is `None`: nothing is said in it."""
    mine = session(max_length(max_words=5), no_keywords(["acme"]))
    assert isinstance(mine.message("assistant", None), Allowed)
    assert isinstance(mine.message("assistant"), Allowed)


@requirement("S-FACT-05")
@pytest.mark.parametrize(("role", "text"), [(None, "x"), ("assistant", 5), (5, None), ("user", [])])
@pytest.mark.parametrize("mode", ["enforce", "observe"])
def test_a_message_that_is_no_text_is_an_error_of_the_host(role: Any, text: Any, mode: Any) -> None:
    """Role and text are strings; anything else is told at once, and tells no tokens."""
    guard = Guard([contract("few").guarantees(token_budget(10))], mode=mode)
    mine = guard.session()
    with pytest.raises(SessionError, match="strings"):
        mine.message(role, text, usage={"total_tokens": 99})
    outcome = mine.decide("pay")
    assert isinstance(outcome, Allowed)
    assert outcome.observed == ()


# --- tokens ---------------------------------------------------------------------------------------


@requirement("S-TERM-14")
@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"total_tokens": 7}, 7),
        ({"total_tokens": 7, "input_tokens": 90, "prompt_tokens": 90}, 7),
        ({"input_tokens": 5, "output_tokens": 7}, 12),
        ({"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 7}, 15),
        ({"input_tokens": 5, "cache_creation_input_tokens": None, "output_tokens": 7}, 12),
        ({"total_tokens": None, "prompt_tokens": 5, "completion_tokens": 7}, 12),
        ({"prompt_tokens": 5, "model": "m"}, 5),
        ({}, 0),
        (None, 0),
        ({"total_tokens": None}, 0),
    ],
    ids=str,
)
def test_a_usage_is_counted_whatever_its_words(usage: Any, tokens: int) -> None:
    """The total, else input and output, else prompt and completion."""
    for limit in (tokens, tokens + 1):
        mine = session(token_budget(limit)) if limit else None
        if mine:
            mine.message("assistant", "x", usage=usage)
            assert lets(mine) is (limit > tokens)


@requirement("S-FACT-05")
@pytest.mark.parametrize(
    "usage",
    [
        {"usage": {"total_tokens": 500}},
        {"tokens": 5},
        {"input_tokens": "5", "output_tokens": 7},
        {"input_tokens": -5, "output_tokens": 7},
        {"total_tokens": True},
        {"total_tokens": 1.5},
        "5",
        [5],
    ],
    ids=str,
)
def test_a_usage_without_tokens_is_an_error_of_the_host(usage: Any) -> None:
    """What says something, but no number of tokens, is not taken for none."""
    with pytest.raises(SessionError, match="no number of tokens"):
        session(token_budget(100)).message("assistant", "x", usage=usage)


# --- approvals ------------------------------------------------------------------------------------


@requirement("S-TERM-15")
@pytest.mark.parametrize(
    ("time", "stands"),
    [(1_000, True), (1_030, True), (1_060, True), (1_061, False), (1_000_000, False)],
)
def test_an_approval_of_the_future_has_no_age(time: float, stands: bool) -> None:
    """Given in milliseconds, or by another clock, it does not stay fresh for ever."""
    clock = Clock()
    clock.now = 1_000.0
    for rule in (
        approval_active("pay", "boss", seconds=60),
        {"ltl": "G(called(pay) -> !(approval_age(pay, boss) > 60))"},
    ):
        mine = session(rule, clock=clock)
        mine.fact("approval", {**APPROVAL, "time": time})
        assert lets(mine) is stands
    assert lets(session({"ltl": "G(called(pay) -> approval_age(pay, boss) > 60)"}, clock=clock))


def test_an_approval_of_the_future_ages_when_its_time_has_come() -> None:
    """It has an age as soon as its time is no longer ahead; without `seconds` it just stands."""
    clock = Clock()
    mine, plain = (
        session(approval_active("pay", "boss", seconds=limit), clock=clock) for limit in (60, None)
    )
    for each in (mine, plain):
        each.fact("approval", {**APPROVAL, "time": 1_000})
    assert lets(plain)
    answers = []
    for now in (900, 950, 1_060, 1_061):
        clock.now = float(now)
        answers.append(lets(mine))
    assert answers == [False, True, True, False]


@requirement("S-FACT-06")
@pytest.mark.parametrize("end", [{"revoked": True}, {"decision": "deny"}, {"by": None}, {"by": ""}])
def test_a_revocation_that_names_nobody_ends_all(end: dict[str, Any]) -> None:
    """Whoever has approved: nothing of this action and role stands, until it is approved anew."""
    mine = session(approval_active("pay", "boss"))
    for by in ("ann", "bob"):
        mine.fact("approval", {**APPROVAL, "by": by})
    mine.fact("approval", {**APPROVAL, "role": "clerk", "by": "cleo"})
    ended = {"action": "pay", "role": "boss", "decision": "reject", **end}
    mine.fact("approval", {**ended, "role": "owner"})
    assert lets(mine)
    mine.fact("approval", ended)
    assert not lets(mine)
    mine.fact("approval", APPROVAL)
    assert lets(mine)
    mine.fact("approval", {**APPROVAL, "by": "bob", "revoked": True})
    assert lets(mine)


def test_an_approval_that_names_nobody_replaces_nobodys() -> None:
    """It is one of its own; another one like it replaces it, and others stay."""
    mine = session(approval_active("pay", "boss", seconds=60), clock=Clock())
    anonymous = {key: each for key, each in APPROVAL.items() if key != "by"}
    mine.fact("approval", APPROVAL)
    mine.fact("approval", anonymous)
    mine.fact("approval", {**APPROVAL, "revoked": True})
    assert lets(mine)


# --- confirmations --------------------------------------------------------------------------------

REFUSALS: list[Any] = [
    *(False, 0, "", " ", [], {}),
    *("n", "declined", "refused", "abort", "disallow", "disallowed", "dis-allow? no.", "0"),
    *("**No**", "__no__", "Answer: no", "Confirm? n", "not approved", "not_approved"),
    *("I do not confirm", "I cannot approve this", "I won't allow it", "It isn\u2019t allowed"),
    *("the user declined", "Approval denied by Ann", "has not yet been approved", "unconfirmed"),
    *("The user cancelled", "Don't", "User has not confirmed: cancelled"),
    *({"confirmed": False}, [False], {"denied": True}, {"answer": None}, {"answer": "no"}),
    *({"confirmed": True, "cancelled": True}, {"action": "decline"}, {"notApproved": True}),
    *({"result": {"confirmed": False}}, '{"confirmed": false}', '["no"]', {"result": False}),
    *({"status": "declined"}, {"userConfirmed": "no"}, {"data": {"answer": ["n"]}}),
    {"content": [{"type": "text", "text": "no"}], "isError": False},
    {"content": [{"type": "text", "text": "yes"}], "isError": True},
]
UNCLEAR: list[Any] = [
    *(None, 1, "y", "done", "noted", "November", "I do not object", "nein", "FAILED", "yes?"),
    *("Confirmed; no issues found", "User confirmed cancel_order 17", "<b>yes</b>", "{yes}"),
    *("Confirmed. Order 17 will be cancelled.", "Approved by Ann", "Deletion confirmed, 0 errors"),
    *("yes, but no", "ok? no", "Error: not found", "identity mismatch", "yes " * 20_000 + "x"),
    *({"confirmed": True, "dry_run": False}, {"confirmed": True, "comment": "No objections"}),
    *({"success": True}, {"success": False}, {"verified": False}, {"status": "failed"}),
    *({"status": "ok", "verified": False}, {"status": "ok", "checks": [{"identity": False}]}),
    *({"status": "ok", "detail": "identity mismatch"}, {"ok": True, "error": "timeout"}),
    *({"status": "ok", "answer": None}, {"status": "ok", "answer": "later"}, {"note": "yes"}),
    *('{"confirmed": false, "confirmed": true}', {"Confirmed": True, "confirmed": False}),
    *({"id": "c-17"}, {"error": None}, [False, True], ["no", "yes"], ["yes", "yes"]),
    {"confirmed": True, "action": "cancel_order"},
    {"order": 17, "insurance": "no", "refundable": False, "status": "cancelled"},
    "Policy of refunds. " + "Customers are not allowed to rebook; such requests are declined. " * 3,
    "- amount: 10.0\n  recurring: false\n  subject: Sushi dinner",
]
AGREEMENTS: list[Any] = [
    *(True, "yes", "ok", "OK!", " Approved. ", "confirmed", "Yes, confirmed.", "true", "True"),
    *('"yes"', '["yes"]', ["yes"], {"confirmed": True}, {"STATUS": "Approved"}, {"answer": "yes"}),
    *('{"confirmed": true, "errors": []}', {"error": False, "ok": True, "answer": "ok"}),
    *({"approved": True, "denied": False, "rejected_by": None}, {"result": {"confirmed": True}}),
    {"status": "ok", "order": 17, "by": "Ann"},
    {"content": [{"type": "text", "text": "yes"}], "isError": False},
]


@requirement("T-26")
@requirement("S-CONFIRM-01", "S-CONFIRM-02", "S-CONFIRM-03")
@pytest.mark.parametrize("output", [*REFUSALS, *UNCLEAR], ids=lambda each: repr(each)[:60])
def test_what_is_not_a_yes_does_not_confirm(output: Any) -> None:
    """No refusal confirms, nor nothing, nor what can be read otherwise than as a yes."""
    for rule in (must_confirm("x", "y"), destructive_action_gate("x", "y")):
        mine = session(rule)
        mine.settle(mine.decide("y").id, output=output)
        assert not lets(mine, "x")
    for rule in (confirm_after_source("s", "y"), untrusted_source_gate("s", "y")):
        mine = session(rule)
        assert lets(mine, "s")
        mine.settle(mine.decide("y").id, output=output)
        assert not lets(mine, "x")


@requirement("S-CONFIRM-01", "S-CONFIRM-02")
@pytest.mark.parametrize("output", AGREEMENTS, ids=repr)
def test_a_plain_yes_confirms(output: Any) -> None:
    """True, a text that says yes and nothing else, and an object with such an answer confirm."""
    mine = session(must_confirm("x", "y"))
    mine.settle(mine.decide("y").id, output=output)
    assert lets(mine, "x")


@requirement("T-26")
@pytest.mark.parametrize(
    ("accept", "output", "confirms"),
    [
        ("allow", "allow", True),
        ("allow", "I allow it", True),
        ("allow", "Not now. I allow it", False),
        ("allow", "disallow", False),
        ("allow", "dis-allow", False),
        ("allow", "allowed", False),
        ("allow", "Allow", True),
        ("allow", "I do not allow this", False),
        ("allow", "don't allow it", False),
        ("allow", "never ever allow", False),
        ("allow", True, False),
        ("allow", "allow " * 20_000, False),
        ("go ahead", "go ahead!", True),
        ("go ahead", "do not go ahead", False),
        ("^allow", "allowed", True),
        ("allow|approve", "disallow", True),
        ("(?i)allow", "DISALLOW", True),
    ],
)
def test_a_plain_word_is_accepted_as_a_word(accept: str, output: Any, confirms: bool) -> None:
    """`accept: allow` is no part of `disallow`, and no `not allow`; a pattern is searched for."""
    mine = session(must_confirm("x", "y", accept=accept))
    mine.settle(mine.decide("y").id, output=output)
    assert lets(mine, "x") is confirms


def test_the_advice_says_what_is_accepted() -> None:
    """Following the advice confirms, also where a plain word is asked for."""
    outcome = session(must_confirm("x", "y", accept="allow")).decide("x")
    assert isinstance(outcome, Blocked)
    assert "first call `y`" in outcome.advice
    assert '"allow"' in outcome.advice


@pytest.mark.parametrize(
    "word", ["no ", "not ", "can't ", ": ", "not a ", "[", "-", "n't", "yes ", "changedxx"]
)
def test_long_answers_are_read_in_linear_time(word: str) -> None:
    """Whatever an answer of 64 KB says, it is read soon."""
    text = word * (60_000 // len(word))
    for rule in (must_confirm("x", "y"), must_confirm("x", "y", accept="allow")):
        mine = session(rule)
        call = mine.decide("y").id
        assert beside(functools.partial(mine.settle, call, output=text)) < 1_000


# --- numbers, shapes, keys ------------------------------------------------------------------------


class Float64(float):
    """A float that writes itself as those of numpy do."""

    def __repr__(self) -> str:
        return f"np.float64({float(self)})"


def test_floats_of_the_host_are_numbers() -> None:
    """A class of floats with its own way of writing them is decided on as a float is."""
    assert lets(session(rate_limit("pay", 5)), amount=Float64(5))
    for value, fits in ((Float64(5), True), (Float64(5.5), False)):
        assert lets(session(arg_value_range("pay", "amount", max=5)), amount=value) is fits
    mine = session({"ltl": "G(called(pay) -> arg(n) = 0.1)"})
    assert lets(mine, n=Float64(0.1))
    assert lets(mine, n=Decimal("0.1"))


@requirement("S-TERM-16")
def test_a_field_of_another_shape_is_not_intact() -> None:
    """Text where an object was, or another text in its place, is edited; the same is not."""
    for first in ({"doc": "A"}, {"doc": {"text": "A"}}, {"doc": ["A"]}, {"doc": 1}):
        for then in ({"doc": "B"}, {"doc": {"text": "B"}}, {"doc": ["B"]}, {"doc": 2}, {}, first):
            mine = session(data_intact("report", "doc.text", after="check"))
            assert lets(mine, "report", **first)
            assert lets(mine, "check")
            assert lets(mine, "report", **then) is (then is first)


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"a": 1, "b": [2]}, True),
        ({"a" * 6: 1}, False),
        ({"abc": {"def": None}}, False),
        ([10**9], False),
        ([{"a": "b"}, True, None], True),
        ([10**1000], False),
    ],
    ids=str,
)
def test_keys_and_numbers_have_a_length(value: Any, fits: bool) -> None:
    """Of a list or an object, all that is written in it counts: texts, keys and numbers."""
    assert lets(session(arg_length_limit("sql", "query", 5)), "sql", query=value) is fits
    whole = session(arg_length_limit("sql", "*", 6))
    assert lets(whole, "sql", q=value) is fits


def test_names_of_arguments_are_keys_of_all_arguments() -> None:
    """What all arguments must not contain must not be one of their names, as of `**options`."""
    rule = arg_blacklist("find", "*", [r"\$where"])
    assert not lets(session(rule), "find", **{"$where": "1"})
    assert not lets(session(rule), "find", f={"$where": "1"})
    assert not lets(session(rule), "find", f="$where")
    assert lets(session(rule), "find", f="where")
    assert lets(session(rule), "find")


# --- nothing to enforce ---------------------------------------------------------------------------


@requirement("S-LOAD-07")
def test_a_guard_without_contracts_is_refused(tmp_path: Path) -> None:
    """A list that is empty by mistake does not allow everything in silence; nor does a file."""
    for mode in ("enforce", "observe"):
        with pytest.raises(ContractError, match="no contracts"):
            Guard([], mode=mode)
    path = tmp_path / "c.yaml"
    path.write_text("version: 1\ncontracts: []\n", "utf-8")
    with pytest.raises(ContractError, match="no contracts"):
        Guard.from_yaml(path)
