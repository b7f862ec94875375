"""The engine held against the solver, on one statement and one trace.

In: both. Out: what they disagree on, in words; and a smaller pair on which they still do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.smt import Binding, Verdict, judged
from tests.smt_engine import Named, Said, engine_witnesses
from tests.smt_reading import Body, Statement, statement
from tests.smt_values import FRESH, Event, Key, Unclear, as_text, key

Written: TypeAlias = Mapping[str, Any]
Pair: TypeAlias = tuple[Written, Sequence[Event]]
Judge: TypeAlias = Callable[[Written, Sequence[Event]], Verdict]


@dataclass
class Due:
    """Which events have to be reported, and what is open at the end, each with the values."""

    reported: dict[int, set[Binding]] = field(default_factory=dict)
    unfulfilled: set[Binding] = field(default_factory=set)


def differences(mapping: Written, events: Sequence[Event]) -> list[str]:
    """What the two disagree on. Raises `ContractError` if the engine refuses the statement."""
    said = engine_witnesses(mapping, events)
    return list(compared(statement(mapping), events, said, judged(mapping, events)))


def compared(
    read: Statement, events: Sequence[Event], said: Said, verdict: Verdict
) -> Iterator[str]:
    """The verdict; the events that are reported, where the form says which; the values."""
    if said.violated != verdict.violated:
        yield f"verdict: engine {said.violated}, solver {verdict.violated}"
        return
    due = due_in(read, list(events), verdict)
    if due is None:
        return
    if set(said.reported) != set(due.reported):
        yield f"events: engine {sorted(said.reported)}, solver {sorted(due.reported)}"
        return
    if bool(said.unfulfilled) != bool(due.unfulfilled):
        yield f"open at the end: engine {said.unfulfilled}, solver {due.unfulfilled}"
        return
    named = [
        (due.reported[n], report) for n, reports in said.reported.items() for report in reports
    ]
    named += [(due.unfulfilled, report) for report in said.unfulfilled]
    for bindings, report in named:
        if report is not None and not any(agrees(read, report, each) for each in bindings):
            yield f"values: engine {dict(report)}, solver {bindings}"


def due_in(read: Statement, events: list[Event], verdict: Verdict) -> Due | None:
    """What an engine has to report that goes along; None where the form does not say."""
    if read.body is not None and looks_ahead(read.body):
        return None
    due = Due()
    counted = read.counted(events)
    for number, binding in verdict.witnesses:
        end = counted.index(number) + read.within
        if read.form in ("response", "resolved") or end >= len(counted):
            due.unfulfilled.add(binding)
        else:
            due.reported.setdefault(counted[end], set()).add(binding)
    return due


def looks_ahead(body: Body) -> bool:
    """Whether a body speaks of what comes later."""
    return body.op == "later" or any(map(looks_ahead, body.parts))


def agrees(read: Statement, report: Named, binding: Binding) -> bool:
    """Whether a report names these values; a value that occurs nowhere may have any name."""
    pairs = zip(read.variables(), binding, strict=True)
    return all(value in (FRESH, _key(read, name, report)) for name, value in pairs)


def _key(read: Statement, name: str, report: Named) -> Key | None:
    tests = [test for part in read.patterns() for test in part.tests if test.var == name]
    value = report.get(name)
    try:
        return key(value if all(t.place.how == "plain" for t in tests) else as_text(value))
    except Unclear:
        return None


# --- smaller --------------------------------------------------------------------------------------


def shrunk(pair: Pair, fails: Callable[[Pair], bool]) -> Pair:
    """A smaller pair that fails as well: no event, no key of a mapping can be left out."""
    while (smaller := next(filter(fails, _smaller(pair)), None)) is not None:
        pair = smaller
    return pair


def _smaller(pair: Pair) -> Iterator[Pair]:
    mapping, events = pair
    for n in range(len(events)):
        yield mapping, [*events[:n], *events[n + 1 :]]
    for less in _without(mapping):
        yield less, events
    for n, event in enumerate(events):
        for less in _without(event):
            yield mapping, [*events[:n], less, *events[n + 1 :]]


def _without(mapping: Written) -> Iterator[dict[str, Any]]:
    """The mapping without one of its keys, at any depth."""
    for name, value in mapping.items():
        if name not in ("pattern", "tool", "type", "role", "text", "within"):
            yield {each: kept for each, kept in mapping.items() if each != name}
        if isinstance(value, Mapping):
            for less in _without(value):
                yield {**mapping, name: less}
