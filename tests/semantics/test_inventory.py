"""The inventory: what an agent has, and what becomes of calls of anything else."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard, Redirected, Session, contract
from sponsio_like.loader import loads
from sponsio_like.patterns import must_precede, rate_limit
from sponsio_like.replay import Replay
from sponsio_like.trace import trace_of
from tests.manifest import requirement

GATE = contract("gate").guarantees(must_precede("check", "pay"))
FIELDS: dict[str, Any] = {"pay": {"fields": {"to": "string", "n": "integer"}}, "check": None}


def session_of(tools: Any = ("check", "pay"), *more: Any, **options: Any) -> Session:
    """A session of a guard with this inventory."""
    return Guard([GATE, *more], tools=tools, **options).session()


def called(session: Session, tool: str, args: Mapping[str, Any] | None = None) -> str:
    """`""` if the call is let through, else the contract that stands against it."""
    outcome = session.decide(tool, args)
    if isinstance(outcome, Allowed):
        session.settle(outcome.id)
        return ""
    assert isinstance(outcome, Blocked)
    return ", ".join(each.contract for each in outcome.violations)


@requirement("S-INV-01")
def test_what_is_not_listed_is_refused() -> None:
    """A call of a tool that the inventory does not have violates `tools`; nothing counts it."""
    records: list[dict[str, Any]] = []
    few = contract("few").guarantees(rate_limit("*", 2))
    session = session_of(("check", "pay"), few, log=records.append)
    assert [called(session, tool) for tool in ("nuke", "chek", "check", "pay")] == [
        "tools",
        "tools",
        "",
        "",
    ]
    outcome = session.decide("chek", {"n": 1})
    assert isinstance(outcome, Blocked)
    assert "tool `chek` is not listed); did you mean `check`?" in outcome.advice
    assert outcome.violations[0].action == "blocked"
    assert [each["violations"][0]["contract"] for each in records[:1]] == ["tools"]
    assert records[0]["outcome"] == "blocked"
    assert session.impossible(["check", "nuke"]) == {"check", "nuke"}  # `check`: enough calls


@requirement("S-INV-02")
def test_an_argument_that_is_not_declared_is_refused() -> None:
    """Only declared arguments may be given; null is none, and undeclared tools take any."""
    session = session_of(FIELDS)
    assert called(session, "check", {"anything": 1}) == ""
    assert called(session, "pay", {"to": "a", "n": 1}) == ""
    assert called(session, "pay", {"to": "a", "bcc": "mallory"}) == "tools"
    assert called(session, "pay", {"to": "a", "bcc": None}) == ""
    outcome = session.decide("pay", {"too": "a"})
    assert isinstance(outcome, Blocked)
    assert "`pay` has no argument `too`); did you mean `to`?" in outcome.advice


KINDS: dict[str, tuple[list[Any], list[Any]]] = {
    "string": (["", "five", None], [5, True, ["a"], {"a": 1}]),
    "number": ([5, 5.5, Decimal("5.5"), -1, None], ["5", True, [5]]),
    "integer": ([5, 5.0, Decimal("5.0"), None], ["five", "5", 5.5, True, float("inf"), [5]]),
    "boolean": ([True, False, None], [1, 0, "true"]),
    "array": ([[], [1, "a"], None], ["a", {"a": 1}, 5]),
    "object": ([{}, {"a": 1}, None], [[], "{}", 5]),
    "any": ([5, "a", [], {}, True, None], []),
    "[string]": ([[], ["a", "b"], None], ["a", ["a", 5], [None]]),
}


@requirement("S-INV-03")
@pytest.mark.parametrize("kind", KINDS)
def test_a_value_of_another_kind_is_refused(kind: str) -> None:
    """Each kind is checked at each call, as JSON understands it."""
    right, wrong = KINDS[kind]
    session = session_of({"check": {"fields": {"v": kind}}, "pay": None})
    assert [each for each in right if called(session, "check", {"v": each})] == []
    assert [each for each in wrong if called(session, "check", {"v": each}) != "tools"] == []
    assert called(session, "check", {}) == ""


@requirement("S-INV-03")
def test_what_cannot_be_read_is_of_no_kind() -> None:
    """An object that is no data is none of the declared kinds, and the refusal says so."""
    outcome = session_of(FIELDS).decide("pay", {"to": object()})
    assert isinstance(outcome, Blocked)
    assert "it cannot be read" in outcome.advice


@requirement("S-INV-03")
def test_declared_paths_are_looked_for() -> None:
    """A field may be a path: then every value there is of its kind."""
    fields = {"items[].sku": "string", "who": "object", "who.age": "integer"}
    session = session_of({"check": {"fields": fields}, "pay": None})
    assert called(session, "check", {"items": [{"sku": "a"}], "who": {"age": 3}}) == ""
    assert called(session, "check", {"items": [{"sku": "a"}, {"sku": 5}]}) == "tools"
    assert called(session, "check", {"who": {"age": "3"}}) == "tools"


@requirement("S-INV-03")
@pytest.mark.parametrize("kind", ["path", "email", "command", "nubmer", 5, None, "[path]", []])
def test_a_kind_that_nothing_checks_is_refused(kind: Any) -> None:
    """What would not be checked cannot be declared."""
    with pytest.raises(ContractError, match="unknown kind"):
        session_of({"check": {"fields": {"v": kind}}, "pay": None})


@requirement("S-INV-04")
def test_unlisted_tools_may_be_allowed() -> None:
    """`unlisted: allow` lets any tool and any argument through, but no value of another kind."""
    session = session_of(FIELDS, unlisted="allow")
    calls: list[tuple[str, Any]] = [("nuke", {}), ("check", {}), ("pay", {"bcc": "a"})]
    assert [called(session, *each) for each in calls] == ["", "", ""]
    assert called(session, "pay", {"n": "five"}) == "tools"
    with pytest.raises(ContractError, match="without `tools`"):
        session_of(None, unlisted="allow")


@requirement("S-INV-05")
@pytest.mark.parametrize("contracts", ["observe", "enforce", None])
@pytest.mark.parametrize("mode", ["observe", "enforce"])
def test_the_inventory_has_the_mode_of_the_guard(mode: Any, contracts: Any) -> None:
    """It observes where the guard does, and where no contract is enforced; the call then runs."""
    gate = GATE if contracts is None else GATE.in_mode(contracts)
    records: list[dict[str, Any]] = []
    session = Guard([gate], mode=mode, tools=["check", "pay"], log=records.append).session()
    outcome = session.decide("nuke")
    refuses = mode == "enforce" and contracts != "observe"
    assert isinstance(outcome, Blocked if refuses else Allowed)
    assert session.calls == (not refuses)
    found = outcome.violations if isinstance(outcome, Blocked) else outcome.observed
    assert [(each.contract, each.tool, each.mode) for each in found] == [
        ("tools", "nuke", "enforce" if refuses else "observe")
    ]
    assert [each["contract"] for each in records[0]["violations"]] == ["tools"]


@requirement("S-INV-05")
def test_a_replay_reports_what_is_not_listed() -> None:
    """A recorded call of another tool is a violation of `tools`, with its position."""
    file = loads(
        "version: 1\ntools: [check, pay]\ncontracts:\n- name: gate\n"
        "  guarantee: {pattern: must_precede, first: check, then: pay}\n"
    )
    trace = trace_of({"id": "t", "events": [{"tool": "check"}, {"tool": "nuke"}, {"tool": "pay"}]})
    judged = Replay(file.contracts, tools=file.inventory).judge(trace)
    assert [(v.contract, v.position, v.tool, v.action) for v in judged.violations] == [
        ("tools", 1, "nuke", "blocked")
    ]


@requirement("S-INV-06")
def test_a_substitute_is_held_to_the_inventory() -> None:
    """A substitute with arguments that it does not have is refused, and so is the call."""
    away = contract("away").guarantees(
        {"pattern": "redirect_to_safe", "unsafe": "rm", "safe": "trash"}
    )
    tools = {"trash": {"fields": {"path": "string"}}, "rm": None, "check": None, "pay": None}
    session = session_of(tools, away)
    assert isinstance(session.decide("rm", {"path": "a"}), Redirected)
    outcome = session.decide("rm", {"path": "a", "force": True})
    assert isinstance(outcome, Blocked)
    assert "`trash` has no argument `force`" in outcome.advice
    with pytest.raises(ContractError, match="`trash` cannot run instead"):
        session_of(["rm", "check", "pay"], away)
    with pytest.raises(ContractError, match="`trash` cannot run instead"):
        session_of(["rm", "check", "pay"], away, elsewhere=["trash"])


@requirement("S-INV-07")
def test_tools_of_other_agents_can_be_named_and_not_called() -> None:
    """`elsewhere` are names for contracts; a call of one is a call of a tool that is not listed."""
    approved = contract("approved").guarantees(must_precede("approve", "pay"))
    with pytest.raises(ContractError, match="unknown tool `approve`"):
        session_of(("check", "pay"), approved)
    session = session_of(("check", "pay"), approved, elsewhere=["approve"])
    assert called(session, "approve") == "tools"
    with pytest.raises(ContractError, match="of this agent, and of another one"):
        session_of(("check", "pay"), elsewhere=["pay"])
    text = "version: 1\ntools: [pay]\nelsewhere: [check]\ncontracts:\n- name: gate\n"
    file = loads(f"{text}  guarantee: {{pattern: must_precede, first: check, then: pay}}\n")
    assert file.inventory.elsewhere == ("check",)


@requirement("S-INV-03", "S-INV-01")
def test_the_short_way_says_what_the_long_way_says() -> None:
    """With an inventory, a call is decided alike whether its tool has a lane or not."""
    guard = Guard([GATE], tools=FIELDS)
    short, long = guard.session(), guard.session()
    long._direct = False
    calls: list[tuple[str, Any]] = [
        ("check", {}),
        ("pay", {"n": 5, "to": "a"}),
        ("pay", {"n": "5"}),
        ("pay", {"x": 1}),
        ("nuke", {}),
        ("pay", {}),
    ]
    said = [[called(session, *each) for each in calls] for session in (short, long)]
    assert said[0] == said[1] == ["", "", "tools", "tools", "tools", ""]
    assert guard.policy.lanes["nuke"] is None
    assert guard.policy.lanes["check"] is not None
