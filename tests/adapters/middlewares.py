"""Middlewares of others, to stand beside ours: each does to a tool call what somebody might.

In: a function of a request and of what goes on with it. Out: a middleware that does so, sync and
async.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeAlias

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, ToolMessage

Steps: TypeAlias = Generator[Any, Any, Any]
"""Yields requests to go on with, is sent what came of each, and returns the answer."""


class Around(AgentMiddleware[Any, Any]):
    """A wrapper around tool calls."""

    def __init__(self, steps: Callable[[Any], Steps]) -> None:
        super().__init__()
        self._steps = steps

    @property
    def name(self) -> str:
        return f"around {id(self)}"

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        steps = self._steps(request)
        try:
            going = next(steps)
            while True:
                try:
                    came = handler(going)
                except ValueError as error:
                    going = steps.throw(error)
                else:
                    going = steps.send(came)
        except StopIteration as end:
            return end.value

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        steps = self._steps(request)
        try:
            going = next(steps)
            while True:
                try:
                    came = await handler(going)
                except ValueError as error:
                    going = steps.throw(error)
                else:
                    going = steps.send(came)
        except StopIteration as end:
            return end.value


class Rewrites(AgentMiddleware[Any, Any]):
    """Changes what the model has said, before anybody reads it."""

    def __init__(self, change: Callable[[AIMessage], AIMessage]) -> None:
        super().__init__()
        self._change = change

    def after_model(self, state: Any, runtime: Any) -> Any:
        return {"messages": [self._change(state["messages"][-1])]}

    async def aafter_model(self, state: Any, runtime: Any) -> Any:
        return self.after_model(state, runtime)


def editing(**args: Any) -> Around:
    """Gives these arguments instead of the model's."""

    def steps(request: Any) -> Steps:
        call = request.tool_call
        return (yield request.override(tool_call={**call, "args": {**call["args"], **args}}))

    return Around(steps)


def retrying(times: int) -> Around:
    """Calls a tool that raises again, so many times in all."""

    def steps(request: Any) -> Steps:
        for _ in range(times - 1):
            try:
                return (yield request)
            except ValueError:
                pass
        return (yield request)

    return Around(steps)


def twice() -> Around:
    """Calls every tool two times; the first answer is forgotten."""

    def steps(request: Any) -> Steps:
        yield request
        return (yield request)

    return Around(steps)


def answering(text: str) -> Around:
    """Answers by itself; no tool runs."""

    def steps(request: Any) -> Steps:
        yield from ()
        return answer(request, text)

    return Around(steps)


def consoling() -> Around:
    """Tells the model of an error as if it were a result, as many do."""

    def steps(request: Any) -> Steps:
        try:
            return (yield request)
        except ValueError as error:
            return answer(request, f"please try again: {error}")

    return Around(steps)


def answer(request: Any, text: str) -> ToolMessage:
    """An answer to the call of a request, which tells of no error."""
    return ToolMessage(text, tool_call_id=request.tool_call["id"], name=request.tool_call["name"])
