"""Operators and their text (docs/semantics.md, sections 9 and 10): every cell of the tables.

The tables come from the definitions in `tests/reference/oracle.py`. Whether the engine holds `f`
true at position i is asked at the end of the trace: is `X X .. f`, with i times `X`, kept?
"""

from __future__ import annotations

from math import inf

import pytest

import sponsio_like.logic.formula as f
import sponsio_like.ltl as py
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract
from sponsio_like.errors import ContractError
from sponsio_like.syntax import read, read_term, show
from tests.reference.trace_tables import TABLES, Case, Said, Truth, Worth, said, truth, words, worth
from tests.semantics.manifest import requirement
from tests.support.play import guarded, opened

OPERATORS = {
    "next": ("S-OP-02", "S-OP-03"),
    "eventually": ("S-OP-04", "S-OP-05"),
    "until": ("S-OP-06", "S-OP-07", "S-OP-08"),
    "bounded-future": ("S-OP-09",),
    "timed-future": ("S-OP-10",),
    "yesterday": ("S-OP-11", "S-OP-12"),
    "once": ("S-OP-13", "S-OP-14"),
    "since": ("S-OP-15",),
    "bounded-past": ("S-OP-16", "S-OP-17"),
}


def kept(formula: f.Formula, trace: str) -> bool:
    """Whether the engine finds nothing wrong with a whole trace."""
    try:
        played = opened(Contract("c", (Rule(formula),)), guard={"mode": "observe"})
    except ContractError as error:
        return "never be violated" in str(error)
    played(trace)
    return played.verdict() != "violated" and not played.session.finish()


def holds_at(i: int, formula: f.Formula, trace: str) -> bool:
    """What the engine says of a formula at one position."""
    for _ in range(i):
        formula = f.Next(formula)
    return kept(formula, trace)


def rows(kind: type[Truth | Worth], *names: str) -> list[tuple[str, str]]:
    """Every row of the tables of that kind, with its trace."""
    return [
        (row, table.trace)
        for name, table in TABLES.items()
        if isinstance(table, kind) and (not names or name in names)
        for row in table.rows
    ]


# --- tables -----------------------------------------------------------------------------------


@requirement("S-OP-01")
@pytest.mark.parametrize(("row", "trace"), rows(Truth, "connectives"))
def test_connectives_are_classical(row: str, trace: str) -> None:
    """The connectives mean what they mean in classical logic."""
    for i, cell in enumerate(truth(row, trace)):
        assert holds_at(i, read(row), trace) is cell, i


@requirement(*(id for ids in OPERATORS.values() for id in ids))
@pytest.mark.parametrize(("row", "trace"), rows(Truth, *OPERATORS))
def test_operators_agree_with_their_tables(row: str, trace: str) -> None:
    """At every position the engine says what the table in the docs says."""
    for i, cell in enumerate(truth(row, trace)):
        assert holds_at(i, read(row), trace) is cell, i


@pytest.mark.parametrize(("row", "trace"), rows(Worth))
def test_terms_agree_with_their_tables(row: str, trace: str) -> None:
    """At every position the term is worth what the table in the docs says."""
    for i, cell in enumerate(worth(row, trace)):
        number = cell if cell == inf else int(cell)
        assert holds_at(i, read_term(row).equals(number), trace), i
        assert not holds_at(i, read_term(row).differs(number), trace), i


CASES = [case for table in TABLES.values() if isinstance(table, Said) for case in table.cases]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.formula} | {case.trace}")
def test_verdicts_agree_with_their_tables(case: Case) -> None:
    """At every event the engine decides, reports and owes what the table in the docs says."""
    played = opened(case.formula, guard={"mode": "enforce" if case.enforced else "observe"})
    for word, saying in zip(words(case.trace), said(case), strict=True):
        played.wait = word.time - played.clock.now
        sign = played(word.text)
        if (
            ":" not in word.text
        ):  # decided and settled at once: it does not matter which of them tells
            sign = sign.replace("r", "w")
        assert sign == saying.sign, word
        assert played.verdict() == saying.verdict, word
        assert bool(played.session.pending()) is saying.unfulfilled, word


# --- by hand ----------------------------------------------------------------------------------


@requirement("S-OP-02", "S-OP-03")
@pytest.mark.parametrize("body", ["called(a)", "!called(a)", "true", "false"])
def test_at_the_last_position_next_is_false_and_weak_next_true(body: str) -> None:
    """At the last position `X f` is false and `WX f` true, whatever f is."""
    assert not kept(f.Next(f.Next(read(body))), "a a")
    assert kept(f.Next(f.WeakNext(read(body))), "a a")


@requirement("S-OP-11", "S-OP-12")
@pytest.mark.parametrize("body", ["called(a)", "!called(a)"])
def test_at_the_first_position_yesterday_is_false_and_weak_yesterday_true(body: str) -> None:
    """At the first position `Y f` is false and `WY f` true, whatever f is."""
    assert not kept(f.Yesterday(read(body)), "a")
    assert kept(f.WeakYesterday(read(body)), "a")


@requirement("S-OP-18")
@pytest.mark.parametrize(
    "formula", ["G(Y F called(a))", "G(count(X called(a)) <= 1)", "G(called(b) S G called(a))"]
)
def test_no_future_below_the_past(formula: str) -> None:
    """A future operator below a past one, or in a term, is refused with what to do instead."""
    with pytest.raises(ContractError, match=r"future operator below .*let the future"):
        guarded(formula)


@requirement("S-OP-19")
def test_formulas_may_be_deep() -> None:
    """Five hundred levels of nesting are read, watched and printed."""
    deep = read("!" * 500 + "called(b)")
    assert read(show(deep)) is deep
    assert kept(f.Always(f.Implies(read("called(a)"), deep)), "- a".replace("a", "b"))
    nested = read("called(a)")
    for _ in range(500):
        nested = f.Once(nested)
    assert opened(Contract("c", (Rule(f.Always(read("called(b)") >> nested)),)))("b a b") == "x.."


# --- text -------------------------------------------------------------------------------------


@requirement("S-SYNTAX-01")
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (
            "!called(a) & step(b) | step(c) -> step(d) U step(e)",
            "(((!called(a)) & step(b)) | step(c)) -> (step(d) U step(e))",
        ),
        ("step(a) -> step(b) -> step(c)", "step(a) -> (step(b) -> step(c))"),
        ("step(a) U step(b) W step(c)", "step(a) U (step(b) W step(c))"),
        ("G step(a) & step(b)", "(G step(a)) & step(b)"),
        ("step(a) <-> step(b) -> step(c)", "step(a) <-> (step(b) -> step(c))"),
        ("X F Y O step(a) | step(b)", "(X (F (Y (O step(a))))) | step(b)"),
        ("count(a) <= 3 & count(b) > 1", "(count(a) <= 3) & (count(b) > 1)"),
    ],
)
def test_precedence(text: str, meant: str) -> None:
    """Operators bind as the docs say: from `<->`, the loosest, to `!` and the letters."""
    assert read(text) is read(meant)


@requirement("S-SYNTAX-02")
@pytest.mark.parametrize(("row", "trace"), rows(Truth))
def test_printing_is_undone_by_reading(row: str, trace: str) -> None:
    """A formula prints as text that reads as the same formula."""
    assert read(show(read(row))) is read(row)


@requirement("S-SYNTAX-03")
def test_signs_of_logicians() -> None:
    """Unicode signs are the ASCII forms in other clothes."""
    assert read("□(called(a) → ¬○called(b) ∨ ◇called(c))") is read(
        "G(called(a) -> !X called(b) | F called(c))"
    )
    assert read("■(called(a) ∧ ⊤) ↔ ◆●⊥") is read("H(called(a) & true) <-> O Y false")
    assert read("count(a) ≤ 3 ∧ count(b) ≥ 1 ∧ ctx(k) ≠ 1 ∧ ctx(k) ∈ [1]") is read(
        "count(a) <= 3 & count(b) >= 1 & ctx(k) != 1 & ctx(k) in [1]"
    )


@requirement("S-SYNTAX-04")
@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("F[<3] step(a)", "[<=2]"),
        ("F[<=1.5] step(a)", "[<=1.5s]"),
        ("O[<=2min] step(a)", "[<=120s]"),
    ],
)
def test_bounds_are_inclusive_steps_or_seconds(text: str, instead: str) -> None:
    """Any other bound is refused, with what to write instead."""
    with pytest.raises(ContractError) as caught:
        read(text)
    assert instead in str(caught.value)


@requirement("S-SYNTAX-05")
@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("G(called(a) => called(b))", "1:13", "->"),
        ("G(called(a)", "1:12", ")"),
        ("G calld(a) &", "1:13", "formula"),
        ("called(a) && called(b)", "1:11", "&"),
    ],
)
def test_mistakes_are_located(text: str, where: str, what: str) -> None:
    """Text that is no formula is refused with line and column, and what could stand there."""
    with pytest.raises(ContractError) as caught:
        read(text)
    (problem,) = caught.value.problems
    assert problem.where == where
    assert what in str(problem)


@requirement("S-SYNTAX-06")
def test_python_says_what_text_says() -> None:
    """The constructors make the same formulas as the text."""
    built = py.G(py.called("pay", py.where("n") > 5) >> py.Y(py.O(py.done("check"))))
    assert built is read("G(called(pay, n > 5) -> Y O done(check))")
    assert (py.count("a", steps=3) <= 1) is read("count[<=3](a) <= 1")
    assert py.U(~py.called("b"), py.F(py.step("x"), seconds=5)) is read(
        "!called(b) U F[<=5s] step(x)"
    )
