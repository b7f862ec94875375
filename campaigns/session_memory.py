"""Measures what an open session keeps in memory: before its first call, and after two.

    python -m campaigns.session_memory [SESSIONS]

Under the policy of the benchmark. Out: bytes for each session, and the lines that took the most.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc

from campaigns.bench import ours
from campaigns.bench.workload import POLICY
from sponsio_like import Allowed, Session

LINES = 20
"""The lines that are shown."""


def two_calls(session: Session) -> None:
    """Decide and settle two calls."""
    for tool, args in (("verify_identity", {}), ("read_file", {"path": "x"})):
        outcome = session.decide(tool, args)
        assert isinstance(outcome, Allowed)
        session.settle(outcome.id, output="ok")


def main(count: int) -> None:
    """Print what is kept."""
    guard = ours.guard(POLICY)
    two_calls(guard.session())
    gc.collect()
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]
    kept = [guard.session() for _ in range(count)]
    gc.collect()
    opened = tracemalloc.get_traced_memory()[0]
    before = tracemalloc.take_snapshot()
    for session in kept:
        two_calls(session)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0]
    print(f"each of {count:,} sessions: {(opened - base) / count:,.0f} bytes")  # noqa: T201
    print(f"after two calls: {(used - base) / count:,.0f} bytes")  # noqa: T201
    for each in tracemalloc.take_snapshot().compare_to(before, "lineno")[:LINES]:
        place = each.traceback[0]
        size = each.size_diff / count
        print(f"{size:8,.0f}  {place.filename.rpartition('sponsio_like/')[2]}:{place.lineno}")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
