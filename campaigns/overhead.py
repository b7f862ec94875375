"""Measures the cost of a guard in LangGraph and LangChain: turns with and without it, interleaved.

    python -m campaigns.overhead [RUNS]

Out: three tables in Markdown. The first has the time of the processor for one turn of a scripted
model that asks for several calls at once, state in memory: without contracts; the floor, which is
the same with a node that decides nothing before the tools, and a task for each call; and with three
contracts. The time of the processor, and not of the clock: other work on the machine disturbs it
least. The second has how long the event loop stands still at most in a run of turns, the collector
of garbage left out: what it goes through is what the frameworks have loaded, and whoever runs then
pays for it. How much each leaves to it is in the third: objects that only it can free.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph._internal._runnable import RunnableCallable
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Send

from sponsio_like import Guard, contract
from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.patterns import amount_limit, arg_value_range, rate_limit

TURNS = 5
MANY = 60
SIZES = (1, 4, MANY)
WARM = 3
"""Runs of each that are not counted."""


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@dataclass(frozen=True)
class Script:
    """What the model asks for in each turn: so many payments of this amount at once."""

    calls: int
    amount: int = 1

    def said(self, messages: list[BaseMessage]) -> AIMessage:
        """Return the next message of the model."""
        n = sum(isinstance(each, AIMessage) for each in messages)
        if n == TURNS:
            return AIMessage("done")
        ids = [f"call-{n}-{i}" for i in range(self.calls)]
        args = {"amount": self.amount}
        return AIMessage("", tool_calls=[{"name": "pay", "args": args, "id": id} for id in ids])


class Model(GenericFakeChatModel):
    """A chat model that plays the script."""

    script: Script

    def bind_tools(self, *_: Any, **__: Any) -> Model:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.script.said(messages))])


class Idle(AgentMiddleware[Any, Any]):
    """Has the hooks that the guard has, and does nothing in them."""

    def after_model(self, state: Any, runtime: Any) -> None: ...

    async def aafter_model(self, state: Any, runtime: Any) -> None: ...

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)


def guard() -> Guard:
    """Return a guard with three contracts: a limit of calls, of their sum, and of an argument."""
    return Guard(
        [
            contract("few").guarantees(rate_limit("pay", limit=100_000)),
            contract("sum").guarantees(amount_limit("pay", "amount", 10**9)),
            contract("small").guarantees(arg_value_range("pay", "amount", max=100)),
        ]
    )


def graph(script: Script, add: Callable[[Any], str]) -> Any:
    """Return a graph of a model and a node of tools; `add` adds it, and returns where calls go."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [script.said(state["messages"])]})
    first = add(builder)
    builder.add_edge(START, "model")
    ways = {"tools": first, "__end__": "__end__"}
    builder.add_conditional_edges("model", tools_condition, ways)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=InMemorySaver())


def plain(builder: Any) -> str:
    """Add a node of tools without contracts."""
    builder.add_node("tools", ToolNode([pay]))
    return "tools"


def floor(builder: Any) -> str:
    """Add a node of tools, and a node that sends it each call and decides nothing.

    Neither asks for a thread in an event loop, as the guard does not.
    """

    def sent(state: Any) -> list[Send]:
        calls = state["messages"][-1].tool_calls
        return [Send("tools", [{**each, "type": "tool_call"}]) for each in calls]

    async def asent(state: Any) -> list[Send]:
        return sent(state)

    async def nothing(_: Any) -> dict[str, Any]:
        return {}

    plain(builder)
    builder.add_node("decide", RunnableCallable(lambda _: {}, nothing, trace=False))
    builder.add_conditional_edges("decide", RunnableCallable(sent, asent, trace=False), ["tools"])
    return "decide"


def held(builder: Any) -> str:
    """Add a node of guarded tools."""
    guard_tools(builder, guard(), [pay])
    return "tools"


def agent(script: Script, middleware: list[Any]) -> Any:
    """Return an agent of LangChain with these middlewares."""
    model = Model(messages=iter(()), script=script)
    return create_agent(model, [pay], middleware=middleware, checkpointer=InMemorySaver())


def contestants(script: Script) -> dict[str, list[Any]]:
    """Return, of each adapter, the graph without contracts, the floor, and the guarded one."""
    return {
        "guard_tools": [graph(script, each) for each in (plain, floor, held)],
        "guarded": [agent(script, each) for each in ([], [Idle()], guarded(guard(), [pay]))],
    }


GIVEN = {"messages": [("user", "go on")]}


def on(thread: str) -> Any:
    """Return the config of a thread."""
    return {"configurable": {"thread_id": thread}, "recursion_limit": 1_000}


def costs(loop: asyncio.AbstractEventLoop, size: int, runs: int) -> list[str]:
    """Return the rows of one number of calls: milliseconds of the processor a turn, and ratios.

    Both are medians; a ratio is that of two runs, one after the other.

    What is not async runs where no event loop does. `asyncio.Runner` is not asked: on each run it
    writes the whole result down as a text, for nobody, which would hide what contracts cost.
    """
    every = contestants(Script(size))
    keys = [(name, later, i) for name in every for later in (False, True) for i in range(3)]
    times: dict[Any, list[float]] = {key: [] for key in keys}
    for k in range(runs + WARM):
        for key in keys:
            name, later, i = key
            graph, config = every[name][i], on(f"{later} {k}")
            started = time.process_time()
            if later:
                loop.run_until_complete(graph.ainvoke(GIVEN, config))
            else:
                graph.invoke(GIVEN, config)
            times[key].append((time.process_time() - started) / TURNS * 1_000)
    rows = []
    for name in every:
        for later in (False, True):
            plain, *others = (times[name, later, i][WARM:] for i in range(3))
            cells = " | ".join(f"{statistics.median(each):.2f}" for each in (plain, *others))
            ratios = " | ".join(f"{_ratio(each, plain):.2f}" for each in others)
            rows.append(
                f"| {name} | {'async' if later else 'sync'} | {size} | {cells} | {ratios} |"
            )
    return rows


def _ratio(one: list[float], other: list[float]) -> float:
    """Return the median of the ratios of runs that were made one after the other."""
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


async def stall(graph: Any, thread: str) -> float:
    """Return for how many milliseconds of the processor the event loop was held at most."""
    loop, longest, last = asyncio.get_running_loop(), 0.0, time.thread_time()
    done = False

    def tick() -> None:
        nonlocal longest, last
        now = time.thread_time()
        longest, last = max(longest, now - last), now
        if not done:
            loop.call_soon(tick)

    tick()
    await graph.ainvoke(GIVEN, on(thread))
    done = True
    return longest * 1_000


async def stalls(runs: int) -> list[str]:
    """Return the rows of the second table: with a call that is allowed, and with a refused one."""
    rows = []
    for what, script in (("allowed", Script(1)), ("refused", Script(1, amount=101))):
        every = contestants(script)
        times: dict[Any, list[float]] = {(name, i): [] for name in every for i in range(3)}
        for k in range(runs + WARM):
            for name, i in list(times):
                gc.collect(0)
                gc.disable()
                times[name, i].append(await stall(every[name][i], str(k)))
                gc.enable()
        for name in every:
            cells = []
            for i in range(3):
                found = sorted(times[name, i][WARM:])
                last = found[min(len(found) - 1, len(found) * 99 // 100)]
                cells.append(f"{statistics.median(found):.2f} | {last:.2f}")
            rows.append(f"| {name} | {what} | {' | '.join(cells)} |")
    return rows


def garbage(runs: int) -> list[str]:
    """Return the rows of the third table: objects for the collector, for each turn."""
    rows = []
    for what, script in (("allowed", Script(1)), ("refused", Script(1, amount=101))):
        for name, each in contestants(script).items():
            cells = [f"{left(graph, runs):.0f}" for graph in each]
            rows.append(f"| {name} | {what} | {' | '.join(cells)} |")
    return rows


def left(graph: Any, runs: int) -> float:
    """Return how many objects a turn leaves that only the collector frees."""
    for k in range(WARM):
        graph.invoke(GIVEN, on(f"warm {k}"))
    gc.collect()
    gc.disable()
    for k in range(runs):
        graph.invoke(GIVEN, on(str(k)))
    found = gc.collect()
    gc.enable()
    return found / runs / TURNS


def _print(*lines: str) -> None:
    sys.stdout.write("".join(f"{each}\n" for each in lines))
    sys.stdout.flush()


def main(runs: int) -> None:
    """Measure, and print the tables, row by row."""
    _print(
        "| adapter | way | calls | without, ms | floor, ms | with, ms | floor | with |",
        "|---|---|---|---|---|---|---|---|",
    )
    loop = asyncio.new_event_loop()
    for size in SIZES:
        _print(*costs(loop, size, runs if size < MANY else max(3, runs // 8)))
    loop.close()
    _print(
        "",
        "| adapter | call | without, ms | p99 | floor, ms | p99 | with, ms | p99 |",
        "|---|---|---|---|---|---|---|---|",
        *asyncio.run(stalls(runs)),
        "",
        "| adapter | call | without | floor | with |",
        "|---|---|---|---|---|",
        *garbage(10),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
