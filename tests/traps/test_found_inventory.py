"""Found in the first hour of use: tools and arguments that are not there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sponsio_like import Allowed, Blocked, ContractError, Guard, contract
from sponsio_like.cli import app
from sponsio_like.patterns import must_precede

Loads = Callable[[str], Guard]
RULE = "contracts:\n- {name: few, guarantee: {pattern: rate_limit, action: shell, limit: 9}}\n"


# --- found 1: a misspelt name was told nowhere ----------------------------------------------------

TYPOS = """\
version: 1
{more}contracts:
  - name: policy gate before refund
    guarantee: {{pattern: must_precede, first: check_policy, then: isue_refund}}
  - name: small refunds
    guarantee: {{pattern: arg_value_range, tool: issue_refund, field: amuont, max: 5}}
"""
GATE = (
    r"contracts.yaml:3:11: contract `policy gate before refund`: unknown tool `isue_refund`; "
    r"did you mean `issue_refund`\?"
)
SMALL = (
    r"contracts.yaml:5:11: contract `small refunds`: tool `issue_refund` has no field `amuont`; "
    r"did you mean `amount`\?"
)


def check_policy() -> bool:
    """Check the policy."""
    return True


def issue_refund(order: int, amount: float = 0) -> str:
    """Refund an order."""
    return f"{amount} for {order}"


def decorated(guard: Guard) -> None:
    """One by one."""
    guard.tool(check_policy)
    guard.tool(issue_refund)
    with guard.session().active():
        pass


def wrapped(guard: Guard) -> None:
    """At once, called in a session of their own."""
    check, _ = guard.wrap([check_policy, issue_refund], session=guard.session())
    check()


def in_langchain(guard: Guard) -> None:
    """The tools of `create_agent`."""
    from sponsio_like.adapters.langchain import guarded

    guarded(guard, [check_policy, issue_refund])


def in_langgraph(guard: Guard) -> None:
    """The tools of a node."""
    from langgraph.graph import MessagesState, StateGraph

    from sponsio_like.adapters.langgraph import guard_tools

    guard_tools(StateGraph(MessagesState), guard, [check_policy, issue_refund])


@pytest.mark.filterwarnings("ignore:.*is nearly")
@pytest.mark.parametrize("meets", [decorated, wrapped, in_langchain, in_langgraph])
def test_a_misspelt_tool_is_told_where_the_tools_are_known(
    load: Loads, meets: Callable[[Guard], None]
) -> None:
    """Decorators and adapters know names: the error has contract, place and the right one."""
    text = TYPOS.format(more="").replace("amuont", "amount")
    with pytest.raises(ContractError, match=GATE):
        meets(load(text))
    meets(load(text.replace("isue", "issue")))


@pytest.mark.parametrize("meets", [decorated, wrapped, in_langchain, in_langgraph])
def test_a_misspelt_argument_is_told_where_the_tools_are_known(
    load: Loads, meets: Callable[[Guard], None]
) -> None:
    """So are the names of arguments: a rule over nothing would let everything pass."""
    with pytest.raises(ContractError, match=SMALL):
        meets(load(TYPOS.format(more="").replace("isue", "issue")))


def test_a_guarded_node_knows_its_name_when_it_runs() -> None:
    """A node is one of several: names are told when the first of them runs."""
    from langgraph.graph import START, MessagesState, StateGraph

    from sponsio_like.adapters.langgraph import guard_node

    guard = Guard([contract("gate").guarantees(must_precede("look", "aswer"))])
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    for name in ("look", "answer"):
        guard_node(builder, guard, name, lambda _: {"messages": []}, scope="run")
    builder.add_edge(START, "look")
    with pytest.raises(ContractError, match="unknown tool `aswer`"):
        builder.compile().invoke({"messages": []})


REFUND = {"properties": {"order": {"type": "integer"}, "amount": {"type": "number"}}}
MANIFEST = [{"name": "check_policy"}, {"name": "issue_refund", "inputSchema": REFUND}]
EVENTS = [{"tool": "check_policy"}, {"tool": "issue_refund", "args": {"order": 1, "amount": 2}}]


@pytest.mark.parametrize(
    ("option", "given"),
    [("--tools", {"tools": MANIFEST}), ("--traces", {"id": "t", "events": EVENTS})],
)
def test_check_tells_every_misspelt_name(option: str, given: Any, tmp_path: Path) -> None:
    """With a list of tools, or recorded runs, all mistakes come at once, with their places."""
    contracts, source = tmp_path / "contracts.yaml", tmp_path / "source.jsonl"
    contracts.write_text(TYPOS.format(more=""), "utf-8")
    source.write_text(json.dumps(given), "utf-8")
    answer = CliRunner().invoke(app, ["check", str(contracts), option, str(source)])
    assert isinstance(answer.exception, ContractError)
    first, *second = str(answer.exception).splitlines()
    assert re.search(GATE, first)
    if option == "--traces":  # what no recorded run gives may be optional
        assert not second
        return
    assert re.search(SMALL, second[0])


def test_check_says_that_names_were_not_checked(tmp_path: Path) -> None:
    """Without an inventory the last line says what was not checked, and what would."""
    contracts = tmp_path / "contracts.yaml"
    contracts.write_text(TYPOS.format(more=""), "utf-8")
    answer = CliRunner().invoke(app, ["check", str(contracts)])
    *_, understood, last = answer.stdout.splitlines()
    assert understood.endswith("2 contracts understood")
    assert last.startswith("names of tools and arguments were NOT checked")


# --- found 16: a tool named `any`, and paths that no call can have --------------------------------


@pytest.mark.parametrize(
    ("guarantee", "said"),
    [
        ("{pattern: until, trigger: book, forbidden: any, release: look}", "unknown tool `any`"),
        (
            "{pattern: absent, match: {tool: book, args: {'people[5]': ann}}}",
            "no field `people[5]`",
        ),
        ("{pattern: absent, match: {tool: book, args: {people.length: 5}}}", "is a list"),
        ("{pattern: absent, match: {tool: book, args: {seats.count: 5}}}", "is a whole number"),
        ("{pattern: absent, match: {tool: book, args: {name.id: ann}}}", "is a text; write `name`"),
        (
            "{pattern: absent, match: {tool: book, args: {'to[].domain': a.com}}}",
            'write "to[]": {domain',
        ),
        ("{pattern: absent, match: {tool: book, args: {page.host: a.com}}}", "else page:url.host"),
        (
            "{pattern: absent, match: {tool: book, args: {page.hast: a.com}}}",
            "did you mean `host`?",
        ),
        ("{pattern: idempotent, action: book, by: [page.host]}", "else page:url.host"),
        ("{pattern: absent, match: {tool: book, args: {'tags[].id': a}}}", "write `tags[]`"),
        ("{pattern: absent, match: {tool: 'b*', args: {name.id: ann}}}", "is a text; write `name`"),
    ],
)
def test_what_no_tool_of_the_inventory_has_is_refused(
    load: Loads, guarantee: str, said: str
) -> None:
    """`any` is no tool, and a path fits the declared field that it goes into."""
    kinds = "people: array, seats: integer, name: string, to: [email], page: url, tags: [string]"
    tools = f"{{book: {{fields: {{{kinds}}}}}, look: }}"
    with pytest.raises(ContractError) as told:
        load(f"version: 1\ntools: {tools}\ncontracts:\n- name: a\n  guarantee: {guarantee}\n")
    assert said in str(told.value)
    assert "contracts.yaml:5:" in str(told.value)


def test_a_path_that_fits_one_of_the_tools_of_a_glob_loads(load: Loads) -> None:
    """The others have no such part; what a tool has that declares no fields is unknown."""
    tools = "{book: {fields: {name: string}}, bind: {fields: {name: object}}, look: }"
    rule = "{pattern: absent, match: {tool: 'b*', args: {name.id: ann}}}"
    load(f"version: 1\ntools: {tools}\ncontracts:\n- name: a\n  guarantee: {rule}\n")


# --- found 8: declared kinds were never used ----------------------------------------------------


@pytest.mark.parametrize("kind", ["pathe", "uri", "mail", "command", "query"])
def test_a_declared_kind_that_nothing_checks_is_refused(load: Loads, kind: str) -> None:
    """A kind that nothing implements is refused when the file is loaded, at its place."""
    with pytest.raises(ContractError, match=rf":2:\d+: unknown kind `{kind}`; "):
        load(f"version: 1\ntools: {{shell: {{fields: {{p: {kind}}}}}}}\n{RULE}")


def test_a_declared_kind_is_checked_at_the_call(load: Loads) -> None:
    """A text where a whole number is declared is refused, before the tool runs."""
    session = load(
        f"version: 1\ntools: {{shell: {{fields: {{n: integer, to: [string]}}}}}}\n{RULE}"
    ).session()
    wrong: list[dict[str, Any]] = [{"n": "five"}, {"n": True}, {"to": "a"}, {"to": [1]}]
    assert [type(session.decide("shell", args)) for args in wrong] == [Blocked] * 4
    right: list[dict[str, Any]] = [{"n": 5}, {"n": 5.0}, {"n": None}, {"to": ["a"]}, {}]
    assert [type(session.decide("shell", args)) for args in right] == [Allowed] * 5


# --- found 9: the inventory was never held against a call -----------------------------------------


def test_a_call_that_the_inventory_does_not_have_is_refused(load: Loads) -> None:
    """With `tools:`, a tool that is not listed does not run, and the refusal says why."""
    session = load(f"version: 1\ntools: [shell]\n{RULE}").session()
    for tool, args in (("bash", {"c": "rm -rf /"}), ("nuke", {})):
        outcome = session.decide(tool, args)
        assert isinstance(outcome, Blocked)
        assert f"tool `{tool}` is not listed" in outcome.advice
    assert isinstance(session.decide("shell"), Allowed)


def test_an_argument_that_the_fields_do_not_have_is_refused(load: Loads) -> None:
    """With declared fields, no other argument reaches the tool."""
    text = f"version: 1\ntools: {{shell: {{fields: {{to: string, body: string}}}}}}\n{RULE}"
    session = load(text).session()
    outcome = session.decide("shell", {"to": "a", "body": "b", "bcc": "mallory"})
    assert isinstance(outcome, Blocked)
    assert "`shell` has no argument `bcc`" in outcome.advice
    assert isinstance(session.decide("shell", {"to": "a", "body": "b"}), Allowed)


def test_unlisted_calls_run_where_the_file_says_so(load: Loads) -> None:
    """`unlisted: allow` and `mode: observe` stop nothing; observed, the call is told of."""
    session = load(f"version: 1\ntools: [shell]\nunlisted: allow\n{RULE}").session()
    assert session.decide("bash", id="a") == Allowed("a")
    observing = load(f"version: 1\nmode: observe\ntools: [shell]\n{RULE}").session()
    outcome = observing.decide("bash", {})
    assert isinstance(outcome, Allowed)
    assert [each.contract for each in outcome.observed] == ["tools"]
