"""A guarded node whose state has changed since it was decided: what runs is decided, as it is."""

from __future__ import annotations

import operator
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt

from sponsio_like.adapters.langgraph import approve, guard_node
from sponsio_like.contracts.definition import Contract
from sponsio_like.guard.guard import Guard
from sponsio_like.guard.raised import CallBlocked
from sponsio_like.outcome import Mode
from tests.adapters.rules import asked, few, small, spending
from tests.adapters.talks import Talk, Way, graphs


class Order(MessagesState):
    """An order, and what was done about it."""

    amount: int
    done: Annotated[list[str], operator.add]


def pay(state: Any) -> dict[str, Any]:
    """The action of a node."""
    return {"done": [f"paid {state['amount']}"]}


def pay_if_sure(state: Any) -> dict[str, Any]:
    """An action that asks the user by itself."""
    return {"done": [f"{interrupt('sure?')}: paid {state['amount']}"]}


def quoting(amount: int | None) -> Any:
    """A node beside it, that writes what it has read."""
    return lambda _: {} if amount is None else {"amount": amount}


def open_graph(
    way: Way,
    *rules: Contract,
    action: Any = pay,
    quoted: int | None = None,
    mode: Mode = "enforce",
    options: Any = (),
    defaults: Any = (),
) -> Talk:
    """A graph of a guarded node, and another one beside it."""
    talk = way.open([], few("nothing", 1))
    guard = Guard(rules, mode=mode, log=talk.records.append, log_args=True)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Order)
    if defaults:
        builder.set_node_defaults(**dict(defaults))
    given = {"args": lambda state: {"amount": state["amount"]}, **dict(options)}
    guard_node(builder, guard, "pay", action, **given)
    builder.add_node("quote", quoting(quoted))
    builder.add_edge(START, "pay")
    builder.add_edge(START, "quote")
    builder.add_edge("pay", END)
    talk.graph = builder.compile(checkpointer=InMemorySaver())
    return talk


def go(talk: Talk, amount: int, **more: Any) -> list[str]:
    """Run it; what was done so far."""
    done: list[str] = talk.go({"amount": amount, "done": [], **more}).state["done"]
    return done


def sorry(_: Any, advice: str) -> dict[str, Any]:
    """The update instead of that of a node that does not run."""
    return {"done": [f"sorry: {advice}"]}


# --- another node has written ---------------------------------------------------------------------


@graphs
def test_what_another_node_has_written_meanwhile_is_decided(way: Way) -> None:
    """5 was let through, and 5,000 would run: it does not."""
    talk = open_graph(way, small(100), quoted=5000)
    with pytest.raises(CallBlocked, match="`pay` was not allowed by `small`"):
        go(talk, 5)
    assert talk.outcomes() == ["allowed", "blocked"]
    assert talk.statuses() == ["error"]


@graphs
def test_what_may_run_runs_on_the_state_as_it_is(way: Way) -> None:
    """It counts twice, as it was let through and as it ran; only what ran has succeeded."""
    talk = open_graph(way, small(100), quoted=50)
    assert go(talk, 5) == ["paid 50"]
    decided = [each["args"]["amount"] for each in talk.records if each["event"] == "decision"]
    assert sorted({*decided}) == [5, 50]
    assert talk.statuses() == ["error", "ok"]


@graphs
def test_a_changed_call_is_in_the_session_of_the_next_run(way: Way) -> None:
    """60 has run, where 5 was let through: of 100, 40 are left (the 5 have failed)."""
    talk = open_graph(way, spending(100), quoted=60)
    assert go(talk, 5) == ["paid 60"]
    with pytest.raises(CallBlocked):
        go(talk, 60)


@graphs
def test_a_changed_call_that_is_blocked_may_say_so_in_the_state(way: Way) -> None:
    """`blocked` makes the update, from the state as it is and the advice."""
    talk = open_graph(way, small(100), quoted=5000, options={"blocked": sorry})
    (said,) = go(talk, 5)
    assert said.startswith("sorry: `pay` was not allowed by `small`")


@graphs
def test_a_state_that_has_changed_elsewhere_changes_nothing(way: Way) -> None:
    """The call is the same: it is decided once, and runs."""
    talk = open_graph(way, few("pay", 1), quoted=5)
    assert go(talk, 5) == ["paid 5"]
    assert (talk.outcomes(), talk.statuses()) == (["allowed"], ["ok"])


@graphs
def test_where_contracts_observe_a_changed_call_runs(way: Way) -> None:
    """Nothing is stopped, and nothing is asked."""
    assert go(open_graph(way, small(100), quoted=5000, mode="observe"), 5) == ["paid 5000"]
    assert go(open_graph(way, asked(100), quoted=5000, mode="observe"), 5) == ["paid 5000"]


# --- the user updates the state while the action waits --------------------------------------------


@graphs
def test_an_update_that_comes_with_the_answer_is_decided(way: Way) -> None:
    """The action asks whether 5 are right, and the answer makes 5,000 of them."""
    talk = open_graph(way, small(100), action=pay_if_sure)
    go(talk, 5)
    with pytest.raises(CallBlocked, match="not allowed by `small`"):
        talk.go(Command(resume="yes", update={"amount": 5000}))
    assert "ok" not in talk.statuses()


@graphs
def test_an_answer_without_an_update_goes_on_with_the_call(way: Way) -> None:
    """It was decided, and counts once."""
    talk = open_graph(way, few("pay", 1), action=pay_if_sure)
    go(talk, 5)
    assert talk.go(Command(resume="yes")).state["done"] == ["yes: paid 5"]
    assert (talk.outcomes(), talk.statuses()) == (["allowed"], ["ok"])


# --- a person has said yes ------------------------------------------------------------------------


def says_yes(talk: Talk, amount: int) -> Command[Any]:
    """The answer of a manager who is asked about this amount."""
    ticket, found = next(
        (each["ticket"], each["args"])
        for task in talk.graph.get_state({"configurable": {"thread_id": "one"}}).tasks
        for stop in task.interrupts
        for each in stop.value["held"]
    )
    assert found == {"amount": amount}
    return Command(resume=approve(ticket, by="ann", role="manager"))


@graphs
def test_an_approval_is_good_for_its_own_arguments(way: Way) -> None:
    """900 were approved; 9,000 are asked about, and run when somebody says yes to them."""
    talk = open_graph(way, asked(100), action=pay_if_sure)
    go(talk, 900)
    assert talk.go(says_yes(talk, 900)).state["done"] == []
    again = talk.go(Command(resume="yes", update={"amount": 9000}))
    assert again.state["done"] == []
    assert talk.go(says_yes(talk, 9000)).state["done"] == []
    assert talk.go(Command(resume="yes")).state["done"] == ["yes: paid 9000"]
    assert talk.statuses()[-1] == "ok"


@graphs
def test_what_a_person_has_approved_runs_once_in_a_process(way: Way) -> None:
    """A replay of the step that ran it is refused."""
    talk = open_graph(way, asked(100))
    go(talk, 900)
    assert talk.go(says_yes(talk, 900)).state["done"] == ["paid 900"]
    config: Any = {"configurable": {"thread_id": "one"}}
    before = next(each for each in talk.graph.get_state_history(config) if each.next == ("pay",))
    with pytest.raises(CallBlocked, match="the answer of a person lets it run once"):
        talk.go(None, config=before.config)


# --- a policy tries again -------------------------------------------------------------------------


@pytest.mark.skipif(
    not hasattr(StateGraph, "set_node_defaults"), reason="nodes have no defaults before"
)
@graphs
def test_each_try_of_a_policy_counts(way: Way) -> None:
    """The action fails: the second try is refused under at most one, and runs under two."""
    tries: list[int] = []

    def failing(state: Any) -> Any:
        tries.append(state["amount"])
        raise OSError("not now")

    policy = RetryPolicy(initial_interval=0.0, jitter=False, max_attempts=2, retry_on=OSError)
    defaults = {"retry_policy": policy}
    talk = open_graph(way, few("pay", 1), action=failing, defaults=defaults)
    with pytest.raises(CallBlocked):
        go(talk, 5)
    assert tries == [5]
    talk = open_graph(way, few("pay", 2), action=failing, defaults=defaults)
    with pytest.raises(OSError, match="not now"):
        go(talk, 5)
    assert tries == [5, 5, 5]
    assert talk.statuses() == ["error", "error"]
