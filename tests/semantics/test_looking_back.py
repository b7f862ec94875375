"""Terms that look back: last values, results, ages, marks (docs/semantics.md, section 7)."""

from __future__ import annotations

import pytest

from sponsio_like.outcome import Allowed, Blocked
from tests.semantics.manifest import requirement
from tests.support.play import Clock, guarded, opened

APPROVAL = {"action": "pay", "role": "boss", "decision": "approve"}


@requirement("S-TERM-08")
def test_the_last_value_is_that_of_the_latest_position_before() -> None:
    """The present does not count, and a later position replaces an earlier one."""
    same = opened("G(called(pay) -> arg(n) = last(arg(n), called(check)))")
    assert same("check(n=1) pay(n=1) check(n=2) pay(n=1) pay(n=2)") == "...x."


@requirement("S-TERM-08")
def test_a_late_result_makes_its_position_the_latest() -> None:
    """What is looked for is what is known now, wherever it stands."""
    same = opened("G(called(pay) -> arg(n) = last(arg(n), done(check)))")
    assert same("check(n=1) check(n=2)? pay(n=1) ok:check pay(n=2) pay(n=1)") == ".....x"


@requirement("S-TERM-09")
def test_what_was_never_there_cannot_be_compared() -> None:
    """Without a value of then, a comparison violates, whichever way it is put."""
    for comparison in (
        "arg(n) = last(arg(n), called([check, pay]))",
        "!(arg(n) = last(arg(n), called([check, pay])))",
    ):
        assert opened(f"G(called(pay) -> {comparison})")("pay(n=1)") == "x"
        assert opened(f"G(called(pay) -> {comparison})")("check pay(n=1)") == ".x"


@requirement("S-TERM-09")
@pytest.mark.parametrize(
    ("value", "kept"), [("x" * 1024, True), ("x" * 1025, False), (5, True), ([5], False)], ids=type
)
def test_only_small_values_are_remembered(value: object, kept: bool) -> None:
    """Numbers and texts of at most 1,024 characters have a last value."""
    session = guarded("G(called(pay) -> arg(n) = last(arg(n), called(check)))").session()
    session.decide("check", {"n": value})
    assert isinstance(session.decide("pay", {"n": value}), Allowed if kept else Blocked)


@requirement("S-TERM-10")
def test_results_are_counted_when_they_arrive() -> None:
    """A result counts from then on, a failure too, and nothing before it has arrived."""
    play = opened("G(called(pay) -> delivered(check) >= 2)")
    assert play("check? check? pay error:check pay ok:check pay") == "..x.x.."
    assert opened("G(called(pay) -> delivered(check) < 1)")("check! pay") == ".x"


@requirement("S-TERM-10")
def test_results_of_calls_that_cannot_be_told_count() -> None:
    """A condition that cannot be compared may hold: the result counts."""
    play = opened("G(called(pay) -> delivered(called(check, n > 1)) < 1)")
    assert play("check(n=1) check pay check(n=no) pay") == "....x"


@requirement("S-TERM-11")
def test_a_fact_is_as_old_as_its_latest_telling() -> None:
    """Telling the same again makes it new; what was never told is infinitely old."""
    play = opened("G(called(pay) -> fact_age(stage) <= 5)")
    assert play("pay ctx:stage=1 +5s pay +1s pay ctx:other=1 pay ctx:stage=1 pay") == "x.xx."


@requirement("S-TERM-12")
def test_an_approval_is_as_old_as_its_time() -> None:
    """Its own time counts, as a number or as text; else when it was told."""
    clock = Clock()
    guard = guarded("G(called(pay) -> approval_age(pay, boss) <= 60)")
    times = {"1970-01-01T00:00:40Z": Allowed, 39: Blocked, 40: Allowed, None: Allowed}
    for time, outcome in times.items():
        clock.now = 90.0
        session = guard.session(clock=clock)
        session.fact("approval", APPROVAL if time is None else {**APPROVAL, "time": time})
        clock.now = 100.0
        assert isinstance(session.decide("pay"), outcome), time


@requirement("S-TERM-12")
def test_the_latest_approval_that_stands_counts() -> None:
    """Of two people the later one counts; what is revoked or refused does not."""
    clock = Clock()
    session = guarded("G(called(pay) -> approval_age(pay, boss) <= 10)").session(clock=clock)
    assert isinstance(session.decide("pay"), Blocked)
    session.fact("approval", {**APPROVAL, "by": "ann", "time": 100})
    session.fact("approval", {**APPROVAL, "by": "bob", "time": 0})
    clock.now = 105.0
    assert isinstance(session.decide("pay"), Allowed)
    session.fact("approval", {**APPROVAL, "by": "ann", "time": 100, "revoked": True})
    assert isinstance(session.decide("pay"), Blocked)


@requirement("S-TERM-13")
def test_marks_are_equal_where_values_are() -> None:
    """Values are compared as JSON; two missing ones are equal; `*` is all arguments together."""
    one = opened("G(called(pay) -> mark(n) = last(mark(n), called(check)))")
    assert one("check(n=1) pay(n=1.0) pay(n=true) pay") == "..xx"
    assert one("check pay pay(n=1)") == "..x"
    whole = opened("G(called(pay) -> mark(*) = last(mark(*), called(check)))")
    assert whole("check(n=1, m=2) pay(n=1, m=2) pay(n=1) pay(m=2, n=1)") == "..x."
