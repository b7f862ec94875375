"""The options of `guard_tools`, `guard_node` and `guarded`, by name; those of LangGraph's nodes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import CachePolicy, Command, RetryPolicy

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import guard_node, guard_tools
from sponsio_like.guard.guard import Guard
from tests.adapters.bodies import RAN, pay
from tests.adapters.rules import few
from tests.adapters.talks import older


@tool
def shaky(amount: int) -> str:
    """Pay an amount, or fail."""
    RAN.append(amount)
    raise ConnectionError("no line")


@tool
async def slow(amount: int) -> str:
    """Pay an amount, some day."""
    RAN.append(amount)
    await asyncio.sleep(30)
    return "paid"


def graph_of(name: str, limit: int, *, compiled: Any = (), **options: Any) -> Any:
    """A graph whose model asks for one call, of id `a`."""
    call: Any = {"name": name, "args": {"amount": 5}, "id": "a", "type": "tool_call"}
    builder: Any = StateGraph(MessagesState)
    builder.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=[call])]})
    guard_tools(builder, Guard([few(name, limit)]), [pay, shaky, slow], **options)
    builder.add_node("after", lambda _: {"messages": [AIMessage("after")]})
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")
    builder.add_edge("tools", "after")
    return builder.compile(checkpointer=InMemorySaver(), **dict(compiled))


def run(graph: Any, thread: str = "one", *, later: bool = False) -> list[str]:
    """What the messages of one run say after the call."""
    config: Any = {"configurable": {"thread_id": thread}}
    given = {"messages": [("user", "go on")]}
    came = asyncio.run(graph.ainvoke(given, config)) if later else graph.invoke(given, config)
    messages = came["messages"]
    since = max(i for i, each in enumerate(messages) if each.type == "human")
    return [str(each.text) for each in messages[since + 2 :]]


ways = pytest.mark.parametrize("later", [False, True])
"""With `invoke`, and with `ainvoke`."""


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [guard_tools, guard_node, guarded])
def test_an_option_that_there_is_not_is_an_error_of_python(make: Callable[..., Any]) -> None:
    """A typo is told of with the name of the function that was called."""
    said = rf"^{make.__name__}\(\) got an unexpected keyword argument 'share'"
    with pytest.raises(TypeError, match=said):
        make(share=True)


def test_an_option_that_langgraph_does_not_have_is_an_error() -> None:
    """An older LangGraph would take it, and do nothing about it."""

    class Older(StateGraph):  # type: ignore[type-arg]
        def add_node(  # type: ignore[override]
            self, node: Any, action: Any = None, *, defer: bool = False, input_schema: Any = None
        ) -> Any:
            return super().add_node(node, action, defer=defer, input_schema=input_schema)

    guard = Guard([few("pay", 1)])
    with pytest.raises(TypeError, match="this version of LangGraph has no `timeout` for nodes"):
        guard_tools(Older(MessagesState), guard, [pay], timeout=1)
    assert "tools" in guard_tools(Older(MessagesState), guard, [pay]).nodes


def ran(name: str) -> Callable[[Any], None]:
    """A node that has run."""
    return lambda _: RAN.append(name)


# --- the options of a node ------------------------------------------------------------------------


@ways
def test_a_retry_policy_tries_each_call_again(*, later: bool) -> None:
    """As often as contracts allow; the model is told why no more."""
    policy = RetryPolicy(max_attempts=5, initial_interval=0, jitter=False)
    handled = {"handle_tool_errors": False}
    graph = graph_of("shaky", 2, retry_policy=policy, options=handled)
    refused, after = run(graph, later=later)
    assert "`few shaky`" in refused
    assert (after, RAN) == ("after", [5, 5])


@ways
def test_a_retry_policy_gives_up(*, later: bool) -> None:
    """The error is the tool's."""
    policy = [RetryPolicy(max_attempts=3, initial_interval=0, jitter=False)]
    graph = graph_of("shaky", 9, retry_policy=policy, options={"handle_tool_errors": False})
    with pytest.raises(ConnectionError, match="no line"):
        run(graph, later=later)
    assert RAN == [5, 5, 5]


@ways
def test_a_cache_of_calls_breaks_no_run(*, later: bool) -> None:
    """Neither another thread, nor the next turn, nor a limit is disturbed by it."""
    cache: dict[str, Any] = {"cache": InMemoryCache()}
    graph = graph_of("pay", 1, cache_policy=CachePolicy(), compiled=cache)
    assert run(graph, "one", later=later) == ["paid 5", "after"]
    assert run(graph, "two", later=later) == ["paid 5", "after"]
    refused, _ = run(graph, "one", later=later)
    assert "`few pay`" in refused
    assert RAN == [5, 5]


@ways
def test_a_replay_takes_what_the_cache_has(*, later: bool) -> None:
    """The body does not run again, and what it returned counts in the new branch."""
    cache: dict[str, Any] = {"cache": InMemoryCache()}
    graph = graph_of("pay", 1, cache_policy=CachePolicy(), compiled=cache)
    run(graph, later=later)
    config: Any = {"configurable": {"thread_id": "one"}}
    before = next(
        each for each in graph.get_state_history(config) if each.next == ("tools.decide",)
    )
    replay = graph.ainvoke(None, before.config) if later else graph.invoke(None, before.config)
    came = asyncio.run(replay) if later else replay
    assert str(came["messages"][-2].text) == "paid 5"
    assert RAN == [5]
    refused, _ = run(graph, later=later)
    assert "`few pay`" in refused


def test_metadata_is_that_of_each_call() -> None:
    """As LangGraph has it of a node."""
    graph = graph_of("pay", 1, metadata={"team": "money"})
    assert graph.nodes["tools"].metadata == {"team": "money"}


@ways
def test_decisions_wait_for_the_end_of_the_run(*, later: bool) -> None:
    """With `defer` the batch is decided when all other nodes have run."""
    call: Any = {"name": "pay", "args": {"amount": 5}, "id": "a", "type": "tool_call"}
    for defer in (False, True):
        RAN.clear()
        builder: Any = StateGraph(MessagesState)
        builder.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=[call])]})
        builder.add_node("first", ran("first"))
        builder.add_node("between", lambda _: None)
        builder.add_node("second", ran("second"))
        guard_tools(builder, Guard([few("pay", 1)]), [pay], defer=defer)
        for pair in ((START, "model"), ("model", "tools"), ("model", "first")):
            builder.add_edge(*pair)
        builder.add_edge("first", "between")
        builder.add_edge("between", "second")
        graph = builder.compile(checkpointer=InMemorySaver())
        assert run(graph, later=later) == ["paid 5"]
        assert sorted(map(str, RAN)) == ["5", "first", "second"]
        assert (RAN[-1] == 5) == defer


newer = pytest.mark.skipif(older("langgraph", 1, 2), reason="LangGraph has had it since 1.2")


@newer
def test_a_call_that_takes_too_long_has_failed() -> None:
    """The timeout is that of one call."""
    graph = graph_of("slow", 1, timeout=0.1)
    with pytest.raises(Exception, match=r"(?i)time"):
        run(graph, later=True)
    assert RAN == [5]


@newer
@ways
def test_a_handler_of_errors_receives_the_state(*, later: bool) -> None:
    """It is given what nodes are given, and says where the graph goes."""

    def handle(state: Any) -> Command[Any]:
        (call,) = state["messages"][-1].tool_calls
        answer = ToolMessage("never mind", tool_call_id=call["id"])
        return Command(update={"messages": [answer]}, goto="after")

    failing = {"handle_tool_errors": False}
    graph = graph_of("shaky", 1, error_handler=handle, options=failing)
    assert run(graph, later=later) == ["never mind", "after"]
    refused, _ = run(graph, later=later)
    assert "`few shaky`" in refused
    assert RAN == [5]


# --- the extra ------------------------------------------------------------------------------------

BARE = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {missing}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Without())
try:
    import sponsio_like.adapters.{adapter}
except ImportError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("adapter", "missing", "said"),
    [
        ("langgraph", ["langgraph", "langchain_core"], "[langgraph]'"),
        ("langgraph", ["langchain_core"], "[langgraph]'"),
        ("langchain", ["langchain", "langgraph", "langchain_core"], "[langchain]'"),
        ("langchain", ["langchain"], "[langchain]'"),
    ],
)
def test_without_the_extra_the_import_says_what_to_install(
    adapter: str, missing: list[str], said: str
) -> None:
    """One line says which command to run."""
    code = BARE.format(adapter=adapter, missing=missing)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("ImportError ")
    assert f"pip install 'sponsio-like{said}" in done.stdout
