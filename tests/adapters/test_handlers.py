"""Handlers of errors around guarded tools take what they would take around plain ones."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from typing_extensions import TypedDict

from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.guard.guard import Guard
from sponsio_like.guard.raised import RunStopped
from tests.adapters.rules import few
from tests.adapters.talks import older

newer = pytest.mark.skipif(older("langgraph", 1, 2), reason="LangGraph has had it since 1.2")
ways = pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
RAN: list[str] = []


@tool
def shaky(error: str) -> str:
    """Fail in this way."""
    RAN.append(error)
    raise {"key": KeyError("a bug"), "value": ValueError("a bad value")}[error]


def graph_of(guard: Guard | None, error: Any, *, default: Any = None, **options: Any) -> Any:
    """A graph whose model asks for one call; without a guard, a plain `ToolNode`."""
    call: Any = {"name": "shaky", "args": {"error": error}, "id": "a", "type": "tool_call"}
    builder: Any = StateGraph(MessagesState)
    if default is not None:
        builder.set_node_defaults(error_handler=default)
    builder.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=[call])]})
    if guard is None:
        builder.add_node("tools", ToolNode([shaky], **options.get("options", {})))
    else:
        guard_tools(builder, guard, [shaky], **options)
    builder.add_node("after", lambda _: {"messages": [AIMessage("after")]})
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")
    builder.add_edge("tools", "after")
    return builder.compile(checkpointer=InMemorySaver())


def came_of(graph: Any, *, later: bool) -> str:
    """What the call came to: its answer, or the error of the run."""
    config: Any = {"configurable": {"thread_id": "one"}}
    given = {"messages": [("user", "go on")]}
    try:
        state = asyncio.run(graph.ainvoke(given, config)) if later else graph.invoke(given, config)
    except Exception as error:
        return f"raised {error!r}"
    return " ".join(str(each.text) for each in state["messages"][2:])


# --- of tools -------------------------------------------------------------------------------------


def typed(error: ValueError) -> str:
    """What is said of a bad value."""
    return f"told: {error}"


def either(error: ValueError | KeyError) -> str:
    """What is said of these two."""
    return f"told of either: {error}"


either.__annotations__ = {"error": ValueError | KeyError}  # as LangGraph reads them


def untyped(error):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """What is said of anything."""
    return f"told of any: {error}"


HANDLES = {
    "a typed handler": typed,
    "a handler of two types": either,
    "a handler of anything": untyped,
    "a class": ValueError,
    "two classes": (ValueError, TypeError),
    "a text": "never mind",
    "all": True,
    "none": False,
}


@ways
@pytest.mark.parametrize("mode", ["enforce", "observe"])
@pytest.mark.parametrize("error", ["key", "value", 7])
@pytest.mark.parametrize("handles", HANDLES)
def test_errors_of_tools_are_handled_as_a_plain_node_does(
    handles: str, error: Any, mode: Any, *, later: bool
) -> None:
    """Of the kinds that are named, and no others; the same with arguments that are wrong."""
    options = {"handle_tool_errors": HANDLES[handles]}
    plain = came_of(graph_of(None, error, options=options), later=later)
    guard = Guard([few("shaky", 5)], mode=mode)
    found = came_of(graph_of(guard, error, options=options), later=later)
    wrong = error == 7 and mode == "enforce"  # the contracts have to read it, so it is refused
    assert found == plain or (wrong and "shaky" in found)


# --- of nodes -------------------------------------------------------------------------------------


def go_on(_: Any) -> Command[Any]:
    """A handler that goes on."""
    return Command(goto="after")


@newer
@ways
@pytest.mark.parametrize("how", ["error_handler", "default"])
def test_no_handler_of_errors_goes_on_with_a_run_that_is_over(how: str, *, later: bool) -> None:
    """The strategy `stop` ends the run, whoever handles errors."""
    guard = Guard([few("shaky", 0).strategy("stop")])
    graph = graph_of(guard, "key", **{how: go_on})
    found = came_of(graph, later=later)
    assert found.startswith(f"raised {RunStopped.__name__}")
    assert RAN == []


@newer
@ways
def test_a_default_handler_of_errors_receives_the_state(*, later: bool) -> None:
    """It is that of all nodes, and finds the messages also for the guarded one."""

    def answer(state: Any) -> Command[Any]:
        (call,) = state["messages"][-1].tool_calls
        said = ToolMessage("never mind", tool_call_id=call["id"])
        return Command(update={"messages": [said]}, goto="after")

    graph = graph_of(
        Guard([few("shaky", 1)]), "key", default=answer, options={"handle_tool_errors": False}
    )
    assert came_of(graph, later=later) == "never mind after"


# --- states without messages ----------------------------------------------------------------------


class Chat(TypedDict):
    """A state whose messages have another name."""

    chat: Annotated[list[Any], add_messages]


@ways
@pytest.mark.parametrize("mode", ["enforce", "observe"])
@pytest.mark.parametrize("schema", [MessagesState, Chat])
def test_a_state_without_a_message_of_the_model_is_an_error_as_it_is_for_a_plain_node(
    schema: Any, mode: Any, *, later: bool
) -> None:
    """A wrong `messages_key`, or a graph that goes to its tools at once, is told of."""
    key = "chat" if schema is Chat else "messages"

    def errors(guard: Guard | None) -> str:
        builder: Any = StateGraph(schema)
        if guard is None:
            builder.add_node("tools", ToolNode([shaky]))
        else:
            guard_tools(builder, guard, [shaky])
        builder.add_edge(START, "tools")
        graph = builder.compile(checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "one"}}
        given = {key: [("user", "go on")]}
        with pytest.raises(ValueError, match="found in input") as caught:
            asyncio.run(graph.ainvoke(given, config)) if later else graph.invoke(given, config)
        return str(caught.value)

    assert errors(Guard([few("shaky", 5)], mode=mode)) == errors(None)
