"""What a contract's guarantee says at each event of a session: verdicts, reports, scopes.

In: a guarantee (nested tuples, see `tests/reference/oracle.py`) and the events. Out: after each
event the verdict and what is reported; at the end what is unfulfilled; whether a call would
violate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tests.reference.oracle import (
    FUTURE,
    PAST,
    Event,
    Formula,
    clock,
    close,
    holds,
    kinds,
    positions,
    tick,
    under,
)
from tests.reference.oracle_exact import possible
from tests.reference.oracle_search import Answers, Question, gaps

Scope: TypeAlias = tuple[str, *tuple[Formula, ...]]
"""`("after", f)`, `("before", f)`, `("between", f, g)` or `("after_until", f, g)`."""
Judge: TypeAlias = Callable[[Formula, Sequence[Question], Sequence[Event]], Answers]


@dataclass(frozen=True)
class Report:
    """A violation: at which event, at which position of the clause's own trace, why."""

    moment: int
    position: int | None  # None: no position of this clause (time ran out, the segment ended)
    reason: str  # "instance" | "joint"
    instances: tuple[Question, ...] = ()
    expired: bool = False  # found when time had passed, before the event itself was looked at


@dataclass(frozen=True)
class Run:
    """A guarantee over a session: `verdicts[n]` is that before event n, so the last is final."""

    reports: tuple[Report, ...]
    verdicts: tuple[str, ...]
    unfulfilled: tuple[Question, ...]


# --- how a guarantee is read --------------------------------------------------------------------


def is_past(f: Formula) -> bool:
    """No future operator stands in `f`."""
    return all(g[0] not in FUTURE for g in under(f))


def strict(f: Formula, positive: bool = True) -> Formula:
    """A comparison that cannot be made is to violate: mark those (`?`) that violate by being true.

    More truth in the body makes a count greater and a distance smaller; for `=` and `!=` there is
    no direction, and a fact in a body that cannot be known counts as false. So it does where the
    latest position is looked for; but a result counts as arrived if it may be of such a call.
    """
    match f:
        case ("prop", *rest):
            return ("prop" if positive else "prop?", *rest)
        case ("compare", left, op, right):
            up = {"<": not positive, "<=": not positive}.get(op, positive)
            sides = (left, up), (right, not up)
            even = op in ("=", "!=")
            terms = [strict(term, True if even else way) for term, way in sides]
            return ("compare" if positive else "compare?", terms[0], op, terms[1])
        case ("count", g, reset, bound):
            return ("count", strict(g, positive), reset and strict(reset, not positive), bound)
        case ("last", term, g):
            return ("last", strict(term, positive), strict(g, True))
        case ("delivered" | "denied" | "denied like" as name, g, *how):
            return (name, strict(g, False), *how)
        case ("not" | "since" | "age", g):
            return (f[0], strict(g, not positive))
        case ("implies", g, h):
            return ("or", ("not", strict(g, not positive)), strict(h, positive))
        case ("iff", g, h):
            return strict(("and", ("implies", g, h), ("implies", h, g)), positive)
    return tuple(strict(g, positive) if isinstance(g, tuple) else g for g in f)


def conjuncts(f: Formula) -> Iterator[Formula]:
    """The conjuncts as they are read; `f W g` of present and past is `G(f | O g)`, and so on."""
    match f:
        case ("and", *parts):
            for part in parts:
                yield from conjuncts(part)
        case ("W", g, h) if is_past(g) and is_past(h):
            yield ("G", ("or", g, ("O", h)))
        case ("U", g, h) if is_past(g) and is_past(h):
            yield from (("G", ("or", g, ("O", h))), ("F", h))
        case ("R", g, h) if is_past(g) and is_past(h):
            yield ("G", ("or", h, ("Y", ("O", g))))
        case _:
            yield f


def reading(f: Formula) -> tuple[list[Formula], Formula]:
    """The always conjuncts `G g` of a guarantee, and the conjunction of all others."""
    if any(g[0] in PAST and not is_past(g) for g in under(f)):
        raise ValueError("a past operator has a future operator below it")
    parts = list(conjuncts(strict(f)))
    always = [g for g in parts if g[0] == "G" and len(g) == 2]
    rest = [g for g in parts if g not in always]
    return always, ("and", *rest) if rest else ("true",)


def as_read(f: Formula) -> Formula:
    always, rest = reading(f)
    return ("and", *always, rest)


# --- one guarantee over one session -------------------------------------------------------------


def verdict(f: Formula, events: Sequence[Event], judge: Judge = possible) -> str:
    """Can the events go on so that `f` holds (over the whole trace), or so that it does not?"""
    return named({answer for (answer,) in judge(as_read(f), [(as_read(f), 0)], events)})


def named(outcomes: set[bool]) -> str:
    if len(outcomes) == 2:
        return "inconclusive"
    return "satisfied" if True in outcomes else "violated"


def run(f: Formula, events: Sequence[Event], judge: Judge = possible) -> Run:
    """Watch the guarantee, event by event; what is violated is let through."""
    always, rest = reading(f)
    whole = ("and", *always, rest)
    live: list[Question] = [(rest, 0)]
    lost, length = False, 0
    reports: list[Report] = []
    verdicts: list[str] = []
    for moment, expired, shown in stages(whole, events):
        trace = positions(shown, kinds(f))
        for i in range(length, len(trace)):
            live += [(g[1], i) for g in always]
        length = len(trace)
        questions = [*live, *((g, length) for g in always), (whole, 0)]
        worlds = judge(whole, questions, shown)
        dead = [k for k in range(len(live)) if not any(world[k] for world in worlds)]
        dead = dead if moment >= 0 else []
        kept = [k for k in range(len(questions) - 1) if k not in dead]
        joint = any(all(world[k] for k in kept) for world in worlds)
        if moment >= 0 and (dead or (not joint and not lost)):
            place = None if expired else where(shown, kinds(f))
            reason = "instance" if dead else "joint"
            reports.append(Report(moment, place, reason, tuple(live[k] for k in dead), expired))
        live = [question for k, question in enumerate(live) if k not in dead]
        lost = not joint
        if not expired:
            verdicts.append(named({world[-1] for world in worlds}))
    return Run(tuple(reports), tuple(verdicts), unfulfilled(whole, live, events, judge))


def stages(f: Formula, events: Sequence[Event]) -> Iterator[tuple[int, bool, list[Event]]]:
    """What is known at each step: before any event; as time has passed; after each event."""
    times = clock(events)
    yield -1, False, []
    for moment, event in enumerate(events):
        if gaps(f) != [0.0]:
            yield moment, True, [*events[:moment], tick(times[moment])]
        yield moment, False, [*events[:moment], replace(event, time=times[moment])]


def where(shown: Sequence[Event], counted: frozenset[str]) -> int | None:
    """The position that the last event makes or settles."""
    last = len(shown) - 1
    target = shown[-1].of if shown[-1].kind == "settle" else last
    decided = [p.decided for p in positions(shown, counted)]
    return decided.index(target) if target in decided else None


def unfulfilled(
    whole: Formula, live: Sequence[Question], events: Sequence[Event], judge: Judge = possible
) -> tuple[Question, ...]:
    """The live instances that are false if the session ends here, whatever way results are read."""
    worlds = judge(whole, live, [*events, close(clock(events)[-1] if events else 0.0)])
    return tuple(q for k, q in enumerate(live) if not all(world[k] for world in worlds))


def would_violate(f: Formula, events: Sequence[Event], candidate: Event) -> bool:
    """Is the call (not yet settled) itself a violation? Lost time is not its fault."""
    reports = run(f, [*events, candidate]).reports
    return any(r.moment == len(events) and not r.expired for r in reports)


# --- scopes -------------------------------------------------------------------------------------


def segments(scope: Scope, events: Sequence[Event]) -> list[tuple[int, int | None]]:
    """Where the guarantee is in force: the first event of each segment, and the one that ends it.

    A segment ends at the first end that comes after its beginning; the same position may end one
    and begin the next.
    """
    kind, *conditions = scope
    truths = [true_at(condition, events) for condition in conditions]
    begins, ends = (truths[0], truths[-1] if len(truths) > 1 else set[int]())
    if kind == "before":
        return [(0, min(begins, default=None))]
    if kind == "after":
        return [(min(begins), None)] if begins else []
    found: list[tuple[int, int | None]] = []
    for moment in range(len(events)):
        is_open = bool(found) and found[-1][1] is None
        if is_open and moment in ends:
            found[-1] = (found[-1][0], moment)
            is_open = False
        if not is_open and moment in begins:
            found.append((moment, None))
    return found


def true_at(condition: Formula, events: Sequence[Event]) -> set[int]:
    """The events at whose positions the condition holds."""
    trace = positions(events, kinds(condition))
    return {int(p.decided) for i, p in enumerate(trace) if holds(condition, trace, i)}


def within(events: Sequence[Event], begin: int, end: int | None) -> list[Event]:
    """The session as a segment sees it: other positions only pass time, at `end` it is closed."""
    masked = []
    for moment, (event, time) in enumerate(zip(events, clock(events), strict=True)):
        if moment == end:
            masked.append(close(time))
        elif event.kind == "settle" or begin <= moment < (len(events) if end is None else end):
            masked.append(replace(event, time=time))
        else:
            masked.append(tick(time))
    return masked


def run_scoped(f: Formula, scope: Scope, events: Sequence[Event]) -> list[Run]:
    """One run for each segment. An open `between` or `before` leaves nothing unfulfilled."""
    runs = []
    for begin, end in segments(scope, events):
        found = run(f, within(events, begin, end))
        forgiven = end is None and scope[0] in ("between", "before")
        runs.append(replace(found, unfulfilled=()) if forgiven else found)
    return runs
