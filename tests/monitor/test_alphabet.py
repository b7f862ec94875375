"""Everything that one more position could be: letters, as the exact search goes through them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from sponsio_like.events.atoms import LATE, MISSING
from sponsio_like.monitor.alphabet import (
    OTHER,
    letters,
    settlements,
    static,
    tool_names,
    unconcerned_letter,
)
from sponsio_like.monitor.program import Program
from sponsio_like.syntax import read

T, F, L = True, False, LATE


def program(text: str) -> Program:
    """The program of a formula."""
    made = Program()
    made.add(read(text), violates=False)
    return made


LETTERS: list[tuple[str, set[tuple[Any, ...]]]] = [
    ("called(a)", {(T,), (F,)}),
    ("called(a) & called(b)", {(T, F), (F, T), (F, F)}),
    ("called(*)", {(T,)}),
    ("called(a) & called(*)", {(T, T), (F, T)}),
    ('called("a*") & called("b*")', {(T, F), (F, T), (T, T), (F, F)}),
    ("called(a, x = 1)", {(T,), (F,)}),
    ("called(a) & called(a, x = 1)", {(T, T), (T, F), (F, F)}),
    ("done(a)", {(T,), (L,), (F,)}),
    ("called(a) & done(a) & failed(a)", {(T, T, F), (T, F, T), (T, L, F), (T, F, L), (F, F, F)}),
    ("done(a, x = 1) & called(a, x = 1)", {(T, T), (L, T), (F, T), (F, F)}),
    ("output = 1", {(T,), (L,), (F,)}),
    ("done(a) & output = 1", {(T, T), (T, F), (L, L), (L, F), (F, T), (F, L), (F, F)}),
    ("message(user)", {(T,), (F,)}),
    ("message(user) & message(*)", {(T, T), (F, T)}),
    ("message(user) & called(a)", {(T, F), (F, T), (F, F)}),
    ("step(p) & step(q)", {(T, T), (T, F), (F, T), (F, F)}),
    ("step(p) & called(a)", {(T, F), (F, T), (F, F)}),
    ("message(user) & arg(x) = 1", {(T, F), (F, T), (F, F)}),
    ("sum(a, x) <= ctx(k)", {(F, F)}),
    ("called(a) & repeats(a) <= 1", {(T, F, F), (F, F, F)}),
    ("ctx(k) = 1 & called(a)", {(T, T), (F, T), (T, F), (F, F)}),
    ("called(a, @agent = bob) & called(b)", {(T, F), (F, F), (F, T)}),
]


@pytest.mark.parametrize(("text", "expected"), LETTERS)
def test_letters_are_what_a_position_can_be(text: str, expected: set[tuple[Any, ...]]) -> None:
    """Names exclude each other; conditions, context and results are free; none comes twice."""
    found, complete = letters(program(text).slots, 0, None)
    assert complete
    assert len(found) == len({*found})
    assert {*found} == expected


def test_every_letter_comes_with_all_free_bits() -> None:
    """What the search leaves open stands behind the slots."""
    found, complete = letters(program("called(a)").slots, 2, None)
    assert complete
    assert {*found} == {(c, x, y) for c in (T, F) for x in (T, F) for y in (T, F)}


def test_an_inventory_says_which_tools_there_are() -> None:
    """With an inventory, globs are those of the tools in it, and no name is made up."""
    slots = program('called("a*") & called("b*")').slots
    found, _ = letters(slots, 0, ("ax", "bx"))
    assert {*found} == {(T, F), (F, T), (F, F)}


def test_what_is_said_of_a_call_is_no_answer_for_a_message() -> None:
    """A comparison that cannot be made at a position of another kind takes its default."""
    made = Program()
    made.add(read("message(user) & arg(x) = 1"), violates=True)
    found, _ = letters(made.slots, 0, None)
    assert {*found} == {(T, T), (F, T), (F, F)}


@pytest.mark.parametrize(("number", "expected"), [(7, 128), (8, 256), (9, 11), (10, 12)])
def test_too_many_free_atoms_are_tried_some_at_a_time(number: int, expected: int) -> None:
    """Up to eight, every combination; beyond, none, all, and each alone, which is told."""
    slots = program(" & ".join(f"ctx(k{n}) = 1" for n in range(number))).slots
    found, complete = letters(slots, 0, None)
    assert len(found) == expected
    assert complete is (number <= 8)
    assert (F,) * number in found
    assert (T,) * number in found
    assert (T, *(F,) * (number - 1)) in found


def test_too_many_letters_are_told() -> None:
    """Letters beyond the limit are left out, and the answer says so."""
    free = " & ".join(f"ctx(k{n}) = 1" for n in range(8))
    some = program(free + " & " + " & ".join(f"called(t{n})" for n in range(3)))
    assert letters(some.slots, 0, None)[1]
    many = program(free + " & " + " & ".join(f"called(t{n})" for n in range(40)))
    found, complete = letters(many.slots, 0, None)
    assert not complete
    assert 200_000 < len(found) * len(many.slots) < 220_000


def test_combinations_of_many_globs_are_tried_in_pairs() -> None:
    """Up to four globs in every combination; of more, each alone, in pairs, and all together."""

    def combined(number: int) -> list[int]:
        target = " & ".join(f'called("g{n}*")' for n in range(number))
        return [len(name) for name in tool_names([slot.node for slot in program(target).slots])]

    assert sorted(combined(4)) == [1] * 4 + [2] * 6 + [3] * 4 + [4]
    assert sorted(combined(6)) == [1] * 6 + [2] * 15 + [6]


def test_a_quiet_call_is_of_no_tool_and_has_nothing_to_say() -> None:
    """Nothing called, no amount, no key, no value but a constant."""
    made = program("called(a) & called(*) & sum(a, x) <= 3 & repeats(a) <= 1 & ctx(k) <= since(a)")
    kinds = {
        (slot.kind, repr(slot.node)): value
        for slot, value in zip(made.slots, unconcerned_letter(made.slots), strict=True)
    }
    assert kinds[("atom", "called(a)")] is False
    assert kinds[("atom", "called(*)")] is True
    (amount,) = [value for (kind, _), value in kinds.items() if kind == "amount"]
    assert isinstance(amount, Decimal)
    assert amount == 0
    assert [value for (kind, _), value in kinds.items() if kind == "key"] == [None]
    values = {text: value for (kind, text), value in kinds.items() if kind == "value"}
    assert values == {"3": 3, "1": 1, "ctx(k)": MISSING}


def test_a_name_tells_which_sums_a_call_adds_to() -> None:
    """Sums and runs are told by their targets; values never."""
    slots = program("sum(a, x) <= ctx(k) & repeats(b) <= 1 & called(a, x = 1)").slots
    told = {
        tool: {repr(s.node): each for s, each in zip(slots, static(slots, tool), strict=True)}
        for tool in ("a", "b", OTHER)
    }
    assert [told[tool]["sum(called(a), x)"] for tool in told] == [True, False, False]
    assert [told[tool]["repeats(called(b))"] for tool in told] == [False, True, False]
    assert [told[tool]["called(a, x = 1)"] for tool in told] == [None, False, False]
    assert [told[tool]["ctx(k)"] for tool in told] == [None, None, None]


def test_a_call_settles_once_and_as_a_whole() -> None:
    """Done or failed, soon or only at the end; what stands in its output is free."""
    slots = program("done(a) & failed(a) & output = 1").slots
    ways = settlements(slots, (0, 1, 2))
    assert len(ways) == 8
    assert {(*final.values(), late) for final, late in ways} == {
        (done, not done, output, late) for done in (T, F) for output in (T, F) for late in (T, F)
    }
    assert settlements(slots, (0,)) == [({0: T}, F), ({0: T}, T), ({0: F}, F), ({0: F}, T)]
