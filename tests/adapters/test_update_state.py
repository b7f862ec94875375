"""`update_state(.., as_node=..)` of a guarded node goes where that node's edges lead."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, Send

from sponsio_like.adapters.langgraph import guard_node, guard_tools
from sponsio_like.guard.guard import Guard
from tests.adapters.bodies import RAN, pay
from tests.adapters.rules import asked, few

ON: Any = {"configurable": {"thread_id": "one"}}
GUARDS = (None, Guard([few("pay", 1)], mode="observe"), Guard([few("pay", 1)]))
NO = {"messages": [ToolMessage("denied", tool_call_id="a")]}


def model(state: Any) -> Any:
    """A model that pays once, and says how that was answered."""
    last = state["messages"][-1]
    if isinstance(last, ToolMessage):
        return {"messages": [AIMessage(f"I hear: {last.text}")]}
    call = {"name": "pay", "args": {"amount": 900}, "id": "a"}
    return {"messages": [AIMessage("", tool_calls=[call])]}


def opened(guard: Guard | None, edges: Any, **options: Any) -> Any:
    """A graph of a model and its tools, guarded or not; `edges` adds those of the tools."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", model)
    if guard is None:
        builder.add_node("tools", ToolNode([pay]))
    else:
        guard_tools(builder, guard, [pay])
    builder.add_node("log", lambda _: {"messages": ["logged"]})
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    edges(builder)
    return builder.compile(checkpointer=InMemorySaver(), **options)


def plain(builder: Any) -> None:
    """The tools lead back to the model."""
    builder.add_edge("tools", "model")


def two(builder: Any) -> None:
    """The tools lead to two nodes."""
    builder.add_edge("tools", "model")
    builder.add_edge("tools", "log")


def conditional(builder: Any) -> None:
    """Where the tools lead is a question of the state."""

    def where(state: Any) -> Literal["model", "log"]:
        return "log" if state["messages"][-1].text == "denied" else "model"

    builder.add_conditional_edges("tools", where)


def sent(builder: Any) -> None:
    """The tools send something to a node."""
    builder.add_conditional_edges("tools", lambda state: [Send("log", state)], ["log"])


def joined(builder: Any) -> None:
    """A node waits for the tools and for another one."""
    builder.add_node("other", lambda _: {"messages": ["other"]})
    builder.add_edge("model", "other")
    builder.add_edge(["tools", "other"], "log")


def none(_: Any) -> None:
    """The graph ends with its tools."""


@pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("edges", [plain, two, conditional, sent, joined, none])
def test_a_person_who_answers_for_the_tools_goes_on_as_without_contracts(
    edges: Any, *, later: bool
) -> None:
    """The graph stops before the tools; a person answers in their place; they do not run."""
    before = {"interrupt_before": ["tools"]}
    came = [_answered(opened(guard, edges, **before), later=later) for guard in GUARDS]
    assert came[0] == came[1] == came[2]
    assert RAN == []


@pytest.mark.parametrize("edges", [plain, two, conditional, sent, none])
def test_so_it_is_where_one_run_stops_before_the_tools(edges: Any) -> None:
    """`interrupt_before` of a run stops behind the decision; what it let through does not run."""
    before = ["tools"]
    came = [_answered(opened(guard, edges), interrupt_before=before) for guard in GUARDS]
    assert came[0] == came[1] == came[2]
    assert RAN == []


def _answered(graph: Any, *, later: bool = False, **go_on: Any) -> tuple[Any, ...]:
    """Where the graph goes when the tools were answered for; and all that was said in the end."""
    given = {"messages": [("user", "go")]}
    if later:
        asyncio.run(graph.ainvoke(given, ON, **go_on))
        asyncio.run(graph.aupdate_state(ON, NO, as_node="tools"))
        asyncio.run(graph.ainvoke(None, ON))
    else:
        graph.invoke(given, ON, **go_on)
        graph.update_state(ON, NO, as_node="tools")
        graph.invoke(None, ON)
    every = list(graph.get_state_history(ON))
    after = next(each for each in every if each.metadata["source"] == "update")
    return set(after.next), sorted(each.text for each in every[0].values["messages"])


@pytest.mark.parametrize("edges", [plain, conditional])
def test_so_it_is_while_a_person_is_asked(edges: Any) -> None:
    """Instead of an answer to the question, the call is answered in the place of the tools."""
    graph = opened(Guard([asked()]), edges)
    assert graph.invoke({"messages": [("user", "go")]}, ON)["__interrupt__"]
    graph.update_state(ON, NO, as_node="tools")
    state = graph.get_state(ON)
    assert (state.next, state.interrupts) == (("model" if edges is plain else "log",), ())
    last = graph.invoke(None, ON)["messages"][-1].text
    assert last == ("I hear: denied" if edges is plain else "logged")
    assert RAN == []


@pytest.mark.parametrize("edges", [plain, two, conditional, sent])
def test_what_runs_leads_on_once(edges: Any) -> None:
    """The edges for `update_state` do nothing where the tools have run."""
    said = []
    for guard in GUARDS:
        last = opened(guard, edges).invoke({"messages": [("user", "go")]}, ON)["messages"]
        said.append(sorted(each.text for each in last))
    assert said[0] == said[1] == said[2]
    assert [*RAN] == [900] * len(GUARDS)


@pytest.mark.parametrize("guard", GUARDS, ids=["plain", "observed", "guarded"])
def test_a_guarded_node_goes_on_as_well(guard: Guard | None) -> None:
    """A person writes the update of the node in its place."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    if guard is None:
        builder.add_node("pay", lambda _: RAN.append(1))
    else:
        guard_node(builder, guard, "pay", lambda _: RAN.append(1))
    builder.add_node("next", lambda _: {"messages": ["next"]})
    builder.add_edge(START, "pay")
    builder.add_edge("pay", "next")
    graph = builder.compile(checkpointer=InMemorySaver(), interrupt_before=["pay"])
    graph.invoke({"messages": []}, ON)
    graph.update_state(ON, {"messages": ["by hand"]}, as_node="pay")
    assert graph.get_state(ON).next == ("next",)
    assert [each.text for each in graph.invoke(None, ON)["messages"]] == ["by hand", "next"]
    assert RAN == []


def test_a_refusal_with_a_place_to_go_goes_there() -> None:
    """`Command(goto=..)` in the place of the tools says itself where the graph goes."""
    graph = opened(Guard([few("pay", 1)]), plain)
    graph.invoke({"messages": [("user", "go")]}, ON, interrupt_before=["tools"])
    graph.update_state(ON, Command(update=NO, goto="log"), as_node="tools")
    assert "log" in graph.get_state(ON).next
