"""Formulas in Python say what the text syntax says, and refuse what cannot be meant."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import sponsio_like.logic.formula as f
from sponsio_like import ltl
from sponsio_like.errors import ContractError
from sponsio_like.logic.printer import FUNCTIONS
from sponsio_like.ltl import (
    WX,
    WY,
    F,
    G,
    H,
    O,
    R,
    S,
    U,
    W,
    X,
    Y,
    age,
    agent,
    approved,
    arg,
    called,
    count,
    ctx,
    depth,
    done,
    failed,
    false,
    message,
    output,
    permission,
    repeats,
    since,
    step,
    target,
    text,
    tokens,
    total,
    true,
    where,
)  # fmt: skip
from sponsio_like.syntax import read

a, b = called("a"), done("b")


class Tool(enum.StrEnum):
    """Tool names as an application may have them."""

    PAY = "pay"


@pytest.mark.parametrize(
    ("made", "same"),
    [
        (called("pay"), "called(pay)"),
        (called(Tool.PAY), "called(pay)"),
        (called("pay_*"), "called(pay_*)"),
        (called("*"), "called(*)"),
        (called(["x", "y", "z?"]), "called([x, y, z?])"),
        (called(f.Match(("we*rd",))), 'called(="we*rd")'),
        (called([f.Match(("we*rd",)), "x"]), 'called(x; ="we*rd")'),
        (called("pay", agent="bob"), "called(pay, @agent = bob)"),
        (called(["x", f.Match(("y",), agent="c")], agent="b"), "called(x, @agent=b; y, @agent=b)"),
        (called(f.Match(("y",), agent="c")), "called(y, @agent = c)"),
        (called(target("a", where("n") > 3)[0], where("m") < 1), "called(a, n > 3, m < 1)"),
        (done("pay", where("n") > 3, where("to").equals("x")), "done(pay, n > 3, to = x)"),
        (failed("pay", where("n").differs(None)), "failed(pay, n != null)"),
        (failed("pay", where("n").is_in([1, "x"])), "failed(pay, n in [1, x])"),
        (failed("pay", where("n").equals([1, "x"])), "failed(pay, n = [1, x])"),
        (failed("pay", where("n").differs([])), "failed(pay, n != [])"),
        (failed("pay", where("n").matches("^x")), "failed(pay, n matches '^x')"),
        (called("a", where("n") < 1, where("n") <= 1, where("n") >= 1), "called(a,n<1,n<=1,n>=1)"),
        (output().matches("x"), "output matches 'x'"),
        (output("s.t") >= 500, "output.s.t >= 500"),
        (agent("bob"), "agent = bob"),
        (message(), "message(*)"),
        (message("user"), "message(user)"),
        (text("x"), "text matches 'x'"),
        (permission("p"), "permission(p)"),
        (approved("deploy", "lead"), "approved(deploy, lead)"),
        (step("p"), "step(p)"),
        (count("pay") <= 3, "count(pay) <= 3"),
        (count(["x", "y"]) <= 3, "count(called([x, y])) <= 3"),
        (count(b, since="x", steps=10) > 3, "count[<=10](done(b) since x) > 3"),
        (count(b, since=a, seconds=60) > 3, "count[<=60s](done(b) since called(a)) > 3"),
        (total("pay", "n") <= 9, "sum(pay, n) <= 9"),
        (total("pay", "n", where("c") > 1, seconds=1.5) <= 9, "sum[<=1.5s](called(pay, c>1),n)<=9"),
        (since("x") < 3, "since(x) < 3"),
        (age(b) < 3, "age(done(b)) < 3"),
        (repeats("x") < 3, "repeats(x) < 3"),
        (repeats("x", where("n") > 3, similar="fuzzy") < 3, "repeats(called(x, n > 3), fuzzy) < 3"),
        (arg("n") <= ctx("limit"), "arg(n) <= ctx(limit)"),
        (tokens() < depth(), "tokens() < depth()"),
        (X(a), "X called(a)"),
        (WX(a), "WX called(a)"),
        (F(a), "F called(a)"),
        (G(a), "G called(a)"),
        (Y(a), "Y called(a)"),
        (WY(a), "WY called(a)"),
        (O(a), "O called(a)"),
        (H(a), "H called(a)"),
        (F(a, steps=3), "F[<=3] called(a)"),
        (G(a, steps=0), "G[<=0] called(a)"),
        (O(a, seconds=60), "O[<=60s] called(a)"),
        (O(a, seconds=0), "O[<=0s] called(a)"),
        (H(a, seconds=0.5), "H[<=0.5s] called(a)"),
        (U(a, b), "called(a) U done(b)"),
        (W(a, b), "called(a) W done(b)"),
        (R(a, b), "called(a) R done(b)"),
        (S(a, b), "called(a) S done(b)"),
        (true & ~false, "true & !false"),
    ],
)  # fmt: skip
def test_python_says_what_the_text_says(made: f.Formula, same: str) -> None:
    """Every constructor makes the very object that its text makes."""
    assert made is read(same)


def test_the_decision_view_of_earlier() -> None:
    """The formula of the module's docstring reads as it is meant."""
    made = G(called("pay", where("amount") > 500) >> Y(O(done("review"))))
    assert made is read("G(called(pay, amount > 500) -> Y O done(review))")


wrong: Any = ltl  # given what a type checker would refuse already


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: wrong.called([]), "no tool is named"),
        (lambda: wrong.called(3), "neither the name of a tool nor a list: `3`"),
        (lambda: wrong.called(["a", 3]), "a tool's name must be a string, not `3`"),
        (lambda: wrong.called("a", False), "not a condition: `False`; write `where(...) > 3`"),
        (lambda: wrong.called("a", "n > 3"), "not a condition: `'n > 3'`"),
        (lambda: wrong.called("a", agent=3), "an agent's name must be a string"),
        (lambda: wrong.where(3), "the path of an argument must be a string"),
        (lambda: wrong.where("n") > True, "only numbers and strings have an order, not `True`"),
        (lambda: wrong.where("n") <= None, "only numbers and strings have an order, not `None`"),
        (lambda: wrong.where("n").is_in("abc"), "not a list: `'abc'`; did you mean `['abc']`?"),
        (lambda: wrong.where("n").is_in(3), "neither a value nor a list: `3`"),
        (
            lambda: wrong.where("n").is_in([[]]),
            "not a string, a number, true, false or null: `[]`",
        ),
        (lambda: wrong.where("n").equals(object), "neither a value nor a list"),
        (lambda: wrong.where("n").matches(3), "a regular expression must be a string"),
        (lambda: wrong.output(3), "the path of an output must be a string"),
        (lambda: wrong.agent(None), "an agent's name must be a string, not `None`"),
        (lambda: wrong.message(3), "a role must be a string"),
        (lambda: wrong.text(3), "a regular expression must be a string"),
        (lambda: wrong.permission(3), "a permission must be a string"),
        (lambda: wrong.approved("x", 3), "a role must be a string"),
        (lambda: wrong.approved(3, "x"), "an action must be a string"),
        (lambda: wrong.step(3), "the name of an atom must be a string"),
        (lambda: wrong.arg(3), "the path of an argument must be a string"),
        (lambda: wrong.ctx(3), "a key of the context must be a string"),
        (lambda: wrong.total("a", 3), "the path of an argument must be a string"),
        (lambda: wrong.count([]), "no tool is named"),
        (lambda: wrong.count("a", since=[]), "no tool is named"),
        (lambda: wrong.repeats("a", similar="same"), "compared `equal` or `fuzzy`, not `same`"),
        (
            lambda: wrong.F("pay"),
            "`F` takes formulas, not `'pay'`; did you mean `F(called('pay'))`?",
        ),
        (lambda: wrong.U(a, True), "`U` takes formulas, not `True`"),
        (lambda: wrong.U("x", a), "`U` takes formulas, not `'x'`"),
        (lambda: wrong.G(count("a")), "`G` takes formulas, not `count(called(a))`"),
        (lambda: wrong.F(a, steps=-1), "`steps` is a whole number from 0, not `-1`"),
        (lambda: wrong.F(a, steps=1.5), "`steps` is a whole number from 0, not `1.5`"),
        (lambda: wrong.F(a, steps=True), "`steps` is a whole number from 0, not `True`"),
        (lambda: wrong.O(a, seconds=-1), "`seconds` is a number from 0, not `-1`"),
        (lambda: wrong.O(a, seconds=float("nan")), "`seconds` is a number from 0, not `nan`"),
        (lambda: wrong.O(a, seconds=float("inf")), "`seconds` is a number from 0, not `inf`"),
        (lambda: wrong.O(a, seconds="60"), "`seconds` is a number from 0, not `'60'`"),
        (lambda: wrong.O(a, seconds=True), "`seconds` is a number from 0, not `True`"),
        (
            lambda: wrong.H(a, steps=1, seconds=1),
            "a bound is in steps or in seconds, not in both",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(make: Callable[[], object], said: str) -> None:
    """A wrong argument is refused where it is given, in the user's words."""
    with pytest.raises(ContractError) as caught:
        make()
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["X", "WX", "F", "G", "U", "W", "R", "Y", "WY", "O", "H", "S"])
def test_every_operator_refuses_what_is_no_formula(name: str) -> None:
    """Each operator takes formulas only, in every place, and names itself in the error."""
    operator: Any = getattr(ltl, name)
    places = {"body", "left", "right"} & {*inspect.signature(operator).parameters}
    assert places
    for bad in places:
        arguments = {place: "x" if place == bad else a for place in places}
        with pytest.raises(ContractError, match=f"`{name}` takes formulas"):
            operator(**arguments)


def test_every_name_explains_itself() -> None:
    """Everything that the module offers has a docstring with an example, or is a constant."""
    for name in ltl.__all__:
        offered = getattr(ltl, name)
        if inspect.isfunction(offered) and name != "target":
            assert f"{name}(" in (offered.__doc__ or ""), name


def test_targets_can_be_made_alone() -> None:
    """`target` is what `called` matches against, for patterns that need it by itself."""
    assert target("a", where("n") > 3) == (f.Match(("a",), (), (f.Condition("n", ">", 3),)),)


def test_every_word_of_the_text_has_its_name_in_python() -> None:
    """A word of formulas is exported under the same name; `sum` is `total`, for Python has one."""
    assert {*FUNCTIONS} - {"sum"} <= {*ltl.__all__}
