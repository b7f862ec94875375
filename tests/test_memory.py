"""A session does not grow with its trace, and a decision does not take longer when the trace is long."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterator

from sponsio_like.contract import Contract
from sponsio_like.guard import Guard
from sponsio_like.pattern import Rule
from sponsio_like.session import Session
from sponsio_like.syntax import read

CALLS = 100_000
MEGABYTE = 1 << 20
TOOLS = ("check", "pay", "mail", "read", "write", "other", "search", "login", "shell", "logout")
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
)


def session() -> Session:
    """A session under contracts of every sort, but for those that remember values."""
    contracts = [Contract(text, (Rule(read(text)),)) for text in FORMULAS]
    times = iter(range(10**9))
    return Guard(contracts, mode="observe").session(clock=lambda: next(times) / 2)


def calls(number: int) -> Iterator[tuple[str, bool, bool]]:
    """Tool, whether it fails, and whether its result comes late: a mixture that does not repeat."""
    state = 1
    for _ in range(number):
        state = (state * 48271) % 0x7FFFFFFF
        yield TOOLS[state % 10], state % 7 == 0, state % 5 == 0


def play(watched: Session, number: int) -> None:
    """Let calls happen; every fifth one stays in flight while the next one is decided."""
    waiting: list[str] = []
    for tool, fails, late in calls(number):
        id = watched.decide(tool, {"n": 1}).id
        for each in waiting:
            watched.settle(each)
        waiting = [id] if late else []
        if not late:
            watched.settle(id, error="no" if fails else None)
    for each in waiting:
        watched.settle(each)


def test_memory_does_not_grow_with_the_trace() -> None:
    """100,000 calls in one session of eleven contracts grow its memory by less than a megabyte."""
    watched = session()
    play(watched, 3_000)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        play(watched, CALLS)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < MEGABYTE


def test_a_late_decision_takes_no_longer_than_an_early_one() -> None:
    """The time per call is flat: a decision never looks back over the trace."""
    watched = session()
    play(watched, 3_000)
    early = min(timed(watched) for _ in range(5))
    play(watched, 20_000)
    late = min(timed(watched) for _ in range(5))
    assert late < 2 * early


def test_a_snapshot_does_not_grow_with_the_trace() -> None:
    """What a session would write down of itself is as small after 20,000 calls as after 2,000."""
    watched = session()
    play(watched, 2_000)
    early = len(str(watched.snapshot()))
    play(watched, 20_000)
    assert len(str(watched.snapshot())) < 1.2 * early + 200


def timed(watched: Session) -> float:
    """Seconds of CPU for a thousand calls."""
    start = time.process_time()
    play(watched, 1_000)
    return time.process_time() - start
