"""Caches of nodes and of models, and messages that have no ids: whose call it is."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.caches import InMemoryCache as Answers
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from langgraph.types import CachePolicy, Command

from sponsio_like.adapters.langgraph import approve, guard_node, guard_tools, waiting
from sponsio_like.guard.guard import Guard
from tests.adapters.rules import asked, few
from tests.adapters.scripted import Line, Scripted, said
from tests.adapters.talks import Way, ask, graphs, older

RAN: list[int] = []
GO: Any = {"messages": [("user", "go")]}


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    RAN.append(amount)
    return f"paid {len(RAN)}"


def _run(way: Way, graph: Any, given: Any, thread: str | None) -> Any:
    config = {"configurable": {"thread_id": thread} if thread else {}}
    if way.later:
        return asyncio.run(graph.ainvoke(given, config))
    return graph.invoke(given, config)


# --- caches ---------------------------------------------------------------------------------------


@graphs
@pytest.mark.parametrize("saved", [True, False], ids=["threads", "no threads"])
def test_a_cache_of_the_model_gives_nobody_the_result_of_another(way: Way, *, saved: bool) -> None:
    """Its messages have one id in all threads, and in all runs; each of these pays by itself."""
    model = Scripted(script=lambda: [ask("pay", amount=1), "done"], cache=Answers())
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    guard = Guard([few("pay", 1)])
    scope: Any = "thread" if saved else "run"
    guard_tools(builder, guard, [pay], cache_policy=CachePolicy(), scope=scope)
    builder.add_edge(START, "model")
    builder.add_edge("tools", "model")
    builder.add_conditional_edges("model", tools_condition)
    saver = InMemorySaver() if saved else None
    graph = builder.compile(checkpointer=saver, cache=InMemoryCache())
    came = [_run(way, graph, GO, who if saved else None) for who in ("ann", "bob")]
    assert [each["messages"][-2].content for each in came] == ["paid 1", "paid 2"]
    assert len({each["messages"][1].id for each in came}) == 1


@graphs
@pytest.mark.skipif(older("langgraph", 1, 2), reason="this version has no defaults for nodes")
def test_a_default_cache_of_a_graph_decides_nothing(way: Way) -> None:
    """What a node returns may be cached; whether it may run is decided each time."""
    records: list[dict[str, Any]] = []

    class State(TypedDict):
        amount: int

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(State)
    builder.set_node_defaults(cache_policy=CachePolicy())
    guard = Guard([few("pay", 1)], log=records.append)
    guard_node(builder, guard, "pay", lambda state: RAN.append(state["amount"]))
    builder.add_edge(START, "pay")
    graph = builder.compile(checkpointer=InMemorySaver(), cache=InMemoryCache())
    for who in ("ann", "bob"):
        _run(way, graph, {"amount": 5}, who)
    assert [each["outcome"] for each in records if each["event"] == "decision"] == ["allowed"] * 2
    assert RAN == [5, 5]


# --- messages without ids -------------------------------------------------------------------------


class Plain(TypedDict):
    """A conversation whose messages get no ids."""

    messages: Annotated[list[Any], operator.add]


def _plain(*script: Line) -> Any:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Plain)
    builder.add_node("model", lambda state: {"messages": [said(script, state["messages"])]})
    guard_tools(builder, Guard([asked(100)]), [pay])
    builder.add_edge(START, "model")
    builder.add_edge("tools", "model")
    builder.add_conditional_edges("model", tools_condition)
    return builder.compile(checkpointer=InMemorySaver())


def _yes(state: Any) -> Any:
    (question,) = waiting(state)
    return Command(resume=approve(question["ticket"], by="ann", role="manager"))


@graphs
def test_an_approval_reaches_a_message_without_an_id(way: Way) -> None:
    """The call waits once, and runs once; the next one, written alike, is asked about anew."""
    graph = _plain(ask("pay", amount=900), ask("pay", amount=900), "done")
    state = _run(way, graph, {"messages": [HumanMessage("go")]}, "one")
    first = waiting(state)
    state = _run(way, graph, _yes(state), "one")
    assert RAN == [900]
    second = waiting(state)
    assert second[0]["ticket"] != first[0]["ticket"]
    old: Any = Command(resume=approve(first[0]["ticket"], by="ann", role="manager"))
    state = _run(way, graph, old, "one")
    assert RAN == [900]
    state = _run(way, graph, _yes(state), "one")
    assert RAN == [900, 900]
    assert state["messages"][-1].content == "done"
