"""A session: turns, ids, results that nobody waits for, and what is said of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.errors import SessionError
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Allowed, Blocked, Escalate, Held, Redirect, Redirected
from sponsio_like.patterns import rate_limit
from sponsio_like.syntax import read
from sponsio_like.worlds import MemoryWorld
from tests.support.play import guarded, opened

CHECKED = "G(called(pay) -> Y O done(check))"


def test_with_success_assumed_every_next_turn_settles_the_last() -> None:
    """Calls, batches and messages begin a turn; calls of one batch do not settle each other."""
    played = opened(CHECKED, assume_success=True)
    session = played.session
    batch = session.decide_batch([("check", {}), ("pay", {})])
    assert [type(each) for each in batch] == [Allowed, Blocked]
    assert len(session._inner.flights) == 1
    session.message("user", "hello")
    assert not session._inner.flights
    session.decide("check")
    assert isinstance(session.decide("pay"), Allowed)
    assert len(session._inner.flights) == 1
    assert isinstance(session.decide_batch([("pay", {})])[0], Allowed)


def test_the_calls_of_a_batch_may_have_ids() -> None:
    """One without is given one."""
    outcomes = opened("G !called(b)").session.decide_batch([("a", {}, "7"), ("a", {})])
    assert outcomes[0].id == "7"
    assert outcomes[1].id.startswith("auto-")
    wrongs: list[Any] = [("a",), ("a", {}, "7", 4), "ab", {"a": {}}]
    for wrong in wrongs:
        with pytest.raises(SessionError):
            opened("G !called(b)").session.decide_batch([wrong])


def test_a_fact_is_logged_without_its_value() -> None:
    """The log says which one was told."""
    played = opened("G(called(a) -> ctx(k) = 1)")
    played.session.fact("k", "secret")
    (record,) = [each for each in played.records if each["event"] == "fact"]
    assert record["key"] == "k"
    assert "secret" not in str(record)


def test_a_result_that_nobody_waits_for_is_logged() -> None:
    """Of an unknown call, or a second one: it changes nothing, and is in the log."""
    played = opened("G !failed(a)")
    assert played.session.settle("nobody", error="x") == ()
    assert [each["event"] for each in played.records if each.get("id") == "nobody"] == [
        "result_ignored"
    ]
    played.session.decide("a", id="1")
    assert played.session.settle("1", output=1) == ()
    before = len(played.records)
    assert played.session.settle("1", error="x") == ()
    assert len(played.records) == before + 1


def test_an_id_in_flight_is_of_one_call() -> None:
    """The same call again gets the first answer; another one is blocked, and told why."""
    session = opened("G(count(a) <= 1)").session
    first = session.decide("a", {"x": 1}, id="1")
    assert session.decide("a", {"x": 1.0}, id="1") == first
    for other in (("b", {"x": 1}), ("a", {"x": 2})):
        outcome = session.decide(*other, id="1")
        assert isinstance(outcome, Blocked)
        assert outcome.advice == "call id `1` is in flight with another tool or other arguments"
    session.settle("1")
    assert isinstance(session.decide("b", {}, id="1"), Allowed)


def test_where_nothing_is_enforced_a_wrong_id_is_only_told() -> None:
    """The call runs, and the outcome says what would have been refused."""
    session = opened("G(count(a) <= 1)", guard={"mode": "observe"}).session
    session.decide("a", id="1")
    outcome = session.decide("b", id="1")
    assert isinstance(outcome, Allowed)
    (seen,) = outcome.observed
    assert (seen.contract, seen.tool, seen.position, seen.mode) == ("session", "b", 1, "observe")


def test_a_call_in_flight_is_answered_again_as_it_was() -> None:
    """Redirected with the same substitute; what the host does to its arguments is its own."""
    rule = Rule(read("G !called(rm)"))
    safe = Contract("c", (rule,), answer=Redirect("trash", (("path", "file"), ("force", None))))
    session = opened(safe).session
    first = session.decide("rm", {"path": ["/x"], "force": True}, id="1")
    assert isinstance(first, Redirected)
    assert (first.tool, dict(first.args)) == ("trash", {"file": ["/x"]})
    again = session.decide("rm", {"path": ["/x"], "force": True}, id="1")
    assert again == first
    assert isinstance(again, Redirected)
    assert again.args is not first.args


def test_a_restored_session_answers_a_redirected_call_as_before() -> None:
    """The substitute is part of the snapshot."""
    rule = Rule(read("G !called(rm)"))
    played = opened(Contract("c", (rule,), answer=Redirect("trash")))
    first = played.session.decide("rm", {"path": "/x"}, id="1")
    assert isinstance(first, Redirected)
    data = json.loads(json.dumps(played.session.snapshot()))
    restored = played.guard.restore(data, clock=played.clock)
    again = restored.decide("rm", {"path": "/x"}, id="1")
    assert isinstance(again, Redirected)
    assert (again.tool, dict(again.args)) == ("trash", {"path": "/x"})
    assert isinstance(restored.decide("other", {}, id="1"), Blocked)


def test_a_restored_call_waits_only_for_contracts_that_are_still_there() -> None:
    """What was dropped since is forgotten; what stayed hears of the result."""
    for kept, revealed in (("G !failed(a)", 1), ("G !failed(b)", 0)):
        both = opened("G !failed(a)", "G(failed(a) -> F called(c))", guard={"mode": "observe"})
        both.session.decide("a", id="1")
        data = json.loads(json.dumps(both.session.snapshot()))
        session = guarded(kept, mode="observe").restore(data, clock=both.clock)
        assert len(session.settle("1", error="x")) == revealed


def test_a_substitute_that_may_not_run_either_is_blocked() -> None:
    """It is decided like any call."""
    first = Contract("c", (Rule(read("G !called(rm)")),), answer=Redirect("trash"))
    session = opened(first, "G !called(trash)").session
    outcome = session.decide("rm", {"path": "/x"})
    assert isinstance(outcome, Blocked)
    assert [each.contract for each in outcome.violations] == ["c", "rule 1"]


def held(**more: Any) -> Contract:
    """A contract that asks a person."""
    return Contract("c", (Rule(read("G !called(pay)")),), answer=Escalate(**more))


def test_a_held_call_runs_once_it_is_approved_and_only_once() -> None:
    """The ticket is bound to the call, and used up by it."""
    played = opened(held(roles=("boss",)))
    session = played.session
    first = session.decide("pay", {"n": 1}, id="1")
    assert isinstance(first, Held)
    assert session.decide("pay", {"n": 1}, id="1") == first
    other = session.decide("pay", {"n": 2}, id="2")
    assert isinstance(other, Held)
    assert other.ticket.id != first.ticket.id
    with pytest.raises(SessionError, match="not for role `clerk`"):
        session.approve(first.ticket, by="ann", role="clerk")
    assert session.approve(first.ticket, by="ann", role="boss").status == "approved"
    assert isinstance(session.decide("pay", {"n": 1}, id="1"), Allowed)
    session.settle("1")
    assert isinstance(session.decide("pay", {"n": 1}, id="1"), Held)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("deny", "and ann said no; do not repeat it"),
        ("revoke", "and ann took the approval back"),
        ("expire", "and nobody answered in time"),
    ],
)
def test_a_call_that_was_not_approved_stays_blocked(act: str, words: str) -> None:
    """With who said so, and the contract."""
    session = opened(held()).session
    ticket = session.decide("pay", id="1").ticket  # type: ignore[union-attr]
    named = {} if act == "expire" else {"by": "ann"}
    getattr(session, act)(ticket, **named)
    outcome = session.decide("pay", id="1")
    assert isinstance(outcome, Blocked)
    assert outcome.advice == f"`pay` was held by `c`, {words}"
    with pytest.raises(SessionError):
        getattr(session, act)(ticket, **named)


def test_time_to_answer_runs_out() -> None:
    """A ticket is open until its time, that moment included, then expired."""
    played = opened(held(within=5.0))
    ticket = played.session.decide("pay", id="1").ticket  # type: ignore[union-attr]
    assert ticket.until == 5.0
    played.clock.now = 5.0
    assert [each.id for each in played.session.tickets()] == [ticket.id]
    played.clock.now = 5.1
    assert played.session.tickets() == ()
    assert isinstance(played.session.decide("pay", id="1"), Blocked)


@pytest.mark.parametrize("depth", [True, 1.5, "1", None])
def test_a_depth_is_a_whole_number_however_well_a_tool_is_known(depth: Any) -> None:
    """Also when calls of the tool take the fast path by now."""
    session = opened("G(called(b) -> O called(a))").session
    for _ in range(3):
        session.settle(session.decide("a", {}, depth=1).id)
    with pytest.raises(SessionError):
        session.decide("a", {}, depth=depth)


@pytest.mark.parametrize("mode", ["enforce", "observe"])
def test_what_the_session_itself_reports_has_the_mode_of_the_guard(mode: Any) -> None:
    """Such as a store that cannot be written when a call has ended."""

    class Broken(MemoryWorld):
        broken = False

        def entry(self, id: str) -> Any:
            if self.broken:
                raise OSError("the disk is full")
            return super().entry(id)

    world = Broken()
    guard = Guard([contract("few").guarantees(rate_limit("pay", 9)).world()], mode=mode)
    session = guard.session("s", world=world)
    call = session.decide("pay", {})
    world.broken = True
    (seen,) = session.settle(call.id)
    assert (seen.contract, seen.mode, seen.action) == ("session", mode, "reported")
