"""What a guard learns with the first calls: with few tools at load, else later or by `warm`."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard, Session, contract
from sponsio_like.engine import EAGER_LANES_CAP, Clause
from sponsio_like.errors import ContractError as LoadError
from sponsio_like.events import CUSTOM
from sponsio_like.guard.guard import MANY as MANY_CLAUSES
from sponsio_like.patterns import must_confirm, must_precede, rate_limit
from sponsio_like.syntax import read
from tests.support.costs import work

FAST_PATH = pytest.mark.skipif(
    "SLOW_PATH" in os.environ, reason="there are no lanes on the slow path"
)
MANY = EAGER_LANES_CAP + 1
AGES = 1e9
"""Milliseconds that no test waits for: everything is learned before."""


def guarded(tools: int) -> Guard:
    """A guard whose contracts name so many tools: each needs the one before it."""
    each = (must_precede(f"t{k}", f"t{k + 1}") for k in range(tools - 1))
    return Guard([contract(f"c{k}").guarantees(one) for k, one in enumerate(each)])


def called(guard: Guard, *tools: str) -> str:
    """Which of these calls are allowed, in a session of their own."""
    session = guard.session()
    told = ""
    for tool in tools:
        outcome = session.decide(tool)
        told += "a" if isinstance(outcome, Allowed) else "b"
        session.settle(outcome.id)
    return told


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    """The first arguments of the calls of a function from now on."""
    seen, whole = list[Any](), getattr(owner, name)

    def spy(first: Any, *rest: Any) -> Any:
        seen.append(first)
        return whole(first, *rest)

    monkeypatch.setattr(owner, name, spy)
    return seen


@FAST_PATH
def test_a_guard_of_few_tools_has_all_lanes_at_load() -> None:
    """With few tools no call waits for a lane."""
    guard = guarded(EAGER_LANES_CAP)
    assert all(guard.policy.lanes[f"t{k}"] is not None for k in range(EAGER_LANES_CAP))


@FAST_PATH
def test_many_tools_get_lanes_at_their_second_call() -> None:
    """With many tools loading builds no lane; a tool that is called twice has one, others none."""
    guard = guarded(MANY)
    assert "t0" not in guard.policy.lanes
    assert called(guard, "t0", "t2") == "ab"
    assert "t0" not in guard.policy.lanes
    assert called(guard, "t0", "t1") == "aa"
    assert guard.policy.lanes["t0"] is not None
    assert "t1" not in guard.policy.lanes
    assert called(guard, "t0", "t1", "t3") == "aab"


@FAST_PATH
def test_a_tool_of_many_clauses_has_its_lane_at_load() -> None:
    """A lane that would take long is never built while a call waits."""
    limits = (contract(f"limit {k}").guarantees(rate_limit("t0", 10 + k)) for k in range(12))
    order = (contract(f"c{k}").guarantees(must_precede(f"t{k}", f"t{k + 1}")) for k in range(MANY))
    guard = Guard([*limits, *order])
    assert guard.policy.lanes["t0"] is not None
    assert "t1" not in guard.policy.lanes


@FAST_PATH
def test_after_warming_the_first_calls_learn_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """All lanes are there, and no monitor is asked, from the first call of the first session on."""
    guard = guarded(MANY)
    assert guard.warm(AGES)
    monkeypatch.setattr("sponsio_like.session.fast.named_lane", pytest.fail)
    asked = counted(monkeypatch, Clause, "step")
    assert called(guard, "t0", "t1", "t2") == "aaa"
    assert not asked


@FAST_PATH
def test_after_warming_the_first_advice_costs_what_the_next_one_does() -> None:
    """What the search has to know of the clauses is learned from a call that is refused."""
    cold, warm = guarded(3), guarded(3)
    assert warm.warm(AGES)
    first, again = (work(partial(_advised, each.session())) for each in (warm, warm))
    assert first < 1.1 * again
    assert work(partial(_advised, cold.session())) > 1.5 * again


def _advised(session: Session) -> None:
    outcome = session.decide("t1")
    assert isinstance(outcome, Blocked)
    assert "`t0`" in outcome.advice


def test_warming_stops_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget of ten milliseconds, at two for each look at the clock, is five lessons; then it
    goes on from there.
    """
    guard, time = guarded(MANY), [0.0]

    def clock() -> float:
        time[0] += 0.002
        return time[0]

    lessons = len(guard._lessons)
    assert lessons > 2 * MANY
    monkeypatch.setattr("sponsio_like.guard.guard.time.perf_counter", clock)
    assert not guard.warm(0)
    assert len(guard._lessons) == lessons
    assert not guard.warm(10.5)
    assert len(guard._lessons) == lessons - 5
    assert guard.warm(AGES)
    assert not guard._lessons
    assert guard.warm()


def test_warming_decides_nothing_for_anybody() -> None:
    """Neither sessions that are open nor new ones, nor a log, know of what was rehearsed."""
    told: list[dict[str, Any]] = []
    guard = Guard([contract("few").guarantees(rate_limit("pay", 1))], log=told.append)
    session = guard.session()
    assert guard.warm(AGES)
    assert not told
    assert isinstance(session.decide("pay"), Allowed)
    assert isinstance(session.decide("pay"), Blocked)
    assert called(guard, "pay", "pay") == "ab"


def test_warming_runs_no_code_of_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Atoms that users have registered are not asked, and answers of strategies are not."""
    from sponsio_like import atom

    monkeypatch.setattr("sponsio_like.events.registry.CUSTOM", dict(CUSTOM))
    asked: list[str] = []

    def ask(name: str) -> Callable[..., Any]:
        return lambda *_: asked.append(name)

    atom("asked_by_nobody")(ask("atom"))
    guard = Guard(
        [
            contract("asks").guarantees(read("G(called(pay) -> asked_by_nobody())")),
            contract("never").guarantees(read("G !called(nuke)")).strategy(ask("strategy")),
        ]
    )
    assert guard.warm(AGES)
    assert not asked


@FAST_PATH
def test_atoms_of_patterns_that_read_answers_are_no_code_of_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A contract with `must_confirm` does not keep calls of other tools from being learned."""
    each = (must_precede(f"t{k}", f"t{k + 1}") for k in range(MANY))
    rules = (must_confirm("t0", by="ask"), *each)
    guard = Guard([contract(f"c{k}").guarantees(one) for k, one in enumerate(rules)])
    assert guard.warm(AGES)
    asked = counted(monkeypatch, Clause, "step")
    assert called(guard, "t1", "t2") == "bb"
    assert not asked


@pytest.mark.parametrize("given", [-1, float("nan"), "50", None, True])
def test_a_budget_is_a_number_of_milliseconds(given: Any) -> None:
    """Anything else is refused."""
    with pytest.raises(ContractError, match="milliseconds"):
        guarded(2).warm(given)


def test_the_collector_is_as_it_was_after_loading(tmp_path: Path) -> None:
    """It is paused while contracts load, also when they are refused, and left off if it was off."""
    path = tmp_path / "bad.yaml"
    path.write_text("version: 1\ncontracts: [{name: a, guarantee: 'G called('}]", "utf-8")
    for switch, on in ((gc.disable, False), (gc.enable, True)):
        switch()
        guarded(2)
        with pytest.raises(LoadError):
            Guard.from_yaml(path)
        assert gc.isenabled() is on


def test_the_collector_runs_at_the_end_of_a_long_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """After many contracts it runs once, so that no call waits for it; after few, or off, never."""
    runs: list[str] = []
    monkeypatch.setattr("sponsio_like.guard.guard.gc.collect", lambda _: runs.append("run"))
    guarded(MANY_CLAUSES)
    assert not runs
    guarded(MANY_CLAUSES + 1)
    assert runs == ["run"]
    monkeypatch.setattr("sponsio_like.guard.guard.gc.isenabled", lambda: False)
    guarded(MANY_CLAUSES + 1)
    assert runs == ["run"]
