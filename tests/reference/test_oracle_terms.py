"""The oracle on terms that look back: the last value, results that have arrived, marks, ages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.reference.oracle import Event, Formula, call, kinds, message, positions, settle, value
from tests.reference.test_oracle import CALLS, DONE, INF, A, B, row

M5, M7 = (((False, 5),), ((False, 7),))
ARRIVED = ("delivered", A)


def values(term: Formula, events: Sequence[Event], of: frozenset[str] = CALLS) -> list[Any]:
    """The value of a term at each position, as its decision knows it."""
    trace = positions(events, of)
    return [value(term, trace, i, trace[i].decided) for i in range(len(trace))]


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (("last", ("number", 3), B), [None, None, None, 3, 3]),
        (("last", ("arg", "n"), A), [None, 5, 5, 5, 7]),
        (("last", ("arg", "n"), B), [None, None, None, None, None]),
        (("last", ("count", A, None, None), B), [None, None, None, 2, 2]),
        (("last", ("since", B), A), [None, INF, INF, INF, 1]),
        (("last", ("mark", "n"), ("called", "*")), [None, M5, M5, (), M7]),
        (("last", ("last", ("arg", "n"), A), A), [None, None, 5, 5, 5]),
        (("last", ("arg", "n"), DONE), [None] * 5),
    ],
    ids=str,
)
def test_the_last_value_is_that_of_an_earlier_position(
    term: Formula, expected: list[float | None]
) -> None:
    """`last(t, f)` is what `t` was where `f` held last, the present not included; or nothing."""
    events = [call("a", n=5), call("a", n=5), call("b"), call("a", n=7), call("a", n=7)]
    assert values(term, events) == expected


def test_the_last_position_is_looked_for_among_what_is_known_now() -> None:
    """A result that arrives late makes its position the last one; its value is that of then."""
    term = ("last", ("count", ("called", "*"), None, None), DONE)
    events = [call("a"), call("a"), call("b"), settle(0, "done"), call("b"), settle(1, "done")]
    assert values(term, [*events, call("b")]) == [None, None, None, 1, 2]
    failed = [call("a"), settle(0, "done"), call("a"), settle(2, "failed"), call("b")]
    assert values(term, failed) == [None, 1, 1]


def test_a_last_count_is_of_what_is_known_now() -> None:
    """What stands under `last` is read as the decision knows it, like all of the past."""
    term = ("last", ("count", DONE, None, None), B)
    events = [call("a"), call("b"), call("c"), settle(0, "done"), call("c")]
    assert values(term, events) == [None, None, 0, 1]


def test_what_cannot_be_told_or_remembered_has_no_last_value() -> None:
    """A missing argument hides the values before it; a text of more than 1,024 characters, too."""
    term = ("last", ("arg", "n"), A)
    assert values(term, [call("a", n=5), call("a"), call("b")]) == [None, 5, None]
    assert values(term, [call("a", n="x" * 1024), call("b")])[1] == "x" * 1024
    assert values(term, [call("a", n="x" * 1025), call("b")])[1] is None


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([call("a"), call("b"), settle(0, "done"), call("b")], [0, 0, 1]),
        ([call("a"), settle(0, "failed"), call("b")], [0, 1]),
        ([call("a"), settle(0, "done"), call("a"), settle(2, "done"), call("a")], [0, 1, 2]),
        ([call("a"), call("a"), settle(1, "done"), call("b"), settle(0, "done")], [0, 0, 1]),
        ([call("a"), settle(0, "done"), settle(0, "failed"), call("b")], [0, 1]),
        ([call("b"), settle(0, "done"), call("b")], [0, 0]),
    ],
)
def test_results_are_counted_as_they_arrive(events: list[Event], expected: list[int]) -> None:
    """`delivered` counts results, failures too, that have arrived when the call is decided."""
    assert values(ARRIVED, events) == expected
    assert values(("last", ARRIVED, ("called", "*")), events) == [None, *expected[:-1]]


def test_delivered_speaks_of_no_positions() -> None:
    """Results of calls are counted also where calls are no positions, and calls are not."""
    events = [call("a"), message("user"), settle(0, "done"), call("b"), message("user")]
    assert kinds(("and", ("message", "user"), ("compare", ARRIVED, ">", ("number", 0)))) == {
        "message"
    }
    assert kinds(("compare", ARRIVED, ">", ("number", 0))) == CALLS
    assert values(ARRIVED, events, frozenset({"message"})) == [0, 1]


def test_a_result_may_be_asked_what_its_call_was() -> None:
    """Only results of calls with the fact count; those of which it is not known count as well."""
    of_bob = ("delivered", ("and", A, ("prop?", "bob")))
    odd = Event("call", "a", unknown=frozenset({"bob"}))
    events = [call("a", "bob"), call("a"), odd]
    settled = [*events, *(settle(n, "done") for n in range(3))]
    assert values(of_bob, [*settled[:4], call("b")])[-1] == 1
    assert values(of_bob, [*settled[:5], call("b")])[-1] == 1
    assert values(of_bob, [*settled, call("b")])[-1] == 2


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ({"n": 1}, {"n": 1.0}, True),
        ({"n": 1}, {"n": True}, False),
        ({"n": 1}, {"n": "1"}, False),
        ({"n": 1}, {}, False),
        ({}, {}, True),
        ({"n": 1, "m": 2}, {"n": 1, "m": 3}, True),
        ({"n": (1, 2)}, {"n": (1, 2.0)}, True),
        ({"n": (1, 0)}, {"n": (True, 0)}, False),
    ],
)
def test_a_mark_is_of_equal_values(one: dict[str, Any], other: dict[str, Any], equal: bool) -> None:
    """Marks are equal where the values are as JSON; a missing one equals a missing one."""
    f = ("compare", ("mark", "n"), "=", ("last", ("mark", "n"), A))
    assert row(f, [call("a", **one), call("a", **other)]) == f"0{int(equal)}"
    whole = ("compare", ("mark", "*"), "=", ("last", ("mark", "*"), A))
    same = equal and one.keys() == other.keys() and "m" not in one
    assert row(whole, [call("a", **one), call("a", **other)]) == f"0{int(same)}"


def told(event: Event, *facts: tuple[str, object, float]) -> Event:
    """The event, after these facts."""
    return replace(event, told=facts)


def test_the_age_of_a_fact_is_that_of_its_last_telling() -> None:
    """Seconds since the fact was told last, infinite if it never was."""
    age = ("fact age", "stage")
    first, other, again = ("stage", None, 1.0), ("mood", None, 2.0), ("stage", None, 7.0)
    events = [
        call("a", time=0),
        told(call("a", time=1), first),
        told(call("a", time=5), first, other),
        told(call("a", time=9.5), first, other, again),
    ]
    assert values(age, events) == [INF, 0, 4, 2.5]


def approval(at: float, **more: object) -> tuple[str, object, float]:
    whole = {"action": "pay", "role": "boss", "by": "x", "decision": "approve", **more}
    return ("approval", tuple(whole.items()), at)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([], INF),
        ([approval(1)], 9),
        ([approval(1), approval(4)], 6),
        ([approval(4), approval(1, by="y")], 6),
        ([approval(4, time=2.5)], 7.5),
        ([approval(1), approval(4, decision="refuse")], INF),
        ([approval(1), approval(4, revoked=True)], INF),
        ([approval(1, by="y"), approval(4, revoked=True)], 9),
        ([approval(1, action="drop"), approval(4, role="clerk")], INF),
        ([approval(1), approval(4, by=None, revoked=True)], INF),
        ([approval(1), approval(2, by="y"), approval(4, by="", decision="refuse")], INF),
        ([approval(1), approval(4, by=None, role="clerk", revoked=True)], 9),
        ([approval(1, by=None), approval(2, by=None, revoked=True), approval(4)], 6),
        ([approval(1, time=70)], -60),
        ([approval(1, time=71)], None),
        ([approval(1, time=71), approval(1, by="y")], None),
    ],
)
def test_the_age_of_an_approval_is_that_of_the_latest_that_stands(
    facts: list[tuple[str, object, float]], expected: float | None
) -> None:
    """Each person's latest word counts; it stands if it approves and is not revoked.

    A no of nobody is everybody's; what is given much later than now has no age.
    """
    age = ("approval age", "pay", "boss")
    assert values(age, [told(call("a", time=10), *facts)]) == [expected]
