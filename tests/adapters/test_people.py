"""What people are asked about calls, and what they make of them."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from sponsio_like.adapters.langgraph import approve, deny, guard_node, waiting
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.guard.guard import Guard
from sponsio_like.patterns import arg_value_range
from tests.adapters.rules import asked, few, small, spending
from tests.adapters.talks import Came, More, Talk, Way, ask, everywhere

RAN: list[Any] = []
"""What bodies have received."""


@tool
def pay(amount: int, note: str = "") -> str:
    """Pay an amount."""
    RAN.append((amount, note) if note else amount)
    return f"paid {amount}"


def answered(talk: Talk, came: Came, **answer: Any) -> Came:
    """A manager says yes to the one question."""
    (question,) = came.asked
    yes = approve(question["ticket"], **{"by": "ann", "role": "manager", **answer})
    return talk.go(Command(resume=yes))


def directed(most: int) -> Contract:
    """A payment below this is held until a director has answered."""
    strategy = {"escalate": {"roles": ["director"]}}
    rule = contract("directed").guarantees(arg_value_range("pay", "amount", min=most))
    return rule.strategy(strategy)


# --- tickets --------------------------------------------------------------------------------------


@everywhere
def test_an_answer_that_comes_again_approves_no_later_call(way: Way) -> None:
    """Some models begin anew with `call_0` in each message: a ticket is of one message, too."""
    talk = way.open([pay], asked(100))
    first = talk.say(ask("pay", "call_0", amount=900))
    assert answered(talk, first).result("call_0") == "paid 900"
    second = talk.say(ask("pay", "call_0", amount=900))
    (question,), (before,) = second.asked, first.asked
    assert (question["call"], before["call"]) == ("call_0", "call_0")
    assert question["ticket"] != before["ticket"]
    again = answered(talk, first)  # the answer is delivered once more
    assert again.asked == second.asked
    (interrupt,) = again.state["__interrupt__"]
    assert interrupt.value["problems"] == [f"there is no open ticket `{before['ticket']}` here"]
    assert RAN == [900]
    assert answered(talk, again).result("call_0") == "paid 900"


@everywhere
def test_a_ticket_is_the_same_in_another_process(way: Way) -> None:
    """Who asks again after a restart asks about the same ticket."""
    saver = InMemorySaver()
    first = way.open([pay], asked(100), more=More(saver=saver))
    came = first.say(ask("pay", amount=900))
    talk = way.open([pay], asked(100), more=More(saver=saver))
    talk.plan(ask("pay", amount=900))
    again = talk.go(Command(resume="nobody has answered"))
    assert again.asked == came.asked
    assert answered(talk, came).result("a") == "paid 900"


# --- calls that people edit -----------------------------------------------------------------------


@everywhere
def test_a_person_makes_a_call_smaller(way: Way) -> None:
    """It runs once, with the arguments that the person gives, and counts as it ran."""
    talk = way.open([pay], asked(100), spending(1000), few("pay", 2))
    came = answered(talk, talk.say(ask("pay", amount=900)), args={"amount": 50})
    assert (came.result("a"), RAN) == ("paid 50", [50])
    second = answered(talk, talk.say(ask("pay", "b", amount=950)))
    assert (second.result("b"), RAN) == ("paid 950", [50, 950])
    talk.say(ask("pay", "c", amount=0)).refused("c")


@everywhere
def test_the_answer_is_good_for_the_call_as_it_was_edited(way: Way) -> None:
    """What still needs a manager has one, who has said it."""
    talk = way.open([pay], asked(100))
    came = answered(talk, talk.say(ask("pay", amount=900)), args={"amount": 500})
    assert (came.result("a"), RAN) == ("paid 500", [500])


@everywhere
def test_what_contracts_do_not_allow_is_refused_whoever_wrote_it(way: Way) -> None:
    """A person cannot make a call that no person may approve; the model is told."""
    talk = way.open([pay], asked(100), small(1000))
    came = answered(talk, talk.say(ask("pay", amount=900)), args={"amount": 5000})
    assert "`small`" in came.refused("a")
    assert (RAN, came.last) == ([], "done")


@everywhere
def test_arguments_of_a_person_have_to_be_accepted_by_the_tool(way: Way) -> None:
    """Otherwise the person is told what is wrong, and asked again."""
    talk = way.open([pay], asked(100))
    first = talk.say(ask("pay", amount=900))
    for wrong, why in (({"amount": "much"}, "amount: "), ({}, "amount: "), ("50", "no arguments")):
        (question,) = first.asked
        yes = {"decision": "approve", "by": "ann", "role": "manager", "args": wrong}
        again = talk.go(Command(resume={question["ticket"]: yes}))
        (interrupt,) = again.state["__interrupt__"]
        (problem,) = interrupt.value["problems"]
        assert why in problem
        assert again.asked == first.asked
    assert answered(talk, first, args={"amount": "50"}).result("a") == "paid 50"
    assert RAN == [50]


@everywhere
def test_only_who_may_answer_may_edit(way: Way) -> None:
    """A clerk's edit is no edit, also when a manager says yes later."""
    talk = way.open([pay], asked(100))
    first = talk.say(ask("pay", amount=900))
    again = answered(talk, first, by="bob", role="clerk", args={"amount": 500})
    assert again.asked == first.asked
    assert answered(talk, again).result("a") == "paid 900"
    assert RAN == [900]


@everywhere
def test_an_edit_that_more_contracts_ask_about_is_asked_again(way: Way) -> None:
    """The manager's yes is not the director's; both see the call as it is now."""
    talk = way.open([pay], asked(100), directed(200))
    second = answered(talk, talk.say(ask("pay", amount=900)), args={"amount": 150})
    (question,) = second.asked
    assert (question["args"]["amount"], question["roles"]) == (150, ["manager", "director"])
    third = answered(talk, second)
    (question,) = third.asked
    assert question["roles"] == ["director"]
    came = answered(talk, third, by="dan", role="director")
    assert (came.result("a"), RAN) == ("paid 150", [150])


@everywhere
def test_an_edit_may_be_edited(way: Way) -> None:
    """Who is asked next may give other arguments again; what runs are the last ones."""
    talk = way.open([pay], asked(100), directed(200))
    second = answered(talk, talk.say(ask("pay", amount=900)), args={"amount": 150})
    director = {"by": "dan", "role": "director"}
    assert answered(talk, second, **director, args={"amount": 90}).result("a") == "paid 90"
    assert RAN == [90]


@everywhere
def test_an_edit_beside_a_call_that_waits(way: Way) -> None:
    """One call is edited, the other is answered later: each runs once."""
    talk = way.open([pay], asked(100), spending(1000))
    batch = [*ask("pay", amount=900), *ask("pay", "b", amount=800), *ask("pay", "c", amount=5)]
    one, two = talk.say(batch).asked
    manager: dict[str, Any] = {"by": "ann", "role": "manager"}
    came = talk.go(Command(resume=approve(one["ticket"], **manager, args={"amount": 150})))
    assert [each["call"] for each in came.asked] == ["b"]
    assert RAN == []
    came = talk.go(Command(resume=approve(two["ticket"], **manager)))
    assert [came.result(each) for each in "abc"] == ["paid 150", "paid 800", "paid 5"]
    assert sorted(RAN) == [5, 150, 800]
    talk.say(ask("pay", "d", amount=46)).refused("d")


@everywhere
def test_an_edit_beside_one_that_is_denied(way: Way) -> None:
    """Both in one answer."""
    talk = way.open([pay], asked(100))
    one, two = talk.say([*ask("pay", amount=900), *ask("pay", "b", amount=800)]).asked
    manager: dict[str, Any] = {"by": "ann", "role": "manager"}
    said = approve(one["ticket"], **manager, args={"amount": 1}) | deny(two["ticket"], **manager)
    came = talk.go(Command(resume=said))
    came.refused("b")
    assert (came.result("a"), RAN) == ("paid 1", [1])


@everywhere
def test_an_edit_replaces_all_arguments(way: Way) -> None:
    """What the person leaves out the tool does not receive."""
    talk = way.open([pay], asked(100))
    came = answered(talk, talk.say(ask("pay", amount=900, note="now")), args={"amount": 50})
    assert (came.result("a"), RAN) == ("paid 50", [50])


@everywhere
def test_the_same_arguments_are_a_plain_yes(way: Way) -> None:
    """A form that sends the arguments along, changed or not, may do so."""
    talk = way.open([pay], asked(100))
    first = talk.say(ask("pay", amount=900))
    (question,) = first.asked
    assert answered(talk, first, args=question["args"]).result("a") == "paid 900"
    nothing = talk.say(ask("pay", "b", amount=901))
    assert answered(talk, nothing, args=None).result("b") == "paid 901"


@everywhere
def test_an_edit_reaches_a_call_in_another_process(way: Way) -> None:
    """The graph is made anew between question, answer and call."""
    saver = InMemorySaver()
    came = way.open([pay], asked(100), more=More(saver=saver)).say(ask("pay", amount=900))
    talk = way.open([pay], asked(100), more=More(saver=saver))
    talk.plan(ask("pay", amount=900))
    assert answered(talk, came, args={"amount": 70}).result("a") == "paid 70"


@everywhere
def test_the_log_says_who_has_edited(way: Way) -> None:
    """The call of the model is denied, and the one that runs is approved, by the same person."""
    talk = way.open([pay], asked(100))
    answered(talk, talk.say(ask("pay", amount=900)), args={"amount": 500})
    said = [(each["event"], each["by"]) for each in talk.records if "ticket_" in each["event"]]
    assert said == [("ticket_denied", "ann"), ("ticket_approved", "ann")]
    assert talk.outcomes()[-1] == "allowed"
    assert talk.statuses() == ["ok"]


def test_arguments_are_those_of_one_call() -> None:
    """Two tickets cannot be given the same arguments at once."""
    with pytest.raises(TypeError, match="one call"):
        approve("one", "two", by="ann", args={"amount": 1})


def test_a_node_runs_on_the_state() -> None:
    """What a node is called with cannot be edited: the person is told to update the state."""
    builder: Any = StateGraph(MessagesState)
    guard = Guard((asked(100),))
    action = lambda _: RAN.append("ran")  # noqa: E731
    guard_node(builder, guard, "pay", action, args=lambda _: {"amount": 900})
    builder.add_edge(START, "pay")
    graph = builder.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}
    (question,) = waiting(graph.invoke({"messages": []}, config))
    manager: dict[str, Any] = {"by": "ann", "role": "manager"}
    yes = approve(question["ticket"], **manager, args={"amount": 1})
    (interrupt,) = graph.invoke(Command(resume=yes), config)["__interrupt__"]
    assert "update the state instead" in interrupt.value["problems"][0]
    graph.invoke(Command(resume=approve(question["ticket"], **manager)), config)
    assert RAN == ["ran"]
