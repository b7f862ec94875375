"""What a model may write: calls without ids, ids twice, unreadable calls, texts in parts."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call

from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.patterns import token_budget
from tests.adapters.bodies import RAN, pay
from tests.adapters.rules import few, spending, told
from tests.adapters.talks import Way, ask, everywhere


def call(id: str | None, **args: Any) -> Any:
    """A call of the payment, as a model writes it."""
    return {"name": "pay", "args": args, "id": id}


def please() -> Contract:
    """A payment needs a word of the user since the last one."""
    asked = "(message(user) & text matches 'please')"
    return told(f"G(called(pay) -> Y(!called(pay) S {asked}))")


# --- calls ----------------------------------------------------------------------------------------


@everywhere
@pytest.mark.parametrize("id", [None, ""])
def test_a_call_without_an_id_does_not_run(way: Way, id: str | None) -> None:
    """The model is told, the calls beside it run, and the agent goes on."""
    talk = way.open([pay], spending(100))
    came = talk.say(AIMessage("", tool_calls=[call(id, amount=60), call("b", amount=50)]))
    answers = [each for each in came.state["messages"] if isinstance(each, ToolMessage)]
    assert [each.status for each in answers if each.tool_call_id != "b"] == ["error"]
    assert (came.result("b"), came.last, RAN) == ("paid 50", "done", [50])


@everywhere
@pytest.mark.parametrize("second", [60, 70])
def test_an_id_that_is_there_twice_does_not_run(way: Way, second: int) -> None:
    """Neither of the calls, whether they are equal or not."""
    talk = way.open([pay], spending(1000))
    calls = [call("a", amount=60), call("a", amount=second), call("b", amount=50)]
    came = talk.say(AIMessage("", tool_calls=calls))
    answers = [each for each in came.state["messages"] if isinstance(each, ToolMessage)]
    errors = [each for each in answers if each.tool_call_id == "a"]
    assert [each.status for each in errors] == ["error", "error"]
    assert (came.result("b"), RAN) == ("paid 50", [50])


@everywhere
def test_a_call_that_cannot_be_read_does_not_run(way: Way) -> None:
    """What LangChain could not parse is no call; those beside it run."""
    broken = invalid_tool_call(name="pay", args="{amount: ", id="x", error="no JSON")
    message = AIMessage("", tool_calls=[call("a", amount=5)], invalid_tool_calls=[broken])
    talk = way.open([pay], few("pay", 1))
    came = talk.say(message)
    assert (came.result("a"), RAN) == ("paid 5", [5])
    assert talk.say(AIMessage("", invalid_tool_calls=[broken])).last == ""


@everywhere
@pytest.mark.parametrize("content", ["", [], [{"type": "text", "text": "hello"}]])
def test_a_message_without_calls_is_an_answer(way: Way, content: Any) -> None:
    """It ends the agent, whatever it is made of."""
    came = way.open([pay], few("pay", 1)).say(AIMessage(content=content))
    assert came.said == (["hello"] if content else [])
    assert [each.type for each in came.state["messages"]] == ["human", "ai"]


@everywhere
def test_calls_may_stand_beside_a_text_in_parts(way: Way) -> None:
    """As providers write it: a text, and the call as a part of the content, too."""
    parts: list[Any] = [
        {"type": "text", "text": "I pay"},
        {"type": "tool_use", "id": "a", "name": "pay", "input": {"amount": 60}},
    ]
    talk = way.open([pay], spending(100))
    came = talk.say(AIMessage(content=parts, tool_calls=[call("a", amount=60)]))
    assert (came.result("a"), came.said) == ("paid 60", ["I pay", "done"])
    talk.say(ask("pay", amount=60)).refused("a")


@everywhere
def test_what_a_model_wrote_is_not_changed(way: Way) -> None:
    """The conversation has the calls as the model wrote them, also those that were refused."""
    talk = way.open([pay], few("pay"))
    came = talk.say(AIMessage("", tool_calls=[call("a", amount="60")]))
    (message,) = [each for each in came.state["messages"] if getattr(each, "tool_calls", None)]
    assert message.tool_calls == [{**call("a", amount="60"), "type": "tool_call"}]


# --- what is said ---------------------------------------------------------------------------------


@everywhere
def test_the_user_can_confirm(way: Way) -> None:
    """Each payment needs the user's word; a word of the model is none."""
    talk = way.open([pay], please())
    talk.say(ask("pay", amount=1), user="go on").refused("a")
    saying = AIMessage("please", tool_calls=[call("a", amount=2)])
    talk.say(saying, user="go on").refused("a")
    came = talk.say(ask("pay", amount=3), ask("pay", "b", amount=4), user="yes, please")
    assert came.result("a") == "paid 3"
    came.refused("b")
    assert talk.say(ask("pay", amount=5), user="please").result("a") == "paid 5"
    assert RAN == [3, 5]


@everywhere
def test_a_message_of_the_user_in_parts_is_read(way: Way) -> None:
    """Its texts are what the user has said."""
    talk = way.open([pay], please())
    parts: list[Any] = [{"type": "text", "text": "yes, please"}]
    given = {"messages": [HumanMessage(content=parts)]}
    assert talk.go(given, ask("pay", amount=3)).result("a") == "paid 3"


@everywhere
def test_a_message_is_heard_once(way: Way) -> None:
    """However often the agent runs, an old word of the user is an old word."""
    twice = told("G(called(pay) -> O (message(user) & Y O message(user)))")
    talk = way.open([pay], twice)
    talk.say(ask("pay", amount=1), ask("pay", "b", amount=1), user="please").refused("b")
    assert talk.say(ask("pay", amount=2)).result("a") == "paid 2"


@everywhere
def test_tokens_are_counted(way: Way) -> None:
    """Those of the turn that asks for the call are used up by then; those of no answer count."""
    talk = way.open([pay], contract("cheap").guarantees(token_budget(100)))

    def turn(id: str, tokens: int) -> AIMessage:
        usage: Any = {"input_tokens": tokens - 1, "output_tokens": 1, "total_tokens": tokens}
        return AIMessage("", tool_calls=[call(id, amount=1)], usage_metadata=usage)

    came = talk.say(turn("a", 60), turn("b", 39), turn("c", 1))
    assert (came.result("a"), came.result("b")) == ("paid 1", "paid 1")
    came.refused("c")
    talk.say(ask("pay", amount=1)).refused("a")
    assert talk.say(ask("pay", amount=1), thread="two").result("a") == "paid 1"
