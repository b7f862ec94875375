"""Decides calls by the fast path: the lane of their tool decides, their result commits them.

In: a call, then its result. The last call that was let through is kept as it came
(`PendingFastCall`) until its result arrives. If anything else happens first, it becomes a call in
flight like any other (`Interceptor.flush_fast`), and the monitors go on from there; so they do if
contracts wait for other calls in flight. INVARIANT: what the ledger holds is what the slow path
would have made of it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, NamedTuple

from sponsio_like.engine import (
    INDEX_CAP,
    Checked,
    Lane,
    Ledger,
    Policy,
    checking_inventory,
    enforced,
    findings_of,
    judge,
    keep_all,
    lane_of,
    named_lane,
    observed,
    take_status,
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
    PendingFastCall,
    Woken,
    event_and_reads,
    event_fingerprint,
)
from sponsio_like.session.gate import Said
from sponsio_like.session.interceptor import Interceptor
from sponsio_like.session.refuse import after_refusal
from sponsio_like.values import freeze_args, unwrapped

LANES_CAP = 256
"""Most lanes of tools that no contract names, one for each set of globs; others
take the slow path.
"""
NAME_CAP = 200
"""Longest name of a tool, in characters, by which its lane is cached."""
UNKNOWN: Any = object()


class FastFinding(NamedTuple):
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
    if type(tool) is not str or type(id) is not str or not (args is None or type(args) is dict):
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
            return _judged(inner, lane, (id, tool, args, agent, depth), now)
        except Exception:  # a lane is generated source: if it is wrong, the slow path decides
            inner.latest = None
            logging.getLogger("sponsio_like").exception("the lane of `%s` failed", tool)
            return None


def taken_back(inner: Interceptor, id: str) -> None:
    """Undo that a call was let through, of which the host has not heard."""
    with inner.lock:
        if inner.latest is not None and inner.latest[0] == id:
            inner.latest = None


def _judged(inner: Interceptor, lane: Lane, call: Said, now: float) -> Kept | FastFinding | None:
    """Decide as `try_fast` does, under the lock."""
    ledger = inner.ledger
    if inner.flights and (call[0] in inner.flights or len(inner.flights) >= IN_FLIGHT_CAP):
        return None
    if inner.desk.tickets or inner.finished or inner.context.stopped or ledger.torn:
        return None
    if now < inner.time:  # noqa: PLR1730  a call costs more
        now = inner.time
    if ledger.alarms and min(ledger.alarms.values()) < now:
        return None
    woken = _woken(inner, lane, call, now) if ledger.soonest <= ledger.passed else ()
    if woken is None:
        return None
    id, tool, args, agent, depth = call
    checked = lane.check(ledger, tool, args, agent, depth, inner.context, now)
    if checked is None:
        return None
    if isinstance(checked, list):
        violated, read = checked
        found = None if woken or lane.at_once else (*call, now, lane, read, ())
        return found and _found(inner, found, violated)
    gate = inner.gate
    if gate is not None and not gate.passes(ledger, call):
        return None
    kept: Kept = (id, tool, args, agent, depth, now, lane, checked, woken)
    if lane.at_once or (inner.flights and _may_branch(ledger, lane, woken)):
        return _begun(inner, kept)
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


def _begun(inner: Interceptor, kept: Kept) -> Kept | None:
    """Make the call a call in flight at once; None if a clause cannot tell it from the others."""
    if inner.begin_fast(kept):
        inner.time = kept[5]
        return kept
    call, reads = event_and_reads(kept)
    judgement = judge(inner.ledger, call, reads, kept[5])
    if judgement.failed or judgement.violated:
        return None
    inner.time = kept[5]
    inner.begin_call(call, judgement, (event_fingerprint(call), ""), Allowed(call.id))
    return kept


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
    found = findings_of(policy, against, call, inner.committed)
    inner.context = after_refusal(policy, inner.context, call, found, Block())
    return FastFinding(call, Attempt(found, (), inner.ledger.before(call, against), Block()))


def _warned(inner: Interceptor, kept: Kept, violated: tuple[int, ...]) -> FastFinding | None:
    """Let through a call that violates contracts which only observe, or warn."""
    id, tool, args, agent, depth, now, *_ = kept
    call = Call(tool, args, id, agent, depth, now)
    found = findings_of(
        inner.policy, witnesses(inner.ledger, violated, call), call, inner.committed
    )
    outcome = Allowed(id, enforced(found), observed(found))
    if not inner.begin_fast(kept, outcome, violated):
        judgement = judge(inner.ledger, call, event_and_reads(kept)[1], now)
        if judgement.failed:
            return None
        inner.begin_call(call, judgement, (kept, ""), outcome, by_status=kept[6].by_status)
    inner.time = now
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


def settle_fast(inner: Interceptor, id: str, ok: bool) -> str | None:
    """Settle a call that has this status, and return its tool.

    None if it is not in flight, or if the slow path has to settle it.
    """
    latest = inner.latest
    if (latest is None or latest[0] != id) and id not in inner.flights:
        return None
    try:
        now = inner.clock()
    except Exception:  # as above: the slow path takes the result
        return None
    if type(now) is not float or now - now != 0.0:
        return None
    try:
        with inner.lock:
            if latest is not None and latest[0] == id:
                tool = _settled(inner, latest, now, ok)
                if tool is not None:
                    return tool
            inner.flush_fast()
            return _landed(inner, id, now, ok)
    except STRAIN:  # the slow path knows whether anything was written
        return None


def _settled(inner: Interceptor, latest: Kept, now: float, ok: bool) -> str | None:
    """Commit as `settle_fast` does, under the lock."""
    _, tool, _, _, _, time, lane, checked, _ = latest
    ledger = inner.ledger
    if inner.latest is not latest or ledger.torn:
        return None
    if latest[8] and any(_any_waits(ledger, other.clauses) for other, _ in latest[8]):
        return None
    if now < inner.time:  # noqa: PLR1730  "
        now = inner.time
    if ledger.alarms and min(ledger.alarms.values()) < now:
        return None
    end = lane.done if ok else lane.failed
    ledger.torn = True
    if end is not None and not end(ledger, checked, time, now):
        ledger.torn = False  # it has written nothing
        return None
    if ledger.soonest <= ledger.passed:
        _wake(inner, PendingFastCall._make(latest), now)
    positions = ledger.positions
    for counter in inner.policy.call_counters:
        positions[counter] += 1
    ledger.passed += 1
    ledger.calls += 1
    inner.committed += 1
    inner.time, inner.latest = now, None
    if lane.sources:
        inner.context = inner.context.arrived(lane.sources)
    ledger.torn = False
    if inner.gate is not None:
        inner.gate.ran(ledger, latest[:5], ok=ok)
    return tool


def _any_waits(ledger: Ledger, clauses: Iterable[int]) -> bool:
    """True if one of these clauses, which have no keys, waits for results of calls in flight."""
    for i in clauses:
        outer, segment, *_ = ledger.watches[i]
        if awaits_results(outer) or (segment is not None and awaits_results(segment)):
            return True
    return False


def _landed(inner: Interceptor, id: str, now: float, ok: bool) -> str | None:
    """Settle a call in flight of whose result contracts read no more than its status.

    None if the slow path has to; then nothing has changed.
    """
    flight: Flight | None = inner.flights.get(id)
    ledger = inner.ledger
    if flight is None or not flight.by_status or ledger.torn or inner.finished:
        return None
    now = max(now, inner.time)
    if ledger.alarms and min(ledger.alarms.values()) < now:
        return None
    context = inner.context.arrived(flight.sources) if flight.sources else inner.context
    if flight.waits:
        status: Status = "ok" if ok else "error"
        rests = take_status(ledger, flight.waits, status, flight.tool, Now(now, context))
        if rests is None:
            return None
        keep_all(ledger, rests)
    del inner.flights[id]
    inner.time, inner.context = now, context
    ledger.torn = False
    if inner.gate is not None:
        inner.gate.note_result(ledger, id, ok=ok)
    return flight.tool


def _wake(inner: Interceptor, latest: PendingFastCall, now: float) -> None:
    """Step the clauses that were due at the latest call, and recompute when they are woken next."""
    ledger = inner.ledger
    due = ledger.due()
    for other, checked in latest.woken:
        if other.done is not None:
            other.done(ledger, checked, latest.time, now)
    for i in due:
        at = ledger.positions[ledger.counters[i][0]]
        ledger.reschedule(i, ledger.watches[i], at, now)
