"""How often the action of a guarded node runs: what a person lets through runs once."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from sponsio_like.adapters.langgraph import approve, guard_node, waiting
from sponsio_like.errors import SessionError
from sponsio_like.guard.guard import Guard
from sponsio_like.guard.raised import CallBlocked
from sponsio_like.guard.rules import place_of
from tests.adapters.rules import asked, few, small

ON: Any = {"configurable": {"thread_id": "one"}}
CLICKS = 3


def graph_of(guard: Guard, action: Any, **options: Any) -> Any:
    """A graph of one guarded node that pays 900."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    guard_node(builder, guard, "pay", action, args=lambda _: {"amount": 900}, **options)
    builder.add_edge(START, "pay")
    return builder.compile(checkpointer=InMemorySaver())


def go(graph: Any, given: Any = None, on: Any = ON, *, later: bool = False) -> Any:
    """Run it; `later`, as a coroutine that is run here."""
    given = {"messages": []} if given is None else given
    return asyncio.run(graph.ainvoke(given, on)) if later else graph.invoke(given, on)


def yes_to(state: Any) -> Command[Any]:
    """A manager says yes to what waits."""
    return Command(resume=approve(waiting(state)[0]["ticket"], by="ann", role="manager"))


def trying(work: Any) -> Any:
    """What comes of it, or how it was refused."""
    try:
        return work()
    except (CallBlocked, SessionError) as error:
        return error


both = pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])

# --- what a person has approved -------------------------------------------------------------------


@both
def test_a_double_click_on_yes_runs_a_node_once(*, later: bool) -> None:
    """The same answer comes several times at once; the action runs for one of them.

    A click that comes when that run is over finds nothing to do.
    """
    ran, begun = list[int](), threading.Barrier(CLICKS)

    def act(_: Any) -> None:
        ran.append(1)

    graph = graph_of(Guard([asked()]), act)
    yes = yes_to(go(graph, later=later))

    def click(_: int) -> Any:
        begun.wait(timeout=10)
        return trying(lambda: go(graph, yes))

    async def clicks() -> list[Any]:
        every = [graph.ainvoke(yes, ON) for _ in range(CLICKS)]
        return await asyncio.gather(*every, return_exceptions=True)

    if later:
        came = asyncio.run(clicks())
    else:
        with ThreadPoolExecutor(CLICKS) as pool:
            came = list(pool.map(click, range(CLICKS)))
    assert ran == [1]
    others = [each for each in came if not isinstance(each, dict)]
    assert all(isinstance(each, CallBlocked | SessionError) for each in others)
    assert len(others) < CLICKS


@both
def test_an_answer_to_the_question_of_a_checkpoint_runs_a_node_once(*, later: bool) -> None:
    """It is given again with the config of the checkpoint where the question was asked."""
    ran: list[int] = []
    graph = graph_of(Guard([asked()]), lambda _: ran.append(1))
    yes, at = yes_to(go(graph, later=later)), graph.get_state(ON).config
    came = [trying(lambda: go(graph, yes, at, later=later)) for _ in range(CLICKS)]
    assert ran == [1]
    assert [type(each) for each in came[1:]] == [SessionError] * (CLICKS - 1)


@both
def test_what_was_approved_does_not_run_in_a_replay_of_its_step(*, later: bool) -> None:
    """The state goes on with what `blocked` says of it; without that the run ends."""
    ran, said = list[int](), list[str]()
    options = {"blocked": lambda _, advice: said.append(advice)}
    graph = graph_of(Guard([asked()]), lambda _: ran.append(1), **options)
    go(graph, yes_to(go(graph, later=later)), later=later)
    (before,) = [each.config for each in graph.get_state_history(ON) if each.next == ("pay",)][:1]
    graph.invoke(None, before)
    assert (ran, len(said)) == ([1], 1)
    assert "lets it run once" in said[0]


@both
def test_what_was_approved_and_has_failed_may_run_again(*, later: bool) -> None:
    """The graph is invoked again, and the action runs on the answer that was given."""
    ran: list[int] = []

    def act(_: Any) -> None:
        ran.append(1)
        if len(ran) == 1:
            raise OSError("not now")

    graph = graph_of(Guard([asked()]), act)
    yes = yes_to(go(graph, later=later))
    with pytest.raises(OSError, match="not now"):
        go(graph, yes, later=later)
    graph.invoke(None, ON)
    assert ran == [1, 1]


# --- two runs of one step -------------------------------------------------------------------------


def test_two_runs_of_one_step_run_a_node_once() -> None:
    """The second one is an error while the first one runs; observed, it runs as without."""
    ran = _at_once(Guard([small(1000)]))
    assert [type(each) for each in ran] == [int, SessionError]
    others = small(1000).enforce(place_of(ON["configurable"]["thread_id"]) / 2)
    for guard in (Guard([small(1000)], mode="observe"), Guard([others])):
        assert [type(each) for each in _at_once(guard)] == [int, int]


def _at_once(guard: Guard) -> list[Any]:
    """What comes of a step that has failed, and is begun again by two runs at once."""
    runs, on = list[int](), threading.Event()

    def act(_: Any) -> None:
        runs.append(1)
        if len(runs) == 1:
            raise OSError("not now")
        if len(runs) == 3:
            on.set()
        on.wait(timeout=10)

    def again(_: int) -> Any:
        came = trying(lambda: len(graph.invoke(None, ON)))
        on.set()
        return came

    graph = graph_of(guard, act)
    with pytest.raises(OSError, match="not now"):
        go(graph)
    with ThreadPoolExecutor(2) as pool:
        came = list(pool.map(again, range(2)))
    return sorted(came, key=lambda each: not isinstance(each, int))


# --- an action that asks by itself ----------------------------------------------------------------


@both
def test_an_action_that_asks_a_person_by_itself_is_one_call(*, later: bool) -> None:
    """It is interrupted, and runs from its start again: the call has come to nothing before."""
    records: list[dict[str, Any]] = []
    said: list[Any] = []
    guard = Guard([asked(), few("pay", 1)], log=records.append)
    graph = graph_of(guard, lambda _: said.append(interrupt("which?")))
    (stopped,) = go(graph, yes_to(go(graph)))["__interrupt__"]
    assert stopped.value == "which?"
    go(graph, Command(resume="this"), later=later)
    assert said == ["this"]
    ends = [each["status"] for each in records if each["event"] == "settlement"]
    assert ends == ["ok"]


def test_a_graph_in_a_node_may_hand_over_to_another_one() -> None:
    """What it hands over is the update of the node, and the call has ended well."""

    def hand_over(_: Any) -> Command[Any]:
        said = {"messages": [("ai", "over to you")]}
        return Command(graph=Command.PARENT, update=said, goto="other")

    inner: Any = StateGraph(MessagesState)
    inner.add_node("over", hand_over)
    inner.add_edge(START, "over")
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    records: list[dict[str, Any]] = []
    guard_node(builder, Guard([few("sub", 1)], log=records.append), "sub", inner.compile())
    builder.add_node("next", lambda _: {"messages": ["next"]})
    builder.add_node("other", lambda _: {"messages": ["other"]})
    builder.add_edge(START, "sub")
    builder.add_edge("sub", "next")
    came = builder.compile(checkpointer=InMemorySaver()).invoke({"messages": []}, ON)
    assert {each.text for each in came["messages"]} == {"over to you", "next", "other"}
    assert [each["status"] for each in records if each["event"] == "settlement"] == ["ok"]
