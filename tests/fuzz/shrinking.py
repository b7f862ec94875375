"""Make a case that fails as small as it gets, and write it down.

In: a formula, a trace, and a question: does it still fail? Out: a smaller formula and a shorter
trace.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.syntax import show
from tests.fuzz.fuzz_traces import Event

Case: TypeAlias = tuple[f.Formula, Sequence[Event]]


def shrunk(case: Case, fails: Callable[[f.Formula, Sequence[Event]], bool]) -> Case:
    """The smallest case on the way down: each step is the first smaller case that still fails."""
    while True:
        smaller = (each for each in smaller_cases(case) if fails(*each))
        found = next(smaller, None)
        if found is None:
            return case
        case = found


def smaller_cases(case: Case) -> Iterator[Case]:
    """The same with less: an event, a part of the formula, a detail."""
    formula, events = case
    yield from ((formula, each) for each in shorter(events))
    yield from ((each, events) for each in simpler(formula) if each is not formula)
    yield from ((formula, each) for each in plainer(events))


def shorter(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Half of the events, or one less; a call goes with its result."""
    half = len(events) // 2
    for gone in ({*range(half, len(events))}, *({i} for i in reversed(range(len(events))))):
        ids = {events[i]["id"] for i in gone if events[i]["type"] == "call"}
        kept = [
            event
            for i, event in enumerate(events)
            if i not in gone and not (event["type"] == "result" and event["id"] in ids)
        ]
        if len(kept) < len(events):
            yield kept


def plainer(events: Sequence[Event]) -> Iterator[list[Event]]:
    """One event with less to it: earlier, without arguments."""
    for i, event in enumerate(events):
        for key, value in (("args", {}), ("agent", "agent"), ("depth", 0), ("usage", {})):
            if event.get(key, value) != value:
                yield [*events[:i], event | {key: value}, *events[i + 1 :]]
    for i, j in itertools.combinations(range(len(events) + 1), 2):
        before = events[i - 1]["time"] if i else 0.0
        gap = events[i]["time"] - before
        if gap and j == len(events):
            later = [event | {"time": event["time"] - gap} for event in events[i:]]
            yield [*events[:i], *later]


def simpler(node: f.Formula) -> Iterator[f.Formula]:
    """Formulas with a part replaced by something below it, by a constant, or without its bound."""
    yield from (below for below in f.children(node) if isinstance(below, f.Formula))
    if not isinstance(node, f.Constant):
        yield from (f.TRUE, f.FALSE)
    yield from (each for each in rebuilt(node) if isinstance(each, f.Formula))


def rebuilt(node: f.Node) -> Iterator[f.Node]:
    """The same node with one field simpler."""
    names: tuple[str, ...] = node.__match_args__
    for name in names:
        for value in simpler_value(getattr(node, name)):
            fields = {each: getattr(node, each) for each in names} | {name: value}
            yield type(node)(**fields)


def simpler_value(value: Any) -> Iterator[Any]:
    """Simpler values of a field."""
    match value:
        case f.Formula():
            yield from simpler(value)
        case f.Term():
            yield from rebuilt(value)
        case f.Steps(n) if n > 0:
            yield f.Steps(n - 1)
        case f.Seconds(t) if t > 1:
            yield f.Seconds(1)
        case f.Match(conditions=conditions) if conditions:
            yield replace(value, conditions=())
        case tuple() if len(value) > (1 if any(isinstance(x, f.Match) for x in value) else 2):
            yield from (value[:i] + value[i + 1 :] for i in range(len(value)))
        case tuple():
            for i, part in enumerate(value):
                yield from ((*value[:i], each, *value[i + 1 :]) for each in simpler_value(part))


def written(case: Case) -> str:
    """A case as text: the formula, and the events as in a trace file."""
    formula, events = case
    return "\n".join([show(formula), *(f"    {json.dumps(event)}" for event in events)])
