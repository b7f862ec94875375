"""Measures the cost of a guard in LangGraph and LangChain: runs with and without it, interleaved.

    python -m campaigns.overhead [RUNS]

Out: a table in Markdown: the median time of a call without contracts and with them, and the median
of the differences. Each run is a thread with 20 calls, state in memory, a scripted model.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from sponsio_like import Guard, contract
from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.patterns import must_precede, rate_limit

CALLS = 20


class Model(GenericFakeChatModel):
    """A model that asks for one call after another, then ends."""

    def bind_tools(self, *_: Any, **__: Any) -> Model:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=asked(messages))])


def asked(messages: list[BaseMessage]) -> AIMessage:
    """Return the message that asks for the next call."""
    done = sum(isinstance(each, ToolMessage) for each in messages)
    if done == CALLS:
        return AIMessage("done")
    name = "pay" if done else "check"
    return AIMessage(
        "", tool_calls=[{"name": name, "args": {"amount": done}, "id": f"call-{done}"}]
    )


@tool
def check(amount: int) -> str:
    """Check an amount."""
    return f"checked {amount}"


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def guard() -> Guard:
    """Return a guard with three contracts: an argument, an order, a limit."""
    return Guard(
        [
            contract("small").guarantees("`pay.amount` between 0 and 500"),
            contract("checked").guarantees(must_precede("check", "pay")),
            contract("few").guarantees(rate_limit("pay", limit=1_000)),
        ]
    )


def graph(add: Callable[[StateGraph[Any, Any, Any, Any]], Any]) -> Any:
    """Return a graph of a model and a node of tools."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [asked(state["messages"])]})
    add(builder)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=InMemorySaver())


def agent(middleware: list[Any]) -> Any:
    """Return an agent of LangChain."""
    return create_agent(
        Model(messages=iter(())), [check, pay], middleware=middleware, checkpointer=InMemorySaver()
    )


def measured(run: Any, thread: str) -> float:
    """Return the milliseconds for each call of one run."""
    config = {"configurable": {"thread_id": thread}, "recursion_limit": 1_000}
    started = time.perf_counter()
    run.invoke({"messages": [("user", "go on")]}, config)
    return (time.perf_counter() - started) / CALLS * 1_000


def main(runs: int) -> None:
    """Measure, and print the table."""
    tools = [check, pay]
    pairs = {
        "LangGraph node": (
            graph(lambda builder: builder.add_node("tools", ToolNode(tools))),
            graph(lambda builder: guard_tools(builder, guard(), tools)),
        ),
        "LangChain middleware": (agent([]), agent(guarded(guard(), tools))),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in pairs}
    for i in range(runs + 3):
        for name, (plain, held) in pairs.items():
            order = ((0, plain), (1, held)) if i % 2 else ((1, held), (0, plain))
            both = [0.0, 0.0]
            for k, each in order:
                both[k] = measured(each, f"{name} {i}")
            if i >= 3:
                times[name].append((both[0], both[1]))
    lines = [
        "| adapter | without, ms a call | with, ms a call | median difference, ms |",
        "|---|---|---|---|",
    ]
    for name, each in times.items():
        without = statistics.median(pair[0] for pair in each)
        with_it = statistics.median(pair[1] for pair in each)
        more = statistics.median(pair[1] - pair[0] for pair in each)
        lines.append(f"| {name} | {without:.2f} | {with_it:.2f} | {more:.2f} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
