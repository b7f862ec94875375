"""Formulas as objects: the same formula is the same object, however deep, however made."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import threading
from typing import Any

import pytest

import sponsio_like.logic.formula as f
from sponsio_like.logic import tree
from sponsio_like.syntax import read
from tests.support.formulas import A, B, Random


def conditioned(value: f.Scalar | tuple[f.Scalar, ...]) -> f.Formula:
    """A call whose argument is this value."""
    return f.Happens("called", (f.Match(("a",), (), (f.Condition("x", "=", value),)),))


# --- sameness ---------------------------------------------------------------------------------


def test_the_same_formula_is_the_same_object() -> None:
    """Two formulas made of the same parts are one object, and so are two readings of a text."""
    assert f.And((A, f.Not(B))) is f.And((A, f.Not(B)))
    assert read("G(called(a) -> F done(b))") is read("G(called(a)->F(done(b)))")
    assert f.And((A, B)) is not f.And((B, A))
    assert repr(f.Next(A)) != repr(f.WeakNext(A))


KINDS: list[Any] = [1, 1.0, True, "1", None, (1,), (1.0,), (True,), ("1",), (None,), ()]


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(KINDS, 2)])
def test_values_of_other_types_make_other_formulas(one: Any, other: Any) -> None:
    """`1`, `1.0`, `true` and `"1"` differ, as constants, in conditions, outputs and own atoms."""
    assert f.Const(one) is not f.Const(other)
    assert conditioned(one) is not conditioned(other)
    assert f.OutputIs("", "=", one) is not f.OutputIs("", "=", other)
    assert f.Custom("p", (one,)) is not f.Custom("p", (other,))
    held = f.Const(one), conditioned(one)
    assert repr(held[0].value) == repr(one)
    assert f.Const(one) is held[0]
    assert conditioned(one) is held[1]


def test_steps_are_not_seconds() -> None:
    """A bound of three steps is not a bound of three seconds; 60 and 60.0 seconds are the same."""
    assert f.Eventually(A, f.Steps(3)) is not f.Eventually(A, f.Seconds(3))
    assert f.Once(A, f.Seconds(60)) is f.Once(A, f.Seconds(60.0))
    assert repr(f.Once(A, f.Seconds(60))) == "O[<=60s] called(a)"


def test_formulas_do_not_change() -> None:
    """The parts of a node cannot be set."""
    with pytest.raises(AttributeError):
        f.Not(A).body = B  # type: ignore[misc]


def test_copies_are_the_same_object() -> None:
    """Copying, deep-copying and pickling a formula or a term give the very same object."""
    make = Random(5)
    nodes: list[f.Node] = [make.formula(size % 9) for size in range(200)]
    nodes += [make.reading(2) for _ in range(100)]
    nodes += [f.TRUE, f.Const(True), f.Const("a"), f.Const(()), f.Tokens()]
    for node in nodes:
        assert copy.copy(node) is node
        assert copy.deepcopy([node])[0] is node
        assert pickle.loads(pickle.dumps(node)) is node  # noqa: S301  our own bytes


@pytest.mark.long
def test_depth_is_no_limit_for_copies() -> None:
    """A formula of 20,000 levels can be made, copied, pickled and forgotten."""
    formula: f.Formula = A
    for _ in range(10_000):
        formula = f.Next(f.Not(formula))
    assert pickle.loads(pickle.dumps(formula)) is formula  # noqa: S301  our own bytes
    assert copy.deepcopy(formula) is formula
    del formula
    gc.collect()


@pytest.mark.long
def test_forgotten_formulas_are_freed() -> None:
    """A formula that nobody holds takes no memory: the table of nodes does not keep it."""
    gc.collect()
    before = len(tree._TABLE)
    formula = f.Next(f.Custom("only here", (1,)))
    assert len(tree._TABLE) == before + 2
    del formula
    gc.collect()
    assert len(tree._TABLE) == before


def test_threads_make_the_same_object() -> None:
    """Eight threads that build the same formulas at the same time get the same objects."""
    barrier = threading.Barrier(8)
    made: list[list[f.Formula]] = []

    def build() -> None:
        barrier.wait()
        made.append([f.Next(f.Custom("p", (number,))) for number in range(500)])

    threads = [threading.Thread(target=build) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert all(len(set(same)) == 1 for same in zip(*made, strict=True))


# --- building ---------------------------------------------------------------------------------


def test_operators_build_formulas() -> None:
    """`& | ~ >>` are conjunction, disjunction, negation and implication."""
    assert (A & B) is f.And((A, B))
    assert (A | B) is f.Or((A, B))
    assert (~A) is f.Not(A)
    assert (A >> B) is f.Implies(A, B)


def test_conjunctions_are_flattened() -> None:
    """`(a & b) & c` is one conjunction of three; of none it is `true`, of one that one."""
    assert (A & B & f.Next(A)) is f.And((A, B, f.Next(A)))
    assert (A | (B | f.Next(A))) is f.Or((A, B, f.Next(A)))
    assert f.conj(A, f.Or((A, B))) is f.And((A, f.Or((A, B))))
    assert f.conj() is f.TRUE
    assert f.disj() is f.FALSE
    assert f.conj(A) is f.disj(A) is A


def test_formulas_have_no_truth() -> None:
    """`a and b`, which would silently drop a formula, is an error."""
    with pytest.raises(TypeError, match="combine with"):
        bool(A)


def test_comparing_terms_builds_formulas() -> None:
    """A term compared with a term or a plain value is a formula."""
    count, three = f.Count(A), f.Const(3)
    assert (count < 3) is f.Compare(count, "<", three)
    assert (count <= 3) is f.Compare(count, "<=", three)
    assert (count > f.Depth()) is f.Compare(count, ">", f.Depth())
    assert (count >= 3) is f.Compare(count, ">=", three)
    assert (count < 3) is f.Compare(count, "<", three)
    assert count.equals(3) is f.Compare(count, "=", three)
    assert count.differs(3) is f.Compare(count, "!=", three)
    assert f.Ctx("k").is_in(["a", 1]) is f.Compare(f.Ctx("k"), "in", f.Const(("a", 1)))
    assert f.Ctx("k").matches("x") is f.Compare(f.Ctx("k"), "matches", f.Const("x"))


# --- walking ----------------------------------------------------------------------------------


def test_children_are_formulas_and_terms() -> None:
    """The children of a node are the formulas and terms directly under it, in order."""
    since = f.Count(A, reset=B)
    assert f.children(f.And((A, B, A))) == (A, B, A)
    assert f.children(f.Compare(since, "<", f.Const(1))) == (since, f.Const(1))
    assert f.children(since) == (A, B)
    assert f.children(f.Count(A)) == (A,)
    assert f.children(A) == ()


def test_postorder_visits_each_node_once() -> None:
    """Every node comes once, after its children, the left ones first, however often it is used."""
    both = f.And((A, B))
    formula = f.Implies(both, f.Or((A, f.Next(both))))
    expected = [A, B, both, f.Next(both), f.Or((A, f.Next(both))), formula]
    assert list(f.postorder(formula)) == expected


def test_shared_parts_are_walked_once() -> None:
    """A formula whose text would have 2^200 characters is walked in 201 steps."""
    formula: f.Formula = A
    for _ in range(200):
        formula = f.Iff(formula, formula)
    assert len(list(f.postorder(formula))) == 201
