"""Adds a call in flight to single clauses, in one pass.

In: a ledger, and what the clauses have read. Out: what they remember next, and what waits for the
result; or nothing, if a clause needs more than that: then `judge` says what it is.
Nothing changes until `keep_all`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sponsio_like.engine.automaton import has_many_parts
from sponsio_like.engine.ledger import Entry, Ledger
from sponsio_like.events import OPEN
from sponsio_like.monitor import (
    Change,
    ClauseState,
    Letter,
    PositionCounts,
    Read,
    TooManyBranches,
)


class Opened(NamedTuple):
    """The changes of some clauses by a call in flight, and those that wait for its result."""

    rests: list[Entry]
    waits: list[Change]


STILL_CAP = 4_096
"""Most states of one clause of which it is remembered that a call leaves them as they are."""
NOTHING_OPENED = Opened([], [])
"""The changes of no clause at all."""


def open_clauses(ledger: Ledger, reads: Iterable[Read], time: float) -> Opened | None:
    """Return what a call in flight changes in these clauses; None as `open_clause` says."""
    found = Opened([], [])
    for each in reads:
        if not open_clause(ledger, *each, time, found):
            return None
    return found


def open_clause(
    ledger: Ledger,
    i: int,
    letter: Letter,
    key: Any,
    time: float,
    into: tuple[list[Entry], list[Change]],
    still: dict[Any, ClauseState] | None = None,
) -> bool:
    """Add what a call in flight changes in one clause, and whether that waits for the result.

    Return False if the clause has value variables, is violated, or has no room. `still`: the states
    that such a call leaves as they are, and that nothing waits for, by identity and letter; this
    one is added. Only for clauses with remembered steps, which say nothing of positions.
    """
    clause, positions = ledger.policy.clauses[i], ledger.positions
    if clause.bindings is not None:
        return False
    if clause.by:
        if key is None or (key not in ledger.keyed[i] and ledger.is_full(i)):
            return False
        before, length = ledger.keyed[i].get(key) or (clause.start, 0)
        at = PositionCounts(length, length)
    else:
        seen, counted = ledger.counters[i]
        before, at = ledger.states[i], PositionCounts(positions[seen], positions[counted])
    try:
        state, violated = clause.step(before, letter, "call", at, time)
    except TooManyBranches:
        return False
    if violated:
        return False
    awaits = OPEN in letter and clause.awaits(state, at)
    if awaits:
        into[1].append(Change(i, key, at, None, letter))
    elif still is not None and state is before and _has_room(still, before):
        still[id(before), letter] = before
    if state is not before or clause.by or i in ledger.wakes:
        into[0].append(ledger.rest(i, key, state, at, time))
    return True


def _has_room(still: Mapping[Any, ClauseState], state: ClauseState) -> bool:
    return len(still) < STILL_CAP and not has_many_parts(state)


def keep_all(ledger: Ledger, rests: Iterable[Entry]) -> None:
    """Let clauses remember this. Leaves the ledger `half_written`, which the caller undoes."""
    ledger.half_written = True
    for rest in rests:
        ledger.keep(*rest)
