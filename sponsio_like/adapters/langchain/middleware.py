"""The pair of middlewares, and how it is put around others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.prebuilt import ToolNode

from sponsio_like.adapters.langchain.turns import Limits, Turns
from sponsio_like.adapters.langgraph.answers import with_answers
from sponsio_like.adapters.langgraph.asking import Tools
from sponsio_like.adapters.langgraph.calls import Calls
from sponsio_like.adapters.langgraph.lineage import Kept, merged
from sponsio_like.adapters.langgraph.sessions import INPUTS, Sessions
from sponsio_like.adapters.langgraph.standing import stand_of
from sponsio_like.errors import ContractError
from sponsio_like.guard import Guard
from sponsio_like.rollcall import meet_all
from sponsio_like.running import adrive, drive


class _Private(AgentState[Any]):
    __contracts__: NotRequired[Annotated[Kept, PrivateStateAttr, merged]]


class _Shared(AgentState[Any]):
    __contracts__: NotRequired[Annotated[Kept, merged]]


def guarded(
    guard: Guard,
    tools: Sequence[BaseTool | Callable[..., Any]],
    *others: AgentMiddleware[Any, Any],
    retries: int = 2,
    reminders: int = 1,
    **sessions: Any,
) -> list[AgentMiddleware[Any, Any]]:
    """The middlewares of an agent: `others`, between the two that hold its contracts.

    `tools` are those of the agent, and any that a redirect may run instead. An answer that a
    contract does not allow is withheld, and the model sent back `retries` times; for what it
    still owes it is sent back `reminders` times, each since the user has last said something.
    `sessions` as for `guard_tools`. Raises `InputMissing` and `ContractError` for contracts that
    could not be kept here.
    """
    _check(tools)
    opened = Sessions(guard, inputs=INPUTS | {"finish"}, **sessions)
    known = Tools(ToolNode(tools).tools_by_name.values()) if tools else Tools(())
    more = [each for other in others for each in getattr(other, "tools", ())]
    known.by_name.update({each.name: each for each in more})
    meet_all(guard.policy, known.arguments)
    calls = Calls(opened, known)
    return [_First(Turns(opened, known, Limits(retries, reminders)), calls), *others, _Last(calls)]


def _check(tools: Sequence[Any]) -> None:
    """Refuse what is no tool of this process, such as one that the model's provider runs."""
    for each in tools:
        if not isinstance(each, BaseTool) and not callable(each):
            what = f"tool `{each}` runs nothing here, so no contract holds it"
            raise ContractError.of(what, "give it to `create_agent(tools=..)` alone")


class _First(AgentMiddleware[Any, Any]):
    """Its hook after the model comes last, its wrapper is outside of all others."""

    def __init__(self, turns: Turns, calls: Calls) -> None:
        super().__init__()
        self.state_schema = _Shared if turns.sessions.shared else _Private
        self.tools = []
        self._turns = turns
        self._calls = calls

    @property
    def name(self) -> str:
        return "contracts"

    @hook_config(can_jump_to=["model", "end"])
    def after_model(self, state: Any, runtime: Any) -> Any:
        return drive(self._turns.flow(state, runtime, later=False))

    @hook_config(can_jump_to=["model", "end"])
    async def aafter_model(self, state: Any, runtime: Any) -> Any:
        return await adrive(self._turns.flow(state, runtime, later=True))

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(self._possible(request))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(self._possible(request))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return drive(self._calls.recorded(request, handler, later=False))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await adrive(self._calls.recorded(request, handler, later=True))

    def _possible(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """The request, without the tools that could only be refused now.

        A call that the user has not waited for is answered, as models expect of every call.
        """
        opened = self._turns.sessions
        if not opened.guard.policy.enforces:
            return request
        stand = stand_of(opened, get_config(), request.runtime)
        agent, depth = stand.by
        names = [each.name for each in request.tools if isinstance(each, BaseTool)]
        hidden = stand.seen().impossible(names, agent=agent, depth=depth)
        if hidden:
            shown = [each for each in request.tools if getattr(each, "name", None) not in hidden]
            request = request.override(tools=shown)
        answered = with_answers(request.messages)
        return request.override(messages=answered) if answered is not None else request


class _Last(AgentMiddleware[Any, Any]):
    """Its wrapper is inside of all others: what reaches it runs."""

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self.tools = []
        self._calls = calls

    @property
    def name(self) -> str:
        return "contracts checked"

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(self._calls.checked(request))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(self._calls.checked(request))
