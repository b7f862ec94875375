"""A third voice: a statement judged over a whole trace, straight from its definition.

In: a statement, a trace. Out: the events and bindings at which it fails. Every value is tried for
every variable. Nothing is interned, nothing is solved.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tests.reference.smt_facts import plain_number, reads_alike
from tests.reference.smt_reading import Body, Pattern, Statement, Test, statement
from tests.reference.smt_values import FRESH, Event, Found, Key, at

Values: TypeAlias = Mapping[str, Key]
ORDER: Mapping[str, Any] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def failing(
    mapping: Mapping[str, Any], events: Sequence[Event]
) -> set[tuple[int, tuple[Key, ...]]]:
    """Every event, with every binding, at which the statement does not hold."""
    read = statement(mapping)
    names = read.variables()
    bound = {
        (test.var, value)
        for part in read.patterns()
        for event in filter(part.names_it, events)
        for test in part.tests
        if test.var
        for value in at(event, test.place).keys
    }
    choices = [{FRESH, *(value for var, value in bound if var == name)} for name in names]
    counted = read.counted(events)
    positions = [events[number] for number in counted]
    return {
        (number, binding)
        for binding in itertools.product(*choices)
        for i, number in enumerate(counted)
        if not holds(read, positions, i, dict(zip(names, binding, strict=True)))
    }


def holds(read: Statement, events: list[Event], i: int, values: Values) -> bool:
    """Whether the statement holds at a position, for these values."""

    def one(part: str, j: int, hopeful: bool = False) -> bool:
        return part in read.parts and matches(read.parts[part], events[j], values, hopeful)

    def some(part: str, where: range, hopeful: bool = False) -> bool:
        return any(one(part, j, hopeful) for j in where)

    ahead = range(i + 1, len(events))
    match read.form:
        case "absent":
            return not one("match", i, True)
        case "precedence":
            met = one("spared", i) or some("requires", range(i))
            return not one("match", i, True) or met
        case "response":
            return not one("match", i, True) or some("by", ahead)
        case "bounded_response":
            return not one("match", i, True) or some("by", ahead[: read.within])
        case "resolved":
            met = one("by", i) or some("by", ahead) or some("match", ahead)
            return not one("match", i, True) or met
        case "until":
            return not one("forbidden", i, True) or all(
                some("release", range(j + 1, i)) for j in range(i) if one("trigger", j, True)
            )
    assert read.body is not None
    return true(read.body, events, i, values, hopeful=False)


def true(body: Body, events: list[Event], i: int, values: Values, hopeful: bool) -> bool:
    """Whether a temporal body holds at an event."""

    def inner(j: int) -> bool:
        return true(body.parts[0], events, j, values, hopeful)

    match body.op:
        case "not":
            return not true(body.parts[0], events, i, values, not hopeful)
        case "and":
            return all(true(part, events, i, values, hopeful) for part in body.parts)
        case "earlier":
            return any(inner(j) for j in range(i))
        case "later":
            return any(inner(j) for j in range(i + 1, len(events)))
    assert body.pattern is not None
    return matches(body.pattern, events[i], values, hopeful)


def matches(pattern: Pattern, event: Event, values: Values, hopeful: bool) -> bool:
    """Whether an event is of the pattern; what cannot be told is as `hopeful` says."""
    status = "any" if pattern.status == "any" else event.get("status", "ok")
    if not pattern.names_it(event) or status != pattern.status:
        return False
    answers = [passes(test, event, values, pattern) for test in pattern.tests]
    return all(hopeful if answer is None else answer for answer in answers)


def passes(test: Test, event: Event, values: Values, pattern: Pattern) -> bool | None:
    """Whether what stands in an event passes; None if that cannot be told."""
    found = at(event, test.place)
    binds = test.op == "binds"
    refused = binds and pattern.refuses(test, event)
    listed = "[]" in test.place.path
    gap = found.hole if nulls(test, found) else found.gap
    if test.every and (gap or (refused and found.bare)):
        return None if refused else False
    if found.lacks and (binds or not test.every):
        return None if refused else nulls(test, found)
    if test.every and binds:
        has = [] if found.shared is None else [values[test.var] in found.shared]
        answers: list[bool | None] = [*has]
    else:
        answers = [compared(test, value, values) for value in found.keys]
    if found.blind or (refused and (found.bare or (found.gap and listed))):
        answers.append(None)
    if test.every:
        return False if False in answers else None if None in answers else True
    if found.mixed and (binds or len(set(answers)) > 1):
        return None if set(answers) - {False} else False
    return True if True in answers or nulls(test, found) else None if None in answers else False


def nulls(test: Test, found: Found) -> bool:
    """Whether a null stands there, and is asked for."""
    wanted = test.operand if test.op == "in" else (test.operand,) if test.op == "=" else ()
    return found.null and ("word", "null") in wanted


def compared(test: Test, value: Key, values: Values) -> bool | None:
    """Whether one value compares so."""
    other = values[test.var] if test.var else test.operand
    match test.op:
        case "binds":
            return value == other
        case "=" | "!=" | "in":
            wanted = other if test.op == "in" else (other,)
            if value in wanted:
                return test.op != "!="
            near = not test.var and any(reads_alike(value, each) for each in wanted)
            return None if near else test.op == "!="
        case "matches":
            return bool(re.search(str(other), value[1])) if value[0] == "text" else None
    if value[0] != other[0] or value[0] not in ("number", "text"):
        return None
    pair = (plain_number(value), plain_number(other))
    if value[0] == "text" and test.place.how != "plain" and pair.count(None) == 1:
        return None
    left, right = (value[1], other[1]) if None in pair else pair
    return bool(ORDER[test.op](left, right))
