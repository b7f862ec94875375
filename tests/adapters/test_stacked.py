"""Two guards on one agent: a pair of middlewares each. A call needs the leave of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import approve, waiting
from sponsio_like.guard.guard import Guard
from tests.adapters import rules
from tests.adapters.bodies import RAN, pay
from tests.adapters.middlewares import editing, retrying
from tests.adapters.nests import Ledger, acts, agent_inside, as_tool, few, go, pays
from tests.adapters.rules import asked, small, told
from tests.adapters.scripted import Line, since_user
from tests.adapters.talks import ask

GO: Any = {"messages": [("user", "go on")]}
ways = pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
order = pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
"""Which of the two guards has the contract."""
places = pytest.mark.parametrize("place", ["before", "between", "behind"])
"""Where another middleware stands: in front of both pairs, between them, or behind."""


@tool("pay")
def shaky(amount: int) -> str:
    """Pay an amount, or fail."""
    RAN.append(amount)
    raise ValueError("no paper")


class Found(BaseModel):
    """What was found."""

    id: int


@tool
def find(name: str) -> Found:
    """Find somebody."""
    return Found(id=7)


def stacked(
    one: Guard, two: Guard, tools: Sequence[Any], *turns: Line, other: Any = None, place: str = ""
) -> Any:
    """An agent with two pairs of middlewares, and another one in its place."""
    beside = {each: [other] if each == place else [] for each in ("before", "between", "behind")}
    pairs = [
        *beside["before"],
        *guarded(one, tools, name="one"),
        *beside["between"],
        *guarded(two, tools, name="two"),
        *beside["behind"],
    ]
    model = acts("boss", *turns)
    return create_agent(model, tools, middleware=pairs, checkpointer=InMemorySaver())


def both(rule: Guard, other: Guard, *, first: bool) -> tuple[Guard, Guard]:
    """The guards, in this order."""
    return (rule, other) if first else (other, rule)


def results(state: Any) -> dict[str, str]:
    """How each call was answered, by id."""
    return {each.tool_call_id: each.status for each in since_user(state["messages"], ToolMessage)}


@ways
@order
def test_the_narrower_cap_holds(*, first: bool, later: bool) -> None:
    """Over two turns, whichever guard has it."""
    ledger = Ledger()
    guards = both(few("a", 3), few("b", 5), first=first)
    agent = stacked(*guards, [ledger.pay("o")], *pays("o", 2))
    for expected in ("oo", "o"):
        del ledger.ran[:]
        go(agent, GO, later=later)
        assert "".join(ledger.ran) == expected


@ways
@order
def test_a_sub_agent_is_under_the_guard_that_it_has(*, first: bool, later: bool) -> None:
    """Its payments count with that one, whichever it is, and not with the other."""
    ledger, mine, other = Ledger(), few("a", 3), few("b", 1)
    inner = agent_inside(mine, [ledger.pay("i")], acts("alice", *pays("i", 2)))
    tools = [as_tool(inner), ledger.pay("o")]
    turns = ask("research", question="why"), *pays("o", 1)
    agent = stacked(*both(mine, other, first=first), tools, *turns)
    for expected in ("iio", ""):
        del ledger.ran[:]
        go(agent, GO, later=later)
        assert "".join(ledger.ran) == expected


@ways
@order
def test_either_may_ask_a_person(*, first: bool, later: bool) -> None:
    """What was approved runs once, and counts with both."""
    guards = both(Guard([asked(100)]), few("a", 1), first=first)
    agent = stacked(*guards, [pay], ask("pay", amount=900), ask("pay", "b", amount=1))
    (question,) = waiting(go(agent, GO, later=later))
    assert RAN == []
    yes = approve(question["ticket"], by="ann", role="manager")
    came = go(agent, Command(resume=yes), later=later)
    assert (RAN, results(came)) == ([900], {"a": "success", "b": "error"})


@ways
@order
@places
def test_every_attempt_counts_with_both(place: str, *, first: bool, later: bool) -> None:
    """A middleware that tries again gets as many attempts as the narrower cap allows."""
    guards = both(few("a", 2), few("b", 9), first=first)
    agent = stacked(*guards, [shaky], ask("pay", amount=1), other=retrying(5), place=place)
    go(agent, GO, later=later)
    assert RAN == [1, 1]


@ways
@order
@places
def test_what_another_middleware_edits_is_decided_by_both(
    place: str, *, first: bool, later: bool
) -> None:
    """Wherever it stands: what runs is what both have allowed."""
    guards = both(Guard([small(100)]), few("b", 9), first=first)
    agent = stacked(*guards, [pay], ask("pay", amount=5), other=editing(amount=900), place=place)
    came = go(agent, GO, later=later)
    assert (RAN, results(came)) == ([], {"a": "error"})


@ways
@order
def test_both_read_what_a_tool_returns(*, first: bool, later: bool) -> None:
    """The data, and not the text of its message."""
    rule = told("G(called(pay) -> Y O (called(find) & output.id = 7))")
    guards = both(Guard([rule]), few("b", 9), first=first)
    turns = ask("pay", amount=1), ask("find", "b", name="ann"), ask("pay", "c", amount=2)
    came = go(stacked(*guards, [pay, find], *turns), GO, later=later)
    assert results(came) == {"a": "error", "b": "success", "c": "success"}
    assert RAN == [2]


@ways
@pytest.mark.parametrize("direct", [False, True], ids=["tool", "return direct"])
def test_what_the_last_pair_refuses_does_not_count_with_the_other(
    *, direct: bool, later: bool
) -> None:
    """It never happens: two that are refused for their amount leave both that are allowed."""
    calls = [ask("pay", f"{i}", amount=each) for i, each in enumerate((60, 70, 10, 80, 20, 30))]
    tool = pay.model_copy(update={"return_direct": direct})
    agent = stacked(few("a", 2), Guard([small(50)]), [tool], *calls)
    for _ in range(6 if direct else 1):
        go(agent, GO, later=later)
    assert ([10] * 2 if direct else [10, 20]) == RAN


@ways
def test_calls_of_one_message_that_the_last_pair_refuses_do_not_count(*, later: bool) -> None:
    """The answer to each says who has refused it."""
    amounts = {"a": 60, "b": 10, "c": 70, "d": 20, "e": 30}
    calls = [ask("pay", id, amount=each)[0] for id, each in amounts.items()]
    came = go(stacked(few("a", 2), Guard([small(50)]), [pay], calls), GO, later=later)
    assert sorted(RAN) == [10, 20]
    answers = {each.tool_call_id: each for each in since_user(came["messages"], ToolMessage)}
    against = {id: each.artifact["contracts"] for id, each in answers.items() if each.artifact}
    assert {**against, "e": []} == {"a": ["small"], "c": ["small"], "e": []}
    assert "not allowed by `small`" in str(answers["a"].content)


@ways
def test_a_run_that_the_first_pair_ends_answers_what_the_last_has_refused(*, later: bool) -> None:
    """Each call gets one answer, so that the conversation can go on."""
    ends = Guard([rules.few("pay", 0).strategy("stop")])
    calls = [ask("pay", id, amount=each)[0] for id, each in {"a": 60, "b": 10}.items()]
    came = go(stacked(ends, Guard([small(50)]), [pay], calls), GO, later=later)
    assert (RAN, results(came)) == ([], {"a": "error", "b": "error"})
    assert len(since_user(came["messages"], ToolMessage)) == 2


@ways
@order
def test_what_the_last_pair_refuses_does_not_count_with_the_first(
    *, first: bool, later: bool
) -> None:
    """The pair that stands last decides first; what the other one refuses then counts with it."""
    guards = both(few("a", 1), Guard([small(100)]), first=first)
    agent = stacked(*guards, [pay], ask("pay", amount=900), ask("pay", "b", amount=5))
    came = go(agent, GO, later=later)
    assert ([5] if first else []) == RAN
    assert results(came) == {"a": "error", "b": "success" if first else "error"}
