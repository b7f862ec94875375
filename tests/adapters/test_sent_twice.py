"""One call that is sent to guarded tools more than once in a step: it runs once, and counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Send

from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.contracts.definition import Contract
from sponsio_like.guard.guard import Guard
from tests.adapters.rules import few, pay, small, spending
from tests.adapters.scripted import Scripted
from tests.adapters.talks import Talk, Way, graphs

RAN: list[int] = []
"""The payments that were made."""


@tool("pay")
def paying(amount: int) -> str:
    """Pay an amount."""
    RAN.append(amount)
    return "paid"


def each_call(state: Any) -> Any:
    """A task for each call, as in the second version of `create_react_agent`."""
    return [Send("tools", [call]) for call in state["messages"][-1].tool_calls] or END


def thrice(state: Any) -> Any:
    """The state, three times."""
    return [Send("tools", state)] * 3 if state["messages"][-1].tool_calls else END


def and_the_state(state: Any) -> Any:
    """Each call, and the state, which has them all."""
    return [*each_call(state), "tools"] if state["messages"][-1].tool_calls else END


Path = Callable[[Any], Any]


def open_graph(way: Way, *rules: Contract, path: Path, commands: bool = False) -> Talk:
    """A graph of a model and guarded tools; a conditional edge sends, or the model by a command."""
    talk = way.open([], few("nothing", 1))
    model = Scripted(script=lambda: talk.script)

    def ask(state: Any) -> Any:
        said = model.invoke(state["messages"])
        if not commands:
            return {"messages": [said]}
        return Command(update={"messages": [said]}, goto=path({"messages": [said]}))

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", ask)
    guard_tools(builder, Guard(rules, log=talk.records.append), [paying])
    builder.add_edge(START, "model")
    builder.add_edge("tools", "model")
    if not commands:
        builder.add_conditional_edges("model", path, ["tools", END])
    talk.graph = builder.compile(checkpointer=InMemorySaver())
    return talk


commanded = pytest.mark.parametrize("commands", [False, True], ids=["edge", "command"])


@graphs
@commanded
@pytest.mark.parametrize("path", [each_call, thrice, and_the_state])
def test_a_call_that_is_sent_twice_runs_once_at_most(way: Way, path: Path, commands: bool) -> None:
    """Whatever has run has counted: under at most one, no second body runs."""
    talk = open_graph(way, few("pay", 1), path=path, commands=commands)
    calls = [pay(60, "1")] * 5 if path is each_call else [pay(60, "1")]
    talk.say(calls)
    assert len(RAN) <= 1
    assert len(RAN) == talk.statuses().count("ok")


@graphs
@commanded
def test_calls_of_their_own_ids_run_and_count(way: Way, commands: bool) -> None:
    """Each is decided with those before it, as if they had been sent together."""
    talk = open_graph(way, spending(100), path=each_call, commands=commands)
    came = talk.say([pay(60, "1"), pay(40, "2")])
    assert [came.result("1"), came.result("2")] == ["paid", "paid"]
    assert "not allowed" in talk.say([pay(1, "1")]).refused("1")


@graphs
@commanded
def test_ids_that_come_again_are_calls_of_their_own(way: Way, commands: bool) -> None:
    """In the next message, and in the next run."""
    talk = open_graph(way, small(100), path=each_call, commands=commands)
    talk.say([pay(1, "1")], [pay(2, "1")])
    talk.say([pay(3, "1")])
    assert RAN == [1, 2, 3]


@graphs
def test_a_step_that_is_replayed_is_not_refused_as_sent_twice(way: Way) -> None:
    """It is the same task, which decides again."""
    talk = open_graph(way, few("pay", 1), path=each_call)
    talk.say([pay(60, "1")])
    config: Any = {"configurable": {"thread_id": "one"}}
    history = [*talk.graph.get_state_history(config)]
    for node in ("tools.decide", "tools"):
        before = next(each for each in history if each.next == (node,))
        assert talk.go(None, config=before.config).result("1") == "paid"
    assert RAN == [60, 60, 60]
