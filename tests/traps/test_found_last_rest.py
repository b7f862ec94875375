"""Receipts that are no yes, and what hosts give by mistake."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard, SessionError, contract
from sponsio_like.contracts.blocks import dependent_calls
from sponsio_like.logic.formula import Condition, Match
from sponsio_like.patterns import (
    approval_active,
    confirm_after_source,
    denial_limit,
    destructive_action_gate,
    must_confirm,
    must_precede,
    mutual_exclusion,
    precedence,
    rate_limit,
    untrusted_source_gate,
)
from tests.semantics.manifest import requirement

GATES = {
    "must_confirm": must_confirm("pay", by="ask"),
    "destructive_action_gate": destructive_action_gate("pay", gate="ask"),
    "confirm_after_source": confirm_after_source("read", "ask", sinks=["pay"]),
    "untrusted_source_gate": untrusted_source_gate("read", "ask", ["pay"]),
}


def after(rule: Any, answer: Any) -> Any:
    """What is said of a payment after this answer."""
    mine = Guard([contract("rule").guarantees(rule)]).session()
    mine.settle(mine.decide("read").id, output="a page")
    mine.settle(mine.decide("ask").id, output=answer)
    return mine.decide("pay")


# --- a request that was received ------------------------------------------------------------------

RECEIPTS: list[Any] = [
    *({"ok": True}, '{"ok": true}', {"ok": "yes"}, {"okay": True}, {"is_ok": True}, [{"ok": True}]),
    *({"result": {"ok": True}}, {"ok": True, "id": "m-17"}, {"ok": True, "ts": "17.5"}),
    *({"status_ok": True}, {"ok": True, "error": None}),
]


@requirement("S-CONFIRM-09")
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("answer", RECEIPTS, ids=repr)
def test_a_receipt_is_no_yes(gate: str, answer: Any) -> None:
    """Where only `ok` says yes, nothing is confirmed, and the refusal says how to accept it."""
    refused = after(GATES[gate], answer)
    assert isinstance(refused, Blocked)
    if gate == "must_confirm":
        assert "`accept: {path: ok, equals: true}`" in refused.advice


@requirement("S-CONFIRM-09")
def test_a_yes_beside_a_receipt_confirms() -> None:
    """Beside `ok: true` an answer counts, beside any other `ok` it does not."""
    rule = GATES["must_confirm"]
    for answer in ({"ok": True, "status": "approved"}, {"ok": True, "result": {"confirmed": True}}):
        assert isinstance(after(rule, answer), Allowed)
    for ok in (False, 0, 1, "no", "later"):
        assert isinstance(after(rule, {"ok": ok, "status": "approved"}), Blocked)
    assert isinstance(after(rule, {"status": "ok"}), Allowed)


@requirement("S-CONFIRM-09")
def test_what_the_refusal_says_to_accept_is_accepted() -> None:
    """`accept: {path: ok, equals: true}` takes the receipt for a yes."""
    rule = must_confirm("pay", by="ask", accept={"path": "ok", "equals": True})
    assert isinstance(after(rule, {"ok": True}), Allowed)
    assert isinstance(after(rule, {"ok": False}), Blocked)


# --- words with a mark beside them ----------------------------------------------------------------


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize("word", ["yes!", "decision: yes", "yes, sir", "it's a yes", "yes; go"])
def test_a_word_with_a_mark_is_a_word(word: str) -> None:
    """What means nothing in a regular expression makes none of a word: what denies it counts."""
    rule = must_confirm("pay", by="ask", accept=word)
    assert isinstance(after(rule, word.upper()), Allowed)
    for answer in (f"never {word}", f"{word} but later revoked", f"no, not {word}", "go on", "ye"):
        assert isinstance(after(rule, answer), Blocked), answer


@requirement("S-CONFIRM-04")
def test_a_piece_of_json_is_a_regular_expression() -> None:
    """A text with quotes in it is looked for in the text of the answer."""
    rule = must_confirm("pay", by="ask", accept='"state": "done"')
    assert isinstance(after(rule, '{"state": "done"}'), Allowed)
    assert isinstance(after(rule, '{"state": "undone"}'), Blocked)


# --- what hosts give by mistake -------------------------------------------------------------------


@requirement("S-INPUT-02")
@pytest.mark.parametrize("inputs", ["results", 5, True, [5], [["results"]], {"results": False}])
def test_inputs_are_a_list_of_names(inputs: Any) -> None:
    """A text, a map, or what is no list of names says nothing of what is delivered."""
    guard = Guard([contract("rule").guarantees(rate_limit("pay", 1))])
    with pytest.raises(ContractError, match=r"is no list of names; write inputs=\['results'\]"):
        guard.session(inputs=inputs)
    with pytest.raises(ContractError, match="is no list of names"):
        guard.restore(guard.session().snapshot(), inputs=inputs)
    for fine in (["results"], ("results",), {"results"}, frozenset({"results"}), []):
        assert isinstance(guard.session(inputs=fine).decide("pay"), Allowed)


@requirement("S-DENIED-05")
def test_a_refusal_that_is_told_has_a_caller() -> None:
    """`session.refused` takes no agent that is no text, and no depth that is no whole number."""
    mine = Guard([contract("rule").guarantees(denial_limit(1))]).session()
    wrong: list[dict[str, Any]] = [{"depth": "x"}, {"depth": True}, {"depth": None}, {"agent": 4}]
    for each in wrong:
        with pytest.raises(SessionError, match="has to be a string, depth"):
            mine.refused("pay", **each)
    assert isinstance(mine.decide("pay"), Allowed)  # nothing was counted
    mine.refused("pay", agent="bob", depth=1)
    assert isinstance(mine.decide("pay"), Blocked)


@pytest.mark.parametrize("wrong", [{"agent": 4}, {"agent": None}, {"depth": "x"}, {"depth": True}])
@pytest.mark.parametrize("named", [[], ["bob"]], ids=["any agent", "one agent"])
def test_a_call_that_is_decided_has_a_caller(wrong: dict[str, Any], named: list[str]) -> None:
    """Neither way of deciding takes an agent that is no text, or a depth that is no number."""
    target: Any = {"tool": "pay", "agent": named[0]} if named else "pay"
    mine = Guard([contract("rule").guarantees(rate_limit(target, 1))]).session()
    with pytest.raises(SessionError, match="has to be a string, depth"):
        mine.decide("pay", **wrong)
    with pytest.raises(SessionError, match="has to be a string, depth"):
        mine.decide_batch([("pay", {})], **wrong)
    assert isinstance(mine.decide("pay", agent="bob"), Allowed)
    assert isinstance(mine.decide("pay", agent="bob"), Blocked)


@requirement("S-FACT-07")
def test_revoked_is_true_or_false() -> None:
    """An approval whose `revoked` is neither is an error of the host, and changes nothing."""
    mine = Guard([contract("rule").guarantees(approval_active("pay", "boss"))]).session()
    yes = {"action": "pay", "role": "boss", "decision": "approve", "by": "Ann"}
    mine.fact("approval", yes | {"revoked": False})
    for wrong in ("no", "true", 0, 1, "2026-01-31", "off"):
        with pytest.raises(SessionError, match="write `true` or `false`"):
            mine.fact("approval", yes | {"revoked": wrong})
    assert isinstance(mine.decide("pay"), Allowed)
    mine.fact("approval", yes | {"revoked": None})
    assert isinstance(mine.decide("pay"), Allowed)
    mine.fact("approval", yes | {"revoked": True})
    assert isinstance(mine.decide("pay"), Blocked)


# --- lists that lack a value ----------------------------------------------------------------------


def played(rule: Any, *calls: tuple[str, dict[str, Any]]) -> str:
    """What becomes of these calls: A allowed, B blocked. All succeed."""
    mine, said = Guard([contract("rule").guarantees(rule)]).session(), ""
    for tool, args in calls:
        outcome = mine.decide(tool, args)
        said += type(outcome).__name__[0]
        if isinstance(outcome, Allowed):
            mine.settle(outcome.id)
    return said


def test_a_gap_in_a_list_is_no_value_where_nothing_is_refused() -> None:
    """An element without the field excludes nothing but what the others name."""
    check = {"tool": "check", "args": {"sku": "$x"}}
    pay = {"tool": "pay", "args": {"items[].sku": "$x"}}
    for gap in ({}, {"sku": None}):
        paid = ("pay", {"items": [{"sku": "a"}, gap]})
        rule = mutual_exclusion(check, pay)
        assert played(rule, ("check", {"sku": "z"}), paid, ("check", {"sku": "z"})) == "AAA"
        assert played(rule, paid, ("check", {"sku": "a"})) == "AB"
        assert played(rule, ("check", {"sku": "a"}), paid) == "AB"


@pytest.mark.parametrize("of", [precedence, lambda then, first: must_precede(first, then)])
def test_every_element_has_to_have_the_name(of: Any) -> None:
    """Of `every` element: one in which the expression finds nothing has not been checked."""
    named = {"every": {"matches": r"[ab]\d", "bind": "$x"}}
    paid = {"tool": "pay", "args": {"items[].sku": named}, "missing": "refuse"}
    rule = of(paid, {"tool": "check", "args": {"id": "$x"}})
    checked = ("check", {"id": "a1"})
    assert played(rule, checked, ("pay", {"items": [{"sku": "a1"}]})) == "AA"
    assert played(rule, checked, ("pay", {"items": [{"sku": "a1"}, {"sku": "zz"}]})) == "AB"


def test_a_match_without_a_tool_is_of_any_tool() -> None:
    """What has to come before calls of a glob is not one of them, also where it names no tool."""
    calls, ready = (Match(globs=("pay_*",)),), (Condition("ready", "=", True),)
    unnamed, any_tool = Match(conditions=ready), Match(globs=("*",), conditions=ready)
    assert (
        dependent_calls(calls, (unnamed,))
        == dependent_calls(calls, (any_tool,))
        != dependent_calls(calls)
    )


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize("words", ["approved.", "Approved. Go on", "yes, sir.", "done. ok."])
def test_a_full_stop_after_a_word_is_no_regular_expression(words: str) -> None:
    """It ends a sentence: no other letter stands for it, and what denies the words counts."""
    rule = must_confirm("pay", by="ask", accept=words)
    for answer in (words, words.upper(), f"{words} Bob", {"status": words}):
        assert isinstance(after(rule, answer), Allowed), answer
    other = words.replace(".", "x")
    for answer in (
        other,
        f"not {words}",
        f"{words} No, never",
        f"{words} Later revoked",
        f"is it {words}?",
    ):
        assert isinstance(after(rule, answer), Blocked), answer


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize("regex", ["approved.*", "v1.2", "yes...", ".yes", "ok .", "approved.?"])
def test_any_other_full_stop_is_of_a_regular_expression(regex: str) -> None:
    """Inside of a word, by itself, or beside other signs it stands for any letter."""
    rule = must_confirm("pay", by="ask", accept=regex)
    assert isinstance(
        after(rule, regex.replace(".", "x").replace("*", "").replace("?", "")), Allowed
    )
