"""Notifiers are told what happened, apart from each other, and hold nothing up."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pytest

from sponsio_like import (
    Allowed,
    Blocked,
    Contract,
    Guard,
    Held,
    Redirected,
    Session,
    Violation,
    contract,
    notices,
    outbox,
)
from sponsio_like.notices import Mailbox, Notice, drain
from sponsio_like.patterns import (
    arg_value_range,
    audit_after,
    cooldown,
    deadline,
    no_keywords,
    rate_limit,
)
from tests.semantics.manifest import requirement
from tests.support.play import Clock

SECONDS = 60.0
"""Longer than anything here takes, unless it hangs."""


def large(*notify: Any, **options: Any) -> Contract:
    """Payments above 100 have to be approved; these notifiers are told."""
    rule = arg_value_range("pay", "amount", max=100)
    return contract("large").guarantees(rule).strategy({"escalate": {"notify": notify, **options}})


def pay(session: Session, amount: float = 900, id: str | None = None) -> Any:
    """Decide a payment."""
    return session.decide("pay", {"amount": amount, "note": "confidential"}, id=id)


class Told:
    """A notifier that remembers what it was told."""

    def __init__(self, then: Callable[[Notice], Any] = lambda _: None) -> None:
        self.notices: list[Notice] = []
        self.then = then

    def __call__(self, notice: Notice) -> Any:
        self.notices.append(notice)
        return self.then(notice)

    @property
    def contracts(self) -> list[str]:
        """The contracts that it was told of."""
        return [each.contract for each in self.notices]


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What a notifier that hangs waits for; it opens when the test is over."""
    opened = threading.Event()
    yield opened
    opened.set()
    assert drain(SECONDS)


# --- what is told, and to whom --------------------------------------------------------------------


@requirement("S-TELL-02")
def test_a_notice_says_what_is_to_be_answered() -> None:
    """It has the session, the contract, the call, the ticket and the roles, and no argument."""
    told = Told()
    session = Guard([large(told, roles=["manager"])]).session("s1", clock=Clock())
    outcome = pay(session, id="7")
    assert drain(SECONDS)
    (notice,) = told.notices
    assert asdict(notice) == {
        "session": "s1",
        "contract": "large",
        "tool": "pay",
        "call": "7",
        "position": 0,
        "action": "held",
        "message": outcome.violations[0].message,
        "ticket": outcome.ticket.id,
        "roles": ("manager",),
        "because": "",
        "owner": "",
        "severity": None,
        "tags": (),
        "times": 1,
        "skipped": 0,
    }
    assert not {"900", "confidential"} & set(str(notice).replace("'", " ").split())


@requirement("S-TELL-03")
def test_a_held_call_is_told_once() -> None:
    """However often a call is tried while it waits, or after it was answered, it is told once."""
    told = Told()
    session = Guard([large(told)]).session()
    for act in (session.approve, session.deny):
        *_, held = [pay(session, id=act.__name__) for _ in range(3)]
        act(held.ticket, by="ann")
        pay(session, id=act.__name__)
        pay(session, id=act.__name__)
    assert drain(SECONDS)
    assert [each.call for each in told.notices] == ["approve", "deny"]


OTHERS: Mapping[str, Any] = {
    "block": "block",
    "redirect": {"redirect_to_safe": {"to": "note"}},
    "warn": "warn_only",
}


@requirement("S-TELL-01")
@pytest.mark.parametrize(
    ("other", "outcome"), [("block", Blocked), ("redirect", Held), ("warn", Held)]
)
def test_the_strictest_wins_and_all_are_told(other: str, outcome: type) -> None:
    """Notifiers of a contract are told even if another one wins; those of the guard, of all."""
    told, everything = Told(), Told()
    rules = [
        large(told),
        contract("other").guarantees(rate_limit("pay", 0)).strategy(OTHERS[other]),
        contract("seen").guarantees(rate_limit("pay", 0)).observe(),
    ]
    decided = pay(Guard(rules, notify=[everything]).session())
    assert isinstance(decided, outcome)
    assert drain(SECONDS)
    assert told.contracts == ["large"]
    assert everything.contracts == ["large", "other"]
    ticket = decided.ticket.id if isinstance(decided, Held) else None
    assert [each.ticket for each in everything.notices] == [ticket, None]


@requirement("S-TELL-01")
def test_a_redirected_call_is_told() -> None:
    """What was redirected or warned about is told as such."""
    everything = Told()
    rule = contract("drafts").guarantees(rate_limit("send", 0)).strategy(OTHERS["redirect"])
    outcome = Guard([rule], notify=[everything]).session().decide("send")
    assert isinstance(outcome, Redirected)
    assert drain(SECONDS)
    assert [each.action for each in everything.notices] == ["redirected"]


@requirement("S-STRAT-08")
def test_where_only_observed_nobody_is_told() -> None:
    """In observe mode there is nothing to answer: the log has it."""
    told, everything = Told(), Told()
    session = Guard([large(told)], mode="observe", notify=[everything]).session()
    assert isinstance(pay(session), Allowed)
    assert drain(SECONDS)
    assert told.notices + everything.notices == []


@requirement("S-STRAT-07")
def test_what_could_not_be_prevented_is_told_too() -> None:
    """A violation that time or a result reveals is told, as reported."""
    told, asked, clock = Told(), list[Violation](), Clock()
    late = contract("late").guarantees(deadline("open", "close", seconds=5))
    bad = contract("bad").guarantees({"ltl": "G(called(pay) -> !failed(pay))"})
    session = Guard(
        [late.strategy({"escalate": {"notify": told}}), bad.strategy(asked.append)],
        notify=[told],
    ).session(clock=clock)
    session.settle(session.decide("open").id)
    outcome = session.decide("pay")
    session.settle(outcome.id, error="no")
    clock.now = 6
    session.finish()
    assert drain(SECONDS)
    assert sorted((each.contract, each.action, each.ticket) for each in told.notices) == sorted(
        [("bad", "reported", None), ("late", "reported", None), ("late", "reported", None)]
    )
    assert [each.contract for each in asked] == ["bad"]


@requirement("S-TELL-12", "S-STRAT-07")
def test_the_end_is_told_once() -> None:
    """What stays unfulfilled is told when the session ends, as such; what observes is not."""
    told, everything, asked = Told(), Told(), list[Violation]()
    rules = [
        contract("own").guarantees(audit_after("drop", "log")),
        contract("asked").guarantees(audit_after("drop", "mail")).strategy(asked.append),
        contract("kept").guarantees(audit_after("other", "log")),
        contract("seen").guarantees(audit_after("drop", "log")).observe(),
    ]
    rules[0] = rules[0].strategy({"escalate": {"notify": [told]}})
    session = Guard(rules, notify=[everything]).session("s")
    session.settle(session.decide("drop").id)
    left = [session.finish() for _ in range(2)]
    assert [each.contract for each in left[0]] == ["own", "asked", "seen"]
    assert drain(SECONDS)
    assert [(each.contract, each.action, each.message) for each in everything.notices] == [
        (each.contract, "unfulfilled", each.message) for each in left[0][:2]
    ]
    assert told.notices == everything.notices[:1]
    assert (told.notices[0].tool, told.notices[0].call, told.notices[0].position) == (None, "", 1)
    assert [(each.contract, each.action) for each in asked] == [("asked", "reported")]


def test_a_restored_end_is_not_told_again() -> None:
    """A session that had ended has told it; one that goes on tells it when it ends."""
    told = Told()
    guard = Guard([contract("own").guarantees(audit_after("drop", "log"))], notify=[told])
    session = guard.session("s")
    session.settle(session.decide("drop").id)
    going = session.snapshot()
    session.finish()
    assert drain(SECONDS)
    assert len(told.notices) == 1
    guard.restore(session.snapshot()).finish()
    assert drain(SECONDS)
    assert len(told.notices) == 1
    guard.restore(going).finish()
    assert drain(SECONDS)
    assert len(told.notices) == 2


def test_the_notifiers_of_an_answer_are_told() -> None:
    """A callable that answers with escalate and notifiers has them told."""
    told = Told()

    def ask(_: Violation) -> object:
        return {"escalate": {"roles": ["owner"], "notify": [told]}}

    session = Guard([contract("few").guarantees(rate_limit("pay", 0)).strategy(ask)]).session()
    outcome = pay(session)
    session.approve(outcome.ticket, by="ann", role="owner")
    assert isinstance(pay(session), Allowed)
    assert drain(SECONDS)
    assert [(each.ticket, each.roles) for each in told.notices] == [(outcome.ticket.id, ("owner",))]


@requirement("S-TELL-02")
def test_held_responses_are_told() -> None:
    """A response that waits has a notice without a tool and without the text."""
    told = Told()
    rule = contract("discreet").guarantees(no_keywords(["secret"]))
    session = Guard([rule.strategy({"escalate": {"notify": told}})]).session()
    outcome = session.message("assistant", "the secret is cheese")
    assert isinstance(outcome, Held)
    assert drain(SECONDS)
    assert [(each.tool, each.ticket) for each in told.notices] == [(None, outcome.ticket.id)]
    assert "cheese" not in str(told.notices)


# --- apart from decisions, and from each other ----------------------------------------------------


def test_a_notifier_that_hangs_delays_nobody(gate: threading.Event) -> None:
    """Decisions, answers, other sessions and other notifiers go on as if it did not hang."""
    told = Told()
    guard = Guard([large(lambda _: gate.wait(), told)], notify=[lambda _: gate.wait()])
    first, second = guard.session(), guard.session()
    started = time.monotonic()
    for n in range(50):
        held = pay(first, id=str(n))
        first.approve(held.ticket, by="ann")
        assert isinstance(pay(first, id=str(n)), Allowed)
        assert isinstance(pay(second, 5), Allowed)
        assert isinstance(pay(second, id=f"second {n}"), Held)
    assert not gate.is_set()
    while len(told.notices) < 100:
        assert time.monotonic() - started < SECONDS
        time.sleep(0.005)


def fails(_: Notice) -> None:
    raise OSError("no connection")


def leaves(_: Notice) -> None:
    raise SystemExit(1)


async def fails_later(_: Notice) -> None:
    await asyncio.sleep(0)
    raise OSError("no connection")


async def is_cancelled(_: Notice) -> None:
    raise asyncio.CancelledError


@requirement("S-TELL-06")
@pytest.mark.parametrize("notifier", [fails, leaves, fails_later, is_cancelled])
def test_a_notifier_that_raises_changes_nothing(
    notifier: Callable[[Notice], Any], caplog: pytest.LogCaptureFixture
) -> None:
    """The decision stands, the others are told, the failure is logged, and the next is tried."""
    before, after = Told(), Told()
    session = Guard([large(before, notifier, after)]).session()
    for id in "12":
        assert isinstance(pay(session, id=id), Held)
    assert drain(SECONDS)
    assert (
        [each.call for each in before.notices]
        == [each.call for each in after.notices]
        == ["1", "2"]
    )
    failures = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert failures == [f"notifier {notifier.__qualname__} failed"] * 2


@requirement("S-TELL-07")
def test_an_async_notifier_is_awaited() -> None:
    """A coroutine function is a notifier like any other; it runs to its end."""
    told: list[str] = []
    decided = threading.Event()

    async def notify(notice: Notice) -> None:
        await asyncio.to_thread(decided.wait, SECONDS)
        told.append(notice.call)

    session = Guard([large(notify)]).session()
    pay(session, id="1")
    assert told == []
    decided.set()
    assert drain(SECONDS)
    assert told == ["1"]


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_notifier_may_answer_from_inside(how: str) -> None:
    """A notifier that approves at once calls the session back, and there is no deadlock."""
    sessions: dict[str, Session] = {}

    def approve(notice: Notice) -> None:
        session = sessions[notice.session]
        assert notice.ticket is not None
        assert isinstance(pay(session, id=notice.call), Held)
        session.approve(notice.ticket, by="a program")
        pay(session, 5)
        session.snapshot()
        session.settle("none")

    async def approve_later(notice: Notice) -> None:
        await asyncio.sleep(0)
        approve(notice)

    guard = Guard([large(approve if how == "sync" else approve_later)])
    for name in ("a", "b"):
        sessions[name] = guard.session(name)
        assert isinstance(pay(sessions[name], id="1"), Held)
    assert drain(SECONDS)
    for session in sessions.values():
        assert isinstance(pay(session, id="1"), Allowed)


def test_a_notifier_may_ask_the_guard_for_the_next_decision() -> None:
    """A notifier whose own call is held is told of that too, without end, while others decide."""
    session: Session
    told = Told(lambda notice: pay(session, id=f"{notice.call}.") if len(notice.call) < 20 else 0)
    session = Guard([large(told)]).session()
    pay(session, id="1")
    assert drain(SECONDS)
    assert len(told.notices) == 20


@requirement("S-TELL-09")
def test_a_full_mailbox_drops_what_does_not_fit(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A notifier that is too slow loses notices, which the log says; decisions are not held up."""
    monkeypatch.setattr(notices, "MAILBOX_CAP", 3)
    slow, quick = Told(lambda _: gate.wait()), Told()
    session = Guard([large(slow)], notify=[quick]).session()
    started = time.monotonic()
    while len(slow.notices) < 1:
        pay(session, id="first")
        assert time.monotonic() - started < SECONDS
        time.sleep(0.001)
    for n in range(10):
        assert isinstance(pay(session, id=str(n)), Held)
        while len(quick.notices) < n + 2:
            time.sleep(0.001)
    dropped = [each for each in caplog.messages if "too slow" in each]
    assert [each.split()[-1] for each in dropped] == ["1", "2", "4"]
    gate.set()
    assert drain(SECONDS)
    assert [each.call for each in slow.notices] == ["first", "0", "1", "2"]
    assert len(session.tickets()) == 11


@requirement("S-TELL-08")
def test_one_notifier_is_told_one_after_another() -> None:
    """Notices arrive in order, never two at once, whatever the threads that decide."""
    inside, most, order = [0], [0], list[int]()

    def notify(notice: Notice) -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.001)
        order.append(int(notice.call))
        inside[0] -= 1

    session = Guard([large(notify)]).session()
    for n in range(30):
        pay(session, id=str(n))
    assert drain(SECONDS)
    assert (most, order) == ([1], list(range(30)))


def test_a_mailbox_that_is_not_used_has_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread of a mailbox ends when it has had nothing to do for a while, and starts again."""
    monkeypatch.setattr(outbox, "IDLE_SECONDS", 0.01)
    told = Told()
    box = Mailbox(told, "resting")
    example = Notice("s", "c", "t", "1", 0, "held", "m")

    def alive() -> bool:
        return any("resting" in thread.name for thread in threading.enumerate())

    started = time.monotonic()
    for n in (1, 2):
        box.post(example)
        assert drain(SECONDS)
        assert len(told.notices) == n
        while alive():
            assert time.monotonic() - started < SECONDS
            time.sleep(0.005)


def test_without_threads_decisions_go_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If no thread can be started, the decision stands, and the next notice tries again."""
    told = Told()
    session = Guard([large(told)]).session()

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        assert isinstance(pay(session, id="1"), Held)
    assert "has no thread" in caplog.text
    assert isinstance(pay(session, id="2"), Held)
    assert drain(SECONDS)
    assert [each.call for each in told.notices] == ["1", "2"]


def test_what_a_notifier_raises_is_logged_without_the_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The log of a failed notifier has its name and its error, and nothing of the arguments."""
    caplog.set_level(logging.DEBUG)
    pay(Guard([large(fails)]).session())
    assert drain(SECONDS)
    assert "OSError: no connection" in caplog.text
    assert "confidential" not in caplog.text


PROGRAM = """
    import os, sys, time
    from sponsio_like import Guard, contract
    from sponsio_like.notices import drain
    from sponsio_like.patterns import rate_limit

    def notify(notice):
        time.sleep(0.05)
        os.write(1, f"{notice.call} ".encode())

    none = contract("none").guarantees(rate_limit("pay", 0))
    session = Guard([none.strategy({"escalate": {"notify": notify}})]).session()
"""


def output(program: str) -> list[str]:
    """What a program prints that goes on after `PROGRAM`."""
    source = textwrap.dedent(PROGRAM) + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", source], check=True, capture_output=True, text=True
    )
    return done.stdout.split()


def test_notices_on_their_way_get_time_at_the_end() -> None:
    """A process that ends waits a few seconds for notices that have not been delivered."""
    assert output("session.decide('pay', id='1'); session.decide('pay', id='2')") == ["1", "2"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_tells_its_own_notices() -> None:
    """A worker that was forked has none of its parent's threads; its notices are delivered too."""
    forked = """
        session.decide('pay', id='parent')
        drain(5)
        if os.fork() == 0:
            session.decide('pay', id='child')
            drain(5)
            os._exit(0)
        os.wait()
    """
    assert output(forked) == ["parent", "child"]


def test_a_cooldown_is_not_disturbed_by_notifiers() -> None:
    """Notifiers take no time of the session: its clock is asked by decisions alone."""
    clock, told = Clock(), Told()
    rule = contract("calm").guarantees(cooldown("pay", seconds=5))
    session = Guard([rule.strategy({"escalate": {"notify": told}})]).session(clock=clock)
    assert isinstance(session.decide("pay"), Allowed)
    clock.now = 4
    assert isinstance(session.decide("pay"), Held)
    clock.now = 5
    assert isinstance(session.decide("pay"), Allowed)
    assert drain(SECONDS)
    assert json.dumps([each.call for each in told.notices]).count("auto-") == 1
