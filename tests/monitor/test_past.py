"""Registers of the past, against what the operators mean, on every short run of three tools."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pytest

from sponsio_like.event_types import Call
from sponsio_like.events.context import Context
from sponsio_like.monitor.past import compile_past
from sponsio_like.monitor.past_source import compiled_step
from sponsio_like.monitor.program import Program
from sponsio_like.monitor.slots import slot_reader
from sponsio_like.syntax import read

Run = Sequence[str]
Meaning = Callable[[Run, int], Any]
"""A run and a position -> the value there. A second passes between positions."""


def a(run: Run, i: int) -> bool:
    """Whether `a` is called."""
    return run[i] == "a"


def b(run: Run, i: int) -> bool:
    """Whether `b` is called."""
    return run[i] == "b"


def since(run: Run, i: int) -> bool:
    """`a` at every position after the latest `b`."""
    return any(b(run, j) and all(a(run, k) for k in range(j + 1, i + 1)) for j in range(i + 1))


def when(hold: Meaning, run: Run, i: int) -> list[int]:
    """The positions up to this one where it holds."""
    return [j for j in range(i + 1) if hold(run, j)]


def reset_count(run: Run, i: int) -> int:
    """How many `a` after the latest `b`."""
    start = max(when(b, run, i), default=-1)
    return sum(a(run, j) for j in range(start + 1, i + 1))


MEANINGS: list[tuple[str, Meaning]] = [
    ("Y called(a)", lambda r, i: i > 0 and a(r, i - 1)),
    ("WY called(a)", lambda r, i: i == 0 or a(r, i - 1)),
    ("!Y called(a)", lambda r, i: i == 0 or not a(r, i - 1)),
    ("O called(a)", lambda r, i: any(a(r, j) for j in range(i + 1))),
    ("H called(a)", lambda r, i: all(a(r, j) for j in range(i + 1))),
    ("!H called(a)", lambda r, i: not all(a(r, j) for j in range(i + 1))),
    ("O[<=2] called(a)", lambda r, i: any(a(r, j) for j in range(max(0, i - 2), i + 1))),
    ("H[<=2] called(a)", lambda r, i: all(a(r, j) for j in range(max(0, i - 2), i + 1))),
    ("O[<=2s] called(a)", lambda r, i: any(a(r, j) for j in range(max(0, i - 2), i + 1))),
    ("H[<=2s] called(a)", lambda r, i: all(a(r, j) for j in range(max(0, i - 2), i + 1))),
    ("O[<=0] called(a)", a),
    ("Y O[<=0] called(a)", lambda r, i: i > 0 and a(r, i - 1)),
    ("Y O[<=1] called(a)", lambda r, i: any(a(r, j) for j in range(max(0, i - 2), i))),
    ("!Y O[<=1] called(a)", lambda r, i: not any(a(r, j) for j in range(max(0, i - 2), i))),
    ("WY H[<=1] called(a)", lambda r, i: all(a(r, j) for j in range(max(0, i - 2), i))),
    ("WY O[<=1] called(a)", lambda r, i: not i or any(a(r, j) for j in range(max(0, i - 2), i))),
    ("Y H[<=1] called(a)", lambda r, i: i > 0 and all(a(r, j) for j in range(max(0, i - 2), i))),
    (
        "O[<=1] called(a) & !Y O[<=1] called(a)",
        lambda r, i: a(r, i) and "a" not in r[max(0, i - 2) : i],
    ),
    ("called(a) S called(b)", since),
    ("!(called(a) S called(b))", lambda r, i: not since(r, i)),
    ("Y (called(a) S called(b))", lambda r, i: i > 0 and since(r, i - 1)),
    ("count(a) >= 2", lambda r, i: len(when(a, r, i)) >= 2),
    ("count(a since b) >= 2", lambda r, i: reset_count(r, i) >= 2),
    ("called(b) | count(a since b) <= 1", lambda r, i: b(r, i) or reset_count(r, i) <= 1),
    ("called(a) | count(b since a) >= 1", lambda r, i: a(r, i) or "b" in after(r, i)),
    ("count[<=3](a) >= 2", lambda r, i: sum(j > i - 3 for j in when(a, r, i)) >= 2),
    ("count[<=3s](a) >= 2", lambda r, i: sum(j > i - 3 for j in when(a, r, i)) >= 2),
    ("count[<=3](a since b) >= 1", lambda r, i: "a" in [*after_b(r, i)][-3:]),
    ("since(a) <= 1", lambda r, i: bool(when(a, r, i)) and i - when(a, r, i)[-1] <= 1),
    ("age(a) <= 1", lambda r, i: bool(when(a, r, i)) and i - when(a, r, i)[-1] <= 1),
    ("since(a) > 1", lambda r, i: not when(a, r, i) or i - when(a, r, i)[-1] > 1),
    ("since(a) = 0", a),
    ("age(a) = 0", a),
    ("last(arg(n), called(a)) = 1", lambda r, i: i > 0 and when(a, r, i - 1)[-1:] == [1]),
    ("sum(a, n) >= 3", lambda r, i: sum(when(a, r, i)) >= 3),
    ("sum[<=2](a, n) >= 3", lambda r, i: sum(j for j in when(a, r, i) if j > i - 2) >= 3),
    ("sum[<=2s](a, n) >= 3", lambda r, i: sum(j for j in when(a, r, i) if j > i - 2) >= 3),
]


def after(run: Run, i: int) -> Run:
    """The run after the latest `a`."""
    return run[max(when(a, run, i), default=-1) + 1 : i + 1]


def after_b(run: Run, i: int) -> Run:
    """The run after the latest `b`."""
    return run[max(when(b, run, i), default=-1) + 1 : i + 1]


def values(text: str, calls: Sequence[Call]) -> list[Any]:
    """The value of a formula at every position; unmakeable comparisons are false."""
    program = Program()
    root = program.add(read(text))
    past, readers = compile_past(program), [slot_reader(slot) for slot in program.slots]
    registers, found = past.start, []
    for position, call in enumerate(calls):
        letter = tuple(reader(call, Context()) for reader in readers)
        known = past.read(letter, registers, position, float(position))
        registers = past.after(known, letter, registers, position, float(position))
        found.append(known[root])
    return found


@pytest.mark.parametrize(("text", "meaning"), MEANINGS)
def test_a_register_remembers_what_its_operator_means(text: str, meaning: Meaning) -> None:
    """At every position of every run of five calls."""
    for run in itertools.product("abc", repeat=5):
        calls = [Call(tool, {"n": n}) for n, tool in enumerate(run)]
        expected = [meaning(run, i) for i in range(len(run))]
        assert values(text, calls) == expected, run


@pytest.mark.parametrize(("text", "meaning"), MEANINGS)
def test_a_step_in_source_does_what_the_functions_do(text: str, meaning: Meaning) -> None:
    """The same truth, and the same registers, at every position of every run of five calls."""
    program = Program()
    root = program.add(read(text))
    past, readers = compile_past(program), [slot_reader(slot) for slot in program.slots]
    step = compiled_step(program, past, [root])
    for run in itertools.product("abc", repeat=5):
        registers, said = past.start, []
        for at, tool in enumerate(run):
            letter = tuple(reader(Call(tool, {"n": at}), Context()) for reader in readers)
            known = past.read(letter, registers, at, float(at))
            violated, after = step(letter, registers, at, float(at))
            registers = past.after(known, letter, registers, at, float(at))
            said.append(not violated)
            assert after == registers
        assert said == [bool(meaning(run, i)) for i in range(len(run))]


RUNS: list[tuple[str, list[tuple[str, Any]], list[int]]] = [
    ("equal", [("a", 1), ("a", 1), ("a", 1)], [1, 2, 3]),
    ("equal", [("a", 1), ("a", 2), ("a", 2)], [1, 1, 2]),
    ("equal", [("a", 1), ("b", 1), ("a", 1)], [1, 0, 1]),
    ("fuzzy", [("a", "1 2 3 4 5 6 7 8 9"), ("a", "2 1 3 4 5 6 7 8 9")], [1, 2]),
    ("fuzzy", [("a", "x 2 3 4 5 6 7 y"), ("a", "x 2 3 4 5 6 7 y z")], [1, 2]),
    ("fuzzy", [("a", "x 2 3 4 5 6 y"), ("a", "x 2 3 4 5 6 y z")], [1, 1]),
    ("fuzzy", [("a", "x y"), ("a", "u v")], [1, 1]),
    ("fuzzy", [("a", "x y"), ("b", "x y"), ("a", "x y")], [1, 0, 1]),
]


@pytest.mark.parametrize(("similar", "calls", "lengths"), RUNS)
def test_a_run_of_similar_calls_is_counted(
    similar: str, calls: list[tuple[str, Any]], lengths: list[int]
) -> None:
    """Other tools and other arguments end it; `fuzzy` lets one word in ten differ."""
    made = [
        Call(tool, {"q": f"{x} "}) if similar == "fuzzy" else Call(tool, {"q": x})
        for tool, x in calls
    ]
    suffix = ", fuzzy" if similar == "fuzzy" else ""
    for length in range(4):
        found = values(f"repeats(a{suffix}) = {length}", made)
        assert found == [each == length for each in lengths]


def test_a_sum_is_missing_only_where_its_amount_is() -> None:
    """What cannot be added makes the comparison unmakeable there, and adds nothing later."""
    calls = [Call("a", {"n": 0.1}), Call("a", {"n": "x"}), Call("a", {"n": 0.2}), Call("b")]
    for bound in ("", "[<=9]", "[<=9s]"):
        assert values(f"sum{bound}(a, n) <= 0.3", calls) == [True, False, True, True]
        assert values(f"sum{bound}(a, n) >= 0.3", calls) == [False, False, True, True]
    assert Decimal("0.1") + Decimal("0.2") == Decimal("0.3")


def test_a_long_value_is_not_remembered() -> None:
    """A text of more than 1,024 characters cannot be told later, nor a list; null is missing."""
    kept, long, listed = "x" * 1024, "x" * 1025, ["x"]
    for value, told in ((kept, True), (long, False), (listed, False), (1.5, True), (None, False)):
        calls = [Call("a", {"v": value}), Call("b")]
        assert values("last(mark(*), called(a)) = last(mark(*), called(a))", calls)[1] is True
        same = values("last(arg(v), called(a)) = last(arg(v), called(a))", calls)
        assert same == [False, told]
