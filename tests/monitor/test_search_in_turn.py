"""Much that is owed: it is met one after another, before all continuations are tried."""

from __future__ import annotations

import random
import warnings
from functools import partial
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard, contract
from sponsio_like.errors import ContractWarning
from sponsio_like.logic.decomposition import decompose
from sponsio_like.monitor import in_flight
from sponsio_like.monitor import monitor as stepping
from sponsio_like.monitor.monitor import Monitor
from sponsio_like.monitor.program import Program
from sponsio_like.monitor.reachability import FAR, Search, firm
from sponsio_like.monitor.residual import entails
from sponsio_like.monitor.successors import Place, Successors
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement
from tests.support.costs import work

EIGHT = " & ".join(f"G(called(a{i}) -> F[<=50] called(b{i}))" for i in range(8))
PARTS = (
    "G(called({a}) -> F[<={n}] called({b}))",
    "G(called({a}) -> F called({b}))",
    "G(called({a}) -> G[<={n}] !called({b}))",
    "G(called({a}) -> (!called({b}) U called({c})))",
    "G(called({a}) -> X F called({b}))",
    "G(called({a}) -> F (called({b}) | called({c})))",
    "G(called({a}) -> Y O[<={n}] called({b}))",
    "G(called({a}) -> F[<={n}] (called({b}) & X F[<=2] called({c})))",
)


def formula_of(number: int) -> str:
    """Three obligations of few tools."""
    chosen = random.Random(number)
    names = {k: f"t{chosen.randrange(4)}" for k in "abc"}
    return " & ".join(
        chosen.choice(PARTS).format(n=chosen.choice((2, 3, 18, 30)), **names) for _ in range(3)
    )


def places(number: int) -> tuple[Search, list[Place]]:
    """The places that a random session of a random formula comes to, as the search sees them."""
    made = Monitor(Program(), decompose(read(formula_of(number))))
    chosen, state, found = random.Random(-number), made.start, []
    for at in range(12):
        letter = chosen.choice(made.search.letters)[: len(made.search.slots)]
        state = made.step(state, letter, at, 0.0).state
        joint = frozenset(residual for each in state.live for residual in each)
        found.append(made.search._place("satisfy", joint, state.registers, at))
    none = made.search.steps("satisfy").none
    return made.search, [each for each in found if each[0] is not none]


@pytest.mark.parametrize("number", range(150))
def test_what_is_met_in_turn_can_be_met(number: int) -> None:
    """A way that was found is one that trying all continuations finds, too, and is no shorter."""
    search, reached = places(number)
    for place in reached:
        if place[0].met:
            continue
        far = search._in_turn(place, more=True)
        if far is None:
            continue
        search._on_way = ({}, {})  # nothing that was found before
        least = search._search("satisfy", place, True, 20_000)
        assert least is not None
        assert least <= far or least == FAR


@pytest.mark.parametrize("number", range(150))
def test_far_bounds_are_only_brought_nearer(number: int) -> None:
    """What is asked first implies what is owed; so a way to keep it is one for both."""
    _, reached = places(number)
    for joint, _ in reached:
        for part in joint.parts:
            assert entails(firm(part.residual), part.residual)


def test_waiting_ends_where_as_many_quiet_calls_end() -> None:
    """The positions that are passed over change nothing but the bounds."""
    text = "G(called(a) -> G[<=9] !called(b)) & G(called(a) -> F called(b))"
    made = Monitor(Program(), decompose(read(text)))
    called = next(
        each
        for each in made.search.letters
        if each[: len(made.search.slots)] != made.search.unconcerned_letter
        and made.step(made.start, each, 0, 0.0).state.live
    )
    state = made.step(made.start, called, 0, 0.0).state
    joint = frozenset(residual for each in state.live for residual in each)
    place = made.search._place("satisfy", joint, state.registers, 0)
    waited = made.search._waited(place, more=True)
    assert waited is not None
    assert waited[1] == 9
    quiet = made.search.letters.index(made.search.unconcerned_letter)
    for _ in range(9):
        place = made.search.steps("satisfy").after(place, quiet, more=True)
    assert waited[0] == place


@requirement("S-VERDICT-10")
def test_eight_deadlines_in_one_formula_take_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """At no decision more than a hundred, where trying everything took four thousand."""
    taken, after = 0, Successors.after

    def counted(*args: Any, **named: Any) -> Place:
        nonlocal taken
        taken += 1
        return after(*args, **named)

    monkeypatch.setattr(Successors, "after", counted)
    session = Guard([contract("eight").guarantees({"ltl": EIGHT})]).session()
    most = []
    for k in range(300):
        before = taken
        assert isinstance(session.decide("ab"[k % 3 == 2] + str(k * 5 % 8)), Allowed)
        most.append(taken - before)
    assert 0 < max(most) < 100


@pytest.mark.parametrize("bound", ["", "[<=100]", "[<=600s]"])
@pytest.mark.parametrize("many", [10, 30])
def test_many_obligations_of_one_call_are_met_in_turn(many: int, bound: str) -> None:
    """Such a conjunction is one residual; trying all orders of ten took 20 to 100 ms, in vain."""
    each = " & ".join(f"F{bound} called(a{i})" for i in range(many))
    rule = contract("all").guarantees({"ltl": f"G(called(go) -> {each})"})
    with pytest.warns(ContractWarning):  # not all of it is searched when it is loaded
        session = Guard([rule]).session(clock=lambda: 0.0)
    for tool in ("go", "a3", "a1", "go", "a0"):
        assert work(partial(session.decide, tool)) < 2_500 * many
    monitor = session._inner.policy.clauses[0].monitor
    assert monitor.ahead(session._inner.ledger.states[0].outer, 4) < FAR


CIRCLE = (
    "G(called(a) -> F called(b)) & G(called(d) -> X (!called(f) U called(j)))"
    " & G(called(f) -> X F (called(f) | called(d)))"
    " & G(called(j) -> X F[<=8] (called(d) | called(h)))"
)
"""Where `d` owes `j`, and `j` owes `d` or `h`."""


def test_obligations_that_owe_each_other_are_not_met_in_a_circle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Met in turn, they come to the same place again: that took 1,500 steps, in vain."""
    taken, after = 0, Successors.after

    def counted(*args: Any, **named: Any) -> Place:
        nonlocal taken
        taken += 1
        return after(*args, **named)

    monkeypatch.setattr(Successors, "after", counted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)
        session = Guard([contract("circle").guarantees({"ltl": CIRCLE})]).session()
    for tool in "abdjhabcbadbjhfd":
        assert isinstance(session.decide(tool), Allowed)
    assert 0 < taken < 100


LATE = (
    'G((F(text matches "yes") W WY(text matches "yes")) | H[<=2] O[<=0.5s] called([c, b]) <-> '
    '(G[<=1s] !(text matches "yes") <-> H[<=1s]((text matches "yes") S called([c, b]))))'
)
"""A formula of which a search ends without an answer before one like it has to have one."""


@requirement("S-VERDICT-10")
def test_a_search_after_one_without_an_answer_has_the_whole_budget() -> None:
    """A smaller one let a call through that no continuation could have made good."""
    now = 0.5
    session = Guard([contract("late").guarantees({"ltl": LATE})]).session(clock=lambda: now)
    session.message("user", "no")
    now = 1.0
    session.message("assistant", "no")
    now = 2.5
    assert isinstance(session.decide("b", {}, id="2"), Allowed)
    session.settle("2", output={"ok": "yes"})
    now = 3.5
    assert isinstance(session.decide("c", {}, id="4"), Blocked)


@requirement("S-VERDICT-11")
@pytest.mark.parametrize("many", [6, 12])
def test_answers_in_flight_that_each_meet_a_deadline_are_one_way(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work of so many grows with their number, and not with that of combinations of results."""
    each = " & ".join(f"G(called(a{i}) -> F[<={many}] done(b{i}))" for i in range(many))
    settled, taken = in_flight.settle_residual, 0

    def counted(*args: Any) -> Any:
        nonlocal taken
        taken += 1
        return settled(*args)

    for module in (in_flight, stepping):
        monkeypatch.setattr(module, "settle_residual", counted)
    session = Guard([contract("each").guarantees({"ltl": each})]).session()
    for tool in "ab":
        for i in range(many):
            before = taken
            assert isinstance(session.decide(f"{tool}{i}"), Allowed)
            assert taken - before <= 8 * many * many
    assert taken


@requirement("S-VERDICT-11")
def test_of_two_results_the_one_that_helps_counts() -> None:
    """A call is let through if one of its results keeps what is owed, and only then."""
    session = Guard(
        [contract("soon").guarantees({"ltl": "G(called(a) -> F[<=1] done(b))"})]
    ).session()
    assert isinstance(session.decide("a"), Allowed)
    assert isinstance(session.decide("b"), Allowed)
    both = "G(called(a) -> X (done(b) & failed(b)) | X X called(c))"
    session = Guard([contract("both").guarantees({"ltl": f"{both} & G !called(c)"})]).session()
    assert isinstance(session.decide("a"), Blocked)


def test_a_way_that_was_found_is_followed_to_its_end() -> None:
    """Where it leads to nothing, the call is refused, though it was the way from another state."""
    text = "G(called(a) -> X F called(b)) & G(called(c) -> X F[<=2] called(d) & G[<=4] !called(d))"
    session = Guard([contract("way").guarantees({"ltl": text})]).session()
    assert isinstance(session.decide("a"), Allowed)
    assert isinstance(session.decide("c"), Blocked)
