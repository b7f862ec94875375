"""What a host tells wrongly is refused at once, and what is told to people is what happened."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sponsio_like import Allowed, Blocked, ContractError, Guard, Held, Session, contract
from sponsio_like.cli import app
from sponsio_like.contracts.loader import loads
from sponsio_like.errors import SessionError, TraceError
from sponsio_like.patterns import approval_active
from sponsio_like.replay.replay import Replay
from sponsio_like.replay.report import report_of
from sponsio_like.replay.timeline import explained, page
from sponsio_like.session.interceptor import Interceptor
from sponsio_like.traces.jsonl import Line
from sponsio_like.traces.trace import trace_of
from tests.semantics.manifest import requirement

# --- facts ----------------------------------------------------------------------------------------

APPROVAL = {"action": "pay", "role": "boss", "by": "ann"}


@requirement("S-FACT-07")
@pytest.mark.parametrize("said", ["aprove", "Approve", "approved", "", "yes", True, None, 1, []])
def test_an_approval_that_says_neither_yes_nor_no_is_refused(said: Any) -> None:
    """An approval of which nobody knows the decision is an error of the host, not a lost answer."""
    fact = APPROVAL | ({} if said is None else {"decision": said})
    session = Guard([contract("c").guarantees(approval_active("pay", "boss"))]).session()
    with pytest.raises(SessionError, match="is neither yes nor no; write `approve`, or one of"):
        session.fact("approval", fact)
    event = {"type": "fact", "key": "approval", "value": fact}
    with pytest.raises(TraceError, match=r"event 0: .* is neither yes nor no"):
        trace_of({"id": "t", "events": [event]})


@requirement("S-FACT-07")
@pytest.mark.parametrize(
    "no",
    [*("deny", "denied", "reject", "rejected", "refuse", "refused", "revoke", "revoked"), None],
)
def test_an_approval_that_says_no_ends_one(no: str | None) -> None:
    """Each word for no ends the approval of that person; so does `revoked` without a decision."""
    session = Guard([contract("c").guarantees(approval_active("pay", "boss"))]).session()
    session.fact("approval", APPROVAL | {"decision": "approve"})
    assert isinstance(session.decide("pay"), Allowed)
    session.fact("approval", APPROVAL | ({"decision": no} if no else {"revoked": True}))
    assert isinstance(session.decide("pay"), Blocked)


# --- the report -----------------------------------------------------------------------------------


def reported(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The rows of the report on these records, by contract."""
    rows = report_of(Line(f"log:{n}", each) for n, each in enumerate(records)).as_json()
    return {each["contract"]: each for each in rows["contracts"]}


@requirement("S-LOG-08")
def test_a_held_call_that_was_approved_and_ran_was_not_stopped() -> None:
    """Of held calls one is approved and runs; those that are refused, or wait, are stopped."""
    records: list[dict[str, Any]] = []
    never = {"ltl": "G !called(pay)"}
    rules = [
        contract("asks").guarantees(never).strategy("escalate"),
        contract("warns").guarantees(never).strategy("warn_only"),
        contract("sees").guarantees(never).observe(),
    ]
    session = Guard(rules, log=records.append).session("s")
    for id, answer in (("a", session.approve), ("b", session.deny), ("c", None)):
        held = session.decide("pay", id=id)
        assert isinstance(held, Held)
        if answer is not None:
            answer(held.ticket, by="ann")
        session.decide("pay", id=id)
    told = reported(records)
    counts = ("applied", "stopped", "approved", "would_have_stopped", "warned")
    assert [told["asks"][each] for each in counts] == [3, 2, 1, 0, 0]
    assert [told["warns"][each] for each in counts] == [3, 0, 0, 0, 3]
    assert [told["sees"][each] for each in counts] == [3, 0, 0, 3, 0]
    assert told["asks"]["tools"] == {"pay": 3}


@requirement("S-LOG-08")
def test_a_response_that_was_approved_was_not_stopped() -> None:
    """A response has no id; the one that waits in its session is the one that is approved."""
    records: list[dict[str, Any]] = []
    rule = contract("c").guarantees({"ltl": "G !message(assistant)"}).strategy("escalate")
    session = Guard([rule], log=records.append).session("s")
    held = session.message("assistant", "hello")
    assert isinstance(held, Held)
    session.approve(held.ticket, by="ann")
    assert isinstance(session.message("assistant", "hello"), Allowed)
    told = reported(records)["c"]
    assert (told["stopped"], told["approved"], told["applied"]) == (0, 1, 1)


# --- what `explain` names -------------------------------------------------------------------------


def explain(rule: Any, *events: Any) -> tuple[list[dict[str, Any]], str]:
    """What is found of one contract on these events, as JSON; and the page."""
    replay = Replay([contract("c").guarantees(rule)])
    trace = trace_of({"id": "t", "events": list(events)})
    found = explained(replay, trace)
    return [each.as_json("t") for each in found], "\n".join(text for text, _ in page(trace, found))


PAY: dict[str, Any] = {"tool": "pay", "args": {}}
HELLO = {"type": "message", "role": "assistant", "text": "hello"}


@requirement("S-EXPLAIN-06")
def test_a_message_that_violates_is_named_not_the_next_call() -> None:
    """Of a message, and of a call right after it, each is told by itself."""
    found, shown = explain({"ltl": "G !message(assistant)"}, PAY, HELLO, PAY)
    assert [(each["call"], each["event"]) for each in found] == [(1, 1)]
    assert found[0]["because"][0]["event"] == 1
    assert re.search(r'message +assistant: "hello"\n +<- violates it', shown)
    assert "pay" not in shown
    both, shown = explain({"ltl": "G !(message(assistant) | called(pay))"}, HELLO, PAY)
    assert [(each["call"], each.get("event")) for each in both] == [(0, 0), (0, None)]
    assert shown.count("message ") == shown.count("call 0") == 1


@requirement("S-EXPLAIN-06")
def test_a_message_that_matters_is_named_not_the_next_call() -> None:
    """What forbids the call is the message before it, and not the call after that."""
    found, shown = explain({"ltl": "G(called(pay) -> H !message(user))"}, HELLO | {"role": "user"},
                           {"tool": "look", "args": {}}, PAY)  # fmt: skip
    assert [(each["what"], each["call"], each.get("event")) for each in found[0]["because"]] == [
        ("violates", 1, None),
        ("forbids", 0, 0),
    ]
    assert re.search(r'message +user: "hello"\n +<- forbids it', shown)
    assert "look" not in shown


def test_calls_are_counted_in_numbers() -> None:
    """The second call is number 1 in JSON, which `true` would be in Python alone."""
    found, _ = explain(
        {"ltl": "G(called(pay) -> H !called(look))"}, PAY, PAY | {"tool": "look"}, PAY
    )
    assert json.dumps([each["call"] for each in found[0]["because"]]) == "[2, 1]"


@requirement("S-EXPLAIN-06")
def test_a_step_that_violates_is_named_not_the_next_call() -> None:
    """A plain observation is told by its names."""
    door = {"type": "step", "atoms": ["door_open"]}
    found, shown = explain({"ltl": "G !step(door_open)"}, door, PAY)
    assert found[0]["event"] == 0
    assert re.search(r"step +door_open\n", shown)
    assert "pay" not in shown


# --- what recorded runs show ----------------------------------------------------------------------

GIFT = """\
version: 1
{more}contracts:
  - name: no gifts
    guarantee: {{pattern: absent, match: {{tool: {tool}, args: {{{field}: true}}}}}}
"""


def check_traces(folder: Path, more: str = "", tool: str = "pay", field: str = "gift") -> Any:
    """What `check --traces` says, where runs show `pay(n=1)` only."""
    contracts, runs = folder / "c.yaml", folder / "runs.jsonl"
    contracts.write_text(GIFT.format(more=more, tool=tool, field=field), "utf-8")
    event = {"tool": "pay", "args": {"n": 1}}
    runs.write_text(json.dumps({"id": "t", "events": [event]}), "utf-8")
    return CliRunner().invoke(app, ["check", str(contracts), "--traces", str(runs)])


@requirement("S-INV-14")
def test_an_argument_that_no_recorded_run_gives_is_a_warning(tmp_path: Path) -> None:
    """It may be optional; it is told, last, with its place, and the file is not refused."""
    answer = check_traces(tmp_path)
    assert answer.exit_code == 0
    last = answer.stdout.splitlines()[-1]
    said = "contract `no gifts`: tool `pay` has no field `gift` in the recorded runs"
    assert last.startswith("warning: ")
    assert f"c.yaml:3:11: {said}" in last
    assert "warning" not in check_traces(tmp_path, field="n").stdout


@requirement("S-INV-14")
@pytest.mark.parametrize(
    ("more", "tool", "said"),
    [
        ("", "pya", "unknown tool `pya`"),
        ("tools: {pay: {fields: {n: number}}}\n", "pay", "has no field `gift`"),
    ],
)
def test_a_tool_that_no_recorded_run_has_is_refused(
    more: str, tool: str, said: str, tmp_path: Path
) -> None:
    """A name of a tool that nobody has is an error, and so is a field that is not declared."""
    answer = check_traces(tmp_path, more, tool)
    assert isinstance(answer.exception, ContractError)
    assert said in str(answer.exception)


# --- what a host writes wrongly -------------------------------------------------------------------

NEVER = {"ltl": "G !called(pay)"}


def session_of(strategy: str, **options: Any) -> Session:
    """A session in which every payment is answered so."""
    return Guard([contract("c").guarantees(NEVER).strategy(strategy)]).session(**options)


@requirement("S-STOP-02")
def test_after_a_stop_every_call_of_a_batch_says_that_the_run_ends() -> None:
    """Also those that stand twice, and those whose arguments cannot be read."""
    session = session_of("stop")
    calls: list[tuple[Any, ...]] = [
        ("a", {}, "1"),
        ("pay", {}, "2"),
        ("b", {}, "3"),
        ("b", {}, "3"),
        ("a", {}, "1"),
    ]
    first, *rest = session.decide_batch([*calls, ("d", "no args", "4")])
    assert isinstance(first, Allowed)
    assert [isinstance(each, Blocked) and each.ends_run for each in rest] == [True] * 5
    before = session_of("block").decide_batch(calls)
    assert not any(isinstance(each, Blocked) and each.ends_run for each in before)


@pytest.mark.parametrize("by", ["", "  ", "\t", None, 5])
def test_who_answers_has_a_name(by: Any) -> None:
    """Blanks name nobody; the ticket stays open."""
    session = session_of("escalate")
    held = session.decide("pay")
    assert isinstance(held, Held)
    for answer in (session.approve, session.deny, session.revoke):
        with pytest.raises(SessionError, match="needs the name of the person who answers"):
            answer(held.ticket, by=by)
    assert session.ticket(held.ticket).status == "open"


def test_a_result_is_settled_by_id_not_by_outcome() -> None:
    """An outcome in the place of the id would be a result that nobody waits for: it is refused."""
    session = Guard([contract("c").guarantees({"ltl": "G !done(pay)"})]).session()
    outcome: Any = session.decide("look")
    with pytest.raises(SessionError, match=r"not an Allowed; write settle\(outcome.id"):
        session.settle(outcome)
    with pytest.raises(SessionError, match="not a NoneType"):
        session.settle(None)  # type: ignore[arg-type]
    session.settle(outcome.id)


def test_what_somebody_else_refused_has_a_tool_and_no_id() -> None:
    """The error says which argument is not known."""
    session = session_of("block")
    with pytest.raises(TypeError, match=r"refused\(\) got an unexpected keyword argument 'id'"):
        session.refused("pay", id="x")  # type: ignore[call-arg]
    with pytest.raises(SessionError, match=r"tool 5 and id .. have to be strings"):
        session.refused(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("about", ["{}", "{fields: }"])
def test_a_tool_that_is_described_without_fields_is_told_how(about: str) -> None:
    """The message names what is missing, and how to say that there are none."""
    text = f"version: 1\ntools: {{check: {about}}}\ncontracts:\n- {{name: c}}\n"
    with pytest.raises(ContractError, match=r"its fields are missing; write .*if it takes none"):
        loads(text)


@pytest.mark.parametrize("given", ["false", "no", 1, 0, None])
def test_assumed_success_is_on_or_off(given: Any) -> None:
    """A text that reads like no would be a yes."""
    guard = Guard([contract("c").guarantees(NEVER)])
    with pytest.raises(ContractError, match=r"assume_success=.* is no switch; write True or"):
        guard.session(assume_success=given)
    with pytest.raises(ContractError, match="is no switch"):
        guard.restore(guard.session().snapshot(), assume_success=given)


@requirement("S-HOST-01")
def test_a_session_without_an_id_has_one_that_nobody_writes() -> None:
    """`session-1` is another session than the first anonymous one, in the log as well."""
    guards = [Guard([contract("c").guarantees(NEVER)]) for _ in "ab"]
    made = [guard.session().id for guard in guards for _ in range(3)]
    written = [f"session-{n}" for n in range(9)]
    assert len({*made, *written}) == len(made) + len(written)


@pytest.mark.parametrize("given", [5, "find"])
def test_what_is_no_tool_is_refused_with_what_to_do(given: Any) -> None:
    """Nothing of it could run."""
    pytest.importorskip("langchain.agents")
    from sponsio_like.adapters.langchain import guarded

    guard = Guard([contract("c").guarantees(NEVER)])
    with pytest.raises(ContractError, match=r"is no tool; write tools, or functions"):
        guarded(guard, [given])


@requirement("S-REPLAY-08")
@pytest.mark.parametrize("value", [["ann", "bob"], '["ann"]', '["ann", ', {"to": "ann"}, [0]])
def test_a_list_beside_empty_arguments_is_no_remark(value: Any) -> None:
    """It may be arguments, as a map may; plain values are remarks of the recorder."""
    with pytest.raises(TraceError, match="`to` would not be read, and `args` is empty"):
        trace_of({"id": "t", "events": [{"tool": "mail", "args": {}, "to": value}]})
    remarks: list[Any] = [[], None, "ann", "[sic]", 5, True]
    for fine in remarks:
        event = {"tool": "mail", "args": {}, "to": fine}
        assert trace_of({"id": "t", "events": [event]}).calls == 1


# --- what is said of a contract -------------------------------------------------------------------

SAID = """\
version: 1
contracts:
  - name: answered
    because: nobody waits for ever
    owner: desk
    severity: high
    tags: [people, slow]
    guarantee: {pattern: response, match: ask, by: answer}
"""
ABOUT = {
    "because": "nobody waits for ever",
    "owner": "desk",
    "severity": "high",
    "tags": ["people", "slow"],
}


@requirement("S-ABOUT-06")
def test_what_is_still_owed_says_why() -> None:
    """At the end of a run, as every violation does: to hosts, in logs, reports and replays."""
    records: list[dict[str, Any]] = []
    file = loads(SAID)
    session = Guard(file.contracts, log=records.append).session()
    session.settle(session.decide("ask").id)
    (owed,) = session.pending()
    told = (owed.because, owed.owner, owed.severity, list(owed.tags))
    assert told == tuple(ABOUT.values())
    assert str(owed).startswith("`answered`: nobody waits for ever; every `ask` must be answered")
    assert session.finish() == (owed,)
    (logged,) = records[-1]["unfulfilled"]
    assert {key: logged[key] for key in ABOUT} == ABOUT | {"tags": ("people", "slow")}
    rows = reported(records)
    assert {key: rows["answered"][key] for key in ABOUT} == ABOUT | {"tags": ("people", "slow")}
    trace = trace_of({"id": "t", "events": [{"tool": "ask", "args": {}}]})
    (left,) = Replay(file.contracts).judge(trace).as_json()["unfulfilled"]
    assert json.loads(json.dumps({key: left[key] for key in ABOUT})) == ABOUT


@requirement("S-ABOUT-06")
def test_check_and_explain_print_what_is_said(tmp_path: Path) -> None:
    """What people say of a contract stands beside what the machine has understood of it."""
    contracts, runs = tmp_path / "c.yaml", tmp_path / "t.jsonl"
    contracts.write_text(SAID, "utf-8")
    runs.write_text(json.dumps({"id": "t", "events": [{"tool": "ask", "args": {}}]}), "utf-8")
    shown = CliRunner().invoke(app, ["check", str(contracts)]).stdout
    for key, said in {**ABOUT, "tags": "people, slow"}.items():
        assert re.search(f"  {key} +{said}\n", shown)
    shown = CliRunner().invoke(app, ["explain", str(contracts), str(runs)]).stdout
    assert "  nobody waits for ever\n" in shown
    line = CliRunner().invoke(app, ["explain", "--json", str(contracts), str(runs)]).stdout
    assert json.loads(line)["about"] == ABOUT


# --- what is raised after a decision --------------------------------------------------------------


@requirement("S-FAIL-09")
def test_a_response_that_has_counted_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is raised once a response is in the trace: it was decided, and is not blocked."""
    rule = {"ltl": "G(message(assistant) -> count(message(assistant)) <= 1)"}
    session = Guard([contract("c").guarantees(rule)]).session()
    happens = Interceptor._happens

    def strained(*given: Any) -> None:
        happens(*given)
        raise RecursionError

    monkeypatch.setattr(Interceptor, "_happens", strained)
    assert isinstance(session.message("assistant", "hello"), Allowed)
    assert isinstance(session.message("assistant", "hello"), Blocked)  # it is another one
    monkeypatch.undo()
    assert isinstance(session.message("assistant", "hello"), Blocked)
