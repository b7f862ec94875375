"""The fast path of a call: it says and remembers what the slow path says and remembers."""

from __future__ import annotations

import itertools
import logging
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from enum import IntEnum
from typing import Any

import pytest

from campaigns.bench.translated import written
from campaigns.bench.workload import POLICY, trace
from sponsio_like import Allowed, Blocked, Contract, Guard, Held, Redirected, atom, contract
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.loader import loads
from sponsio_like.events.registry import CUSTOM
from sponsio_like.monitor.slots import likeness
from sponsio_like.patterns import arg_value_range, cooldown, must_precede, rate_limit
from sponsio_like.session.denied import LaneRefusal
from sponsio_like.session.fast import FastFinding, settle_fast, try_fast
from sponsio_like.syntax import read
from sponsio_like.values.canonical_form import NotCanonical, digest
from tests.fuzz import twins
from tests.reference.test_predicates import CASES, word
from tests.support.play import guarded
from tests.support.size import sized


def went_short(guard: Guard, tool: str, args: Any = None) -> bool:
    """Whether a first call of this tool takes the fast path."""
    session = guard.session()
    assert isinstance(session.decide(tool, args), Allowed)
    return session._inner.latest is not None


@pytest.fixture(autouse=True)
def _no_lane_fails(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The slow path decides where a lane fails, so that only the log of the program says so."""
    yield
    assert "the lane of" not in caplog.text


@pytest.fixture(autouse=True)
def no_lane_fails(caplog: pytest.LogCaptureFixture) -> Any:
    """A lane that raises is wrong, although the slow path then decides."""
    with caplog.at_level(logging.ERROR, "sponsio_like"):
        yield
    assert [each for each in caplog.records if "lane" in each.message] == []


# --- the same -------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("block", range(sized(6, 3)))
def test_random_contracts_are_the_same_both_ways(block: int) -> None:
    """Random contracts and sessions: the same outcomes, violations, verdicts and states."""
    tally: Counter[str] = Counter()
    found = [twins.compared(2026, number, tally) for number in range(block * 40, block * 40 + 40)]
    assert [each for each in found if each] == []
    assert tally["short"] > 50
    assert tally["settled"] > 40
    assert tally["beside others"] > 5


def test_a_call_that_owes_the_next_one_is_not_forgotten() -> None:
    """A clause of few states sees the next call, whatever its tool, once it is owed one."""
    session = Guard([contract("next").guarantees({"ltl": "G(called(a) -> X called(b))"})]).session()
    session.settle(session.decide("a", {}).id)
    assert isinstance(session.decide("c", {}), Blocked)
    assert isinstance(session.decide("b", {}), Allowed)


def test_sessions_share_no_counts() -> None:
    """What sessions share of a clause does not grow with what one of them counts."""
    session = Guard([contract("cap").guarantees(rate_limit("pay", 100))]).session()
    for _ in range(20):
        session.settle(session.decide("pay", {}).id)
    assert session.calls == 20
    assert ("states", 0) not in session.policy.lanes


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(CASES)))
def test_patterns_are_the_same_both_ways(number: int) -> None:
    """Every pattern of the catalog, on random sessions of its own events."""
    case = CASES[number]
    dice = random.Random(number)
    words = [word(each) for each in case.letters]
    for _ in range(sized(12, 6)):
        guard = Guard([case.contract], mode="enforce" if dice.random() < 0.7 else "observe")
        pair = twins.Pair(guard)
        found = pair.difference(twins.told(dice.choices(words, k=12)))
        assert found == ""


def test_a_refusal_on_the_fast_path_tells_the_value() -> None:
    """As the slow path does, which is not asked."""
    rule = contract("c").guarantees(read("G(called(pay, to = $x) -> Y O done(vet, name = $x))"))
    session = Guard([rule]).session()
    found = try_fast(session._inner, "pay", {"to": "eve"}, "1", "agent", 0)
    assert isinstance(found, LaneRefusal)
    assert [each.violation.binding for each in found.attempt.found] == [{"x": "eve"}]


@pytest.mark.parametrize("options", [{"mode": "observe"}, {"strategy": "warn_only"}])
def test_a_violation_that_stops_nothing_takes_the_fast_path(options: dict[str, str]) -> None:
    """The call is in flight with what the slow path finds, and its verdict is violated."""
    cap = contract("cap").guarantees(arg_value_range("pay", "amount", max=100))
    first = contract("first").guarantees(must_precede("check", "pay"))
    mode, strategy = options.get("mode", "enforce"), options.get("strategy")
    rules = [each if strategy is None else each.strategy(strategy) for each in (cap, first)]
    session = Guard(rules, mode=mode).session()  # type: ignore[arg-type]
    found = try_fast(session._inner, "pay", {"amount": 101}, "1", "agent", 0)
    assert isinstance(found, FastFinding)
    told = found.allowed.observed if mode == "observe" else found.allowed.warnings
    assert [each.contract for each in told] == ["cap", "first"]
    assert session.verdicts() == {"cap": "violated", "first": "violated"}
    assert session.calls == 1
    assert session._inner.in_flight() == ["1"]
    assert settle_fast(session._inner, "1", None, None) == ("pay", ())


def test_the_policy_of_the_benchmark_is_the_same_both_ways() -> None:
    """A thousand calls of the benchmark, each settled at once; hardly any takes the slow path."""
    guard = Guard(loads(written(POLICY)).contracts)
    pair = twins.Pair(guard)
    events: list[Any] = []
    for number, (tool, args) in enumerate(trace(1000)):
        call = {"type": "call", "tool": tool, "args": args, "id": str(number), "time": number / 2}
        events += [call, call | {"type": "result", "status": "ok", "output": "ok"}]
    assert pair.difference(events) == ""
    assert pair.tally["long"] < 20


One = IntEnum("One", {"ONE": 1})
ALIKE: list[Any] = [
    One(1),
    *("a", "b", "\u212a", "K", "e\u0301", "\u00e9", "x" * 300, "", " "),
    *(1, 1.0, Decimal(1), Decimal("1.00"), True, 0, -0.0, False, None, 2**53, float(2**53), 2**70),
    *(0.5, Decimal("0.5"), float("nan"), float("inf"), [1], (1,), {"a": 1}),
]


def test_calls_are_alike_where_their_fingerprints_are() -> None:
    """What runs of equal calls are told by is equal exactly where the fingerprints are equal."""
    args = [{"x": value, "y": "z"} for value in ALIKE] + [{"x": value} for value in ALIKE]
    args += [{name: 1} for name in ("K", "\u212a", ";", "\u037e", "k", "\u00e9", "e\u0301")]

    def told(one: dict[str, Any]) -> Any:
        try:
            return digest("t", one)
        except NotCanonical:
            return "unreadable"

    for one, other in itertools.product(args, args):
        equal = likeness("t", one) == likeness("t", other)
        assert equal is (told(one) == told(other)), (one, other)
    assert likeness("t", {"x": 1}) != likeness("u", {"x": 1})


# --- which way ------------------------------------------------------------------------------------


def test_what_is_usual_takes_the_fast_path() -> None:
    """Orders, counts, windows, sums, deadlines without a bound, values, arguments."""
    texts = [
        "G(called(pay) -> O done(check))",
        "G(count(called(pay)) <= 5)",
        "G(count[<=60s](called(pay)) <= 5)",
        "G(sum(called(pay), n) <= 100)",
        "G(done(pay) -> F done(report))",
        "G(called(pay) -> !O[<=3] failed(pay))",
    ]
    for text in texts:
        assert went_short(guarded(text), "check", {}), text
    for text in texts[1:]:
        assert went_short(guarded(text), "pay", {"n": 1}), text


def test_code_of_users_takes_the_slow_path() -> None:
    """An atom of the user may do anything, and is asked without the lock."""

    @atom("is_fine")
    def is_fine(call: Any, context: Any) -> bool:
        return True

    try:
        assert not went_short(guarded("G(called(pay) -> is_fine())"), "pay")
    finally:
        del CUSTOM["is_fine"]


def test_calls_in_flight_beside_each_other_take_the_slow_path() -> None:
    """The second of two calls finds the first in flight, as does its own result."""
    session = guarded("G(called(pay) -> O done(check))").session()
    first = session.decide("check")
    assert list(session._inner.flights) == []
    assert isinstance(session.decide("pay"), Blocked)
    assert list(session._inner.flights) == [first.id]
    session.settle(first.id)
    assert isinstance(session.decide("pay"), Allowed)


def test_a_snapshot_in_flight_has_the_call() -> None:
    """A call that took the fast path and has no result yet is in the snapshot, and comes back."""
    guard = guarded("G(called(pay) -> O done(check))")
    session = guard.session("s")
    session.decide("check", id="1")
    again = guard.restore(session.snapshot())
    again.settle("1")
    assert isinstance(again.decide("pay"), Allowed)


def test_who_has_to_be_asked_is_asked() -> None:
    """Only what is simply blocked is refused by a lane; people, substitutes, warnings are not."""
    rule = rate_limit("pay", 1)
    for strategy, expected in (
        ("block", Blocked),
        ("warn_only", Allowed),
        ({"escalate": {"roles": ["boss"]}}, Held),
        ({"redirect_to_safe": {"to": "ask"}}, Redirected),
    ):
        session = Guard([contract("few").guarantees(rule).strategy(strategy)]).session()
        session.settle(session.decide("pay").id)
        assert isinstance(session.decide("pay"), expected), strategy


def test_an_id_in_flight_is_answered_as_before() -> None:
    """Deciding the latest call again counts nothing; with other arguments it is blocked."""
    session = guarded("G(count(called(pay)) <= 1)").session()
    assert isinstance(session.decide("pay", {"n": 1}, id="a"), Allowed)
    assert isinstance(session.decide("pay", {"n": 1}, id="a"), Allowed)
    assert isinstance(session.decide("pay", {"n": 2}, id="a"), Blocked)
    assert session.calls == 1


def test_arguments_are_the_ones_that_were_decided() -> None:
    """What the host does to the arguments afterwards changes no fingerprint."""
    session = guarded("G(count(called(pay)) <= 1)").session()
    args = {"n": 1}
    session.decide("pay", args, id="a")
    args["n"] = 2
    assert isinstance(session.decide("pay", {"n": 1}, id="a"), Allowed)


def test_a_clause_about_any_tool_is_asked_at_those_that_others_name() -> None:
    """The index by tool leaves out no clause that speaks of every call."""
    session = guarded("G(count(called(pay)) <= 9)", "G(depth() <= 1)").session()
    assert isinstance(session.decide("pay", depth=3), Blocked)
    assert isinstance(session.decide("pay", depth=1), Allowed)


def test_sessions_share_no_state() -> None:
    """What sessions share are states that never change."""
    guard = Guard(
        [
            Contract("order", (must_precede("check", "pay"),)),
            Contract("few", (rate_limit("pay", 1),)),
            Contract("slow", (cooldown("pay", steps=1),)),
        ]
    )
    one, other = guard.session(), guard.session()
    one.settle(one.decide("check").id)
    assert isinstance(other.decide("pay"), Blocked)
    one.settle(one.decide("pay").id)
    other.settle(other.decide("check").id)
    assert isinstance(other.decide("pay"), Allowed)
    assert isinstance(one.decide("pay"), Blocked)


def test_sessions_share_no_keys() -> None:
    """What one session counts by key, and when it has to be woken, is nothing to another."""
    once = Rule(read("G(count(called(pay)) <= 1)"), by=("to",))
    owing = "G(called(a) -> X called(b))", "G(done(a) -> F[<=5s] done(b))"
    guard = guarded(Contract("once", (once,)), *owing)
    one, other = guard.session(), guard.session()
    for session in (one, other):
        session.settle(session.decide("pay", {"to": "ann"}).id)
    assert isinstance(one.decide("pay", {"to": "ann"}), Blocked)
    one.settle(one.decide("a", {"to": "ann"}).id)
    assert isinstance(one.decide("pay", {"to": "bob"}), Blocked)
    other.settle(other.decide("pay", {"to": "bob"}).id)
    assert guard.session().pending() == other.pending() == ()
    assert len(one.pending()) == 2
    assert isinstance(guard.session().decide("pay", {"to": "ann"}), Allowed)


def test_a_call_beside_one_that_hangs_is_kept_as_it_came() -> None:
    """It is in flight at once only where a clause that it concerns waits for results of others."""
    guard = guarded("G(called(pay) -> Y (!called(a) S done(check)))")
    session = guard.session()
    inner = session._inner
    session.decide("other", id="hangs")
    for _ in range(3):
        call = session.decide("check")
        assert (list(inner.flights), inner.latest is not None) == (["hangs"], True)
        session.settle(call.id)
    session.settle(session.decide("a").id)
    session.decide("check", id="waits")
    session.decide("other", id="o")
    session.decide("check", id="beside")
    assert inner.latest is None
    assert list(inner.flights) == ["hangs", "waits", "o", "beside"]


def test_what_owes_nothing_owes_something_again() -> None:
    """A deadline is kept after many calls that changed nothing, also by the same call."""
    session = guarded("G(called(a) -> X F[<=1] called(b))").session()
    for _ in range(20):
        session.settle(session.decide("b").id)
    session.settle(session.decide("a").id)
    session.settle(session.decide("c").id)
    assert isinstance(session.decide("c"), Blocked)
    session.settle(session.decide("b").id)
    assert session.pending() == ()
    assert isinstance(session.decide("c"), Allowed)


def test_a_lane_that_fails_lets_the_slow_path_decide(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Source that is wrong disturbs nobody, and is told to the log of the program."""
    guard = guarded("G(called(pay) -> O done(check))")
    lane = guard.policy.lanes["pay"]

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setitem(guard.policy.lanes, "pay", replace(lane, check=broken))
    assert isinstance(guard.session().decide("pay"), Blocked)
    assert "the lane of `pay` failed" in caplog.text
    caplog.clear()


def test_no_lane_is_built_while_a_call_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lanes of tools that are named are there before the first call."""
    guard = guarded("G(count(called(pay)) <= 1)", "G !called(x)")
    monkeypatch.setattr("sponsio_like.session.fast.lane_of", pytest.fail)
    assert isinstance(guard.session().decide("pay"), Allowed)
