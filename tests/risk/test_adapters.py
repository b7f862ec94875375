"""Risk in agents of LangChain and LangGraph: the policy of the guard holds in every session."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from langgraph.types import Command

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import approve, guard_tools
from tests.adapters.scripted import Scripted, calls
from tests.risk.test_runtime import guard, policy

RAN: list[str] = []
THREAD: Any = {"configurable": {"thread_id": "1"}}


@tool
def look() -> str:
    """A tool that looks."""
    RAN.append("look")
    return "seen"


@tool
def pay() -> str:
    """A tool that pays."""
    RAN.append("pay")
    return "paid"


def middleware(here: Any, model: Any) -> Any:
    """An agent of LangChain."""
    saver = InMemorySaver()
    return create_agent(
        model, [look, pay], middleware=guarded(here, [look, pay]), checkpointer=saver
    )


def graph(here: Any, model: Any) -> Any:
    """A graph of LangGraph."""
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": model.invoke(state["messages"])})
    guard_tools(builder, here, [look, pay])
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize("made", [middleware, graph])
def test_an_agent_is_told_the_risk_and_goes_on(made: Any) -> None:
    """The second payment is refused with its evidence, over the snapshots of the adapter."""
    RAN.clear()
    script = [calls((name, {}, f"{name}{i}")) for i, name in enumerate(["look", "pay", "pay"])]
    agent = made(guard(policy(on_risk="block")), Scripted(script=lambda: [*script, "done"]))
    said = agent.invoke({"messages": [("user", "go on")]}, THREAD)["messages"]
    assert RAN == ["look", "pay"]
    assert "50 of 60 recorded runs" in next(m.text for m in reversed(said) if m.type == "tool")


@pytest.mark.parametrize("made", [middleware, graph])
def test_a_person_is_asked_and_the_call_runs(made: Any) -> None:
    """A held call interrupts; approved, it runs once, though the session was restored."""
    RAN.clear()
    script = [calls((name, {}, f"{name}{i}")) for i, name in enumerate(["look", "pay", "pay"])]
    agent = made(guard(policy()), Scripted(script=lambda: [*script, "done"]))
    held = agent.invoke({"messages": [("user", "go on")]}, THREAD)["__interrupt__"]
    assert RAN == ["look", "pay"]
    ticket = held[0].value["held"][0]["ticket"]
    agent.invoke(Command(resume=approve(ticket, by="ann")), THREAD)
    assert RAN == ["look", "pay", "pay"]
