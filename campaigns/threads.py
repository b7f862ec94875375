"""Measures decisions of many threads, on one session and on many, and checks that none is lost.

    python -m campaigns.threads [THREADS] [DECISIONS]

Out: a table of decisions in a second. Ends with status 1 if a cap lets through more or fewer calls
than it says, or if a call that was settled is not counted. Runs on a free-threaded Python, too.
"""

# ruff: noqa: T201 - the table is printed

from __future__ import annotations

import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sponsio_like import Allowed, Guard, Session, contract

SESSIONS = 1_000
CAP = 7


class Row(NamedTuple):
    """Decisions of so many threads on so many sessions; `wrong` counts sessions that lost one."""

    what: str
    threads: int
    decisions: int
    seconds: float
    wrong: int


def guard() -> Guard:
    """Return a guard: `pay` is capped, and `vet` has to have been done before."""
    return Guard(
        [
            contract("capped").guarantees(
                {"ltl": f"G(called(pay) -> count(called(pay)) <= {CAP})"}
            ),
            contract("vetted first").guarantees({"ltl": "G(called(pay) -> O done(vet))"}),
        ]
    )


def at_once(work: Callable[[int], None], threads: int) -> float:
    """Run `work` in so many threads, started together; return the seconds until all are done."""
    ready = threading.Barrier(threads + 1)

    def run(number: int) -> None:
        ready.wait()
        work(number)

    running = [threading.Thread(target=run, args=(n,)) for n in range(threads)]
    for each in running:
        each.start()
    ready.wait()
    start = time.perf_counter()
    for each in running:
        each.join()
    return time.perf_counter() - start


def measure(what: str, sessions: Sequence[Session], threads: int, decisions: int) -> Row:
    """Return how fast the threads decide; thread n takes every session in turn, beginning at n."""
    paid, asked = ([[0] * len(sessions) for _ in range(threads)] for _ in range(2))
    for session in sessions:
        vetted = session.decide("vet")
        assert isinstance(vetted, Allowed)
        session.settle(vetted.id, output="ok")

    def work(number: int) -> None:
        mine, wanted, turn = paid[number], asked[number], number
        for k in range(decisions):
            turn = (turn + 1) % len(sessions)
            outcome = sessions[turn].decide("pay" if k % 2 else "look")
            wanted[turn] += k % 2
            if isinstance(outcome, Allowed):
                mine[turn] += k % 2
                sessions[turn].settle(outcome.id, output="ok")

    seconds = at_once(work, threads)
    total = zip(map(sum, zip(*paid, strict=True)), map(sum, zip(*asked, strict=True)), strict=True)
    wrong = sum(let != min(CAP, wanted) for let, wanted in total)
    return Row(what, threads, threads * decisions, seconds, wrong)


def main(threads: int, decisions: int) -> int:
    """Print the table; return 1 if a decision was lost."""
    gil = "free-threaded" if sysconfig.get_config_var("Py_GIL_DISABLED") else "with its lock"
    print(f"Python {sys.version.split()[0]}, {gil}")
    rows = []
    for count in (1, threads):
        shared = guard()
        rows.append(measure("one session", [shared.session()], count, decisions))
        many = [shared.session() for _ in range(SESSIONS)]
        rows.append(measure(f"{SESSIONS:,} sessions", many, count, decisions))
    print("| sessions | threads | decisions | in a second | sessions with a wrong count |")
    print("| --- | --- | --- | --- | --- |")
    for each in rows:
        rate = f"{each.decisions / each.seconds:,.0f}"
        print(f"| {each.what} | {each.threads} | {each.decisions:,} | {rate} | {each.wrong} |")
    return int(any(each.wrong for each in rows))


if __name__ == "__main__":
    sys.exit(main(*(int(each) for each in (*sys.argv[1:3], "32", "5000")[:2])))
