"""The pair of middlewares behind others: what they make of a call is decided as well."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

from tests.adapters.bodies import RAN, pay, shaky
from tests.adapters.middlewares import Rewrites, editing, retrying
from tests.adapters.rules import few, small
from tests.adapters.talks import Way, agents, ask


@agents
def test_an_edit_in_front_of_the_pair_is_decided(way: Way) -> None:
    """A wrapper outside of ours edits before ours sees the call; what runs is decided anew."""
    talk = way.open([pay], small(100), before=[editing(amount=900)])
    assert "`small`" in talk.say(ask("pay", amount=5)).refused("a")
    assert RAN == []


@agents
def test_a_retry_in_front_of_the_pair_is_decided(way: Way) -> None:
    """Attempts are counted there as well."""
    talk = way.open([shaky], few("shaky", 2), before=[retrying(5)])
    assert "`few shaky`" in talk.say(ask("shaky", amount=5)).refused("a")
    assert RAN == [5, 5]


@agents
def test_a_message_that_is_edited_after_the_decision_does_not_run(way: Way) -> None:
    """A hook in front of the pair runs after the decision; what it makes is decided anew."""

    def dearer(message: AIMessage) -> AIMessage:
        calls = [{**each, "args": {"amount": 900}} for each in message.tool_calls]
        return message.model_copy(update={"tool_calls": calls})

    talk = way.open([pay], small(100), before=[Rewrites(dearer)])
    talk.say(ask("pay", amount=5)).refused("a")
    assert RAN == []


@agents
def test_calls_that_are_added_after_the_decision_do_not_run(way: Way) -> None:
    """A call that nobody has decided is refused, and the model may ask again."""

    def more(message: AIMessage) -> AIMessage:
        added: Any = [{"name": "pay", "args": {"amount": 1}, "id": "b", "type": "tool_call"}]
        calls = [*message.tool_calls, *added] if message.tool_calls else []
        return message.model_copy(update={"tool_calls": calls})

    talk = way.open([pay], few("pay", 5), before=[Rewrites(more)])
    came = talk.say(ask("pay", amount=5))
    assert "was not decided" in came.refused("b")
    assert (came.result("a"), RAN) == ("paid 5", [5])
