"""Any node, guarded: its run is a call of its name, decided before it begins."""

from __future__ import annotations

import dataclasses
import operator
from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from sponsio_like.adapters.langgraph import approve, deny, guard_node
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.errors import InputMissing
from sponsio_like.guard.guard import Guard
from sponsio_like.guard.raised import CallBlocked
from sponsio_like.patterns import max_length, redirect_to_safe
from tests.adapters.rules import asked, checked, few, small, spending, told
from tests.adapters.talks import GRAPHS, More, Talk, Way, graphs


class Order(MessagesState):
    """An order, and what was done about it."""

    amount: int
    done: Annotated[list[str], operator.add]


def pay(state: Any) -> dict[str, Any]:
    """The action of a node."""
    return {"done": [f"paid {state['amount']}"]}


def amount(state: Any) -> dict[str, Any]:
    """The arguments of a call, from the state."""
    return {"amount": state["amount"]}


def sorry(_: Any, advice: str) -> dict[str, Any]:
    """The update instead of that of a node that does not run."""
    return {"done": [f"sorry: {advice}"]}


def open_graph(way: Way, *rules: Contract, action: Any = pay, **options: Any) -> Talk:
    """A graph of one guarded node."""
    talk = way.open([], few("nothing", 1))
    guard = Guard(rules, log=talk.records.append, log_args=True)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(options.pop("schema", Order))
    guard_node(builder, guard, "pay", action, **{"args": amount, **options})
    builder.add_edge(START, "pay")
    builder.add_node("other", lambda _: {"done": ["went on"]})
    talk.graph = builder.compile(checkpointer=More().saver)
    return talk


def go(talk: Talk, total: int, **more: Any) -> list[str]:
    """Run it; what was done so far."""
    done: list[str] = talk.go({"amount": total, "done": [], **more}).state["done"]
    return done


# --- decided --------------------------------------------------------------------------------------


@graphs
def test_a_node_that_is_allowed_runs(way: Way) -> None:
    """Its update is that of the action, and the call is settled with it."""
    talk = open_graph(way, spending(100))
    assert go(talk, 60) == ["paid 60"]
    assert (talk.outcomes(), talk.statuses()) == (["allowed"], ["ok"])
    assert talk.records[0]["args"] == {"amount": 60}


@graphs
def test_a_node_that_is_blocked_ends_the_run(way: Way) -> None:
    """Its action never runs; the exception has the advice, and the thread can go on."""
    talk = open_graph(way, spending(100))
    go(talk, 60)
    with pytest.raises(CallBlocked, match="`pay` was not allowed by `spending`"):
        go(talk, 60)
    assert go(talk, 40)[-1] == "paid 40"


@graphs
def test_a_node_that_is_blocked_may_say_so_in_the_state(way: Way) -> None:
    """`blocked` makes the update, from the state and the advice."""
    talk = open_graph(way, small(), blocked=sorry)
    (said,) = go(talk, 900)
    assert said.startswith("sorry: `pay` was not allowed by `small`")
    assert talk.statuses() == []


@graphs
def test_a_node_without_arguments_is_a_call_of_its_name(way: Way) -> None:
    """`args` may be left out; a contract on the name holds all the same."""
    talk = open_graph(way, few("pay", 1), args=lambda _: {}, blocked=sorry)
    assert go(talk, 60) == ["paid 60"]
    assert go(talk, 60)[-1].startswith("sorry")


@graphs
def test_a_redirect_blocks(way: Way) -> None:
    """A graph has fixed edges: the substitute cannot run, and neither does the node."""
    rule = contract("careful").guarantees(redirect_to_safe("pay", "ask"))
    (said,) = go(open_graph(way, rule, blocked=sorry), 60)
    assert "`ask` was to run instead, but it cannot" in said


@graphs
def test_an_action_that_raises_has_failed(way: Way) -> None:
    """The exception is raised as without contracts, and the call has not succeeded."""

    def broken(_: Any) -> Any:
        raise OSError("no paper")

    talk = open_graph(way, few("pay", 1), action=broken)
    with pytest.raises(OSError, match="no paper"):
        go(talk, 60)
    assert "ok" not in talk.statuses()


# --- held -----------------------------------------------------------------------------------------


@graphs
def test_a_node_that_is_held_runs_when_somebody_says_yes(way: Way) -> None:
    """Nothing runs before; the person is shown the node and its arguments."""
    talk = open_graph(way, asked(), blocked=sorry)
    waits = talk.go({"amount": 900, "done": []})
    (question,) = waits.asked
    assert (question["tool"], question["args"]) == ("pay", {"amount": 900})
    assert waits.state["done"] == []
    yes = approve(question["ticket"], by="ann", role="manager")
    assert talk.go(Command(resume=yes)).state["done"] == ["paid 900"]


@graphs
def test_a_node_that_is_held_is_blocked_when_somebody_says_no(way: Way) -> None:
    """The action never runs."""
    talk = open_graph(way, asked(), blocked=sorry)
    (question,) = talk.go({"amount": 900, "done": []}).asked
    no = deny(question["ticket"], by="ann", role="manager")
    (said,) = talk.go(Command(resume=no)).state["done"]
    assert "said no" in said


# --- any action -----------------------------------------------------------------------------------


async def pay_later(state: Any) -> dict[str, Any]:
    """The action of a node, as a coroutine function."""
    return pay(state)


def pay_configured(state: Any, config: RunnableConfig, runtime: Runtime[Any]) -> dict[str, Any]:
    """An action that reads the config and the runtime."""
    assert runtime.execution_info is not None
    return {"done": [f"paid {state['amount']} in {config['configurable']['thread_id']}"]}


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (pay, "paid 60"),
        (pay_later, "paid 60"),
        (RunnableLambda(pay), "paid 60"),
        (RunnableLambda(pay, afunc=pay_later), "paid 60"),
        (pay_configured, "paid 60 in one"),
    ],
    ids=["function", "coroutine", "runnable", "both", "config"],
)
def test_any_action_can_be_guarded(action: Any, text: str) -> None:
    """Functions, coroutine functions and runnables, with config and runtime as they have them."""
    talk = open_graph(GRAPHS[1], spending(100), action=action, blocked=sorry)
    assert go(talk, 60) == [text]
    assert go(talk, 60)[-1].startswith("sorry")


@graphs
def test_an_action_may_return_a_command(way: Way) -> None:
    """Its update arrives, it goes where the command says, and the call is remembered."""

    def go_on(state: Any) -> Command[Any]:
        return Command(update=pay(state), goto="other")

    talk = open_graph(way, spending(100), action=go_on)
    assert go(talk, 60) == ["paid 60", "went on"]
    with pytest.raises(CallBlocked):
        go(talk, 60)


@graphs
def test_an_action_may_return_nothing_or_a_list(way: Way) -> None:
    """As without contracts; the call is remembered."""
    talk = open_graph(way, few("pay", 1), action=lambda _: None)
    assert go(talk, 60) == []
    with pytest.raises(CallBlocked):
        go(talk, 60)
    listed = [{"done": ["one"]}, Command(update={"done": ["two"]})]
    talk = open_graph(way, few("pay", 1), action=lambda _: listed)
    assert go(talk, 60) == ["one", "two"]
    with pytest.raises(CallBlocked):
        go(talk, 60)


@dataclasses.dataclass
class Plain:
    """An order that is a dataclass."""

    amount: int
    done: Annotated[list[str], operator.add]


@graphs
def test_a_state_may_be_a_dataclass(way: Way) -> None:
    """The action and `args` are given what they are given without contracts."""

    def paid(state: Plain) -> dict[str, Any]:
        assert isinstance(state, Plain)
        return {"done": [f"paid {state.amount}"]}

    def read(state: Plain) -> dict[str, Any]:
        return {"amount": state.amount}

    talk = open_graph(way, spending(100), action=paid, args=read, schema=Plain)
    assert go(talk, 60) == ["paid 60"]
    with pytest.raises(CallBlocked):
        go(talk, 60)


@graphs
def test_an_action_may_be_a_graph(way: Way) -> None:
    """A whole graph runs as one call, and its output is the update."""
    inner: StateGraph[Any, Any, Any, Any] = StateGraph(Order)
    inner.add_node("pay", pay)
    inner.add_edge(START, "pay")
    inner.add_edge("pay", END)
    talk = open_graph(way, few("pay", 1), action=inner.compile(), blocked=sorry)
    assert "paid 60" in go(talk, 60)
    assert go(talk, 60)[-1].startswith("sorry")


# --- with others ----------------------------------------------------------------------------------


@graphs
def test_guarded_nodes_share_a_session(way: Way) -> None:
    """What one node has done makes another one legal."""
    talk = way.open([], few("nothing", 1))
    guard = Guard([checked()])
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Order)
    guard_node(builder, guard, "check", lambda _: {"done": ["clean"]})
    guard_node(builder, guard, "pay", pay, args=amount, blocked=sorry)
    builder.add_conditional_edges(START, lambda state: "pay" if state["amount"] > 90 else "check")
    builder.add_edge("check", "pay")
    talk.graph = builder.compile(checkpointer=More().saver)
    assert go(talk, 100)[-1].startswith("sorry")
    assert go(talk, 60)[-2:] == ["clean", "paid 60"]


@graphs
def test_a_node_hears_the_user(way: Way) -> None:
    """A contract on what the user has said reads the messages of the state."""
    rule = told('G(called(pay) -> O (message(user) & text matches "please"))')
    talk = open_graph(way, rule, blocked=sorry)
    assert go(talk, 60, messages=[("user", "pay it")])[-1].startswith("sorry")
    assert go(talk, 60, messages=[HumanMessage("please")])[-1] == "paid 60"


@pytest.mark.parametrize("rule", [max_length(max_words=5)])
def test_what_a_node_never_hears_is_refused(rule: Any) -> None:
    """A contract on the answers of the model would never fire: the graph is not built."""
    with pytest.raises(InputMissing, match="judges the answers of the model"):
        open_graph(GRAPHS[0], contract("short").guarantees(rule))
