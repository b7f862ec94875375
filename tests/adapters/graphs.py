"""LangGraph and LangChain: a graph with a node of guarded tools, and an agent with middleware.

In: a script. Out: what the graph tells the model, by its messages.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphBubbleUp
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import guard_tools, waiting
from tests.adapters.bench import TOOLS
from tests.adapters.harness import Adapter, Agent, Answers, Host, Report, Turn
from tests.adapters.scripted import Scripted, report, resume, said

Script = Callable[[], Sequence[Turn]]

CANNOT = {"a_cancelled_call_is_settled_as_an_error": "a function that is not async runs to its end"}


SCHEMAS = {each.__name__: StructuredTool.from_function(each).args_schema for each in TOOLS}
"""What the tools take, as LangChain reads it from their functions: read once, for it takes long."""


def tools_of(host: Host, *, later: bool) -> list[StructuredTool]:
    """The tools of the bench, as LangChain has them."""
    make = StructuredTool.from_function
    if later:
        each = host.bench.async_tools.items()
        return [make(coroutine=f, name=name, args_schema=SCHEMAS[name]) for name, f in each]
    each = host.bench.tools.items()
    return [make(f, name=name, args_schema=SCHEMAS[name]) for name, f in each]


def node(host: Host, script: Script, *, later: bool) -> Any:
    """A graph of a model and a node of guarded tools."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [said(script(), state["messages"])]})
    guard_tools(
        builder,
        host.guard,
        tools_of(host, later=later),
        clock=host.clock,
        options={"handle_tool_errors": True},
    )
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=InMemorySaver())


class Errors(AgentMiddleware[Any, Any]):
    """Tells the model what a tool has raised."""

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        try:
            return handler(request)
        except GraphBubbleUp:
            raise
        except ValueError as error:
            return _wrong(request, error)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        try:
            return await handler(request)
        except GraphBubbleUp:
            raise
        except ValueError as error:
            return _wrong(request, error)


def _wrong(request: Any, error: Exception) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(str(error), name=call["name"], tool_call_id=call["id"], status="error")


def middleware(host: Host, script: Script, *, later: bool) -> Any:
    """An agent of LangChain, between whose middlewares there is one that tells of errors."""
    tools = tools_of(host, later=later)
    pair = guarded(host.guard, tools, Errors(), clock=host.clock)
    model = Scripted(script=script)
    return create_agent(model, tools, middleware=pair, checkpointer=InMemorySaver())


def opened(host: Host, build: Callable[..., Any], *, later: bool) -> Agent:
    """An agent whose threads are those of one graph."""
    script: list[Turn] = []
    graph = build(host, lambda: script, later=later)

    def config(thread: str | None) -> dict[str, Any]:
        return {"configurable": {"thread_id": thread} if thread is not None else {}}

    def play(turns: Sequence[Turn], thread: str | None, people: Iterator[Answers]) -> Report:
        script[:] = turns
        state = graph.invoke({"messages": [("user", "go on")]}, config(thread))
        shown: list[dict[str, Any]] = []
        while asked := waiting(state):
            shown += asked
            answers = next(people, None)
            if answers is None:
                break
            state = graph.invoke(resume(asked, answers), config(thread))
        return report(state, shown)

    async def aplay(turns: Sequence[Turn], thread: str | None, people: Iterator[Answers]) -> Report:
        script[:] = turns
        state = await graph.ainvoke({"messages": [("user", "go on")]}, config(thread))
        shown: list[dict[str, Any]] = []
        while asked := waiting(state):
            shown += asked
            answers = next(people, None)
            if answers is None:
                break
            state = await graph.ainvoke(resume(asked, answers), config(thread))
        return report(state, shown)

    return aplay if later else play


GRAPHS = (
    Adapter("langgraph sync", lambda host: opened(host, node, later=False), CANNOT),
    Adapter("langgraph async", lambda host: opened(host, node, later=True)),
    Adapter("langchain sync", lambda host: opened(host, middleware, later=False), CANNOT),
    Adapter("langchain async", lambda host: opened(host, middleware, later=True)),
)
