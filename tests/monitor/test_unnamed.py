"""Calls of tools that no contract names matter where they change something."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, Scope
from sponsio_like.errors import ContractError
from sponsio_like.logic.formula import Formula, Not
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement
from tests.support.play import guarded, opened

NEVER = "G !called(a)"
BEFORE = "G(called(a) -> O called(b))"
ENDS = [
    (NEVER, Scope("after", read("!called([a, b])")), "o a", ".x"),
    (NEVER, Scope("after", read("!called([a, b])")), "b a b o b a", ".....x"),
    (NEVER, Scope("before", None, read("!called([a, b])")), "a o a", "x.."),
    (BEFORE, Scope("between", read("called(c)"), read("!called([a, b, c])")), "c b o c a", "....x"),
    (NEVER, Scope("after", read("true")), "o a", ".x"),
    (NEVER, Scope("after", read("arg(n) > 3")), "o(n=2) a(n=1) o(n=4) a(n=1)", "...x"),
]


@requirement("S-SCOPE-01")
@pytest.mark.parametrize(("formula", "scope", "trace", "expected"), ENDS)
def test_a_segment_begins_and_ends_at_any_call(
    formula: str, scope: Scope, trace: str, expected: str
) -> None:
    """A condition of a scope is asked of every call, also of tools that nobody names."""
    assert opened(Contract("c", (Rule(read(formula)),), segment=scope))(trace) == expected


SPLIT = [
    ("G(called(a) -> F[<=2] called(b))", "a(x=1) o(x=1) o(x=1)", "..x"),
    ("G(called(a) -> F[<=2] called(b))", "a(x=1) o(x=2) o(x=2) o(x=1) b(x=1)", "....."),
    ("G(called(a) -> X called(b))", "a(x=1) o(x=2) b(x=1) a(x=1) o(x=1)", "....x"),
    ("G(called(a) -> Y called(b))", "b(x=1) o(x=2) a(x=1) b(x=1) o(x=1) a(x=1)", ".....x"),
]


@requirement("S-KEY-01")
@pytest.mark.parametrize(("formula", "trace", "expected"), SPLIT)
def test_every_call_with_a_value_is_a_position_of_its_monitor(
    formula: str, trace: str, expected: str
) -> None:
    """A clause for each value counts all calls with that value, and no others."""
    assert opened(Contract("c", (Rule(read(formula), by=("x",)),)))(trace) == expected


@requirement("S-TERM-01")
@pytest.mark.parametrize("of", ["called(*)", "true", "!called(pay)"])
def test_what_any_call_leaves_is_remembered(of: str) -> None:
    """A sum, or a value that is remembered, of any call takes calls of unnamed tools in."""
    formula = f"G(called(pay) -> arg(n) = last(arg(n), {of}))"
    assert opened(formula)("o(n=1) pay(n=1) o(n=2) pay(n=1)") == "...x"
    assert opened("G(called(pay) -> sum(*, n) <= 5)")("o(n=4) pay(n=1) pay(n=1)") == "..x"


def test_a_tool_that_the_inventory_lacks_is_named() -> None:
    """A misspelt tool is called unknown, whatever else it makes of the guarantee."""
    with pytest.raises(ContractError, match="unknown tool `pya`"):
        guarded(Contract("c", (Rule(read("G !called(pya)")),)), tools=["pay"])


def test_a_part_is_not_given_twice() -> None:
    """A node takes each of its parts once."""
    body: Formula = read("called(a)")
    given: dict[str, Any] = {"body": body}
    with pytest.raises(TypeError, match="takes exactly: body"):
        Not(body, **given)
