"""The meaning of formulas, as the definitions read: quantifiers over the positions of a trace.

In: a formula as nested tuples, and the events of a session. Out: is it true at a position?
Slow, and shares no code with the engine that it judges; `tests/reference/bridge.py` translates
formulas.

Atoms:  ("true",) ("false",) ("called", tool) ("done", tool) ("failed", tool) ("output", fact)
        ("message", role) ("step", fact) ("prop", fact) ("prop", fact, kind)
        where the tool or role "*" is any, and a `prop` is some other fact of a position, by name;
        one with a kind cannot be known at positions of another kind
Others: ("not", f) ("and", f, ...) ("or", f, ...) ("implies", f, g) ("iff", f, g)
        ("X", f) ("WX", f) ("F", f) ("G", f) ("U", f, g) ("W", f, g) ("R", f, g)
        ("Y", f) ("WY", f) ("O", f) ("H", f) ("S", f, g)
        ("F", f, bound), likewise G, O, H, where a bound is ("steps", n) or ("seconds", t)
        ("compare", term, op, term)
Terms:  ("number", x) ("arg", field) ("mark", field or "*") ("since", f) ("age", f) ("repeats", f)
        ("count", f, reset or None, bound or None) ("sum", f, field, bound or None)
        ("last", term, f) ("delivered", f) ("fact age", key) ("approval age", action, role)
        ("denied", f) ("denied like", f, "tool" or "call")
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import Any, TypeAlias

Formula: TypeAlias = tuple[Any, ...]
"""A formula or a term; see above."""

FUTURE = frozenset({"X", "WX", "F", "G", "U", "W", "R"})
PAST = frozenset({"Y", "WY", "O", "H", "S", "compare", "compare?"})
REFUSED = frozenset({"denied", "denied like"})
OF_CALLS = frozenset({"arg", "mark", "denied like"})
COUNTED = frozenset({"count", "sum", "since", "age", "repeats", "last", "fact age", "approval age"})
PRESENT = frozenset({"number", "arg", "mark", "delivered", *REFUSED})
STATUS = frozenset({"done", "failed", "output"})
KIND = {
    "called": "call",
    **dict.fromkeys(STATUS, "call"),
    **dict.fromkeys(("arg", "mark", "sum", "repeats", "denied like"), "call"),
    "message": "message",
    "step": "step",
}
DECIMAL = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
SKEW = 60
"""So many seconds an approval may be ahead of the session; one of later has no age."""
END = inf
"""The moment at which everything is known."""


# --- events and the trace that they make --------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """One event of a session; `call`, `message`, `step`, `settle`, `tick` and `close` make one.

    `told`: the facts that the host has told before it, each with the time at which it did.
    """

    kind: str
    name: str = ""
    true: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()
    args: tuple[tuple[str, Any], ...] = ()
    time: float | None = None
    of: int = -1
    told: tuple[tuple[str, Any, float], ...] = ()


def call(tool: str, *true: str, time: float | None = None, **args: Any) -> Event:
    """A call of `tool` at which the facts `true` hold."""
    return Event("call", tool, frozenset(true), args=tuple(sorted(args.items())), time=time)


def message(role: str, *true: str, time: float | None = None) -> Event:
    """A message of `role` at which the facts `true` hold."""
    return Event("message", role, frozenset(true), time=time)


def step(*true: str, time: float | None = None) -> Event:
    """A plain observation of the atoms `true`."""
    return Event("step", "", frozenset(true), time=time)


def settle(of: int, status: str, *output: str, time: float | None = None) -> Event:
    """The call made by event number `of` settles, `done` or `failed`, with facts of its output."""
    return Event("settle", status, frozenset(output), time=time, of=of)


def refuse(tool: str, *true: str, time: float | None = None, **args: Any) -> Event:
    """A call of `tool` is refused, which makes no position."""
    return replace(call(tool, *true, time=time, **args), kind="refused")


def tick(time: float | None = None) -> Event:
    """Nothing but time passes."""
    return Event("tick", time=time)


def close(time: float | None = None) -> Event:
    """No position follows; calls in flight may still settle. (The end of a segment.)"""
    return Event("close", time=time)


@dataclass(frozen=True)
class Position:
    """A position of a trace. Moments are numbers of events; a call in flight has not `settled`.

    `arrived`: the calls, positions or not, whose results had arrived when this one was decided;
    `refused`: those that were refused before.
    """

    event: Event
    decided: float
    time: float = 0
    settled: tuple[float, str, frozenset[str]] | None = None
    arrived: tuple[Event, ...] = ()
    refused: tuple[Event, ...] = ()
    assumed: frozenset[Formula] | None = None  # the comparisons taken as true, where they are free


Trace: TypeAlias = tuple[Position, ...]
NOWHERE = Position(Event("nowhere"), -1)


def clock(events: Sequence[Event]) -> list[float]:
    """The time of each event; one without a time happens a second after the one before."""
    times: list[float] = []
    for event in events:
        following = times[-1] + 1 if times else 0.0
        times.append(following if event.time is None else event.time)
    return times


def positions(events: Sequence[Event], kinds: frozenset[str]) -> Trace:
    """The trace that the events make: one position for each event of one of `kinds`."""
    trace: dict[int, Position] = {}
    arrived: dict[int, Event] = {}
    refused: tuple[Event, ...] = ()
    for moment, (event, time) in enumerate(zip(events, clock(events), strict=True)):
        if event.kind in kinds:
            heard = tuple(arrived.values())
            trace[moment] = Position(event, moment, time, arrived=heard, refused=refused)
        elif event.kind == "refused":
            refused += (replace(event, kind="call"),)
        elif event.kind == "settle" and event.of not in arrived:
            arrived[event.of] = events[event.of]
            if event.of in trace:
                result = (moment, event.name, event.true)
                trace[event.of] = replace(trace[event.of], settled=result)
    return tuple(trace.values())


def children(f: Formula) -> Iterator[Formula]:
    """The formulas and terms directly under `f` (bounds are neither)."""
    return (g for g in f[1:] if isinstance(g, tuple) and g[0] not in ("steps", "seconds"))


def under(f: Formula) -> Iterator[Formula]:
    """`f` and everything under it."""
    yield f
    for g in children(f):
        yield from under(g)


@lru_cache(maxsize=1000)
def kinds(f: Formula) -> frozenset[str]:
    """The kinds of positions that `f` speaks of and therefore counts; calls, if of none."""
    named = {KIND[g[0]] for g in spoken(f) if g[0] in KIND}
    given = {g[2] for g in spoken(f) if g[0] in ("prop", "prop?") and len(g) > 2}
    return frozenset(named | given) or frozenset({"call"})


def spoken(f: Formula) -> Iterator[Formula]:
    """What `f` says of positions: not what it asks of the calls whose results have arrived."""
    yield f
    for g in children(f) if f[0] not in ("delivered", *REFUSED) else ():
        yield from spoken(g)


# --- the meaning ----------------------------------------------------------------------------------


def holds(f: Formula, trace: Trace, i: int, seen: float = END) -> bool:
    """Is `f` true at position `i`, if only what had settled at the moment `seen` is known?

    What stands under a past operator is read as it was known when its position was decided.
    Beyond the last position no atom is true and no quantifier finds anything.
    """
    here = trace[i] if i < len(trace) else NOWHERE
    kind, name, true = here.event.kind, here.event.name, here.event.true
    _, status, output = here.settled if here.settled and here.settled[0] <= seen else (0, "", set())
    if f[0] in PAST and seen == END:
        seen = here.decided
    past, future = range(min(i + 1, len(trace))), range(i, len(trace))

    def at(g: Formula, j: int) -> bool:
        return holds(g, trace, j, seen)

    match f:
        case ("true",) | ("false",):
            return f == ("true",)
        case ("called", tool):
            return kind == "call" and tool in (name, "*")
        case ("done" | "failed", tool):
            return kind == "call" and tool in (name, "*") and status == f[0]
        case ("output", fact):
            return fact in output
        case ("message", role):
            return kind == "message" and role in (name, "*")
        case ("step", fact):
            return kind == "step" and fact in true
        case ("prop", fact, *_):
            return fact in true
        case ("prop?", fact, *_):
            return fact in true or fact in here.event.unknown
        case ("not", g):
            return not at(g, i)
        case ("and", *parts):
            return all(at(g, i) for g in parts)
        case ("or", *parts):
            return any(at(g, i) for g in parts)
        case ("implies", g, h):
            return not at(g, i) or at(h, i)
        case ("iff", g, h):
            return at(g, i) == at(h, i)
        case ("X", g):
            return i + 1 < len(trace) and at(g, i + 1)
        case ("WX", g):
            return i + 1 >= len(trace) or at(g, i + 1)
        case ("F", g, *bound):
            return any(at(g, j) for j in future if near(trace, i, j, bound))
        case ("G", g, *bound):
            return all(at(g, j) for j in future if near(trace, i, j, bound))
        case ("U", g, h):
            return any(at(h, j) and all(at(g, k) for k in range(i, j)) for j in future)
        case ("W", g, h):
            return all(at(g, j) or any(at(h, k) for k in range(i, j + 1)) for j in future)
        case ("R", g, h):
            return all(at(h, j) or any(at(g, k) for k in range(i, j)) for j in future)
        case ("Y", g):
            return i > 0 and at(g, i - 1)
        case ("WY", g):
            return i == 0 or at(g, i - 1)
        case ("O", g, *bound):
            return any(at(g, j) for j in past if near(trace, i, j, bound))
        case ("H", g, *bound):
            return all(at(g, j) for j in past if near(trace, i, j, bound))
        case ("S", g, h):
            return any(at(h, j) and all(at(g, k) for k in range(j + 1, i + 1)) for j in past)
        case ("compare" | "compare?", left, op, right):
            if here.assumed is not None and not of_calls_alone(f, here):
                return loose((left, op, right)) in here.assumed
            if here is NOWHERE and {left[0], right[0]} <= PRESENT:
                return False
            pair = value(left, trace, i, seen), value(right, trace, i, seen)
            absent = [lacks(side, here) for side in (left, right)]
            known = all(x is not None or gone for x, gone in zip(pair, absent, strict=True))
            answer = compare(pair[0], op, pair[1]) if known and True not in absent else None
            answer = False if known and True in absent else answer
            return f[0] == "compare?" if answer is None else answer
    raise ValueError(f"unknown formula {f}")


def lacks(term: Formula, here: Position) -> bool:
    """Is it an argument that this call does not have?"""
    is_call = term[0] == "arg" and here.event.kind == "call"
    return is_call and dict(here.event.args).get(term[1]) is None


def of_calls_alone(f: Formula, here: Position) -> bool:
    """Is it a comparison of what only a call has, and here is none? (Counts are had anywhere.)"""
    _, left, _, right = f
    heads = {left[0], right[0]}
    return here.event.kind != "call" and bool(heads & OF_CALLS) and not heads & COUNTED


def loose(f: Formula) -> Formula:
    """The comparison without its marks: what it compares."""
    plain = (f[0].removesuffix("?") if isinstance(f[0], str) else f[0], *f[1:])
    return tuple(loose(g) if isinstance(g, tuple) else g for g in plain)


def near(trace: Trace, i: int, j: int, bound: Sequence[Formula]) -> bool:
    """Is position `j` within the bound of position `i`? (No bound: always.)"""
    match bound:
        case [("steps", n)]:
            return bool(abs(j - i) <= n)
        case [("seconds", t)]:
            return bool(abs(trace[j].time - trace[i].time) <= t)
    return not bound


def value(term: Formula, trace: Trace, i: int, seen: float) -> Any:
    """The value of a term at position `i`; None if it has none, so that it cannot be compared."""
    past = range(min(i + 1, len(trace)))

    def where(f: Formula | None, bound: Formula | None = None) -> list[int]:
        return [j for j in past if f and holds(f, trace, j, seen) and recent(trace, i, j, bound)]

    match term:
        case ("number", x):
            return x
        case ("arg", field):
            return dict(trace[i].event.args).get(field) if past else None
        case ("mark", field) if not past or trace[i].event.kind != "call":
            return None
        case ("mark", field):
            args = given(trace[i].event)
            return mark(args if field == "*" else [x for name, x in args if name == field])
        case ("last", g, f):
            held = [j for j in where(f) if j < i]
            return remembered(value(g, trace, held[-1], seen)) if held else None
        case ("delivered", f):
            return sum(holds(f, (Position(e, 0),), 0) for e in trace[i].arrived) if past else None
        case ("denied", f):
            return len(turned_away(f, trace[i])) if past else None
        case ("denied like", *_) if not past or trace[i].event.kind != "call":
            return None
        case ("denied like", f, like):
            here, each = trace[i].event, turned_away(f, trace[i])
            mine = [e for e in each if e.name == here.name]
            return len([e for e in mine if like == "tool" or mark(given(e)) == mark(given(here))])
        case ("fact age", key):
            times = [at for name, _, at in trace[i].event.told if name == key] if past else []
            return trace[i].time - times[-1] if times else inf
        case ("approval age", action, role):
            times = approvals(trace[i].event.told, action, role) if past else []
            ahead = bool(times) and max(times) - trace[i].time > SKEW
            return None if ahead else trace[i].time - max(times) if times else inf
        case ("count", f, reset, bound):
            start = max(where(reset), default=-1)
            return sum(j > start for j in where(f, bound))
        case ("since", f):
            return i - max(where(f), default=-inf)
        case ("age", f):
            return trace[i].time - trace[max(where(f))].time if where(f) else inf
        case ("sum", f, field, bound):
            amounts = {j: amount(trace[j], field) for j in where(f, bound)}
            unreadable = amounts.get(i, 0) is None
            return None if unreadable else sum(x for x in amounts.values() if x is not None)
        case ("repeats", f):
            said = [(each.event.name, given(each.event)) for each in trace]
            same = [j for j in where(f) if said[j] == said[i]]
            return max(n for n in range(i + 2) if all(i - k in same for k in range(n)))
    raise ValueError(f"unknown term {term}")


def compare(left: Any, op: str, right: Any) -> bool | None:
    """A comparison of JSON scalars; None if it cannot be made."""
    if op == "in":
        answers = [compare(left, "=", item) for item in right]
        return True if True in answers else None if None in answers else False
    if op == "matches":
        return bool(re.search(right, left)) if isinstance(left, str) else None
    if op in ("=", "!="):
        same = isinstance(left, bool) == isinstance(right, bool) and left == right
        if not same and written(left) == written(right):
            return None
        return same == (op == "=")
    numbers = not any(isinstance(side, bool) for side in (left, right)) and all(
        isinstance(side, int | float) for side in (left, right)
    )
    strings = isinstance(left, str) and isinstance(right, str)
    if strings and all(re.fullmatch(DECIMAL, side.strip()) for side in (left, right)):
        return bool(COMPARE[op](Fraction(left.strip()), Fraction(right.strip())))
    return bool(COMPARE[op](left, right)) if numbers or strings else None


def written(found: Any) -> str:
    """A scalar as a tool may read it: `"5 "` is written as 5 is."""
    if isinstance(found, str):
        text = found.strip()
        return written(float(text)) if re.fullmatch(r"-?\d+(\.\d+)?", text) else text
    if isinstance(found, int | float) and not isinstance(found, bool):
        return f"{found:.9f}"
    return {None: "null", True: "true", False: "false"}.get(found, repr(found))


def mark(found: Any) -> Any:
    """What equal arguments share and different ones do not: `1` is `1.0`, but `true` is not `1`."""
    if isinstance(found, list | tuple):
        return tuple(mark(x) for x in found)
    return (isinstance(found, bool), found)


def given(event: Event) -> tuple[tuple[str, Any], ...]:
    """All arguments: a null is as if not given."""
    return tuple((name, found) for name, found in event.args if found is not None)


def turned_away(f: Formula, position: Position) -> list[Event]:
    """The calls that were refused before, as far as `f` speaks of them."""
    return [e for e in position.refused if holds(f, (Position(e, 0),), 0)]


def remembered(found: Any) -> Any:
    """A value as it is known later: not a text that is too long."""
    return None if isinstance(found, str) and len(found) > 1024 else found


def approvals(told: Sequence[tuple[str, Any, float]], action: str, role: str) -> list[float]:
    """When those approvals were given that stand: the latest word of everybody, if it approves."""
    latest: dict[tuple[str, ...], tuple[Mapping[str, Any], float]] = {}
    for fact, said, at in told:
        if fact == "approval":
            approval = dict(said)
            who = tuple(str(approval.get(x)) for x in ("action", "role", "by"))
            stands = approval.get("decision") == "approve" and not approval.get("revoked")
            if not approval.get("by") and not stands:  # it names nobody, and so means everybody
                latest = {each: word for each, word in latest.items() if each[:2] != who[:2]}
            latest[who] = approval, at
    wanted = (action, role, "approve", None)
    names = ("action", "role", "decision", "revoked")
    return [
        approval.get("time", at)
        for approval, at in latest.values()
        if tuple(approval.get(x) or None for x in names) == wanted
    ]


def amount(position: Position, field: str) -> float | None:
    """The number in a field; one that is missing or no number is not added."""
    found = dict(position.event.args).get(field)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def recent(trace: Trace, i: int, j: int, bound: Formula | None) -> bool:
    """Is `j` one of the last n positions up to `i`, or in the window `(t-W, t]`?"""
    match bound:
        case ("steps", n):
            return bool(j > i - n)
        case ("seconds", window):
            return bool(trace[j].time > trace[i].time - window)
    return bound is None
