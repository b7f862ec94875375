"""Steps of finite clauses that are remembered: they are those that the monitor would take."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, Scope
from sponsio_like.engine.clause import Clause
from sponsio_like.session.session import Session
from sponsio_like.syntax import read
from tests.fuzz import automata
from tests.support.play import opened

FINITE = [
    "G(called(pay) -> Y O done(check))",
    "G(done(a) -> F called(b))",
    "G(called(a) -> (called(b) U done(c)))",
    "G(called(a) -> H !failed(b))",
    "G(called(a) -> count(done(a)) <= 1)",
    "G(called(a) -> count(failed(a) since done(a)) <= 2)",
]
OTHERS = [
    "G(called(a) -> count(b) <= 1)",
    "G(called(a) -> F[<=3] called(b))",
    "G(called(a) -> O[<=3s] done(b))",
    "G(called(a) -> arg(n) <= last(arg(n), called(b)))",
]


def clause(text: str, *by: str) -> Clause:
    """The clause of a formula."""
    rule = Rule(read(text), by=by)
    return Clause(Contract("c", (rule,)), rule)


def known(session: Session) -> int:
    """How many steps the first clause remembers."""
    automaton = session._inner.policy.clauses[0].automaton
    assert automaton is not None
    return len(automaton._known)


@pytest.mark.parametrize("text", FINITE)
def test_clauses_without_positions_have_an_automaton(text: str) -> None:
    """Also where they are split by values, and where results change what they count."""
    assert clause(text).automaton is not None
    assert clause(text, "to").automaton is not None


@pytest.mark.parametrize("text", OTHERS)
def test_clauses_that_count_have_none(text: str) -> None:
    """Their states are not those of a finite automaton."""
    assert clause(text).automaton is None


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_remembered_steps_are_those_that_are_computed(seed: int) -> None:
    """A guard that remembers steps, one that forgets them all the time, and one that has none."""
    tally = Counter[str]()
    found = [each for n in range(20) if (each := automata.compared(seed, n, tally))]
    assert found == []
    assert tally["finite"] > 8
    assert tally["restored"] > 25
    assert tally["flying"] > 3


def test_a_count_in_flight_is_what_results_make_of_it() -> None:
    """Twice may `a` be done: what is in flight does not count, and what has failed never does."""
    played = opened("G(called(a) -> count(done(a)) <= 1)")
    for _ in range(3):
        ids = [f"{n}" for n in range(4)]
        assert all(isinstance(played.session.decide("a", id=each), Allowed) for each in ids)
        for each in ids:
            played.session.settle(each, error="no")
    for each in ("x", "y", "z"):
        assert isinstance(played.session.decide("a", id=each), Allowed)
    played.session.settle("y")
    assert isinstance(played.session.decide("a", id="w"), Allowed)
    played.session.settle("x", error="no")
    played.session.settle("z")
    assert isinstance(played.session.decide("a", id="v"), Blocked)


def test_the_same_situation_is_computed_once() -> None:
    """Whatever came before it, and however many calls are in flight that do not matter to it."""
    played = opened("G(called(pay) -> Y O done(check))")
    played("check? other ok:check other pay")
    before = known(played.session)
    other = played.session._inner.policy
    again = opened("G(called(pay) -> Y O done(check))")
    again("check? other ok:check other pay")
    assert known(again.session) == before
    assert other.clauses[0].automaton is not again.session._inner.policy.clauses[0].automaton
    played("check? check? other other ok:check pay check? ok:check pay")
    grown = known(played.session)
    played("check? check? other other ok:check pay check? ok:check pay " * 20)
    assert known(played.session) == grown


def test_sessions_share_what_was_computed() -> None:
    """The second one computes nothing that the first has asked."""
    guard = Guard([Contract("c", (Rule(read("G(called(pay) -> Y O done(check))")),))])
    counts = []
    for _ in range(2):
        session = guard.session()
        session.decide("check", id="c")
        session.decide("other", id="o")
        session.settle("c")
        session.decide("pay", id="p")
        counts.append(known(session))
    assert counts[0] == counts[1]


def test_no_more_steps_are_remembered_than_the_cap() -> None:
    """With one more, all are forgotten; the states that sessions are in stay what they are."""
    guard = Guard([Contract("c", (Rule(read("G(called(pay) -> Y (!called(a) S done(check)))")),))])
    (automaton,) = [each.automaton for each in guard.policy.clauses]
    assert automaton is not None
    automaton.cap = 3
    session = guard.session()
    sizes = set()
    for n in range(30):
        session.decide("check", id=f"c{n}")
        session.decide("b", id=f"b{n}")
        session.decide("a" if n % 3 else "check", id=f"a{n}")
        sizes.add(known(session))
        session.settle(f"c{n}")
        assert isinstance(session.decide("pay", id=f"p{n}"), Blocked) is bool(n % 3)
    assert max(sizes) == 3


def test_a_call_on_which_nothing_depends_is_dropped() -> None:
    """The state does not grow with calls in flight whose results do not matter any more."""
    played = opened("G(called(pay) -> Y O done(check))")
    played("check check? check? other check?")
    (state,) = played.session._inner.ledger.states
    assert state.flying == ()
    other = opened("G(called(pay) -> Y O done(check))")
    other("other check? other check? other")
    (state,) = other.session._inner.ledger.states
    assert state.flying == (1, 3)


def test_a_snapshot_has_the_calls_that_a_state_waits_for() -> None:
    """And is read back exactly, also where the older one had positions instead."""
    guard = Guard([Contract("c", (Rule(read("G(done(a) -> F called(b))")),))], mode="observe")
    session = guard.session()
    session.decide("other", id="o")
    session.decide("a", id="a1")
    session.decide("a", id="a2")
    made: Any = json.loads(json.dumps(session.snapshot()))
    again = guard.restore(made)
    assert again._inner.ledger.states == session._inner.ledger.states
    again.settle("a2", error="no")
    assert again.pending()
    again.settle("a1", error="no")
    assert not again.pending()


def test_what_a_result_opens_depends_on_its_call() -> None:
    """Where a scope speaks of results: of two calls with one result, only one opens a segment."""
    scope = Scope("after", read("done(g) & called(g, n = 1)"))
    rule = Rule(read("G !called(a)"))
    session = Guard([Contract("c", (rule,), segment=scope)]).session()
    for n in (2, 2, 1):
        assert isinstance(session.decide("a"), Allowed)
        session.decide("g", {"n": n}, id=f"g{n}")
        session.settle(f"g{n}")
    assert isinstance(session.decide("a"), Blocked)
