"""Guarded tools as a node of any graph: one node decides a batch, then each call is a task.

In: a graph builder, a guard and tools. Out: the builder with the node. `tools.decide` decides the
calls of one message together; then it sends each call to `tools`, where it runs, or is answered
with the refusal. Retries, caches, timeouts and interrupts of tools therefore fall on one call
each, and never on a decision.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass
from types import FunctionType, SimpleNamespace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph._internal._runnable import RunnableCallable
from langgraph.graph import StateGraph
from langgraph.prebuilt import ToolNode, tool_node
from langgraph.types import CachePolicy, Command, RetryPolicy

from sponsio_like.adapters.langgraph.answers import refusal
from sponsio_like.adapters.langgraph.asked_calls import (
    Tools,
    check_list,
    last_asking,
    name_of,
    unanswered,
)
from sponsio_like.adapters.langgraph.calls import Calls
from sponsio_like.adapters.langgraph.channel import GuardedState
from sponsio_like.adapters.langgraph.decision_node import Asks, Decide, instead_of
from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.adapters.langgraph.handlers import of_tools, on_state
from sponsio_like.adapters.langgraph.messages import Facts
from sponsio_like.adapters.langgraph.payloads import (
    SENT,
    Brought,
    Sent,
    brought,
    messages_of,
    state_in,
)
from sponsio_like.adapters.langgraph.routes import (
    Exits,
    add,
    check_state,
    goto,
    node_of,
    route,
    state_of,
)
from sponsio_like.adapters.langgraph.sessions import Scope, Sessions, read_channels
from sponsio_like.errors import ContractError
from sponsio_like.guard import Flow, Guard, Run, checked_by
from sponsio_like.worlds import World


def guard_tools(  # noqa: PLR0913  the options of users, each by its name
    builder: StateGraph[Any, Any, Any, Any],
    guard: Guard,
    tools: Sequence[BaseTool | Callable[..., Any]],
    *,
    name: str = "tools",
    messages_key: str = "messages",
    options: dict[str, Any] | None = None,
    agent: str = "agent",
    scope: Scope = "thread",
    shared: bool = False,
    world: World | None = None,
    clock: Callable[[], float] = time.time,
    facts: Facts | None = None,
    defer: bool = False,
    metadata: dict[str, Any] | None = None,
    retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
    cache_policy: CachePolicy[Any] | None = None,
    timeout: Any = None,
    error_handler: Any = None,
) -> StateGraph[Any, Any, Any, Any]:
    """Add a node of guarded tools, where `builder.add_node("tools", ToolNode(tools))` stood.

    `options` are those of `ToolNode`, but no wrappers. `agent` is whose calls these are;
    `scope="run"` begins a session with each run instead of each thread; `shared` is for graphs that
    run inside others; `world` is the store of contracts on the world; `facts` tells facts of the
    context before each batch. `metadata` to `error_handler` as for `add_node`: they are those of
    each call; with `defer` decisions wait for the end of the run. Raises `InputMissing` and
    `ContractError` for contracts that could not be kept here. Where the strategy `stop` ends the
    run, the node raises `RunStopped` before any call of the batch runs.
    """
    opened = Sessions(
        guard, agent=agent, scope=scope, shared=shared, world=world, clock=clock, facts=facts
    )
    more: dict[str, Any] = {
        "input_schema": GuardedState,
        "metadata": metadata,
        "retry_policy": retry_policy,
        "cache_policy": cache_policy,
    }
    whole = _whole(builder, opened, tools, (name, messages_key), options or {}, defer=defer)
    more["timeout"] = timeout
    if error_handler is not None:
        more["error_handler"] = on_state(error_handler, builder)
    return add(builder, name, whole, more)


def _whole(
    builder: StateGraph[Any, Any, Any, Any],
    opened: Sessions,
    tools: Sequence[Any],
    names: tuple[str, str],
    options: Mapping[str, Any],
    *,
    defer: bool,
) -> RunnableCallable:
    """Add the node that decides, and return the one where calls run."""
    guard, schema, (name, messages_key) = opened.guard, builder.state_schema, names
    check_state(builder)
    check_list(tools, "guard_tools(builder, guard, [{}], options={{..}})")
    _check(options)
    known = Tools(ToolNode(tools).tools_by_name.values())
    checked_by(guard, known)
    calls = Calls(opened, known, messages_key, node=name)
    wrappers: dict[str, Any] = {"wrap_tool_call": calls.whole, "awrap_tool_call": calls.awhole}
    if "handle_tool_errors" in options:
        options = {**options, "handle_tool_errors": of_tools(options["handle_tool_errors"])}
    inner = _OneCall(tools, name=name, messages_key=messages_key, **wrappers, **options)
    channels = tuple(builder.schemas[schema])

    def asks(state: Any, payloads: list[Any] | None, batch: str, _: RunnableConfig) -> Asks:
        messages = messages_of(state, messages_key)
        of = name_of(messages)
        if payloads is None:
            return Asks(of or batch, known.asked(unanswered(messages), of), messages)
        sent = [brought(each, messages_key, name) for each in payloads]
        return _of_sent(known, sent, Asks(batch, [], messages), of or batch)

    exits = route(builder, name, guard, on_state)
    Decide(opened, known, name, schema, channels, exits, asks, _sent).add(builder, defer=defer)
    node = _Calls(opened, inner, messages_key, name, schema, channels, exits)
    return node_of(node.flow, name)


def _of_sent(known: Tools, sent: Sequence[Brought], asks: Asks, of: str) -> Asks:
    """Return what is to be decided of payloads: the calls of each of the model's messages together.

    `of`: the message of calls that come without one.
    """
    by: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    messages = {each.id or str(i): each for i, each in enumerate(asks.messages)}
    for i, (own, calls) in enumerate(sent):
        asking = last_asking(own)
        mine = of if asking is None else asking.id or f"{asks.of} {i}"
        by.setdefault(mine, []).extend((i, each) for each in calls)
        messages.update({each.id: each for each in own if each.id})
    every = [known.asked([call for _, call in pairs], mine) for mine, pairs in by.items()]
    at = [i for pairs in by.values() for i, _ in pairs]
    return Asks(asks.of, [each for some in every for each in some], [*messages.values()], at)


def _check(options: Mapping[str, Any]) -> None:
    for each in ("wrap_tool_call", "awrap_tool_call"):
        if each in options:
            raise ContractError.of(
                f"`options` has `{each}`, which may change a call after it was decided",
                "wrap the tools, or use the middleware of sponsio_like.adapters.langchain",
            )


def _sent(ruling: Ruling) -> Sent:
    asking = ruling.asking
    if not ruling.tool:
        return {SENT: "refused", "call": refusal(ruling)}
    call = {"name": asking.tool, "args": dict(asking.raw), "id": asking.id, "type": "tool_call"}
    return {SENT: "run", "call": call, "own": ruling.id}


def _map(run: Callable[..., Any], *of_each: Sequence[Any]) -> list[Any]:
    """Return what running each gives, each in a context of its own, as in a pool of threads."""
    return [copy_context().run(run, *each) for each in zip(*of_each, strict=True)]


async def _gather(*waiting: Awaitable[Any]) -> list[Any]:
    """Return what awaiting each gives, one after the other, and in no tasks of their own."""
    return [await each for each in waiting]


def _with(run: Any, **instead: Any) -> Any:
    """Return this method of a `ToolNode`, which finds these under their names."""
    return FunctionType(run.__code__, vars(tool_node) | instead, argdefs=run.__defaults__)


_POOL = nullcontext(SimpleNamespace(map=_map))
_run_here = _with(ToolNode._func, get_executor_for_config=lambda _: _POOL)  # noqa: SLF001
_arun_here = _with(ToolNode._afunc, asyncio=SimpleNamespace(**{**vars(asyncio), "gather": _gather}))  # noqa: SLF001


class _OneCall(ToolNode):
    """A node of tools that runs its one call in the thread and the task of the node.

    The node has no other work, and to begin a thread costs as much as all that a guard does. Where
    an event loop waits in this thread, a tool may still begin one of its own: there the call has a
    thread, as elsewhere.
    """

    def _func(self, input: Any, config: RunnableConfig, runtime: Any) -> Any:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return _run_here(self, input, config, runtime)
        return super()._func(input, config, runtime)

    async def _afunc(self, input: Any, config: RunnableConfig, runtime: Any) -> Any:
        return await _arun_here(self, input, config, runtime)


@dataclass(frozen=True)
class _Calls:
    """The node where calls run. What a user's own node sends here is decided first."""

    sessions: Sessions
    inner: ToolNode
    key: str
    name: str
    schema: Any
    channels: tuple[str, ...]
    exits: Exits

    def flow(self, given: Any, config: RunnableConfig, _: Any, *, later: bool) -> Flow:
        """Run the call that was decided, and go on."""
        going = self._going(given, config)
        if isinstance(going, Command):
            return going
        output = yield Run(self.inner.ainvoke if later else self.inner.invoke, (going, config))
        parts = output if isinstance(output, list) else [output]
        return [*parts, Command(goto=goto(self.exits))]

    def _going(self, given: Any, config: RunnableConfig) -> Any:
        """Return the call as `ToolNode` takes it; or what the node does without one."""
        instead = instead_of(given, self.name, config, self.sessions, self.exits)
        if instead is not None:
            return instead
        state = state_of(self.schema, read_channels(config, list(self.channels)))
        if "given" in given:
            state = state_in(given["given"], state)
        if given[SENT] == "none" and last_asking(messages_of(state, self.key)) is None:
            return state  # `ToolNode` says what is wrong with it
        if given[SENT] != "run":
            said = [given["call"]] if given[SENT] == "refused" else []
            return Command(update={self.key: said}, goto=goto(self.exits))
        call = {**given["call"], "own": given["own"]}
        return {"__type": "tool_call_with_context", "tool_call": call, "state": state}
