"""What a graph with guarded tools streams."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessageChunk, ToolMessage
from langchain_core.tools import tool

from tests.adapters.rules import asked, few
from tests.adapters.talks import Way, agents, ask, everywhere, graphs


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


BATCH = [*ask("pay", amount=1), *ask("pay", "b", amount=2)]


@everywhere
def test_messages_are_streamed_once_each(way: Way) -> None:
    """Every answer to a call is streamed once, refused or not, and the texts of the model too."""
    talk = way.open([pay], few("pay", 1))
    streamed = [message for message, _ in talk.stream(BATCH, mode="messages")]
    answers = {each.tool_call_id: each for each in streamed if isinstance(each, ToolMessage)}
    assert sorted(each.tool_call_id for each in streamed if isinstance(each, ToolMessage)) == [
        "a",
        "b",
    ]
    assert (answers["a"].text, answers["b"].status) == ("paid 1", "error")
    chunks = [each for each in streamed if not isinstance(each, ToolMessage)]
    assert "".join(str(each.text) for each in chunks) == "done"
    assert not any(isinstance(each, AIMessageChunk) and each.tool_calls for each in chunks[1:])


@everywhere
def test_a_state_shows_nothing_of_the_contracts(way: Way) -> None:
    """The output has the keys of the agent; streamed values have one more, as private state has."""
    talk = way.open([pay], few("pay", 1))
    states = talk.stream(BATCH, mode="values")
    assert {key for each in states for key in each} <= {"messages", "__contracts__"}
    kinds = [each.type for each in states[-1]["messages"]]
    assert kinds == ["human", "ai", "tool", "tool", "ai"]
    assert set(talk.say("hello").state) == {"messages"}


@graphs
def test_every_answer_is_an_update_of_the_node(way: Way) -> None:
    """Each call is a task of the node, refused or not; nothing else is streamed."""
    talk = way.open([pay], few("pay", 2))
    updates = talk.stream([*BATCH, *ask("pay", "c", amount=3)], mode="updates")
    answers = [each for update in updates for each in _answers(update.get("tools"))]
    assert sorted(each.tool_call_id for each in answers) == ["a", "b", "c"]
    assert {name for update in updates for name in update} == {"model", "tools"}
    keys = {key for each in updates for values in each.values() for key in values}
    assert keys == {"messages"}


@agents
def test_updates_of_an_agent_name_its_tools(way: Way) -> None:
    """Answers and refusals come under `tools`, where the calls are."""
    talk = way.open([pay], few("pay", 1))
    came: dict[str, list[str]] = {}
    for update in talk.stream(BATCH, mode="updates"):
        for node, values in update.items():
            for each in _answers(values):
                came.setdefault(node, []).append(each.tool_call_id)
    assert {node: sorted(ids) for node, ids in came.items()} == {"tools": ["a", "b"]}


@everywhere
def test_a_held_call_is_streamed_as_an_interrupt(way: Way) -> None:
    """Who streams sees the question, and no answer to the call."""
    talk = way.open([pay], asked(0))
    updates = talk.stream(ask("pay", amount=5), mode="updates")
    (interrupt,) = updates[-1]["__interrupt__"]
    assert [each["call"] for each in interrupt.value["held"]] == ["a"]
    assert not any(_answers(values) for each in updates[:-1] for values in each.values())


def _answers(values: Any) -> list[ToolMessage]:
    """The answers to calls in what one node has written."""
    updates = values if isinstance(values, list) else [values]
    messages = [m for each in updates if each for m in each.get("messages", ())]
    return [each for each in messages if isinstance(each, ToolMessage)]
