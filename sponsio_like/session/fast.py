"""Decides calls by the fast path: the lane of their tool decides, their result commits them.

In: a call, then its result. The last call that was let through is kept as it came
(`PassedCall`) until its result arrives. If anything else happens first, it becomes a call in
flight like any other (`Interceptor.flush_fast`), and the monitors go on from there; so they do if
contracts wait for other calls in flight. INVARIANT: what the ledger holds is what the slow path
would have made of it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sponsio_like.engine import (
    INDEX_CAP,
    Checked,
    Lane,
    Ledger,
    Policy,
    checking_inventory,
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
from sponsio_like.events import Call, Result, Status
from sponsio_like.monitor import OTHER, Change, Now, awaits_results
from sponsio_like.outcome import Allowed, Block, Warn
from sponsio_like.session.denied import LaneRefusal
from sponsio_like.session.flights import (
    IN_FLIGHT_CAP,
    NOTHING_UNREAD,
    Attempt,
    Flight,
    PassedCall,
    Woken,
)
from sponsio_like.session.interceptor import Interceptor
from sponsio_like.session.refuse import count_refusal
from sponsio_like.session.settle import Settlement
from sponsio_like.values import UNREADABLE, flat_copy, freeze_args, small_answer, unwrapped

LANES_CAP = 256
"""Most lanes of tools that no contract names, one for each set of globs; others
take the slow path.
"""
NAME_CAP = 200
"""Longest name of a tool, in characters, by which its lane is cached."""
STOPS_OR_NOT: frozenset[Any] = frozenset({Block, Warn})
"""The answers about which nobody has to be asked."""
UNKNOWN: Any = object()
TYPES = (str, str, str, int)
"""The types of the tool, id, agent and depth of a call that has a lane."""


@dataclass(frozen=True, slots=True)
class FastFinding:
    """A call that violates contracts, none of which stops it; the attempt with its violations, and
    the outcome.
    """

    call: Call
    attempt: Attempt
    allowed: Allowed


def try_fast(
    inner: Interceptor, tool: str, args: Any, id: str, agent: str, depth: int
) -> PassedCall | FastFinding | LaneRefusal | None:
    """Decide a call by its lane: return the call if nothing stands against it, `FastFinding` or
    `LaneRefusal` if it violates contracts.

    None if the slow path has to decide; then nothing has changed.
    """
    if (type(tool), type(id), type(agent), type(depth)) != TYPES:
        return None
    try:
        lane = inner.lanes[tool] if tool in inner.lanes else _lane(inner.policy, tool)
        own = flat_copy(args)
        if lane is None or (own is None and type(args) is not dict):
            return None
        if own is None:
            own = freeze_args(args, unwrapped)
        now = inner.tick()
    except Exception:  # arguments and clock are the host's: the slow path says what is wrong
        return None
    with inner.lock:  # which no signal interrupts, as it would `acquire` and `try`
        ledger = inner.ledger
        try:
            sequential = inner.sequential and inner.latest is None and inner.time <= now
            if not sequential or ledger.soonest <= ledger.passed:
                return _beside(inner, (id, tool, own, agent, depth, now, lane, (), ()))
            checked = lane.check(ledger, tool, own, agent, depth, inner.context, now)
            kept: PassedCall = (id, tool, own, agent, depth, now, lane, checked, ())
            if type(checked) is not tuple:
                return _found(inner, kept)
            inner.time, inner.latest = now, kept
            return kept
        except Exception:  # a lane is generated source: if it is wrong, the slow path decides
            logging.getLogger("sponsio_like").exception("the lane of `%s` failed", tool)
            if inner.latest is not None and inner.latest[0] == id:
                inner.latest = None
            return None


def taken_back(inner: Interceptor, id: str) -> None:
    """Undo that a call was let through, of which the host has not heard."""
    with inner.lock:
        if inner.latest is not None and inner.latest[0] == id:
            inner.latest = None


def _beside(inner: Interceptor, kept: PassedCall) -> PassedCall | FastFinding | LaneRefusal | None:
    """Decide as `try_fast` does, where more than contracts may stand against the call, or more
    clauses than those that it concerns.
    """
    if inner.latest is not None:
        inner.flush_fast()
    id, tool, args, agent, depth, now, lane, *_ = kept
    ledger, flights, gate = inner.ledger, inner.flights, inner.gate
    if flights and (id in flights or len(flights) >= IN_FLIGHT_CAP):
        return None
    if inner.tickets.by_id or inner.finished or inner.context.stopped or ledger.half_written:
        return None
    if now < inner.time:  # noqa: PLR1730  a call costs more
        now = inner.time
    if ledger.alarms and _rings(ledger, now):
        return None
    inner.sequential = not (flights or inner.settling or ledger.alarms or gate)
    woken = _woken(inner, kept) if ledger.soonest <= ledger.passed else ()
    if woken is None:
        return None
    checked = lane.check(ledger, tool, args, agent, depth, inner.context, now)
    kept = (id, tool, args, agent, depth, now, lane, checked, woken)
    if type(checked) is not tuple:
        return _found(inner, kept)
    if gate is not None and not gate.passes(ledger, kept[:5]):
        return None
    if woken or (flights and _may_branch(ledger, lane)):
        return kept if inner.begin(kept) else None
    inner.time, inner.latest = now, kept
    return kept


def _rings(ledger: Ledger, now: float) -> bool:
    """True if a bound in seconds has run out by now."""
    return bool(ledger.alarms) and min(ledger.alarms.values()) < now


def _may_branch(ledger: Ledger, lane: Lane) -> bool:
    """True if the call may need more branches than one clause may have: a clause that the call
    concerns waits for results of others.
    """
    return lane.branching is None or _any_waits(ledger, lane.branching)


def _found(inner: Interceptor, kept: PassedCall) -> PassedCall | FastFinding | LaneRefusal | None:
    """Block a call that violates clauses, or let it through if none of them stops it; and one that
    violates none, but that a monitor has to judge, if that lets it through.

    None if somebody else has to be asked, by the slow path.
    """
    found: Any = kept[7]
    if found is None:
        return None
    (violated, read), woken, lane = found, kept[8], kept[6]
    kept = (*kept[:7], read, woken)
    if not violated:
        passes = inner.gate is None or inner.gate.passes(inner.ledger, kept[:5])
        return kept if passes and inner.begin(kept) else None
    if woken or lane.needs_monitor:
        return None
    policy = inner.policy
    modes, owner, decisions = policy.modes, policy.owner, policy.decisions
    answers = {type(decisions[i]) if modes[owner[i]] == "enforce" else Warn for i in violated}
    if not answers <= STOPS_OR_NOT:
        return None
    if Block in answers:
        return _refused(inner, kept, violated)
    return None if inner.gate else _warned(inner, kept, violated)


def _refused(inner: Interceptor, kept: PassedCall, violated: tuple[int, ...]) -> LaneRefusal:
    """Return the call as blocked."""
    id, tool, args, agent, depth, now, *_ = kept
    ledger, policy, call = inner.ledger, inner.policy, Call(tool, args, id, agent, depth, now)
    known = witnesses(ledger, violated, call) if ledger.stores else None
    before, unread = ledger.before(call, known or {}), inner.unread
    if unread is not NOTHING_UNREAD:
        unread = dict(unread)
    if policy.denials:
        inner.context = count_refusal(policy, inner.context, call)
    flights = inner.flying() if inner.flights else ()
    inner.time = now
    return LaneRefusal(call, before, violated, known, policy.modes, inner.context, flights, unread)


def _warned(inner: Interceptor, kept: PassedCall, violated: tuple[int, ...]) -> FastFinding | None:
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


def _woken(inner: Interceptor, kept: PassedCall) -> Woken | None:
    """Return what clauses read that have to see this call although it does not concern them.

    None if one of them has no lane, or does not let the call through.
    """
    found: list[tuple[Lane, Checked]] = []
    ledger, policy = inner.ledger, inner.policy
    _, tool, args, agent, depth, now, lane, *_ = kept
    for i in ledger.due():
        if i in lane.clauses:
            continue
        other = policy.lanes.get(i, UNKNOWN)
        if other is UNKNOWN:
            plain = policy.clauses[i].is_plain
            other = policy.lanes[i] = lane_of(policy, OTHER, (i,)) if plain else None
        checked = other and other.check(ledger, tool, args, agent, depth, inner.context, now)
        if not isinstance(checked, tuple) or other.needs_monitor or other.result_part != "status":
            return None
        found.append((other, checked))
    return tuple(found)


def settle_fast(inner: Interceptor, id: str, output: Any, error: Any) -> Settlement | None:
    """Settle a call by its result, or by an error; return its tool, and the violations that it
    reveals.

    None if it is not in flight, or if the slow path has to settle it.
    """
    latest, ok, answer = inner.latest, error is None, None
    if latest is None or latest[0] != id:
        if id not in inner.flights:
            return None
        latest = None
    elif latest[6].read_answer:
        answer = small_answer(output if ok else error)
        if answer is UNREADABLE or inner.unread is not NOTHING_UNREAD:
            return None
    try:
        now = inner.tick()
    except Exception:  # as above: the slow path takes the result
        return None
    try:
        with inner.lock:
            if latest is None or inner.latest is not latest:
                return _settle_in_flight(inner, id, now, output, error)
            ledger, lane = inner.ledger, latest[6]
            if not inner.sequential or now < inner.time or ledger.soonest <= ledger.passed:
                done = _settled(inner, latest, now, ok, answer)
            else:
                try:
                    end = lane.done if ok else lane.failed
                    done = end(ledger, latest[7], latest[5], now, answer)
                    if done:
                        if lane.sources:
                            inner.context = inner.context.arrived(lane.sources)
                        inner.time, inner.latest = now, None
                except BaseException:  # nobody knows how much was written
                    ledger.half_written, inner.sequential = True, False
                    raise
            return (latest[1], ()) if done else _settle_in_flight(inner, id, now, output, error)
    except STRAIN:  # the slow path knows whether anything was written
        return None


def _settled(inner: Interceptor, latest: PassedCall, now: float, ok: bool, answer: Any) -> bool:
    """Commit the latest call with its result, under the lock; False if nothing was written."""
    ledger, lane = inner.ledger, latest[6]
    if now < inner.time:  # noqa: PLR1730  "
        now = inner.time
    if ledger.half_written or _rings(ledger, now) or _any_waits(ledger, lane.waiting):
        return False
    due = ledger.due() if ledger.soonest <= ledger.passed else ()
    ledger.half_written = True
    if not (lane.done if ok else lane.failed)(ledger, latest[7], latest[5], now, answer):
        ledger.half_written = False
        return False
    for i in due:
        at = ledger.positions[ledger.counters[i][0]] - 1
        ledger.reschedule(i, ledger.states[i], at, now)
    if lane.sources:
        inner.context = inner.context.arrived(lane.sources)
    inner.time, inner.latest, ledger.half_written = now, None, False
    if inner.gate is not None:
        inner.gate.ran(ledger, latest[:5], ok=ok)
    return True


def _any_waits(ledger: Ledger, clauses: Iterable[int]) -> bool:
    """True if one of these clauses, which have no keys, waits for results of calls in flight."""
    states, every = ledger.states, ledger.policy.clauses
    for i in clauses:
        outer, segment, *_, flying = states[i]
        if flying:
            return True
        if every[i].automaton is not None:  # of which `flying` tells
            continue
        if awaits_results(outer) or (segment is not None and awaits_results(segment)):
            return True
    return False


def _settle_in_flight(
    inner: Interceptor, id: str, now: float, output: Any, error: Any
) -> Settlement | None:
    """Settle a call in flight of whose result contracts read its status, and conditions on a small
    answer.

    None if the slow path has to; then nothing has changed.
    """
    if inner.latest is not None:
        inner.flush_fast()
    flight: Flight | None = inner.flights.get(id)
    ledger, context = inner.ledger, inner.context
    if flight is None or flight.result_part == "all":
        return None
    ok, result = error is None, None
    if flight.result_part == "answer":
        answer = small_answer(output if ok else error)
        if answer is UNREADABLE or inner.unread is not NOTHING_UNREAD:
            return None
        result = Result("ok" if ok else "error", answer)
    if now < inner.time:  # noqa: PLR1730  "
        now = inner.time
    if ledger.alarms and _rings(ledger, now):
        return None
    if flight.sources:
        context = context.arrived(flight.sources)
    tool, waits, bad = flight.tool, flight.waits, None
    if waits:
        results = _read(inner.policy, waits, result or ("ok" if ok else "error"), tool)
        bad = settle_all(ledger, results, Now(now, context))
    del inner.flights[id]
    inner.time, inner.context = now, context
    if inner.gate is not None:
        inner.gate.note_result(ledger, id, ok=ok)
    return tool, reported(inner.policy, bad, flight.position, tool) if bad else ()


def _read(
    policy: Policy, waits: Iterable[Change], result: Result | Status, tool: str
) -> list[tuple[Change, Mapping[int, Any]]]:
    """Return what each clause that waits reads in a result, or in a status."""
    clauses = policy.clauses
    if isinstance(result, str):
        return [(x, clauses[x.clause].by_status(x.letter, result, tool)) for x in waits]
    return [(x, clauses[x.clause].results(x.letter, result, tool)) for x in waits]
