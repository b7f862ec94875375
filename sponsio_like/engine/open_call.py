"""Lets a call through as one in flight, and takes its status, in one pass each.

In: a ledger, and what the clauses have read. Out: what they remember next, and what waits for the
result; or nothing, if a clause needs more than that: then `judge` and `settle_all` say what it is.
Nothing changes until `keep_all`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sponsio_like.engine.ledger import Ledger, Rest
from sponsio_like.events import OPEN, Result
from sponsio_like.monitor import Change, Now, PositionCounts, Read, TooManyBranches


class Begun(NamedTuple):
    """The changes that a call in flight makes, and those of them that wait for its result."""

    rests: list[Rest]
    waits: tuple[Change, ...]


def begin(ledger: Ledger, reads: Iterable[Read], time: float) -> Begun | None:
    """Return what a call in flight changes.

    None if a clause has value variables, is violated, or has no room.
    """
    rests: list[Rest] = []
    waits: list[Change] = []
    clauses, positions = ledger.policy.clauses, ledger.positions
    for i, letter, key in reads:
        clause = clauses[i]
        if clause.bound is not None:
            return None
        if clause.by:
            if key is None or (key not in ledger.keyed[i] and ledger.is_full(i)):
                return None
            before, length = ledger.keyed[i].get(key) or (clause.start, 0)
            at = PositionCounts(length, length)
        else:
            seen, counted = ledger.counters[i]
            before, at = ledger.watches[i], PositionCounts(positions[seen], positions[counted])
        try:
            watch, violated = clause.step(before, letter, "call", at, time)
        except TooManyBranches:
            return None
        if violated:
            return None
        if OPEN in letter:
            waits.append(Change(i, key, at, None, letter))
        rests.append(ledger.rest(i, key, watch, at, time))
    return Begun(rests, tuple(waits))


def take_status(
    ledger: Ledger, waits: Iterable[Change], result: Result, tool: str, now: Now
) -> list[Rest] | None:
    """Return what a result changes of which the clauses read no more than the status.

    None if a clause has value variables, or if the result shows a violation.
    """
    rests: list[Rest] = []
    clauses = ledger.policy.clauses
    for change in waits:
        i, clause = change.clause, clauses[change.clause]
        if clause.bound is not None:
            return None
        final = clause.results(change.letter, result, tool)
        before, last = ledger.known(i, change.key)
        watch, violated = clause.settle(before, change, final, last, now)
        if violated:
            return None
        rests.append(ledger.rest(i, change.key, watch, last, now.time))
    return rests


def count_call(ledger: Ledger, rests: Iterable[Rest]) -> None:
    """Count one more call, after which clauses remember this. Leaves the ledger `torn`."""
    keep_all(ledger, rests)
    ledger.passed += 1
    ledger.calls += 1
    positions = ledger.positions
    for counter in ledger.policy.call_counters:
        positions[counter] += 1


def keep_all(ledger: Ledger, rests: Iterable[Rest]) -> None:
    """Let clauses remember this. Leaves the ledger `torn`, which the caller undoes."""
    ledger.torn = True
    for rest in rests:
        ledger.keep(*rest)
