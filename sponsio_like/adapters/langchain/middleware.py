"""Makes the pair of middlewares that holds an agent's contracts, and puts it around others.

A sub-agent of a tool, as `task` of deepagents, has to have a guard of its own.
"""

from __future__ import annotations

import copy
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    HumanInTheLoopMiddleware,
    ModelRequest,
    hook_config,
)
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.prebuilt import ToolNode
from langsmith.utils import tracing_is_enabled

from sponsio_like.adapters.langchain.turns import Turns
from sponsio_like.adapters.langgraph.answers import with_answers
from sponsio_like.adapters.langgraph.asked_calls import Tools, check_list
from sponsio_like.adapters.langgraph.calls import Calls
from sponsio_like.adapters.langgraph.channel import CHANNEL, GuardPart, merged
from sponsio_like.adapters.langgraph.messages import Facts
from sponsio_like.adapters.langgraph.node_context import read_context
from sponsio_like.adapters.langgraph.sessions import INPUTS, Scope, Sessions
from sponsio_like.checks import check_tool
from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError
from sponsio_like.guard import Guard, adrive, checked_by, drive
from sponsio_like.monitor import told_apart
from sponsio_like.worlds import World


def check_sub_agents(policy: Policy, tool: Any) -> None:
    """Raise `ContractError` for a sub-agent without a guard; where nothing is enforced, warn."""
    for name, graph in _sub_agents(tool):
        if CHANNEL in graph.channels:
            continue
        bodies = [getattr(each, "bound", None) for each in graph.nodes.values()]
        tools = [
            each for body in bodies if isinstance(body, ToolNode) for each in body.tools_by_name
        ]
        named = [each for each in tools if _is_named(policy, each)]
        if not named:
            continue
        what = f"sub-agent `{name}` has the tool `{named[0]}`, which contracts name, and no guard"
        hint = f"give the agent a sub-agent `{name}` that has guarded(..) among its middlewares"
        if policy.enforces:
            raise ContractError.of(what, hint)
        logging.getLogger("sponsio_like").warning("%s; %s", what, hint)


def _sub_agents(tool: Any) -> Iterator[tuple[str, Any]]:
    """Yield the graphs that the function of a tool holds by name, each with its name."""
    function = getattr(tool, "func", None)
    if not inspect.isfunction(function):
        return
    for held in inspect.getclosurevars(function).nonlocals.values():
        graphs = held.items() if isinstance(held, Mapping) else ()
        yield from (each for each in graphs if hasattr(each[1], "channels"))


def _is_named(policy: Policy, tool: str) -> bool:
    nodes = [slot.node for clause in policy.clauses for slot in clause.slots]
    return bool(told_apart(nodes, [tool]))


class _Private(AgentState[Any]):
    __contracts__: NotRequired[Annotated[dict[str, GuardPart], PrivateStateAttr, merged]]


class _Shared(AgentState[Any]):
    __contracts__: NotRequired[Annotated[dict[str, GuardPart], merged]]


def guarded(  # noqa: PLR0913  the options of users, each by its name
    guard: Guard,
    tools: Sequence[BaseTool | Callable[..., Any] | dict[str, Any]],
    *others: AgentMiddleware[Any, Any],
    retries: int = 2,
    reminders: int = 1,
    hide: bool = False,
    name: str = "contracts",
    agent: str = "agent",
    scope: Scope = "thread",
    shared: bool = False,
    world: World | None = None,
    clock: Callable[[], float] = time.time,
    facts: Facts | None = None,
) -> list[AgentMiddleware[Any, Any]]:
    """Return the middlewares of an agent: `others`, between the two that hold its contracts.

    Without others, one holds them. `tools` are those of the agent, and any that a redirect may run
    instead; those that middlewares bring are learned when the model is offered them, and those of
    the model's provider pass. An answer that a contract does not allow is withheld, and the model
    sent back `retries` times; for what it still owes it is sent back `reminders` times, each since
    the user has last said something. With `hide` the model is not offered what could only be
    refused now. Two pairs around one agent have a `name` each.
    `agent` to `facts` as for `guard_tools`. Raises `InputMissing` and `ContractError` for contracts
    that could not be kept here.
    """
    check_list(tools, "guarded(guard, [{}])")
    _check(tools, others, name)
    ends = INPUTS | {"finish"}
    opened = Sessions(guard, agent, scope, shared, world, clock, facts, inputs=ends)
    local = [each for each in tools if not isinstance(each, dict)]  # others run at the provider
    known = Tools(ToolNode(local).tools_by_name.values() if local else (), others=True)
    for other in others:
        known.learn(getattr(other, "tools", ()))
    checked_by(guard, known)
    calls = Calls(opened, known, back=f"{name}.after_model")
    asks = any(isinstance(each, HumanInTheLoopMiddleware) for each in others)
    turns = Turns(opened, known, retries, reminders, asks)
    first, last = _First(turns, calls, name), _Last(calls, f"{name} checked", hide=hide)
    mine: list[AgentMiddleware[Any, Any]] = [first, last] if others or hide else [first]
    if tracing_is_enabled():
        for each in mine:
            _show_ends(each)
    return [mine[0], *others, *mine[1:]]


def _show_ends(middleware: AgentMiddleware[Any, Any]) -> None:
    """Make coroutine functions of the hooks around a call: LangSmith shows when those end.

    LangChain asks another thread twice in each call of one, traced or not. What only returns
    something to be awaited costs no thread.
    """
    for name in ("awrap_model_call", "awrap_tool_call"):
        vars(middleware)[name] = _awaited(getattr(middleware, name))


def _awaited(hook: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def awaited(*given: Any) -> Any:
        return await hook(*given)

    return awaited


def _check(tools: Sequence[Any], others: Sequence[AgentMiddleware[Any, Any]], name: str) -> None:
    """Raise `ContractError` for what is no tool, and for two pairs of one name."""
    for each in tools:
        if not isinstance(each, (BaseTool, dict)) and not callable(each):
            raise ContractError.of(f"`{each}` is no tool", "write tools, or functions")
    if any(isinstance(each, _First) and each.name == name for each in others):
        what = f"there are two pairs of the name `{name}` around one agent"
        raise ContractError.of(what, "write name= for each but one")


class _First(AgentMiddleware[Any, Any]):
    """The first of the pair: its hook after the model runs last, its wrapper is outside of all."""

    name = ""

    def __init__(self, turns: Turns, calls: Calls, name: str) -> None:
        super().__init__()
        self.name = name
        self.state_schema = _Shared if turns.sessions.shared else _Private
        self.tools = []
        self._turns = turns
        self._calls = calls
        self._met: set[str] = set()

    @hook_config(can_jump_to=["model", "end"])
    def after_model(self, state: Any, runtime: Any) -> Any:
        return drive(self._turns.flow(state, runtime, later=False))

    @hook_config(can_jump_to=["model", "end"])
    async def aafter_model(self, state: Any, runtime: Any) -> Any:
        return await adrive(self._turns.flow(state, runtime, later=True))

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(self._answered(request))

    awrap_model_call = wrap_model_call

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return self._calls.whole(request, handler)

    def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return self._calls.awhole(request, handler)

    def _answered(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return the request, with an answer to each call that the user has not waited for.

        Models expect one of every call. The tools that are offered are learned.
        """
        _learn(self._calls, request)
        policy = self._calls.sessions.guard.policy
        for each in request.tools:
            if isinstance(each, BaseTool) and each.name not in self._met:
                check_sub_agents(policy, each)
                self._met.add(each.name)
        if not policy.enforces:
            return request
        answered = with_answers(request.messages)
        return request.override(messages=answered) if answered is not None else request


class _Last(AgentMiddleware[Any, Any]):
    """The last of the pair: what reaches its wrappers, inside of all, runs or is offered."""

    name = ""

    def __init__(self, calls: Calls, name: str, *, hide: bool) -> None:
        super().__init__()
        self.name = name
        self.tools = []
        self._calls = calls
        self._hide = hide and calls.sessions.guard.policy.enforces

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(self._possible(request))

    awrap_model_call = wrap_model_call

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        self._calls.meet()
        return handler(self._calls.checked(request))

    awrap_tool_call = wrap_tool_call

    def _possible(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return the request; with `hide`, without the tools that could only be refused now."""
        self._calls.meet()
        _learn(self._calls, request)
        if not self._hide:
            return request
        stand = read_context(self._calls.sessions, get_config(), request.runtime)
        agent, depth = stand.by
        names = [each.name for each in request.tools if isinstance(each, BaseTool)]
        hidden = stand.seen().impossible(names, agent=agent, depth=depth)
        return request.override(model=_hiding(request.model, hidden)) if hidden else request


def _hiding(model: Any, hidden: Collection[str]) -> Any:
    """Return a copy of the model that is not offered these; middlewares see them as any other."""

    def bind_tools(tools: Sequence[Any], **more: Any) -> Any:
        shown = [each for each in tools if getattr(each, "name", None) not in hidden]
        if not shown:
            return model.bind(**{key: each for key, each in more.items() if key != "tool_choice"})
        return model.bind_tools(shown, **more)

    shy = copy.copy(model)
    vars(shy)["bind_tools"] = bind_tools
    return shy


def _learn(calls: Calls, request: ModelRequest[Any]) -> None:
    """Learn the tools that the model is offered. Those of its provider are no tools of ours.

    Raises `ContractError` for what contracts say of a tool that comes only now, and that it is not.
    """
    policy = calls.sessions.guard.policy
    new = set(calls.tools.learn(request.tools)) - policy.known_tools.tools.keys()
    for name, arguments in calls.tools.arguments.items() if new else ():
        try:
            if name in new:
                check_tool(policy, name, arguments)
        except ContractError:
            if policy.enforces:
                raise
            logging.getLogger("sponsio_like").warning("`%s` is not as contracts say", name)
