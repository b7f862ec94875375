"""A second opinion by SMT: z3 decides whether the facts of a trace refute a statement.

In: a statement as the mapping that is written in YAML, and a finite trace. Out: the verdict, and
the witnesses: the events, with values of the variables, that have a condition which is refuted.

The facts of the trace are a closed world: its tools, positions, and the values at each place of
interest, interned to integers; text matching is told, not decided. For each event and binding there
is one condition, as the form of the statement has it. Shares no code with the engine.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from tests.reference.smt_facts import World
from tests.reference.smt_reading import Body, Pattern, Statement, statement
from tests.reference.smt_values import FRESH, Event, Key, at

Binding: TypeAlias = tuple[Key, ...]
Witness: TypeAlias = tuple[int, Binding]
"""The number of an event, and a value for each variable of the statement, in their order."""


@dataclass(frozen=True)
class Verdict:
    """Whether the trace violates the statement, and all conditions that its facts refute."""

    violated: bool
    witnesses: frozenset[Witness]


def judged(
    mapping: Mapping[str, Any], events: Sequence[Event], *, by: str = "", lean: bool = False
) -> Verdict:
    """Ask the solver. `by`: the part of an `until` whose events have the conditions.

    `lean`: leave out the events that no pattern names; the others keep their positions.
    """
    encoding = Encoding(statement(mapping), list(events), by, lean)
    solver = z3.SimpleSolver()
    solver.set("core.minimize", True)
    solver.from_string(encoding.text())
    assert solver.check() == z3.sat, "the facts contradict each other"
    open_ones = dict(encoding.conditions)
    violated = _refuted(solver, open_ones) is not None
    witnesses: set[Witness] = set()
    while (name := _refuted(solver, open_ones)) is not None:
        witnesses.add(open_ones.pop(name))
    return Verdict(violated, frozenset(witnesses))


def _refuted(solver: Any, names: Iterable[str]) -> str | None:
    """One condition that the facts refute: the minimal core of all of them."""
    answer = solver.check(*map(z3.Bool, names))
    if answer == z3.sat:
        return None
    assert answer == z3.unsat, "these facts are complete: there is always an answer"
    (core,) = solver.unsat_core()
    return str(core)


class Encoding:
    """A statement over a trace, as SMT-LIB text."""

    def __init__(self, read: Statement, events: list[Event], by: str, lean: bool) -> None:
        self.read, self.events, self.by = read, events, by
        self.variables = read.variables()
        self.patterns = read.patterns()
        self.counted = read.counted(events)
        if lean and read.body is None:
            named = [n for n in self.counted if any(p.names_it(events[n]) for p in self.patterns)]
            self.counted = named
        self.domains = domains(read, events)
        self.judged = list(self._judged())
        used = {
            name: list(dict.fromkeys(binding[n] for _, binding in self.judged))
            for n, name in enumerate(self.variables)
        }
        self.world = World(read, events, self.counted, used)
        self.conditions: dict[str, Witness] = {}

    def text(self) -> str:
        """Facts, patterns as predicates, and one condition for each event and binding."""
        lines = self.world.facts()
        for number, pattern in enumerate(self.patterns):
            for hopeful in (False, True):
                parameters = " ".join(f"({name} Int)" for name in ("e", *self._names()))
                lines.append(
                    f"(define-fun p{number}{'?' if hopeful else ''} ({parameters}) Bool "
                    f"{self.world.pattern(pattern, self.variables, hopeful=hopeful)})"
                )
        lines += self._bodies()
        for event, binding in self.judged:
            name = f"r{len(self.conditions)}"
            self.conditions[name] = (event, binding)
            lines.append(f"(declare-const {name} Bool)")
            lines.append(f"(assert (=> {name} {self._condition(event, self._ids(binding))}))")
        return "\n".join(lines)

    def _names(self) -> list[str]:
        return [f"x{n}" for n in range(len(self.variables))]

    def _ids(self, binding: Binding) -> str:
        return "".join(f" {self.world.id(value)}" for value in binding)

    def _judged(self) -> Iterable[Witness]:
        """All events, each with the bindings that its condition may be refuted for."""
        pattern = self.read.parts[self.by] if self.by else self.read.judged()
        for number in self.counted:
            for binding in self._bindings(self.events[number], pattern):
                yield number, binding

    def _bindings(self, event: Event, pattern: Pattern | None) -> Iterable[Binding]:
        if pattern is not None and not pattern.names_it(event):
            return [tuple(FRESH for _ in self.variables)]
        choices = [self._choices(event, pattern, name) for name in self.variables]
        return itertools.product(*choices)

    def _choices(self, event: Event, pattern: Pattern | None, name: str) -> Iterable[Key]:
        """The values that a variable is bound to at this event; all, if it is not bound there."""
        if pattern is None or name not in pattern.bound():
            return self.domains[name]
        found = {test: at(event, test.place) for test in pattern.binders(name)}
        pairs = found.items()
        if any(
            each.blind or (each.misses(t.place) and pattern.refuses(t, event)) for t, each in pairs
        ):
            return self.domains[name]
        return dict.fromkeys(value for each in found.values() for value in each.keys)

    # --- conditions -------------------------------------------------------------------------------

    def _is(self, part: str, event: int, ids: str, *, hopeful: bool = False) -> str:
        """Whether an event is of a part of the statement; `hopeful`: or cannot be told."""
        if part not in self.read.parts:
            return "false"
        number = list(self.read.parts).index(part)
        return f"(p{number}{'?' if hopeful else ''} {event}{ids})"

    def _condition(self, e: int, ids: str) -> str:
        """What the form demands at this event."""
        judged = f"(=> {self._is('match', e, ids, hopeful=True)} {{}})"
        others = [f for f in self.counted if f != e]
        match self.read.form:
            case "absent":
                return judged.format("false")
            case "precedence":
                earlier = [f"(and {_before(f, e)} {self._is('requires', f, ids)})" for f in others]
                return judged.format(_or([self._is("spared", e, ids), *earlier]))
            case "response" | "bounded_response":
                late = f"(<= (at {{}}) (+ (at {e}) {self.read.within}))" if self.read.within else ""
                return judged.format(
                    _or(
                        f"(and {_before(e, f)} {late.format(f)} {self._is('by', f, ids)})"
                        for f in others
                    )
                )
            case "resolved":
                later = [
                    f"(and {_before(e, f)} "
                    f"(or {self._is('by', f, ids)} {self._is('match', f, ids)}))"
                    for f in others
                ]
                return judged.format(_or([self._is("by", e, ids), *later]))
            case "until":
                return self._until(e, ids)
        return f"(b{len(self._nodes) - 1} {e}{ids})"

    def _until(self, e: int, ids: str) -> str:
        """Between a trigger and what is forbidden there is a release; told from either end."""
        ends = ("trigger", "forbidden")
        own, other = ends if self.by == "trigger" else ends[::-1]
        parts = []
        for f in self.counted:
            start, end = (e, f) if own == "trigger" else (f, e)
            met = f"(and {_before(start, end)} {self._is(other, f, ids, hopeful=True)})"
            parts.append(f"(=> {met} {self._released(start, end, ids)})")
        return f"(=> {self._is(own, e, ids, hopeful=True)} (and true {' '.join(parts)}))"

    def _released(self, start: int, end: int, ids: str) -> str:
        return _or(
            f"(and {_before(start, f)} {_before(f, end)} {self._is('release', f, ids)})"
            for f in self.counted
            if "release" in self.read.parts
        )

    # --- temporal bodies --------------------------------------------------------------------------

    def _bodies(self) -> list[str]:
        """Each body as a predicate, told for every event and binding by those inside it."""
        self._nodes: list[tuple[Body, bool]] = []
        if self.read.body is None:
            return []
        lines: list[str] = []
        self._add(self.read.body, False, lines)
        return lines

    def _add(self, body: Body, hopeful: bool, lines: list[str]) -> int:
        inside = [self._add(part, hopeful ^ (body.op == "not"), lines) for part in body.parts]
        number = len(self._nodes)
        self._nodes.append((body, hopeful))
        sorts = " ".join("Int" for _ in ("e", *self.variables))
        lines.append(f"(declare-fun b{number} ({sorts}) Bool)")
        for event, binding in self.judged:
            ids = self._ids(binding)
            said = self._said(body, hopeful, inside, event, ids)
            lines.append(f"(assert (= (b{number} {event}{ids}) {said}))")
        return number

    def _said(self, body: Body, hopeful: bool, inside: list[int], e: int, ids: str) -> str:
        match body.op:
            case "is":
                pattern = next(n for n, each in enumerate(self.patterns) if each is body.pattern)
                return f"(p{pattern}{'?' if hopeful else ''} {e}{ids})"
            case "not":
                return f"(not (b{inside[0]} {e}{ids}))"
            case "and":
                return f"(and true {' '.join(f'(b{n} {e}{ids})' for n in inside)})"
            case "earlier":
                return _or(f"(and {_before(f, e)} (b{inside[0]} {f}{ids}))" for f in self.counted)
        return _or(f"(and {_before(e, f)} (b{inside[0]} {f}{ids}))" for f in self.counted)


def _before(first: int, second: int) -> str:
    return f"(< (at {first}) (at {second}))"


def _or(parts: Iterable[str]) -> str:
    return f"(or false {' '.join(parts)})"


def domains(read: Statement, events: Sequence[Event]) -> dict[str, list[Key]]:
    """The values that each variable is bound to or compared with, and one that occurs nowhere."""
    out: dict[str, dict[Key, None]] = {name: {} for name in read.variables()}
    for pattern in read.patterns():
        named = [event for event in events if pattern.names_it(event)]
        for test, event in itertools.product(pattern.tests, named):
            if test.var:
                out[test.var].update(dict.fromkeys(at(event, test.place).keys))
    return {name: [*found, FRESH] for name, found in out.items()}
