"""Found in the first hour of use: answers that are no yes, orders, and words for contracts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import (
    Allowed,
    Blocked,
    ContractError,
    Guard,
    Held,
    InputMissing,
    Session,
    Violation,
    contract,
)
from sponsio_like.contracts.loader import loads
from sponsio_like.log import drawing, flush, json_log, read_log
from sponsio_like.notices import Notice, drain
from sponsio_like.patterns import (
    confirm_after_source,
    destructive_action_gate,
    must_confirm,
    must_precede,
    precedence,
    untrusted_source_gate,
)
from sponsio_like.replay.replay import Replay
from sponsio_like.replay.report import report_of
from sponsio_like.traces.jsonl import Line
from sponsio_like.traces.trace import trace_of
from tests.semantics.manifest import requirement
from tests.support.command_line import run_command
from tests.support.play import Played, opened

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
    with pytest.raises(ContractError, match="needs an earlier one, so that none can be the first"):
        played(precedence(PAY, PAY, within=HOUR))
    assert (
        played(precedence(PAY, {**VET, "status": "any"}, within=HOUR))("vet(name=bob)! pay(to=bob)")
        == ".."
    )
    assert played(precedence("pay", {"message": "user"}, within=HOUR))("msg:user=go pay") == ".."
    either = [{"tool": "pay"}, {"tool": "refund"}]
    called = {"tool": "vet", "status": "any"}
    assert played(precedence(either, called, within=HOUR))("pay vet refund pay") == "x..."


LARGE, SMALL = ({"tool": "pay", "args": {"n": {op: 5}}, "status": "ok"} for op in ("gt", "lt"))
ASKED = {"message": "user"}


@requirement("S-CONFIRM-08")
@pytest.mark.parametrize(
    ("match", "required"),
    [
        (LARGE, SMALL),
        (LARGE, LARGE | {"output": "fine"}),
        ({"tool": "pay", "output": "sent"}, [SMALL, ASKED]),
        ([{"tool": "pay"}, ASKED], ASKED),
        ([{"tool": "pay"}, ASKED], {"message": "user", "text": {"matches": "go"}}),
    ],
)
def test_in_seconds_a_success_and_a_message_are_not_their_own_prerequisites(
    match: Any, required: Any
) -> None:
    """Where an answer is judged, or a message, it might be itself what is required."""
    with pytest.raises(ContractError, match="within seconds, a call may not come before itself"):
        precedence(match, required, within=HOUR)


@requirement("S-CONFIRM-08")
@pytest.mark.parametrize(
    ("match", "required", "trace", "said"),
    [
        (SMALL, {"tool": "vet", "status": "ok"}, "pay(n=1) vet pay(n=1)", "r.."),
        (
            {"tool": "pay"},
            [LARGE, ASKED],
            "pay(n=1) msg:user=go pay(n=9) +3600s pay +3601s pay",
            "x...x",
        ),
        ({"tool": "pay"}, [LARGE | {"output": "ok"}, ASKED], "pay msg:user=go pay", "x.."),
        (ASKED, {"tool": "pay", "status": "any"}, "msg:user=go pay msg:user=go", "w.."),
        ({"tool": "pay"}, {"message": "user", "text": {"matches": "g"}}, "msg:user=go pay", ".."),
        ([ASKED, {"tool": "pay"}], {"tool": "vet", "status": "any"}, "pay vet pay", "x.."),
    ],
)
def test_in_seconds_other_events_can_be_required(
    match: Any, required: Any, trace: str, said: str
) -> None:
    """What cannot be the judged event: a result of a call that is decided, another tool."""
    assert played(precedence(match, required, within=HOUR))(trace) == said


# --- what is said about a contract ----------------------------------------------------------------

WHY = "a refund needs a second pair of eyes"
ABOUT = """\
version: 1
contracts:
- name: few
  because: a refund needs a second pair of eyes
  owner: payments
  severity: high
  tags: [money, pilot]
  guarantee: {pattern: must_precede, first: check, then: refund}
"""
ANY_ARGS: dict[str, Any] = {"order": 18, "note": "a private word"}


def said() -> Any:
    """The contract of the file, made in Python."""
    made = contract("few").because(WHY).owner("payments").severity("high").tags("money", "pilot")
    return made.guarantees(must_precede("check", "refund"))


@requirement("S-ABOUT-01")
def test_what_is_said_about_a_contract_is_no_part_of_its_meaning() -> None:
    """File and Python say the same; sessions go on under a contract about which more is said."""
    (read,) = loads(ABOUT).contracts
    assert read.about == said().about
    plain = contract("few").guarantees(must_precede("check", "refund"))
    before = Guard([plain]).session("s")
    before.settle(before.decide("check").id)
    after = Guard([read]).restore(before.snapshot())
    assert after.started_anew == ()
    assert isinstance(after.decide("refund"), Allowed)


@requirement("S-ABOUT-01")
@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ("because: [a]", "is not a text"),
        ("owner: ''", "is not a text"),
        ("severity: hihg", "unknown severity `hihg`; did you mean `high`?"),
        ("tags: money", r"`money` is not a list; write \[money\]"),
        ("becuase: x", "unknown key `becuase` in a contract; did you mean `because`?"),
    ],
)
def test_what_is_said_wrongly_is_refused(line: str, mistake: str) -> None:
    """A text, a text, one of four words, a list: anything else is a mistake with its place."""
    with pytest.raises(ContractError, match=mistake) as caught:
        loads(f"{ABOUT}- name: other\n  guarantee: {{ltl: G !called(x)}}\n  {line}\n")
    assert "contracts:11:" in str(caught.value)


@requirement("S-ABOUT-02")
def test_the_words_of_a_contract_stand_where_its_formula_stood() -> None:
    """The model reads `because`, with the contract and the way out; the log and the report too."""
    records: list[dict[str, Any]] = []
    mine = Guard([said()], log=records.append).session()
    outcome = mine.decide("refund", ANY_ARGS)
    assert isinstance(outcome, Blocked)
    assert f"not allowed by `few` ({WHY}); to make it legal, first call `check`" in outcome.advice
    assert "must precede" not in outcome.advice
    (violation,) = outcome.violations
    assert (violation.because, violation.owner) == (WHY, "payments")
    assert (violation.severity, violation.tags) == ("high", ("money", "pilot"))
    assert str(violation) == f"`few`: {WHY}"
    (logged,) = records[-1]["violations"]
    about = {"because": WHY, "owner": "payments", "severity": "high"}
    assert logged.items() >= about.items()
    assert logged["message"] == "tool `check` must precede `refund`"
    lines = [Line(f"log:{n}", json.loads(json.dumps(each))) for n, each in enumerate(records)]
    report = report_of(lines)
    assert report.as_json()["contracts"][0].items() >= about.items()
    assert f"few: {WHY} (owner payments, severity high, tags money, pilot)" in report.conclusion()


@requirement("S-ABOUT-02")
def test_a_reason_is_followed_to_all_who_are_told(tmp_path: Path) -> None:
    """One text: the model, who is asked, a notice, the log, the report and its page, a terminal."""
    log, notices = tmp_path / "log", list[Notice]()
    asks = contract("ask").guarantees("no `drop`").strategy("escalate").because(WHY)
    with json_log(log) as sink:
        mine = Guard([said(), asks], log=sink, notify=notices.append).session("s")
        refused, held = mine.decide("refund", ANY_ARGS), mine.decide("drop", {})
        mine.finish()
    flush()
    assert isinstance(refused, Blocked)
    assert isinstance(held, Held)
    assert WHY in refused.advice
    assert WHY in str(held.violations[0])
    assert {each.because for each in notices} == {WHY}
    records = [each for each in read_log(log) if each.value["event"] == "decision"]
    assert [each.value["violations"][0]["because"] for each in records] == [WHY, WHY]
    assert WHY in drawing(colours=False)(records[0].value)
    assert WHY in "\n".join(report_of(read_log(log)).conclusion())
    assert run_command("report", log, "--html", tmp_path / "page").returncode == 0
    assert WHY in (tmp_path / "page").read_text("utf-8")


GERMAN = "Erst prüfen, dann {tool} ({contract}): {how}."


@requirement("S-ABOUT-07")
@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("de", "Erst prüfen, dann refund (few): to make it legal, first call `check`"),
        ("de-AT", "Erst prüfen, dann refund (few): to make it legal, first call `check`"),
        ("pt-BR", "Peça antes."),
        ("pt", "Check first."),
        ("fr", "Check first."),
        ("en", "Check first."),
    ],
)
def test_advice_is_given_in_the_language_of_the_guard(language: str, told: str) -> None:
    """The text of the language, of the one that it is a kind of, or in English."""
    texts = {"de": GERMAN, "pt-BR": "Peça antes.", "en": "Check first."}
    outcome = Guard([said().advice(**texts)], language=language).session().decide("refund", {})
    assert isinstance(outcome, Blocked)
    assert outcome.advice.startswith(told)
    assert "not allowed" not in outcome.advice
    assert outcome.violations[0].because == WHY


@requirement("S-ABOUT-07")
def test_advice_that_has_no_text_is_worked_out() -> None:
    """Without a text in the language or in English; and after the text of another contract."""
    german = said().advice(de="Erst prüfen.")
    plain = Guard([said()]).session().decide("refund", {})
    french = Guard([german], language="fr").session().decide("refund", {})
    other = contract("none").guarantees("no `refund`")
    both = Guard([german, other], language="de").session().decide("refund", {})
    assert isinstance(plain, Blocked)
    assert isinstance(french, Blocked)
    assert isinstance(both, Blocked)
    assert french.advice == plain.advice
    assert both.advice.startswith("Erst prüfen. `refund` was not allowed by `few`")
    assert "`none`" in both.advice


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ({"x_y": "a"}, "`x_y` is no language; write a tag such as en, de or pt-BR"),
        ({"de": " "}, "` ` is not a text"),
        ({"de": "{who}"}, r"`{who}` stands for nothing here; known: {tool}, {contract}, {how}"),
        ({}, "has no language; write {en: call check first, de: ..}"),
    ],
)
def test_advice_that_cannot_be_read_is_refused(texts: dict[str, str], says: str) -> None:
    """Each mistake is told, with what to write."""
    with pytest.raises(ContractError, match=re.escape(says)):
        said().advice(**texts)
    with pytest.raises(ContractError, match="`Deutsch` is no language"):
        Guard([said()], language="Deutsch")


@requirement("S-ABOUT-02")
def test_a_replay_has_the_words_of_a_contract() -> None:
    """`replay --json` has them beside the message, where there are any."""
    for contracts, there in (([said()], True), ([contract("c").guarantees("no `refund`")], False)):
        player = Replay(contracts)
        (line,) = player.judge(trace_of({"id": "t", "events": [{"tool": "refund"}]})).as_json()[
            "violations"
        ]
        assert (line.get("because") == WHY) is there
        assert ("tags" in line) is there


@requirement("S-ABOUT-03")
def test_a_callable_gets_the_call_with_its_arguments() -> None:
    """A strategy of the user decides on the arguments, of which it has a copy of its own."""
    seen: list[Violation] = []

    def small(violation: Violation) -> str:
        seen.append(violation)
        assert violation.call is not None
        amount = violation.call.args["amount"]
        violation.call.args["items"].clear()
        return "warn_only" if amount < 10 else "block"

    rule = contract("c").guarantees("no `pay`").strategy(small)
    mine = Guard([rule]).session()
    items = [1]
    args = {"amount": 5, "items": items}
    assert isinstance(mine.decide("pay", args, id="7", agent="bob", depth=2), Allowed)
    assert isinstance(mine.decide("pay", {**args, "amount": 50}), Blocked)
    assert items == [1]
    call = seen[0].call
    assert call is not None
    assert (call.tool, call.id, call.agent, call.depth) == ("pay", "7", "bob", 2)
    assert seen[0].text is None


@requirement("S-ABOUT-03")
def test_a_callable_cannot_change_what_is_decided() -> None:
    """What it does to its copy of the arguments is seen by no other contract."""
    seen: list[Any] = []

    def shrink(violation: Violation) -> str:
        assert violation.call is not None
        seen.append(violation.call.args["amount"])
        violation.call.args["amount"] = 1  # type: ignore[index]
        return "warn_only"

    rules = contract("c").guarantees("no `pay`").strategy(shrink)
    limit = contract("d").guarantees({"ltl": "G(called(pay) -> arg(amount) <= 3)"})
    again = contract("e").guarantees("no `pay`").strategy(shrink)
    mine = Guard([rules, limit, again]).session()
    assert isinstance(mine.decide("pay", {"amount": 50, "x": [1]}), Blocked)
    assert {*seen} == {50}
    assert len(seen) > 1


@requirement("S-ABOUT-03")
def test_a_callable_gets_the_text_of_a_response() -> None:
    """What was going to be said, where an answer violates."""
    heard: list[tuple[Any, Any]] = []

    def listen(violation: Violation) -> str:
        heard.append((violation.call, violation.text))
        return "block"

    rule = {"ltl": 'G !(message(assistant) & text matches "secret")'}
    mine = Guard([contract("c").guarantees(rule).strategy(listen)]).session()
    assert isinstance(mine.message("assistant", "the secret is 7"), Blocked)
    assert heard == [(None, "the secret is 7")]


@requirement("S-ABOUT-04")
def test_nobody_else_is_told_the_arguments() -> None:
    """Outcomes, notices, logs and tickets have no argument; nor has a violation that is shown."""
    told: list[Any] = []
    records: list[dict[str, Any]] = []
    rule = contract("c").guarantees("no `pay`")

    def hold(violation: Violation) -> str:
        told.append(violation)
        return "escalate"

    mine = Guard([rule.strategy(hold)], log=records.append, notify=[told.append]).session()
    outcome = mine.decide("pay", ANY_ARGS)
    assert isinstance(outcome, Held)
    assert drain()
    assert told[0].call.args == ANY_ARGS
    assert told[0] == replace(told[0], call=None)
    assert hash(told[0]) == hash(replace(told[0], call=None))
    shown = [repr(each) for each in (told[0], str(told[0]), outcome, outcome.ticket, *told[1:])]
    for text in (*shown, json.dumps(records)):
        assert "a private word" not in text
    assert [each.call for each in outcome.violations] == [None]


@requirement("S-ABOUT-05")
def test_the_advice_names_values_by_their_fields() -> None:
    """Of a value the model reads the field of its call, and no name of a variable."""
    vet, pay = VET, {"tool": "pay", "args": {"to": "$who"}}
    mine = Guard([contract("c").guarantees(precedence(pay, vet))]).session()
    outcome = mine.decide("pay", {"to": "bob"})
    assert isinstance(outcome, Blocked)
    assert 'for `to` "bob"' in outcome.advice
    assert "$who =" not in outcome.advice


@requirement("S-ABOUT-05")
def test_only_shared_arguments_are_said_to_be_the_same() -> None:
    """Advice speaks of the arguments that the other tool has, where its fields are known."""
    tools = {"ask": {"fields": {"id": "integer"}}, "pay": {"fields": {"id": "any", "sum": "any"}}}
    rule = contract("c").guarantees({"ltl": "G(called(pay) -> last(arg(id), done(ask)) = arg(id))"})
    mine = Guard([rule], tools=tools).session()
    outcome = mine.decide("pay", {"id": 7, "sum": 3})
    assert isinstance(outcome, Blocked)
    assert "first call `ask` with the same `id` (it must succeed)" in outcome.advice
