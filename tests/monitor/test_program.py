"""Formulas as numbered nodes: what is shared, what a window keeps, and which answer violates."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like.errors import ContractError
from sponsio_like.logic.decomposition import decompose
from sponsio_like.logic.formula import Always, conj
from sponsio_like.monitor.program import WINDOW_CAP, Program
from sponsio_like.syntax import read


def added(text: str, violates: bool = False) -> tuple[Program, int]:
    """The program of a formula, and its root."""
    program = Program()
    return program, program.add(read(text), violates=violates)


def names(text: str) -> list[Any]:
    """The names of the nodes of a formula."""
    return [op[0] for op in added(text)[0].nodes]


@pytest.mark.parametrize("name", ["F", "G", "O", "H"])
def test_the_same_operator_twice_is_once(name: str) -> None:
    """`F F f` is `F f`, as for G, O and H; not with a bound, and not X, Y or another operator."""
    assert names(f"{name} {name} called(a)") == ["lit", name]
    assert names(f"{name} {name}[<=2] called(a)") == ["lit", name, name]
    assert names(f"{name}[<=2] {name} called(a)") == ["lit", name, name]
    assert names("X X called(a)") == ["lit", "X", "X"]
    assert names("Y Y called(a)") == ["lit", "Y", "Y"]
    assert names("G F called(a)") == ["lit", "F", "G"]
    assert names("O H called(a)") == ["lit", "H", "O"]


def test_the_same_node_has_one_number() -> None:
    """What is said twice is watched once."""
    program, _ = added("(called(a) | O called(b)) & X (called(a) | O called(b))")
    assert [op[0] for op in program.nodes] == ["lit", "lit", "O", "or", "X", "and"]
    assert len(program.slots) == 2


def test_what_was_so_within_steps_before_has_one_register() -> None:
    """And the numbers of its nodes are those that snapshots of older versions have."""
    assert names("Y O[<=2] called(a)") == ["lit", "false", "YO"]
    assert names("WY H[<=2] called(a)") == ["lit", "false", "WYH"]
    assert names("!Y O[<=2] called(a)") == ["lit", "false", "WYH"]
    assert names("Y H[<=2] called(a)") == ["lit", "H", "Y"]
    assert names("Y O[<=2s] called(a)") == ["lit", "O", "Y"]
    assert names("Y O[<=2] called(a) & O[<=2] called(a)") == ["lit", "O", "YO", "and"]
    assert names("O[<=2] called(a) & Y O[<=2] called(a)") == ["lit", "O", "YO", "and"]
    assert names("Y O[<=2] called(a) & O[<=3] called(a)") == ["lit", "false", "YO", "O", "and"]


WINDOWS = [
    ("count[<=5](a) <= 3", 5),
    ("count[<=5](a) <= 0", 2),
    ("count[<=5](a) <= -7", 2),
    ("count[<=5](a) <= 1.5", 3),
    ("count[<=5s](a since b) < 4", 6),
    ("3 >= count[<=5](a)", 5),
    ("count[<=5](a) <= 9998", 10_000),
    ("count[<=5](a) <= ctx(k)", WINDOW_CAP),
    ("count[<=5](a) <= count[<=5](b)", WINDOW_CAP),
]


@pytest.mark.parametrize(("text", "kept"), WINDOWS)
def test_a_window_keeps_what_its_limit_needs(text: str, kept: int) -> None:
    """Two events more than a constant limit, and no fewer than two; all that fit without one."""
    program, root = added(text)
    _, left, _, right, _ = program.nodes[root]
    ends = [program.nodes[left], program.nodes[right]]
    assert {op[4] for op in ends if op[0] == "count"} == {kept}


def test_a_limit_too_large_for_a_window_is_refused() -> None:
    """A window has to remember what it compares; a count over everything does not."""
    with pytest.raises(ContractError, match="limit of a sliding window is too large"):
        added("count[<=5](a) <= 9999")
    program, root = added("count(a) <= 20000")
    assert program.nodes[program.nodes[root][1]] == ("count", 0, -1, None, WINDOW_CAP)


DEFAULTS = [
    ("called(a, x = 1)", {"called(a, x = 1)": True}),
    ("!called(a, x = 1)", {"called(a, x = 1)": False}),
    ("count(called(a, x = 1)) >= 1", {"called(a, x = 1)": True}),
    ("count(called(a, x = 1)) > 1", {"called(a, x = 1)": True}),
    ("count(called(a, x = 1)) <= 1", {"called(a, x = 1)": False}),
    ("!(count(called(a, x = 1)) <= 1)", {"called(a, x = 1)": True}),
    ("1 >= count(called(a, x = 1))", {"called(a, x = 1)": False}),
    ("1 <= count(called(a, x = 1))", {"called(a, x = 1)": True}),
    ("count(called(a, x = 1)) = 1", {"called(a, x = 1)": False}),
    ("count(called(a, x = 1)) != 1", {"called(a, x = 1)": False}),
    ("!(count(called(a, x = 1)) = 1)", {"called(a, x = 1)": False}),
    ("1 = count(called(a, x = 1))", {"called(a, x = 1)": False}),
    (
        "count(called(a, x = 1) since called(b, x = 1)) >= 1",
        {"called(a, x = 1)": True, "called(b, x = 1)": False},
    ),
    (
        "count(called(a, x = 1) since called(b, x = 1)) <= 1",
        {"called(a, x = 1)": False, "called(b, x = 1)": True},
    ),
    ("since(called(a, x = 1)) >= 1", {"called(a, x = 1)": False}),
    ("since(called(a, x = 1)) <= 1", {"called(a, x = 1)": True}),
    ("age(called(a, x = 1)) >= 1", {"called(a, x = 1)": False}),
    ("age(called(a, x = 1)) <= 1", {"called(a, x = 1)": True}),
    ("last(depth(), called(a, x = 1)) <= 1", {"called(a, x = 1)": False}),
]


@pytest.mark.parametrize(("text", "expected"), DEFAULTS)
def test_what_cannot_be_told_counts_against_the_formula(
    text: str, expected: dict[str, bool]
) -> None:
    """Each atom takes the value that helps least; turned around where a violation is looked for."""
    even = "=" in text.replace("<=", "").replace(">=", "").replace("x =", "") or "last" in text
    for violates in (False, True):
        program, _ = added(text, violates)
        found = {repr(slot.node): slot.default for slot in program.slots if slot.kind == "atom"}
        assert found == {
            name: default if even else default is violates for name, default in expected.items()
        }


READINGS = [
    ("called(a) W called(b)", ["G(called(a) | O called(b))"], []),
    ("called(a) U called(b)", ["G(called(a) | O called(b))"], ["F called(b)"]),
    ("called(a) R called(b)", ["G(called(b) | Y O called(a))"], []),
    ("X called(a) W called(b)", [], ["X called(a) W called(b)"]),
    ("called(a) W X called(b)", [], ["called(a) W X called(b)"]),
    ("X called(a) U called(b)", [], ["X called(a) U called(b)"]),
    ("called(a) R X called(b)", [], ["called(a) R X called(b)"]),
    ("G(called(a) & F called(b))", ["G(called(a) & F called(b))"], []),
    ("G called(a) & (F called(b) & G called(c))", ["G called(a)", "G called(c)"], ["F called(b)"]),
    ("G[<=3] called(a)", [], ["G[<=3] called(a)"]),
    ("true & F called(a)", [], ["F called(a)"]),
]


@pytest.mark.parametrize(("text", "always", "rest"), READINGS)
def test_a_guarantee_is_taken_apart_into_instances(
    text: str, always: list[str], rest: list[str]
) -> None:
    """What is owed at every position, and what once; the rest as it is where it looks ahead."""
    reading = decompose(read(text))
    bodies = [conj(*parts) for parts in reading.always]
    assert [Always(body) for body in bodies] == [read(each) for each in always]
    assert [*reading.rest] == [read(each) for each in rest]
