"""States with many calls in flight, each of which may meet what others owe: what they cost."""

from __future__ import annotations

import gc

import pytest

from sponsio_like import Guard, Session, contract
from sponsio_like.engine.automaton import LARGE_CAP, has_many_parts
from sponsio_like.errors import ContractWarning
from sponsio_like.syntax import read
from tests.support.costs import work


def opened() -> Session:
    """A session in which every payment owes a mail."""
    rule = contract("mailed").guarantees(read("G(done(pay) -> F done(mail))"))
    return Guard([rule]).session()


def in_turn(session: Session, count: int) -> None:
    """So many payments and mails in flight, in turns."""
    for _ in range(count):
        session.decide("pay", {})
        session.decide("mail", {})


def test_states_with_many_calls_in_flight_are_not_kept() -> None:
    """Each of them has thousands of parts, and seldom comes again."""
    session = opened()
    in_turn(session, 40)
    assert has_many_parts(session._inner.ledger.states[0])
    steps = session.policy.clauses[0].automaton
    assert steps is not None
    assert len(steps._of_large) <= LARGE_CAP
    kept = [state for state, _ in steps._by_parts.values()]
    assert not any(map(has_many_parts, kept))
    assert len(kept) > 20


def test_alternatives_are_shared() -> None:
    """A state of 40 payments has some 1,600 alternatives, and 80 results that are told apart."""
    session = opened()
    in_turn(session, 40)
    segment = session._inner.ledger.states[0].segment
    assert segment is not None
    terms = [term for each in segment.live for residual in each for term in residual]
    assert len(terms) > 800
    assert len({id(term) for term in terms}) < 400
    gc.collect()


def test_a_call_costs_by_what_is_in_flight() -> None:
    """Twice as many in flight have four times as many alternatives, and no more."""
    costs = []
    for count in (20, 40):
        session = opened()
        in_turn(session, count)
        costs.append(work(lambda session=session: in_turn(session, 1)))  # type: ignore[misc]
    assert costs[1] < 5 * costs[0]


def test_what_is_owed_is_met_however_the_calls_settle() -> None:
    """The answers stay right: a payment whose mails all fail owes one still."""
    session = opened()
    in_turn(session, 30)
    ids = [*session._inner.flights]
    for number, id in enumerate(ids):
        pay = number % 2 == 0
        session.settle(id, **({"output": 1} if pay else {"error": "no"}))
    assert len(session.pending()) == 1
    session.settle(session.decide("mail", {}).id, output=1)
    assert session.pending() == ()


def test_what_is_owed_is_said_of_deep_nesting_too() -> None:
    """Beyond a depth, what it waits for is what the contract says: it raised `RecursionError`."""
    steps = "".join(f"F (called(a{i}) & X " for i in range(200))
    rule = {"ltl": f"G(called(go) -> {steps}called(end){')' * 201}"}
    with pytest.warns(ContractWarning):
        session = Guard([contract("deep").guarantees(rule)]).session()
    session.decide("go")
    (owed,) = session.pending()
    assert "still missing: called(a0) and called(a1) and" in owed.message
    assert owed.message.endswith("what the contract says")
    assert session.finish()


def test_what_is_owed_for_many_values_is_found_in_one_pass() -> None:
    """Each value has a deadline of its own; all values were looked through for each of them."""

    def owed(count: int) -> int:
        text = "G(called(pay, id = $x) -> X F[<=1000] called(mail, id = $x))"
        session = Guard([contract("mailed").guarantees(read(text))]).session()
        for i in range(count):
            session.decide("pay", {"id": i})
        found = session.pending()
        assert {each.binding["x"] for each in found} == set(range(count))
        return work(session.pending)

    assert owed(400) < 5 * owed(100)
