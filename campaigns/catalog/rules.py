"""Recounts of the patterns of the catalog, in plain Python.

In: the calls that a rule is about. Out: a recount: from the moments of a trace to where the rule
spoke and where it was broken. Written from the catalog's sentences; nothing of the engine is used.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from decimal import Decimal

from campaigns.catalog.which import Fits, calls, values
from campaigns.recount import AT_THE_END, Found, Moment, Recount


def only(fits: Fits, fine: Fits) -> Recount:
    """Recount: each of these moments is fine by itself."""

    def recount(trace: Sequence[Moment]) -> Found:
        found = Found()
        for now in trace:
            if fits(now):
                found.speaks(now.at, broken=not fine(now))
        return found

    return recount


def after(then: Fits, *firsts: Fits) -> Recount:
    """Recount: each of `then` has one of each of `firsts` somewhere before it."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, seen = Found(), [False] * len(firsts)
        for now in trace:
            if then(now):
                found.speaks(now.at, broken=not all(seen))
            seen = [had or first(now) for had, first in zip(seen, firsts, strict=True)]
        return found

    return recount


def anew(action: Fits, leave: Fits, same: tuple[str, ...] = ()) -> Recount:
    """Recount: each action has a leave of its own, given since the one before.

    This holds for each value of `same`.
    """

    def recount(trace: Sequence[Moment]) -> Found:
        found, given = Found(), set[str | None]()
        for now in trace:
            key = values(now, same)
            if action(now):
                found.speaks(now.at, broken=key is None or key not in given)
                given.discard(key)
            elif leave(now) and key is not None:
                given.add(key)
        return found

    return recount


def for_each(tool: str, field: str, rule: Callable[[str], Recount]) -> Recount:
    """Recount: the rule holds for each value that the field has in a call of the tool."""

    def recount(trace: Sequence[Moment]) -> Found:
        found = Found()
        for value in {values(now, (field,)) for now in trace if now.tool == tool} - {None}:
            one = rule(str(value))(trace)
            found.triggered += one.triggered
            found.broken += one.broken
        return found

    return recount


def at_once(trigger: Fits, response: Fits) -> Recount:
    """Recount: the call right after the trigger is the response."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, waits = Found(), False
        for now in calls(trace):
            if waits and not response(now):
                found.broken.append(now.at)
            waits = trigger(now)
            if waits:
                found.triggered.append(now.at)
        if waits:
            found.broken.append(AT_THE_END)
        return found

    return recount


def answered(trigger: Fits, response: Fits) -> Recount:
    """Recount: after the last trigger there is a response."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, waits = Found(), False
        for now in calls(trace):
            if response(now):
                waits = False
            if trigger(now):
                found.triggered.append(now.at)
                waits = True
        if waits:
            found.broken.append(AT_THE_END)
        return found

    return recount


def soon(trigger: Fits, action: Fits, steps: int) -> Recount:
    """Recount: one of the next `steps` calls is the action; the last is to blame if none is."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, every = Found(), calls(trace)
        for place, now in enumerate(every):
            if not trigger(now):
                continue
            found.triggered.append(now.at)
            following = every[place + 1 : place + 1 + steps]
            if not any(map(action, following)):
                whole = len(following) == steps
                found.broken.append(following[-1].at if whole else AT_THE_END)
        return found

    return recount


def few(fits: Fits, limit: int, *, steps: int | None = None, seconds: int | None = None) -> Recount:
    """Recount: at most `limit` such calls, in all, of the last calls, or in the last seconds.

    No trace has times; each event then happens a second after the one before.
    """

    def recount(trace: Sequence[Moment]) -> Found:
        found, before = Found(), deque[tuple[int, int]]()
        for second, now in enumerate(trace):
            if not fits(now):
                continue
            before.append((now.at, second))
            while steps is not None and before[0][0] <= now.at - steps:
                before.popleft()
            while seconds is not None and before[0][1] <= second - seconds:
                before.popleft()
            found.speaks(now.at, broken=len(before) > limit)
        return found

    return recount


def once_each(fits: Fits, fields: tuple[str, ...], *, tries: bool) -> Recount:
    """Recount: once for each combination of values; `tries`: calls before that failed count as
    well.

    Whether the call itself will fail is not known when it is made.
    """

    def recount(trace: Sequence[Moment]) -> Found:
        found, seen = Found(), set[str | None]()
        for now in trace:
            if fits(now):
                key = values(now, fields)
                found.speaks(now.at, broken=key is None or key in seen)
                if tries or now.ok:
                    seen.add(key)
        return found

    return recount


def total(
    fits: Fits, field: str, limit: int, *, by: tuple[str, ...] = (), steps: int | None = None
) -> Recount:
    """Recount: the amounts of all calls, or of the last `steps`, sum up to at most the limit."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, paid = Found(), list[tuple[int, str | None, Decimal]]()
        for now in trace:
            if not fits(now):
                continue
            key, amount = values(now, by), now.args.get(field)
            if isinstance(amount, bool) or not isinstance(amount, (int, float)):
                found.speaks(now.at, broken=True)
                continue
            paid.append((now.at, key, Decimal(str(amount))))
            since = -1 if steps is None else now.at - steps
            sum_of = sum(each for at, of_key, each in paid if at > since and of_key == key)
            found.speaks(now.at, broken=key is None or amount < 0 or sum_of > limit)
        return found

    return recount


def reviewed(source: Fits, gate: Fits, sink: Fits) -> Recount:
    """Recount: between the last call of the source, even a failed one, and a sink is a gate."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, read, waits = Found(), False, False
        for now in trace:
            if read and sink(now):
                found.speaks(now.at, broken=waits)
            if source(now):
                read = waits = True
            elif gate(now):
                waits = False
        return found

    return recount


def fresh(approval: Fits, action: Fits, steps: int) -> Recount:
    """Recount: one of the `steps` calls before the action is an approval."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, every = Found(), calls(trace)
        for place, now in enumerate(every):
            if action(now):
                before = every[max(0, place - steps) : place]
                found.speaks(now.at, broken=not any(map(approval, before)))
        return found

    return recount


def unchanged(fits: Fits, field: str, key: str | None = None) -> Recount:
    """Recount: the field keeps the value of the last such call that has not failed, for each value
    of `key`.

    A call without the key is broken.
    """

    def recount(trace: Sequence[Moment]) -> Found:
        found, last = Found(), dict[str | None, str | None]()
        for now in trace:
            if not fits(now):
                continue
            name = values(now, (key,) if key else ())
            value = values(now, (field,))
            found.speaks(now.at, broken=name is None or last.get(name, value) != value)
            if now.ok:
                last[name] = value
        return found

    return recount


def settled(fits: Fits, field: str, event: Fits) -> Recount:
    """Recount: after an event the field has the value of the last such call before it.

    Calls that failed do not count. If there was none before it, the value is that of the first call
    since. The rule speaks from the first event on.
    """

    def recount(trace: Sequence[Moment]) -> Found:
        found, happened = Found(), False
        last: str | None = None
        kept: str | None = None
        for now in trace:
            if fits(now):
                value = values(now, (field,))
                if happened:
                    found.speaks(now.at, broken=kept is not None and value != kept)
                if now.ok:
                    last = value
                    kept = value if happened and kept is None else kept
            elif event(now):
                happened, kept = True, last
        return found

    return recount


def repeated(fits: Fits, same: Callable[[Moment, Moment], bool]) -> Recount:
    """Recount: no such call is the same as the one right before it.

    It speaks at each such call right after another of them.
    """

    def recount(trace: Sequence[Moment]) -> Found:
        found, before = Found(), None
        for now in calls(trace):
            if before is not None and fits(before) and fits(now):
                found.speaks(now.at, broken=same(before, now))
            before = now
        return found

    return recount
