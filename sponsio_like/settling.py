"""What a result does to the clauses that wait for it, and what time does to those that are late.

In: a ledger, and what its clauses have read of a result. Out: the clauses that it shows to be
violated, each with its witness. The ledger is changed: nothing can be stopped any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from sponsio_like.compiler import LINEAGE
from sponsio_like.ledger import Ledger
from sponsio_like.tracking import expired, settled
from sponsio_like.watch import Change, Now, Witness

Results: TypeAlias = list[tuple[Change, Any]]


def apart(ledger: Ledger, results: Results) -> tuple[Results, Results]:
    """What contracts on the world wait for, and what all others do."""
    mine = [each for each in results if ledger.owner(each[0].clause) == LINEAGE]
    return [each for each in results if ledger.owner(each[0].clause) != LINEAGE], mine


def settle_all(
    ledger: Ledger, results: Iterable[tuple[Change, Any]], now: Now
) -> dict[int, Witness]:
    """A call has its result. The clauses that it shows to be violated."""
    known: dict[Any, Any] = {}
    found = [(each.clause, _settle(ledger, each, final, now, known)) for each, final in results]
    for i in {i: None for i, _ in found if i in ledger.bound}:
        ledger.rouse(i, ledger.last(i), now.time)
    return {i: witness for i, witness in reversed(found) if witness is not None}


def _settle(
    ledger: Ledger, change: Change, final: Any, now: Now, known: dict[Any, Any]
) -> Witness | None:
    i, clause = change.clause, ledger.policy.clauses[change.clause]
    if i in ledger.bound:
        place = (ledger.last(i), now, max(ledger.calls - 1, 0))
        bad, key = settled(clause, ledger.bound[i], change, final, place, known)
        return ledger.witness(i, key) if bad else None
    watch, last = ledger.known(i, change.key)
    seen = clause.settle(watch, change, final, last, now)
    ledger.store(i, change.key, seen.watch, last, now.time)
    return Witness() if seen.violated else None


def expire(ledger: Ledger, now: Now) -> dict[int, Witness]:
    """Time has come. The clauses of which something ran out between positions."""
    violated: dict[int, Witness] = {}
    for i, key in [name for name, due in ledger.alarms.items() if due < now.time]:
        clause = ledger.policy.clauses[i]
        if i in ledger.bound:
            last, call = ledger.last(i), max(ledger.calls - 1, 0)
            bad = expired(clause, ledger.bound[i], last, now, call)
            ledger.rouse(i, last, now.time)
            violated |= {i: ledger.witness(i, bad[0])} if bad else {}
            continue
        watch, last = ledger.known(i, key)
        seen = clause.expire(watch, last, now)
        ledger.store(i, key, seen.watch, last, now.time)
        violated |= {i: Witness()} if seen.violated else {}
    return violated
