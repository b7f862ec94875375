"""The engine held against the solver, on one statement and one trace.

In: both. Out: what they disagree on, in words; and a smaller pair on which they still do.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.reference.smt import Binding, Verdict, domains, judged
from tests.reference.smt_engine import Blamed, Named, Said, engine_witnesses
from tests.reference.smt_reading import Body, Statement, statement
from tests.reference.smt_values import FRESH, Event, Key, key

Written: TypeAlias = Mapping[str, Any]
Pair: TypeAlias = tuple[Written, Sequence[Event]]
LONG = 64
"""Values with more characters are not told as they are."""
KEPT = ("pattern", "tool", "type", "role", "text", "within", "output")


@dataclass(frozen=True)
class Due:
    """A condition that is refuted, and when it has to be reported: from one event to another.

    `last` is None for the end of the trace.
    """

    binding: Binding
    first: int
    last: int | None

    def covers(self, event: int | None) -> bool:
        """Whether a report at this event, or at the end, may be about it."""
        if event is None:
            return self.last is None
        return self.first <= event and (self.last is None or event <= self.last)


def differences(mapping: Written, events: Sequence[Event]) -> list[str]:
    """What the two disagree on. Raises `ContractError` if the engine refuses the statement."""
    said = engine_witnesses(mapping, events)
    return list(compared(statement(mapping), events, said, judged(mapping, events)))


def compared(
    read: Statement, events: Sequence[Event], said: Said, verdict: Verdict
) -> Iterator[str]:
    """The verdict; the events that are reported, where the form says which; the values."""
    if said.raised:
        yield f"the engine raised {said.raised}"
        return
    if said.blamed:
        yield from misblamed(read, events, said.blamed, verdict)
    if said.violated != verdict.violated:
        yield f"verdict: engine {said.violated}, solver {verdict.violated}"
        return
    if read.body is not None and looks_ahead(read.body):
        return
    dues = [due_of(read, list(events), *witness) for witness in verdict.witnesses]
    reports: list[tuple[int | None, Named]] = [
        *((number, report) for number, each in said.reported.items() for report in each),
        *((None, report) for report in said.unfulfilled),
    ]
    for due in dues:
        if not any(due.covers(number) for number, _ in reports):
            yield f"not reported: {due}"
    for number, report in reports:
        meant = [due.binding for due in dues if due.covers(number)]
        if not any(agrees(read, report, each) for each in meant):
            yield f"reported at {number}: {report}, solver {meant}"


def misblamed(
    read: Statement,
    events: Sequence[Event],
    told: Blamed,
    verdict: Verdict,
) -> Iterator[str]:
    """The calls that only one of the two blames, for the same values.

    Values that one of them never binds are all alike, where values are not compared otherwise.
    """
    calls = list(itertools.accumulate((e.get("type") != "message" for e in events), initial=0))
    known = domains(read, events)
    solved: dict[Binding, set[int]] = {}
    for number, binding in verdict.witnesses:
        solved.setdefault(binding, set()).add(calls[number])
    unknown = tuple(FRESH for _ in known)
    related = any(t.var and t.op != "binds" for part in read.patterns() for t in part.tests)
    for binding in {**told, **solved}:
        pairs = zip(binding, known.values(), strict=True)
        same = tuple(value if value in each else FRESH for value, each in pairs)
        if related and (same != binding or binding not in told):
            continue
        mine, theirs = {*told.get(binding, told[unknown])}, solved.get(same, set())
        if mine != theirs:
            yield f"blamed for {binding}: {sorted(mine)}, solver {sorted(theirs)}"


def due_of(read: Statement, events: list[Event], number: int, binding: Binding) -> Due:
    """When a refuted condition of an event has to be reported.

    Where an answer may ask as well, obligations can be lost together, and before they are due.
    """
    if read.form not in ("response", "resolved", "bounded_response"):
        return Due(binding, number, number)
    counted = read.counted(events)
    end = counted.index(number) + read.within
    last = counted[end] if read.within and end < len(counted) else None
    first = 0 if meets_itself(read) else len(events) if last is None else last
    return Due(binding, first, last)


def meets_itself(read: Statement) -> bool:
    """Whether what answers may also ask: then an obligation may be lost before it is due."""
    ask, answer = read.parts["match"], read.parts["by"]
    plain = not any(sign in name for name in (*ask.names, *answer.names) for sign in "*?")
    apart = ask.names and answer.names and not {*ask.names} & {*answer.names}
    return not (ask.kind != answer.kind or (plain and apart))


def looks_ahead(body: Body) -> bool:
    """Whether a body speaks of what comes later."""
    return body.op == "later" or any(map(looks_ahead, body.parts))


def agrees(read: Statement, report: Named, binding: Binding) -> bool:
    """Whether a report names these values; where one occurs nowhere, it may name none of them."""
    pairs = list(zip(read.variables(), binding, strict=True))
    if FRESH in binding:
        pairs = [(name, value) for name, value in pairs if name in report and value != FRESH]
    return all(is_named(report, name, value) for name, value in pairs)


def is_named(report: Named, name: str, value: Key) -> bool:
    """Whether a report gives a variable this value; a long one has a fingerprint there."""
    if name not in report:
        return False
    said = key(report[name])
    return said == value or (len(str(value)) > LONG and "a long value" in str(said))


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
        if name not in KEPT:
            yield {each: kept for each, kept in mapping.items() if each != name}
        if isinstance(value, Mapping):
            for less in _without(value):
                yield {**mapping, name: less}
