"""Explains from a recorded trace why a clause is violated: the calls that matter, and their part in
it.

In: a clause, the events of a trace, and the values of its variables. Out: `Explanation`: what is
violated at which call; what forbade it, what was missing and since when, what is still owed. The
monitor is played again, for one value at a time; no decision is made from it. While it is played,
events are numbered as in the trace; explanations number the calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from sponsio_like.engine import Clause, Unread, owed, unread_keys
from sponsio_like.events import NOTHING_TOLD, Call, Context, Result, kind_of
from sponsio_like.events import Event as Happening
from sponsio_like.monitor import (
    Change,
    ClauseState,
    JudgedPosition,
    Key,
    Letter,
    Now,
    Position,
    PositionCounts,
    Reason,
    Residual,
    State,
    conjunction,
    overdue,
    reasons_of,
    settle_residual,
)
from sponsio_like.replay.reread import Reader
from sponsio_like.traces import CallEvent, Event, FactEvent, MessageEvent, ResultEvent, StepEvent


@dataclass(frozen=True, slots=True)
class Explanation:
    """A violation at a call, and its reasons. `open`: an obligation is unmet, and nothing violated
    yet.

    `witnesses` are the calls that make the formula false; of an unmet obligation, those that caused
    it. `event` is the number of the event if it is a message or a step; it comes before `call`.
    """

    call: int
    reasons: tuple[Reason, ...]
    open: bool = False
    witnesses: tuple[int, ...] = ()
    event: int | None = None


def lacking_key(reader: Reader, events: Sequence[Event]) -> Iterator[Explanation]:
    """Yield an explanation for each call that violates because it lacks the field the
    clause is split by.
    """
    clause, number = reader.clause, 0
    for event in events:
        if not isinstance(event, CallEvent):
            continue
        if reader.part(event.call) is None and clause.can_break(event.call):
            said = [Reason("unread", number, each) for each in unread_keys(clause, event.call)]
            yield Explanation(number, tuple(said), witnesses=(number,))
        number += 1


def by_call(found: Iterable[Explanation], events: Sequence[Event]) -> list[Explanation]:
    """Return the explanations with the numbers of calls instead of those of events."""
    calls = list(accumulate((isinstance(event, CallEvent) for event in events), initial=0))
    own = {at for at, event in enumerate(events) if isinstance(event, (MessageEvent, StepEvent))}

    def mine(at: int) -> int | None:
        return at if at in own else None

    def told(reason: Reason) -> Reason:
        at = reason.call
        return reason if at is None else Reason(reason.what, calls[at], reason.text, mine(at))

    return [
        Explanation(
            calls[each.call],
            tuple(map(told, each.reasons)),
            each.open,
            tuple(calls[at] for at in each.witnesses),
            mine(each.call),
        )
        for each in found
    ]


def merge_explanations(each: Sequence[Explanation]) -> list[Explanation]:
    """Return one explanation for each event and kind, with the reasons of all."""
    found: dict[tuple[int, int | None, bool], Explanation] = {}
    for one in each:
        name = (one.call, one.event, one.open)
        old = found.get(name, replace(one, reasons=(), witnesses=()))
        reasons = tuple(dict.fromkeys((*old.reasons, *one.reasons)))
        witnesses = tuple(sorted({*old.witnesses, *one.witnesses}))
        found[name] = replace(old, reasons=reasons, witnesses=witnesses)
    return list(found.values())


@dataclass(slots=True)
class _OpenCall:
    tool: str
    call: int
    change: Change


@dataclass(slots=True)
class _ClausePlayback:
    """The state of one clause for one value while a trace is played, and when registers last
    changed.

    `key` has the values of its variables, or of the fields it is split by. `changed` has the event
    at which each register last changed, `obligations` what each call has caused that is not met
    yet, `unread` what could not be read so far, and at which call.
    """

    clause: Clause
    key: Key | None
    state: ClauseState
    reader: Reader
    context: Context = NOTHING_TOLD
    seen: int = 0
    counted: int = 0
    at: int = 0
    time: float = 0.0
    changed: dict[int, int] = field(default_factory=dict)
    obligations: list[tuple[int, Residual]] = field(default_factory=list)
    flights: dict[str, _OpenCall] = field(default_factory=dict)
    unread: list[Reason] = field(default_factory=list)


def explanations(reader: Reader, events: Sequence[Event], key: Key | None) -> list[Explanation]:
    """Return the violations and unmet obligations for these values of variables, in order.

    `reader` is of this very trace.
    """
    clause = reader.clause
    playback = _ClausePlayback(clause, key, clause.start, reader)
    if _is_explained_by_call(playback):
        calls = (at for at, event in enumerate(events) if isinstance(event, CallEvent))
        first = next(calls, len(events))
        playback.obligations = [
            (first, each) for live in clause.monitor.start.live for each in live
        ]
    found: list[Explanation] = []
    for playback.at, (event, before, after) in enumerate(reader.moments(events)):
        playback.context = before
        found.extend(_play(playback, event, after))
    playback.at = len(events)
    return by_call([*found, *_expire(playback, playback.time), *_open_at_end(playback)], events)


def _play(playback: _ClausePlayback, event: Event, after: Context) -> Iterator[Explanation]:
    match event:
        case FactEvent(_, _, time):
            playback.time = max(playback.time, time)
        case CallEvent(call, result):
            yield from _step(playback, call, call.time)
            if result is not None:
                playback.context = after
                yield from _settle(playback, call.id, result, call.time)
        case ResultEvent(id, result, time):
            playback.context = after
            yield from _settle(playback, id, result, time)
        case MessageEvent(message, _):
            yield from _step(playback, message, message.time)
        case StepEvent(step):
            yield from _step(playback, step, step.time)


def _step(playback: _ClausePlayback, event: Happening, time: float) -> Iterator[Explanation]:
    clause = playback.clause
    yield from _expire(playback, time)
    kind = kind_of(event)
    if kind not in clause.kinds or not _is_of_key(playback, event):
        return
    try:
        letter = _letter(playback, event)
    except Exception as error:  # an atom is user code; a clause that cannot be read is violated
        raised = Reason("unread", playback.at, f"an atom raised {type(error).__name__}")
        yield Explanation(playback.at, (raised,), witnesses=(playback.at,))
        return
    at, before = PositionCounts(playback.seen, playback.counted), playback.state
    after = clause.step(before, letter, kind, at, playback.time)
    lost = playback.reader.unread(event, playback.context, letter)
    yield from _advance_obligations(
        playback, letter, at, playback.time, inside=kind in clause.counts
    )
    if after.violated:
        mine = () if _is_explained_by_call(playback) else (playback.at,)
        why = _reasons(playback, before, letter, at, lost)
        yield Explanation(playback.at, why, witnesses=mine)
    playback.unread += [
        Reason("unread", playback.at, each) for words in lost.values() for each in words
    ]
    _set_state(playback, after.state)
    playback.seen, playback.counted = playback.seen + 1, playback.counted + (kind in clause.counts)
    if isinstance(event, Call):
        given = (
            ()
            if clause.bindings is None
            else playback.reader.bound_letters(event, playback.context).given
        )
        change = Change(0, playback.key, at, after.state, letter, given)
        playback.flights[event.id] = _OpenCall(event.tool, playback.at, change)


def _is_of_key(playback: _ClausePlayback, event: Happening) -> bool:
    """True if the event has the key of this playback, or the clause is not split by fields."""
    if not playback.clause.by:
        return True
    return isinstance(event, Call) and playback.reader.part(event) == playback.key


def _letter(playback: _ClausePlayback, event: Happening) -> Letter:
    bindings = playback.clause.bindings
    if bindings is None:
        return playback.clause.read(event, playback.context)
    reading = playback.reader.bound_letters(event, playback.context)
    assert playback.key is not None
    return reading.keys.get(playback.key) or bindings.letter(
        reading.others, reading.seen, playback.key
    )


def _settle(
    playback: _ClausePlayback, id: str, result: Result, time: float
) -> Iterator[Explanation]:
    yield from _expire(playback, time)
    flight, clause = playback.flights.pop(id, None), playback.clause
    if flight is None:
        return
    if clause.bindings is None:
        final = playback.reader.final(flight.change, result, flight.tool)
    else:
        final = playback.reader.revealed(flight.change, result, flight.tool).of(playback.key or ())
    vague = playback.reader.unheard(flight.change, result, flight.tool)
    playback.unread += [Reason("unread", flight.call, each) for each in vague]
    last = PositionCounts(playback.seen - 1, playback.counted - 1)
    before = playback.state
    after = clause.settle(before, flight.change, final, last, Now(playback.time, playback.context))
    lost = _settle_obligations(playback, flight.change, final, last.counted)
    if after.violated:
        told = [Reason("violates", flight.call, "its result")]
        told += [Reason("unread", flight.call, each) for each in vague]
        asked = [Reason("asks", call, "") for call in lost if call != flight.call]
        mine = lost if _is_explained_by_call(playback) else [flight.call]
        yield Explanation(flight.call, (*asked, *told), witnesses=tuple(mine))
    _set_state(playback, after.state)


def _expire(playback: _ClausePlayback, time: float) -> Iterator[Explanation]:
    """Set the time; yield an explanation if a deadline has passed."""
    clause, playback.time = playback.clause, max(playback.time, time)
    inner = playback.state.segment
    if not clause.timed or inner is None:
        return
    last = PositionCounts(playback.seen - 1, playback.counted - 1)
    after = clause.expire(playback.state, last, Now(playback.time, playback.context))
    obligations = [(call, overdue(each, playback.time)) for call, each in playback.obligations]
    state = clause.monitor.expire(inner, last.counted, playback.time).state
    lost = _remove_impossible(playback, obligations, state, last.counted)
    if after.violated:
        asked = [Reason("asks", call, "") for call in lost]
        now = Reason("violates", playback.at, "time has run out")
        yield Explanation(playback.at, (*asked, now), witnesses=tuple(lost))
    _set_state(playback, after.state)


def _set_state(playback: _ClausePlayback, state: ClauseState) -> None:
    """Replace the state, and note the event at each register that has changed."""
    before, after = playback.state.segment, state.segment
    if before is None or after is None:
        playback.changed.clear()
        playback.obligations.clear()
    else:
        for j, (old, new) in enumerate(zip(before.registers, after.registers, strict=True)):
            if old != new:
                playback.changed[playback.clause.monitor.past.cells[j].node] = playback.at
    playback.state = state


# --- obligations, by the call that caused them ------------------------------------------------


def _is_explained_by_call(playback: _ClausePlayback) -> bool:
    """True if obligations are explained by the calls that caused them: without scope
    and assumption.
    """
    clause = playback.clause
    bare = clause.kind_of_scope is None and clause.contract.assumption is None
    return bare and not clause.monitor.plain


def _advance_obligations(
    playback: _ClausePlayback, letter: Letter, at: PositionCounts, time: float, *, inside: bool
) -> Iterator[Explanation]:
    """Advance the obligations by one position; yield an explanation if one can no longer be met."""
    inner, monitor = playback.state.segment, playback.clause.monitor
    if inner is None or not inside or not _is_explained_by_call(playback):
        return
    values = monitor.past.read(letter, inner.registers, at.counted, time)
    place = Position(letter, values, at.counted, time)
    known: dict[int, Residual] = {}
    obligations = [
        (call, monitor.future.progress(each, place, known)) for call, each in playback.obligations
    ]
    roots = [root for parts in monitor.always for root in parts]
    obligations += [(playback.at, monitor.future.owed(root, place)) for root in roots]
    state = monitor.step(inner, letter, at.counted, time).state
    if lost := _remove_impossible(playback, obligations, state, at.counted):
        asked = (Reason("asks", call, "") for call in lost if call != playback.at)
        now = Reason("violates", playback.at, "no further call can still meet the obligation")
        yield Explanation(playback.at, (*asked, now), witnesses=tuple(lost))


def _remove_impossible(
    playback: _ClausePlayback,
    obligations: Sequence[tuple[int, Residual]],
    state: State,
    position: int,
) -> list[int]:
    """Return the calls whose obligations can no longer be met; the playback keeps those
    of the others.
    """
    possible = playback.clause.monitor.possible
    owing = [(call, conjunction([each]), each) for call, each in obligations]
    lost = [call for call, owed, _ in owing if not possible(owed, state, position)]
    playback.obligations = [(call, each) for call, owed, each in owing if owed and call not in lost]
    return list(dict.fromkeys(lost))


def _settle_obligations(
    playback: _ClausePlayback, change: Change, final: Mapping[int, Any], last: int
) -> list[int]:
    """Apply a result to the obligations; return the calls whose obligations can no
    longer be met.
    """
    inner = playback.state.segment
    if inner is None or not _is_explained_by_call(playback):
        return []
    obligations = [
        (call, settle_residual(each, change.at.counted, final))
        for call, each in playback.obligations
    ]
    state = playback.clause.monitor.settle(inner, change.at.counted, final, last).state
    return _remove_impossible(playback, obligations, state, last)


def _open_at_end(playback: _ClausePlayback) -> Iterator[Explanation]:
    """Yield an explanation for each obligation that is unmet at the end, by the call
    that caused it.
    """
    monitor = playback.clause.monitor
    for call, each in playback.obligations:
        if playback.clause.open_ends(playback.state) and monitor.open_ends([conjunction([each])]):
            missing = owed(playback.clause, conjunction([each])).partition("still missing: ")[2]
            asks = Reason("asks", call, missing)
            yield Explanation(call, (asks,), open=True, witnesses=(call,))


def _reasons(
    playback: _ClausePlayback, before: ClauseState, letter: Letter, at: PositionCounts, lost: Unread
) -> tuple[Reason, ...]:
    """Return the reasons of a violation that no result and no time has to decide.

    Where something was missing or counted, also return what could not be read before.
    """
    inner, monitor = before.segment, playback.clause.monitor
    if inner is None:
        return ()
    values = monitor.past.read(letter, inner.registers, at.counted, playback.time)
    roots = (root for parts in monitor.always for root in parts)
    judged = JudgedPosition(monitor.program, values, playback.changed, playback.at, lost)
    found = reasons_of(judged, roots)
    past = any(each.what in ("missing", "counted") for each in found)
    return (*found, *(playback.unread if past else ()))
