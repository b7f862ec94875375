"""What can still happen, by search: every continuation up to a length, written out and evaluated.

In: a formula as it is read, the events so far, and questions: is this formula true at that
position? Out: every combination of answers that some continuation gives.

A continuation is: each call in flight settles now or at the end; further positions of the kinds
that the formula speaks of follow, with free facts and free comparisons of terms, each call of them
settling at once or at the end; then the end. (With `waiting`, calls may also settle between later
positions.) With bounds in seconds the next position comes after one of a few times, see `gaps`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, combinations, product
from typing import Any, TypeAlias

from tests.reference.oracle import (
    END,
    Event,
    Formula,
    Position,
    Trace,
    children,
    clock,
    holds,
    kinds,
    loose,
    of_calls_alone,
    positions,
    under,
)

Question: TypeAlias = tuple[Formula, int]
Answers: TypeAlias = set[tuple[bool, ...]]
SOON = 1e9
"""The moment after all events so far."""


def subsets(items: Iterable[Any]) -> list[frozenset[Any]]:
    known = sorted(set(items), key=str)
    sizes = range(len(known) + 1)
    return [frozenset(some) for size in sizes for some in combinations(known, size)]


def atoms(f: Formula) -> Iterator[Formula]:
    """The parts of `f` that stand for themselves at a position; a comparison is one of them."""
    below = [] if f[0] in ("compare", "compare?") else list(children(f))
    yield from chain.from_iterable(map(atoms, below)) if below else [f]


def results(f: Formula) -> list[tuple[float, str, frozenset[str]]]:
    """Everything that can become of a call, at the end."""
    outputs = subsets(g[1] for g in under(f) if g[0] == "output")
    return [(END, status, facts) for status in ("done", "failed") for facts in outputs]


def shapes(f: Formula, tools: Sequence[str] | None) -> Iterator[Position]:
    """Every further position that is worth telling apart; its calls settle at the end."""
    named: dict[str, set[str]] = defaultdict(set)
    for head, *name in atoms(f):
        named[head].update(name[:1])
    mentioned = (named["called"] | named["done"] | named["failed"]) - {"*"}
    events = {
        "call": [Event("call", tool) for tool in tools or (*sorted(mentioned), "another")],
        "message": [Event("message", role) for role in {*named["message"], "another"} - {"*"}],
        "step": [Event("step", true=some) for some in subsets(named["step"])],
    }
    elsewhere = {g[1]: g[2] for g in atoms(f) if g[0] in ("prop", "prop?") and len(g) > 2}
    compared = [g for g in atoms(f) if g[0] in ("compare", "compare?")]
    for kind in sorted(kinds(f)):
        missing = frozenset(fact for fact, other in elsewhere.items() if other != kind)
        facts = subsets((named["prop"] | named["prop?"]) - missing)
        here = Position(Event(kind, ""), 0)
        free = subsets(loose(g[1:]) for g in compared if not of_calls_alone(g, here))
        for true, assumed, event in product(facts, free, events[kind]):
            fact = replace(event, true=event.true | true, unknown=missing)
            for result in results(f) if kind == "call" else [None]:
                yield Position(fact, 0, settled=result, assumed=assumed)


@lru_cache(maxsize=1000)
def gaps(f: Formula) -> list[float]:
    """How much later the next position may come: at once, as a bound of `f` ends, or after it."""
    bounds = [g[2] for g in under(f) if g[0] in ("F", "G", "O", "H") and len(g) > 2]
    times = {t for unit, t in bounds if unit == "seconds"}
    apart = {abs(t - u) for t in times for u in times}
    return sorted({0.0} | times | {t + 0.5 for t in times} | apart)


def is_open(position: Position) -> bool:
    return position.event.kind == "call" and not position.settled


def search(
    f: Formula,
    questions: Sequence[Question],
    events: Sequence[Event],
    length: int,
    tools: Sequence[str] | None = None,
    waiting: int = 0,
) -> Answers:
    """The answers by all continuations of at most `length` positions, each written out."""
    trace, now = positions(events, kinds(f)), clock(events)[-1] if events else 0.0
    answers = set()
    for more in range(length + 1):
        for added in product(shapes(f, tools), repeat=more):
            for times in product(gaps(f), repeat=more):
                clocked = (now + sum(times[: n + 1]) for n in range(more))
                later = [
                    replace(shape, decided=SOON + 2 * n + 2, time=time)
                    for n, (shape, time) in enumerate(zip(added, clocked, strict=True))
                ]
                for whole in settlements(f, (*trace, *later), more, waiting):
                    answers.add(tuple(holds(q, whole, i) for q, i in questions))
    return answers


def settlements(f: Formula, trace: Trace, more: int, waiting: int) -> Iterator[Trace]:
    """The trace with each open result, and each moment at which such results can arrive."""
    options = []
    for i, position in enumerate(trace):
        first = max(0, i + more + 1 - len(trace))
        last = more if waiting else first
        moments = [*(SOON + 1 + 2 * n for n in range(first, last + 1)), END]
        if is_open(position):
            options.append(
                [replace(position, settled=(m, *r[1:])) for m in moments for r in results(f)]
            )
        elif position.settled and position.settled[0] == END:
            options.append([replace(position, settled=(m, *position.settled[1:])) for m in moments])
        else:
            options.append([position])
    yield from product(*options)
