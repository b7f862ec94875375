"""What `guard_tools` and `guarded` are given: tools of all kinds, copied builders, pairs twice."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import guard_node, guard_tools
from sponsio_like.errors import ContractError, SessionError
from sponsio_like.guard.guard import Guard
from sponsio_like.worlds import MemoryWorld
from tests.adapters.bodies import RAN, pay
from tests.adapters.rules import few, kept, small, spending
from tests.adapters.scripted import Scripted
from tests.adapters.talks import AGENTS, ask, everywhere

ON: Any = {"configurable": {"thread_id": "one"}}


# --- a builder that is copied ---------------------------------------------------------------------


def _builder(guard: Guard, **options: Any) -> Any:
    script: list[Any] = [ask("pay", f"a{i}", amount=60) for i in range(2)]
    model = Scripted(script=lambda: [*script, "done"])
    builder: Any = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    guard_tools(builder, guard, [pay], **options)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder


def test_a_builder_can_be_copied() -> None:
    """The copy is a builder of its own, whose tools are guarded by the same guard."""
    one = _builder(Guard([few("pay", 1)]))
    other = copy.deepcopy(one)
    guard_node(other, Guard([few("more", 1)]), "more", lambda _: None)
    assert "more" not in one.nodes
    for i, each in enumerate((one, other)):
        graph = each.compile(checkpointer=InMemorySaver())
        came = graph.invoke({"messages": [("user", "go")]}, ON)
        assert came["messages"][-1].text == "done"
        assert [*RAN] == [60] * (i + 1)


def test_a_copy_keeps_the_same_world() -> None:
    """What is counted in the world counts for both."""
    one = _builder(Guard([spending(100).world()]), world=MemoryWorld())
    for each in (one, copy.deepcopy(one)):
        each.compile(checkpointer=InMemorySaver()).invoke({"messages": [("user", "go")]}, ON)
    assert RAN == [60]


# --- tools of many kinds --------------------------------------------------------------------------


@everywhere
def test_one_tool_is_no_list_of_tools(way: Any) -> None:
    """The error says what to write."""
    with pytest.raises(ContractError, match=r"`tools` is the tool `pay`, and no list.*\[pay\]"):
        _guarding(way)(pay)


@everywhere
def test_a_node_of_tools_is_no_list_of_tools(way: Any) -> None:
    """Its options, such as a handler of errors, would be lost without a word."""
    with pytest.raises(ContractError, match=r"`tools` is a ToolNode.*\[pay\]"):
        _guarding(way)(ToolNode([pay]))


def _guarding(way: Any) -> Any:
    guard = Guard([small()])
    if way in AGENTS:
        return lambda tools: guarded(guard, tools)
    return lambda tools: guard_tools(StateGraph(MessagesState), guard, tools)


SEARCH = {"type": "web_search"}


def test_tools_of_the_provider_pass() -> None:
    """They run where the model runs; the others are guarded."""
    guard, script = Guard([few("pay", 1)]), [ask("pay", "a", amount=1), ask("pay", "b", amount=2)]
    agent: Any = create_agent(
        Scripted(script=lambda: [*script, "done"]),
        [pay, SEARCH],
        middleware=guarded(guard, [pay, SEARCH]),
        checkpointer=InMemorySaver(),
    )
    agent.invoke({"messages": [("user", "go")]}, ON)
    assert RAN == [1]


def test_no_contract_may_name_a_tool_of_the_provider() -> None:
    """It would hold nothing."""
    with pytest.raises(ContractError, match="web_search"):
        guarded(Guard([few("web_search", 1)]), [pay, SEARCH])


# --- the pair -------------------------------------------------------------------------------------


def test_two_pairs_in_one_another_have_names() -> None:
    """LangChain would refuse them without a word of what to write."""
    inner = guarded(Guard([small()]), [pay])
    with pytest.raises(ContractError, match=r"two pairs .*`contracts`.*write name="):
        guarded(Guard([few("pay", 1)]), [pay], *inner)
    guarded(Guard([few("pay", 1)]), [pay], *inner, name="others")


@tool
def delete(path: str) -> str:
    """Delete a file."""
    raise AssertionError(path)


@tool
def trash(file: str) -> str:
    """Put a file into the trash."""
    return f"{file} is in the trash"


class Doubles(AgentMiddleware[Any, Any]):
    """Makes each payment twice as large."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        call = request.tool_call
        if call["name"] != "pay":
            return handler(request)
        args = {"amount": 2 * call["args"]["amount"]}
        return handler(request.override(tool_call={**call, "args": args}))


def test_the_first_half_alone_holds_what_the_pair_holds() -> None:
    """Redirects run the substitute, and what a middleware makes of a call is decided."""
    script = [ask("delete", path="x"), [*ask("pay", "b", amount=6)]]
    first, *_ = guarded(Guard([kept(), small(10)]), [pay, delete, trash], Doubles())
    agent: Any = create_agent(
        Scripted(script=lambda: [*script, "done"]),
        [pay, delete, trash],
        middleware=[first, Doubles()],
        checkpointer=InMemorySaver(),
    )
    came = agent.invoke({"messages": [("user", "go")]}, ON)["messages"]
    assert came[2].text == "x is in the trash"
    assert "`small`" in came[4].text
    assert RAN == []


@pytest.mark.parametrize("amount", [5, 6])
def test_a_process_that_has_not_seen_the_model_holds_the_same(amount: int) -> None:
    """It goes on where the tools are to run: what a middleware makes of a call is decided."""
    saver, ends = InMemorySaver(), list[str]()

    def opened(log: Any, **options: Any) -> Any:
        guard = Guard([small(10), few("pay", 2)], log=log)
        return create_agent(
            Scripted(script=lambda: [ask("pay", amount=amount), "done"]),
            [pay],
            middleware=guarded(guard, [pay], Doubles()),
            checkpointer=saver,
            **options,
        )

    records: list[dict[str, Any]] = []
    opened(lambda _: None, interrupt_before=["tools"]).invoke({"messages": [("user", "go")]}, ON)
    came = opened(records.append).invoke(None, ON)["messages"]
    ends += [each["status"] for each in records if each["event"] == "settlement"]
    assert [2 * amount] * (amount == 5) == RAN
    assert ("ok" in ends) == (amount == 5)
    assert came[-1].text == "done"


@pytest.mark.parametrize("mode", ["enforce", "observe"])
def test_half_of_the_pair_lets_nothing_run(mode: Any) -> None:
    """Without the first one nothing would be decided: the error says what to write."""
    agent: Any = create_agent(
        Scripted(script=lambda: [ask("pay", amount=1), "done"]),
        [pay],
        middleware=guarded(Guard([small()], mode=mode), [pay], Doubles())[-1:],
        checkpointer=InMemorySaver(),
    )
    if mode == "enforce":
        with pytest.raises(SessionError, match=r"middleware=guarded\(guard, tools\)"):
            agent.invoke({"messages": [("user", "go")]}, ON)
    else:
        agent.invoke({"messages": [("user", "go")]}, ON)
    assert [1] * (mode == "observe") == RAN
