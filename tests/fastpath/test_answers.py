"""Conditions on answers on the fast path: the same as on the slow path, without taking it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard, Session, contract
from sponsio_like.session import session as sessions
from sponsio_like.session.settle import settle as settled
from tests.fuzz import twins

FORMULAS = (
    "G(called(pay) -> !O(done(look) & output.rows > 10))",
    'G(called(pay) -> Y O(done(look) & output.status = "ok"))',
    'G(called(pay) -> Y(output.status = "ok" S called(look)))',
    'G(count(done(look) & output.status != "ok") < 2 | !called(pay))',
    "G(called(pay) -> count(failed(look) & output matches 'late') = 0)",
    'G(called(look) -> WY !(called(look) & output = "no"))',
    'G(done(look) & output.status = "red" -> WX !called(look))',
    "G(called(look) -> F[<=2] (done(pay) & output.rows < 3))",
    "G(done(look) -> output.rows >= 0)",
)
ANSWERS: tuple[Any, ...] = (
    {"rows": 3, "status": "ok"},
    {"rows": 30, "status": "red"},
    {"status": None, "rows": "30"},
    '{"rows": 30, "status": "red"}',
    {"order": {"rows": 30}, "status": ["ok"]},
    "no, too late",
    None,
    7,
    float("nan"),
    {"rows": 10**30},
    {"status": "late " * 1000, "rows": 0},
    ValueError("too late"),
)


def guard_of(text: str, mode: Any = "enforce") -> Guard:
    """Return a guard with this formula."""
    return Guard([contract("c").guarantees({"ltl": text})], mode=mode)


def call(number: int, tool: str) -> dict[str, Any]:
    """Return the event of a call."""
    return {"type": "call", "tool": tool, "args": {"to": "a"}, "id": str(number), "time": number}


def result(number: int, status: str, answer: Any) -> dict[str, Any]:
    """Return the event of a result."""
    return {"type": "result", "id": str(number), "status": status, "output": answer, "time": 9}


@pytest.mark.long
@pytest.mark.parametrize("mode", ["enforce", "observe"])
@pytest.mark.parametrize("text", FORMULAS)
def test_every_answer_is_the_same_both_ways(text: str, mode: str) -> None:
    """Each answer of each of two calls, settled at once and late, in both orders."""
    guard, short = guard_of(text, mode), 0
    for status, first in itertools.product(("ok", "error"), ANSWERS):
        if status == "error" and first is None:
            continue
        for second in ANSWERS[:2]:
            one, other = result(0, status, first), result(1, "ok", second)
            turns = [call(0, "look"), one, call(1, "look"), other]
            beside = [call(0, "look"), call(1, "look"), other, one]
            for events in (turns, beside, [*beside[:2], one, other]):
                pair = twins.Pair(guard)
                ends = [call(2, "pay"), call(3, "look"), call(4, "pay")]
                timed = [each | {"time": float(k)} for k, each in enumerate([*events, *ends])]
                assert pair.difference(timed) == "", (first, second)
                short += pair.tally["short"] + pair.tally["settled"]
    assert short > 500


def test_small_answers_are_read_without_the_slow_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """In turn and beside others; and what was read counts."""
    monkeypatch.setattr(sessions, "settle", None)
    session = guard_of(FORMULAS[0]).session()
    for answer in ({"rows": 3}, "nothing", None, 4):
        session.settle(session.decide("look", {}).id, output=answer)
    first, second = session.decide("look", {}), session.decide("look", {})
    session.settle(second.id, output={"rows": 1})
    assert isinstance(session.decide("pay", {}, id="p"), Allowed)
    session.settle("p", output={"rows": 99})
    session.settle(first.id, output={"rows": 11})
    assert isinstance(session.decide("pay", {}), Blocked)


@pytest.mark.parametrize(
    "answer",
    [{"rows": 11, "text": "a" * 3000}, {f"n{k}": k for k in range(30)} | {"rows": 11}, Exception()],
)
def test_other_answers_take_the_slow_path(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Much text, many members, and what is no plain data, which has the value that violates."""
    asked: list[str] = []
    slow = settled

    def settle(inner: Any, id: str, *given: Any) -> Any:
        asked.append(id)
        return slow(inner, id, *given)

    monkeypatch.setattr(sessions, "settle", settle)
    session = guard_of(FORMULAS[0]).session()
    session.settle(session.decide("look", {}, id="a").id, output=answer)
    assert asked == ["a"]
    assert isinstance(session.decide("pay", {}), Blocked)


def test_an_answer_that_could_not_be_read_is_forgotten_with_the_next_one() -> None:
    """The advice says no more that it could not be read."""
    session = guard_of('G(called(pay) -> Y O(done(look) & output.status = "ok"))').session()
    session.settle(session.decide("look", {}).id, output="a" * 2_000_000)
    assert "could not be read" in advice(session)
    session.settle(session.decide("look", {}).id, output={"status": "no"})
    assert "could not be read" not in advice(session)


def advice(session: Session) -> str:
    """Return what a blocked payment is told."""
    outcome = session.decide("pay", {})
    assert isinstance(outcome, Blocked)
    return outcome.advice


def test_calls_in_flight_under_values_keep_to_the_fast_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the values wait for no result; each value is remembered at once."""
    monkeypatch.setattr(sessions, "settle", None)
    session = guard_of("G(called(pay, to = $x) -> !O(called(ban, to = $x)))").session()
    ids = [session.decide("ban", {"to": who}).id for who in ("a", "b", "c")]
    assert session._inner.flights.keys() == set(ids[:2])
    assert isinstance(session.decide("pay", {"to": "b"}), Blocked)
    assert isinstance(session.decide("pay", {"to": "d"}), Allowed)
    for each in ids:
        session.settle(each, output="ok")
    assert isinstance(session.decide("pay", {"to": "c"}), Blocked)
