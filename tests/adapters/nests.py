"""Graphs in graphs: an outer one, an inner one that it calls, and a guard of each.

In: what is outside, what is inside, and how their guards are related. Out: which bodies have run in
each of two turns of one thread: `i` is a payment of the inner graph, `o` one of the outer graph (or
of another inner one, where the outer graph has no tools). In each turn the inner graph pays twice,
then the outer one once.
"""

from __future__ import annotations

import asyncio
import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from pydantic import BaseModel

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import GuardedState, guard_tools
from sponsio_like.contracts.definition import contract
from sponsio_like.errors import SessionError
from sponsio_like.guard.guard import Guard
from sponsio_like.patterns import rate_limit
from tests.adapters.scripted import Line, Scripted, said, since_user
from tests.adapters.talks import ask

ELSEWHERE = ("research", "task", "transfer_to_alice", "transfer_to_bob")


class Both(MessagesState, GuardedState):
    """Messages, and the channel of the contracts."""


class Acts(Scripted):
    """A model of one of several agents, who may read each other's messages."""

    who: str

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        told = since_user(messages, AIMessage)
        mine = [each for each in told if each.response_metadata.get("by") == self.who]
        message = said(self.script(), mine)
        message.response_metadata["by"] = self.who
        return ChatResult(generations=[ChatGeneration(message=message)])


def acts(who: str, *turns: Line) -> Acts:
    """A model that says these turns, then that it is done."""
    return Acts(who=who, script=lambda: [*turns, f"{who} is done"])


def few(name: str, limit: int) -> Guard:
    """A guard of one contract: at most so many payments."""
    return Guard([contract(name).guarantees(rate_limit("pay", limit))], elsewhere=ELSEWHERE)


class Payment(BaseModel):
    """What a payment takes: made once, since the schema of a function is made anew each time."""

    amount: int


class Question(BaseModel):
    """What an inner graph is asked."""

    question: str


@dataclass
class Ledger:
    """What has run: one letter for each body."""

    ran: list[str] = field(default_factory=list)

    def pay(self, who: str) -> BaseTool:
        """A payment that writes `who` into the ledger."""

        def pay(amount: int) -> str:
            self.ran.append(who)
            return f"paid {amount}"

        async def apay(amount: int) -> str:
            return pay(amount)

        return StructuredTool(
            name="pay",
            description="Pay an amount.",
            args_schema=Payment,
            func=pay,
            coroutine=apay,
        )


def pays(who: str, times: int) -> list[Any]:
    """So many turns that ask for a payment."""
    return [ask("pay", f"{who}{i}", amount=i) for i in range(times)]


# --- the inner graph ------------------------------------------------------------------------------


def graph_inside(guard: Guard, tools: Sequence[BaseTool], model: Acts, **options: Any) -> Any:
    """A graph of a model and guarded tools."""
    saver = options.pop("saver", None)
    state: Any = Both if options.get("shared") else MessagesState
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(state)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    guard_tools(builder, guard, tools, **options)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=saver, name=model.who)


def agent_inside(guard: Guard, tools: Sequence[BaseTool], model: Acts, **options: Any) -> Any:
    """An agent with guarded tools."""
    saver = options.pop("saver", None)
    pair = guarded(guard, tools, **options)
    return create_agent(model, tools, middleware=pair, checkpointer=saver, name=model.who)


Inside: TypeAlias = Callable[..., Any]


def as_tool(inner: Any, name: str = "research") -> BaseTool:
    """A tool whose body runs the inner graph."""

    def run(question: str) -> str:
        return str(inner.invoke({"messages": [("user", question)]})["messages"][-1].text)

    async def arun(question: str) -> str:
        state = await inner.ainvoke({"messages": [("user", question)]})
        return str(state["messages"][-1].text)

    return StructuredTool(
        name=name,
        description="Find something out.",
        args_schema=Question,
        func=run,
        coroutine=arun,
    )


# --- how their guards are related -----------------------------------------------------------------


@dataclass(frozen=True)
class Guards:
    """The guards, the options of the inner one, and what inner graphs are made with."""

    outer: Guard
    inner: Guard
    options: dict[str, Any]
    inside: Inside
    ledger: Ledger
    later: bool
    saver: Any

    def alice(self, *more: BaseTool, last: Sequence[Line] = ()) -> Any:
        """The inner graph, which pays twice."""
        tools = [self.ledger.pay("i"), *more]
        return self.inside(self.inner, tools, acts("alice", *pays("i", 2), *last), **self.options)

    def bob(self, *more: BaseTool) -> Any:
        """An inner graph that stands for the outer one: it pays once, under the outer guard."""
        tools = [self.ledger.pay("o"), *more]
        return self.inside(self.outer, tools, acts("bob", *pays("o", 1)), **self.options)

    @property
    def state(self) -> Any:
        """The state of the outer graph."""
        return Both if self.options.get("shared") else MessagesState


def one_guard() -> tuple[Guard, Guard]:
    """One guard for both: four payments in all."""
    both = few("both", 4)
    return both, both


def two_guards() -> tuple[Guard, Guard]:
    """A guard of each: one payment outside, three inside."""
    return few("outer", 1), few("inner", 3)


def each_run() -> tuple[Guard, Guard]:
    """A guard of each: one payment outside, one in each run inside."""
    return few("outer", 1), few("inner", 1)


RELATIONS: dict[str, tuple[Callable[[], tuple[Guard, Guard]], dict[str, Any]]] = {
    "one guard": (one_guard, {}),
    "one guard, shared": (one_guard, {"shared": True}),
    "its own": (two_guards, {}),
    "its own, shared": (two_guards, {"shared": True}),
    "its own, goes on": (two_guards, {"saver": True}),
    "its own, each run": (each_run, {"scope": "run"}),
}

# --- the outer graph ------------------------------------------------------------------------------


def _script() -> list[Line]:
    return [ask("research", "r", question="why"), *pays("o", 1)]


def guarded_graph(made: Guards) -> Any:
    """A graph with guarded tools, one of which runs the inner graph."""
    tools = [as_tool(made.alice()), made.ledger.pay("o")]
    return graph_inside(made.outer, tools, acts("boss", *_script()), saver=made.saver)


def guarded_agent(made: Guards) -> Any:
    """An agent with guarded tools, one of which runs the inner graph."""
    tools = [as_tool(made.alice()), made.ledger.pay("o")]
    return agent_inside(made.outer, tools, acts("boss", *_script()), saver=made.saver)


def react_agent(made: Guards) -> Any:
    """An agent of LangGraph, without a guard: one tool runs the inner graph, another one bob."""
    from langgraph.prebuilt import create_react_agent

    tools = [as_tool(made.alice()), as_tool(made.bob(), "delegate")]
    script = ask("research", "r", question="why"), ask("delegate", "d", question="pay")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is deprecated
        return create_react_agent(acts("boss", *script), tools, checkpointer=made.saver)


def plain_graph(made: Guards) -> Any:
    """A graph whose nodes are the inner graph and bob."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(made.state)
    builder.add_node("first", made.alice())
    builder.add_node("second", made.bob())
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    return builder.compile(checkpointer=made.saver)


def guarded_graph_around(made: Guards) -> Any:
    """A graph with guarded tools, and the inner graph as a node behind them."""
    model = acts("boss", *pays("o", 1))
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(made.state)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    guard_tools(builder, made.outer, [made.ledger.pay("o")])
    builder.add_node("inner", made.alice())
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition, {"tools": "tools", "__end__": "inner"})
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=made.saver)


def calling_graph(made: Guards) -> Any:
    """A graph whose nodes call the inner graph and bob, with the state, and return theirs."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(made.state)
    for name, inner in (("first", made.alice()), ("second", made.bob())):
        builder.add_node(name, RunnableLambda(inner.invoke, inner.ainvoke))
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    return builder.compile(checkpointer=made.saver)


def functional(made: Guards) -> Any:
    """An entrypoint with a task for the inner graph, and one for bob."""
    alice, bob = made.alice(), made.bob()

    @task
    def first(given: Any) -> Any:
        return alice.invoke(given)["messages"][-1].text

    @task
    async def afirst(given: Any) -> Any:
        return (await alice.ainvoke(given))["messages"][-1].text

    @task
    def second(given: Any) -> Any:
        return bob.invoke(given)["messages"][-1].text

    @task
    async def asecond(given: Any) -> Any:
        return (await bob.ainvoke(given))["messages"][-1].text

    @entrypoint(checkpointer=made.saver)
    def flow(given: Any) -> Any:
        return [first(given).result(), second(given).result()]

    @entrypoint(checkpointer=made.saver)
    async def aflow(given: Any) -> Any:
        return [await afirst(given), await asecond(given)]

    return aflow if made.later else flow


# --- two turns ------------------------------------------------------------------------------------

Outer: TypeAlias = Callable[[Guards], Any]


def turns(outer: Outer, inside: Inside, relation: str, *, later: bool) -> dict[str, list[str]]:
    """What runs in each of two turns; or why nothing may. The first turn is played once.

    The second one is played twice from the same checkpoints: `here`, and `anew` by graphs and
    guards that are made for it, as after a restart.
    """
    guards, options = RELATIONS[relation]
    ledger, saver = Ledger(), InMemorySaver()

    def build() -> Any:
        return outer(Guards(*guards(), options, inside, ledger, later, saver))

    def turn(graph: Any) -> str:
        del ledger.ran[:]
        go(graph, {"messages": [("user", "go on")]}, later=later)
        return "".join(ledger.ran)

    graph = build()
    try:
        first = turn(graph)
    except SessionError as error:
        return {"here": [str(error)]}
    saved = copy.deepcopy((saver.storage, saver.writes, saver.blobs))
    came = {}
    for name, second in (("here", graph), ("anew", build())):
        try:
            came[name] = [first, turn(second)]
        except SessionError as error:
            came[name] = [str(error)]
        saver.storage, saver.writes, saver.blobs = saved
    return came


def go(graph: Any, given: Any, *, later: bool, thread: str = "one") -> Any:
    """One run of a graph."""
    config: Any = {"configurable": {"thread_id": thread}, "recursion_limit": 60}
    return asyncio.run(graph.ainvoke(given, config)) if later else graph.invoke(given, config)
