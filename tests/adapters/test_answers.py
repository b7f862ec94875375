"""What an agent under middleware may say, and what it still owes before it ends."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.patterns import always_followed_by, max_length, no_keywords
from tests.adapters.harness import Call
from tests.adapters.rules import told
from tests.adapters.talks import Way, agents, ask

WITHHELD = "(this answer was withheld)"


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@tool
def audit() -> str:
    """Look at what was done."""
    return "fine"


def discreet() -> Contract:
    """No answer has the word."""
    return contract("discreet").guarantees(no_keywords(["secret"]))


def watched() -> Contract:
    """Every payment is looked at."""
    return contract("watched").guarantees(always_followed_by("pay", "audit"))


# --- answers --------------------------------------------------------------------------------------


@agents
def test_an_answer_that_is_allowed_is_said(way: Way) -> None:
    """Nothing is changed, and nobody is sent back."""
    came = way.open([pay], discreet()).say("all is well")
    assert (came.said, came.sent_back) == (["all is well"], [])


@agents
def test_an_answer_that_is_forbidden_is_withheld(way: Way) -> None:
    """It is replaced in the conversation, and the model answers again, with the advice at hand."""
    came = way.open([pay], discreet()).say("the secret is 7", "all is well")
    assert came.said == [WITHHELD, "all is well"]
    (advice,) = came.sent_back
    assert "withheld" in advice
    assert "`discreet`" in advice
    assert not any("7" in str(each.text) for each in came.state["messages"])


@agents
@pytest.mark.parametrize("retries", [0, 1, 2, 3])
def test_a_model_that_does_not_learn_is_sent_back_so_often(way: Way, retries: int) -> None:
    """After that the agent ends, and the answer is withheld all the same."""
    talk = way.open([pay], discreet(), retries=retries)
    came = talk.say(*(["the secret is 7"] * 5))
    assert came.said == [WITHHELD] * (retries + 1)
    assert len(came.sent_back) == retries


@agents
def test_every_question_of_the_user_has_its_own_retries(way: Way) -> None:
    """What was withheld before counts nothing any more."""
    talk = way.open([pay], discreet(), retries=1)
    talk.say("the secret is 7", "the secret is 8")
    assert talk.say("the secret is 9", "all is well").said == [WITHHELD, "all is well"]


@agents
def test_a_forbidden_text_beside_calls_is_withheld(way: Way) -> None:
    """The calls are decided by themselves, and the model goes on with their results."""
    call: Any = {"name": "pay", "args": {"amount": 5}, "id": "a"}
    talk = way.open([pay], discreet())
    came = talk.say(AIMessage("the secret is 7", tool_calls=[call]))
    assert (came.said, came.result("a")) == ([WITHHELD, "done"], "paid 5")
    assert came.sent_back == []


@agents
def test_an_answer_in_parts_is_read_as_a_whole(way: Way) -> None:
    """Texts in a list of content are the answer; no part of a forbidden one is said."""
    parts: list[Any] = [{"type": "text", "text": "the secret"}, {"type": "text", "text": " is 7"}]
    came = way.open([pay], discreet()).say(AIMessage(content=parts), "all is well")
    assert came.said == [WITHHELD, "all is well"]


@agents
def test_what_is_withheld_was_not_said(way: Way) -> None:
    """A contract on what the agent has said does not find it."""
    promised = told('G(called(pay) -> !O (message(assistant) & text matches "never"))')
    talk = way.open([pay], contract("short").guarantees(max_length(max_words=3)), promised)
    came = talk.say("I shall never pay you", "fine then")
    assert came.said == [WITHHELD, "fine then"]
    assert talk.say(ask("pay", amount=5)).result("a") == "paid 5"


@agents
def test_an_answer_that_is_only_warned_of_is_said(way: Way) -> None:
    """The log has the warning."""
    talk = way.open([pay], discreet().strategy("warn_only"))
    assert talk.say("the secret is 7").said == ["the secret is 7"]
    violations = [each for record in talk.records for each in record.get("violations", ())]
    assert [each["action"] for each in violations] == ["warned"]


@agents
def test_an_answer_cannot_wait_for_a_person(way: Way) -> None:
    """Where a person would be asked, it is withheld, and the model hears why."""
    came = way.open([pay], discreet().strategy("escalate")).say("the secret is 7")
    assert came.said == [WITHHELD, "done"]
    assert "cannot wait" in came.sent_back[0]
    assert came.asked == []


@agents
def test_answers_that_are_only_observed_are_said(way: Way) -> None:
    """The model is never sent back, and the log has the violation."""
    talk = way.open([pay, audit], discreet(), watched(), mode="observe")
    came = talk.say(ask("pay", amount=5), "the secret is 7")
    assert (came.said, came.sent_back) == (["the secret is 7"], [])
    violations = [each for record in talk.records for each in record.get("violations", ())]
    assert [each["contract"] for each in violations] == ["discreet"]


# --- what is owed ---------------------------------------------------------------------------------


@agents
def test_what_is_owed_is_told_before_the_end(way: Way) -> None:
    """The model would end; it is sent back, does what it owes, and ends."""
    came = way.open([pay, audit], watched()).say(
        ask("pay", amount=5), "all paid", ask("audit", "b")
    )
    assert came.result("b") == "fine"
    assert came.said == ["all paid", "done"]
    (reminder,) = came.sent_back
    assert "`audit`" in reminder
    assert "`watched`" in reminder


@agents
@pytest.mark.parametrize("reminders", [0, 1, 2])
def test_a_model_that_will_not_is_reminded_so_often(way: Way, reminders: int) -> None:
    """Then the agent ends with its answer."""
    talk = way.open([pay, audit], watched(), reminders=reminders)
    came = talk.say(ask("pay", amount=5), "one", "two", "three")
    assert came.said == ["one", "two", "three"][: reminders + 1]
    assert len(came.sent_back) == reminders


@agents
def test_what_is_owed_is_told_again_after_the_next_message(way: Way) -> None:
    """What is still owed then is owed then."""
    talk = way.open([pay, audit], watched())
    talk.say(ask("pay", amount=5), "one", "two")
    came = talk.say("three", ask("audit"))
    assert (len(came.sent_back), came.result("a")) == (2, "fine")
    assert len(talk.say("four").sent_back) == 2


@agents
def test_nothing_owed_is_no_reminder(way: Way) -> None:
    """What was done in time, or failed to begin, is not spoken of."""
    talk = way.open([pay, audit], watched())
    came = talk.say([Call("pay", {"amount": 5}, "a"), Call("audit", {}, "b")], ask("audit", "c"))
    assert (came.sent_back, came.last) == ([], "done")


@agents
def test_an_answer_is_judged_before_what_is_owed(way: Way) -> None:
    """A forbidden answer is withheld first; both are told, each when it is due."""
    talk = way.open([pay, audit], watched(), discreet())
    came = talk.say(ask("pay", amount=5), "the secret is 7", "all paid", ask("audit", "b"))
    assert came.said == [WITHHELD, "all paid", "done"]
    assert ["withheld" in each for each in came.sent_back] == [True, False]


@agents
def test_reminders_are_no_words_of_the_user(way: Way) -> None:
    """A contract on what the user has said does not read what the contracts say."""
    rule = told('G(called(audit) -> O (message(user) & text matches "Before you finish"))')
    came = way.open([pay, audit], watched(), rule).say(
        ask("pay", amount=5), "all paid", ask("audit", "b")
    )
    assert len(came.sent_back) == 1
    came.refused("b")
