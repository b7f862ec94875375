"""Risk at run time: looked up before each call that contracts have let through."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import (
    Allowed,
    Blocked,
    CallBlocked,
    Contract,
    ContractError,
    Guard,
    Held,
    Redirected,
    SessionError,
    contract,
)
from sponsio_like.errors import RiskError
from sponsio_like.risk import RiskModel, RiskPolicy, learn
from tests.risk.runs import contracts, trace
from tests.semantics.manifest import requirement

SAFE = ["look", "send", "send"]
RISKY = ["look", "pay", "pay", "pay"]
"""Runs that send once stay safe; of those that pay twice most pay again."""


def model(**options: Any) -> RiskModel:
    """480 safe runs; 60 that pay twice, of which 50 go on to a third payment; 3 odd ones."""
    runs = (
        [SAFE] * 80
        + [["look", "pay", "send"]] * 400
        + [RISKY] * 50
        + [RISKY[:3]] * 10
        + [["look", "look", "send"]] * 3
    )
    return learn(contracts(), [trace(calls, f"{i}") for i, calls in enumerate(runs)], **options)


MODEL = model()


def guard(policy: RiskPolicy | None = None, **options: Any) -> Guard:
    """The guard of the contracts, with a policy of risk."""
    return Guard(contracts(), risk=policy, **options)


def went(session: Any, *calls: str) -> None:
    """Let these calls run, as they may."""
    for each in calls:
        outcome = session.decide(each)
        assert isinstance(outcome, Allowed), (each, outcome)
        session.settle(outcome.id)


def policy(**options: Any) -> RiskPolicy:
    """A policy with a threshold of one half."""
    return RiskPolicy(MODEL, **{"threshold": 0.5, "least": 20, **options})


def test_a_state_below_the_threshold_is_let_through() -> None:
    """Where the upper bound is at most the threshold, nothing is said; the run goes to its end."""
    session = guard(policy()).session()
    went(session, *SAFE)


def test_a_run_is_turned_before_its_violation() -> None:
    """The second payment violates nothing, and leads where most runs end badly: it is stopped."""
    session = guard(policy(on_risk="block")).session()
    went(session, "look", "pay")
    outcome = session.decide("pay", id="p2")
    assert isinstance(outcome, Blocked)
    assert [each.contract for each in outcome.violations] == ["risk"]
    assert "50 of 60 recorded runs that called `pay` after look, pay ended badly" in outcome.advice
    assert "`send`" not in outcome.violations[0].message


INTERVENTIONS: dict[str, tuple[Any, Callable[[Any], bool]]] = {
    "stop": ("stop", lambda out: isinstance(out, Blocked) and out.ends_run),
    "user_inspection": ("user_inspection", lambda out: isinstance(out, Held)),
    "escalate": ({"escalate": {"roles": ["chief"]}}, lambda out: out.ticket.roles == ("chief",)),
    "llm_self_examine": ("llm_self_examine", lambda out: isinstance(out, Blocked)),
    "invoke_action": (
        {"invoke_action": {"to": "send"}},
        lambda out: isinstance(out, Redirected) and out.tool == "send",
    ),
    "warn": ("warn_only", lambda out: isinstance(out, Allowed) and bool(out.warnings)),
    "callable": (lambda violation: "block", lambda out: isinstance(out, Blocked)),
}


@pytest.mark.parametrize("name", INTERVENTIONS)
def test_interventions_are_the_strategies_that_exist(name: str) -> None:
    """Each intervention does what the strategy of its name does."""
    answer, fits = INTERVENTIONS[name]
    session = guard(policy(on_risk=answer)).session()
    went(session, "look", "pay")
    assert fits(session.decide("pay", id="p2"))


def test_a_run_that_was_stopped_stays_stopped_when_it_is_restored() -> None:
    """`stop` ends the run for good, over snapshots, too."""
    here = guard(policy(on_risk="stop"))
    session = here.session()
    went(session, "look", "pay")
    session.decide("pay")
    again = here.restore(session.snapshot())
    for each in (session, again):
        assert isinstance(each.decide("send"), Blocked)


@requirement("S-RISK-10")
def test_the_model_is_asked_to_examine_itself_a_limited_number_of_times() -> None:
    """After that the policy does what it says next; a restored session has not forgotten."""
    here = guard(policy(on_risk={"llm_self_examine": {"times": 2, "then": "escalate"}}))
    session = here.session()
    went(session, "look", "pay")
    assert isinstance(session.decide("pay"), Blocked)
    session = here.restore(session.snapshot())
    assert isinstance(session.decide("pay"), Blocked)
    assert isinstance(session.decide("pay"), Held)


def test_an_approved_call_runs_once() -> None:
    """A person who says yes lets this very call through, also over a snapshot."""
    here = guard(policy())
    session = here.session()
    went(session, "look", "pay")
    held = session.decide("pay", id="p2")
    assert isinstance(held, Held)
    session.approve(held.ticket, by="ann")
    session = here.restore(session.snapshot())
    assert isinstance(session.decide("pay", id="p2"), Allowed)


@requirement("S-RISK-02")
def test_states_never_seen_are_asked_about_and_never_just_allowed() -> None:
    """An unknown state, or tool: a person is asked in enforce; it is told in observe."""
    session = guard(policy()).session()
    assert isinstance(session.decide("fly"), Held)
    went(session, "look")
    assert isinstance(session.decide("fly"), Held)
    watching = guard(policy(), mode="observe").session()
    outcome = watching.decide("fly")
    assert isinstance(outcome, Allowed)
    assert [each.contract for each in outcome.observed] == ["risk"]
    told = guard(policy(on_unknown="log")).session().decide("fly")
    assert isinstance(told, Allowed)
    assert [each.contract for each in told.warnings] == ["risk"]


@requirement("S-RISK-01")
def test_between_the_bounds_is_unknown() -> None:
    """Where the interval lies on both sides of the threshold, nobody is sure: it is asked."""
    doubtful = RiskPolicy(MODEL, threshold=0.83, on_risk="block", least=20)
    session = guard(doubtful).session()
    went(session, "look", "pay")
    assert isinstance(session.decide("pay"), Held)


@requirement("S-RISK-07")
def test_few_runs_back_off_to_a_shorter_past() -> None:
    """A state that few runs came to is judged by all that came there with fewer calls before."""
    for least, by, reach, runs in ((20, "backoff", 1, 83), (3, "observed", 2, 3)):
        session = guard(policy(least=least, on_unknown="log")).session()
        went(session, "look", "look")
        (found,) = session.risks(["send"])
        assert (found.by, found.reach, found.runs) == (by, reach, runs)


def test_the_safest_tool_comes_first() -> None:
    """`risks` orders tools by their upper bound, what is unknown last, and changes nothing."""
    session = guard(policy()).session()
    went(session, "look", "pay")
    before = session.snapshot()
    found = session.risks(["fly", "pay"])
    assert [each.state[2] for each in found] == ["pay", "fly"]
    assert (found[1].lo, found[1].hi, found[1].by) == (0.0, 1.0, "unknown")
    assert session.snapshot() == before
    with pytest.raises(SessionError, match=r"open it with session\(risk=\.\.\)"):
        Guard(contracts()).session().risks(["pay"])


def test_contracts_come_first() -> None:
    """A call that a contract refuses is refused by that, and risk is not asked."""
    session = guard(policy()).session()
    outcome = session.decide("pay")
    assert isinstance(outcome, Blocked)
    assert [each.contract for each in outcome.violations] == ["look first"]


@pytest.mark.parametrize("logged", [True, False])
def test_the_session_of_a_guard_without_a_policy_may_have_one(logged: bool) -> None:
    """`session(risk=..)` holds for one session; the log has the same outcomes with and without."""
    records: list[Any] = []
    here = Guard(contracts(), log=records.append if logged else None)
    with_risk, without = here.session(risk=policy(on_risk="block")), here.session()
    for each in (with_risk, without):
        went(each, "look", "pay")
    assert isinstance(with_risk.decide("pay"), Blocked)
    assert isinstance(without.decide("pay"), Allowed)


def test_records_have_the_state_and_its_evidence() -> None:
    """Each decision in the log says state, runs, hits, bounds, horizon and threshold."""
    records: list[Any] = []
    session = guard(policy(on_risk="block", horizon=3), log=records.append).session()
    went(session, "look", "pay")
    session.decide("pay")
    told = [each["risk"] for each in records if each["event"] == "decision"]
    assert [each["state"][2] for each in told] == ["look", "pay", "pay"]
    last = told[-1]
    assert (last["runs"], last["hits"], last["horizon"], last["threshold"]) == (60, 50, 3, 0.5)
    assert 0.7 < last["lo"] < 50 / 60 < last["hi"] < 0.95
    json.dumps(records)


def test_a_snapshot_keeps_the_last_calls() -> None:
    """A restored session is in the state that the snapshot was made in."""
    here = guard(policy(on_risk="block"))
    session = here.session()
    went(session, "look", "pay")
    again = here.restore(session.snapshot())
    assert isinstance(again.decide("pay"), Blocked)


@requirement("S-RISK-11")
def test_a_snapshot_without_risk_makes_every_state_unknown() -> None:
    """Where nobody knows the last calls, no state is known, so that none is allowed by accident."""
    session = Guard(contracts()).session()
    went(session, "look")
    again = guard(policy()).restore(session.snapshot())
    assert isinstance(again.decide("send"), Held)
    session = Guard(contracts()).session()
    went(session, "send")  # which leaves every monitor as it was at the beginning
    again = guard(policy()).restore(session.snapshot())
    assert isinstance(again.decide("look"), Held)


def test_the_slow_path_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the fast path, every decision is the same."""
    import sponsio_like.session.session as sessions

    def outcomes() -> list[str]:
        session = guard(policy(on_risk="block")).session()
        out = []
        for each in ("look", "send", "pay", "fly", "pay", "pay", "send"):
            outcome = session.decide(each)
            out.append(type(outcome).__name__)
            if isinstance(outcome, Allowed):
                session.settle(outcome.id)
        return out

    fast = outcomes()
    monkeypatch.setattr(sessions, "try_fast", lambda *_: None)
    monkeypatch.setattr(sessions, "settle_fast", lambda *_, **__: None)
    assert outcomes() == fast


def test_parallel_calls_are_seen_in_flight() -> None:
    """A call that has no result yet is part of the state, as one that still runs."""
    session = guard(policy()).session()
    assert isinstance(session.decide("look", id="a"), Allowed)
    outcome = session.decide("send", id="b")
    assert isinstance(outcome, Held)  # no recorded run sent while a look was in flight


def test_decorated_tools_are_looked_up(tmp_path: Path) -> None:
    """Tools of `guard.tool` raise as for a contract, with the evidence as advice."""
    here = guard(policy(on_risk="block"))

    @here.tool
    def look() -> str:
        return "seen"

    @here.tool
    def pay() -> str:
        return "paid"

    with here.session().active():
        look()
        pay()
        with pytest.raises(CallBlocked, match="50 of 60 recorded runs"):
            pay()


def test_the_kill_switch_of_the_guard_holds_for_risk() -> None:
    """Where all contracts are switched to observe, risk only observes, in open sessions too."""
    here = guard(policy(on_risk="block"))
    session = here.session()
    went(session, "look", "pay")
    here.switch.turn_off(by="ann")
    outcome = session.decide("pay")
    assert isinstance(outcome, Allowed)
    assert [each.contract for each in outcome.observed] == ["risk"]


def test_risk_is_switched_by_itself() -> None:
    """Risk alone observes while contracts are enforced, and is enforced again."""
    here = guard(policy(on_risk="block"))
    session = here.session()
    went(session, "look", "pay")
    here.switch.turn_off("risk", by="ann")
    assert here.switch.off == ("risk",)
    outcome = session.decide("pay", id="p2")
    assert isinstance(outcome, Allowed)
    assert [each.contract for each in outcome.observed] == ["risk"]
    assert isinstance(session.decide("pay"), Blocked)  # by a contract: the third payment
    here.switch.turn_on("risk")
    session = here.session()
    went(session, "look", "pay")
    assert isinstance(session.decide("pay"), Blocked)


def test_contracts_are_switched_without_risk() -> None:
    """A contract that observes lets its calls run, and risk goes on."""
    here = guard(policy(on_risk="block"))
    here.switch.turn_off("two payments at most")
    session = here.session()
    went(session, "look", "pay")
    assert isinstance(session.decide("pay"), Blocked)


def test_a_guard_without_risk_has_no_switch_for_it() -> None:
    """The name is as unknown as any other that no contract has."""
    with pytest.raises(ContractError, match="there is no contract `risk`"):
        Guard(contracts()).switch.turn_off("risk")


# --- what is wrong is an error ----------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0, 1, -0.1, 1.5, float("nan"), True, "0.5", None])
def test_a_threshold_outside_of_its_range_is_refused(threshold: Any) -> None:
    """A threshold is a number between 0 and 1, both excluded."""
    with pytest.raises(RiskError, match="write a number between 0 and 1"):
        RiskPolicy(MODEL, threshold)


@pytest.mark.parametrize(
    "options", [{"confidence": 1}, {"least": 0}, {"mode": "watch"}, {"horizon": 2}]
)
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    """Each option says what to write instead."""
    with pytest.raises(RiskError, match="write"):
        policy(**options)


@pytest.mark.parametrize("on_risk", ["log", "blok", {"llm_self_examine": {"times": 0}}])
def test_interventions_that_stop_nothing_or_do_not_exist_are_refused(on_risk: Any) -> None:
    """`log` is for what is unknown; a misspelt strategy is none."""
    with pytest.raises(ContractError):
        policy(on_risk=on_risk)


@requirement("S-RISK-09")
def test_a_model_of_other_contracts_is_refused() -> None:
    """Contracts that have changed meaning, or one more, or one less: the guard is not made."""
    changed = contract("look first").guarantees("tool `look` must precede `send`")
    for given in ([contracts()[0], changed], contracts()[:1], [*contracts(), named("more")]):
        with pytest.raises(RiskError, match="learned under other contracts"):
            Guard(given, risk=policy())


def named(name: str) -> Contract:
    """A contract of this name."""
    return contract(name).guarantees("tool `fly` at most 9 times")


def test_risk_that_is_enforced_beside_contracts_that_observe_is_refused() -> None:
    """A policy that would look armed where nothing is enforced is an error."""
    with pytest.raises(RiskError, match="and no contract is"):
        guard(policy(mode="enforce"), mode="observe")
    session = guard(policy(mode="observe")).session()
    assert isinstance(session.decide("fly"), Allowed)


# --- the contract file ------------------------------------------------------------------------

FILE = """\
version: 1
contracts:
  - name: two payments at most
    guarantee: tool `pay` at most 2 times
  - name: look first
    guarantee: tool `look` must precede `pay`
risk:
  model: risk.json
  threshold: 0.5
  least: 20
  on_risk: {llm_self_examine: {times: 1, then: stop}}
"""


def test_a_contract_file_may_have_a_section_risk(tmp_path: Path) -> None:
    """The model lies beside the file; every session of the guard is looked up."""
    MODEL.save(tmp_path / "risk.json")
    (tmp_path / "contracts.yaml").write_text(FILE)
    session = Guard.from_yaml(tmp_path / "contracts.yaml").session()
    went(session, "look", "pay")
    first, second = session.decide("pay"), session.decide("pay")
    assert isinstance(first, Blocked)
    assert isinstance(second, Blocked)
    assert (first.ends_run, second.ends_run) == (False, True)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("threshold: 0.5", "threshold: 1.5", "9:14"),
        ("  threshold: 0.5\n", "", "8:3"),
        ("least: 20", "leest: 20", "10:3"),
        ("times: 1", "times: 0", "11:"),
        ("on_risk:", "on_risk: log #", "11:"),
    ],
)
def test_mistakes_in_the_section_are_told_with_their_place(
    old: str, new: str, place: str, tmp_path: Path
) -> None:
    """The section is read as strictly as the rest of the file."""
    (tmp_path / "contracts.yaml").write_text(FILE.replace(old, new))
    with pytest.raises(ContractError) as caught:
        Guard.from_yaml(tmp_path / "contracts.yaml")
    assert f"contracts.yaml:{place}" in str(caught.value)


def test_a_model_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """A file whose model is missing, or damaged, makes no guard."""
    (tmp_path / "contracts.yaml").write_text(FILE)
    with pytest.raises(RiskError, match=r"risk\.json: cannot be read"):
        Guard.from_yaml(tmp_path / "contracts.yaml")
    (tmp_path / "risk.json").write_text("{}")
    with pytest.raises(RiskError, match="not a model"):
        Guard.from_yaml(tmp_path / "contracts.yaml")
