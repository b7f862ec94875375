"""Any number of threads or tasks may decide on one session; a cap of 5 lets exactly 5 through."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import MagicMock

import pytest

from sponsio_like import atom, contract
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract
from sponsio_like.engine import judgement as judging
from sponsio_like.events import CUSTOM
from sponsio_like.guard.guard import Guard
from sponsio_like.logic.formula import Always, Compare, Const, Count, Happens, Implies, Match
from sponsio_like.monitor.state import Judgement
from sponsio_like.outcome import Allowed, Blocked, Outcome
from sponsio_like.session import user_code as perceiving
from sponsio_like.session.interceptor import TRIES
from sponsio_like.session.session import Session
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement

THREADS = 32
DECISIONS = 500
CAP = 5
EAGER = 100
"""So many decisions of each thread give way between asking and committing; others run freely."""
PAUSE = 1e-5
"""How long they give way, in seconds: every other thread that is ready runs before."""


def called(tool: str) -> Happens:
    """`called(tool)`"""
    return Happens("called", (Match((tool,)),))


def capped(limit: int = CAP) -> Session:
    """A session in which `pay` may be called so many times."""
    pay = called("pay")
    rule = Rule(Always(Implies(pay, Compare(Count(pay), "<=", Const(limit)))))
    return Guard([Contract("few payments", (rule,))]).session()


@pytest.fixture(autouse=True)
def _switching_often() -> Iterator[None]:
    """The interpreter offers to switch threads often, between any two instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-3)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(autouse=True)
def _giving_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every thread gives way between asking (`judge`) and committing, on its first decisions."""
    judge = judging.judge
    turns = threading.local()

    def judge_and_give_way(*args: Any) -> Judgement:
        judgement = judge(*args)
        turns.taken = getattr(turns, "taken", 0) + 1
        if turns.taken <= EAGER:
            time.sleep(PAUSE)
        return judgement

    monkeypatch.setattr(perceiving, "judge", judge_and_give_way)


def at_once(work: Callable[[int], None]) -> None:
    """Run `work` in all threads, started together. What one of them raises is raised."""
    ready = threading.Barrier(THREADS)
    raised: list[BaseException] = []

    def run(number: int) -> None:
        ready.wait()
        try:
            work(number)
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def passes(session: Session) -> bool:
    """Whether one more `pay` is let through."""
    return isinstance(session.decide("pay"), Allowed)


def decided_in_threads(session: Session, decisions: int = EAGER) -> list[bool]:
    """What so many decisions of each thread come to."""
    passed: list[bool] = []
    at_once(lambda _: passed.extend(passes(session) for _ in range(decisions)))
    return passed


def decided_in_tasks(session: Session) -> list[bool]:
    """What 20 decisions of each of 10 tasks come to, in the event loop of every thread."""
    passed: list[bool] = []

    async def task() -> None:
        for _ in range(20):
            passed.append(passes(session))
            await asyncio.sleep(0)

    async def tasks() -> None:
        await asyncio.gather(*(task() for _ in range(10)))

    at_once(lambda _: asyncio.run(tasks()))
    return passed


@requirement("S-DECIDE-06")
def test_of_all_threads_together_exactly_five_calls_are_let_through() -> None:
    """32 threads that decide 500 times each under a cap of 5 get exactly 5 calls allowed."""
    passed = decided_in_threads(capped(), DECISIONS)
    assert len(passed) == THREADS * DECISIONS
    assert sum(passed) == CAP


@requirement("S-DECIDE-06")
def test_of_all_tasks_together_exactly_five_calls_are_let_through() -> None:
    """Async tasks that share a session, in several threads at once, get exactly 5 calls allowed."""
    passed = decided_in_tasks(capped())
    assert len(passed) == THREADS * 200
    assert sum(passed) == CAP


@requirement("S-DECIDE-06")
@pytest.mark.parametrize("told", ["a fact", "a result", "tokens"])
def test_what_is_told_while_an_atom_is_asked_counts_for_the_decision(
    told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While an atom of the user is asked, another thread tells something by which no `pay` may run,
    and then opens it by `approve`: at no moment could it run.
    """
    monkeypatch.setattr("sponsio_like.events.registry.CUSTOM", dict(CUSTOM))
    formulas = {
        "a fact": 'ctx(stage) = "open"',
        "a result": "delivered(fetch) <= 0",
        "tokens": "tokens() <= 5",
    }
    meanwhile = list[Callable[[], None]]()

    @atom("slow")
    def _slow(_event: Any, _context: Any) -> bool:
        while meanwhile:
            thread = threading.Thread(target=meanwhile.pop())
            thread.start()
            thread.join()
        return True

    rule = f"G(called(pay) -> slow() & Y O done(approve) & {formulas[told]})"
    session = Guard([contract("x").guarantees(read(rule))]).session()
    session.fact("stage", "open")
    fetch = session.decide("fetch")

    def closed_then_approved() -> None:
        match told:
            case "a fact":
                session.fact("stage", "closed")
            case "a result":
                session.settle(fetch.id, output="x")
            case _:
                session.message("user", "hello", usage={"total_tokens": 9})
        session.settle(session.decide("approve").id, output="ok")

    assert isinstance(session.decide("pay"), Blocked)
    meanwhile.append(closed_then_approved)
    assert isinstance(session.decide("pay"), Blocked)
    assert not meanwhile
    assert isinstance(session.decide("pay"), Blocked)


def test_an_atom_may_tell_a_new_fact_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call is read some times more, and then decided."""
    monkeypatch.setattr("sponsio_like.events.registry.CUSTOM", dict(CUSTOM))
    told = list[int]()

    @atom("counts")
    def _counts(_event: Any, _context: Any) -> bool:
        told.append(len(told))
        session.fact("asked", len(told))
        return True

    session = Guard([contract("x").guarantees(read("G(called(pay) -> counts())"))]).session()
    assert isinstance(session.decide("pay"), Allowed)
    assert len(told) == TRIES


@pytest.mark.long
@pytest.mark.parametrize("decided", [decided_in_threads, decided_in_tasks])
def test_without_the_lock_more_calls_are_let_through(
    decided: Callable[[Session], list[bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the lock that does it: the same decisions without it let more than 5 calls through."""
    session = capped()
    monkeypatch.setattr(session._inner, "lock", MagicMock())
    lanes = session.policy.lanes
    lane = lanes["pay"]

    def checked(*asked: Any) -> Any:
        found = lane.check(*asked)
        time.sleep(0)  # another thread may go on between asking and counting
        return found

    monkeypatch.setitem(lanes, "pay", replace(lane, check=checked))
    assert sum(decided(session)) > CAP


def test_an_id_decided_in_all_threads_at_once_is_one_call() -> None:
    """Deciding an open id again gives the first answer and counts nothing, in any thread."""
    session = capped()
    outcomes: list[Outcome] = []
    at_once(lambda _: outcomes.extend(session.decide("pay", id=f"{n}") for n in range(CAP)))
    assert all(isinstance(each, Allowed) for each in outcomes)
    assert len(outcomes) == THREADS * CAP
    assert not isinstance(session.decide("pay", id="another"), Allowed)


def test_settling_in_all_threads_counts_every_result_once() -> None:
    """Calls decided and settled in any thread, in any order, are all counted as done, each once."""
    pay, done = called("report"), Happens("done", (Match(("pay",)),))
    total = THREADS * 8
    exactly = Rule(Always(Implies(pay, Compare(Count(done), "=", Const(total)))))
    session = Guard([Contract("all were done", (exactly,))]).session()

    def work(number: int) -> None:
        for k in range(8):
            session.decide("pay", id=f"{number}-{k}")
        for k in reversed(range(8)):
            session.settle(f"{number}-{k}")
            session.settle(f"{number}-{k}")

    at_once(work)
    assert isinstance(session.decide("report"), Allowed)


def test_sessions_of_one_guard_do_not_share_their_counts() -> None:
    """A guard is shared, a session is not: each thread's own session has its own cap."""
    pay = called("pay")
    rule = Rule(Always(Implies(pay, Compare(Count(pay), "<=", Const(CAP)))))
    guard = Guard([Contract("few payments", (rule,))])
    counts: list[int] = []

    def work(_: int) -> None:
        session = guard.session()
        counts.append(sum(passes(session) for _ in range(50)))

    at_once(work)
    assert counts == [CAP] * THREADS
