"""Guards tools that are objects already: LangChain's `StructuredTool`, as adapters for MCP servers
build.

In: such a tool. Out: one of the same kind, whose function and coroutine are guarded; name, words,
schema and artifacts stay. Arguments are those that the schema of the tool has made. LangChain is
not imported here: whoever has such a tool has loaded it.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sponsio_like.errors import ContractError
from sponsio_like.guard.arguments import ToolSignature
from sponsio_like.guard.flow import Failed
from sponsio_like.guard.tools import Tool, guarded_function
from sponsio_like.values import as_answer


def is_finished(given: Any) -> bool:
    """True if this is a tool of LangChain."""
    tools = sys.modules.get("langchain_core.tools")
    return tools is not None and isinstance(given, tools.BaseTool)


def guarded_tool(
    given: Any,
    make: Callable[[Callable[..., Any], ToolSignature], Tool],
    add: Callable[[Tool], None],
) -> Any:
    """Return the finished tool, guarded.

    `make` returns the `Tool` of a function; `add` puts one into the toolbox. Raises `ContractError`
    for a tool whose body is a method of its class.
    """
    both = {each: getattr(given, each, None) for each in ("coroutine", "func")}
    bodies = {each: body for each, body in both.items() if body is not None}
    if not bodies or not isinstance(given, sys.modules["langchain_core.tools"].StructuredTool):
        raise ContractError.of(
            f"`{given.name}` is a `{type(given).__name__}`, whose body is its own method",
            "make a StructuredTool of a function that calls it",
        )
    artifacts = given.response_format == "content_and_artifact"
    made: dict[str, Any] = {}
    for place, body in bodies.items():
        tool = make(body, ToolSignature(body, given.name, owned=False, shown=frozenset(given.args)))
        tool = replace(tool, answer=_content if artifacts else _answer)
        made[place] = _paired(guarded_function(tool)) if artifacts else guarded_function(tool)
    add(replace(tool, signature=tool.signature.after(_parser(given))))  # for redirects to it
    return given.model_copy(update=made)


def _parser(given: Any) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    def parse(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return dict(given._parse_input(dict(arguments), None))  # noqa: SLF001  as LangChain does

    return parse


def _paired(body: Callable[..., Any]) -> Callable[..., Any]:
    """Return the body of a tool with artifacts; a result without one gets None beside it."""
    if inspect.iscoroutinefunction(body):

        @functools.wraps(body)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            return _pair(await body(*args, **kwargs))

        return awaited

    @functools.wraps(body)
    def plain(*args: Any, **kwargs: Any) -> Any:
        return _pair(body(*args, **kwargs))

    return plain


def _pair(answer: Any) -> Any:
    return answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, None)


def _content(output: Any) -> Any:
    """Return what contracts read of an answer with an artifact: the part that the model reads."""
    return _answer(_pair(output)[0])


def _answer(output: Any) -> Any:
    """Return what contracts read of an answer; a message that tells of an error is a failure."""
    messages = sys.modules.get("langchain_core.messages")
    if messages is None or not isinstance(output, messages.ToolMessage) or output.status != "error":
        return as_answer(output)
    return Failed(as_answer(output.content))
