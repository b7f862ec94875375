"""Guarded tools as a node of any graph: one node decides a batch, then each call is a task.

In: a graph builder, a guard and tools. Out: the builder with the node. `tools.decide` decides the
calls of one message together; then it sends each call to `tools`, where it runs, or is answered
with the refusal. Retries, caches, timeouts and interrupts of tools therefore fall on one call
each, and never on a decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph._internal._runnable import RunnableCallable
from langgraph.graph import StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from sponsio_like.adapters.langgraph.answers import refusal
from sponsio_like.adapters.langgraph.asking import Tools, last_asking, unanswered
from sponsio_like.adapters.langgraph.calls import Calls
from sponsio_like.adapters.langgraph.deciding import SENT, Asks, Decide, Sent, instead_of
from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.adapters.langgraph.hearing import refuse_answers
from sponsio_like.adapters.langgraph.lineage import GuardedState
from sponsio_like.adapters.langgraph.routes import Exits, check_state, goto, route, state_of
from sponsio_like.adapters.langgraph.sessions import Sessions, read
from sponsio_like.errors import ContractError
from sponsio_like.guard import Guard
from sponsio_like.rollcall import meet_all


def guard_tools(
    builder: StateGraph[Any, Any, Any, Any],
    guard: Guard,
    tools: Sequence[BaseTool | Callable[..., Any]],
    *,
    name: str = "tools",
    messages_key: str = "messages",
    options: dict[str, Any] | None = None,
    **sessions: Any,
) -> StateGraph[Any, Any, Any, Any]:
    """Add a node of guarded tools, where `builder.add_node("tools", ToolNode(tools))` stood.

    `options` are those of `ToolNode`, but no wrappers. `sessions`: `agent` is whose calls these
    are; `scope="run"` begins a session with each run instead of each thread; `shared` is for
    graphs that run inside others; `world` is the store of contracts on the world; `facts` tells
    facts of the context before each batch; `clock`. Raises `InputMissing` and `ContractError` for
    contracts that could not be kept here. Where the strategy `stop` ends the run, the node raises
    `RunStopped` before any call of the batch runs.
    """
    opened, schema = Sessions(guard, **sessions), builder.state_schema
    refuse_answers(guard.policy)
    check_state(builder)
    for each in ("wrap_tool_call", "awrap_tool_call"):
        if each in (options or {}):
            raise ContractError.of(
                f"`options` has `{each}`, which may change a call after it was decided",
                "wrap the tools, or use the middleware of sponsio_like.adapters.langchain",
            )
    known = Tools(ToolNode(tools).tools_by_name.values())
    meet_all(guard.policy, known.arguments)
    calls = Calls(opened, known, messages_key)
    wrappers: dict[str, Any] = {"wrap_tool_call": calls.whole, "awrap_tool_call": calls.awhole}
    inner = ToolNode(tools, name=name, messages_key=messages_key, **wrappers, **(options or {}))
    channels = tuple(builder.schemas[schema])

    def asks(state: Any, *_: Any) -> Asks:
        messages = messages_of(state, messages_key)
        asking = last_asking(messages)
        of = None if asking is None else asking.id
        return {"of": of, "calls": known.asked(unanswered(messages), of), "messages": messages}

    Decide(opened, known, name, schema, channels, asks, _sent).add(builder)
    node = _Calls(inner, messages_key, name, schema, channels, route(builder, name))
    whole = RunnableCallable(node.run, node.arun, name=name, trace=False)
    return builder.add_node(name, whole, input_schema=GuardedState)


def _sent(ruling: Ruling) -> Sent:
    asking = ruling.asking
    if not ruling.tool:
        return {SENT: "refused", "call": refusal(ruling)}
    call = {"name": asking.tool, "args": dict(asking.raw), "id": asking.id, "type": "tool_call"}
    return {SENT: "run", "call": call}


@dataclass(frozen=True)
class _Calls:
    """The node where calls run. What a user's own node sends here is decided first."""

    inner: ToolNode
    key: str
    name: str
    schema: Any
    channels: tuple[str, ...]
    exits: Exits

    def run(self, given: Any, config: RunnableConfig) -> Any:
        going = instead_of(given, self.name, config) or self._going(given, config)
        if isinstance(going, Command):
            return going
        return self._and_on(self.inner.invoke(going))

    async def arun(self, given: Any, config: RunnableConfig) -> Any:
        going = instead_of(given, self.name, config) or self._going(given, config)
        if isinstance(going, Command):
            return going
        return self._and_on(await self.inner.ainvoke(going))

    def _going(self, given: Sent, config: RunnableConfig) -> Any:
        """The call as `ToolNode` takes it; or what comes of it without one."""
        if given[SENT] != "run":
            said = [given["call"]] if given[SENT] == "refused" else []
            return Command(update={self.key: said}, goto=goto(self.exits))
        state = state_of(self.schema, read(config, list(self.channels)))
        return {"__type": "tool_call_with_context", "tool_call": given["call"], "state": state}

    def _and_on(self, output: Any) -> list[Any]:
        parts = output if isinstance(output, list) else [output]
        return [*parts, Command(goto=goto(self.exits))]


def messages_of(state: Any, key: str) -> Sequence[Any]:
    """The messages of a state, or those that stand there instead of one."""
    if isinstance(state, list):
        return state
    found: Sequence[Any] = (
        state.get(key, ()) if isinstance(state, Mapping) else getattr(state, key, ())
    )
    return found
