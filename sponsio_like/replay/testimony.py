"""Explanations of single violations on a recorded trace: the call, its reasons, the calls to blame.

In: violations for single values. Out: one `Explanation` for each call; and those of calls that lack
the field that splits a clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from sponsio_like.engine import field
from sponsio_like.monitor import Reason, split_key
from sponsio_like.replay.reread import Reader
from sponsio_like.traces import CallEvent, Event, MessageEvent, StepEvent


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
            said = [Reason("unread", number, field(path, call.args)) for path in lost]
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
