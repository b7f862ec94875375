"""A session does not grow with its trace, and no decision takes more work when it is long."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract
from sponsio_like.guard.guard import Guard
from sponsio_like.monitor.owed import KNOWN
from sponsio_like.monitor.residual import alone, one, without_bounds
from sponsio_like.session.session import Session
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement
from tests.support.costs import work

CALLS = 5_000
WARM = 4_000
SHORT = 500
MEGABYTE = 1 << 20
GROWTH = 4_000
"""Fewer blocks than calls: one that each call leaves behind is too much."""
TOOLS = (
    *("check", "pay", "mail", "read", "write", "search", "login", "shell", "logout"),
    *("list", "open", "close", "wait", "note", "plan", "copy", "move", "print", "sort"),
)
FORMULAS = (
    "G(called(pay) -> Y O done(check))",
    "G(done(pay) -> X F done(mail))",
    "G(called(pay) -> X F[<=20] called(mail))",
    "G(called(pay) -> count(called(pay)) <= 1000000)",
    "G(called(shell) -> count[<=10](called(shell)) <= 5)",
    "G(called(write) -> since(called(read)) <= 5)",
    "G(called(write) -> !Y O[<=2] failed(write))",
    "G(called(login) -> WX(!called(login) W called(logout)))",
    "G(called(mail) -> count(called(mail) since called(login)) <= 3)",
    "F called(logout) & G(called(logout) -> !Y called(shell))",
    "G(called(search) -> count[<=60s](called(search)) <= 10)",
    "G(called(pay) -> count(done(list) since done(login)) <= 1000000)",
)


class Long(NamedTuple):
    """A long session.

    How many functions a stretch of calls calls at first and at last, blocks of memory before and
    after, snapshots.
    """

    work: tuple[int, int]
    before: int
    after: int
    snapshots: tuple[int, int]
    session: Session


def opened() -> Session:
    """A session under contracts of every sort, but for those that remember values."""
    contracts = [Contract(text, (Rule(read(text)),)) for text in FORMULAS]
    times = iter(range(10**9))
    return Guard(contracts, mode="observe").session(clock=lambda: next(times) / 2)


def calls(number: int) -> Iterator[tuple[str, bool, bool]]:
    """Tool, whether it fails, and whether its result comes late: a mixture that does not repeat."""
    state = 1
    for _ in range(number):
        state = (state * 48271) % 0x7FFFFFFF
        yield TOOLS[state % len(TOOLS)], state % 7 == 0, state % 5 == 0


def play(session: Session, number: int) -> None:
    """Let calls happen; every fifth one stays in flight while the next one is decided."""
    waiting: list[str] = []
    for tool, fails, late in calls(number):
        id = session.decide(tool, {"n": 1}).id
        for each in waiting:
            session.settle(each)
        waiting = [id] if late else []
        if not late:
            session.settle(id, error="no" if fails else None)
    for each in waiting:
        session.settle(each)


def forget() -> None:
    """Empty what is bounded, and of all sessions together."""
    KNOWN.clear()
    for each in (without_bounds, one, alone):
        each.cache_clear()


def blocks() -> int:
    """How many blocks of memory Python's objects take, however they are reached.

    Without those of what is remembered for all sessions together, which is bounded.
    """
    forget()
    gc.collect()
    return sys.getallocatedblocks()


@pytest.fixture(scope="module")
def long() -> Long:
    """A session of 5,000 calls, after a warm-up that fills what all sessions remember."""
    session = opened()
    play(session, WARM)
    first = len(str(session.snapshot()))
    early = work(lambda: play(session, SHORT))
    before = blocks()
    play(session, CALLS)
    late = work(lambda: play(session, SHORT))
    last = len(str(session.snapshot()))
    return Long((early, late), before, blocks(), (first, last), session)


@pytest.mark.long
@requirement("S-FAIL-06")
def test_memory_does_not_grow_with_the_trace(long: Long) -> None:
    """Of 5,000 calls under twelve contracts not four fifths leave one block of memory behind."""
    assert long.after - long.before < GROWTH


@pytest.mark.long
def test_allocations_are_given_back(long: Long) -> None:
    """Of what another thousand calls allocate, next to nothing is kept."""
    tracemalloc.start()
    try:
        play(long.session, 1_000)
        forget()
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < MEGABYTE / 20


@pytest.mark.long
def test_a_late_decision_takes_no_more_work_than_an_early_one(long: Long) -> None:
    """The work of a call is flat: a decision never looks back over the trace."""
    early, late = long.work
    assert late < 1.05 * early


@pytest.mark.long
def test_a_snapshot_does_not_grow_with_the_trace(long: Long) -> None:
    """What a session writes down of itself is as small after 9,000 calls as after 4,000."""
    first, last = long.snapshots
    assert last < first + 500
