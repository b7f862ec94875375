"""Whose session it is: of two guards, of two releases of one, of runs beside each other."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.guard.guard import Guard
from sponsio_like.patterns import must_precede, rate_limit
from tests.adapters.rules import checked, few, small
from tests.adapters.scripted import Line, Scripted, said
from tests.adapters.talks import More, Talk, Way, agents, ask, everywhere, graphs
from tests.support.size import sized

RAN: list[str] = []
GO: Any = {"messages": [("user", "go")]}
ON: Any = {"configurable": {"thread_id": "one"}, "recursion_limit": 100}


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    RAN.append(f"pay {amount}")
    return f"paid {amount}"


@tool
def send(text: str) -> str:
    """Send a mail."""
    RAN.append(f"send {text}")
    return "sent"


@tool
def check() -> str:
    """Check what there is to check."""
    return "clean"


def _limit(what: str, most: int) -> Contract:
    return contract("limit").guarantees(rate_limit(what, most))


def _invoke(way: Way, graph: Any, given: Any = GO, config: Any = ON) -> Any:
    if way.later:
        return asyncio.run(graph.ainvoke(given, config))
    return graph.invoke(given, config)


def _runs(name: str) -> int:
    return sum(each.split()[0] == name for each in RAN)


# --- two guards -----------------------------------------------------------------------------------


def _turns() -> list[Line]:
    each = [(ask("pay", f"p{i}", amount=i), ask("send", f"s{i}", text=f"{i}")) for i in range(5)]
    return [*(turn for both in each for turn in both), "done"]


@agents
def test_two_pairs_whose_contracts_have_one_name_hold_both(way: Way) -> None:
    """Two files may call a rule alike: none forgets what it has seen when the other decides."""
    money = guarded(Guard([_limit("pay", 2)]), [pay], name="money")
    mail = guarded(Guard([_limit("send", 2)]), [send], name="mail")
    graph: Any = create_agent(
        Scripted(script=_turns),
        [pay, send],
        middleware=[*money, *mail],
        checkpointer=InMemorySaver(),
    )
    _invoke(way, graph)
    assert (_runs("pay"), _runs("send")) == (2, 2)


@graphs
def test_two_nodes_whose_contracts_have_one_name_hold_both(way: Way) -> None:
    """As of two pairs, of two nodes of a graph."""
    graph = _money_and_mail(Guard([_limit("pay", 2)]), Guard([_limit("send", 2)]))
    _invoke(way, graph)
    assert (_runs("pay"), _runs("send")) == (2, 2)


@graphs
def test_two_guards_of_equal_contracts_count_as_one(way: Way) -> None:
    """They are one policy: what one node has done the other knows, as under one guard."""
    rule = contract("paid first").guarantees(must_precede("pay", "send"))
    one, two = (Guard([rule], elsewhere=["pay", "send"]) for _ in range(2))
    _invoke(way, _money_and_mail(one, two))
    assert (_runs("pay"), _runs("send")) == (5, 5)


def _money_and_mail(money: Guard, mail: Guard) -> Any:
    def where(state: Any) -> str:
        calls = state["messages"][-1].tool_calls
        return "__end__" if not calls else {"pay": "money", "send": "mail"}[calls[0]["name"]]

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [said(_turns(), state["messages"])]})
    guard_tools(builder, money, [pay], name="money")
    guard_tools(builder, mail, [send], name="mail")
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", where)
    builder.add_edge("money", "model")
    builder.add_edge("mail", "model")
    return builder.compile(checkpointer=InMemorySaver())


# --- releases -------------------------------------------------------------------------------------


def _release(way: Way, saver: Any, *contracts: Contract, tools: Any = (pay, send)) -> Talk:
    """The agent of a release, in a process of its own: no guard lives that was before."""
    gc.collect()
    return way.under(Guard(contracts), list(tools), more=More(saver=saver))


@pytest.mark.long
@everywhere
def test_a_release_that_changes_a_contract_goes_on_with_the_others(way: Way) -> None:
    """The one that says something else begins anew; what the others have seen they know."""
    saver = InMemorySaver()
    talk = _release(way, saver, few("pay", 2), _limit("send", 1))
    talk.say(ask("pay", amount=1), ask("send", "b", text="x"))
    del talk
    talk = _release(way, saver, few("pay", 2), _limit("send", 2))
    talk.say(*(ask("pay", f"{i}", amount=i) for i in (2, 3)), ask("send", "d", text="y"))
    assert RAN == ["pay 1", "send x", "pay 2", "send y"]


@pytest.mark.long
@everywhere
@pytest.mark.parametrize("turns", [1, sized(12, 4)])
def test_two_releases_that_serve_a_thread_in_turn_count_together(way: Way, turns: int) -> None:
    """While a release is rolled out, and when it is taken back, what was seen is known to both."""
    saver, names = InMemorySaver(), (_limit("send", 1), _limit("send", 9), _limit("send", 5))
    for each in (*names, *names):
        talk = _release(way, saver, few("pay", 2), each)
        talk.say(*(ask("check", f"{i}") for i in range(turns - 1)), ask("pay", amount=1))
        del talk
    assert _runs("pay") == 2


@everywhere
def test_a_call_that_a_new_release_ends_is_known_to_it(way: Way) -> None:
    """A tool waits for a person when a release is made; it goes on under that, and has counted."""
    saver = InMemorySaver()

    @tool("pay")
    def asking(amount: int) -> str:
        """Pay an amount; the first one once somebody is sure."""
        if amount == 1:
            interrupt("sure?")
        RAN.append(f"pay {amount}")
        return "paid"

    talk = _release(way, saver, few("pay", 1), tools=[asking])
    talk.say(ask("pay", amount=1))
    del talk
    talk = _release(way, saver, few("pay", 1), small(50), tools=[asking])
    talk.plan(ask("pay", amount=1), ask("pay", "b", amount=2))
    assert talk.go(Command(resume="yes")).result("a") == "paid"
    talk.say(ask("pay", "d", amount=3))
    assert RAN == ["pay 1"]


# --- runs beside each other -----------------------------------------------------------------------


def _inner(way: Way, guard: Guard, *turns: Line) -> Any:
    script: list[Line] = [*turns, "done"]
    model = Scripted(script=lambda: script)
    return way.build(guard, [check, pay], model, scope="run", more=More(saver=None))


def _outer(way: Way, work: Any, *turns: Line) -> Any:
    script: list[Line] = [*turns, "done"]
    model = Scripted(script=lambda: script)
    return create_agent(model, [work], checkpointer=InMemorySaver())


@everywhere
def test_a_check_of_one_run_does_not_open_a_payment_of_another(way: Way) -> None:
    """Two runs of graphs within one tool: each has its own session, as `scope="run"` says."""
    guard = Guard([checked()])
    one, two = _inner(way, guard, ask("check")), _inner(way, guard, ask("pay", amount=7))
    _invoke(way, _outer(way, _worker(way, one, two), ask("work")))
    assert RAN == []


@everywhere
def test_runs_beside_each_other_do_not_spend_what_others_may(way: Way) -> None:
    """Three runs of one graph, each of which may pay twice, pay six times."""
    pays = [ask("pay", f"{i}", amount=i) for i in range(3)]
    inner = _inner(way, Guard([few("pay", 2)]), *pays)
    works = [ask("work", id)[0] for id in "uvw"]
    _invoke(way, _outer(way, _worker(way, inner), works))
    assert sorted(RAN) == ["pay 0"] * 3 + ["pay 1"] * 3


def _worker(way: Way, *graphs: Any) -> Any:
    @tool
    def work() -> str:
        """Run these graphs, one after the other."""
        for each in graphs:
            each.invoke(GO)
        return "done"

    @tool("work")
    async def awork() -> str:
        """Run these graphs, one after the other."""
        for each in graphs:
            await each.ainvoke(GO)
        return "done"

    return awork if way.later else work
