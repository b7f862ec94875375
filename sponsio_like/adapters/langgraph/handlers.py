"""Wraps the error handlers of users, so that a guarded node calls them as a plain node would.

In: a handler of the errors of a node, or of its tools. Out: one that receives the state, and not
what was sent to the guarded node, and that handles only the kinds of errors that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable, coerce_to_runnable
from langgraph.graph import StateGraph
from langgraph.prebuilt import tool_node

from sponsio_like.adapters.langgraph.payloads import SENT
from sponsio_like.adapters.langgraph.routes import state_of
from sponsio_like.adapters.langgraph.sessions import read_channels
from sponsio_like.guard import RunStopped

FAILURE = "__pregel_node_error"
"""The key of the node's error, in the config of its handler."""
Kinds: TypeAlias = tuple[type[Exception], ...]


def on_state(
    handler: Any, builder: StateGraph[Any, Any, Any, Any], schema: Any = None
) -> RunnableCallable:
    """Return a handler of errors of nodes, which receives the state where a call was sent to one.

    `schema`: what the node takes of the state, if it is not all. It is not asked about
    `RunStopped`: the run is over.
    """
    inner = coerce_to_runnable(handler, name="error_handler", trace=False)
    schema = schema or builder.state_schema

    def state(given: Any, config: RunnableConfig) -> Any:
        failure = getattr(config.get("configurable", {}).get(FAILURE), "error", None)
        if isinstance(failure, RunStopped):
            raise failure
        if isinstance(given, Mapping) and SENT in given:
            if "given" in given:
                return given["given"]
            return state_of(schema, read_channels(config, list(builder.schemas[schema])))
        return given

    def run(given: Any, config: RunnableConfig) -> Any:
        return inner.invoke(state(given, config), config)

    async def arun(given: Any, config: RunnableConfig) -> Any:
        return await inner.ainvoke(state(given, config), config)

    return RunnableCallable(run, arun, name="error_handler", trace=False)


def of_tools(handles: Any) -> Any:
    """Return the option `handle_tool_errors` of a `ToolNode` that has a wrapper.

    `ToolNode` asks for the kinds of errors that it handles where the tool runs, and not where a
    wrapper passes them on.
    """
    if isinstance(handles, type) and issubclass(handles, Exception):
        return _handler(lambda: (handles,), _as_usual)
    if isinstance(handles, tuple):
        return _handler(lambda: handles, _as_usual)
    if callable(handles):
        return _handler(lambda: tool_node._infer_handled_types(handles), handles)  # noqa: SLF001
    return handles


def _handler(kinds: Callable[[], Kinds], say: Callable[[Any], str]) -> Callable[[Exception], str]:
    def handle(error: Exception) -> str:
        if not isinstance(error, kinds()):
            raise error
        return say(error)

    return handle


def _as_usual(error: Exception) -> str:
    return tool_node.TOOL_CALL_ERROR_TEMPLATE.format(error=repr(error))
