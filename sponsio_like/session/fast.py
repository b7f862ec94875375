"""Decides calls by the fast path: the lane of their tool decides, their result commits them.

In: a call, then its result. The last call that was let through is kept as it came
(`Kept`) until its result arrives. If anything else happens first, it becomes a call in
flight like any other (`Interceptor.flush_fast`), and the monitors go on from there; so they do if
contracts wait for other calls in flight. INVARIANT: what the ledger holds is what the slow path
would have made of it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sponsio_like.engine import (
    INDEX_CAP,
    Checked,
    Lane,
    Ledger,
    Policy,
    checking_inventory,
    count_call,
    enforced,
    findings_of,
    lane_of,
    named_lane,
    observed,
    reported,
    settle_all,
    witnesses,
)
from sponsio_like.errors import STRAIN
from sponsio_like.events import Call, Status
from sponsio_like.monitor import OTHER, Now, awaits_results
from sponsio_like.outcome import Allowed, Block, Decision, Warn
from sponsio_like.session.flights import (
    IN_FLIGHT_CAP,
    Attempt,
    Flight,
    Kept,
    Woken,
)
from sponsio_like.session.gate import Said
from sponsio_like.session.interceptor import Interceptor
from sponsio_like.session.refuse import after_refusal
from sponsio_like.session.settle import Settlement
from sponsio_like.values import freeze_args, unwrapped

LANES_CAP = 256
"""Most lanes of tools that no contract names, one for each set of globs; others
take the slow path.
"""
NAME_CAP = 200
"""Longest name of a tool, in characters, by which its lane is cached."""
UNKNOWN: Any = object()


@dataclass(frozen=True, slots=True)
class FastFinding:
    """A call that violates contracts, and the attempt with its violations.

    `allowed`: the outcome, if none of them stops the call; else it is blocked.
    """

    call: Call
    attempt: Attempt
    allowed: Allowed | None = None


def try_fast(
    inner: Interceptor, tool: str, args: Any, id: str, agent: str, depth: int
) -> Kept | FastFinding | None:
    """Decide a call by its lane: return the call if nothing stands against it, `FastFinding` if it
    violates contracts.

    None if the slow path has to decide; then nothing has changed.
    """
    if not (type(tool) is type(id) is type(agent) is str and type(depth) is int):
        return None
    if type(args) is not dict and args is not None:
        return None
    try:
        lane = inner.lanes.get(tool, UNKNOWN)
        if lane is UNKNOWN:
            lane = _lane(inner.policy, tool)
        if lane is None:
            return None
        args, now = freeze_args(args, unwrapped), inner.clock()
    except Exception:  # arguments and clock are the host's: the slow path says what is wrong
        return None
    if type(now) is not float or now - now != 0.0:
        return None
    with inner.lock:  # which no signal interrupts, as it would `acquire` and `try`
        if inner.latest is not None:
            inner.flush_fast()
        try:
            return _judged(inner, lane, id, tool, args, agent, depth, now)
        except Exception:  # a lane is generated source: if it is wrong, the slow path decides
            inner.latest = None
            logging.getLogger("sponsio_like").exception("the lane of `%s` failed", tool)
            return None


def taken_back(inner: Interceptor, id: str) -> None:
    """Undo that a call was let through, of which the host has not heard."""
    with inner.lock:
        if inner.latest is not None and inner.latest[0] == id:
            inner.latest = None


def _judged(  # noqa: PLR0913, PLR0917 - a tuple of them would be made and taken apart at each call
    inner: Interceptor, lane: Lane, id: str, tool: str, args: Any, agent: str, depth: int,
    now: float,
) -> Kept | FastFinding | None:  # fmt: skip
    """Decide as `try_fast` does, under the lock."""
    ledger, flights, context = inner.ledger, inner.flights, inner.context
    if flights and (id in flights or len(flights) >= IN_FLIGHT_CAP):
        return None
    if inner.desk.tickets or inner.finished or context.stopped or ledger.torn:
        return None
    if now < inner.time:  # noqa: PLR1730  a call costs more
        now = inner.time
    if ledger.alarms and min(ledger.alarms.values()) < now:
        return None
    woken: Woken = ()
    if ledger.soonest <= ledger.passed:
        due = _woken(inner, lane, (id, tool, args, agent, depth), now)
        if due is None:
            return None
        woken = due
    checked = lane.check(ledger, tool, args, agent, depth, context, now)
    if type(checked) is not tuple:
        if checked is None or woken or lane.at_once:
            return None
        violated, read = checked
        return _found(inner, (id, tool, args, agent, depth, now, lane, read, ()), violated)
    if inner.gate is not None and not inner.gate.passes(ledger, (id, tool, args, agent, depth)):
        return None
    kept: Kept = (id, tool, args, agent, depth, now, lane, checked, woken)
    if lane.at_once or (flights and _may_branch(ledger, lane, woken)):
        return kept if inner.begin(kept) else None
    inner.time = now
    inner.latest = kept
    return kept


def _may_branch(ledger: Ledger, lane: Lane, woken: Woken) -> bool:
    """True if the call may need more branches than one clause may have: a clause that the call
    concerns waits for results of others.
    """
    if lane.branching is None:
        return True
    return _any_waits(ledger, lane.branching) or any(
        _any_waits(ledger, other.clauses) for other, _ in woken
    )


def _found(inner: Interceptor, kept: Kept, violated: tuple[int, ...]) -> FastFinding | None:
    """Block a call that violates these clauses, or let it through if none of them stops it.

    None if somebody else has to be asked, by the slow path.
    """
    policy, answers = inner.policy, set[type[Decision]]()
    for i in violated:
        enforced = policy.modes[policy.owner[i]] == "enforce"
        answers.add(type(policy.decision(i)) if enforced else Warn)
    if answers == {Block}:
        return _refused(inner, kept, violated)
    return _warned(inner, kept, violated) if answers == {Warn} and not inner.gate else None


def _refused(inner: Interceptor, kept: Kept, violated: tuple[int, ...]) -> FastFinding:
    """Return the call as blocked."""
    id, tool, args, agent, depth, inner.time, *_ = kept
    policy, call = inner.policy, Call(tool, args, id, agent, depth, inner.time)
    against = witnesses(inner.ledger, violated, call)
    found = findings_of(policy, against, call, inner.ledger.calls)
    inner.context = after_refusal(policy, inner.context, call, found, Block())
    return FastFinding(call, Attempt(found, (), inner.ledger.before(call, against), Block()))


def _warned(inner: Interceptor, kept: Kept, violated: tuple[int, ...]) -> FastFinding | None:
    """Let through a call that violates contracts which only observe, or warn."""
    id, tool, args, agent, depth, now, *_ = kept
    call = Call(tool, args, id, agent, depth, now)
    found = findings_of(
        inner.policy, witnesses(inner.ledger, violated, call), call, inner.ledger.calls
    )
    outcome = Allowed(id, enforced(found), observed(found))
    if not inner.begin(kept, outcome, violated):
        return None
    return FastFinding(call, Attempt(found), outcome)


def _lane(policy: Policy, tool: str) -> Lane | None:
    """Return the lane of a tool; None if it has none.

    Tools that no contract names share the lane of the globs that match them. Where contracts name
    many tools, a lane is built at the second call.
    """
    name = policy.index.name_of(tool)
    if isinstance(name, str):
        first = ("first", name) not in policy.lanes
        policy.lanes["first", name] = None
        return None if first else named_lane(policy, name)
    lane = policy.lanes.get(name, UNKNOWN)
    if lane is UNKNOWN:
        lane = None
        if len(policy.built) < LANES_CAP:
            lane = policy.lanes[name] = lane_of(policy, name, policy.index.concerned(name))
            policy.built.add(name)
    own = checking_inventory(policy, tool, lane)
    if len(policy.lanes) < INDEX_CAP and len(tool) <= NAME_CAP:
        policy.lanes[tool] = own
    return own


def _woken(inner: Interceptor, lane: Lane, call: Said, now: float) -> Woken | None:
    """Return what clauses read that have to see this call although it does not concern them.

    None if one of them has no lane, or does not let the call through.
    """
    found: list[tuple[Lane, Checked]] = []
    ledger, policy = inner.ledger, inner.policy
    _, tool, args, agent, depth = call
    for i in ledger.due():
        if i in lane.clauses:
            continue
        other = policy.lanes.get(i, UNKNOWN)
        if other is UNKNOWN:
            plain = policy.clauses[i].is_plain
            other = policy.lanes[i] = lane_of(policy, OTHER, (i,)) if plain else None
        checked = other and other.check(ledger, tool, args, agent, depth, inner.context, now)
        if not isinstance(checked, tuple) or other.at_once:
            return None
        found.append((other, checked))
    return tuple(found)


def settle_fast(inner: Interceptor, id: str, ok: bool) -> Settlement | None:
    """Settle a call that has this status; return its tool, and the violations that it reveals.

    None if it is not in flight, or if the slow path has to settle it.
    """
    latest = inner.latest
    if latest is None or latest[0] != id:
        if id not in inner.flights:
            return None
        latest = None
    try:
        now = inner.clock()
    except Exception:  # as above: the slow path takes the result
        return None
    if type(now) is not float or now - now != 0.0:
        return None
    try:
        with inner.lock:
            if latest is not None and inner.latest is latest and _settled(inner, latest, now, ok):
                return latest[1], ()
            if inner.latest is not None:
                inner.flush_fast()
            return _landed(inner, id, now, ok)
    except STRAIN:  # the slow path knows whether anything was written
        return None


def _settled(inner: Interceptor, latest: Kept, now: float, ok: bool) -> bool:
    """Commit the latest call with its result, under the lock; False if nothing was written."""
    ledger, lane, woken = inner.ledger, latest[6], latest[8]
    if ledger.torn or (woken and any(_any_waits(ledger, each.clauses) for each, _ in woken)):
        return False
    if now < inner.time:  # noqa: PLR1730  "
        now = inner.time
    if ledger.alarms and min(ledger.alarms.values()) < now:
        return False
    end = lane.done if ok else lane.failed
    ledger.torn = True
    if end is not None and not end(ledger, latest[7], latest[5], now):
        ledger.torn = False  # it has written nothing
        return False
    if ledger.soonest <= ledger.passed:
        _wake(ledger, woken, latest[5], now)
    count_call(ledger)
    inner.time, inner.latest = now, None
    if lane.sources:
        inner.context = inner.context.arrived(lane.sources)
    ledger.torn = False
    if inner.gate is not None:
        inner.gate.ran(ledger, latest[:5], ok=ok)
    return True


def _any_waits(ledger: Ledger, clauses: Iterable[int]) -> bool:
    """True if one of these clauses, which have no keys, waits for results of calls in flight."""
    for i in clauses:
        outer, segment, *_ = ledger.watches[i]
        if awaits_results(outer) or (segment is not None and awaits_results(segment)):
            return True
    return False


def _landed(inner: Interceptor, id: str, now: float, ok: bool) -> Settlement | None:
    """Settle a call in flight of whose result contracts read no more than its status.

    None if the slow path has to; then nothing has changed.
    """
    flight: Flight | None = inner.flights.get(id)
    ledger, context = inner.ledger, inner.context
    if flight is None or not flight.by_status:
        return None
    if now < inner.time:  # noqa: PLR1730  "
        now = inner.time
    if ledger.alarms and min(ledger.alarms.values()) < now:
        return None
    if flight.sources:
        context = context.arrived(flight.sources)
    tool, waits, bad = flight.tool, flight.waits, None
    if waits:
        status: Status = "ok" if ok else "error"
        clauses = inner.policy.clauses
        results = [(x, clauses[x.clause].by_status(x.letter, status, tool)) for x in waits]
        bad = settle_all(ledger, results, Now(now, context))
    del inner.flights[id]
    inner.time, inner.context = now, context
    if inner.gate is not None:
        inner.gate.note_result(ledger, id, ok=ok)
    return tool, reported(inner.policy, bad, flight.position, tool) if bad else ()


def _wake(ledger: Ledger, woken: Woken, time: float, now: float) -> None:
    """Step the clauses that were due at the latest call, and recompute when they are woken next."""
    due = ledger.due()
    for other, checked in woken:
        if other.done is not None:
            other.done(ledger, checked, time, now)
    for i in due:
        at = ledger.positions[ledger.counters[i][0]]
        ledger.reschedule(i, ledger.watches[i], at, now)
