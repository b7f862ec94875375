"""Tickets: a call that is held waits for a person, whose answer is for that very call."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sponsio_like import (
    Allowed,
    Blocked,
    Contract,
    ContractError,
    Guard,
    Held,
    Outcome,
    Redirected,
    Session,
    SessionError,
    Ticket,
    contract,
)
from sponsio_like.contracts.loader import loads
from sponsio_like.patterns import (
    arg_value_range,
    destructive_action_gate,
    must_confirm,
    no_keywords,
    rate_limit,
    tool_allowlist,
)
from sponsio_like.session import tickets as tickets_module
from tests.semantics.manifest import requirement
from tests.support.play import Clock

THREADS = 8


def large(limit: float = 100, name: str = "large", **options: Any) -> Contract:
    """Payments above the limit have to be approved."""
    rule = arg_value_range("pay", "amount", max=limit)
    return (
        contract(name).guarantees(rule).strategy({"escalate": options} if options else "escalate")
    )


def opened(*contracts: Contract, **options: Any) -> tuple[Session, Clock]:
    """A session under these contracts, and its clock."""
    clock = Clock()
    return Guard(contracts or [large()], **options).session(clock=clock), clock


def pay(session: Session, amount: float = 900, id: str | None = "1", **by: Any) -> Outcome:
    """Decide a payment."""
    return session.decide("pay", {"amount": amount}, id=id, **by)


def ticket(outcome: Outcome) -> Ticket:
    """The ticket of a call that is held."""
    assert isinstance(outcome, Held)
    return outcome.ticket


# --- held, and answered ---------------------------------------------------------------------------


@requirement("S-ASK-01")
def test_a_held_call_has_a_ticket_and_has_not_happened() -> None:
    """The ticket says what waits: the call, its tool, and the contracts that hold it."""
    session, _ = opened()
    outcome = pay(session)
    held = ticket(outcome)
    assert outcome.id == held.call == "1"
    assert (held.tool, held.contracts, held.status, held.roles) == ("pay", ("large",), "open", ())
    assert session.tickets() == (held,)
    assert session.calls == 0
    session.settle("1")
    assert pay(session, 5) == Allowed("1")


@requirement("S-ASK-01")
def test_an_approved_call_is_let_through_when_it_is_decided_again() -> None:
    """Approval alone runs nothing: the call is decided again, under the same id."""
    session, _ = opened()
    answered = session.approve(ticket(pay(session)), by="ann")
    assert (answered.status, answered.by) == ("approved", "ann")
    assert session.calls == 0
    assert isinstance(pay(session), Allowed)
    assert session.calls == 1


@requirement("S-ASK-02")
def test_deciding_a_held_call_again_gives_the_same_ticket() -> None:
    """As long as nobody has answered, trying again opens no second ticket."""
    session, _ = opened()
    first = ticket(pay(session))
    assert [ticket(pay(session)) for _ in range(5)] == [first] * 5
    assert session.tickets() == (first,)


@requirement("S-ASK-13")
def test_a_ticket_is_used_up_when_its_call_is_let_through() -> None:
    """One answer is one call: under the same id, the next one is held anew."""
    session, _ = opened()
    first = ticket(pay(session))
    session.approve(first, by="ann")
    pay(session)
    assert session.tickets() == ()
    with pytest.raises(SessionError, match="let through already"):
        session.ticket(first)
    session.settle("1", error="no connection")
    assert ticket(pay(session)).status == "open"
    assert session.calls == 1


@requirement("S-ASK-07", "S-ASK-08")
def test_a_denied_call_stays_denied() -> None:
    """No is final for that call; the model is told who said so."""
    session, _ = opened()
    denied = session.deny(ticket(pay(session)), by="ann")
    for _ in range(3):
        outcome = pay(session)
        assert isinstance(outcome, Blocked)
        assert outcome.advice == "`pay` was held by `large`, and ann said no; do not repeat it"
    for act in (session.approve, session.deny, session.revoke):
        with pytest.raises(SessionError, match="is denied"):
            act(denied, by="bob")


@requirement("S-ASK-08", "S-ASK-09")
def test_an_approval_can_be_taken_back_until_it_is_used() -> None:
    """A ticket that is revoked refuses its call; one that was used cannot be revoked."""
    session, _ = opened()
    held = ticket(pay(session))
    session.approve(held, by="ann")
    assert session.revoke(held, by="bob").status == "revoked"
    outcome = pay(session)
    assert isinstance(outcome, Blocked)
    assert "bob took the approval back" in outcome.advice
    other = ticket(pay(session, id="2"))
    session.approve(other, by="ann")
    pay(session, id="2")
    with pytest.raises(SessionError, match="let through already"):
        session.revoke(other, by="bob")


@requirement("S-ASK-08")
def test_a_ticket_that_nobody_will_answer_can_be_closed() -> None:
    """`expire` closes an open ticket, and its call is refused."""
    session, _ = opened()
    held = ticket(pay(session))
    session.expire(held)
    outcome = pay(session)
    assert isinstance(outcome, Blocked)
    assert "nobody answered in time" in outcome.advice
    with pytest.raises(SessionError, match="is expired"):
        session.expire(held.id)


@requirement("S-ASK-10")
@pytest.mark.parametrize("answer_at", [None, 30.0, 60.0])
def test_the_time_to_answer_is_the_time_to_use_the_answer(answer_at: float | None) -> None:
    """`within: 60` gives sixty seconds for both; the sixtieth counts, the next does not."""
    session, clock = opened(large(within=60))
    held = ticket(pay(session))
    assert held.until == 60
    if answer_at is not None:
        clock.now = answer_at
        session.approve(held, by="ann")
        clock.now = 60
        assert session.ticket(held).status == "approved"
    clock.now = 60.5
    assert session.tickets() == ()
    assert session.ticket(held).status == "expired"
    assert isinstance(pay(session), Blocked)
    with pytest.raises(SessionError, match="is expired"):
        session.approve(held, by="ann")


@requirement("S-ASK-05")
@pytest.mark.parametrize("act", ["approve", "deny", "revoke"])
def test_an_answer_has_a_name(act: str) -> None:
    """Nobody answers anonymously."""
    session, _ = opened()
    with pytest.raises(SessionError, match="name of the person"):
        getattr(session, act)(ticket(pay(session)), by="")


@requirement("S-ASK-07")
def test_a_ticket_that_does_not_exist_cannot_be_answered() -> None:
    """An id that is no ticket of this session is an error of the host."""
    session, _ = opened()
    other, _ = opened()
    with pytest.raises(SessionError, match="there is no ticket `nonsense`"):
        session.approve("nonsense", by="ann")
    with pytest.raises(SessionError, match="there is no ticket"):
        session.approve(ticket(pay(other)), by="ann")


# --- roles, and several contracts -----------------------------------------------------------------


@requirement("S-ASK-05")
@pytest.mark.parametrize("act", ["approve", "deny"])
def test_only_the_roles_that_are_asked_may_answer(act: str) -> None:
    """Where roles are named, an answer comes from one of them; the others are told who may."""
    session, _ = opened(large(roles=["manager", "owner"]))
    held = ticket(pay(session))
    assert held.roles == ("manager", "owner")
    for role in ("", "clerk", "Manager"):
        with pytest.raises(SessionError, match="is for `manager`, `owner`, not for role"):
            getattr(session, act)(held, by="ann", role=role)
    getattr(session, act)(held, by="ann", role="owner")
    assert isinstance(pay(session), Allowed if act == "approve" else Blocked)


@requirement("S-ASK-06")
def test_each_contract_needs_an_answer_of_its_own_roles() -> None:
    """Two contracts with different roles are answered one by one; then the call may run."""
    session, _ = opened(
        large(100, "large", roles=["manager"]), large(500, "huge", roles=["auditor"])
    )
    held = ticket(pay(session))
    assert held.roles == ("manager", "auditor")
    half = session.approve(held, by="ann", role="manager")
    assert (half.status, half.roles) == ("open", ("auditor",))
    assert ticket(pay(session)).id == held.id
    with pytest.raises(SessionError, match="is for `auditor`, not for role `manager`"):
        session.approve(held, by="ann", role="manager")
    assert session.approve(held, by="bob", role="auditor").status == "approved"
    assert isinstance(pay(session), Allowed)


@requirement("S-ASK-06")
def test_one_no_is_enough() -> None:
    """If one of several roles refuses, the call is refused."""
    session, _ = opened(
        large(100, "large", roles=["manager"]), large(500, "huge", roles=["auditor"])
    )
    held = ticket(pay(session))
    session.approve(held, by="ann", role="manager")
    session.deny(held, by="bob", role="auditor")
    assert isinstance(pay(session), Blocked)


@requirement("S-ASK-11")
def test_an_answer_is_for_the_contracts_that_asked() -> None:
    """What another contract has against the call meanwhile counts, whatever was approved."""
    stop = contract("stop").guarantees({"ltl": 'G(called(pay) -> !(ctx(stopped) = "yes"))'})
    session, _ = opened(large(), stop)
    session.fact("stopped", "no")
    held = ticket(pay(session))
    session.approve(held, by="ann")
    session.fact("stopped", "yes")
    outcome = pay(session)
    assert isinstance(outcome, Blocked)
    assert [each.contract for each in outcome.violations] == ["large", "stop"]
    session.fact("stopped", "no")
    assert isinstance(pay(session), Allowed)


@requirement("S-ASK-12")
def test_a_contract_that_asks_later_opens_the_ticket_again() -> None:
    """An answer covers those who had asked: who asks since then is asked too, and only they."""
    watched = contract("watched").guarantees({"ltl": 'G(called(pay) -> ctx(mode) = "calm")'})
    session, clock = opened(
        large(roles=["manager"]), watched.strategy({"escalate": {"roles": ["owner"], "within": 5}})
    )
    session.fact("mode", "calm")
    first = ticket(pay(session))
    session.approve(first, by="ann", role="manager")
    session.fact("mode", "alarm")
    clock.now = 10
    again = ticket(pay(session))
    assert (again.id, again.status, again.roles) == (first.id, "open", ("owner",))
    assert again.contracts == ("large", "watched")
    assert again.until == 15
    session.approve(again, by="bob", role="owner")
    assert isinstance(pay(session), Allowed)


OTHERS: Mapping[str, Contract] = {
    "block": contract("other").guarantees(rate_limit("pay", 0)),
    "redirect": contract("other")
    .guarantees(rate_limit("pay", 0))
    .strategy({"redirect_to_safe": {"to": "note"}}),
    "warn": contract("other").guarantees(rate_limit("pay", 0)).strategy("warn_only"),
    "observe": contract("other").guarantees(rate_limit("pay", 0)).observe(),
}


@requirement("S-DECIDE-01")
@pytest.mark.parametrize(
    ("other", "outcome"),
    [("block", Blocked), ("redirect", Held), ("warn", Held), ("observe", Held)],
)
def test_escalate_is_weaker_than_block_and_stronger_than_all_others(
    other: str, outcome: type[Outcome]
) -> None:
    """The strictest answer wins: block, escalate, redirect, warn; all violations are told."""
    session, _ = opened(large(), OTHERS[other])
    decided = pay(session)
    assert isinstance(decided, outcome)
    assert not isinstance(decided, Allowed)
    assert [each.contract for each in decided.violations][:1] == ["large"]
    assert len(session.tickets()) == (outcome is Held)


@requirement("S-STRAT-08")
def test_where_only_observed_nothing_waits() -> None:
    """In observe mode there are no tickets; the log says that the call would have been held."""
    records: list[dict[str, Any]] = []
    session, _ = opened(large(), mode="observe", log=records.append)
    outcome = pay(session)
    assert isinstance(outcome, Allowed)
    assert session.tickets() == ()
    assert [each["action"] for each in records[-1]["violations"]] == ["held"]


# --- bound to one call ----------------------------------------------------------------------------

APPROVED: dict[str, Any] = {
    "tool": "pay",
    "args": {"amount": 900, "to": "ann"},
    "agent": "bob",
    "depth": 1,
}
OTHER_CALLS: Mapping[str, Mapping[str, Any]] = {
    "another amount": {"args": {"amount": 901, "to": "ann"}},
    "another argument": {"args": {"amount": 900, "to": "eve"}},
    "one argument more": {"args": {"amount": 900, "to": "ann", "twice": True}},
    "one argument less": {"args": {"amount": 900}},
    "an amount as text": {"args": {"amount": "900", "to": "ann"}},
    "another tool": {"tool": "wire"},
    "another agent": {"agent": "eve"},
    "another depth": {"depth": 2},
    "another id": {"id": "2"},
    "no id": {"id": None},
}


def any_large() -> Contract:
    """Large amounts of whatever tool have to be approved."""
    return (
        contract("large").guarantees(arg_value_range("*", "amount", max=100)).strategy("escalate")
    )


@requirement("S-ASK-02")
@pytest.mark.parametrize("other", OTHER_CALLS)
def test_an_answer_is_for_that_very_call(other: str) -> None:
    """A ticket is bound to the id, the tool, the arguments, the agent and the depth of its call."""
    session, _ = opened(any_large())
    asked: dict[str, Any] = {"id": "1", **APPROVED}
    first = ticket(session.decide(**asked))
    session.approve(first, by="ann")
    second = ticket(session.decide(**{**asked, **OTHER_CALLS[other]}))
    assert second.id != first.id
    assert second.status == "open"
    assert isinstance(session.decide(**asked), Allowed)


@requirement("S-ASK-02")
def test_equal_arguments_are_the_same_call() -> None:
    """Arguments are compared as JSON: `900` is `900.0`, and the order of keys does not matter."""
    session, _ = opened(any_large())
    session.approve(ticket(session.decide(**{"id": "1", **APPROVED})), by="ann")
    equal = {"id": "1", **APPROVED, "args": {"to": "ann", "amount": 900.0}}
    assert isinstance(session.decide(**equal), Allowed)


@requirement("S-ASK-03")
def test_calls_without_an_id_share_a_ticket_if_they_are_equal() -> None:
    """Whoever gives no ids tries again with the same arguments; one answer is one call even so."""
    session, _ = opened()
    first = ticket(pay(session, id=None))
    assert ticket(pay(session, id=None)) == first
    assert ticket(pay(session, 901, id=None)).id != first.id
    session.approve(first, by="ann")
    outcomes = [pay(session, id=None) for _ in range(3)]
    assert [type(each) for each in outcomes] == [Allowed, Held, Held]


@requirement("S-ASK-03")
@pytest.mark.parametrize("ids", [("auto-1", "auto-2"), ("auto-", "auto-x"), ("", "1")])
def test_no_id_of_the_host_is_taken_for_one_that_was_made(ids: tuple[str, str]) -> None:
    """Ids of the host are its own, however they begin."""
    session, _ = opened()
    session.approve(ticket(pay(session, id=ids[0])), by="ann")
    assert ticket(pay(session, id=ids[1])).status == "open"


class Client:
    """Something that is no data."""


@requirement("S-ASK-04")
@pytest.mark.parametrize(
    "unreadable", [Client(), float("nan"), [[Client()]]], ids=["object", "nan", "nested"]
)
def test_what_cannot_be_read_cannot_be_approved(unreadable: object) -> None:
    """A call with an argument that is no data is like no other: no answer can be bound to it."""
    session, _ = opened()
    outcome = session.decide("pay", {"amount": 900, "via": unreadable}, id="1")
    assert isinstance(outcome, Blocked)
    assert "cannot be read" in outcome.advice
    assert session.tickets() == ()


@requirement("S-ASK-14")
def test_the_answer_for_a_call_is_none_for_its_substitute() -> None:
    """Another tool with other arguments is another call, also where it runs instead."""
    instead = contract("instead").guarantees(rate_limit("pay", 0))
    session, _ = opened(any_large(), instead.strategy({"redirect_to_safe": {"to": "note"}}))
    session.approve(ticket(pay(session)), by="ann")
    assert isinstance(pay(session), Blocked)


@requirement("S-ASK-13")
def test_a_ticket_is_used_up_by_the_substitute_of_its_call() -> None:
    """A redirected call that was approved has run, in its way: the answer is spent."""
    instead = contract("instead").guarantees(rate_limit("pay", 0))
    session, _ = opened(large(), instead.strategy({"redirect_to_safe": {"to": "note"}}))
    first = ticket(pay(session))
    session.approve(first, by="ann")
    assert isinstance(pay(session), Redirected)
    session.settle("1")
    assert ticket(pay(session)).status == "open"


# --- messages, the log, the cap -------------------------------------------------------------------


@requirement("S-ASK-15")
def test_a_response_can_be_held() -> None:
    """A response waits as a call does; it is the same one if its text is the same."""
    rule = contract("discreet").guarantees(no_keywords(["secret"])).strategy("escalate")
    session, _ = opened(rule)
    held = ticket(session.message("assistant", "the secret is 5"))
    assert (held.tool, held.call) == ("response", "")
    session.approve(held, by="ann")
    assert ticket(session.message("assistant", "the secret is 6")).id != held.id
    assert isinstance(session.message("assistant", "the secret is 5"), Allowed)
    assert ticket(session.message("assistant", "the secret is 5")).id != held.id


@requirement("S-ASK-18")
def test_the_log_has_tickets_and_answers() -> None:
    """Held decisions name their ticket, answers who gave them; no record has an argument."""
    records: list[dict[str, Any]] = []
    session, _ = opened(
        large(),
        contract("discreet").guarantees(no_keywords(["secret"])).strategy("escalate"),
        log=records.append,
    )
    held = ticket(pay(session, 987654))
    pay(session, 987654)
    session.deny(held, by="ann")
    spoken = ticket(session.message("assistant", "a secret"))
    session.message("assistant", "a secret")
    assert [(each["event"], each.get("ticket"), each.get("again")) for each in records] == [
        ("decision", held.id, None),
        ("decision", held.id, True),
        ("ticket_denied", held.id, None),
        ("message", spoken.id, None),
        ("message", spoken.id, True),
    ]
    assert records[2]["by"] == "ann"
    assert [len(each.get("violations", ())) for each in records] == [1, 0, 0, 1, 0]
    assert "987654" not in json.dumps(records)


@requirement("S-ASK-17")
def test_tickets_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    """When too many calls wait, one more is refused; closed tickets, the oldest, make room."""
    monkeypatch.setattr(tickets_module, "TICKETS_CAP", 3)
    session, clock = opened(large(within=60))
    first, *_ = [ticket(pay(session, id=str(n))) for n in range(3)]
    outcome = pay(session, id="one more")
    assert isinstance(outcome, Blocked)
    assert "too many calls are held" in outcome.advice
    session.deny(first, by="ann")
    assert isinstance(pay(session, id="one more"), Held)
    clock.now = 61
    assert isinstance(pay(session, id="and another"), Held)


# --- snapshots ------------------------------------------------------------------------------------


def stored(session: Session, *contracts: Contract, at: float = 0.0) -> tuple[Session, Clock]:
    """The session, stored as JSON and opened again under these contracts."""
    clock = Clock()
    clock.now = at
    data = json.loads(json.dumps(session.snapshot()))
    return Guard(contracts or [large()]).restore(data, clock=clock), clock


@requirement("S-ASK-16")
@pytest.mark.parametrize("answer", ["approve", "deny", "revoke", None])
def test_tickets_are_part_of_a_snapshot(answer: str | None) -> None:
    """A ticket can be answered, or used, after a restart."""
    session, _ = opened()
    held = ticket(pay(session))
    if answer:
        held = getattr(session, answer)(held, by="ann")
    again, _ = stored(session)
    assert again.ticket(held) == held
    if answer is None:
        again.approve(held, by="ann")
    assert isinstance(pay(again), Allowed if answer in ("approve", None) else Blocked)


@requirement("S-ASK-16")
def test_the_time_to_answer_goes_on_after_a_restart() -> None:
    """A ticket expires when it would have, whether or not the process was running."""
    session, _ = opened(large(within=60))
    held = ticket(pay(session))
    again, clock = stored(session, large(within=60), at=59)
    assert again.ticket(held).status == "open"
    clock.now = 61
    assert again.ticket(held).status == "expired"


@requirement("S-ASK-21", "S-ASK-22")
def test_a_call_that_is_held_again_from_an_earlier_snapshot_has_its_first_ticket() -> None:
    """Its id is the same, and `asked` gives it the time that it had: it does not begin anew."""
    session, clock = opened(large(within=60))
    before, _ = stored(session, large(within=60))
    clock.now = 5
    first = ticket(pay(session))
    again, later = stored(before, large(within=60), at=50)
    second = ticket(pay(again))
    assert (second.id, second.until) == (first.id, 110)
    assert again.asked(second.id, 5) == first
    assert again.asked(second.id, 5000) == first
    later.now = 66
    assert again.tickets() == ()
    assert isinstance(pay(again), Blocked)


@requirement("S-ASK-22")
def test_a_call_that_was_held_too_long_ago_is_refused() -> None:
    """Nobody can answer it any more; a ticket that does not exist is an error of the host."""
    session, clock = opened(large(within=60))
    clock.now = 100
    held = ticket(pay(session))
    assert session.asked(held.id, 39).status == "expired"
    assert isinstance(pay(session), Blocked)
    with pytest.raises(SessionError, match="there is no ticket"):
        session.asked("nonsense", 39)


@requirement("S-ASK-16")
@pytest.mark.parametrize(
    "changed",
    [large(50, roles=["manager"]), large(roles=["owner"]), large(name="other")],
    ids=["another limit", "other roles", "another contract"],
)
def test_an_answer_to_what_is_not_asked_any_more_is_forgotten(changed: Contract) -> None:
    """Where a contract or its roles have changed, its tickets are gone: the call is held anew."""
    session, _ = opened(large(roles=["manager"]))
    held = ticket(pay(session))
    session.approve(held, by="ann", role="manager")
    again, _ = stored(session, changed)
    with pytest.raises(SessionError, match="there is no ticket"):
        again.ticket(held)
    assert ticket(pay(again)).status == "open"


# --- threads --------------------------------------------------------------------------------------


def at_once(work: Callable[[int], object]) -> list[Any]:
    """What `work` returns, or raises, in eight threads that start together."""
    ready = threading.Barrier(THREADS)
    results: list[Any] = []

    def run(number: int) -> None:
        ready.wait()
        try:
            results.append(work(number))
        except SessionError as error:
            results.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_an_approved_id_that_all_threads_decide_is_one_call() -> None:
    """Deciding an open id again gives the first answer: all are told the same, one call counts."""
    session, _ = opened()
    held = ticket(pay(session))
    session.approve(held, by="ann")
    outcomes = at_once(lambda _: pay(session))
    assert {(type(each), each.id) for each in outcomes} == {(Allowed, "1")}
    assert session.calls == 1
    with pytest.raises(SessionError, match="let through already"):
        session.ticket(held)


@requirement("S-ASK-13")
def test_of_equal_calls_in_all_threads_an_answer_lets_one_through() -> None:
    """Without ids each try is a call of its own, and one answer is for one of them."""
    session, _ = opened()
    session.approve(ticket(pay(session, id=None)), by="ann")
    outcomes = at_once(lambda _: pay(session, id=None))
    assert sum(isinstance(each, Allowed) for each in outcomes) == 1
    assert sum(isinstance(each, Held) for each in outcomes) == THREADS - 1
    assert len({each.ticket.id for each in outcomes if isinstance(each, Held)}) == 1
    assert session.calls == 1


@requirement("S-ASK-07")
def test_of_all_answers_to_a_ticket_the_first_counts() -> None:
    """Approved in some threads and denied in others, a ticket has one answer."""
    session, _ = opened()
    held = ticket(pay(session))
    acts = [session.approve, session.deny]
    answers = at_once(lambda n: acts[n % 2](held, by=f"person {n}"))
    (answer,) = [each for each in answers if isinstance(each, Ticket)]
    assert session.ticket(held) == answer
    assert isinstance(pay(session), Allowed if answer.status == "approved" else Blocked)


def test_holding_in_all_threads_opens_one_ticket() -> None:
    """A call that all threads try at once waits once."""
    session, _ = opened()
    outcomes = at_once(lambda _: pay(session))
    assert {ticket(each).id for each in outcomes} == {session.tickets()[0].id}


# --- confirmation by a person ---------------------------------------------------------------------

FILE = """\
version: 1
tools: {tools}
contracts:
- name: sure
  guarantee: {guarantee}
"""
CONFIRMED = {
    "must_confirm": must_confirm("delete"),
    "destructive_action_gate": destructive_action_gate("delete"),
}


def from_file(tools: str, guarantee: str, more: str = "") -> Session:
    """A session under a file with this inventory and this guarantee."""
    file = loads(FILE.format(tools=tools, guarantee=guarantee) + more)
    return Guard(file.contracts, tools=file.inventory).session()


@requirement("S-STRAT-10")
@pytest.mark.parametrize("pattern", CONFIRMED)
@pytest.mark.parametrize("written", ["file", "sentence", "python"])
def test_without_a_tool_that_confirms_a_person_does(pattern: str, written: str) -> None:
    """Where the inventory has no `confirm_delete`, each run of `delete` needs a ticket."""
    rule = CONFIRMED[pattern]
    if written == "python":
        session = Guard([contract("sure").guarantees(rule)], tools=["delete"]).session()
    else:
        text = f"{{pattern: {pattern}, action: delete}}" if written == "file" else rule.sentence
        session = from_file("[delete]", text)
    for id in "12":
        held = ticket(session.decide("delete", {"id": 5}, id=id))
        assert held.contracts == ("sure",)
        session.approve(held, by="ann")
        assert isinstance(session.decide("delete", {"id": 5}, id=id), Allowed)


@requirement("S-STRAT-10")
@pytest.mark.parametrize("pattern", CONFIRMED)
@pytest.mark.parametrize("tools", [["delete", "confirm_delete"], None])
def test_with_a_tool_that_confirms_it_has_to(pattern: str, tools: list[str] | None) -> None:
    """Where the tool exists, or nobody says which tools exist, it is called first."""
    session = Guard([contract("sure").guarantees(CONFIRMED[pattern])], tools=tools).session()
    assert isinstance(session.decide("delete"), Blocked)
    session.settle(session.decide("confirm_delete").id, output="yes")
    assert isinstance(session.decide("delete"), Allowed)


@requirement("S-STRAT-10")
def test_an_action_that_confirms_is_as_good_as_a_tool() -> None:
    """The default `confirm_delete` may be an action of the file."""
    actions = "actions: {confirm_delete: [{tool: ask, args: {what: delete}}]}\n"
    session = from_file("[delete, ask]", "{pattern: must_confirm, action: delete}", actions)
    assert isinstance(session.decide("delete"), Blocked)
    session.settle(session.decide("ask", {"what": "delete"}).id, output=True)
    assert isinstance(session.decide("delete"), Allowed)


def test_a_confirming_tool_that_is_named_has_to_exist() -> None:
    """Only the default may be missing from the inventory."""
    with pytest.raises(ContractError, match="unknown tool `ask`"):
        from_file("[delete]", "{pattern: must_confirm, action: delete, by: ask}")
    with pytest.raises(ContractError, match="unknown tool `ask`"):
        Guard([contract("sure").guarantees(must_confirm("delete", by="ask"))], tools=["delete"])


@requirement("S-STRAT-01")
def test_the_strategy_of_the_contract_says_who_confirms() -> None:
    """A contract that escalates in its own way keeps its roles; one that blocks blocks."""
    text = "{pattern: must_confirm, action: delete}"
    session = from_file("[delete]", text, "  strategy: {escalate: {roles: [owner]}}\n")
    assert ticket(session.decide("delete")).roles == ("owner",)
    assert isinstance(from_file("[delete]", text, "  strategy: block\n").decide("delete"), Blocked)


@requirement("S-STRAT-10")
def test_the_role_of_a_gate_is_who_confirms() -> None:
    """`destructive_action_gate` with a role, and without a gate, is held for that role."""
    text = "{pattern: destructive_action_gate, action: delete, role: manager}"
    assert ticket(from_file("[delete]", text).decide("delete")).roles == ("manager",)


def test_other_guarantees_beside_it_block() -> None:
    """What a person confirms is the missing confirmation, and nothing else of the contract."""
    both = contract("sure").guarantees(must_confirm("delete"), tool_allowlist(["list"]))
    session = Guard([both], tools=["delete", "list"]).session()
    assert isinstance(session.decide("delete"), Blocked)
    assert session.tickets() == ()
