"""Settles clauses: by the result of a call that they wait for, or by time that has run out.

In: a ledger, and what its clauses have read of a result. Out: the clauses that are violated, each
with its witness. The ledger is changed: nothing can be stopped any more.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from sponsio_like.engine.ledger import Entry, Ledger
from sponsio_like.engine.open_call import keep_all
from sponsio_like.engine.per_value import expired, settle_values
from sponsio_like.engine.policy import LINEAGE
from sponsio_like.monitor import Change, Now, Witness

Results: TypeAlias = list[tuple[Change, Any]]


def split_world(ledger: Ledger, results: Results) -> tuple[Results, Results]:
    """Return the results that contracts on the world wait for, and those that
    all others wait for.
    """
    if ledger.counting is ledger.policy.counting_all:
        return [], results
    mine = [each for each in results if ledger.owner(each[0].clause) == LINEAGE]
    return [each for each in results if ledger.owner(each[0].clause) != LINEAGE], mine


def settle_all(ledger: Ledger, results: Results, now: Now) -> dict[int, Witness]:
    """Settle a call; return the clauses that its result shows to be violated.

    What may raise comes first, but for clauses with value variables.
    """
    if not results:
        return {}
    found: dict[int, Witness] = {}
    rests: list[Entry] = []
    crowds: dict[int, list[tuple[Change, Any]]] = {}
    for change, final in results:
        i = change.clause
        if i in ledger.stores:
            crowds.setdefault(i, []).append((change, final))
            continue
        before, last = ledger.known(i, change.key)
        state, violated = ledger.policy.clauses[i].settle(before, change, final, last, now)
        if state is not before:
            rests.append(ledger.rest(i, change.key, state, last, now.time))
        if violated:
            found[i] = Witness()
    half_written = ledger.half_written
    keep_all(ledger, rests)
    for i, crowd in crowds.items():
        clause, last = ledger.policy.clauses[i], ledger.last(i)
        place = (last, now, max(ledger.calls - 1, 0))
        bad, key = settle_values(clause, ledger.stores[i], crowd, place)
        ledger.reschedule_values(i, last, now.time)
        found |= {i: ledger.witness(i, key)} if bad else {}
    ledger.half_written = half_written
    return found


def expire(ledger: Ledger, now: Now) -> dict[int, Witness]:
    """Move the ledger to this time; return the clauses whose deadlines were violated."""
    violated: dict[int, Witness] = {}
    rung = [name for name, due in ledger.alarms.items() if due < now.time]
    if not rung:
        return violated
    ledger.half_written, before = True, ledger.half_written
    for i, key in rung:
        clause = ledger.policy.clauses[i]
        if i in ledger.stores:
            last, call = ledger.last(i), max(ledger.calls - 1, 0)
            bad = expired(clause, ledger.stores[i], last, now, call)
            ledger.reschedule_values(i, last, now.time)
            violated |= {i: ledger.witness(i, bad[0])} if bad else {}
            continue
        state, last = ledger.known(i, key)
        seen = clause.expire(state, last, now)
        ledger.store(i, key, seen.state, last, now.time)
        violated |= {i: Witness()} if seen.violated else {}
    ledger.half_written = before
    return violated
