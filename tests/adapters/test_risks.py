"""Behaviours of every adapter: risk, which is looked up after contracts have let a call through."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from sponsio_like.risk import RiskModel, RiskPolicy, learn
from tests.adapters.harness import Open
from tests.adapters.rules import check, checked, delete, few, pay, send, yes
from tests.risk.runs import trace

CONTRACTS = (checked(), few("pay", 2))
WELL, BADLY = ["check", "pay", "send"], ["check", "pay", "pay", "pay"]


@cache
def model() -> RiskModel:
    """400 runs that pay once, and 60 that pay twice, of which 50 go on to a third payment."""
    runs = [WELL] * 400 + [BADLY] * 50 + [BADLY[:3]] * 10
    return learn(CONTRACTS, [trace(each, str(i)) for i, each in enumerate(runs)])


def policy(**options: Any) -> RiskPolicy:
    """Below one half a call is let through."""
    return RiskPolicy(model(), **{"threshold": 0.5, "least": 20, **options})


def test_a_risky_call_is_refused_with_its_evidence(opened: Open) -> None:
    """No contract forbids the second payment; most runs that made it ended badly."""
    stage = opened(*CONTRACTS, risk=policy(on_risk="block"))
    report = stage.run([check("a")], [pay(1, "b")], [pay(2, "c")], [send("done", "d")])
    assert "50 of 60 recorded runs" in report.refused("c")
    assert stage.tools() == ["check", "pay", "send"]


def test_a_risky_call_waits_for_a_person_and_runs_once(opened: Open) -> None:
    """Approved, it runs; nobody is asked about the calls around it."""
    stage = opened(*CONTRACTS, risk=policy())
    turns = [check("a")], [pay(1, "b")], [pay(2, "c")]
    report = stage.run(*turns, people=[yes("c")])
    assert {each.call for each in report.shown} == {"c"}
    assert stage.tools() == ["check", "pay", "pay"]


@pytest.mark.long
def test_a_risky_call_is_redirected(opened: Open) -> None:
    """The substitute of the policy runs in its place: of 60 runs that delete, 50 do it again."""
    rule = few("delete", 1)
    runs = [["check", "send"]] * 400 + [["delete", "delete"]] * 50 + [["delete", "send"]] * 10
    learned = learn([rule], [trace(each, str(i)) for i, each in enumerate(runs)])
    away = {"invoke_action": {"to": "trash", "map": {"path": "file"}}}
    stage = opened(rule, risk=RiskPolicy(learned, 0.5, on_risk=away))
    report = stage.run([delete("x", "a")])
    report.result("a")
    assert stage.tools() == ["trash"]


def test_a_call_that_no_run_has_made_is_asked_about(opened: Open) -> None:
    """Its risk is not known, which is no reason to let it run."""
    stage = opened(*CONTRACTS, risk=policy())
    report = stage.run([check("a")], [delete("x", "b")])
    assert report.waiting == {"b"}
    assert stage.tools() == ["check"]


def test_a_risky_call_of_a_batch_leaves_the_others_alone(opened: Open) -> None:
    """Each call of the turn is looked up by itself."""
    stage = opened(*CONTRACTS, risk=policy(on_risk="block", on_unknown="warn_only"))
    report = stage.run([check("a")], [pay(1, "b")], [pay(2, "c"), send("done", "d")])
    assert "recorded runs" in report.refused("c")
    report.result("d")
    assert stage.tools() == ["check", "pay", "send"]


def test_contracts_come_before_risk(opened: Open) -> None:
    """A call that a contract forbids is answered by the contract; people are asked by it first."""
    stage = opened(*CONTRACTS, risk=policy(on_risk="block"))
    report = stage.run([pay(1, "a")])
    assert "recorded runs" not in report.refused("a")
    assert stage.tools() == []


def test_risk_that_is_observed_lets_calls_run(opened: Open) -> None:
    """The log has what would have been done."""
    stage = opened(*CONTRACTS, risk=policy(on_risk="block", mode="observe"))
    report = stage.run([check("a")], [pay(1, "b")], [pay(2, "c")])
    report.result("c")
    assert stage.tools() == ["check", "pay", "pay"]
    assert stage.actions("pay") == ["blocked"]
