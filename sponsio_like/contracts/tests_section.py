"""Reads the section `tests:` of a contract file: traces, and what is expected of each.

In: plain data of a file. Out: `WrittenTest`s; or a `ContractError` with every mistake. They are run
by `sponsio-like test` (`sponsio_like/replay/testing/`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from sponsio_like.contracts.operands import check_keys
from sponsio_like.contracts.steps import read_steps
from sponsio_like.errors import ContractError, Problem, Problems, closest

TEST_KEYS = ("name", "trace", "expect", "proposed")
Expected: TypeAlias = Literal["allowed", "blocked", "held", "redirected", "warned", "unfulfilled"]
OUTCOMES: tuple[Expected, ...] = get_args(Expected)
FORM = "write {name: .., trace: [..], expect: allowed}"
EXPECT = "write `expect: allowed`, or `expect: {blocked: NAME}` with the name of a contract"
BUILT_IN = ("tools", "risk")
"""Names of findings that are no contract's: calls that the inventory refuses, and risk."""


@dataclass(frozen=True, slots=True)
class WrittenTest:
    """One test: events, or the path of a trace file, and what is expected.

    `expect` is an outcome; `by` the contracts that are named for it. `proposed`: no person has
    confirmed it yet. `where` is its place.
    """

    name: str
    events: tuple[Mapping[str, Any], ...]
    expect: Expected
    by: tuple[str, ...] = ()
    file: str = ""
    proposed: bool = False
    where: str = field(default="", compare=False)


def read_tests(value: Any, contracts: Iterable[str]) -> tuple[WrittenTest, ...]:
    """Return a section `tests:`. Raises `ContractError` with every mistake."""
    if not isinstance(value, list) or not value:
        raise ContractError.of("`tests` is no list of tests", f"below `tests:`, {FORM}")
    known = (*contracts, *BUILT_IN)
    problems = Problems()
    read = [problems.attempt((i,), _test, each, known) for i, each in enumerate(value)]
    tests = [each for each in read if each is not None]
    first: dict[str, int] = {}
    for i, test in enumerate(tests):
        if first.setdefault(test.name, i) != i:
            problems.add(f"two tests are named `{test.name}`", "rename one", i, "name")
    problems.check()
    return tuple(tests)


def _test(value: Any, known: tuple[str, ...]) -> WrittenTest:
    if not isinstance(value, Mapping):
        raise ContractError.of(f"`{value}` is no test", FORM)
    problems = Problems()
    check_keys(value, TEST_KEYS, "test", problems)
    for key in TEST_KEYS[:3]:
        if value.get(key) is None:
            problems.add(f"a test without `{key}`", FORM)
    name = value.get("name")
    if name is not None and (not isinstance(name, str) or not name.strip()):
        problems.add(f"`{name}` is no name", "write a text", "name")
    proposed = value.get("proposed", False)
    if not isinstance(proposed, bool):
        problems.add(f"`{proposed}` is neither true nor false", "write true", "proposed")
    trace = value.get("trace")
    file = trace if isinstance(trace, str) and trace.endswith((".jsonl", ".jsonl.gz")) else ""
    events: list[Mapping[str, Any]] | None = []
    if trace is not None and not file:
        events = problems.attempt(("trace",), _events, trace)
    expect = value.get("expect")
    expected = None
    if expect is not None:
        expected = problems.attempt(("expect",), _expected, expect, known)
    problems.check()
    assert expected is not None
    return WrittenTest(str(name), tuple(events or ()), *expected, file=file, proposed=proposed)


def _events(value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, str):
        return list(read_steps(value))
    if not isinstance(value, list) or not value:
        hint = "write a list of steps such as `pay(amount=80)`, a text of them, or a path: x.jsonl"
        raise ContractError.of("this is no trace", hint)
    for i, each in enumerate(value):  # YAML cuts a step at its commas
        if isinstance(each, str) and each.count("(") > each.count(")") and i + 1 < len(value):
            hint = 'quote each step: ["pay(order=17, amount=80)"]'
            raise ContractError(Problem(f"`{each}` was cut at a comma", path=(i,), hint=hint))
    problems = Problems()
    events: list[Mapping[str, Any]] = []
    for i, each in enumerate(value):
        if isinstance(each, str):
            events += problems.attempt((i,), read_steps, each) or ()
        elif isinstance(each, Mapping):
            events.append(dict(each))
        else:
            problems.add(f"`{each}` is no step", "write a text such as `pay(amount=80)`", i)
    problems.check()
    return events


def _expected(value: Any, known: tuple[str, ...]) -> tuple[Expected, tuple[str, ...]]:
    if value == "allowed":
        return "allowed", ()
    if isinstance(value, str) and value in OUTCOMES:
        raise ContractError.of(f"`{value}` by which contract?", f"write {{{value}: NAME}}")
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ContractError.of(f"`{value}` is nothing to expect", EXPECT)
    ((outcome, names),) = value.items()
    if outcome not in OUTCOMES or outcome == "allowed":
        hint = closest(str(outcome), OUTCOMES[1:]) or EXPECT
        raise ContractError.of(f"`{outcome}` is no outcome", hint)
    by = [names] if isinstance(names, str) else names
    if not isinstance(by, list) or not by:
        raise ContractError.of(f"`{names}` is no contract's name", EXPECT)
    for each in by:
        if each not in known:
            raise ContractError.of(f"no contract is named `{each}`", closest(str(each), known))
    return outcome, tuple(by)
