"""What agents and hosts tried with ids, arguments, clocks and facts, and what became of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Contract, Guard, Session, SessionError, contract
from sponsio_like.patterns import (
    arg_blacklist,
    cooldown,
    loop_detection,
    must_precede,
    rate_limit,
    redirect_to_safe,
    requires_permission,
)
from tests.support.costs import beside, costs
from tests.support.play import opened


def ruled(*rules: Any) -> Contract:
    """A contract of these rules."""
    return contract("rule").guarantees(*rules)


def session(*rules: Any, mode: Any = "enforce", **options: Any) -> Session:
    """A session under these rules."""
    return Guard([ruled(*rules)], mode=mode).session(**options)


class Broken(Mapping[str, Any]):
    """Arguments of the host's own making that cannot be read."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("cannot be read")

    def __len__(self) -> int:
        return 1


class BrokenKey:
    """A key that has no text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


# --- ids ------------------------------------------------------------------------------------------


def test_no_id_of_the_host_is_taken_for_one_that_was_made() -> None:
    """Ids that are made are of a form of their own, so no call hides behind another's id."""
    mine = session(rate_limit("pay", 1))
    for n in range(1, 4):
        mine.decide("other", id=f"auto-{n}")
    assert isinstance(mine.decide("pay", {"a": 1}), Allowed)
    assert isinstance(mine.decide("pay", {"a": 1}), Blocked)
    made = {mine.decide("other").id for _ in range(100)}
    assert len(made) == 100
    assert made.isdisjoint({f"auto-{n}" for n in range(200)})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (b"safe", b"evil"),
        ([0] * 6_000 + [1], [0] * 6_000 + [2]),
        (10**30 + 1, 10**30 + 2),
        (Decimal("0.1"), Decimal(f"0.1{'0' * 40}1")),
        (math.nan, math.nan),
        (object(), object()),
    ],
    ids=["bytes", "too many values", "large numbers", "long numbers", "nan", "objects"],
)
def test_arguments_that_cannot_be_told_apart_are_not_the_same(first: Any, second: Any) -> None:
    """An open id is only the same call if its arguments are known to be equal."""
    mine = session(rate_limit("w", 5))
    assert isinstance(mine.decide("w", {"d": first}, id="1"), Allowed)
    assert isinstance(mine.decide("w", {"d": second}, id="1"), Blocked)
    assert mine.calls == 1


def test_large_numbers_are_told_apart_by_loop_detection() -> None:
    """Numbers of forty digits that differ in the last one are different arguments."""
    mine = session(loop_detection("w", 1))
    assert all(isinstance(mine.decide("w", {"n": 10**40 + k}), Allowed) for k in range(5))
    assert isinstance(mine.decide("w", {"n": 10**40 + 4}), Blocked)


def test_an_open_id_belongs_to_one_agent() -> None:
    """Another agent, or another depth, with an open id is another call: it is blocked."""
    mine = session(requires_permission("pay", "boss"))
    mine.fact("permissions", {"ann": ["boss"]})
    assert isinstance(mine.decide("pay", id="1", agent="ann"), Allowed)
    assert isinstance(mine.decide("pay", id="1", agent="bob"), Blocked)
    assert isinstance(mine.decide("pay", id="1", agent="ann", depth=7), Blocked)
    assert isinstance(mine.decide("pay", id="1", agent="ann"), Allowed)


# --- arguments that cannot be read ----------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [Broken(), {"command": Broken()}, {BrokenKey(): 1}, 5, [], "rm -rf", b"rm"],
    ids=range(7),
)
@pytest.mark.parametrize("mode", ["enforce", "observe"])
def test_arguments_that_cannot_be_read_are_no_exception(args: Any, mode: str) -> None:
    """Whatever the arguments are, `decide` answers; a rule that has to read them is violated."""
    mine = session(arg_blacklist("bash", "command", ["rm"]), rate_limit("bash", 9), mode=mode)
    outcome = mine.decide("bash", args)
    if mode == "observe":
        assert isinstance(outcome, Allowed)
        assert outcome.observed
    else:
        assert isinstance(outcome, Blocked)
    assert isinstance(mine.decide("bash", {"command": "ls"}), Allowed)


@pytest.mark.parametrize(
    "value",
    [
        "a" + "\u0300" * 20_000 + "\u0316" * 20_000,
        "\u0300\u0316" * 30_000,
        10**100_000,
        -(1 << 1_000_000),
        "9" * 100_000,
        {"n" * 50_000 + "\u0300" * 10_000: 1},
    ],
    ids=["marks", "mixed marks", "a huge number", "a huge negative number", "digits", "a key"],
)
def test_no_argument_takes_long_to_look_at(value: Any) -> None:
    """Texts with heaps of accents and numbers of a million digits are decided at once."""
    mine = session(
        rate_limit("pay", 5), loop_detection("pay", 3), {"ltl": "G(called(pay) -> !arg(t) = 5)"}
    )
    mine.decide("pay", {"t": "\u00e9"})
    assert beside(lambda: mine.decide("pay", {"t": value})) < 1_000


def test_a_batch_is_read_before_any_of_it_is_decided() -> None:
    """A batch with something else than calls in it is an error, and none of it has been decided."""
    mine = session(rate_limit("pay", 2))
    wrong: list[Any] = [["pay"], ["p", "a"], [("pay", {}), ("pay", {}), ("pay",)], [("pay", {}), 5]]
    for batch in wrong:
        with pytest.raises(SessionError, match="no call of a batch"):
            mine.decide_batch(batch)
    assert mine.calls == 0
    twice = [Allowed, Blocked, Blocked]  # one id is one call
    assert [type(each) for each in mine.decide_batch([("pay", {}, "1")] * 3)] == twice
    assert mine.calls == 1


def test_an_output_that_cannot_be_read_settles_its_call() -> None:
    """Whatever the output is, the call has landed: nothing stays in flight because of it."""
    mine = session(must_precede("check", "pay"), "tool `check` at most 9 times")
    for odd in (Broken(), {BrokenKey(): 1}, object(), math.nan):
        assert mine.settle(mine.decide("check", id="1").id, output=odd) == ()
    assert isinstance(mine.decide("pay"), Allowed)
    mine.fact("odd", Broken())
    assert isinstance(mine.decide("pay"), Allowed)


def test_the_arguments_of_a_redirect_are_a_copy() -> None:
    """Changing the arguments of a redirected call changes neither its first answer nor the log."""
    mine = session(redirect_to_safe("pay", "log_request"))
    first = mine.decide("pay", {"to": {"name": "bob"}, "x": [1]}, id="1")
    first.args["to"]["name"] = "eve"  # type: ignore[union-attr]
    first.args["x"].append(2)  # type: ignore[union-attr]
    again = mine.decide("pay", {"to": {"name": "bob"}, "x": [1]}, id="1")
    assert again.args == {"to": {"name": "bob"}, "x": [1]}  # type: ignore[union-attr]


# --- clocks, facts, messages ----------------------------------------------------------------------


@pytest.mark.parametrize("reading", [math.nan, math.inf, -math.inf, "soon", None], ids=repr)
def test_a_clock_that_tells_no_time_stops_what_is_enforced(reading: Any) -> None:
    """A reading that is no time fails the decision, and does not disarm what is timed."""
    now: list[Any] = [0.0]
    mine = session(cooldown("pay", seconds=60), clock=lambda: now[0])
    allowed = []
    for now[0] in (reading, 0.0, reading, 1.0, 60.0):
        allowed.append(isinstance(mine.decide("pay"), Allowed))
    assert allowed == [False, True, False, False, True]


@pytest.mark.parametrize("value", [None, 5, "x", [5], [{}], {"by": "ann"}, {"role": "boss"}])
def test_an_approval_that_is_none_is_refused_at_once(value: Any) -> None:
    """What could never be an approval is an error of the host, and the next one is taken."""
    mine = session({"ltl": "G(called(pay) -> approved(pay, boss))"})
    with pytest.raises(SessionError, match="approval"):
        mine.fact("approval", value)
    mine.fact("approval", {"action": "pay", "role": "boss", "decision": "approve", "by": "ann"})
    assert isinstance(mine.decide("pay"), Allowed)


def test_a_fact_needs_a_name() -> None:
    """A fact whose key is no text is an error of the host."""
    with pytest.raises(SessionError, match="name"):
        session(rate_limit("pay", 1)).fact([], 1)  # type: ignore[arg-type]


def test_approvals_do_not_slow_decisions_down() -> None:
    """Among thousands of approvals, one more is told, and asked for, as soon as among few."""
    few, many = (session({"ltl": "G(called(pay) -> approved(pay, boss))"}) for _ in range(2))

    def approve(mine: Session, first: int, last: int) -> None:
        for n in range(first, last):
            by = {"action": "pay", "role": f"r{n}", "decision": "approve", "by": f"p{n}"}
            mine.fact("approval", by)

    approve(many, 0, 5_000)
    telling = costs(lambda: approve(few, 0, 20), lambda: approve(many, 0, 20))
    asking = costs(*(lambda mine=mine: mine.decide("pay") for mine in (few, many)))
    assert telling[1] < 40 * telling[0]
    assert asking[1] < 5 * asking[0]


@pytest.mark.parametrize(
    "usage",
    [
        {"total_tokens": "5x"},
        {"total_tokens": -100},
        {"total_tokens": math.nan},
        {"total_tokens": True},
        {"total_tokens": 1.5},
        [1],
        "12",
    ],
    ids=repr,
)
def test_usage_that_is_no_number_of_tokens_is_refused(usage: Any) -> None:
    """Tokens are whole numbers that only grow; anything else is an error of the host."""
    mine = session({"ltl": "G(called(pay) -> tokens() < 100)"})
    mine.message("assistant", "hi", usage={"total_tokens": 100})
    with pytest.raises(SessionError, match="tokens"):
        mine.message("assistant", "hi", usage=usage)
    assert isinstance(mine.decide("pay"), Blocked)


def test_the_role_of_a_message_has_no_case() -> None:
    """A response is one, however its role is written."""
    rule = '!(message(assistant) & text matches "secret")'
    for role in ("assistant", "Assistant", "ASSISTANT"):
        play = opened(f"G {rule}")
        assert isinstance(play.session.message(role, "a secret"), Blocked)


def test_a_step_is_told_with_names() -> None:
    """A plain step takes a list of names; anything else is an error of the host."""
    mine = session({"ltl": "G !step(x)"})
    for wrong in (5, None, [5], "x"):
        with pytest.raises(SessionError, match="step"):
            mine.step(wrong)  # type: ignore[arg-type]
    assert mine.step(["x"])
