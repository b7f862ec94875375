"""Refused calls: counted beside the trace, closed when they are too many; and runs that end."""

from __future__ import annotations

import itertools
import json
import pickle
import random
import sys
import threading
from collections import Counter
from typing import Any

import pytest

from sponsio_like import CallBlocked, Guard, RunStopped, Session, contract
from sponsio_like.contracts.definition import Contract
from sponsio_like.errors import SnapshotError
from sponsio_like.event_types import Call
from sponsio_like.events import denials
from sponsio_like.loops import running, said
from sponsio_like.outcome import Allowed, Blocked, Held, Outcome
from sponsio_like.patterns import absent, denial_limit, must_precede, redirect_to_safe
from sponsio_like.replay.replay import Replay
from sponsio_like.session.resume import seal
from sponsio_like.syntax import read
from sponsio_like.traces.trace import trace_of
from tests.reference import bridge, oracle
from tests.semantics.manifest import requirement
from tests.session.test_threads import THREADS, at_once
from tests.support.play import Played, opened

WALL = contract("wall").guarantees(absent({"tool": "pay"}))
GATE = contract("gate").guarantees(must_precede("check", "pay"))
ASKED = contract("asked").guarantees(absent({"tool": "pay"})).strategy("escalate")
ENDS = contract("ends").guarantees(absent({"tool": "drop"})).strategy("stop")
NO_MESSAGE = contract("polite").guarantees({"ltl": 'G !text matches "fool"'}).strategy("stop")


CLOSES = 'denied("*", call)'
"""The term of `denial_limit`."""


def limited(limit: int, strategy: Any = "block", **how: Any) -> Contract:
    return contract("tries").guarantees(denial_limit(limit, **how)).strategy(strategy)


def counting(*terms: str) -> Contract:
    """Warns at every call of `look` unless all of these are 0; nothing else is stopped by it."""
    each = " & ".join(f"{term} = 0" for term in terms)
    return contract("count").guarantees({"ltl": f"G(called(look) -> {each})"}).strategy("warn_only")


def seen(play: Played | Session, term: str, tool: str = "look", **args: Any) -> int:
    """The value of a term, asked of a session of which a contract counts it."""
    session = play.session if isinstance(play, Played) else play
    node = read(f"{term} = 0").left  # type: ignore[attr-defined]
    return denials.refusals(session._inner.context.denied, node, Call(tool, args))


def session(*contracts: Contract, **options: Any) -> Session:
    return Guard(contracts, **options).session()


def blocked(outcome: Outcome) -> Blocked:
    assert isinstance(outcome, Blocked), outcome
    return outcome


# --- what counts ----------------------------------------------------------------------------------


@requirement("S-DENIED-01")
def test_every_refusal_of_a_call_counts() -> None:
    """Blocked by a contract, by a person, for want of a substitute, or undecided: each counts."""
    play = opened(WALL, counting("denied(*)"))
    assert play("look pay pay msg:assistant=hi look") == ".xx.w"
    assert seen(play, "denied(*)") == 2

    mine = session(ASKED, counting("denied(*)"))
    held = mine.decide("pay", id="1")
    assert isinstance(held, Held)
    assert seen(mine, "denied(*)") == 0
    mine.deny(held.ticket, by="ann")
    blocked(mine.decide("pay", id="1"))
    assert seen(mine, "denied(*)") == 1

    away = contract("away").guarantees(redirect_to_safe("pay", "look"))
    play = opened(away, counting("denied(*)"), contract("no").guarantees(absent({"tool": "look"})))
    assert (play("pay"), seen(play, "denied(*)")) == ("x", 1)

    mine = session(counting("denied(*)"))
    mine.decide("look", {"n": 1}, id="1")
    blocked(mine.decide("look", {"n": 2}, id="1"))
    assert seen(mine, "denied(*)") == 1


@requirement("S-DENIED-02")
def test_refusals_are_counted_beside_the_trace() -> None:
    """`denied` tells what was refused before a decision; no position is made, none is changed."""
    play = opened(WALL, "G(called(look) -> count(pay) = 0 & denied(pay) < 2)")
    assert play("look pay look pay look") == ".x.xx"
    play = opened(WALL, "G(called(end) -> Y(called(look) & denied(pay) = 1))")
    assert play("pay look pay end") == "x.x."


@requirement("S-DENIED-03")
def test_the_same_call_has_the_same_tool_and_arguments() -> None:
    """`call`: arguments are equal as JSON, whoever calls; `tool`: whatever they are."""
    play = opened(
        contract("wall").guarantees(absent({"tool": ["pay", "drop"]})),
        counting("denied(*, call)", "denied(*, tool)", "denied(pay, call)"),
    )
    assert play("pay(n=1) pay(n=1.0)@bob pay(n=true) drop(n=1)") == "xxxx"
    assert [seen(play, "denied(*, call)", "pay", n=each) for each in (1, True, 2)] == [2, 1, 0]
    assert [seen(play, "denied(*, tool)", each) for each in ("pay", "drop", "x")] == [3, 1, 0]
    assert [seen(play, "denied(pay, call)", each, n=1) for each in ("pay", "drop")] == [2, 0]
    mine = session(WALL, limited(2))
    for _ in range(3):
        mine.decide("pay", {"n": object()})
    last = blocked(mine.decide("pay", {"n": float("nan")}))
    assert [each.contract for each in last.violations] == ["wall", "tries"]
    assert isinstance(mine.decide("look", {"n": float("nan")}), Allowed)


@requirement("S-DENIED-03")
def test_only_a_call_has_refusals_of_its_own() -> None:
    """At a message there is no tool to compare with: the comparison cannot be made."""
    play = opened("G(message(assistant) -> denied(*, call) < 3)")
    assert play("msg:assistant=hi") == "x"
    play = opened("G(message(assistant) -> denied(*) < 3)")
    assert play("msg:assistant=hi") == "."


@requirement("S-DENIED-04")
def test_what_may_be_of_the_target_counts() -> None:
    """A refused call whose argument cannot be compared counts for a target with a condition."""
    small = counting("denied(called(pay, n > 5))")
    play = opened(WALL, small)
    assert play("pay(n=1) pay(n=many) pay(n=9)") == "xxx"
    assert seen(play, "denied(called(pay, n > 5))") == 2


@requirement("S-DENIED-05")
def test_where_nothing_is_refused_nothing_counts() -> None:
    """Contracts that observe refuse nothing; what others have refused, the session is told."""
    play = opened(WALL, limited(1), guard={"mode": "observe"})
    assert play("pay pay pay") == "www"
    assert [each.contract for each in play.outcomes[-1].observed] == ["wall"]  # type: ignore[union-attr]
    play.session.refused("pay")
    play("pay")
    assert [each.contract for each in play.outcomes[-1].observed] == [  # type: ignore[union-attr]
        "wall",
        "tries",
    ]


@requirement("S-DENIED-10", "S-DENIED-05")
def test_a_trace_may_have_refused_calls() -> None:
    """A recorded call with status `refused` did not happen, and counts for `denied` only."""
    calls = [{"tool": "pay", "status": "refused"}] * 2 + [{"tool": "pay"}]
    trace = trace_of({"id": "t", "events": calls})
    found = Replay([WALL, limited(2)]).judge(trace)
    assert found.calls == 1
    assert [(each.contract, each.position) for each in found.violations] == [
        ("wall", 0),
        ("tries", 0),
    ]
    assert not Replay([limited(3)]).judge(trace).violations


@requirement("S-DENIED-05")
def test_a_replay_that_enforces_counts_what_it_removes() -> None:
    """With `--enforce`, what is refused is removed and counted; the action of `stop` is blocked."""
    trace = trace_of({"id": "t", "events": [{"tool": "pay"}] * 4})
    found = Replay([WALL, limited(2, "stop")], enforce=True).judge(trace)
    each = [(one.contract, one.position, one.action) for one in found.violations]
    assert each[:4] == [
        *(("wall", n, "blocked") for n in range(3)),
        ("tries", 2, "blocked"),
    ]
    assert not Replay([limited(2)]).judge(trace).violations


@requirement("S-DENIED-06")
def test_calls_beyond_the_cap_share_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many different calls are told apart; no refusal is forgotten, and memory is bounded."""
    monkeypatch.setattr(denials, "DENIED_CAP", 2)
    play = opened(WALL, limited(2))
    assert play("pay(n=1) pay(n=2) pay(n=3) pay(n=4)") == "xxxx"
    assert [seen(play, CLOSES, "pay", n=each) for each in (1, 2, 3, 5)] == [1, 1, 2, 2]
    assert play("look") == "x"
    kept = play.session.snapshot()["denied"]
    assert [len(each["each"]) for each in kept.values()] == [2]


@requirement("S-DENIED-07")
@pytest.mark.parametrize("way", ["short", "long"])
def test_any_number_of_threads_are_refused_exactly_so_often(way: str) -> None:
    """32 threads that try one call: exactly three refusals are without the limit."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    more = (
        [contract("f").guarantees({"ltl": "G(called(pay) -> Y done(x))"})] if way == "long" else []
    )
    try:
        for _ in range(5):
            mine = session(WALL, limited(3), *more)
            found: list[Outcome] = []

            def tries(_: int, mine: Session = mine, found: list[Outcome] = found) -> None:
                found.extend(mine.decide("pay") for _ in range(3))

            at_once(tries)
            names = [[each.contract for each in blocked(one).violations] for one in found]
            assert Counter("tries" in each for each in names) == {False: 3, True: 3 * THREADS - 3}
    finally:
        sys.setswitchinterval(before)


@requirement("S-DENIED-08")
def test_a_snapshot_has_what_was_refused() -> None:
    """A restored session goes on counting; a snapshot from before knows nothing of it."""
    guard = Guard([WALL, limited(2)])
    mine = guard.session()
    early = mine.snapshot()
    for _ in range(2):
        mine.decide("pay")
    again = guard.restore(json.loads(json.dumps(mine.snapshot())))
    assert again.snapshot() == mine.snapshot()
    assert len(blocked(again.decide("pay")).violations) == 2
    assert len(blocked(guard.restore(early).decide("pay")).violations) == 1
    other = Guard([WALL, limited(2, per="tool")])
    assert len(blocked(other.restore(mine.snapshot()).decide("pay")).violations) == 1
    bad = mine.snapshot()
    bad["denied"] = {name: {"each": {"x": -1}, "more": 0} for name in bad["denied"]}
    with pytest.raises(SnapshotError):
        guard.restore(bad | {"seal": seal(bad)})


@requirement("S-DENIED-09")
def test_what_was_refused_too_often_is_closed() -> None:
    """Even where nothing else stands against it any more; the advice says that it is final."""
    mine = session(GATE, limited(3))
    advice = [blocked(mine.decide("pay", {"n": 1})).advice for _ in range(4)]
    assert ["first call `check`" in each for each in advice] == [True, True, False, False]
    assert ["this is final: do not try it again" in each for each in advice[2:]] == [True, True]
    mine.settle(mine.decide("check").id)
    assert isinstance(mine.decide("pay", {"n": 2}), Allowed)
    last = blocked(mine.decide("pay", {"n": 1}))
    assert [each.contract for each in last.violations] == ["tries"]
    assert "this is final" in last.advice
    assert seen(mine, CLOSES, "pay", n=1) == 5
    assert mine.impossible(["pay", "check"]) == frozenset()


@requirement("S-DENIED-09")
def test_a_closed_tool_is_hidden_and_a_person_may_open_it() -> None:
    """Refusals per tool close the tool, for every argument; with `escalate` a person decides."""
    mine = session(GATE, limited(1, per="tool"))
    blocked(mine.decide("pay", {"n": 1}))
    assert mine.impossible(["pay", "check"]) == {"pay"}
    mine = session(GATE, limited(1, "escalate", per="tool"))
    assert "final" not in blocked(mine.decide("pay", {"n": 1})).advice
    mine.settle(mine.decide("check").id)
    held = mine.decide("pay", {"n": 2}, id="1")
    assert isinstance(held, Held)
    mine.approve(held.ticket, by="ann")
    assert isinstance(mine.decide("pay", {"n": 2}, id="1"), Allowed)


def test_advice_is_not_final_where_more_refusals_would_help() -> None:
    """What needs refusals may still be allowed: nothing is said to be for good."""
    mine = session(contract("odd").guarantees({"ltl": "G(called(pay) -> denied(look) > 0)"}))
    advice = blocked(mine.decide("pay")).advice
    assert "final" not in advice
    assert "no short way" in advice


TERMS = ("denied(pay)", "denied(pay, call)", "denied(*, tool)", "denied(called(pay, n = 1))")


@pytest.mark.long
@pytest.mark.parametrize("term", TERMS)
def test_the_term_means_what_its_definition_says(term: str) -> None:
    """On random sessions, fast path and slow, the engine decides as the definition reads."""
    dice = random.Random(term)
    for _ in range(60):
        limit = dice.choice([1, 2, 3])
        rule = read(f"G(called(*) -> {term} < {limit})")
        wall = absent({"tool": "pay", "args": {"n": 1}})
        more = dice.choice(["", "G(called(look) -> Y !called(look))"])
        rules: list[Any] = [wall, rule, *([read(more)] if more else [])]
        mine = session(*(contract(f"{i}").guarantees(each) for i, each in enumerate(rules)))
        body = bridge.translate(rule, ("pay", "look"))[1]
        events: list[oracle.Event] = []
        for _ in range(8):
            tool, n = dice.choice(["pay", "look"]), dice.choice([1, 1, 2])
            facts = ["arg|n|=|1"] if n == 1 else []
            call = oracle.call(tool, *facts, n=n)
            trace = oracle.positions([*events, call], frozenset({"call"}))
            expected = oracle.holds(body, trace, len(trace) - 1)
            outcome = mine.decide(tool, {"n": n})
            refused = isinstance(outcome, Blocked)
            names = [each.contract for each in outcome.violations] if refused else []  # type: ignore[union-attr]
            assert ("1" in names) is not expected, (term, limit, events, call)
            events.append(oracle.refuse(tool, *facts, n=n) if refused else call)
            if not refused:
                mine.settle(outcome.id)


# --- runs that end --------------------------------------------------------------------------------


@requirement("S-STOP-01")
def test_stop_is_the_strictest_answer() -> None:
    """The call is blocked, the outcome says that the run is over, whatever others answer."""
    for strategies in itertools.permutations(["stop", "block", "escalate"]):
        each = [
            contract(name).guarantees(absent({"tool": "drop"})).strategy(name)
            for name in strategies
        ]
        last = blocked(session(*each).decide("drop"))
        assert last.ends_run
        assert last.advice.endswith("this is final, and the run ends here")
    assert not blocked(session(WALL, ENDS).decide("pay")).ends_run
    asks = contract("asks").guarantees(absent({"tool": "drop"})).strategy(lambda _: "stop")
    mine = session(asks, WALL)
    assert blocked(mine.decide("drop")).ends_run
    assert blocked(mine.decide("look")).ends_run


@requirement("S-STOP-02")
def test_nothing_is_let_through_after_the_end() -> None:
    """Calls and responses are blocked, with the name of the contract; what is told is taken."""
    mine = session(WALL, ENDS)
    first = mine.decide("look", id="1")
    last = blocked(mine.decide("drop"))
    assert [str(each.contract) for each in last.violations] == ["ends"]
    for outcome in (mine.decide("look"), mine.decide("pay"), mine.message("assistant", "hi")):
        assert blocked(outcome).ends_run
        assert blocked(outcome).advice == "the run was stopped by `ends`, for good"
    assert all(blocked(each).ends_run for each in mine.decide_batch([("look", {}), ("pay", {})]))
    assert isinstance(mine.message("user", "hi"), Allowed)
    mine.fact("k", 1)
    assert mine.settle(first.id, output="x") == ()
    assert mine.calls == 1


@requirement("S-STOP-01", "S-STOP-02")
def test_a_response_may_end_the_run() -> None:
    """A response that a contract with `stop` refuses ends the run as a call does."""
    mine = session(NO_MESSAGE)
    assert blocked(mine.message("assistant", "fool")).ends_run
    assert blocked(mine.decide("look")).ends_run


@requirement("S-STOP-02")
def test_of_a_substitute_that_ends_the_run_the_call_is_blocked() -> None:
    """A substitute is decided like any call: where it is stopped, the run ends."""
    away = contract("away").guarantees(redirect_to_safe("look", "drop"))
    mine = session(away, ENDS)
    assert blocked(mine.decide("look")).ends_run
    assert blocked(mine.decide("pay")).ends_run


@requirement("S-STOP-03")
def test_a_snapshot_knows_that_the_run_is_over() -> None:
    """A restored session is over as well, unless the contract that ended it is another now."""
    guard = Guard([WALL, ENDS, counting("denied(*)")])
    mine = guard.session()
    mine.decide("drop")
    data = json.loads(json.dumps(mine.snapshot()))
    assert blocked(guard.restore(data).decide("look")).ends_run
    other = contract("ends").guarantees(absent({"tool": "erase"})).strategy("stop")
    assert isinstance(Guard([WALL, other]).restore(data).decide("look"), Allowed)
    assert isinstance(Guard([WALL]).restore(data).decide("look"), Allowed)


@requirement("S-STOP-04")
def test_what_is_only_observed_or_reported_ends_nothing() -> None:
    """An observed contract stops nothing; a result that reveals a violation cannot be stopped."""
    play = opened(ENDS, guard={"mode": "observe"})
    assert play("drop drop look") == "ww."
    late = contract("late").guarantees({"ltl": "G(called(pay) -> !failed(pay))"}).strategy("stop")
    play = opened(late)
    assert play("pay? error:pay look") == ".r."


@requirement("S-STOP-05")
def test_decorated_tools_and_loops_raise_the_end_of_the_run() -> None:
    """`RunStopped` is raised whatever is chosen for calls that are blocked."""
    guard, ran = Guard([WALL, ENDS]), []

    @guard.tool(blocked="return")
    def drop() -> None:
        ran.append("drop")

    @guard.tool(blocked=lambda outcome: outcome.advice)
    def look() -> None:
        ran.append("look")

    @guard.tool(blocked="return")
    def pay() -> None:
        ran.append("pay")

    with guard.session().active():
        assert "not allowed by `wall`" in str(pay())
        with pytest.raises(RunStopped, match="the run ends here"):
            drop()
        with pytest.raises(RunStopped, match="stopped by `ends`") as error:
            look()
    assert ran == []
    assert isinstance(error.value, CallBlocked)
    again = pickle.loads(pickle.dumps(error.value))  # noqa: S301  our own
    assert (type(again), str(again)) == (RunStopped, str(error.value))
    mine = guard.session()
    with pytest.raises(RunStopped), running(mine, "drop"):
        ran.append("drop")
    with pytest.raises(RunStopped):
        said(mine, "hi")
    with pytest.raises(CallBlocked) as other, running(guard.session(), "pay"):
        ran.append("pay")
    assert type(other.value) is CallBlocked
    assert ran == []


@requirement("S-STOP-07")
def test_when_the_run_is_over_every_tool_is_impossible() -> None:
    """All tools are out of the question, also those that no contract speaks of."""
    mine = session(WALL, ENDS)
    assert mine.impossible(["pay", "look", "drop"]) == {"pay", "drop"}
    mine.decide("drop")
    assert mine.impossible(["pay", "look", "drop"]) == {"pay", "look", "drop"}


@requirement("S-STOP-02")
def test_any_number_of_threads_get_one_end() -> None:
    """Once the run has ended in one thread, nothing is let through in another."""
    guard = Guard([ENDS, contract("few").guarantees({"ltl": "G(count(look) <= 50)"})])
    mine, late = guard.session(), list[Outcome]()
    ended = threading.Event()

    def work(number: int) -> None:
        if number == THREADS // 2:
            mine.decide("drop")
            ended.set()
        for _ in range(20):
            over = ended.is_set()
            outcome = mine.decide("look")
            if over:
                late.append(outcome)

    at_once(work)
    late.append(mine.decide("look"))
    assert all(blocked(each).ends_run for each in late)
