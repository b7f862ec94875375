"""Runs the code of users that a decision needs: atoms, and the clock. No lock is held meanwhile.

In: an event, or a result. Out: `EventReading`: what the clauses read in it, and when; clauses whose
atoms raise count as unreadable. Then, under the lock, the judgement by the clauses that still
concern the event.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Container, Iterable
from typing import Any, NamedTuple

from sponsio_like.engine import (
    OTHERS,
    FinalValues,
    Finding,
    Ledger,
    Policy,
    judge,
    unlisted_call,
    unreadable,
)
from sponsio_like.events import Context, Event, Result
from sponsio_like.monitor import Change, Crowd, Judgement, Read, Revealed, TextKeys
from sponsio_like.values import Effort

MACHINE = time.time
"""The clock of the machine."""


class EventReading(NamedTuple):
    """The letters that clauses read of an event, and the time.

    `touched`: the clauses that had to see it; `context`: what the host had told by then.
    """

    event: Event
    touched: list[int]
    reads: list[Read]
    failed: list[Finding]
    time: float
    context: Context
    spent: bool = False
    """True if it was too much work to read all of it."""
    stands: bool = False
    """True if it counts although the host has told something meanwhile."""


def read_event(
    ledger: Ledger, event: Event, touched: list[int], context: Context, position: int
) -> tuple[list[Read], list[Finding], bool]:
    """Return what every touched clause reads, and what stands against the event before any judges.

    That is the inventory, and clauses that cannot be read, because an atom raised. And True if it
    was too much work to read all of the event.
    """
    reads: list[Read] = []
    outside = unlisted_call(ledger.policy, event, position)
    failed = [] if outside is None else [outside]
    with Effort() as effort:
        for i in touched:
            try:
                reads.append(ledger.read(i, event, context))
            except Exception as error:  # an atom is user code; a clause that cannot be read blocks
                failed.append(unreadable(ledger.policy, i, event, position, error))
    return reads, failed, effort.spent


def judge_event(
    ledger: Ledger, seen: EventReading, counted: Container[int], time: float, position: int
) -> tuple[Judgement, list[Finding]]:
    """Return what the event would change, but for clauses that have `counted` it already."""
    reads = [each for each in seen.reads if each.clause not in counted]
    judgement = judge(ledger, seen.event, reads, time)
    failed = [each for each in seen.failed if each.clause not in counted]
    for i, error in judgement.failed:
        failed.append(unreadable(ledger.policy, i, seen.event, position, error))
    return judgement, failed


def read_results(
    policy: Policy, waits: Iterable[Change], result: Result, tool: str
) -> list[tuple[Change, Any]]:
    """Return what the clauses read in the result, and that for each value that it binds, too."""
    clauses, crowds, found = policy.clauses, list[Change](), list[tuple[Change, Any]]()
    known: dict[int, set[Any]] = {}
    for each in waits:
        if clauses[each.clause].bindings is None:
            found.append((each, read_result(policy, each, result, tool)))
        else:
            crowds.append(each)
            known.setdefault(each.clause, set()).add(each.key)
    read: dict[tuple[int, int], Revealed] = {}
    for change in crowds:
        bindings = clauses[change.clause].bindings
        assert bindings is not None
        name = (change.clause, id(change.letter))  # many values share one letter
        if name not in read:
            base = read_result(policy, change, result, tool)
            read[name] = bindings.settled(change.letter, result, base, change.given)
        revealed = read[name]
        if change.key != OTHERS:
            found.append((change, revealed.of(change.key)))
            continue
        if isinstance(revealed.keys, TextKeys):
            key = (revealed.keys.words.example(),)
            found.append((change._replace(key=revealed.keys), revealed.of(key)))
            new = []
        else:
            new = [key for key in revealed.keys if key not in known[change.clause]]
        if revealed.alike and len(new) > 1:
            found.append((change._replace(key=Crowd(new)), revealed.of(new[0])))
        else:
            found += [(change._replace(key=key), revealed.of(key)) for key in new]
        found.append(
            (
                change,
                FinalValues(revealed.others, revealed.of) if revealed.apart else revealed.others,
            )
        )
    return sorted(found, key=lambda each: each[0].key == OTHERS) if crowds else found


def read_result(policy: Policy, change: Change, result: Result, tool: str) -> dict[int, Any]:
    """Return what the clause reads in the result; where an atom raises, the values that violate."""
    clause = policy.clauses[change.clause]
    try:
        return clause.results(change.letter, result, tool)
    except Exception:  # an atom is user code; the result has to be taken all the same
        return clause.worst(change.letter)


def time_of(clock: Callable[[], float]) -> float:
    """Return the time. Raises `ValueError` for NaN or infinity: they would
    disarm every time bound.
    """
    now = float(clock())
    if not math.isfinite(now):
        raise ValueError(f"the clock says {now}")
    return now


def ticking(clock: Callable[[], float]) -> Callable[[], float]:
    """Return a clock that only says finite floats, as that of the machine does; it raises
    `ValueError` where this clock says anything else.
    """

    def tick() -> float:
        now = clock()
        if type(now) is not float or now - now != 0.0:
            raise ValueError(f"the clock says {now}")
        return now

    return clock if clock is MACHINE else tick


def time_or_last(clock: Callable[[], float], otherwise: float) -> float:
    """Return the time, or `otherwise` if the clock fails: for where nothing can be refused any
    more.
    """
    try:
        return time_of(clock)
    except Exception:  # the clock is user code; time then stands still
        return otherwise
