"""Explains from a recorded trace why a clause is violated: the calls that matter, and their part in
it.

In: a clause, the events of a trace, and the values of its variables. Out: `Explanation`: what is
violated at which call; what forbade it, what was missing and since when, what is still owed. The
monitor is played again, one value at a time; no decision is made from it. Events go by their number
in the trace here; testimonies name them by the number of their calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from sponsio_like.engine import Clause, Unread, owed, why_unread
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
    split_key,
)
from sponsio_like.replay.reread import Reader
from sponsio_like.traces import CallEvent, Event, FactEvent, MessageEvent, ResultEvent, StepEvent


@dataclass(frozen=True, slots=True)
class Explanation:
    """A violation at a call, and its reasons; `open`: something is owed, nothing violated yet.

    `witnesses` are the calls that make the formula false; of something owed, those that asked for
    it. `event` is the number of the event, if that is a message or a step, which stands before the
    `call`.
    """

    call: int
    reasons: tuple[Reason, ...]
    open: bool = False
    witnesses: tuple[int, ...] = ()
    event: int | None = None


def lacking(reader: Reader, events: Sequence[Event]) -> Iterator[Explanation]:
    """Yield a testimony for each call that violates because it lacks the splitting field."""
    clause, number = reader.clause, 0
    for event in events:
        if not isinstance(event, CallEvent):
            continue
        if reader.part(event.call) is None and clause.can_break(event.call):
            call = event.call
            lost = [path for path in clause.by if split_key(call, (path,)) is None]
            said = [Reason("unread", number, why_unread(path, call.args)) for path in lost]
            yield Explanation(number, tuple(said), witnesses=(number,))
        number += 1


def by_call(found: Iterable[Explanation], events: Sequence[Event]) -> list[Explanation]:
    """Return the testimonies with numbers of calls in the place of numbers of events."""
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
    """Return one testimony for each event and kind, with all their reasons."""
    found: dict[tuple[int, int | None, bool], Explanation] = {}
    for one in each:
        name = (one.call, one.event, one.open)
        old = found.get(name, replace(one, reasons=(), witnesses=()))
        reasons = tuple(dict.fromkeys((*old.reasons, *one.reasons)))
        witnesses = tuple(sorted({*old.witnesses, *one.witnesses}))
        found[name] = replace(old, reasons=reasons, witnesses=witnesses)
    return list(found.values())


@dataclass(slots=True)
class _Flight:
    tool: str
    call: int
    change: Change


@dataclass(slots=True)
class _Story:
    """The state of one clause for one value, and when each register last changed.

    `key` has the values of its variables, or those that it is split by; `unread` what could not be
    read so far, and at which call.
    """

    clause: Clause
    key: Key | None
    watch: ClauseState
    reader: Reader
    context: Context = NOTHING_TOLD
    seen: int = 0
    counted: int = 0
    at: int = 0
    time: float = 0.0
    flips: dict[int, int] = field(default_factory=dict)
    born: list[tuple[int, Residual]] = field(default_factory=list)
    flights: dict[str, _Flight] = field(default_factory=dict)
    unread: list[Reason] = field(default_factory=list)


def explanations(reader: Reader, events: Sequence[Event], key: Key | None) -> list[Explanation]:
    """Return everything that goes wrong for these values, in order.

    `reader` is of this very trace.
    """
    clause = reader.clause
    story = _Story(clause, key, clause.start, reader)
    if _is_told(story):
        calls = (at for at, event in enumerate(events) if isinstance(event, CallEvent))
        first = next(calls, len(events))
        story.born = [(first, each) for live in clause.monitor.start.live for each in live]
    found: list[Explanation] = []
    for story.at, (event, before, after) in enumerate(reader.moments(events)):
        story.context = before
        found.extend(_told(story, event, after))
    story.at = len(events)
    return by_call([*found, *_late(story, story.time), *_left(story)], events)


def _told(story: _Story, event: Event, after: Context) -> Iterator[Explanation]:
    match event:
        case FactEvent(_, _, time):
            story.time = max(story.time, time)
        case CallEvent(call, result):
            yield from _step(story, call, call.time)
            if result is not None:
                story.context = after
                yield from _settle(story, call.id, result, call.time)
        case ResultEvent(id, result, time):
            story.context = after
            yield from _settle(story, id, result, time)
        case MessageEvent(message, _):
            yield from _step(story, message, message.time)
        case StepEvent(step):
            yield from _step(story, step, step.time)


def _step(story: _Story, event: Happening, time: float) -> Iterator[Explanation]:
    clause = story.clause
    yield from _late(story, time)
    kind = kind_of(event)
    if kind not in clause.kinds or not _is_mine(story, event):
        return
    try:
        letter = _letter(story, event)
    except Exception as error:  # an atom is user code; a clause that cannot be read is violated
        raised = Reason("unread", story.at, f"an atom raised {type(error).__name__}")
        yield Explanation(story.at, (raised,), witnesses=(story.at,))
        return
    at, before = PositionCounts(story.seen, story.counted), story.watch
    after = clause.step(before, letter, kind, at, story.time)
    lost = story.reader.unread(event, story.context, letter)
    yield from _born(story, letter, at, story.time, inside=kind in clause.counts)
    if after.violated:
        mine = () if _is_told(story) else (story.at,)
        why = _reasons(story, before, letter, at, lost)
        yield Explanation(story.at, why, witnesses=mine)
    story.unread += [Reason("unread", story.at, each) for words in lost.values() for each in words]
    _keep(story, after.watch)
    story.seen, story.counted = story.seen + 1, story.counted + (kind in clause.counts)
    if isinstance(event, Call):
        given = () if clause.bound is None else story.reader.sight(event, story.context).given
        change = Change(0, story.key, at, after.watch, letter, given)
        story.flights[event.id] = _Flight(event.tool, story.at, change)


def _is_mine(story: _Story, event: Happening) -> bool:
    """True if the event belongs to this monitor, if the clause is split."""
    if not story.clause.by:
        return True
    return isinstance(event, Call) and story.reader.part(event) == story.key


def _letter(story: _Story, event: Happening) -> Letter:
    bound = story.clause.bound
    if bound is None:
        return story.clause.read(event, story.context)
    sight = story.reader.sight(event, story.context)
    assert story.key is not None
    return sight.keys.get(story.key) or bound.letter(sight.others, sight.seen, story.key)


def _settle(story: _Story, id: str, result: Result, time: float) -> Iterator[Explanation]:
    yield from _late(story, time)
    flight, clause = story.flights.pop(id, None), story.clause
    if flight is None:
        return
    if clause.bound is None:
        final = story.reader.final(flight.change, result, flight.tool)
    else:
        final = story.reader.revealed(flight.change, result, flight.tool).of(story.key or ())
    vague = story.reader.unheard(flight.change, result, flight.tool)
    story.unread += [Reason("unread", flight.call, each) for each in vague]
    last = PositionCounts(story.seen - 1, story.counted - 1)
    before = story.watch
    after = clause.settle(before, flight.change, final, last, Now(story.time, story.context))
    lost = _born_settled(story, flight.change, final, last.counted)
    if after.violated:
        told = [Reason("violates", flight.call, "its result")]
        told += [Reason("unread", flight.call, each) for each in vague]
        asked = [Reason("asks", call, "") for call in lost if call != flight.call]
        mine = lost if _is_told(story) else [flight.call]
        yield Explanation(flight.call, (*asked, *told), witnesses=tuple(mine))
    _keep(story, after.watch)


def _late(story: _Story, time: float) -> Iterator[Explanation]:
    """Let time pass; yield the violations of what was due before it."""
    clause, story.time = story.clause, max(story.time, time)
    inner = story.watch.segment
    if not clause.timed or inner is None:
        return
    last = PositionCounts(story.seen - 1, story.counted - 1)
    after = clause.expire(story.watch, last, Now(story.time, story.context))
    born = [(call, overdue(each, story.time)) for call, each in story.born]
    state = clause.monitor.expire(inner, last.counted, story.time).state
    lost = _sorted_out(story, born, state, last.counted)
    if after.violated:
        asked = [Reason("asks", call, "") for call in lost]
        now = Reason("violates", story.at, "time has run out")
        yield Explanation(story.at, (*asked, now), witnesses=tuple(lost))
    _keep(story, after.watch)


def _keep(story: _Story, watch: ClauseState) -> None:
    """Keep the state after an event, and note it for the registers that have changed."""
    before, after = story.watch.segment, watch.segment
    if before is None or after is None:
        story.flips.clear()
        story.born.clear()
    else:
        for j, (old, new) in enumerate(zip(before.registers, after.registers, strict=True)):
            if old != new:
                story.flips[story.clause.monitor.past.cells[j].node] = story.at
    story.watch = watch


# --- what is owed, by the call that asked for it ----------------------------------------------


def _is_told(story: _Story) -> bool:
    """True if what is owed is explained call by call: without a scope or an assumption."""
    clause = story.clause
    bare = clause.kind_of_scope is None and clause.contract.assumption is None
    return bare and not clause.monitor.plain


def _born(
    story: _Story, letter: Letter, at: PositionCounts, time: float, *, inside: bool
) -> Iterator[Explanation]:
    """Advance by one position what each call asks for; yield what can no longer be given."""
    inner, monitor = story.watch.segment, story.clause.monitor
    if inner is None or not inside or not _is_told(story):
        return
    values = monitor.past.read(letter, inner.registers, at.counted, time)
    place = Position(letter, values, at.counted, time)
    known: dict[int, Residual] = {}
    born = [(call, monitor.future.progress(each, place, known)) for call, each in story.born]
    roots = [root for parts in monitor.always for root in parts]
    born += [(story.at, monitor.future.owed(root, place)) for root in roots]
    state = monitor.step(inner, letter, at.counted, time).state
    if lost := _sorted_out(story, born, state, at.counted):
        asked = (Reason("asks", call, "") for call in lost if call != story.at)
        now = Reason("violates", story.at, "no further call can still meet the obligation")
        yield Explanation(story.at, (*asked, now), witnesses=tuple(lost))


def _sorted_out(
    story: _Story, born: Sequence[tuple[int, Residual]], state: State, position: int
) -> list[int]:
    """Return the calls that asked for what can no longer be given; keep what the others ask for."""
    possible = story.clause.monitor.possible
    owing = [(call, conjunction([each]), each) for call, each in born]
    lost = [call for call, owed, _ in owing if not possible(owed, state, position)]
    story.born = [(call, each) for call, owed, each in owing if owed and call not in lost]
    return list(dict.fromkeys(lost))


def _born_settled(story: _Story, change: Change, final: Mapping[int, Any], last: int) -> list[int]:
    """Advance by a result what calls ask for; return those that can no longer be answered."""
    inner = story.watch.segment
    if inner is None or not _is_told(story):
        return []
    born = [(call, settle_residual(each, change.at.counted, final)) for call, each in story.born]
    state = story.clause.monitor.settle(inner, change.at.counted, final, last).state
    return _sorted_out(story, born, state, last)


def _left(story: _Story) -> Iterator[Explanation]:
    """Yield what is open at the end, by the calls that asked for it."""
    monitor = story.clause.monitor
    for call, each in story.born:
        if story.clause.open_ends(story.watch) and monitor.open_ends([conjunction([each])]):
            missing = owed(story.clause, conjunction([each])).partition("still missing: ")[2]
            asks = Reason("asks", call, missing)
            yield Explanation(call, (asks,), open=True, witnesses=(call,))


def _reasons(
    story: _Story, before: ClauseState, letter: Letter, at: PositionCounts, lost: Unread
) -> tuple[Reason, ...]:
    """Return the reasons of a violation that is judged at once.

    Where something was missing or counted, also what could not be read before.
    """
    inner, monitor = before.segment, story.clause.monitor
    if inner is None:
        return ()
    values = monitor.past.read(letter, inner.registers, at.counted, story.time)
    roots = (root for parts in monitor.always for root in parts)
    sight = JudgedPosition(monitor.program, values, story.flips, story.at, lost)
    found = reasons_of(sight, roots)
    past = any(each.what in ("missing", "counted") for each in found)
    return (*found, *(story.unread if past else ()))
