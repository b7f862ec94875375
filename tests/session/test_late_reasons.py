"""Why a call was refused is worked out when it is read: it is what held when it was decided."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.guard.guard import Guard
from sponsio_like.notices import Mailbox, Notice, drain
from sponsio_like.outcome import Allowed, Blocked, Escalate
from sponsio_like.patterns import must_precede, rate_limit
from sponsio_like.session.session import Session
from sponsio_like.syntax import read


def rules() -> list[Any]:
    """A cap, an order, and a rule that only observes."""
    return [
        contract("cap").guarantees(rate_limit("pay", 1)).because("one is enough"),
        contract("first").guarantees(must_precede("check", "pay")),
        contract("seen").guarantees(read("G !called(pay)")).observe(),
    ]


def blocked(session: Session, tool: str = "pay") -> Blocked:
    """Return the refusal of a call."""
    outcome = session.decide(tool, {"to": "ann"}, id="p")
    assert isinstance(outcome, Blocked)
    return outcome


def after(session: Session, *tools: str) -> Session:
    """Return the session after these calls."""
    for tool in tools:
        session.settle(session.decide(tool).id)
    return session


def test_reasons_that_are_read_late_are_those_of_the_decision() -> None:
    """Later calls change neither them nor the advice; another mode does not change them."""
    guard = Guard(rules())
    at_once, late = blocked(guard.session()), blocked(guard.session())
    said = at_once.violations, at_once.advice
    session = guard.session()
    kept, unread = blocked(session), blocked(session)
    after(session, "check", "look", "check", "pay")
    assert kept.advice == late.advice == said[1]
    guard.switch.turn_off()
    assert kept.violations == unread.violations == late.violations == said[0]
    assert [each.contract for each in kept.violations] == ["first"]
    assert [each.position for each in kept.violations] == [0]


def test_a_refusal_is_as_good_as_one_that_was_made_at_once() -> None:
    """Compared, shown, copied, replaced: it has all its fields."""
    guard = Guard(rules())
    one, other = blocked(guard.session()), blocked(guard.session())
    whole = Blocked("p", one.violations, str)
    assert whole == other
    assert repr(whole) == repr(blocked(guard.session()))
    assert replace(other, id="q") == replace(whole, id="q")
    assert copy.copy(blocked(guard.session())) == whole
    assert not blocked(guard.session()).ends_run
    assert not hasattr(one, "colour")


def test_both_ways_say_the_same() -> None:
    """A session that notifies, or logs, has its reasons made at once; the others when they are
    read.
    """
    told: list[Notice] = []
    records: list[dict[str, Any]] = []
    found = []
    for options in ({}, {"notify": told.append}, {"log": records.append}):
        session = after(Guard(rules(), **options).session(), "check", "pay")
        outcome = blocked(session)
        found.append((outcome.violations, outcome.advice, outcome.ends_run))
    assert found[0] == found[1] == found[2]
    assert drain()
    assert [each.contract for each in told] == ["cap"]
    logged = [each for each in records if each.get("outcome") == "blocked"]
    assert [each["contract"] for each in logged[0]["violations"]] == ["cap", "seen"]
    assert [each.contract for each in found[0][0]] == ["cap"]
    assert str(found[0][0][0]) == "`cap`: one is enough"


def test_calls_in_flight_are_those_of_the_decision() -> None:
    """The advice waits for a result that was open then, and has arrived since."""
    guard = Guard(rules())
    session = guard.session()
    session.decide("check", id="c")
    kept = blocked(session)
    session.settle("c")
    assert "check" in kept.advice
    assert kept.advice == blocked_beside(guard).advice


def blocked_beside(guard: Guard) -> Blocked:
    """Return the refusal of a call beside one in flight, with its advice read at once."""
    session = guard.session()
    session.decide("check", id="c")
    outcome = blocked(session)
    assert outcome.advice
    return outcome


def test_refusals_are_counted_when_they_are_made() -> None:
    """A limit on refusals holds although nobody has read why."""
    rule = contract("twice").guarantees(read("G(called(look) -> denied(pay) <= 1)"))
    session = Guard([*rules(), rule]).session()
    blocked(session)
    session.settle(session.decide("look").id)
    blocked(session)
    assert isinstance(session.decide("look"), Blocked)


def test_who_is_to_be_told_is_told_at_once() -> None:
    """Of a violation that nobody reads: the notifiers of the guard, and those of a contract that
    blocks by one rule and asks people by another.
    """
    told: list[Notice] = []
    everyone, box = Guard(rules(), notify=told.append), Mailbox(told.append)
    asks = Rule(read("G !called(wipe)"), answer=Escalate(notify=(box,)))
    both = Contract("both", (Rule(read("G(called(pay) -> Y O done(check))")), asks))
    blocked(everyone.session())
    blocked(Guard([both]).session())
    assert drain()
    assert sorted(each.contract for each in told) == ["both", "first"]


def test_an_allowed_call_is_as_good_as_one_made_with_all_its_fields() -> None:
    """Compared, shown, copied, replaced; what it has not, it has not."""
    session = Guard(rules()).session()
    outcome = session.decide("look", id="1")
    assert isinstance(outcome, Allowed)
    assert outcome == Allowed("1") == copy.copy(outcome) == copy.deepcopy(outcome)
    assert repr(outcome) == repr(Allowed("1"))
    assert replace(outcome, id="2") == Allowed("2")
    assert (outcome.warnings, outcome.observed) == ((), ())
    assert not hasattr(outcome, "violations")
