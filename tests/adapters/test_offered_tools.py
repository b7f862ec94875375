"""Tools that could only be refused now are not offered to the model, and refused when named."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.tools import tool

from sponsio_like.contract import contract
from sponsio_like.patterns import redirect_to_safe
from tests.adapters.rules import asked, checked, few, small
from tests.adapters.talks import Way, agents, ask


@tool
def check() -> str:
    """Check what there is to check."""
    return "clean"


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@tool
def trash(amount: int) -> str:
    """Do nothing."""
    return f"nothing for {amount}"


TOOLS = [check, pay]


@agents
def test_a_tool_that_is_impossible_is_hidden(way: Way) -> None:
    """Before the check, the model is not offered the payment."""
    talk = way.open(TOOLS, checked())
    talk.say("hello")
    assert talk.model.offered == ["check"]


@agents
def test_a_hidden_tool_is_refused_when_it_is_named(way: Way) -> None:
    """A model that names it all the same hears what to do first."""
    talk = way.open(TOOLS, checked())
    came = talk.say(ask("pay", amount=5))
    assert "`check`" in came.refused("a")
    assert talk.statuses() == []


@agents
def test_a_tool_is_offered_again_when_it_is_possible(way: Way) -> None:
    """After the check, both are; after the last payment, one."""
    talk = way.open(TOOLS, checked(), few("pay", 1))
    talk.say(ask("check"))
    assert talk.model.offered == ["check", "pay"]
    assert talk.say(ask("pay", amount=5)).result("a") == "paid 5"
    assert talk.model.offered == ["check"]


@agents
def test_a_tool_that_some_arguments_make_possible_is_offered(way: Way) -> None:
    """Only what is certain hides a tool."""
    talk = way.open(TOOLS, small(100))
    talk.say("hello")
    assert talk.model.offered == ["check", "pay"]


@agents
def test_a_tool_that_may_be_approved_or_redirected_is_offered(way: Way) -> None:
    """Asking for it comes to something."""
    mild = contract("mild").guarantees(redirect_to_safe("check", "trash"))
    talk = way.open([*TOOLS, trash], asked(-1), mild)
    talk.say("hello")
    assert talk.model.offered == ["check", "pay", "trash"]


@agents
def test_nothing_is_hidden_where_nothing_is_enforced(way: Way) -> None:
    """The model that is observed is offered what it was offered before."""
    talk = way.open(TOOLS, checked(), mode="observe")
    talk.say("hello")
    assert talk.model.offered == ["check", "pay"]


@agents
def test_what_is_hidden_in_one_thread_is_offered_in_another(way: Way) -> None:
    """Each thread has its own."""
    talk = way.open(TOOLS, checked())
    talk.say(ask("check"), thread="one")
    talk.say("hello", thread="two")
    assert talk.model.offered == ["check"]
    talk.say("hello", thread="one")
    assert talk.model.offered == ["check", "pay"]


@tool
def late(word: str) -> str:
    """A tool that another middleware brings."""
    return f"late {word}"


class Brings(AgentMiddleware[Any, Any]):
    """A middleware with a tool of its own."""

    tools = [late]  # noqa: RUF012  as LangChain has it


@agents
def test_tools_of_other_middlewares_are_guarded(way: Way) -> None:
    """They are decided, and hidden, as those of the agent."""
    talk = way.open(TOOLS, few("late", 1), others=[Brings()])
    assert talk.say(ask("late", word="hi")).result("a") == "late hi"
    assert talk.model.offered == ["check", "pay"]
    talk.say(ask("late", word="hi")).refused("a")
