"""`explain` against the replay, and its witnesses against the definition of every instance."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

import sponsio_like.patterns  # noqa: F401  declares the patterns
from sponsio_like.contracts.declaration import CATALOG, Rule
from sponsio_like.contracts.definition import ALL_INPUTS, contract
from sponsio_like.logic.formula import Formula
from sponsio_like.replay.replay import Replay
from sponsio_like.replay.timeline import ExplainedViolation, explained
from sponsio_like.syntax import read
from sponsio_like.traces.trace import Trace, trace_of
from tests.fuzz.fuzz_heard import heard
from tests.reference import bridge, oracle
from tests.reference.grounds import NEVER, ground
from tests.reference.oracle_runs import reading
from tests.semantics.manifest import requirement
from tests.support import notation

EACH, LENGTH = 16, 7
TOOLS = ("a", "b", "c", "pay")


def trace(words: Sequence[str]) -> Trace:
    found = trace_of({"id": "t", "events": notation.events(" ".join(words))})
    return replace(found, inputs=ALL_INPUTS)


def told(rule: Rule | Formula, words: Sequence[str]) -> list[ExplainedViolation]:
    """What is told of a rule; it has to name the very calls that the replay names."""
    replay = Replay([contract("c").guarantees(rule)])
    happened = trace(words)
    judged, found = replay.judge(happened), explained(replay, happened)
    calls = {each.told.call for each in found if not each.told.open}
    assert calls == {each.position for each in judged.violations}, (rule, words)
    assert any(each.told.open for each in found) == bool(judged.unfulfilled), (rule, words)
    return found


def false_at(formula: Formula, words: Sequence[str], own: Iterable[int] | None = None) -> set[int]:
    """The calls of whose positions the formula is false, by definition; `own`: only these exist."""
    translated = bridge.translate(formula, TOOLS)
    always, rest = reading(translated)
    events: list[dict[str, Any]] = []
    numbers: list[int] = []
    mine = None if own is None else set(own)
    for number, event in enumerate(notation.events(" ".join(words))):
        if mine is not None and number not in mine:
            continue
        numbers.append(number)
        call = {"type": "call", "tool": event["tool"], "args": event["args"], "id": str(number)}
        events.append({**call, "agent": event.get("agent", "agent"), "time": event["time"]})
        result = {"type": "result", "id": str(number), "status": event["status"]}
        events.append({**result, "output": event.get("output"), "time": event["time"]})
    positions = oracle.positions(heard(translated, events), oracle.kinds(translated))
    places = range(len(positions))
    found = {numbers[i] for f in always for i in places if not oracle.holds(f[1], positions, i)}
    return found | ({0} if places and not oracle.holds(rest, positions, 0) else set())


def traces(letters: Sequence[str], seed: str) -> Iterable[list[str]]:
    dice = random.Random(seed)
    for _ in range(EACH):
        yield [dice.choice(letters) for _ in range(dice.randint(1, LENGTH))]


def blamed(found: Iterable[ExplainedViolation]) -> dict[tuple[Any, ...], set[int]]:
    """The witnesses, by the values that they are told for."""
    out: dict[tuple[Any, ...], set[int]] = {}
    for each in found:
        out.setdefault(each.values, set()).update(each.told.witnesses)
    return out


FORMULAS = (
    "G(called(pay) -> Y O done(a))",
    "G(called(a) -> X F called(b))",
    "G(called(a) -> X called(b))",
    "G(called(a) -> X F[<=1] done(b))",
    "G(called(b) -> !O failed(a)) & F called(b)",
    "!called(b) W called(a)",
    "G(count(a) <= 1)",
    "G(called(pay) -> count[<=3](pay) <= 1)",
    "F called(c)",
)


@pytest.mark.long
@requirement("S-EXPLAIN-02")
@pytest.mark.parametrize("text", FORMULAS)
def test_the_witnesses_of_a_formula_are_those_of_its_definition(text: str) -> None:
    """Each call to blame is one at whose position the formula is false, and none is left out."""
    formula = read(text)
    for words in traces(("a", "a!", "b", "b!", "c", "pay"), text):
        expected = false_at(formula, words)
        assert set().union(*blamed(told(formula, words)).values()) == expected, words


SPLIT: dict[str, dict[str, Any]] = {
    "idempotent": {"action": "pay", "by": ["n"]},
    "duplicate_call_limit": {"tool": "pay", "fields": ["n"], "limit": 1},
    "segregation_of_duty": {"first": "a", "second": "pay"},
}


@requirement("S-EXPLAIN-03")
@pytest.mark.parametrize("name", SPLIT)
def test_the_witnesses_of_a_split_clause_are_those_of_each_value(name: str) -> None:
    """Each value is judged on its own calls; a call that lacks the field is to blame alone."""
    rule = CATALOG[name].rule(SPLIT[name])
    letters = ("a@ann", "a@bob", "pay(n=1)@ann", "pay(n=1)@bob", "pay(n=2)@ann", "pay(n=2)!", "pay")
    for words in traces(letters, name):
        events = notation.events(" ".join(words))
        keys: dict[tuple[Any, ...], list[int]] = {}
        lost: set[int] = set()
        for number, event in enumerate(events):
            values = [
                (path, event.get("agent", "agent") if path == "@agent" else event["args"].get(path))
                for path in rule.by
            ]
            if any(value is None for _, value in values):
                lost |= {number} if event["tool"] == "pay" else set()
            else:
                keys.setdefault(tuple(values), []).append(number)
        expected = {key: false_at(rule.formula, words, own) for key, own in keys.items()}
        expected = {key: each for key, each in expected.items() if each}
        if lost:
            expected[()] = lost
        assert blamed(told(rule, words)) == expected, words


BOUND = (
    "G(called(pay, n = $x) -> Y O done(a, n = $x))",
    "G(called(a, n = $x) -> X F called(pay, n = $x))",
    "G(called(pay, n = $x) -> !O called(b, n = $x))",
    "G(called(a, n = $x) -> X G !called(b, n = $x))",
)


@requirement("S-EXPLAIN-02")
@pytest.mark.parametrize("text", BOUND)
def test_the_witnesses_of_a_value_are_those_of_the_formula_with_that_value(text: str) -> None:
    """With the value in the place of its variable, the formula is false at just these calls."""
    formula = read(text)
    letters = [f"{tool}(n={n})" for tool in ("a", "b", "pay") for n in (1, 2)]
    for words in traces([*letters, "a(n=1)!", "a", "pay"], text):
        expected = {
            () if value == NEVER else (("x", value),): false_at(
                ground(formula, {"x": value}), words
            )
            for value in (1, 2, NEVER)
        }
        expected = {key: each for key, each in expected.items() if each}
        assert blamed(told(formula, words)) == expected, words


@pytest.mark.long
@pytest.mark.parametrize("name", CATALOG)
def test_every_pattern_is_explained_where_it_is_violated(name: str) -> None:
    """On traces made of the words of its own examples, the calls are those of the replay."""
    which = CATALOG[name]
    rule = which.rule(which.example)
    for text in (*which.keeps, *which.breaks):
        told(rule, list(notation.split(text, " ")))
    words = {word for text in (*which.keeps, *which.breaks) for word in notation.split(text, " ")}
    letters = sorted(each for each in words if each[-1] != "?" and each[:2] not in ("ok", "er"))
    for one in traces(letters, name):
        told(rule, one)
