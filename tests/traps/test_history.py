"""Traps of history and decisions: what must not be remembered, miscounted or shared."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Contract, Guard, Redirected, atom, contract
from sponsio_like.engine import judgement as judging
from sponsio_like.event_types import Call
from sponsio_like.events.registry import CUSTOM
from sponsio_like.log import flush
from sponsio_like.monitor.state import Judgement
from sponsio_like.patterns import (
    always_followed_by,
    cooldown,
    deadline,
    must_precede,
    rate_limit,
    redirect_to_safe,
    workflow_step,
)
from sponsio_like.session import user_code as perceiving
from tests.semantics.manifest import requirement
from tests.support.play import opened


def ruled(*what: Any) -> Contract:
    """A contract of these guarantees."""
    return contract("rule").guarantees(*what)


# --- what is refused leaves no trace --------------------------------------------------------------


@requirement("T-01")
def test_a_blocked_call_is_blocked_as_often_as_it_is_tried() -> None:
    """A call that violates is refused on every try, until what it lacks has happened."""
    play = opened(ruled(must_precede("check", "pay")))
    assert play("pay pay pay pay pay") == "xxxxx"
    assert play("check pay") == ".."


@requirement("T-01")
def test_tries_that_were_blocked_are_not_counted() -> None:
    """Ten refused tries use up none of a limit, and do not keep a cooldown going."""
    assert (
        opened(ruled(must_precede("check", "pay"), rate_limit("pay", 1)))(
            "pay " * 10 + "check pay pay"
        )
        == "x" * 10 + "..x"
    )
    assert opened(ruled(cooldown("pay", seconds=5)))("pay pay pay pay pay pay pay") == ".xxxx.x"


@requirement("T-01")
def test_the_same_id_is_blocked_as_often_as_it_is_tried() -> None:
    """A refused id is not in flight: trying it again is a new decision, with the same answer."""
    session = Guard([ruled(must_precede("check", "pay"))]).session()
    assert all(isinstance(session.decide("pay", id="1"), Blocked) for _ in range(3))
    session.settle("1")
    assert isinstance(session.decide("pay", id="1"), Blocked)
    session.settle(session.decide("check").id)
    assert isinstance(session.decide("pay", id="1"), Allowed)


def at_once(*works: Callable[[], None]) -> None:
    """Run these in threads of their own, started together."""
    ready = threading.Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        ready.wait()
        work()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture
def _giving_way(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Threads switch often, and each gives way between asking and committing."""
    judge = judging.judge

    def judge_and_give_way(*args: Any) -> Judgement:
        judgement = judge(*args)
        time.sleep(0)
        return judgement

    monkeypatch.setattr(perceiving, "judge", judge_and_give_way)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@requirement("T-02")
@pytest.mark.usefixtures("_giving_way")
def test_a_refusal_in_one_thread_removes_nothing_of_another() -> None:
    """Calls decided in many threads: every allowed one counts, and no refused one does."""
    session = Guard(
        [contract("forbidden").guarantees(rate_limit("drop", 0)), ruled(rate_limit("pay", 40))]
    ).session()
    allowed: list[str] = []

    def paying() -> None:
        for _ in range(40):
            outcome = session.decide("pay")
            if isinstance(outcome, Allowed):
                allowed.append(outcome.id)

    def dropping() -> None:
        outcomes = [session.decide("drop") for _ in range(40)]
        allowed.extend("drop" for outcome in outcomes if not isinstance(outcome, Blocked))

    at_once(*[paying, dropping] * 4)
    assert len(allowed) == len(set(allowed)) == session.calls == 40
    assert "drop" not in allowed


@requirement("T-09", "T-28")
@pytest.mark.parametrize("when", ["G(called(pay) -> wobbly())", "G(called(pay) -> !wobbly())"])
def test_an_atom_that_raises_blocks_that_call_and_leaves_no_mark(
    when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A condition that raises fails closed, wherever it stands; the next call is decided anew."""
    moods = iter(["raise", "yes", "no"] * 2)

    def wobbly(_: Call, __: object) -> bool:
        mood = next(moods)
        if mood == "raise":
            raise OSError("cannot tell")
        return mood == "yes"

    monkeypatch.setitem(CUSTOM, "wobbly", None)  # put back as it was when the test is over
    del CUSTOM["wobbly"]
    atom("wobbly")(wobbly)
    play = opened(when, contract("few").guarantees(rate_limit("pay", 2)))
    expected = "xx." if "!" in when else "x.x"
    assert play("pay pay pay other") == expected + "."
    assert play.session.calls == 2
    assert play("pay pay pay other") == expected + "."
    assert play.session.verdicts()["few"] == "inconclusive"


# --- what is a step, and what time is -------------------------------------------------------------


@requirement("T-03")
@pytest.mark.parametrize(
    ("rule", "text", "signs"),
    [
        (cooldown("pay", steps=2), "pay? ok:pay pay other? ok:other pay other pay", "..x..x.."),
        (deadline("pay", "tell", steps=2), "pay? ok:pay other? ok:other tell", "....."),
        (deadline("pay", "tell", steps=2), "pay? ok:pay other other tell", "...x."),
        (workflow_step("lock", "tell"), "lock? ok:lock tell", "..."),
        (workflow_step("lock", "tell"), "lock? ok:lock other tell", "..x."),
        (cooldown("pay", steps=1), "pay msg:user=a msg:user=b pay other msg:user=c pay", "...x..."),
        (deadline("pay", "tell", steps=1), "pay msg:user=a msg:assistant=b other tell", "...x."),
    ],
    ids=["cooldown", "deadline", "missed", "next", "wrong", "talk", "talk before the deadline"],
)
def test_neither_results_nor_messages_are_steps_of_calls(rule: Any, text: str, signs: str) -> None:
    """Where calls are counted in steps, results and messages in between change nothing."""
    assert opened(ruled(rule))(text) == signs


@requirement("T-04")
def test_seconds_are_seconds_of_the_clock() -> None:
    """A cooldown of 60 seconds passes with time, not with events, and with no event at all."""
    play = opened(ruled(cooldown("pay", seconds=60)))
    assert play("pay " + "+0.1s other " * 100 + "+0.1s pay") == "." * 101 + "x"
    assert play("+49.8s pay +0.2s pay") == "x."
    assert opened(ruled(cooldown("pay", seconds=60)))("pay +60s pay") == ".."


@requirement("T-04")
def test_a_clock_that_goes_back_stands_still() -> None:
    """Turning the clock back neither shortens nor lengthens what has been measured."""
    played = opened(Contract("c", (cooldown("pay", seconds=60),)))

    def allowed(tool: str, now: float) -> bool:
        played.clock.now = now
        return isinstance(played.session.decide(tool), Allowed)

    times = [100.0, 10.0, 130.0, 159.0, 90.0, 160.0]
    asked = [allowed("pay", now) for now in times]
    assert asked == [True, False, False, False, False, True]
    played = opened(Contract("c", (cooldown("pay", seconds=60),)))
    calls = [("other", 100.0), ("pay", 50.0), ("pay", 115.0)]
    assert [allowed(*each) for each in calls] == [True, True, False]


@requirement("T-04")
def test_the_clock_is_the_wall_clock_unless_told_otherwise() -> None:
    """Without a clock of its own, a session measures real time."""
    session = Guard([ruled(cooldown("pay", seconds=0.05))]).session()
    assert isinstance(session.decide("pay"), Allowed)
    assert isinstance(session.decide("pay"), Blocked)
    time.sleep(0.06)
    assert isinstance(session.decide("pay"), Allowed)


# --- what counts ----------------------------------------------------------------------------------


@requirement("T-05")
def test_a_failed_or_unfinished_call_is_no_prerequisite() -> None:
    """`check` precedes `pay` only once it has succeeded: neither trying nor failing will do."""
    play = opened(ruled(must_precede("check", "pay")))
    assert play("check! pay check? pay error:check pay check? pay ok:check pay") == ".x.x.x.x.."


@requirement("T-05")
def test_no_call_of_a_batch_sees_the_result_of_another() -> None:
    """Calls of one turn are in flight together: none is the prerequisite of the next."""
    batch: list[tuple[str, dict[str, Any]]] = [("check", {}), ("pay", {})]
    for assume in (False, True):
        session = Guard([ruled(must_precede("check", "pay"))]).session(assume_success=assume)
        kinds = [type(outcome) for outcome in session.decide_batch(batch)]
        assert kinds == [Allowed, Blocked]
        assert isinstance(session.decide("pay"), Allowed if assume else Blocked)


@requirement("T-06")
def test_parallel_payments_share_one_budget() -> None:
    """Of three parallel payments of 60 under a budget of 100, one is let through."""
    budget = "G(called(pay) -> sum(pay, amount) <= 100)"
    play = opened(budget)
    outcomes = play.session.decide_batch([("pay", {"amount": 60})] * 3)
    assert [type(outcome) for outcome in outcomes] == [Allowed, Blocked, Blocked]
    outcomes = play.session.decide_batch([("pay", {"amount": 30}), ("pay", {"amount": 10})] * 2)
    assert [type(outcome) for outcome in outcomes] == [Allowed, Allowed, Blocked, Blocked]


@requirement("T-06")
def test_a_failed_payment_stays_reserved() -> None:
    """A budget counts attempts: what failed may still have been paid."""
    play = opened("G(called(pay) -> sum(pay, amount) <= 100)")
    assert play("pay(amount=60)! pay(amount=60) pay(amount=40)") == ".x."


# --- observing ------------------------------------------------------------------------------------


@requirement("T-07")
def test_an_observer_sees_every_violation_once() -> None:
    """In observe mode each violating call is reported, and no violation is reported twice."""
    play = opened(
        contract("gate").guarantees(must_precede("check", "pay")),
        contract("few").guarantees(rate_limit("pay", 2)),
        contract("tell soon").guarantees(deadline("pay", "tell", steps=1)),
        contract("one way").guarantees("after `pay`, tool `refund` is forbidden"),
        guard={"mode": "observe"},
    )
    play("pay refund pay pay other other")
    seen = [
        (each.contract, each.position)
        for outcome in play.outcomes
        if isinstance(outcome, Allowed)
        for each in outcome.observed
    ]
    assert sorted(seen) == [
        ("few", 3),
        *[("gate", position) for position in (0, 2, 3)],
        ("one way", 1),
        *[("tell soon", position) for position in (1, 3, 4)],
    ]
    assert play.unfulfilled() == []


@requirement("T-07")
def test_a_violation_that_was_let_through_does_not_disarm_the_rule() -> None:
    """After a warning the rule goes on: it warns of the next violation, and knows the past."""
    play = opened(contract("gate").guarantees(must_precede("check", "pay")).strategy("warn_only"))
    assert play("pay pay check pay") == "ww.."


@requirement("T-08")
def test_an_assumption_that_is_not_met_is_silent() -> None:
    """A rule about refunds says nothing in a session without refunds, whatever else is called."""
    announced = (
        contract("announced")
        .assume("called `refund`")
        .guarantees(must_precede("check", "pay"), always_followed_by("pay", "tell"))
    )
    play = opened(announced, guard={"mode": "observe"})
    assert play("other pay other other") == "...."
    assert play.unfulfilled() == []


@requirement("T-08")
def test_an_assumption_counts_where_the_violation_is() -> None:
    """Once the assumption is met the rule applies, and what happened before it counts."""
    announced = contract("gate").assume("called `open`").guarantees(must_precede("check", "pay"))
    assert opened(announced)("pay open pay check pay") == "..x.."
    assert opened(announced)("check open pay") == "..."


# --- who shares what ------------------------------------------------------------------------------


@requirement("T-10")
def test_sessions_of_one_guard_share_no_history() -> None:
    """What one conversation has called is neither a prerequisite nor a count of another."""
    guard = Guard([ruled(must_precede("check", "pay"), rate_limit("pay", 1))])
    first, second = guard.session("first"), guard.session("second")
    first.settle(first.decide("check", id="1").id)
    assert isinstance(second.decide("pay", id="1"), Blocked)
    assert isinstance(first.decide("pay", id="2"), Allowed)
    second.settle(second.decide("check", id="2").id)
    assert isinstance(second.decide("pay", id="1"), Allowed)
    assert isinstance(first.decide("pay", id="3"), Blocked)


@requirement("T-10")
def test_sessions_of_one_name_share_no_history() -> None:
    """A session is an object, not a name: after it is over, one of its name begins afresh."""
    guard = Guard([ruled(rate_limit("pay", 1))])
    for _ in range(2):
        session = guard.session("same")
        assert isinstance(session.decide("pay"), Allowed)
        assert isinstance(session.decide("pay"), Blocked)
        session.finish()


def test_whatever_listens_may_ask_the_session() -> None:
    """The log and the clock are called without a lock: they may ask back, and no one waits."""
    said: list[object] = []

    def sink(record: dict[str, Any]) -> None:
        if record["event"] == "decision" and record["tool"] == "pay":
            said.append(session.pending())
            said.append(session.decide("note"))

    def clock() -> float:
        return float(session.calls) if said else 0.0

    session = Guard([ruled(always_followed_by("pay", "note"))], log=sink).session(clock=clock)
    work = threading.Thread(target=lambda: session.settle(session.decide("pay").id), daemon=True)
    work.start()
    work.join(5)
    assert not work.is_alive()
    assert flush()
    assert isinstance(said[1], Allowed)


# --- outcomes -------------------------------------------------------------------------------------


@requirement("T-12")
def test_a_redirected_call_is_not_allowed() -> None:
    """Each outcome is a type of its own; none has a flag that could be taken for permission."""
    session = Guard([ruled(redirect_to_safe("pay", "log_request"))]).session()
    outcome = session.decide("pay", {"amount": 5})
    assert isinstance(outcome, Redirected)
    assert Allowed not in type(outcome).__mro__
    assert (outcome.tool, dict(outcome.args)) == ("log_request", {"amount": 5})
    for name in dir(outcome):
        assert "allow" not in name.lower()
        assert getattr(outcome, name) is not True


@requirement("T-12")
def test_a_substitute_is_decided_like_any_call() -> None:
    """A redirect to a tool that is itself forbidden, or limited, or redirected, blocks the call."""
    away = contract("away").guarantees(redirect_to_safe("pay", "log_request"))
    few = contract("few").guarantees(rate_limit("log_request", 1))
    on = contract("on").guarantees(redirect_to_safe("log_request", "print"))
    assert opened(away, few)("pay pay log_request") == ">xx"
    assert opened(away, on)("pay log_request") == "x>"
    back = contract("back").guarantees(redirect_to_safe("log_request", "pay"))
    assert opened(away, back)("pay log_request") == "xx"


@requirement("T-12")
def test_a_redirect_runs_the_substitute_alone() -> None:
    """In the trace of a redirected call stands the substitute; the original has not been called."""
    away = contract("away").guarantees(redirect_to_safe("pay", "log_request"))
    after = contract("after").guarantees(must_precede("log_request", "close"))
    never = contract("never").guarantees("after `pay`, tool `close` is forbidden")
    assert opened(away, after, never)("close pay close") == "x>."
