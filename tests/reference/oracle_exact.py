"""What can still happen, exactly: the same answers as `oracle_search`, for any length.

In: a formula as it is read, the events so far, and questions. Out: every combination of answers.

The truths of a formula and its parts at a position (a *row*) follow from the facts there and the
next row; those of its past parts from the row before. So the rows with which a continuation can
begin are a least fixpoint: none at all, or any letter before a row already found. That this agrees
with the search is tested. Exact for bounds in steps; in seconds, but for the few times tried.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain, product
from typing import Any, TypeAlias

from tests.reference.oracle import (
    END,
    PAST,
    STATUS,
    Event,
    Formula,
    Position,
    Trace,
    children,
    clock,
    holds,
    kinds,
    positions,
    under,
)
from tests.reference.oracle_search import (
    SOON,
    Answers,
    Question,
    atoms,
    gaps,
    is_open,
    results,
    shapes,
)

Row: TypeAlias = tuple[Any, ...]
"""The truth of some formulas at one position. That of a timed F or O is `(delay,)` or `()`."""
NEXT = {"F": "X", "G": "WX", "O": "Y", "H": "WY"}
FORWARD = {"Y": "X", "WY": "WX", "O": "F", "H": "G", "S": "U"}


def unfold(f: Formula, leaves: Collection[str]) -> Formula:
    """`f` without bounds in steps, and with a timed G or H as a negated F or O."""
    if f[0] in leaves or not list(children(f)):
        return f
    parts = [unfold(g, leaves) for g in children(f)]
    match f:
        case ("F" | "G" | "O" | "H" as op, _, ("steps", n)):
            out = parts[0]
            for _ in range(n):
                out = ("or" if op in "FO" else "and", parts[0], (NEXT[op], out))
            return out
        case ("G" | "H" as op, _, ("seconds", _) as bound):
            return ("not", ("F" if op == "G" else "O", ("not", *parts), bound))
        case ("F" | "O", _, ("seconds", _) as bound):
            return (f[0], *parts, bound)
    return (f[0], *parts)


class Rows:
    """Formulas and all under them, and how their row follows from that of the position beside."""

    def __init__(self, formulas: Iterable[Formula], leaves: Collection[str]) -> None:
        self.leaves = leaves
        self.number: dict[Formula, int] = {}
        self.code: list[tuple[str, list[int], Formula]] = []
        self.row = cache(self.work_out)
        self.places = {f: self.add(unfold(f, leaves)) for f in formulas}

    def add(self, f: Formula) -> int:
        if f not in self.number:
            leaf = f[0] in self.leaves or not list(children(f))
            op = "leaf" if leaf else str(FORWARD.get(f[0], f[0]))
            self.code.append((op, [] if leaf else [self.add(g) for g in children(f)], f))
            self.number[f] = len(self.code) - 1
        return self.number[f]

    def work_out(self, true: frozenset[Formula], beside: Row | None, gap: float) -> Row:
        """The row where the leaves `true` hold; `beside` is None at the end (or the beginning)."""
        values: list[Any] = []
        for n, (op, below, f) in enumerate(self.code):
            now = [values[k] for k in below]
            there = [beside[k] for k in below] if beside is not None else []
            on = beside[n] if beside is not None else op in ("G", "W", "R")
            values.append(f in true if op == "leaf" else truth(op, f, now, there, on, gap))
        return tuple(values)


def truth(op: str, f: Formula, now: list[Any], there: list[Any], on: Any, gap: float) -> Any:
    """From the truth of the parts here and there (empty: no such position), and of `f` there."""
    match op:
        case "not":
            return not now[0]
        case "and" | "or":
            return all(now) if op == "and" else any(now)
        case "implies" | "iff":
            return bool(now[0]) == bool(now[1]) if op == "iff" else bool(not now[0] or now[1])
        case "X" | "WX":
            return bool(there[0]) if there else op == "WX"
        case "F" if len(f) > 2:
            delay = 0.0 if now[0] else on[0] + gap if on else END
            return (delay,) if delay <= f[2][1] else ()
        case "F" | "G":
            return bool(now[0] or on) if op == "F" else bool(now[0] and on)
        case "U" | "W":
            return bool(now[1] or (now[0] and on))
        case "R":
            return bool(now[1] and (now[0] or on))
    raise ValueError(f"unknown operator {op}")


State: TypeAlias = tuple[tuple[Row | None, ...], float]
"""The past rows at the last position, one for each set of waiting results that have arrived
meanwhile (the first: none of them), and how long ago that position was."""
Ending: TypeAlias = tuple[float, Row] | None
"""How a continuation begins: after how long, with which row; None: not at all."""


class Machine:
    """The continuations of a formula, up to what it can tell apart."""

    def __init__(self, f: Formula, tools: Sequence[str] | None, waiting: int) -> None:
        self.waiting = waiting
        self.atoms = set(atoms(f))
        self.facts = {g for g in under(f) if g[0] in STATUS}
        self.ahead = Rows(ahead_parts(f), PAST)
        self.leaves = frozenset(g for op, _, g in self.ahead.code if op == "leaf")
        roots = [g for g in self.leaves if g[0] in PAST and g not in self.atoms]
        self.behind = Rows(roots, ("compare", "compare?"))
        self.gaps = gaps(f)
        self.results = results(f)
        self.letters = {self.letter(shape) for shape in shapes(f, tools)}
        self.reached: dict[State, set[Ending]] = {}
        self.known: dict[tuple[Event, ...], dict[Any, frozenset[Formula]]] = {}
        self.into: dict[State, set[tuple[State, frozenset[Formula], float]]] = defaultdict(set)

    def letter(self, shape: Position) -> tuple[frozenset[Formula], frozenset[Formula]]:
        """The true atoms while it is in flight, and when it has settled."""
        at = [[a for a in self.atoms if holds(a, (shape,), 0, seen)] for seen in (0, END)]
        return frozenset(at[0]), frozenset(at[1])

    def steps(self, state: State) -> Iterator[tuple[State, frozenset[Formula], float]]:
        """Every next state, with what holds at the position in between and how long it takes."""
        rows, ago = state
        for (early, late), gap in product(self.letters, self.gaps):
            hidden, shown = (
                tuple(self.behind.row(true, row, ago + gap) for row in rows)
                for true in (early, late)
            )
            known = late | {f for f, n in self.behind.places.items() if hidden[0][n]}
            true = known & self.leaves
            wait = hidden != shown and len(rows) < 2**self.waiting
            for after in {hidden, shown, hidden + shown if wait else shown}:
                for arrived in range(len(after)):
                    yield ((arrival(after, arrived), 0.0), true, ago + gap)

    def endings(self, start: State) -> set[Ending]:
        """The least sets with: a continuation may be empty, or be a letter and a continuation."""
        todo: list[State] = [start]
        fresh: list[tuple[State, Ending]] = []
        while todo:
            state = todo.pop()
            if state in self.reached:
                continue
            self.reached[state] = {None}
            fresh.append((state, None))
            for target, true, gap in self.steps(state):
                self.into[target].add((state, true, gap))
                todo.append(target)
                fresh.extend((target, known) for known in self.reached.get(target, ()))
        while fresh:
            state, ending = fresh.pop()
            for origin, true, gap in self.into[state]:
                new = (gap, self.before(true, ending))
                if new not in self.reached[origin]:
                    self.reached[origin].add(new)
                    fresh.append((origin, new))
        return self.reached[start]

    def before(self, true: frozenset[Formula], ending: Ending) -> Row:
        gap, row = ending or (0.0, None)
        return self.ahead.row(true, row, gap)

    def start(self, trace: Trace, now: float) -> Iterator[tuple[Trace, State]]:
        """Each way in which the calls in flight can settle, and the state that it leads to."""
        for whole in product(*map(self.options, trace)):
            late = [i for i, p in enumerate(whole) if p.settled and p.settled[0] == SOON + 1]
            if len(late) <= self.waiting:
                rows = tuple(
                    self.past_row([p if i not in some else soon(p) for i, p in enumerate(whole)])
                    for some in unions(late)
                )
                ago = now - trace[-1].time if trace else 0.0
                yield whole, (rows, ago)

    def options(self, position: Position) -> list[Position]:
        """The position with everything worth telling apart that its call may come to."""
        if not is_open(position):
            return [position]
        moments = (SOON, END, SOON + 1) if self.waiting else (SOON, END)
        settled = [replace(position, settled=(m, *r[1:])) for m in moments for r in self.results]
        seen: dict[tuple[frozenset[Formula], ...], Position] = {}
        for p in settled:
            views = [{a for a in self.facts if holds(a, (p,), 0, m)} for m in (SOON, SOON + 1, END)]
            seen.setdefault(tuple(map(frozenset, views)), p)
        return list(seen.values())

    def past_row(self, trace: Sequence[Position]) -> Row | None:
        row, whole = None, tuple(trace)
        leaves = [f for op, _, f in self.behind.code if op == "leaf"]
        for i, position in enumerate(whole):
            true = frozenset(f for f in leaves if holds(f, whole, i, SOON))
            row = self.behind.row(true, row, position.time - whole[max(i - 1, 0)].time)
        return row


def ahead_parts(f: Formula) -> list[Formula]:
    """`f` and everything under it that is not under a past operator."""
    below = [] if f[0] in PAST else list(children(f))
    return [f, *chain.from_iterable(map(ahead_parts, below))]


def soon(position: Position) -> Position:
    assert position.settled
    return replace(position, settled=(SOON, *position.settled[1:]))


def unions(items: Sequence[int]) -> list[set[int]]:
    """All sets of items, in the order of the binary numbers."""
    return [{x for k, x in enumerate(items) if n >> k & 1} for n in range(2 ** len(items))]


def arrival(rows: tuple[Row | None, ...], arrived: int) -> tuple[Row | None, ...]:
    """What remains of the rows when the results in the bit set `arrived` are there."""
    return tuple(row for n, row in enumerate(rows) if n & arrived == arrived)


@lru_cache(maxsize=200)
def machine(f: Formula, tools: tuple[str, ...] | None, waiting: int) -> Machine:
    return Machine(f, tools, waiting)


def possible(
    f: Formula,
    questions: Sequence[Question],
    events: Sequence[Event],
    tools: tuple[str, ...] | None = None,
    waiting: int = 0,
) -> Answers:
    """The answers by all continuations. Questions are about parts of `f` not under past operators.

    The position just after the trace may be asked about, too: where no position follows, no atom
    is true there and every G is.
    """
    return answered(machine(f, tools, waiting), f, questions, events)


def answered(
    engine: Machine, f: Formula, questions: Sequence[Question], events: Sequence[Event]
) -> Answers:
    """The answers by the continuations that this machine of `f` knows."""
    trace = positions(events, kinds(f))
    closed = any(event.kind == "close" for event in events)
    asked: dict[int, list[tuple[int, Formula]]] = defaultdict(list)
    for number, (question, i) in enumerate(questions):
        asked[i].append((number, question))
    answers = set()
    begun = [tuple(events[: int(position.decided) + 1]) for position in trace]
    known = [engine.known.setdefault(beginning, {}) for beginning in begun]
    for whole, state in engine.start(trace, clock(events)[-1] if events else 0.0):
        worlds = {
            (ending, reply(engine, asked[len(trace)], ending, whole))
            for ending in ({None} if closed else engine.endings(state))
        }
        for i in reversed(range(len(trace))):
            gap = trace[i].time - trace[i - 1].time if i else 0.0
            here = whole[i].settled  # and no past at position i has seen anything that came later
            if here not in known[i]:
                known[i][here] = frozenset(f for f in engine.leaves if holds(f, whole, i))
            true = known[i][here]
            heads = {(said, (gap, engine.before(true, ending))) for ending, said in worlds}
            worlds = {(head, said | reply(engine, asked[i], head, whole)) for said, head in heads}
        answers |= {tuple(dict(known)[n] for n in range(len(questions))) for _, known in worlds}
    return answers


def reply(
    engine: Machine, asked: Iterable[tuple[int, Formula]], ending: Ending, whole: Trace
) -> frozenset[tuple[int, bool]]:
    return frozenset(
        (n, bool(ending[1][engine.ahead.places[f]]) if ending else holds(f, whole, len(whole)))
        for n, f in asked
    )
