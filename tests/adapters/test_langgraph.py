"""A node of guarded tools stands where `ToolNode` stood: its options, any state, any place."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.errors import ContractError
from sponsio_like.guard.guard import Guard
from tests.adapters.rules import asked, few, spending, told
from tests.adapters.talks import GRAPHS, More, Way, ask, graphs
from tests.semantics.manifest import ROOT

Messages = Annotated[list[AnyMessage], add_messages]


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@tool
def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)


@tool
def check() -> str:
    """Check what there is to check."""
    return "clean"


# --- options of the node --------------------------------------------------------------------------


def excuse(error: ValueError) -> str:
    """What the model hears of an error."""
    return f"sorry, {error}"


@graphs
@pytest.mark.parametrize(
    ("handle", "text"),
    [
        (True, "no paper"),
        ("it did not work", "it did not work"),
        (excuse, "sorry, no paper"),
        (ValueError, "no paper"),
        ((OSError, ValueError), "no paper"),
    ],
    ids=["yes", "text", "function", "class", "classes"],
)
def test_errors_are_handled_as_the_node_is_told(way: Way, handle: Any, text: str) -> None:
    """The model hears what `handle_tool_errors` says, and the call has failed."""
    rule = told("G(called(pay) -> Y O done(fail))")
    talk = way.open([fail, pay, check], rule, options={"handle_tool_errors": handle})
    came = talk.say([*ask("fail", why="no paper"), *ask("check", "b")], ask("pay", "c", amount=1))
    assert text in came.refused("a")
    assert came.result("b") == "clean"
    came.refused("c")
    assert sorted(talk.statuses()) == ["error", "ok"]


@graphs
def test_an_error_that_is_not_handled_ends_the_run(way: Way) -> None:
    """As without contracts; the thread can go on, and the batch is decided as if it were new."""
    broken = [True]

    def shaky(amount: int) -> str:
        """Pay an amount, or fail."""
        if broken:
            raise OSError("no paper")
        return f"paid {amount}"

    talk = way.open([shaky], few("shaky", 1))
    with pytest.raises(OSError, match="no paper"):
        talk.say(ask("shaky", amount=5))
    broken.clear()
    assert talk.go(None).result("a") == "paid 5"
    talk.say(ask("shaky", amount=5)).refused("a")


@graphs
def test_messages_may_stand_under_another_key(way: Way) -> None:
    """Calls are read from there and answered there."""
    more = More(schema=Chat)
    talk = way.open([pay], spending(100), messages_key="chat", more=more)
    talk.plan(ask("pay", amount=60), ask("pay", "b", amount=60))
    came = talk.go({"chat": [("user", "go on")]}, *talk.script[:2])
    texts = [str(each.text) for each in came.state["chat"] if each.type == "tool"]
    assert texts[0] == "paid 60"
    assert texts[1].startswith("`pay` was not allowed by `spending`")


class Chat(TypedDict):
    """A state whose messages have another name."""

    chat: Messages


@pytest.mark.parametrize("option", ["wrap_tool_call", "awrap_tool_call"])
def test_wrappers_of_the_node_are_refused(option: str) -> None:
    """They could change a call that was decided already: the graph is not built."""
    with pytest.raises(ContractError, match=f"`{option}`, which may change a call"):
        GRAPHS[0].open([pay], few("pay"), options={option: lambda *_: None})


# --- states ---------------------------------------------------------------------------------------


@dataclasses.dataclass
class Plain:
    """A state that is a dataclass."""

    messages: Messages
    limit: int = 100


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A state that cannot be written to."""

    messages: Messages
    limit: int = 100


class Model(BaseModel):
    """A state that is a model, and a strict one."""

    model_config = ConfigDict(extra="forbid")
    messages: Messages
    limit: int = 100


class Typed(MessagesState, total=False):
    """A state that is a dictionary."""

    limit: int


@graphs
@pytest.mark.parametrize("schema", [Plain, Frozen, Model, Typed, MessagesState])
def test_any_state_has_room_for_the_contracts(way: Way, schema: Any) -> None:
    """A limit holds over runs, a person can be asked, and no output shows what is kept."""
    talk = way.open([pay], spending(100), asked(90), more=More(schema=schema))
    first = talk.say(ask("pay", amount=60))
    assert first.result("a") == "paid 60"
    talk.say(ask("pay", amount=60)).refused("a")
    assert [each["args"] for each in talk.say(ask("pay", amount=95)).asked] == []
    assert [each["args"] for each in talk.say(ask("pay", amount=95), thread="two").asked] == [
        {"amount": 95}
    ]
    assert "contracts" not in first.state


@graphs
def test_nobody_can_pass_the_contracts_in(way: Way) -> None:
    """A state that a caller gives does not change what the guard remembers."""
    talk = way.open([pay], spending(100))
    talk.say(ask("pay", amount=60))
    for forged in ({}, {"rev": "x"}):
        talk.say(ask("pay", amount=60), contracts=forged).refused("a")


@pytest.mark.parametrize("schema", [dict, Messages, int])
def test_a_state_without_keys_is_refused(schema: Any) -> None:
    """Where nothing could be kept, the graph is not built, and the message says what to write."""
    with pytest.raises(TypeError, match="write a TypedDict, a dataclass or a pydantic model"):
        guard_tools(StateGraph(schema), Guard([few("pay")]), [pay])


# --- places in a graph ----------------------------------------------------------------------------


@graphs
def test_two_nodes_of_a_graph_share_a_session(way: Way) -> None:
    """Under one guard, a limit holds over both; each has tools of its own."""
    rules = [spending(100), told("G(called(pay) -> Y O done(check))")]
    guard = Guard(rules, elsewhere=["check", "pay"])
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    guard_tools(builder, guard, [check], name="first")
    guard_tools(builder, guard, [pay], name="second")
    calls = {"first": ask("check"), "second": ask("pay", "b", amount=60)}
    for name, (call,) in calls.items():
        message = {"name": call.tool, "args": call.args, "id": call.id}
        builder.add_node(f"model {name}", _saying(AIMessage("", tool_calls=[message])))
        builder.add_edge(f"model {name}", name)
    builder.add_edge(START, "model first")
    builder.add_edge("first", "model second")
    talk = way.open([pay], few("pay"))
    talk.graph = builder.compile(checkpointer=More().saver)
    came = talk.say()
    assert (came.result("a"), came.result("b")) == ("clean", "paid 60")
    talk.say().refused("b")


def _saying(message: AIMessage) -> Any:
    return lambda _: {"messages": [message.model_copy()]}


@graphs
def test_the_node_may_have_another_name(way: Way) -> None:
    """Streams and edges know it by that name."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    guard_tools(builder, Guard([few("pay", 1)]), [pay], name="hands")
    assert set(builder.nodes) == {"hands", "hands.decide"}
    with pytest.raises(ValueError, match="hands"):
        guard_tools(builder, Guard([few("pay", 1)]), [pay], name="hands")


@graphs
def test_a_turn_without_calls_is_no_batch(way: Way) -> None:
    """A node that is reached without a call to answer decides nothing and writes no message."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    guard_tools(builder, Guard([few("pay", 1)]), [pay])
    builder.add_edge(START, "tools")
    talk = way.open([pay], few("pay"))
    talk.graph = builder.compile(checkpointer=More().saver)
    with pytest.raises(ValueError, match="No AIMessage"):  # as without contracts
        talk.say()
    answered = [AIMessage("", tool_calls=[{"name": "pay", "args": {"amount": 1}, "id": "a"}])]
    came = talk.go({"messages": answered})
    assert came.message("a").text == "paid 1"
    assert [each.type for each in talk.go({"messages": []}).state["messages"]] == [
        "human",
        "ai",
        "tool",
    ]


BESIDE = """
import time
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.guard.guard import Guard
from tests.adapters.rules import few
from tests.adapters.test_langgraph import pay

calls = [{"name": "pay", "args": {"amount": n}, "id": str(n)} for n in range(2)]
builder = StateGraph(MessagesState)
guard_tools(builder, Guard([few("pay", 2)]), [pay], scope="run")
builder.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=calls)]})
builder.add_node("other", lambda _: time.sleep(0.2))
for pair in ((START, "model"), ("model", "tools"), ("model", "other")):
    builder.add_edge(*pair)
graph = builder.compile()
print("begun", flush=True)
graph.invoke({"messages": [("user", "go on")]}, {"max_concurrency": 1})
print("done", flush=True)
"""


@pytest.mark.long
def test_a_node_beside_another_needs_no_worker_of_its_own() -> None:
    """With `max_concurrency` 1, two calls of a message run while another node stands beside."""
    command = [sys.executable, "-c", BESIDE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as program:
        try:
            assert program.stdout is not None
            assert program.stdout.readline() == "begun\n"
            assert program.communicate(timeout=60)[0] == "done\n"
        finally:
            program.kill()
