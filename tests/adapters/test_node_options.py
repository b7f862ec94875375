"""What a guarded node takes: of the state, and of the options of `add_node`."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import CachePolicy, Command, RetryPolicy
from pydantic import BaseModel
from typing_extensions import TypedDict

from sponsio_like.adapters.langgraph import approve, guard_node, waiting
from sponsio_like.guard.guard import Guard
from sponsio_like.guard.raised import CallBlocked
from tests.adapters.rules import asked, few, small, told
from tests.adapters.talks import older

ON: Any = {"configurable": {"thread_id": "one"}}
RAN: list[Any] = []
AT_ONCE = RetryPolicy(initial_interval=0.0, jitter=False)
ways = pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])


class Whole(TypedDict):
    """The state of the graph."""

    amount: int
    done: Annotated[list[str], operator.add]


class Private(TypedDict):
    """What one node hands to another, and no user of the graph sees."""

    amount: int
    to: str


@dataclass
class Record:
    """The same as a dataclass."""

    amount: int
    to: str


class Model(BaseModel):
    """The same as a model, which coerces."""

    amount: int
    to: str


def prepare(_: Whole) -> Any:
    """The node before the payment."""
    return {"to": "eve", "amount": 60}


def pay_private(state: Private) -> dict[str, Any]:
    """A payment, to somebody whom the state does not name."""
    RAN.append(state)
    return {"done": ["paid"]}


def pay_record(state: Record) -> dict[str, Any]:
    """As above."""
    RAN.append(state)
    return {"done": ["paid"]}


def pay_model(state: Model) -> dict[str, Any]:
    """As above."""
    RAN.append(state)
    return {"done": ["paid"]}


def pay_any(state: Any) -> dict[str, Any]:
    """As above, of whatever it is given."""
    RAN.append(state)
    return {"done": ["paid"]}


PLAIN = None
ALLOWS = Guard([few("pay", 100)])


def built(guard: Guard | None, action: Any, *, compiled: Any = (), **options: Any) -> Any:
    """A graph of a node that prepares, and one that pays; and a third one behind them."""
    builder: Any = StateGraph(Whole)
    builder.add_node("prepare", prepare)
    if guard is PLAIN:
        for each in ("args", "blocked"):
            options.pop(each, None)
        builder.add_node("pay", action, **options)
    else:
        guard_node(builder, guard, "pay", action, **options)
    builder.add_node("behind", lambda state: RAN.append(sorted(state)))
    builder.add_node("other", lambda _: RAN.append("other"))
    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "pay")
    builder.add_edge("pay", "behind")
    return builder.compile(checkpointer=InMemorySaver(), **dict(compiled))


def go(graph: Any, given: Any = None, *, later: bool = False) -> Any:
    """Run it; `later`, as a coroutine that is run here."""
    given = {"amount": 1, "done": []} if given is None else given
    return asyncio.run(graph.ainvoke(given, ON)) if later else graph.invoke(given, ON)


# --- what it takes of the state -------------------------------------------------------------------


@ways
@pytest.mark.parametrize("action", [pay_private, pay_record, pay_model, pay_any])
def test_an_action_takes_what_its_annotation_says(action: Any, *, later: bool) -> None:
    """A private state, too: it is given what it is given without contracts."""
    seen = []
    for guard in (PLAIN, ALLOWS, Guard([few("pay", 0)], mode="observe")):
        RAN.clear()
        came = go(built(guard, action), later=later)
        seen.append((*RAN, came))
    assert seen[0] == seen[1] == seen[2]


@ways
@pytest.mark.parametrize("schema", [Private, Record, Model])
def test_an_action_takes_what_its_input_schema_says(schema: Any, *, later: bool) -> None:
    """As with `add_node`, whatever its annotation says."""
    seen = []
    for guard in (PLAIN, ALLOWS):
        RAN.clear()
        came = go(built(guard, pay_any, input_schema=schema), later=later)
        seen.append((*RAN, came))
    assert seen[0] == seen[1]


@ways
def test_arguments_are_of_what_the_action_takes(*, later: bool) -> None:
    """`args` and `blocked` are given the same as the action; people are asked about that."""

    def args(state: Record) -> dict[str, Any]:
        return {"amount": state.amount, "to": state.to}

    def blocked(state: Record, _: str) -> dict[str, Any]:
        return {"done": [f"nothing to {state.to}"]}

    options: dict[str, Any] = {"args": args, "blocked": blocked}
    assert go(built(Guard([small(10)]), pay_record, **options), later=later)["done"] == [
        "nothing to eve"
    ]
    graph = built(Guard([asked(10)]), pay_record, **options)
    (question,) = waiting(go(graph, later=later))
    assert question["args"] == {"amount": 60, "to": "eve"}
    yes: Any = Command(resume=approve(question["ticket"], by="ann", role="manager"))
    assert go(graph, yes, later=later)["done"] == ["paid"]


@ways
def test_contracts_hear_messages_that_the_action_does_not_take(*, later: bool) -> None:
    """They are those of the graph."""

    def act(state: Private) -> None:
        RAN.append(state)

    rule = told('G(called(pay) -> O (message(user) & text matches "please"))')
    builder: Any = StateGraph(MessagesState)
    guard_node(builder, Guard([rule]), "pay", act, blocked=lambda _, __: None)
    builder.add_edge(START, "pay")
    graph = builder.compile(checkpointer=InMemorySaver())
    go(graph, {"messages": [("user", "pay")]}, later=later)
    assert RAN == []
    go(graph, {"messages": [("user", "please")]}, later=later)
    assert RAN == [{}]


# --- the options of a node ------------------------------------------------------------------------


def shaky(times: int) -> Callable[[Any], Any]:
    """An action that fails so often before it succeeds."""

    def act(_: Any) -> dict[str, Any]:
        RAN.append("tried")
        if len(RAN) <= times:
            raise ConnectionError("no line")
        return {"done": ["paid"]}

    return act


@ways
def test_a_retry_policy_tries_a_node_again(*, later: bool) -> None:
    """Each time counts."""
    policy = AT_ONCE._replace(max_attempts=5)
    done = go(built(Guard([few("pay", 3)]), shaky(2), retry_policy=policy), later=later)["done"]
    assert (done, RAN[:-1]) == (["paid"], ["tried"] * 3)
    RAN.clear()
    with pytest.raises(CallBlocked, match="`few pay`"):
        go(built(Guard([few("pay", 2)]), shaky(9), retry_policy=[policy]), later=later)
    assert RAN == ["tried"] * 2


@ways
@pytest.mark.parametrize("on", [Exception, (ConnectionError, CallBlocked), lambda _: True])
def test_a_refusal_is_not_tried_again(on: Any, *, later: bool) -> None:
    """It would be refused again; an error of the action is tried again as the policy says."""
    records: list[dict[str, Any]] = []
    guard = Guard([few("pay", 1)], log=records.append)
    policy = AT_ONCE._replace(max_attempts=9, retry_on=on)
    with pytest.raises(CallBlocked):
        go(built(guard, shaky(9), retry_policy=policy), later=later)
    decisions = [each["outcome"] for each in records if each["event"] == "decision"]
    assert (RAN, decisions) == (["tried"], ["allowed", "blocked"])


@ways
def test_a_cache_serves_a_replay(*, later: bool) -> None:
    """Another thread runs it anew; in a replay of its step what it has returned counts."""
    cache: dict[str, Any] = {"cache": InMemoryCache()}
    graph = built(Guard([few("pay", 1)]), pay_any, cache_policy=CachePolicy(), compiled=cache)
    assert go(graph, later=later)["done"] == ["paid"]
    every = list(graph.get_state_history(ON))
    before = next(each.config for each in every if each.next == ("pay",))
    replay = graph.ainvoke(None, before) if later else graph.invoke(None, before)
    assert (asyncio.run(replay) if later else replay)["done"] == ["paid"]
    two: Any = {"configurable": {"thread_id": "two"}}
    graph.invoke({"amount": 1, "done": []}, two)
    assert len([each for each in RAN if isinstance(each, dict)]) == 2
    with pytest.raises(CallBlocked):
        go(graph, later=later)


def test_metadata_is_that_of_the_node() -> None:
    """As LangGraph has it."""
    assert built(ALLOWS, pay_any, metadata={"team": "money"}).nodes["pay"].metadata == {
        "team": "money"
    }


@ways
def test_a_decision_waits_for_the_end_of_the_run(*, later: bool) -> None:
    """With `defer` the node is decided, and runs, when all others have run."""
    for defer in (False, True):
        RAN.clear()
        builder: Any = StateGraph(Whole)
        guard_node(builder, Guard([few("pay", 1)]), "pay", lambda _: RAN.append(5), defer=defer)
        for name in ("first", "second", "third"):
            builder.add_node(name, lambda _: RAN.append(1))
        for pair in ((START, "first"), (START, "pay"), ("first", "second"), ("second", "third")):
            builder.add_edge(*pair)
        go(builder.compile(checkpointer=InMemorySaver()), later=later)
        assert (RAN[-1] == 5) == defer


def test_a_command_names_where_the_node_may_lead() -> None:
    """The destinations of an action are drawn, those that are given and those it is annotated."""

    def act(_: Any) -> Command[Literal["other"]]:
        return Command(goto="other")

    for options in ({"action": act}, {"action": pay_any, "destinations": ("other",)}):
        action = options.pop("action")
        drawn = built(ALLOWS, action, **options).get_graph().edges
        assert {each.target for each in drawn if each.source == "pay"} >= {"other", "behind"}
    labels = built(ALLOWS, pay_any, destinations={"other": "else"}).get_graph().edges
    assert "else" in {each.data for each in labels if each.source == "pay"}
    assert go(built(ALLOWS, act))["amount"] == 60
    assert "other" in RAN


newer = pytest.mark.skipif(older("langgraph", 1, 2), reason="LangGraph has had it since 1.2")


@newer
def test_an_action_that_takes_too_long_has_failed() -> None:
    """The timeout is that of one run of the action."""

    async def slow(_: Any) -> None:
        await asyncio.sleep(60)

    records: list[dict[str, Any]] = []
    guard = Guard([few("pay", 1)], log=records.append)
    with pytest.raises(Exception, match=r"(?i)time"):
        go(built(guard, slow, timeout=0.1), later=True)


@newer
@ways
def test_a_handler_of_errors_is_given_what_the_action_takes(*, later: bool) -> None:
    """And says where the graph goes; a refusal is an error of the node as well."""

    def handle(state: Record) -> Command[Any]:
        return Command(update={"done": [f"sorry, {state.to}"]}, goto="other")

    def fail(_: Record) -> None:
        raise OSError("no paper")

    for guard in (PLAIN, ALLOWS, Guard([few("pay", 0)])):
        RAN.clear()
        options = {"error_handler": handle}
        assert go(built(guard, fail, **options), later=later)["done"] == ["sorry, eve"]
        assert RAN == ["other"]


def test_an_option_that_langgraph_does_not_have_is_an_error() -> None:
    """An older LangGraph would take it, and do nothing about it."""

    class Older(StateGraph):  # type: ignore[type-arg]
        def add_node(  # type: ignore[override]
            self,
            node: Any,
            action: Any = None,
            *,
            defer: bool = False,
            input_schema: Any = None,
            destinations: Any = None,
        ) -> Any:
            more: Any = {"input_schema": input_schema, "destinations": destinations}
            return super().add_node(node, action, defer=defer, **more)

    with pytest.raises(TypeError, match="this version of LangGraph has no `timeout` for nodes"):
        guard_node(Older(Whole), ALLOWS, "pay", pay_any, timeout=1)
    assert "pay" in guard_node(Older(Whole), ALLOWS, "pay", pay_any).nodes
