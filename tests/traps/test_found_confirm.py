"""Found in the first hour of use: answers that are no yes, orders, and words for contracts."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard, InputMissing, Session, contract
from sponsio_like.loader import loads
from sponsio_like.patterns import (
    confirm_after_source,
    destructive_action_gate,
    must_confirm,
    must_precede,
    precedence,
    untrusted_source_gate,
)
from tests.manifest import requirement
from tests.play import Played, opened

NO_YES: list[Any] = [
    *({"success": False}, {"verified": False}, {"status": "failed"}, "FAILED", "nein"),
    *("Error: not found", "identity mismatch", "no, a final sale", None),
]
GATES = {
    "must_confirm": must_confirm("pay", by="ask"),
    "destructive_action_gate": destructive_action_gate("pay", gate="ask"),
    "confirm_after_source": confirm_after_source("read", by="ask", sinks=["pay"]),
    "untrusted_source_gate": untrusted_source_gate("read", gate="ask", sinks=["pay"]),
}


def session(*rules: Any) -> Session:
    """A session under these rules, in which something was read."""
    mine = Guard([contract("rule").guarantees(*rules)]).session()
    mine.settle(mine.decide("read").id, output="a page")
    return mine


def pays(mine: Session, answer: Any) -> bool:
    """Whether a payment is let through after this answer."""
    mine.settle(mine.decide("ask").id, output=answer)
    return isinstance(mine.decide("pay"), Allowed)


def played(rule: Any) -> Played:
    """A session under this rule, to be played."""
    return opened(contract("rule").guarantees(rule))


# --- what confirms --------------------------------------------------------------------------------


@requirement("S-CONFIRM-03")
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("answer", NO_YES, ids=repr)
def test_an_answer_that_is_no_yes_confirms_nothing(gate: str, answer: Any) -> None:
    """A check that failed, or that answers no, in whatever words, opens none of the gates."""
    mine = session(GATES[gate])
    assert not pays(mine, answer)
    assert pays(mine, "Yes.")


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize(
    ("accept", "fits", "others"),
    [
        ("^verified$", "verified", ["yes", "not verified", "unverified", None]),
        ("verified", "identity verified", ["yes", "not verified", "unverified", None]),
        ({"path": "status", "equals": "done"}, {"status": "done"}, ["done", {"status": "ok"}]),
        ({"path": "n", "in": [1, 2]}, {"n": 2}, [{"n": 3}, {"n": "2"}, {}]),
        ({"path": "who", "matches": "^ann"}, {"who": "ann b"}, [{"who": "bob"}, "ann"]),
        ({"equals": None}, None, ["yes", False, 0]),
        (True, True, ["yes", 1, None]),
    ],
)
@pytest.mark.parametrize("pattern", ["must_confirm", "must_precede"])
def test_accept_says_which_answers_count(
    accept: Any, fits: Any, others: list[Any], pattern: str
) -> None:
    """`accept` is a regular expression, a plain word, or a comparison of the answer."""
    rules = {
        "must_confirm": must_confirm("pay", by="ask", accept=accept),
        "must_precede": must_precede("ask", "pay", accept=accept),
    }
    mine = session(rules[pattern])
    for answer in others:
        assert not pays(mine, answer), answer
    assert pays(mine, fits)


@requirement("S-CONFIRM-04")
def test_accept_is_read_from_files() -> None:
    """In a file `accept` is written as the output of a match is, and its mistakes have a place."""
    text = """\
version: 1
contracts:
- name: sure
  guarantee: {pattern: must_confirm, action: pay, by: ask, accept: {path: ok, %s: [true]}}
"""
    mine = Guard(loads(text % "in").contracts).session()
    assert not pays(mine, "yes")
    assert pays(mine, {"ok": True})
    with pytest.raises(ContractError, match=r"contracts:4:79: unknown key `inn`"):
        loads(text % "inn")


@requirement("S-CONFIRM-05")
@pytest.mark.parametrize("before", [[], ["FAILED"]])
def test_the_refusal_says_what_a_yes_is_and_how_to_accept_more(before: list[str]) -> None:
    """Where the tool has answered and said no yes, the advice tells that `accept` may widen it."""
    mine = session(GATES["must_confirm"])
    for answer in before:
        assert not pays(mine, answer)
    outcome = mine.decide("pay")
    assert isinstance(outcome, Blocked)
    assert "first call `ask` (it must succeed, and the answer must be yes" in outcome.advice
    assert "`accept: REGEX`" in outcome.advice


@requirement("S-INPUT-03")
def test_where_no_answers_arrive_nothing_can_be_confirmed() -> None:
    """A session in which nobody settles calls does not open under a contract that reads a yes."""
    guard = Guard([contract("sure").guarantees(must_confirm("pay"))])
    with pytest.raises(InputMissing, match="`sure` reads outputs"):
        guard.session(assume_success=True)


# --- orders ---------------------------------------------------------------------------------------


@requirement("S-CONFIRM-06")
def test_an_order_reads_no_answer_unless_it_accepts_some() -> None:
    """`must_precede` takes any success; with `accept`, only one with such an answer."""
    assert pays(session(must_precede("ask", "pay")), "no, a final sale")
    gated = session(must_precede("ask", "pay", accept="^yes"))
    assert not pays(gated, "no, a final sale")
    assert pays(gated, "yes, within 30 days")


HOUR = {"seconds": 3600}
VET = {"tool": "vet", "args": {"name": "$who"}}
PAY = {"tool": "pay", "args": {"to": "$who"}}
RECENT = {
    "order": (must_precede("vet", "pay", within=HOUR), "vet", "pay"),
    "value": (precedence(PAY, VET, within=HOUR), "vet(name=bob)", "pay(to=bob)"),
}


@requirement("S-CONFIRM-07", "S-TIME-04")
@pytest.mark.parametrize("which", RECENT)
@pytest.mark.parametrize("calls", [0, 1, 5])
def test_seconds_are_measured_from_the_call_that_is_judged(which: str, calls: int) -> None:
    """What lies 3,600 seconds back counts, and 3,601 does not, whatever was called in between."""
    rule, vet, pay = RECENT[which]
    for age, said in ((3600, "."), (3601, "x")):
        waits = [f"+{age / (calls + 1)}s {each}" for each in ["other"] * calls + [pay]]
        assert played(rule)(f"{vet} {' '.join(waits)}") == "." * (calls + 1) + said


@requirement("S-CONFIRM-07")
@pytest.mark.parametrize("within", [2, {"steps": 2}])
def test_steps_are_the_calls_before_the_one_that_is_judged(within: Any) -> None:
    """Of `within: 2` the second call before counts, and the third does not."""
    assert played(must_precede("vet", "pay", within=within))("vet other pay pay") == "...x"
    values = played(precedence(PAY, VET, within=within))
    assert values("vet(name=ann) vet(name=bob) pay(to=bob) pay(to=ann) pay(to=bob)") == "...x."


@requirement("S-CONFIRM-07")
def test_a_permission_that_ran_out_is_asked_for_again() -> None:
    """The advice asks for what is too long ago, and following it makes the call legal."""
    for rule, vet, pay in RECENT.values():
        mine = played(rule)
        assert mine(f"{vet} +3601s {pay}") == ".x"
        outcome = mine.outcomes[-1]
        assert isinstance(outcome, Blocked)
        assert "first call `vet`" in outcome.advice
        assert mine(f"{vet} {pay}") == ".."


@requirement("S-CONFIRM-08")
@pytest.mark.parametrize("required", [{**PAY, "status": "any"}, {"tool": "*", "status": "any"}])
def test_in_seconds_a_call_is_not_its_own_prerequisite(required: Any) -> None:
    """What the judged call might be itself cannot be required within seconds; a success can."""
    with pytest.raises(ContractError, match="within seconds, a call may not come before itself"):
        precedence(PAY, required, within=HOUR)
    assert played(precedence(PAY, PAY, within=HOUR))("pay(to=bob)") == "x"
    assert (
        played(precedence(PAY, {**VET, "status": "any"}, within=HOUR))("vet(name=bob)! pay(to=bob)")
        == ".."
    )
    assert played(precedence("pay", {"message": "user"}, within=HOUR))("msg:user=go pay") == ".."
