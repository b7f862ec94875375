"""The exact search: how far away a continuation is, and what it knows of the past."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from sponsio_like import Allowed, Guard, contract
from sponsio_like.errors import ContractError
from sponsio_like.logic.decomposition import decompose
from sponsio_like.monitor.monitor import Monitor
from sponsio_like.monitor.program import Program
from sponsio_like.monitor.reachability import FAR, settles_within
from sponsio_like.syntax import read
from tests.support.play import guarded, opened


def monitor(text: str) -> Monitor:
    """The monitor of a formula."""
    return Monitor(Program(), decompose(read(text)))


def far(text: str, goal: Any = "satisfy", *, more: bool = True) -> int | None:
    """How many positions it takes, from the start, to reach a goal."""
    made = monitor(text)
    owed = frozenset(residual for each in made.start.live for residual in each)
    return made.search.distance(goal, owed, made.start.registers, -1, more=more)


KIND = [
    ("G called(*)", 0),
    ("F called(a)", 1),
    ("F (called(a) & X called(b))", 2),
    ("F (called(b) & Y called(a))", 2),
    ("F (called(b) & O[<=1] called(a))", 2),
    ("F (called(c) & O[<=2] (called(b) & Y called(a)))", 3),
    ("F (called(c) & O[<=1] called(b) & O[<=2] (called(a) & WY false))", 3),
    ("F H[<=1] called(a)", 1),
    ("F (Y called(b) & Y H[<=1] called(a))", None),
    ("F (called(b) & H[<=1] !called(a))", 1),
    ("F (called(b) & Y Y H[<=1] called(a))", 3),
    ("F (called(b) & O[<=5s] called(a))", 2),
    ("F (called(b) & Y H[<=5s] called(a))", 2),
    ("F called(a) & F called(b)", 2),
    ("F (done(a) & X called(b))", 2),
    ("F (called(b) & Y O done(a))", 2),
    ("F (called(b) & O done(a))", 2),
    ("F (called(a) & !called(a))", None),
    ("F (count(a) >= 3)", 1),
    ("F[<=2] called(a) & X X X called(b)", 4),
    ("X X called(a)", 3),
]


@pytest.mark.parametrize(("text", "expected"), KIND)
def test_the_shortest_way_to_keep_a_formula_is_found(text: str, expected: int | None) -> None:
    """In positions; none if nothing keeps it. Counters are free, so they cost one position."""
    assert far(text) == expected


HARSH = [
    ("G !called(a)", 1),
    ("G(called(b) -> Y called(a))", 1),
    ("G(called(b) -> !O[<=1] called(a))", 2),
    ("G(called(b) -> !Y called(a))", 2),
    ("G(called(b) -> H[<=1] !called(a))", 2),
    ("G(called(c) -> H[<=2] !(called(b) & Y called(a)))", 3),
    ("G(called(b) -> H[<=5s] !called(a))", 2),
    ("G(called(b) -> !O[<=5s] called(a))", 2),
    ("G(called(c) & Y called(b) -> !O[<=5s] called(a))", 3),
    ("G(called(c) & Y called(b) -> H[<=5s] !called(a))", 3),
    ("G(called(b) -> O[<=5s] called(a))", 1),
    ("G(called(b) -> !O[<=5s] (called(a) & !called(a)))", None),
    ("G(called(a) -> H[<=5s] (called(*)))", None),
    ("G called(*)", None),
    ("F called(a)", 0),
    ("G(called(b) -> count(a) <= 1)", 1),
    ("G(called(a) -> called(*))", None),
]


@pytest.mark.parametrize(("text", "expected"), HARSH)
def test_the_shortest_way_to_break_a_formula_is_found(text: str, expected: int | None) -> None:
    """In positions, the end being one way to break it; none if nothing does."""
    assert far(text, "violate") == expected


def test_nothing_owed_is_kept_and_cannot_be_broken() -> None:
    """Without later obligations, what is kept stays kept."""
    assert far("G !called(a)", "satisfy", more=False) == 0
    assert far("G !called(a)", "violate", more=False) is None
    assert far("F called(a)", "violate", more=False) == 0


def test_too_long_a_search_says_possible_and_that_it_is_limited() -> None:
    """Beyond the budget the answer is "far away", never "impossible"."""
    wanted = " & ".join(f"F (called(t{n}) & X called(u{n}))" for n in range(7))
    made = monitor(wanted)
    owed = frozenset(residual for each in made.start.live for residual in each)
    assert made.search.distance("satisfy", owed, made.start.registers, -1, more=True) == FAR
    assert made.search.limited


def test_a_search_that_tries_everything_is_not_limited() -> None:
    """Neither before it has been asked, nor after."""
    made = monitor("F called(a)")
    assert not made.search.limited
    assert far("F (called(a) & !called(a))") is None
    assert len(made.search.letters) == 2
    assert made.search.limited is False


def test_letters_that_are_left_out_limit_a_search() -> None:
    """Where not every letter was tried, nothing is called impossible."""
    free = " & ".join(f"ctx(k{n}) = {n % 2}" for n in range(9))
    made = monitor(f"F (called(a) & !called(a) & {free})")
    assert made.search.letters
    assert made.search.limited
    assert far(f"F (called(a) & !called(a) & {free})") == FAR


RELATIVE = [
    ("Y called(a)", True, True),
    ("O called(a)", True, True),
    ("O[<=3] called(a)", None, None),
    ("O[<=3] called(a)", 10, 0),
    ("O[<=3] called(a)", 8, -2),
    ("O[<=3] called(a)", 7, None),
    ("H[<=3] called(a)", 8, -2),
    ("O[<=3s] called(a)", None, False),
    ("O[<=3s] called(a)", 0.0, True),
    ("H[<=3s] called(a)", None, True),
    ("H[<=3s] called(a)", 0.0, False),
]


@pytest.mark.parametrize(("text", "real", "known"), RELATIVE)
def test_the_search_knows_registers_relative_to_the_last_position(
    text: str, real: Any, known: Any
) -> None:
    """Of a step bound how long ago, of a time bound whether at all, the rest as it is."""
    made = monitor(f"G(called(z) -> {text})")
    assert made.search.registers((real,), 10) == (known,)


PASTS = [
    "Y Y Y called(a)",
    "O[<=3] called(a)",
    "O[<=2] Y H[<=3] called(a)",
    "called(a) S (called(b) & WY O[<=2] called(a))",
    "H called(a)",
    "Y O called(a)",
]


@pytest.mark.parametrize("text", PASTS)
def test_quiet_positions_change_the_registers_only_for_a_while(text: str) -> None:
    """After as many as the bounds and operators together say, nothing changes any more."""
    program = Program()
    program.add(read(text))
    made = Monitor(program, decompose(read("true")))
    letters = [letter[: len(program.slots)] for letter in made.search.letters]
    for before in itertools.product(letters, repeat=2):
        registers, trail = made.past.start, []
        quiet = [made.search.unconcerned_letter] * (settles_within(program) + 5)
        for position, letter in enumerate((*before, *quiet)):
            values = made.past.read(letter, registers, position, 0.0)
            registers = made.past.after(values, letter, registers, position, 0.0)
            trail.append(made.search.registers(registers, position))
        assert trail[len(before) + settles_within(program) - 1] == trail[-1]


IMPOSSIBLE = [
    ("F (called(a) & !called(a))", "can never be kept"),
    ("F (called(b) & O[<=1] called(a) & Y !called(a))", "can never be kept"),
    ("G(called(a) -> called(*))", "can never be violated"),
    ("G(called(b) -> O[<=5s] called(b))", "can never be violated"),
    ("G(called(b) -> H[<=5s] called(*))", "can never be violated"),
]


@pytest.mark.parametrize(("text", "why"), IMPOSSIBLE)
def test_what_no_trace_keeps_or_breaks_is_refused(text: str, why: str) -> None:
    """The search over all continuations finds it when the contract is loaded."""
    with pytest.raises(ContractError, match=why):
        guarded(text)


POSSIBLE = [
    ("F (called(b) & O[<=1] called(a))", "a b", "satisfied"),
    ("F (called(b) & O[<=1] called(a))", "a o b", "inconclusive"),
    ("F[<=2] (called(b) & O[<=1] called(a))", "o", "inconclusive"),
    ("F[<=2] (called(b) & O[<=1] called(a))", "o a b", "satisfied"),
    ("F[<=2] (called(b) & Y called(a))", "o o x", "violated"),
    ("F[<=2] (called(b) & Y called(a))", "o o", "violated"),
    ("F[<=2] (called(b) & Y called(a))", "o a", "inconclusive"),
    ("F[<=3] (called(c) & O[<=1] called(b) & O[<=2] called(a))", "o a", "inconclusive"),
    ("F[<=3] (called(c) & O[<=1] called(b) & O[<=2] called(a))", "o o a", "violated"),
]


@pytest.mark.parametrize(("text", "run", "verdict"), POSSIBLE)
def test_a_verdict_falls_as_soon_as_no_continuation_is_left(
    text: str, run: str, verdict: str
) -> None:
    """Not one position later, and not one sooner."""
    played = opened(text, guard={"mode": "observe"})
    played(run)
    assert played.verdict() == verdict


FORESEEN = [
    ("(F[<=2] called(b)) & X (!called(b) & X !called(b))", "x"),
    ("(F[<=2] called(b)) & X !called(b)", "."),
    ("F (called(c) & (F[<=1] called(b)) & X !called(b))", "x"),
    ("F (called(c) & (F[<=2] called(b)) & X !called(b))", "."),
    ("F (called(c) & (F[<=2] called(b)) & X (!called(b) & X !called(b)))", "x"),
    ("F (called(c) & (G[<=2] !called(b)) & X X called(b))", "x"),
    ("F (called(c) & (G[<=2] !called(b)) & X X X called(b))", "."),
    ("(G[<=2] !called(b)) & X X X called(b)", "."),
    ("F (called(c) & (G[<=5s] !called(b)) & X F called(b))", "."),
    ("F (called(c) & (G !called(b)) & X F called(b))", "x"),
]


@pytest.mark.parametrize(("owed", "sign"), FORESEEN)
def test_a_call_whose_obligation_cannot_be_met_is_refused_at_once(owed: str, sign: str) -> None:
    """Bounds of obligations that begin later are counted from where they begin."""
    assert opened(f"G(called(a) -> ({owed}))")("a") == sign


@pytest.mark.parametrize(
    ("owed", "possible"),
    [
        ("F(count(called(b)) > 2 & !(count(called(b)) > 2))", False),
        ("F(count(called(b)) > 2 & !(count(!called(b)) > 2))", True),
        ("F(count(called(b)) > 2 & !(count(called(b)) > 3))", True),
    ],
)
def test_a_comparison_and_its_negation_do_not_hold_together(owed: str, possible: bool) -> None:
    """Nor are two comparisons taken for one of which one counts what the other one does not."""
    guard = Guard([contract("c").guarantees({"ltl": f"G(called(a) -> {owed})"})])
    assert isinstance(guard.session().decide("a"), Allowed) is possible
