"""The pair of middlewares beside those that LangChain has: people, limits, retries, summaries."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    SummarizationMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command
from pydantic import BaseModel

from sponsio_like.adapters.langchain import approve
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.patterns import always_followed_by, arg_value_range, tool_allowlist
from tests.adapters.bodies import RAN, pay, shaky
from tests.adapters.middlewares import editing
from tests.adapters.rules import asked, few, small, spending, told
from tests.adapters.talks import Came, Talk, Way, agents, ask


@tool
def audit() -> str:
    """Look at what was done."""
    return "fine"


# --- people ---------------------------------------------------------------------------------------


places = pytest.mark.parametrize("place", ["others", "before"])
"""Between our two, or in front of them."""


def human() -> Any:
    """LangChain's own way of asking people about payments."""
    return HumanInTheLoopMiddleware({"pay": True})


def at(place: str) -> dict[str, Any]:
    """That middleware, in its place."""
    return {place: [human()]}


def decide(talk: Talk, **decision: Any) -> Came:
    """What a person says to that middleware."""
    return talk.go(Command(resume={"decisions": [decision]}))


def edited(amount: int) -> dict[str, Any]:
    """A decision of a person, who wants another amount."""
    return {"type": "edit", "edited_action": {"name": "pay", "args": {"amount": amount}}}


@agents
@places
def test_what_a_person_approves_is_still_decided(way: Way, place: str) -> None:
    """A yes to LangChain's question is no yes to a contract."""
    talk = way.open([pay], spending(100), **at(place))
    talk.say(ask("pay", amount=60))
    assert decide(talk, type="approve").result("a") == "paid 60"
    talk.say(ask("pay", amount=60))
    assert "`spending`" in decide(talk, type="approve").refused("a")
    assert RAN == [60]


@agents
@places
def test_what_a_person_edits_is_decided(way: Way, place: str) -> None:
    """Wherever that middleware stands: what runs is what the person has written, if it may."""
    talk = way.open([pay], small(100), **at(place))
    talk.say(ask("pay", amount=5))
    decide(talk, **edited(900)).refused("a")
    talk.say(ask("pay", amount=5))
    assert decide(talk, **edited(50)).result("a").endswith("paid 50")
    assert RAN == [50]


@agents
@places
def test_what_a_person_rejects_never_runs(way: Way, place: str) -> None:
    """The model hears the person; inside of the pair nothing was let through, so nothing counts."""
    talk = way.open([pay], few("pay", 1), **at(place))
    talk.say(ask("pay", amount=5))
    assert "not now" in decide(talk, type="reject", message="not now").refused("a")
    assert RAN == []
    if place == "others":
        talk.say(ask("pay", amount=5))
        assert decide(talk, type="approve").result("a") == "paid 5"


@agents
@places
@pytest.mark.parametrize("verdict", ["approve", "reject", "edit"])
def test_a_call_that_both_refuse_is_answered_once(way: Way, place: str, verdict: str) -> None:
    """Providers refuse a conversation with two answers to one call."""
    talk = way.open([pay], small(100), **at(place))
    talk.say(ask("pay", amount=900))
    came = decide(talk, **(edited(700) if verdict == "edit" else {"type": verdict}))
    came.refused("a")  # asks for one answer
    assert ("`small`" in came.refused("a")) == (verdict != "reject")
    assert (RAN, came.last) == ([], "done")


@agents
@pytest.mark.parametrize("place", ["others", "behind"])
def test_what_a_person_makes_smaller_counts_as_it_ran(way: Way, place: str) -> None:
    """A call of 60 that a person makes 30 counts 30, once."""
    talk = way.open([pay], spending(100), few("pay", 2), **at(place))
    talk.say(ask("pay", amount=60))
    assert decide(talk, **edited(30)).result("a").endswith("paid 30")
    talk.say(ask("pay", "b", amount=70))
    assert decide(talk, type="approve").result("b") == "paid 70"
    talk.say(ask("pay", "c", amount=0))
    decide(talk, type="approve").refused("c")
    assert RAN == [30, 70]


@agents
def test_an_edit_is_of_its_own_turn(way: Way) -> None:
    """Where ids of calls come again, an edit of the turn before is none of this one."""
    for place in ("before", "others"):
        talk = way.open([pay], small(100), **at(place))
        talk.say(ask("pay", amount=5))
        decide(talk, **edited(900)).refused("a")
        talk.say(ask("pay", amount=6))
        assert decide(talk, type="approve").result("a") == "paid 6"
    assert RAN == [6, 6]


@agents
def test_both_may_ask(way: Way) -> None:
    """First LangChain's middleware asks, then the contract does, of the same call."""
    talk = way.open([pay], asked(100), others=[human()])
    talk.say(ask("pay", amount=900))
    (question,) = decide(talk, type="approve").asked
    assert question["args"] == {"amount": 900}
    yes = approve(question["ticket"], by="ann", role="manager")
    assert talk.go(Command(resume=yes)).result("a") == "paid 900"
    assert RAN == [900]


# --- limits and retries ---------------------------------------------------------------------------


@agents
def test_a_call_that_another_limit_refuses_counts_nothing(way: Way) -> None:
    """What LangChain's limit has answered was never let through here."""
    limit = ToolCallLimitMiddleware(run_limit=1)
    talk = way.open([pay], few("pay", 2), others=[limit])
    came = talk.say([*ask("pay", amount=1), *ask("pay", "b", amount=2)])
    assert came.result("a") == "paid 1"
    assert "limit" in came.refused("b")
    assert talk.say(ask("pay", amount=3)).result("a") == "paid 3"
    talk.say(ask("pay", amount=4)).refused("a")
    assert RAN == [1, 3]


@agents
@places
def test_what_a_limit_and_a_contract_refuse_is_answered_once(way: Way, place: str) -> None:
    """The limit of LangChain, in front of the pair or between them."""
    limit = ToolCallLimitMiddleware(run_limit=1)
    beside: dict[str, Any] = {place: [limit]}
    talk = way.open([pay], small(100), **beside)
    came = talk.say([*ask("pay", amount=1), *ask("pay", "b", amount=900)])
    assert came.result("a") == "paid 1"
    assert "limit" in came.refused("b")
    assert RAN == [1]


# --- answers that end the agent -------------------------------------------------------------------


@tool(return_direct=True)
def close(amount: int) -> str:
    """Pay an amount, and end."""
    RAN.append(amount)
    return f"closed with {amount}"


class Looks(AgentMiddleware[Any, Any]):
    """Looks at what the model is about to hear."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []

    def before_model(self, state: Any, runtime: Any) -> None:
        self.seen.append(sum(isinstance(each, ToolMessage) for each in state["messages"]))


whole = pytest.mark.parametrize("place", ["before", "others", "behind"])
"""In front of the pair, between our two, or behind them."""


@agents
@whole
@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("changed", [False, True])
def test_the_model_hears_of_a_refusal_that_would_end_the_agent(
    way: Way, place: str, *, beside: bool, changed: bool
) -> None:
    """Refused with the others or when it was changed: the model hears it, after all the others."""
    looks = Looks()
    more: dict[str, Any] = {"others": [editing(amount=900)]} if changed else {}
    more[place] = [*more.get(place, ()), looks]
    talk = way.open([close, pay, audit], small_close(), **more)
    first = ask("close", amount=5 if changed else 900)
    came = talk.say(
        [*first, *ask("close", "b", amount=900)] if beside else first, ask("audit", "c")
    )
    assert "`small`" in came.refused("a")
    assert (came.last, came.result("c")) == ("done", "fine")
    assert looks.seen == [0, 1 + beside, 2 + beside]


@agents
def test_an_answer_that_ends_the_agent_ends_it(way: Way) -> None:
    """Where nothing is refused, LangChain's rule holds; beside a refusal the model goes on."""
    talk = way.open([close], small_close())
    assert talk.say(ask("close", amount=5)).last == "closed with 5"
    came = talk.say([*ask("close", amount=6), *ask("close", "b", amount=900)])
    assert (came.result("a"), came.last) == ("closed with 6", "done")
    assert RAN == [5, 6]


def small_close() -> Contract:
    """At most 100 to close."""
    return contract("small").guarantees(arg_value_range("close", "amount", max=100))


@agents
def test_every_attempt_of_a_retry_is_decided(way: Way) -> None:
    """LangChain's retry gets as many attempts as the contract allows."""
    retry = ToolRetryMiddleware(max_retries=5, initial_delay=0, jitter=False)
    talk = way.open([shaky], few("shaky", 2), others=[retry])
    assert "`few shaky`" in talk.say(ask("shaky", amount=5)).refused("a")
    assert RAN == [5, 5]


@agents
def test_a_retry_that_gives_up_is_a_failure(way: Way) -> None:
    """The model hears of it, and the call has not succeeded."""
    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)
    rule = told("G(called(pay) -> Y O done(shaky))")
    talk = way.open([shaky, pay], rule, others=[retry])
    came = talk.say(ask("shaky", amount=5), ask("pay", "b", amount=5))
    came.refused("a")
    came.refused("b")
    assert talk.statuses() == ["error", "error"]


# --- summaries ------------------------------------------------------------------------------------


def summing() -> Any:
    """LangChain's summary of what was said before the user's last message."""
    model = GenericFakeChatModel(messages=iter(3 * [AIMessage("they talked")]))
    return SummarizationMiddleware(model, trigger=("messages", 7), keep=("messages", 1))


@agents
def test_a_summary_forgets_no_call(way: Way) -> None:
    """What was called before is no message: a limit holds when all messages are gone."""
    talk = way.open([pay, audit], spending(100), others=[summing()])
    talk.say(ask("pay", amount=60), ask("audit", "b"))
    came = talk.say(ask("pay", amount=60))
    assert any("they talked" in str(each.text) for each in came.state["messages"])
    came.refused("a")
    assert RAN == [60]


@agents
def test_a_summary_is_no_message_of_the_user(way: Way) -> None:
    """What the user has said was said, and what the summary says the user has not."""
    please = told('G(called(pay) -> O (message(user) & text matches "please"))')
    talk = way.open([pay, audit], please, others=[summing()])
    talk.say(ask("audit"), ask("audit", "b"), user="please pay")
    assert talk.say(ask("pay", amount=60)).result("a") == "paid 60"
    talked = told('G(called(pay) -> O (message(user) & text matches "they talked"))')
    talk = way.open([pay, audit], talked, others=[summing()])
    talk.say(ask("audit"), ask("audit", "b"), user="please pay")
    talk.say(ask("pay", amount=60)).refused("a")


# --- structured output ----------------------------------------------------------------------------


class Answer(BaseModel):
    """The answer of the agent."""

    text: str


@agents
def test_a_structured_answer_is_no_call(way: Way) -> None:
    """It ends the agent as without contracts, whatever tools they allow."""
    only = contract("only").guarantees(tool_allowlist(["pay"]))
    talk = way.open([pay], only, spending(100), response=ToolStrategy(Answer))
    came = talk.say(ask("pay", amount=60), ask("Answer", "b", text="all done"))
    assert came.state["structured_response"] == Answer(text="all done")
    assert (came.result("a"), len(talk.outcomes())) == ("paid 60", 1)


@agents
def test_a_structured_answer_may_be_wrong_first(way: Way) -> None:
    """LangChain tells the model what is wrong, and it answers again."""
    talk = way.open([pay], spending(100), response=ToolStrategy(Answer))
    came = talk.say(ask("Answer"), ask("Answer", "b", text="all done"))
    assert came.state["structured_response"] == Answer(text="all done")


@agents
def test_what_is_owed_is_told_before_a_structured_answer(way: Way) -> None:
    """The model is reminded, does it, and answers."""
    rule = contract("watched").guarantees(always_followed_by("pay", "audit"))
    talk = way.open([pay, audit], rule, response=ToolStrategy(Answer))
    first, again = ask("Answer", "b", text="one"), ask("Answer", "d", text="two")
    came = talk.say(ask("pay", amount=60), first, ask("audit", "c"), again)
    assert came.result("c") == "fine"
    assert came.state["structured_response"] == Answer(text="two")
