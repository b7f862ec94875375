"""Nodes beside a guarded one that lead on to the same node: it runs once, as without contracts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send

from sponsio_like.adapters.langgraph import approve, guard_node, guard_tools, waiting
from sponsio_like.contracts.definition import Contract
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Mode
from tests.adapters.rules import asked, few, pay, small
from tests.adapters.scripted import Scripted
from tests.adapters.talks import Talk, Way, graphs

Shape: TypeAlias = Callable[[Any], None]
HEARD: list[list[str]] = []
"""What was unanswered whenever the model was called."""
BESIDE: list[str] = []
"""The other nodes that ran."""


@pytest.fixture(autouse=True)
def _nothing_has_run() -> None:
    HEARD.clear()
    BESIDE.clear()


@tool("pay")
def paying(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def calls(state: Any) -> list[Any]:
    """The calls of the last message."""
    last = state["messages"][-1]
    return list(last.tool_calls) if isinstance(last, AIMessage) else []


def beside(builder: Any, name: str = "audit") -> None:
    """Another node."""

    def act(_: Any) -> dict[str, Any]:
        BESIDE.append(name)
        return {}

    builder.add_node(name, act)


def listed(builder: Any) -> None:
    """A conditional edge leads to both, which lead on by edges."""
    beside(builder)
    builder.add_edge("tools", "model")
    builder.add_edge("audit", "model")
    builder.add_conditional_edges(
        "model",
        lambda state: ["tools", "audit"] if calls(state) else END,
        ["tools", "audit", END],
    )


def unnamed(builder: Any) -> None:
    """As before; the edge does not say where it may lead."""
    beside(builder)
    builder.add_edge("tools", "model")
    builder.add_edge("audit", "model")
    builder.add_conditional_edges(
        "model", lambda state: ["tools", "audit"] if calls(state) else END
    )


def sent(builder: Any) -> None:
    """The calls are sent one by one."""
    beside(builder)
    builder.add_edge("tools", "model")
    builder.add_edge("audit", "model")
    builder.add_conditional_edges(
        "model",
        lambda state: (
            [*(Send("tools", [each]) for each in calls(state)), "audit"] if calls(state) else END
        ),
        ["tools", "audit", END],
    )


def several(builder: Any) -> None:
    """Two conditional edges, and two nodes beside, of which one leads on by a conditional edge."""
    beside(builder)
    beside(builder, "log")
    builder.add_edge("tools", "model")
    builder.add_edge("audit", "model")
    builder.add_conditional_edges("log", lambda _: "model", ["model", END])

    def to_tools(state: Any) -> Any:
        return "tools" if calls(state) else END

    def to_others(state: Any) -> Any:
        return ["audit", "log"] if calls(state) else END

    builder.add_conditional_edges("model", to_tools, ["tools", END])
    builder.add_conditional_edges("model", to_others, ["audit", "log", END])


def _commanded(builder: Any, goes: Callable[[Any], Any], **options: Any) -> None:
    """A node behind the model says where the graph goes."""
    beside(builder)
    builder.add_edge("tools", "model")
    builder.add_edge("audit", "model")
    builder.add_edge("model", "router")
    builder.add_node(
        "router", lambda state: Command(goto=goes(state) if calls(state) else END), **options
    )


def commanded(builder: Any) -> None:
    """A command leads to both."""
    _commanded(builder, lambda _: ["tools", "audit"], destinations=("tools", "audit", END))


def commanded_unsaid(builder: Any) -> None:
    """As before; the node does not say where its commands lead."""
    _commanded(builder, lambda _: ["tools", "audit"])


def commanded_sent(builder: Any) -> None:
    """A command sends the calls, one by one."""
    _commanded(builder, lambda state: [*(Send("tools", [it]) for it in calls(state)), "audit"])


SHAPES = (listed, unnamed, sent, several, commanded, commanded_unsaid, commanded_sent)
each_shape = pytest.mark.parametrize("shape", SHAPES)


def open_graph(
    way: Way, *rules: Contract, shape: Shape, mode: Mode = "enforce", guarded: bool = True
) -> Talk:
    """A graph of a model, tools, and nodes beside them."""
    talk = way.open([], few("nothing", 1))
    model = Scripted(script=lambda: talk.script)

    def ask(state: Any) -> Any:
        answered = {getattr(each, "tool_call_id", None) for each in state["messages"]}
        mine = [call for each in state["messages"] for call in getattr(each, "tool_calls", ())]
        HEARD.append([call["id"] for call in mine if call["id"] not in answered])
        return {"messages": [model.invoke(state["messages"])]}

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", ask)
    if guarded:
        guard_tools(builder, Guard(rules, mode=mode, log=talk.records.append), [paying])
    else:
        builder.add_node("tools", ToolNode([paying]))
    builder.add_edge(START, "model")
    shape(builder)
    talk.graph = builder.compile(checkpointer=InMemorySaver())
    return talk


def ran(talk: Talk) -> tuple[list[list[str]], list[str], list[str]]:
    """What the model heard, what ran beside, and the messages."""
    came = talk.say([pay(1, "1"), pay(2, "2")], [pay(3, "3")])
    heard, beside = [*HEARD], sorted(BESIDE)
    HEARD.clear()
    BESIDE.clear()
    return heard, beside, [str(each.text) for each in came.state["messages"]]


@graphs
@each_shape
@pytest.mark.parametrize("mode", ["enforce", "observe"])
def test_the_model_is_called_when_it_is_called_without_contracts(
    way: Way, shape: Shape, mode: Mode
) -> None:
    """Once for each message, when all its calls are answered."""
    bare = ran(open_graph(way, shape=shape, guarded=False))
    assert bare[0] == [[], [], []]
    assert ran(open_graph(way, small(100), shape=shape, mode=mode)) == bare


@graphs
@each_shape
def test_the_model_is_called_when_all_are_refused(way: Way, shape: Shape) -> None:
    """A refusal is an answer as well."""
    talk = open_graph(way, few("pay", 0), shape=shape)
    came = talk.say([pay(1, "1"), pay(2, "2")])
    assert HEARD == [[], []]
    assert "not allowed" in came.refused("2")


@graphs
@each_shape
def test_the_model_is_called_when_people_have_answered(way: Way, shape: Shape) -> None:
    """The nodes beside have run long before."""
    talk = open_graph(way, asked(100), shape=shape)
    came = talk.say([pay(900, "1"), pay(2, "2")])
    assert (HEARD, "audit" in BESIDE) == ([[]], True)
    (question,) = waiting(came.state)
    came = talk.go(Command(resume=approve(question["ticket"], by="ann", role="manager")))
    assert HEARD == [[], []]
    assert [came.result(each) for each in ("1", "2")] == ["paid 900", "paid 2"]


@graphs
def test_a_node_that_is_not_beside_leads_on(way: Way) -> None:
    """Where the guarded node was not chosen, and where it has run before."""
    turns: list[str] = []

    def shape(builder: Any) -> None:
        beside(builder)
        builder.add_edge("tools", "model")
        builder.add_edge("audit", "model")

        def path(state: Any) -> Any:
            turns.append("model")
            if calls(state):
                return ["tools"] if len(turns) == 1 else ["tools", "audit"]
            return "audit" if len(turns) < 4 else END

        builder.add_conditional_edges("model", path, ["tools", "audit", END])

    talk = open_graph(way, small(100), shape=shape)
    talk.say([pay(1, "1")], [pay(2, "2")], "well", "done")
    assert HEARD == [[]] * 4
    assert BESIDE == ["audit", "audit"]


@graphs
def test_what_is_beside_a_guarded_node_waits_for_it(way: Way) -> None:
    """A node that runs no tools, by plain edges."""
    talk = way.open([], few("nothing", 1))
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    guard_node(builder, Guard([few("pay", 1)]), "pay", lambda _: BESIDE.append("pay"))
    beside(builder)
    beside(builder, "end")
    for start, end in ((START, "pay"), (START, "audit"), ("pay", "end"), ("audit", "end")):
        builder.add_edge(start, end)
    talk.graph = builder.compile(checkpointer=InMemorySaver())
    talk.say()
    assert BESIDE == ["audit", "pay", "end"]


@graphs
def test_streams_do_not_show_that_nodes_are_joined(way: Way) -> None:
    """They are those of a graph without contracts, as far as nodes go."""
    shown = []
    for guarded in (False, True):
        talk = open_graph(way, small(100), shape=listed, guarded=guarded)
        parts = talk.stream([pay(1, "1")], mode="updates")
        shown.append(sorted(name for part in parts for name in part))
    assert shown[0] == shown[1]
