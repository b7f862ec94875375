"""Small formulas, every short trace of each, and what the oracle says at every event of them.

In: nothing, or a formula as nested tuples (`tests/oracle.py`). Out: a `Table`: the tree of traces that
the formula can tell apart, with the verdict, the report and what is unfulfilled at every node. Nothing
here knows the engine, so a table can be made once and held against many engines (`tests/mutate.py`).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from tests.oracle import Event, Formula, call, message, settle, under
from tests.oracle_exact import possible
from tests.oracle_runs import Report, run
from tests.oracle_search import Answers, Question

ATOMS: tuple[Formula, ...] = (
    ("called", "a"),
    ("called", "b"),
    ("done", "a"),
    ("failed", "a"),
)
ONE = ("steps", 1)
BOUNDED = frozenset({"F", "G", "O", "H"})
FUTURE = frozenset({"X", "WX", "F", "G", "U", "W", "R"})
PAST = frozenset({"Y", "WY", "O", "H", "S"})
UNARY: tuple[Formula, ...] = (
    *((name,) for name in ("not", "X", "WX", "Y", "WY", "F", "G", "O", "H")),
    *((name, ONE) for name in ("F", "G", "O", "H")),
)
BINARY = ("and", "or", "implies", "iff", "U", "W", "R", "S")
SYMMETRIC = frozenset({"and", "or", "iff"})
NODES = 130
"""About so many nodes has the tree of traces of one formula."""


# --- formulas -----------------------------------------------------------------------------------


@cache
def formulas(operators: int) -> tuple[Formula, ...]:
    """Every formula with that many operators, up to the order of symmetric operands."""
    if operators == 0:
        return ATOMS
    found: list[Formula] = []
    for name, *bound in UNARY:
        found += [(name, body, *bound) for body in formulas(operators - 1)]
    for left in range(operators):
        pairs = itertools.product(formulas(left), formulas(operators - 1 - left))
        for name, (f, g) in itertools.product(BINARY, list(pairs)):
            if f != g and (name not in SYMMETRIC or str(f) < str(g)):
                found.append((name, f, g))
    return tuple(f for f in found if sound(f))


def sound(f: Formula) -> bool:
    """No future operator stands below a past one, and no negation below a negation."""
    below = [g for g in f[1:] if isinstance(g, tuple)]
    if f[0] in PAST and any(g[0] in FUTURE for each in below for g in under(each)):
        return False
    return not (f[0] == "not" and f[1][0] == "not")


def sample(operators: int, number: int, seed: int = 1) -> list[Formula]:
    """Some of the formulas with that many operators, the same ones every time."""
    return random.Random(seed).sample(formulas(operators), number)


# --- traces -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """A trace: that of its parent (-1: the empty one) and these events; what is said after it."""

    parent: int
    events: tuple[Event, ...]
    verdicts: tuple[str, ...]
    reports: tuple[Report, ...]
    unfulfilled: bool


@dataclass(frozen=True)
class Table:
    """A formula, the verdict before any event, and all nodes, parents before children."""

    formula: Formula
    first: str
    nodes: tuple[Node, ...]


Move = tuple[Event, ...]


def moves(f: Formula, trace: Sequence[Event]) -> Iterator[Move]:
    """Everything that may happen next and that the formula can tell apart."""
    number = len(trace)
    spoken = {g[:2] for g in under(f)}
    tools = sorted({g[1] for g in spoken if g[0] in ("called", "done", "failed")})
    waiting = [tool for tool in tools if {("done", tool), ("failed", tool)} & spoken]
    yield (call("other"),)
    for role in sorted({g[1] for g in spoken if g[0] == "message"}):
        yield (message(role),)
    for tool in tools:
        yield (call(tool),)
        if tool in waiting:
            yield from ((call(tool), settle(number, how)) for how in ("done", "failed"))
    settled = {event.of for event in trace if event.kind == "settle"}
    for n, event in enumerate(trace):
        if event.kind == "call" and event.name in waiting and n not in settled:
            yield from ((settle(n, "done"),), (settle(n, "failed"),))


def depth(f: Formula) -> int:
    """How many moves fit into a tree of about `NODES` nodes."""
    width = 1 + len(list(moves(f, ())))
    return max(n for n in range(2, 6) if n == 2 or width**n <= 2 * NODES)


def table(f: Formula, more: int = 0) -> Table:
    """What the oracle says of `f` on every trace of up to `depth(f) + more` moves."""
    known: dict[object, Answers] = {}

    def judge(whole: Formula, questions: Sequence[Question], events: Sequence[Event]) -> Answers:
        key = (tuple(questions), tuple(events))
        if key not in known:
            known[key] = possible(whole, questions, events)
        return known[key]

    nodes: list[Node] = []
    frontier: list[tuple[int, tuple[Event, ...]]] = [(-1, ())]
    for _ in range(depth(f) + more):
        following = []
        for parent, trace in frontier:
            for move in moves(f, trace):
                events = (*trace, *move)
                found = run(f, events, judge)
                following.append((len(nodes), events))
                nodes.append(
                    Node(
                        parent,
                        move,
                        found.verdicts[len(trace) + 1 :],
                        tuple(r for r in found.reports if r.moment >= len(trace)),
                        bool(found.unfulfilled),
                    )
                )
        frontier = following
    return Table(f, run(f, (), judge).verdicts[0], tuple(nodes))
