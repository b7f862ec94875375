"""Judges an event before it is let through, one clause after the other.

In: a ledger, and what its clauses have read of the event. Out: a `Judgement`; the ledger stays as
it is until that is committed. A clause that raises stops no other clause.
"""

from __future__ import annotations

from collections.abc import Iterable

from sponsio_like.engine.clause import Clause
from sponsio_like.engine.ledger import Ledger
from sponsio_like.engine.per_value import tracked
from sponsio_like.events import Call, Event, kind_of
from sponsio_like.monitor import (
    BoundLetters,
    Change,
    ClauseState,
    Judgement,
    PositionCounts,
    Read,
    Witness,
)

Found = tuple[tuple[Change, ...], Witness | None]
"""The changes of a clause, and its witness if it is violated."""


def judge(ledger: Ledger, event: Event, reads: Iterable[Read], time: float) -> Judgement:
    """Return what letting this event through would change, and the clauses that
    it would violate.
    """
    changes: list[Change] = []
    failed: list[tuple[int, Exception]] = []
    witnesses: dict[int, Witness] = {}
    for read in reads:
        try:
            more, witness = _judged(ledger, read, event, time)
        except Exception as error:  # this clause answers for itself; the others go on
            failed.append((read.clause, error))
            continue
        changes += more
        if witness is not None:
            witnesses[read.clause] = witness
    kind, violated = kind_of(event), tuple(witnesses)
    return Judgement(kind, tuple(changes), violated, tuple(failed), time, witnesses)


def _judged(ledger: Ledger, read: Read, event: Event, time: float) -> Found:
    i, clause = read.clause, ledger.policy.clauses[read.clause]
    if clause.bindings is not None:
        return _tracked(ledger, i, read.key, event, time)
    place = _place(ledger, clause, read)
    if place is None:
        return (), Witness() if clause.can_break(event) else None
    state, at = place
    seen = clause.step(state, read.letter, kind_of(event), at, time)
    change = Change(i, read.key, at, seen.state, read.letter)
    return (change,), Witness() if seen.violated else None


def _tracked(ledger: Ledger, i: int, reading: BoundLetters, event: Event, time: float) -> Found:
    clause, store = ledger.policy.clauses[i], ledger.stores[i]
    found = tracked(i, clause, store, reading, event, ledger.next(i), time)
    full = found.full and not (store.blind and ledger.policy.observes(i))
    if not (found.violated or full):
        return found.changes, None
    return found.changes, ledger.witness(i, found.binding, full=not found.violated)


def _place(ledger: Ledger, clause: Clause, read: Read) -> tuple[ClauseState, PositionCounts] | None:
    """Return the state to step and its next position.

    None for a call without a key, or without room for it.
    """
    i = read.clause
    if not clause.by:
        return ledger.states[i], ledger.next(i)
    if read.key is None:
        return None
    monitors = ledger.keyed[i]
    if read.key not in monitors and ledger.is_full(i):
        return None
    state, length = monitors.get(read.key) or (clause.start, 0)
    return state, PositionCounts(length, length)


def witnesses(ledger: Ledger, violated: Iterable[int], call: Call) -> dict[int, Witness]:
    """Return the witness of each clause that this call violates."""
    found: dict[int, Witness] = {}
    for i in violated:
        keys = ledger.keys_of(i, call)
        found[i] = ledger.witness(i, keys[0] if keys else None)
    return found
