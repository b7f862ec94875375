"""Nodes that wait for the end of a run (`defer=True`), beside guarded ones: they wait for calls."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from langgraph.types import Command

from sponsio_like.adapters.langgraph import approve, guard_node, guard_tools, waiting
from sponsio_like.contracts.definition import Contract
from sponsio_like.guard.guard import Guard
from tests.adapters.rules import asked, few, pay, small
from tests.adapters.scripted import Scripted
from tests.adapters.talks import Talk, Way, graphs

RAN: list[str] = []
"""What has run, in order."""


@tool("pay")
def paying(amount: int) -> str:
    """Pay an amount."""
    RAN.append(f"pay {amount}")
    return f"paid {amount}"


def open_graph(way: Way, *rules: Contract) -> Talk:
    """A model and guarded tools, and a node beside them that waits for the end."""
    talk = way.open([], small(100))
    model = Scripted(script=lambda: talk.script)

    def ask(state: Any) -> Any:
        RAN.append("model")
        return {"messages": [model.invoke(state["messages"])]}

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", ask)
    builder.add_node("last", lambda _: RAN.append("last"), defer=True)
    guard_tools(builder, Guard(rules, log=talk.records.append), [paying])
    builder.add_edge(START, "model")
    builder.add_edge(START, "last")
    builder.add_edge("tools", "model")
    builder.add_conditional_edges("model", tools_condition, ["tools", END])
    talk.graph = builder.compile(checkpointer=InMemorySaver())
    return talk


@graphs
def test_a_deferred_node_waits_for_the_calls(way: Way) -> None:
    """It runs last, once."""
    open_graph(way, small(100)).say([pay(1, "1")], [pay(2, "2")])
    assert RAN == ["model", "pay 1", "model", "pay 2", "model", "last"]


@graphs
def test_a_deferred_node_waits_for_people(way: Way) -> None:
    """Until they have answered, and what they let through has run."""
    talk = open_graph(way, asked(100))
    (question,) = waiting(talk.say([pay(900, "1")]).state)
    assert RAN == ["model"]
    talk.go(Command(resume=approve(question["ticket"], by="ann", role="manager")))
    assert RAN == ["model", "pay 900", "model", "last"]


@graphs
def test_a_deferred_node_waits_for_a_guarded_node(way: Way) -> None:
    """Which runs no tools."""
    talk = way.open([], small(100))
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    guard_node(builder, Guard([few("pay", 1)]), "pay", lambda _: RAN.append("pay"))
    builder.add_node("after", lambda _: RAN.append("after"))
    builder.add_node("last", lambda _: RAN.append("last"), defer=True)
    for start, end in ((START, "pay"), (START, "last"), ("pay", "after")):
        builder.add_edge(start, end)
    talk.graph = builder.compile(checkpointer=InMemorySaver())
    talk.say()
    assert RAN == ["pay", "after", "last"]


@graphs
def test_a_deferred_model_waits_for_what_commands_lead_to(way: Way) -> None:
    """What the page says to write where a command leads to both."""
    talk = way.open([], few("nothing", 1))
    model = Scripted(script=lambda: talk.script)

    def ask(state: Any) -> Any:
        RAN.append("model")
        said = model.invoke(state["messages"])
        goto = ["tools", "audit"] if said.tool_calls else END
        return Command(update={"messages": [said]}, goto=goto)

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", ask, defer=True)
    guard_tools(builder, Guard([small(100)]), [paying])
    builder.add_node("audit", lambda _: {})
    for start in (START, "tools", "audit"):
        builder.add_edge(start, "model")
    talk.graph = builder.compile(checkpointer=InMemorySaver())
    talk.say([pay(1, "1")])
    assert RAN == ["model", "pay 1", "model"]
