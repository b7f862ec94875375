"""The facts of a trace, and patterns over them, as SMT-LIB text.

In: a statement, a trace, and the values that its variables may have. Out: ground facts about every
event, complete (what is not so is said, too), and for each pattern a predicate on one event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from tests.reference.smt_reading import Pattern, Statement, Test
from tests.reference.smt_values import FRESH, Event, Key, Place, at

SORTS = {"number": 1, "text": 2}
DECLARED = """
(declare-fun call (Int) Bool)
(declare-fun tool (Int) Int)
(declare-fun agent (Int) Int)
(declare-fun ok (Int) Bool)
(declare-fun at (Int) Int)
(declare-fun holds (Int Int Int) Bool)
(declare-fun shared (Int Int Int) Bool)
(declare-fun lacks (Int Int) Bool)
(declare-fun gap (Int Int) Bool)
(declare-fun hole (Int Int) Bool)
(declare-fun blind (Int Int) Bool)
(declare-fun mixed (Int Int) Bool)
(declare-fun null (Int Int) Bool)
(declare-fun bare (Int Int) Bool)
(declare-fun sort (Int) Int)
(declare-fun num (Int) Real)
(declare-fun rank (Int) Int)
(declare-fun plain (Int) Bool)
(declare-fun like (Int Int) Bool)
"""


class World:
    """Everything that is interned: values, places, tools or roles, agents, expressions."""

    def __init__(
        self,
        read: Statement,
        events: Sequence[Event],
        told: Sequence[int],
        domains: Mapping[str, list[Key]],
    ) -> None:
        self.events = {number: events[number] for number in told}
        self.positions = {number: p for p, number in enumerate(read.counted(events))}
        self.tests = [test for pattern in read.patterns() for test in pattern.tests]
        self.places: dict[Place, int] = {}
        self.regexes: dict[str, int] = {}
        for test in self.tests:
            self.places.setdefault(test.place, len(self.places))
            if test.op == "matches":
                self.regexes.setdefault(test.operand, len(self.regexes))
        self.found = {p: {n: at(e, p) for n, e in self.events.items()} for p in self.places}
        self.at_place = {place: self._universe(place, domains) for place in self.places}
        every = (*(v for found in domains.values() for v in found), FRESH)
        every += tuple(value for values in self.at_place.values() for value in values)
        self.ids = {value: n for n, value in enumerate(dict.fromkeys(every))}
        self.names = _numbered(
            event.get("tool", event.get("role")) for event in self.events.values()
        )
        self.agents = _numbered(e.get("agent", "agent") for e in self.events.values())

    def _universe(self, place: Place, domains: Mapping[str, list[Key]]) -> list[Key]:
        """The values that are of interest at a place."""
        out: list[Key] = []
        tests = [test for test in self.tests if test.place == place]
        for test in tests:
            out += domains[test.var] if test.var else ()
            out += test.operand if test.op == "in" else ()
            out += [test.operand] if test.op not in ("in", "matches") and not test.var else ()
        if any(test.op != "binds" or test.every for test in tests):
            out += [value for found in self.found[place].values() for value in found.keys]
        return list(dict.fromkeys(out))

    def id(self, value: Key) -> int:
        """The number that stands for a value."""
        return self.ids[value]

    # --- facts ------------------------------------------------------------------------------------

    def facts(self) -> list[str]:
        """All that is so, and all that is not so."""
        out = [DECLARED]
        for number, event in self.events.items():
            call = event.get("type", "call") == "call"
            name = self.names[event["tool"] if call else event["role"]]
            out += [
                _fact(f"(call {number})", call),
                _fact(f"(ok {number})", call and event.get("status", "ok") == "ok"),
                f"(assert (= (tool {number}) {name}))",
                f"(assert (= (agent {number}) {self.agents[event.get('agent', 'agent')]}))",
                f"(assert (= (at {number}) {self.positions[number]}))",
            ]
        out += self._values_of_events()
        for value, n in self.ids.items():
            out += self._value(value, n)
        return out

    def _values_of_events(self) -> Iterator[str]:
        for place, p in self.places.items():
            for number, found in self.found[place].items():
                there = frozenset(found.keys)
                yield _fact(f"(lacks {number} {p})", found.lacks)
                yield _fact(f"(gap {number} {p})", found.gap)
                yield _fact(f"(hole {number} {p})", found.hole)
                yield _fact(f"(blind {number} {p})", found.blind)
                yield _fact(f"(mixed {number} {p})", found.mixed)
                yield _fact(f"(null {number} {p})", found.null)
                yield _fact(f"(bare {number} {p})", found.bare)
                for value in self.at_place[place]:
                    yield _fact(f"(holds {number} {p} {self.ids[value]})", value in there)
                    in_all = found.shared is None or value in found.shared
                    yield _fact(f"(shared {number} {p} {self.ids[value]})", in_all)

    def _value(self, value: Key, n: int) -> Iterator[str]:
        yield f"(assert (= (sort {n}) {SORTS.get(value[0], 0)}))"
        number = value[1] if value[0] == "number" else plain_number(value)
        if isinstance(number, Fraction):
            yield f"(assert (= (num {n}) {_real(number)}))"
        yield _fact(f"(plain {n})", isinstance(number, Fraction) and value[0] == "text")
        if value[0] == "text":
            texts = sorted(each[1] for each in self.ids if each[0] == "text")
            yield f"(assert (= (rank {n}) {texts.index(value[1])}))"
        for regex, r in self.regexes.items():
            like = value[0] == "text" and re.search(regex, value[1]) is not None
            yield _fact(f"(like {n} {r})", like)

    # --- patterns ---------------------------------------------------------------------------------

    def pattern(self, pattern: Pattern, variables: list[str], *, hopeful: bool) -> str:
        """That event `e` is of the pattern, for these values; `hopeful`: or cannot be told."""
        parts = ["(call e)" if pattern.kind == "call" else "(not (call e))"]
        if pattern.status != "any":
            parts.append("(ok e)" if pattern.status == "ok" else "(not (ok e))")
        named = {
            self.names[event["tool"] if pattern.kind == "call" else event["role"]]
            for event in self.events.values()
            if pattern.names_it(event)
        }
        parts.append(f"(or false {' '.join(f'(= (tool e) {n})' for n in sorted(named))})")
        if pattern.agent is not None:
            known = pattern.agent in self.agents
            parts.append(f"(= (agent e) {self.agents[pattern.agent]})" if known else "false")
        for test in pattern.tests:
            x = f"x{variables.index(test.var)}" if test.var else ""
            asked = self._refused(pattern, test) if hopeful and test.op == "binds" else "false"
            parts.append(self._test(test, x, hopeful=hopeful, asked=asked))
        return f"(and {' '.join(parts)})"

    def _refused(self, pattern: Pattern, test: Test) -> str:
        """That event `e` may be any, if it lacks what is tested."""
        calls = [event for event in self.events.values() if pattern.names_it(event)]
        calls = [each for each in calls if "tool" in each and pattern.refuses(test, each)]
        tools = sorted({self.names[each["tool"]] for each in calls})
        return f"(or false {' '.join(f'(= (tool e) {n})' for n in tools)})"

    def _test(self, test: Test, x: str, *, hopeful: bool, asked: str) -> str:
        place = f"e {self.places[test.place]}"
        lacks, gap, blind, mixed = (
            f"({what} {place})" for what in ("lacks", "gap", "blind", "mixed")
        )
        each = [(v, f"(holds {place} {self.ids[v]})") for v in self.at_place[test.place]]
        if test.every:
            kept = [f"(=> {holds} {self._compared(test, v, x, hopeful)})" for v, holds in each]
            kept = [f"(shared {place} {x})"] if test.op == "binds" else kept
            told = "" if hopeful else f"(not {blind})"
            if test.op in ("=", "in"):
                wanted = test.operand if test.op == "in" else (test.operand,)
                gap = f"(hole {place})" if ("word", "null") in wanted else gap
            there = f"(not {lacks})" if test.op == "binds" else ""
            refused = f"(and {asked} (or {lacks} {gap} (bare {place})))"
            return f"(or {refused} (and (not {gap}) {there} {told} {' '.join(kept)}))"
        holes = f"(or {lacks} (bare {place}) {gap if '[]' in test.place.path else ''})"
        excused = [f"(and {asked} {holes})", *([blind] if hopeful else [])]
        if test.op == "binds":
            sure = "true" if hopeful else f"(not {mixed})"
            return f"(or (and (holds {place} {x}) {sure}) {' '.join(excused)})"
        some = [f"(and {holds} {self._compared(test, v, x, hopeful)})" for v, holds in each]
        wanted = test.operand if test.op == "in" else (test.operand,) if test.op == "=" else ()
        some += [f"(null {place})"] if ("word", "null") in wanted else []
        every = [f"(=> {holds} {self._compared(test, v, x, hopeful)})" for v, holds in each]
        sure = "true" if hopeful else f"(or (not {mixed}) (and (not {blind}) {' '.join(every)}))"
        return f"(or (and (or false {' '.join(some)}) {sure}) {' '.join(excused)})"

    def _compared(self, test: Test, value: Key, x: str, hopeful: bool) -> str:
        """Whether a value compares so; `hopeful`: or cannot be compared."""
        v = self.ids[value]
        match test.op:
            case "binds":
                return f"(= {v} {x})"
            case "=" | "in":
                wanted = test.operand if test.op == "in" else (test.operand,)
                near = hopeful and any(reads_alike(value, each) for each in wanted)
                same = " ".join(f"(= {v} {self.ids[each]})" for each in wanted)
                return f"(or {str(near).lower()} {same})"
            case "!=":
                near = not (x or hopeful) and reads_alike(value, test.operand)
                return f"(and {str(not near).lower()} (not (= {v} {x or self.ids[test.operand]})))"
            case "matches":
                like = f"(like {v} {self.regexes[test.operand]})"
                return f"(or {like} (not (= (sort {v}) 2)))" if hopeful else like
        other = x or str(self.ids[test.operand])
        alike = [f"(and (= (sort {v}) {n}) (= (sort {other}) {n}))" for n in (1, 2)]
        numbers = f"(and {alike[0]} ({test.op} (num {v}) (num {other})))"
        by_size, by_rank = (f"({test.op} ({how} {v}) ({how} {other}))" for how in ("num", "rank"))
        both = f"(and (plain {v}) (plain {other}))"
        odd = f"(and {alike[1]} (xor (plain {v}) (plain {other})))"  # of texts that were found
        told = test.place.how == "plain"
        by_rank = by_rank if told else f"(ite {odd} {str(hopeful).lower()} {by_rank})"
        texts = f"(and {alike[1]} (ite {both} {by_size} {by_rank}))"
        unlike = f"(not (or {alike[0]} {alike[1]}))" if hopeful else "false"
        return f"(or {numbers} {texts} {unlike})"


def reads_alike(one: Key, other: Key) -> bool:
    """Whether two scalars that differ are written alike, but for blanks, or as the same number."""
    if one == other or "text" not in (one[0], other[0]):
        return False
    first, second = (_written(each) for each in (one, other))
    return first is not None and first == second


def plain_number(scalar: Key) -> Fraction | None:
    """The number that a text is, if it is one with digits and a point only."""
    text = str(scalar[1]).strip() if scalar[0] == "text" else ""
    return Fraction(text) if re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)", text) else None


def _written(scalar: Key) -> str | Fraction | None:
    if scalar[0] == "text":
        text = str(scalar[1]).strip()
        return Fraction(text) if re.fullmatch(r"[+-]?\d+(\.\d+)?", text) else text
    return scalar[1] if scalar[0] in ("word", "number") else None


def _fact(atom: str, true: bool) -> str:
    return f"(assert {atom})" if true else f"(assert (not {atom}))"


def _numbered(names: Iterator[str | None]) -> dict[str, int]:
    return {name: n for n, name in enumerate(dict.fromkeys(names)) if name is not None}


def _real(number: Fraction) -> str:
    text = f"(/ {abs(number.numerator)}.0 {number.denominator}.0)"
    return f"(- {text})" if number < 0 else text
