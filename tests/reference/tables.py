"""Small formulas, every short trace of each, and what the oracle says at every event of them.

In: nothing, or a formula as nested tuples (`tests/reference/oracle.py`). Out: a `Table`: the tree
of traces that the formula can tell apart, with the verdict, the report and what is unfulfilled at
every node. Nothing here knows the engine, so a table can be made once and held against many engines
(`tests/planted/mutate.py`).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from tests.reference.oracle import (
    Event,
    Formula,
    call,
    holds,
    kinds,
    message,
    positions,
    settle,
    step,
    under,
)
from tests.reference.oracle_exact import possible
from tests.reference.oracle_runs import Run, Scope, run, run_scoped
from tests.reference.oracle_search import Answers, Question

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
NODES = 60
"""About so many nodes has the tree of traces of one formula."""


# --- formulas -----------------------------------------------------------------------------------


CA, CB, DA, FA, DB = (*ATOMS, ("done", "b"))
USER, TICK = ("message", "user"), ("step", "tick")


def count(body: Formula, reset: Formula | None = None, bound: Formula | None = None) -> Formula:
    """A term: how often."""
    return ("count", body, reset, bound)


def compare(left: Formula, op: str, right: int) -> Formula:
    """A comparison of a term with a number."""
    return ("compare", left, op, ("number", right))


def always(f: Formula, g: Formula) -> Formula:
    """`G(f -> g)`"""
    return ("G", ("implies", f, g))


def same(left: Formula, right: Formula) -> Formula:
    """Two terms are equal."""
    return ("compare", left, "=", right)


TEMPLATES: tuple[Formula, ...] = (
    # what patterns are made of
    always(CA, ("Y", ("O", DB))),
    always(CA, ("not", ("Y", ("O", CB)))),
    always(DA, ("X", ("F", DB))),
    always(CA, ("X", ("F", CB, ("steps", 2)))),
    always(DA, ("F", DB, ("steps", 2))),
    always(CA, ("X", CB)),
    always(CA, ("WX", ("not", CA))),
    always(CA, ("WX", ("G", ("not", CB)))),
    always(CA, ("S", ("not", CB), DB)),
    always(CA, ("WX", ("W", ("not", CA), DB))),
    always(CA, ("WX", ("R", DB, ("not", CA)))),
    always(CB, ("H", ("not", FA), ("steps", 2))),
    always(CB, ("O", DA, ("steps", 2))),
    always(("and", CA, ("not", FA)), ("not", ("Y", ("O", ("and", CA, ("not", FA)))))),
    ("and", ("F", DA), ("G", ("not", CB))),
    ("and", ("F", CA), ("F", CB)),
    ("and", always(CA, ("F", CB)), always(CB, ("WX", ("G", ("not", CB))))),
    ("and", always(CA, ("X", ("F", CB, ("steps", 1)))), always(CA, ("X", CA))),
    ("and", always(CA, ("X", CB)), ("G", ("F", DA))),
    ("and", ("W", ("not", CA), DB), ("F", CA)),
    ("U", ("not", CA), DB),
    ("R", DB, ("not", CA)),
    ("U", ("not", CA), ("and", CB, ("X", CB))),
    ("W", ("F", DA), CB),
    ("or", ("G", ("not", CA)), ("F", DB)),
    ("or", ("G", ("not", CA), ("steps", 2)), ("F", CB, ("steps", 3))),
    ("and", ("X", CA), ("X", CB)),
    ("and", ("X", CA), ("WX", CB)),
    ("and", ("F", CA), ("G", ("not", CA))),
    ("or", ("F", CA), ("G", ("not", CA))),
    ("G", ("X", CA)),
    ("G", ("WX", CA)),
    ("G", ("F", ("and", CA, ("X", CB)))),
    ("F", ("G", ("not", CA))),
    ("G", ("or", ("Y", CA), ("X", CA))),
    ("iff", ("F", CA), ("F", CB)),
    ("G", ("iff", DA, ("X", FA))),
    ("not", ("U", CA, ("X", DB))),
    ("G", ("implies", ("Y", ("Y", FA)), ("not", CA))),
    ("G", ("implies", ("not", ("S", DA, CB)), ("WX", CA))),
    ("G", ("F", CA, ("steps", 0))),
    ("F", ("and", CA, ("Y", FA)), ("steps", 2)),
    # counts and distances
    always(CA, compare(count(CA), "<=", 2)),
    always(CA, compare(count(("and", CA, ("not", FA))), "<", 2)),
    always(CA, compare(count(DA), ">=", 1)),
    always(CA, compare(count(FA), "<", 2)),
    always(CA, compare(count(FA, DA), "<=", 1)),
    always(CA, compare(count(CA, CB), "<=", 2)),
    always(CA, compare(count(CA, None, ("steps", 2)), "<=", 1)),
    always(CA, compare(count(FA, None, ("steps", 3)), "<", 1)),
    always(CB, compare(count(CA, CB), "=", 1)),
    always(CB, compare(count(CA), "!=", 1)),
    always(CB, compare(("since", CA), "<=", 2)),
    always(CB, compare(("since", DA), ">", 1)),
    always(CA, ("X", ("F", compare(count(CB), ">=", 2)))),
    ("F", compare(count(CA), ">", 1)),
    ("G", compare(count(("called", "*")), "<=", 2)),
    ("W", compare(count(CA), "<", 2), DB),
    # several kinds of positions
    always(USER, ("X", ("F", CA))),
    always(CA, ("Y", USER)),
    always(CA, ("O", USER, ("steps", 1))),
    always(USER, ("WX", ("not", USER))),
    always(USER, ("F", DA, ("steps", 2))),
    ("and", ("F", USER), always(CA, ("Y", ("O", CB)))),
    always(TICK, ("X", ("F", CA, ("steps", 1)))),
    always(CA, ("H", ("not", TICK))),
    always(("message", "*"), compare(count(("message", "*")), "<=", 2)),
    # small numbers, which short traces reach
    always(CB, compare(("since", CA), "!=", 1)),
    always(CB, compare(count(("called", "*"), CA), "<=", 1)),
    ("G", ("implies", CA, ("F", CB, ("steps", 2))), ("steps", 3)),
)

ARRIVED = ("delivered", CA)
TERMS: tuple[Formula, ...] = (
    # results that have arrived
    always(CB, compare(ARRIVED, "<=", 1)),
    ("G", compare(ARRIVED, "<", 2)),
    always(CB, ("not", compare(ARRIVED, "=", 1))),
    always(CB, ("Y", compare(ARRIVED, ">=", 1))),
    always(CB, compare(count(compare(ARRIVED, ">=", 1)), "<", 2)),
    always(USER, ("X", ("F", compare(ARRIVED, ">", 0)))),
    # the latest earlier value
    always(CB, same(ARRIVED, ("last", ARRIVED, CB))),
    always(CB, ("or", compare(ARRIVED, "=", 0), same(ARRIVED, ("last", ARRIVED, DB)))),
    always(("called", "c"), ("or", compare(ARRIVED, "=", 0), same(ARRIVED, ("last", ARRIVED, DB)))),
    always(CA, compare(("last", count(CA), CB), "<", 2)),
    always(CA, compare(("last", count(FA), DB), "<=", 1)),
    always(CA, compare(("last", ("since", DA), CB), ">", 0)),
    always(CA, compare(("last", count(CB), ("called", "*")), "!=", 1)),
    always(CA, ("or", ("not", ("Y", ("O", CB))), compare(("last", count(CB), CA), "=", 1))),
    ("F", compare(("last", count(CA), CB), ">=", 1)),
    # equal arguments
    always(CA, ("or", ("not", ("Y", ("O", CA))), same(("mark", "x"), ("last", ("mark", "x"), CA)))),
    always(CA, ("not", same(("mark", "*"), ("last", ("mark", "*"), CB)))),
    always(
        CA,
        ("or", ("not", ("Y", ("O", DA))), same(("mark", "x"), ("last", ("mark", "x"), DA))),
    ),
    always(CA, ("compare", ("last", ("arg", "x"), CA), "<=", ("arg", "x"))),
    always(
        CB,
        ("compare", ("last", ("last", ("mark", "x"), CA), DB), "!=", ("last", ("mark", "x"), CA)),
    ),
)

WITHIN = ("seconds", 2)
TIMED: tuple[Formula, ...] = (
    always(CA, ("F", CB, WITHIN)),
    always(CA, ("X", ("F", DB, WITHIN))),
    always(CA, ("O", CB, WITHIN)),
    always(CA, ("Y", ("H", ("not", CA), WITHIN))),
    always(CA, ("WX", ("G", ("not", CA), WITHIN))),
    ("F", CA, WITHIN),
    ("G", ("not", CA), WITHIN),
    ("and", ("F", CA, WITHIN), ("F", CB)),
    always(CA, ("and", ("F", CB, WITHIN), ("X", ("F", CB, ("steps", 1))))),
    ("and", ("F", CB, WITHIN), ("F", CB, ("steps", 1))),
    ("and", ("F", ("done", "b"), WITHIN), ("G", ("or", ("not", CA), ("O", CB)))),
    always(CA, compare(count(CA, None, WITHIN), "<=", 1)),
    always(CA, compare(count(FA, None, WITHIN), "<=", 1)),
    always(CB, compare(("age", CA), "<", 2)),
    always(CB, compare(("age", DA), ">=", 2)),
)


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
    """A trace: that of its parent (-1: the empty one) and these events; what is said after it.

    `violations`: the events at which one is reported, by itself. `expired`: those before which time
    has violated. `verdicts`: after each of the events; none if nothing is said of them.
    """

    parent: int
    events: tuple[Event, ...]
    violations: frozenset[int]
    expired: frozenset[int]
    unfulfilled: bool
    verdicts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A guarantee, and what stands around it."""

    formula: Formula
    assume: Formula | None = None
    scope: Scope | None = None


@dataclass(frozen=True)
class Table:
    """A case, the verdict before any event, and all nodes, parents before children."""

    case: Case
    first: str
    nodes: tuple[Node, ...]


Move = tuple[Event, ...]


def moves(f: Formula, trace: Sequence[Event]) -> Iterator[Move]:
    """Everything that may happen next and that the formula can tell apart."""
    timed = any(WITHIN in g or g[0] == "age" for g in under(f))
    gaps = (1.0, 2.0, 3.0) if timed else (None,)
    last = trace[-1].time or 0.0 if trace else 0.0
    for move, gap in itertools.product(untimed(f, trace), gaps):
        yield tuple(replace(each, time=gap and last + gap) for each in move)


def untimed(f: Formula, trace: Sequence[Event]) -> Iterator[Move]:
    """The same, whenever it happens."""
    number = len(trace)
    spoken = {g[:2] for g in under(f)}
    named = {g[1] for g in spoken if g[0] in ("called", "done", "failed")}
    tools = sorted(named - {"*"})
    sources = {g[1][1] for g in under(f) if g[0] == "delivered"}
    waiting = [t for t in tools if {("done", t), ("failed", t)} & spoken or t in sources]
    told = ({"x": 1}, {"x": 2}, {}) if any(g[0] in ("mark", "arg") for g in under(f)) else ({},)
    yield (call("other"),)
    for role in sorted({g[1] for g in spoken if g[0] == "message"}):
        yield (message(role if role != "*" else "tool"),)
    for name in sorted({g[1] for g in spoken if g[0] == "step"}):
        yield from ((step(name),), (step(),))
    for tool, args in itertools.product(tools, told):
        yield (call(tool, **args),)
        if tool in waiting:
            yield from ((call(tool, **args), settle(number, how)) for how in ("done", "failed"))
    settled = {event.of for event in trace if event.kind == "settle"}
    for n, event in enumerate(trace):
        if event.kind == "call" and event.name in waiting and n not in settled:
            yield from ((settle(n, "done"),), (settle(n, "failed"),))


def depth(f: Formula) -> int:
    """How many moves fit into a tree of about `NODES` nodes."""
    width = 1 + len(list(moves(f, ())))
    return max(n for n in range(2, 6) if n == 2 or width**n <= 2 * NODES)


def tree(f: Formula, length: int) -> Iterator[tuple[int, tuple[Event, ...], Move]]:
    """Every trace of up to so many moves.

    The number of its parent, the parent's events, the move.
    """
    made = 0
    frontier: list[tuple[int, tuple[Event, ...]]] = [(-1, ())]
    for _ in range(length):
        following = []
        for parent, trace in frontier:
            for move in moves(f, trace):
                yield parent, trace, move
                following.append((made, (*trace, *move)))
                made += 1
        frontier = following


# --- what the oracle says -----------------------------------------------------------------------


@cache
def table(f: Formula, more: int = 0) -> Table:
    """What the oracle says of `f` on every trace of up to `depth(f) + more` moves."""
    known: dict[object, Answers] = {}

    def judge(whole: Formula, questions: Sequence[Question], events: Sequence[Event]) -> Answers:
        key = (tuple(questions), tuple(events))
        if key not in known:
            known[key] = possible(whole, questions, events)
        return known[key]

    nodes = []
    for parent, trace, move in tree(f, depth(f) + more):
        found = run(f, (*trace, *move), judge)
        nodes.append(node(parent, move, len(trace), [found], found.verdicts[len(trace) + 1 :]))
    return Table(Case(f), run(f, (), judge).verdicts[0], tuple(nodes))


def node(
    parent: int, move: Move, start: int, runs: Sequence[Run], verdicts: tuple[str, ...] = ()
) -> Node:
    """What runs together say of the events of this move."""
    reports = [each for found in runs for each in found.reports if each.moment >= start]
    return Node(
        parent,
        move,
        frozenset(each.moment for each in reports if not each.expired),
        frozenset(each.moment for each in reports if each.expired),
        any(found.unfulfilled for found in runs),
        verdicts,
    )


@cache
def scoped(f: Formula, scope: Scope) -> Table:
    """The same for a guarantee that only binds in a scope."""
    everything = ("and", f, *scope[1:])
    nodes = [
        node(parent, move, len(trace), run_scoped(f, scope, (*trace, *move)))
        for parent, trace, move in tree(everything, depth(everything))
    ]
    return Table(Case(f, scope=scope), "inconclusive", tuple(nodes))


@cache
def assuming(f: Formula, assume: Formula) -> Table:
    """The same for a guarantee whose violation only counts where the assumption holds."""
    nodes = []
    everything = ("and", f, assume)
    for parent, trace, move in tree(everything, depth(everything)):
        events = (*trace, *move)
        said = node(parent, move, len(trace), [run(f, events)])
        here = replace(
            said,
            violations=frozenset(n for n in said.violations if assumed(assume, events[: n + 1])),
            expired=frozenset(n for n in said.expired if assumed(assume, events[:n], ended=True)),
            unfulfilled=said.unfulfilled and assumed(assume, events, ended=True),
        )
        nodes.append(here)
    return Table(Case(f, assume=assume), "inconclusive", tuple(nodes))


def assumed(assume: Formula, events: Sequence[Event], ended: bool = False) -> bool:
    """Does the assumption hold at the last event; or, if that was no position, by now?"""
    if ended or events[-1].kind == "settle":
        events = (*events, call("\0nothing"))
    trace = positions(events, kinds(assume))
    return holds(assume, trace, len(trace) - 1)


SCOPES: tuple[Scope, ...] = (
    ("after", ("called", "g")),
    ("before", ("called", "g")),
    ("between", ("called", "g"), ("called", "h")),
    ("after_until", ("called", "g"), ("called", "h")),
    ("between", ("called", "g"), ("called", "g")),
    ("after", ("not", ("called", "a"))),
    ("after_until", ("called", "g"), ("not", ("called", "a"))),
)
SCOPED: tuple[tuple[Formula, Scope], ...] = (
    (always(CA, compare(count(CA), "<=", 1)), ("after", CA)),
    (always(CA, ("Y", ("O", CB))), ("after_until", CA, CB)),
    *(
        (f, scope)
        for f in (
            always(CA, ("Y", ("O", CB))),
            always(CA, compare(count(CA), "<=", 1)),
            ("F", CA),
            always(CA, ("X", ("F", CB, ONE))),
            always(DA, ("X", ("F", CB))),
        )
        for scope in SCOPES
    ),
)
ASSUMING: tuple[tuple[Formula, Formula], ...] = tuple(
    itertools.product(
        (
            always(CA, ("Y", CB)),
            always(CA, ("X", CB)),
            always(CA, ("not", FA)),
            ("F", CA),
            ("G", ("not", ("failed", "a"))),
        ),
        (
            ("O", CB),
            ("O", ("done", "b")),
            ("not", ("O", CB)),
            compare(count(("or", CA, CB)), ">", 1),
        ),
    )
)


def groups() -> dict[str, Sequence[Formula]]:
    """The formulas that are tested always, by name."""
    return {
        "atoms": formulas(0),
        "one operator": formulas(1),
        "two operators": sample(2, 60),
        "templates": TEMPLATES,
        "timed": TIMED,
        "terms": TERMS,
    }


def prepare() -> None:
    """Make all tables that tests use."""
    for f in itertools.chain.from_iterable(groups().values()):
        table(f)
    for pair in SCOPED:
        scoped(*pair)
    for case in ASSUMING:
        assuming(*case)
