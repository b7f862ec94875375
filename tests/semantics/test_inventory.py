"""The inventory: what an agent has, and what becomes of calls of anything else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sponsio_like import (
    Allowed,
    Blocked,
    ContractError,
    ContractWarning,
    Guard,
    Redirected,
    Session,
    contract,
)
from sponsio_like.cli import app
from sponsio_like.contracts.loader import loads
from sponsio_like.patterns import must_precede, rate_limit
from sponsio_like.replay.replay import Replay
from sponsio_like.syntax import read
from sponsio_like.traces.trace import trace_of
from tests.semantics.manifest import requirement

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


LONG_HALF = Decimal("1" * 40 + ".5")
KINDS: dict[str, tuple[list[Any], list[Any]]] = {
    "string": (["", "five", None], [5, True, ["a"], {"a": 1}]),
    "number": ([5, 5.5, Decimal("5.5"), -1, None], ["5", True, [5]]),
    "integer": (
        [5, 5.0, Decimal("5.0"), 10**40, 1e40, Decimal("1e40"), Decimal(10**40 + 1), None],
        ["five", "5", 5.5, True, float("inf"), Decimal("inf"), Decimal("sNaN"), [5], LONG_HALF],
    ),
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
@pytest.mark.parametrize("kind", ["pathe", "uri", "command", "nubmer", 5, None, "[uri]", []])
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
    with pytest.warns(ContractWarning, match="`approve` is a tool of another agent"):
        session = session_of(("check", "pay"), approved, elsewhere=["approve"])
    assert called(session, "approve") == "tools"
    with pytest.raises(ContractError, match="of this agent, and of another one"):
        session_of(("check", "pay"), elsewhere=["pay"])
    text = "version: 1\ntools: [pay]\nelsewhere: [check]\ncontracts:\n- name: gate\n"
    file = loads(f"{text}  guarantee: {{pattern: must_precede, first: check, then: pay}}\n")
    assert file.inventory.elsewhere == ("check",)
    with pytest.raises(ContractError, match="`check` is not a list of tools"):
        loads(f"{text.replace('[check]', 'check')}  guarantee: {{pattern: absent, match: pay}}\n")
    with pytest.raises(ContractError, match="`approve` is not a list of tools"):
        session_of(("check", "pay"), elsewhere="approve")


@requirement("S-INV-03", "S-INV-01")
def test_the_fast_path_says_what_the_slow_path_says() -> None:
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
    if "SLOW_PATH" not in os.environ:  # there every call is decided by the readable monitor
        assert guard.policy.lanes["nuke"] is None
        assert guard.policy.lanes["check"] is not None


# --- where contracts meet tools -------------------------------------------------------------------


def pay(to: str, n: int = 0) -> str:
    """Pay."""
    return f"{n} to {to}"


def check() -> bool:
    """Check."""
    return True


def bare(*guarantees: Any, **options: Any) -> Guard:
    """A guard that knows no tools; one contract for each guarantee."""
    rules = [contract(f"c{n}").guarantees(each) for n, each in enumerate(guarantees)]
    return Guard(rules, **options)


Meets = Callable[[Guard, list[Any]], object]


def by_langchain(guard: Guard, tools: list[Any]) -> None:
    """The tools of an agent."""
    from sponsio_like.adapters.langchain import guarded

    guarded(guard, tools)


def by_langgraph(guard: Guard, tools: list[Any]) -> None:
    """The tools of a node."""
    from langgraph.graph import MessagesState, StateGraph

    from sponsio_like.adapters.langgraph import guard_tools

    guard_tools(StateGraph(MessagesState), guard, tools)


def by_wrap(guard: Guard, tools: list[Any]) -> None:
    """Decorated tools, and a session that becomes active."""
    guard.wrap(tools)
    with guard.session().active():
        pass


def by_call(guard: Guard, tools: list[Any]) -> None:
    """Decorated tools, of which one is called in a session of its own."""
    session = guard.session()
    made = {each: guard.tool(each, session=session) for each in tools}
    made[check]()


MEETINGS: list[Meets] = [by_langchain, by_langgraph, by_wrap, by_call]
STRANGERS: dict[str, tuple[Any, str]] = {
    "a tool": (must_precede("chek", "pay"), "unknown tool `chek`; did you mean `check`?"),
    "a tool in a formula": (read("G !called(pya)"), "unknown tool `pya`; did you mean `pay`?"),
    "a glob": (rate_limit("send_*", 3), "no tool matches `send_*`"),
    "an argument": (read("G !called(pay, too = 1)"), "`pay` has no field `too`; did you mean `to`"),
    "an argument of a pattern": (
        {"pattern": "arg_value_range", "tool": "pay", "field": "m", "max": 3},
        "`pay` has no field `m`",
    ),
    "a total": (read("G(sum(pay, amount) <= 3)"), "`pay` has no field `amount`"),
    "a value for each": (
        {"pattern": "idempotent", "action": "pay", "by": ["order"]},
        "`pay` has no field `order`",
    ),
    "a substitute": (
        {"pattern": "redirect_to_safe", "unsafe": "pay", "safe": "promise"},
        "no tool `promise` to run instead",
    ),
}


@requirement("S-INV-08", "S-INV-09")
@pytest.mark.parametrize("meets", MEETINGS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("wrong", STRANGERS)
def test_what_is_not_there_is_told_where_the_tools_are_met(wrong: str, meets: Meets) -> None:
    """Every source of tools refuses names that it does not have, with the contract."""
    guarantee, said = STRANGERS[wrong]
    with pytest.raises(ContractError) as told:
        meets(bare(must_precede("check", "pay"), guarantee), [pay, check])
    assert said in str(told.value)
    assert "contract `c1`" in str(told.value)
    assert "contract `c0`" not in str(told.value)


@requirement("S-INV-08")
@pytest.mark.parametrize("meets", MEETINGS, ids=lambda each: each.__name__)
def test_what_is_there_is_met_without_a_word(meets: Meets) -> None:
    """Tools that were met, declared or named elsewhere may be named; any argument of `**kwargs`."""
    meets(bare(must_precede("check", "pay"), read("G !called(pay, to = eve)")), [pay, check])
    meets(bare(must_precede("audit", "pay"), elsewhere=["audit"]), [pay, check])
    meets(bare(must_precede("audit", "pay"), tools=["audit", "pay", "check"]), [pay, check])
    meets(bare(rate_limit("p*", 3), read("G !called(p*, to = eve)")), [pay, check])


@requirement("S-INV-09")
def test_arguments_are_told_when_a_function_is_decorated() -> None:
    """Names may come one by one, arguments of the function itself are known at once."""
    guard = bare(must_precede("check", "pay"), read("G !called(pay, too = eve)"))
    before = guard.tool(check)
    with pytest.raises(ContractError, match="contract `c1`: tool `pay` has no field `too`"):
        guard.tool(pay)

    @guard.tool(name="pay")
    def anything(**given: Any) -> int:
        return len(given)

    with guard.session().active():
        assert before()
        assert anything(too="ann") == 1


@requirement("S-INV-09")
def test_decorated_tools_may_come_one_by_one() -> None:
    """What one of them has is not demanded of another; all have to be there at the first call."""
    guard = bare(must_precede("pay", "check"), read('G !called("*", n = 7)'))
    guard.tool(check)
    decorated = guard.tool(pay)
    with guard.session().active():
        assert decorated("a", 5) == "5 to a"


@requirement("S-INV-09")
def test_nothing_is_known_of_tools_that_are_decided_by_hand() -> None:
    """Without an inventory and decorated tools, a session opens and decides whatever is named."""
    guard = bare(must_precede("chek", "pay"))
    with guard.session().active() as session:
        assert isinstance(session.decide("other"), Allowed)


@requirement("S-INV-09")
def test_where_only_observed_a_call_runs_with_a_warning() -> None:
    """A typo in an observed contract does not stop the agent; it is told."""
    guard = bare(must_precede("chek", "pay"), mode="observe")
    mine = guard.tool(pay, session=guard.session())
    with pytest.warns(UserWarning, match="unknown tool `chek`"):
        assert mine("a") == "0 to a"


@requirement("S-INV-10")
def test_a_confirmation_that_nobody_can_give_is_told() -> None:
    """`confirm_x` has to be among the tools that were met; declared, a person is asked instead."""
    confirmed = {"pattern": "must_confirm", "action": "pay"}
    with pytest.raises(ContractError, match="unknown tool `confirm_pay`, which its pattern waits"):
        by_langchain(bare(confirmed), [pay, check])
    by_langchain(bare(confirmed, tools=["pay", "check"]), [pay, check])
    by_langchain(bare(confirmed, elsewhere=["confirm_pay"]), [pay, check])


# --- the command line -----------------------------------------------------------------------------

FILE = """\
version: 1
{more}contracts:
- name: gate
  guarantee: {{pattern: must_precede, first: check, then: {then}}}
- name: small
  guarantee: {{pattern: arg_value_range, tool: pay, field: {field}, max: 3}}
"""
PROPERTIES = {"type": "object", "properties": {"n": {"type": "integer"}}}
FUNCTION = {"name": "pay", "parameters": PROPERTIES}
EVENTS = [{"tool": "check"}, {"tool": "pay", "args": {"n": 1}}]
MANIFEST = {"tools": [{"name": "check"}, {"name": "pay", "inputSchema": PROPERTIES}]}
SOURCES: dict[str, tuple[str, str]] = {
    "names": ("--tools", '["check", "pay"]'),
    "names in YAML": ("--tools", "- check\n- pay\n"),
    "schemas": ("--tools", json.dumps([{"name": "check"}, FUNCTION])),
    "functions": ("--tools", json.dumps(["check", {"type": "function", "function": FUNCTION}])),
    "a manifest": ("--tools", json.dumps({"jsonrpc": "2.0", "result": MANIFEST})),
    "a contract file": ("--tools", "tools: {check: , pay: {fields: {n: integer}}}\n"),
    "traces": ("--traces", json.dumps({"id": "t", "events": EVENTS})),
}


def checked(folder: Path, *given: str, more: str = "", then: str = "pay", field: str = "n") -> Any:
    """What `sponsio-like check` answers."""
    path = folder / "c.yaml"
    path.write_text(FILE.format(more=more, then=then, field=field), "utf-8")
    return CliRunner().invoke(app, ["check", str(path), *given])


@requirement("S-INV-11")
@pytest.mark.parametrize("source", SOURCES)
def test_check_takes_the_tools_from_elsewhere(source: str, tmp_path: Path) -> None:
    """Lists of names, schemas, manifests and traces know the tools, and most their arguments."""
    option, text = SOURCES[source]
    path = tmp_path / "tools.txt"
    path.write_text(text, "utf-8")
    fine = checked(tmp_path, option, str(path))
    assert (fine.exit_code, "NOT checked" in fine.stdout) == (0, source.startswith("names"))
    wrongs: list[dict[str, Any]] = [{"then": "pya"}, {"field": "m"}]
    for wrong in wrongs:
        answer = checked(tmp_path, option, str(path), **wrong)
        if "field" in wrong and source.startswith(("names", "traces")):
            last = answer.stdout.splitlines()[-1]
            seen = "names of arguments of `pay` were NOT checked", "warning: "
            assert last.startswith(seen[source == "traces"])
            continue
        assert isinstance(answer.exception, ContractError)
        (problem,) = answer.exception.problems
        assert problem.where.endswith(("c.yaml:3:9", "c.yaml:5:9"))
        assert "did you mean `pay`" in problem.hint or "has no field `m`" in problem.what


@requirement("S-INV-11")
def test_check_says_what_it_has_not_checked(tmp_path: Path) -> None:
    """Without an inventory the last line says so, and how to have names checked."""
    last = checked(tmp_path).stdout.splitlines()[-1]
    assert last.startswith("names of tools and arguments were NOT checked")
    assert "`tools:`" in last
    assert "--tools FILE" in last
    assert "--traces FILE" in last
    last = checked(tmp_path, more="tools: [check, pay]\n").stdout.splitlines()[-1]
    assert last.startswith("names of arguments of `pay` were NOT checked")
    full = "tools: {check: , pay: {fields: {n: number}}}\n"
    assert checked(tmp_path, more=full).stdout.splitlines()[-1].endswith("2 contracts understood")


@requirement("S-INV-11")
def test_what_is_declared_has_to_be_there(tmp_path: Path) -> None:
    """A tool of `tools:` that the list of the agent does not have is a mistake; so is no list."""
    path = tmp_path / "tools.json"
    path.write_text('["check", "payment"]', "utf-8")
    answer = checked(tmp_path, "--tools", str(path), more="tools: [check, pay]\n")
    assert "`tools:` lists `pay`, which is not there; did you mean `payment`?" in str(
        answer.exception
    )
    for text in ("[]", "5", '[{"title": "pay"}]', "{", '{"tools": 5}'):
        path.write_text(text, "utf-8")
        answer = checked(tmp_path, "--tools", str(path))
        assert isinstance(answer.exception, ContractError)
        assert str(path) in str(answer.exception)
    assert isinstance(checked(tmp_path, "--tools", "nowhere").exception, ContractError)


@requirement("S-INV-12")
@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("number", "v.value"),
        ("integer", "v[]"),
        ("boolean", "v.is"),
        ("string", "v.a"),
        ("array", "v.length"),
        ("[string]", "v.name"),
        ("object", "v[]"),
        ("array", "v[5]"),
    ],
)
def test_a_path_into_a_field_fits_its_kind(kind: str, path: str) -> None:
    """What no call can have is refused when it is loaded."""
    rule = contract("no").guarantees(
        {"pattern": "absent", "match": {"tool": "check", "args": {path: "a"}}}
    )
    with pytest.raises(ContractError, match=r"is a |is no list|is true or false|has no field"):
        session_of({"check": {"fields": {"v": kind}}, "pay": None}, rule)


@requirement("S-INV-12")
@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("array", "v[].name"),
        ("array", "v"),
        ("object", "v.name"),
        ("any", "v[]"),
    ],
)
def test_a_path_that_some_call_can_have_is_read(kind: str, path: str) -> None:
    """Elements of lists, fields of objects, anything in anything."""
    rule = contract("no").guarantees(
        {"pattern": "absent", "match": {"tool": "check", "args": {path: "a"}}}
    )
    session_of({"check": {"fields": {"v": kind}}, "pay": None}, rule)
