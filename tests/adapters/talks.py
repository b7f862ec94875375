"""Agents of LangGraph and LangChain over tools of any kind: what is said, and what comes of it.

In: tools, contracts, and the turns of a scripted model. Out: `Came`: the state after a run. The
same test is played by a graph with a node of guarded tools and by an agent with middleware, with
`invoke` and with `ainvoke`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, TypeAlias

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import guard_tools, waiting
from sponsio_like.contracts.definition import Contract
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Mode
from tests.adapters.harness import Call
from tests.adapters.scripted import Line, Scripted, report, since_user


@dataclass(frozen=True)
class Came:
    """What came of one run."""

    state: dict[str, Any]

    def message(self, call: str) -> ToolMessage:
        """The one answer to a call, since the user has last said something."""
        found = since_user(self.state["messages"], ToolMessage)
        (answer,) = [each for each in found if each.tool_call_id == call]
        assert isinstance(answer, ToolMessage)
        return answer

    def result(self, call: str) -> str:
        """The result of a call, as the model hears it."""
        return report(self.state, ()).result(call)

    def refused(self, call: str) -> str:
        """Why a call was refused, as the model hears it."""
        return report(self.state, ()).refused(call)

    @property
    def last(self) -> str:
        """The text of the last message."""
        return str(self.state["messages"][-1].text)

    @property
    def said(self) -> list[str]:
        """What the model has said since the user has last said something, if it was not empty."""
        return [str(m.text) for m in since_user(self.state["messages"], AIMessage) if m.text]

    @property
    def sent_back(self) -> list[str]:
        """What the contracts have said to the model."""
        messages = [each for each in self.state["messages"] if isinstance(each, HumanMessage)]
        own = [m for m in messages if m.additional_kwargs.get("lc_source") == "contracts"]
        return [str(each.text) for each in own]

    @property
    def asked(self) -> list[dict[str, Any]]:
        """What people are asked, where the run has stopped for them."""
        return waiting(self.state)


@dataclass
class Talk:
    """One agent. `records`: what the guard has logged."""

    graph: Any
    model: Scripted
    script: list[Line]
    records: list[dict[str, Any]]
    later: bool

    def say(
        self, *turns: Line, user: str = "go on", thread: str | None = "one", **more: Any
    ) -> Came:
        """Run it: the user says something, then the model says these turns, and `done`."""
        return self.go({"messages": [("user", user)], **more}, *turns, thread=thread)

    def go(
        self, given: Any, *turns: Line, thread: str | None = "one", config: Any = (), **more: Any
    ) -> Came:
        """Run it with any input."""
        self.plan(*turns)
        whole = {"configurable": {"thread_id": thread} if thread else {}, **dict(config)}
        if self.later:
            return Came(asyncio.run(self.graph.ainvoke(given, whole, **more)))
        return Came(self.graph.invoke(given, whole, **more))

    def plan(self, *turns: Line) -> None:
        """What the model will say."""
        if turns:
            self.script[:] = [*turns, "done"]

    def stream(self, *turns: Line, mode: Any) -> list[Any]:
        """Run it, and what it streams meanwhile."""
        self.plan(*turns)
        given = {"messages": [("user", "go on")]}
        config = {"configurable": {"thread_id": "one"}}

        async def astream() -> list[Any]:
            return [each async for each in self.graph.astream(given, config, stream_mode=mode)]

        if self.later:
            return asyncio.run(astream())
        return list(self.graph.stream(given, config, stream_mode=mode))

    def statuses(self) -> list[str]:
        """How calls have ended, by the log."""
        return [each["status"] for each in self.records if each["event"] == "settlement"]

    def outcomes(self) -> list[str]:
        """How calls were decided, by the log."""
        return [each["outcome"] for each in self.records if each["event"] == "decision"]


Build: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class Way:
    """One way to guard an agent, run with `invoke` or with `ainvoke`."""

    name: str
    build: Build
    later: bool = False

    def open(
        self, tools: Sequence[Any], *contracts: Contract, mode: Mode = "enforce", **options: Any
    ) -> Talk:
        """A new agent with these tools, under these contracts."""
        records: list[dict[str, Any]] = []
        guard = Guard(contracts, mode=mode, log=records.append, log_args=True)
        return self.under(guard, tools, records, **options)

    def under(
        self,
        guard: Guard,
        tools: Sequence[Any],
        records: list[dict[str, Any]] | None = None,
        **options: Any,
    ) -> Talk:
        """A new agent with these tools, under this guard."""
        script: list[Line] = []
        model = Scripted(script=lambda: script)
        graph = self.build(guard, tools, model, **options)
        return Talk(graph, model, script, [] if records is None else records, self.later)


@dataclass(frozen=True)
class More:
    """What a graph has besides its model and its tools."""

    schema: Any = MessagesState
    store: Any = None
    context: Any = None
    nodes: dict[str, Any] = field(default_factory=dict)
    saver: Any = field(default_factory=InMemorySaver)


def graph_of(
    guard: Guard,
    tools: Sequence[Any],
    model: Scripted,
    *,
    more: More | None = None,
    **options: Any,
) -> Any:
    """A graph of a model and a node of guarded tools; `options` are those of `guard_tools`."""
    more = more or More()
    key = options.get("messages_key", "messages")

    def ask(state: Any) -> dict[str, Any]:
        messages = state[key] if isinstance(state, dict) else getattr(state, key)
        return {key: [model.invoke(messages)]}

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(more.schema, context_schema=more.context)
    builder.add_node("model", ask)
    guard_tools(builder, guard, tools, **options)
    for name, action in more.nodes.items():
        builder.add_node(name, action)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", lambda state: tools_condition(state, key))
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=more.saver, store=more.store)


def agent_of(
    guard: Guard,
    tools: Sequence[Any],
    model: Scripted,
    *,
    more: More | None = None,
    others: Sequence[Any] = (),
    before: Sequence[Any] = (),
    behind: Sequence[Any] = (),
    response: Any = None,
    **options: Any,
) -> Any:
    """An agent between whose middlewares `others` stand; `options` are those of `guarded`."""
    more = more or More()
    known = options.pop("known", tools)
    return create_agent(
        model,
        tools,
        middleware=[*before, *guarded(guard, known, *others, **options), *behind],
        state_schema=None if more.schema is MessagesState else more.schema,
        context_schema=more.context,
        response_format=response,
        checkpointer=more.saver,
        store=more.store,
    )


GRAPHS = (Way("graph", graph_of), Way("graph async", graph_of, later=True))
AGENTS = (Way("agent", agent_of), Way("agent async", agent_of, later=True))


def _each(*ways: Way) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("way", ways, ids=lambda way: way.name.replace(" ", "-"))


everywhere = _each(*GRAPHS, *AGENTS)
"""The test is played in every way."""
graphs = _each(*GRAPHS)
"""The test is about a node of guarded tools."""
agents = _each(*AGENTS)
"""The test is about the pair of middlewares."""
once = _each(GRAPHS[0], AGENTS[0])
"""The test builds an agent, or says nothing of how it is run."""


def ask(tool: str, id: str = "a", **args: Any) -> list[Call]:
    """The model asks for one call."""
    return [Call(tool, args, id)]


def older(package: str, major: int, minor: int) -> bool:
    """Whether an older version of a package is installed than this."""
    first, second = version(package).split(".")[:2]
    return (int(first), int(second)) < (major, minor)
