"""Settles a call: it has its result, and is no longer in flight.

Flow: id, result -> what that reveals. INVARIANT: no lock is held while code of the user runs.
INVARIANT: whatever fails, the call is in flight still, or the state is known to be in doubt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from sponsio_like.engine import KEPT, Results, lost, reported, settle_all, split_world, too_large
from sponsio_like.events import Result
from sponsio_like.monitor import Change, Now, Witness
from sponsio_like.outcome import Violation
from sponsio_like.session.flights import NOTHING_UNREAD, Flight
from sponsio_like.session.interceptor import Interceptor
from sponsio_like.session.user_code import read_results
from sponsio_like.session.world import StoreFailed
from sponsio_like.values import ANSWER_CAP, EFFORT_CAP, HEARD, Effort, given_value

Waits: TypeAlias = tuple[Change, ...]


Settlement: TypeAlias = tuple[str, tuple[Violation, ...]]
"""The tool of a settled call, and the violations that its result reveals."""


def settle(inner: Interceptor, id: str, output: Any, error: Any) -> Settlement | None:
    """Settle a call by its result, or by an error; None if it was not in flight."""
    try:
        return _settle(inner, id, output, error)
    except Exception as strain:  # before anything has changed
        why = _unkept(id, strain, again=True)
        return "", (lost(inner.policy, inner.calls, None, why),)


def _settle(inner: Interceptor, id: str, output: Any, error: Any) -> Settlement | None:
    late: list[Violation] = []
    bad: dict[int, Witness] | None = None
    flight: Flight | None = None
    before = False
    try:
        good = error is None
        result = Result(
            "ok" if good else "error", given_value(output if good else error, ANSWER_CAP)
        )
        with inner.lock:
            inner.flush_fast()
            before, found = inner.ledger.half_written, inner.flights.get(id)
            if found is None:
                return None
            inner.settling, flight = {**inner.settling, id: found}, found
            del inner.flights[id]
        while bad is None:
            bad = _landed(inner, id, flight, result, late)
        return flight.tool, (*late, *reported(inner.policy, bad, *_at(flight)))
    except Exception as fault:  # the tool has run: the host is told, and goes on
        if flight is None:
            raise
        again = bad is None and inner.ledger.half_written == before
        why = _unkept(flight.tool, fault, again=again)
        return flight.tool, (*late, lost(inner.policy, *_at(flight), why))
    finally:
        if flight is not None:
            with inner.lock:
                inner.sequential = False
                if bad is None and inner.ledger.half_written == before:
                    inner.flights.setdefault(id, flight)
                inner.settling = _without(inner.settling, id)


def _without(settling: Mapping[str, Flight], id: str) -> Mapping[str, Flight]:
    return {each: settling[each] for each in settling if each != id}


def _unkept(whose: str, fault: Exception, *, again: bool) -> str:
    said = fault if isinstance(fault, StoreFailed) else type(fault).__name__
    return f"the result of `{whose}` is not kept{', settle it again' if again else ''}: {said}"


def _at(flight: Flight) -> tuple[int, str]:
    return flight.position, flight.tool


def _landed(
    inner: Interceptor, id: str, flight: Flight, result: Result, late: list[Violation]
) -> dict[int, Witness] | None:
    """Return the clauses that a result shows to be violated; None if it has to be read again.

    That is so if, while it was read, other clauses have come to wait for it.
    """
    with inner.lock:
        inner.flush_fast()
        _note(inner, flight, result)
        waits = inner.waits(flight)
    with Effort(HEARD * EFFORT_CAP) as effort:
        results = read_results(inner.policy, waits, result, flight.tool)
    if effort.spent:
        _note(inner, flight, result, "it is too much text for all contracts together")
    now = inner.now()
    with inner.lock:
        inner.flush_fast()
        return _settled(inner, (id, flight, result.status == "ok"), waits, results, now, late)


def _note(inner: Interceptor, flight: Flight, result: Result, why: str = "") -> None:
    """Note that a result could not be read, for the advice."""
    others = {tool: each for tool, each in inner.unread.items() if tool != flight.tool}
    why = too_large(result.output) or why
    if why and len(others) < KEPT:
        others[flight.tool] = f"the answer of call {flight.position} could not be read: {why}"
    inner.unread = others or NOTHING_UNREAD


def _settled(
    inner: Interceptor,
    landed: tuple[str, Flight, bool],
    waits: Waits,
    results: Results,
    now: float,
    late: list[Violation],
) -> dict[int, Witness] | None:
    """Settle as `_landed` does, under the lock."""
    (id, flight, ok), before = landed, inner.ledger.half_written
    with inner.world.open(late):
        if inner.waits(flight) != waits:
            return None
        context = inner.context.arrived(flight.sources)
        late += inner.expire(now, context)
        present = Now(inner.time, context)
        world, mine = split_world(inner.ledger, results)
        bad = settle_all(inner.ledger, world, present)
        inner.world.settled(flight.key)
    inner.ledger.half_written = True
    inner.context = context
    inner.world.heard(id)
    bad |= settle_all(inner.ledger, mine, present)
    inner.settling = _without(inner.settling, id)
    if inner.flights.get(id) is flight:  # the process was forked while its result was read
        inner.flights.pop(id)
    inner.ledger.half_written = before
    if inner.gate is not None:
        inner.gate.note_result(inner.ledger, id, ok=ok)
    return bad
