"""A graph with guarded tools and an agent with middleware, driven alike, by one script.

In: a way, contracts, maybe more tools. Out: an `App`: one thread that is spoken to, resumed,
replayed and edited, and a story of what came of each step, in the same words for every way.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import GuardedState, guard_tools, waiting
from sponsio_like.contracts.definition import Contract
from sponsio_like.guard.guard import Guard
from tests.adapters.bench import POLL, Bench, Clock, Ran
from tests.adapters.harness import Answers, Call, Turn
from tests.adapters.scripted import Scripted, resume, since_user
from tests.adapters.talks import older

State = dict[str, Any]


@dataclass(frozen=True)
class Way:
    """One of the ways to run a scenario.

    `later`: with coroutines. `anew`: each step is done by a graph that is made for it, as another
    process would do it, and finds only what is saved.
    """

    adapter: Literal["node", "middleware"]
    later: bool = False
    anew: bool = False

    def __str__(self) -> str:
        return f"{self.adapter} {'anew' if self.anew else 'async' if self.later else 'sync'}"


ADAPTERS: tuple[Literal["node", "middleware"], ...] = ("node", "middleware")
WAYS = tuple(
    Way(adapter, later, anew)
    for adapter in ADAPTERS
    for later, anew in ((False, False), (True, False), (False, True))
)
IN_ONE_PROCESS = tuple(each for each in WAYS if not each.anew)


class Both(MessagesState, GuardedState):
    """Messages, and the channel, for graphs that share it."""


# --- what is built --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kit:
    """What graphs are made of: those of one app have the same guard, tools, script and saver."""

    way: Way
    guard: Guard
    bench: Bench = field(default_factory=Bench)
    clock: Clock = field(default_factory=Clock)
    script: list[Turn] = field(default_factory=list)
    saver: Any = field(default_factory=InMemorySaver)

    def renew(self) -> None:
        """From now on graphs have a guard that knows nothing of earlier ones: another process."""
        object.__setattr__(self, "guard", Guard(self.guard.policy.contracts))

    @cached_property
    def tools(self) -> list[BaseTool]:
        """The tools of the bench that every agent here has."""
        plain, later = self.bench.tools, self.bench.async_tools
        return [made_tool(self.way, plain[name], later[name]) for name in ("pay", "send")]

    def agent(
        self,
        tools: Sequence[BaseTool] = (),
        script: Sequence[Turn] | None = None,
        saver: Any = None,
        **options: Any,
    ) -> Any:
        """A model with these tools and those of the bench; by default it plays the app's script."""
        turns = self.script if script is None else script
        build = _node if self.way.adapter == "node" else _middleware
        options = {"clock": self.clock, **options}
        return build(self, Scripted(script=lambda: turns), [*self.tools, *tools], saver, options)

    def charging(self, meanwhile: Callable[[], Iterator[None]] = lambda: iter(())) -> BaseTool:
        """A tool that charges an amount. It waits as long as `meanwhile` does, which may raise."""

        def charge(amount: int) -> str:
            self.bench.ran.append(Ran("charge", {"amount": amount}))
            for _ in meanwhile():
                time.sleep(POLL)
            return f"charged {amount}"

        async def acharge(amount: int) -> str:
            self.bench.ran.append(Ran("charge", {"amount": amount}))
            for _ in meanwhile():
                await asyncio.sleep(POLL)
            return f"charged {amount}"

        return made_tool(self.way, charge, acharge)


def charge(amount: int, id: str) -> Call:
    """The model asks for a charge."""
    return Call("charge", {"amount": amount}, id)


def made_tool(way: Way, run: Callable[..., Any], arun: Callable[..., Any]) -> BaseTool:
    """A tool of a scenario, for this way."""
    function: dict[str, Any] = {"coroutine": arun} if way.later else {"func": run}
    return StructuredTool.from_function(**function, name=run.__name__, description=run.__name__)


def joined(*branches: Sequence[Any], saver: Any, state: Any = Both) -> Any:
    """A graph of graphs: branches from the start on, in each one graph after another."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(state)
    for i, branch in enumerate(branches):
        last = START
        for j, graph in enumerate(branch):
            builder.add_node(f"{i} {j}", graph)
            builder.add_edge(last, f"{i} {j}")
            last = f"{i} {j}"
    return builder.compile(checkpointer=saver)


def _node(kit: Kit, model: Any, tools: Any, saver: Any, options: dict[str, Any]) -> Any:
    change = options.pop("change", lambda builder: None)
    state = Both if options.get("shared") else MessagesState
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(state)

    def ask(state: Any) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    async def aask(state: Any) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder.add_node("model", aask if kit.way.later else ask)
    guard_tools(builder, kit.guard, tools, **options)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    change(builder)
    return builder.compile(checkpointer=saver)


def _middleware(kit: Kit, model: Any, tools: Any, saver: Any, options: dict[str, Any]) -> Any:
    others = options.pop("others", ())
    pair = guarded(kit.guard, tools, *others, **options)
    return create_agent(model, tools, middleware=pair, checkpointer=saver)


# --- what is driven -------------------------------------------------------------------------------


@dataclass
class App:
    """One thread of a graph, and the story of it so far. `build` makes the graph."""

    kit: Kit
    build: Callable[[], Any]
    thread: str | None = "thread"
    story: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.graph = self.build()
        self._ran = 0
        self._seen: set[str] = set()

    # --- steps ----------------------------------------------------------------------------------

    def say(self, *script: Turn, at: Any = None, **options: Any) -> State:
        """The user says something; from now on the model plays this script."""
        self.kit.script[:] = [*script, "done"]
        return self.run({"messages": [("user", "go on")]}, at, **options)

    def run(self, given: Any, at: Any = None, **options: Any) -> State:
        """Run the graph on this input, from a checkpoint if one is given."""
        if self.kit.way.anew:
            self.kit.renew()
            self.graph = self.build()
        config = at or self.config
        if self.kit.way.later:
            return dict(asyncio.run(self.graph.ainvoke(given, config, **options)))
        return dict(self.graph.invoke(given, config, **options))

    def answer(self, state: State, answers: Answers, at: Any = None, **options: Any) -> State:
        """People answer what they were asked in this state, maybe at a checkpoint."""
        return self.run(resume(waiting(state), answers), at, **options)

    def edit(self, values: Mapping[str, Any], at: Any = None) -> Any:
        """Update the state of the thread, or of one of its checkpoints; where that leads."""
        config = at or self.config
        if self.kit.way.later:
            return asyncio.run(self.graph.aupdate_state(config, values))
        return self.graph.update_state(config, values)

    @property
    def config(self) -> Any:
        """The thread, as it is now."""
        return {"configurable": {} if self.thread is None else {"thread_id": self.thread}}

    @property
    def here(self) -> Any:
        """The checkpoint where the thread is now."""
        return self.graph.get_state(self.config).config

    @property
    def before_tools(self) -> Any:
        """The last checkpoint before tools."""
        history = self.graph.get_state_history(self.config)
        return next(each.config for each in history if "tools" in each.next)

    @property
    def asked_for(self) -> Any:
        """The checkpoint where the model has last asked for calls, and nothing was decided yet."""
        node = "tools.decide" if self.kit.way.adapter == "node" else "contracts.after_model"
        history = list(self.graph.get_state_history(self.config))
        found = [each for each in history if node in each.next and _asks(each)]
        if not found:
            raise LookupError("the model has asked for no call")
        last = found[0].values["messages"][-1].id
        return [each.config for each in found if each.values["messages"][-1].id == last][-1]

    def asking(self, before: Any) -> Any:
        """Where people are answered that were asked after this checkpoint.

        An agent asks in the step that decides, which is the next of this checkpoint; a graph in
        one of its own. Since LangGraph 1.2 a replay has a checkpoint of its own.
        """
        there = self.kit.way.adapter == "middleware" and older("langgraph", 1, 2)
        return before if there else None

    # --- the story ------------------------------------------------------------------------------

    def note(self, what: str, state: State | str) -> None:
        """Add what came of a step: what ran, what was refused, what is asked."""
        found = self._new()
        if isinstance(state, str):
            found.append(state)
        else:
            found += [f"refused {each}" for each in self._refused(state)]
            found += [f"asked {_call(each['tool'], each['args'])}" for each in waiting(state)]
        counts = Counter(found)
        told = [each if n == 1 else f"{each} × {n}" for each, n in counts.items()]
        self.story.append(f"{what}: {', '.join(told) or 'nothing'}")

    def note_of(self, what: str, run: Callable[[], State]) -> None:
        """Add a step that may end with an error, by the first part of its text."""
        try:
            state: State | str = run()
        except Exception as error:  # whatever it is, it is compared with what was expected
            state = "“" + re.split(r"[:;]", str(error))[0] + "”"
        self.note(what, state)

    def told(self) -> str:
        """The whole story."""
        return "; ".join(self.story)

    def _new(self) -> list[str]:
        """What has run since the last step; beside each other, so in no order."""
        new = [_call(each.tool, each.args) for each in self.kit.bench.ran[self._ran :]]
        self._ran = len(self.kit.bench.ran)
        return sorted(new)

    def _refused(self, state: State) -> list[str]:
        asked = {
            call["id"]: _call(call["name"], call["args"])
            for message in state["messages"]
            if isinstance(message, AIMessage)
            for call in message.tool_calls
        }
        errors = [
            each
            for each in since_user(state["messages"], ToolMessage)
            if each.status == "error" and each.id not in self._seen
        ]
        self._seen |= {str(each.id) for each in errors}
        return [asked[each.tool_call_id] for each in errors]


def _asks(state: Any) -> bool:
    return bool(getattr(state.values["messages"][-1], "tool_calls", None))


def _call(tool: str, args: Mapping[str, Any]) -> str:
    return " ".join([tool, *map(str, args.values())])


def kit(way: Way, *contracts: Contract) -> Kit:
    """What the graphs of a scenario are made of."""
    return Kit(way, Guard(contracts))


def opened(made: Kit, *tools: BaseTool, saver: Any = None, **options: Any) -> App:
    """An app with one agent, which has these tools too."""
    kept = made.saver if saver is None else saver
    return App(made, lambda: made.agent(tools, saver=kept, **options))
