"""What a user's edges and nodes send to guarded nodes: it is decided, and runs, as it was sent."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.types import Command, RetryPolicy, Send

from sponsio_like.adapters.langgraph import approve, deny, guard_node, guard_tools
from sponsio_like.contracts.definition import Contract
from sponsio_like.guard.guard import Guard
from sponsio_like.guard.raised import CallBlocked
from sponsio_like.outcome import Mode
from tests.adapters.rules import asked, few, pay, small, spending
from tests.adapters.scripted import Scripted
from tests.adapters.talks import Came, Talk, Way, graphs

RAN: list[int] = []
"""The payments that were made."""
HEARD: list[list[str]] = []
"""What was unanswered whenever the model was called."""


@pytest.fixture(autouse=True)
def _nothing_has_run() -> None:
    RAN.clear()
    HEARD.clear()


@tool("pay")
def paying(amount: int, state: Annotated[Any, InjectedState]) -> str:
    """Pay an amount; say how much is in the purse that the state has."""
    RAN.append(amount)
    return f"paid from {state.get('purse')}" if isinstance(state, dict) else "paid"


class Purse(MessagesState, total=False):
    """A state with something beside the messages."""

    purse: str
    amount: int
    done: Annotated[list[str], operator.add]


Path: TypeAlias = Callable[[Any], Any]


def calls_of(state: Any) -> list[Any]:
    """The calls of the last message."""
    return list(state["messages"][-1].tool_calls)


def alone(state: Any) -> Any:
    """Each call by itself."""
    return [Send("tools", [call]) for call in calls_of(state)] or END


def with_the_state(state: Any) -> Any:
    """Each call, with a state of its own."""
    mine = {**state, "purse": "its own"}
    whole = {"__type": "tool_call_with_context", "state": mine}
    return [Send("tools", {**whole, "tool_call": call}) for call in calls_of(state)] or END


def in_messages(state: Any) -> Any:
    """Each call in a message of its own, which the state of the graph does not have."""
    sent = [AIMessage("", tool_calls=[call], id=f"own {call['id']}") for call in calls_of(state)]
    return [Send("tools", {"messages": [each], "purse": "its own"}) for each in sent] or END


def nameless(state: Any) -> Any:
    """As before, but the messages have no ids."""
    sent = [AIMessage("", tool_calls=[call]) for call in calls_of(state)]
    return [Send("tools", {"messages": [each], "purse": "its own"}) for each in sent] or END


def listed(state: Any) -> Any:
    """A list of one message for each call."""
    return [Send("tools", [AIMessage("", tool_calls=[call])]) for call in calls_of(state)] or END


PATHS = (alone, with_the_state, in_messages, nameless, listed)
each_path = pytest.mark.parametrize("path", PATHS)
commanded = pytest.mark.parametrize("commands", [False, True], ids=["edge", "command"])


def open_graph(
    way: Way,
    *rules: Contract,
    path: Path,
    commands: bool,
    mode: Mode = "enforce",
    saver: Any = None,
    **options: Any,
) -> Talk:
    """A graph of a model and guarded tools; a conditional edge sends, or the model by a command."""
    talk = way.open([], few("nothing", 1))
    model = Scripted(script=lambda: talk.script)

    def ask(state: Any) -> Any:
        messages = state["messages"]
        answered = {getattr(each, "tool_call_id", None) for each in messages}
        calls = [call for each in messages for call in getattr(each, "tool_calls", ())]
        HEARD.append([call["id"] for call in calls if call["id"] not in answered])
        said = model.invoke(messages)
        if not commands:
            return {"messages": [said]}
        sent = path({**state, "messages": [*messages, said]})
        return Command(update={"messages": [said]}, goto=sent)

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Purse)
    builder.add_node("model", ask)
    guard = Guard(rules, mode=mode, log=talk.records.append, log_args=True)
    guard_tools(builder, guard, [paying], **options)
    builder.add_edge(START, "model")
    builder.add_edge("tools", "model")
    if not commands:
        builder.add_conditional_edges("model", path, ["tools", END])
    talk.graph = builder.compile(checkpointer=saver or InMemorySaver())
    return talk


def stops(talk: Talk) -> list[Any]:
    """The interrupts that wait."""
    return list(talk.graph.get_state({"configurable": {"thread_id": "one"}}).interrupts)


def answer(talk: Talk, *, no: tuple[str, ...] = ()) -> Came:
    """Somebody says yes to all that is asked, but to these calls."""
    said = {}
    for stop in stops(talk):
        tickets = {each["call"]: each["ticket"] for each in stop.value["held"]}
        each = [
            (deny if call in no else approve)(ticket, by="ann", role="manager")
            for call, ticket in tickets.items()
        ]
        said[stop.id] = {key: value for one in each for key, value in one.items()}
    return talk.go(Command(resume=said))


# --- tools ----------------------------------------------------------------------------------------


@graphs
@commanded
@each_path
def test_what_is_sent_runs_and_is_answered(way: Way, path: Path, commands: bool) -> None:
    """Each call once, in all shapes that a node of tools takes."""
    talk = open_graph(way, spending(100), path=path, commands=commands)
    came = talk.say([pay(60, "1"), pay(40, "2")])
    assert sorted(RAN) == [40, 60]
    assert [came.result(each)[:4] for each in ("1", "2")] == ["paid", "paid"]
    assert HEARD == [[], []]
    assert "not allowed" in talk.say([pay(1, "3")]).refused("3")
    assert talk.statuses() == ["ok", "ok"]


@graphs
@commanded
@each_path
def test_what_is_sent_is_refused_and_answered(way: Way, path: Path, commands: bool) -> None:
    """The call that is too much does not run, the other one does."""
    talk = open_graph(way, small(100), path=path, commands=commands)
    came = talk.say([pay(900, "1"), pay(40, "2")])
    assert RAN == [40]
    assert "not allowed by `small`" in came.refused("1")
    assert came.result("2")[:4] == "paid"


@graphs
@commanded
@each_path
def test_where_contracts_observe_what_is_sent_runs(way: Way, path: Path, commands: bool) -> None:
    """As without contracts."""
    talk = open_graph(way, small(100), path=path, commands=commands, mode="observe")
    came = talk.say([pay(900, "1"), pay(40, "2")])
    assert sorted(RAN) == [40, 900]
    assert came.result("1")[:4] == "paid"


@graphs
@commanded
def test_tools_see_the_state_that_was_sent(way: Way, commands: bool) -> None:
    """And that of the graph, where none was sent."""
    for path in (with_the_state, in_messages):
        talk = open_graph(way, small(100), path=path, commands=commands)
        assert talk.say([pay(1, "1")], purse="ours").result("1") == "paid from its own"
    talk = open_graph(way, small(100), path=alone, commands=commands)
    assert talk.say([pay(1, "1")], purse="ours").result("1") == "paid from ours"


@graphs
@commanded
def test_one_id_in_two_messages_is_two_calls(way: Way, commands: bool) -> None:
    """Each runs as it was decided, and counts. What a command sends is decided in any order."""

    def path(_: Any) -> Any:
        if RAN:
            return END
        call = {"name": "pay", "id": "call_0"}
        sent = [
            AIMessage("", id=f"m{n}", tool_calls=[{**call, "args": {"amount": n}}])
            for n in (60, 40, 1)
        ]
        return [Send("tools", {"messages": [each]}) for each in sent]

    talk = open_graph(way, spending(100), path=path, commands=commands)
    talk.say("go")
    pairs = ([40, 60], [1, 60], [1, 40]) if commands else ([40, 60],)
    assert sorted(RAN) in pairs


@graphs
def test_what_has_no_message_of_the_model_is_an_error(way: Way) -> None:
    """As it is without contracts; the error says what to send."""
    talk = open_graph(
        way, small(100), path=lambda _: Send("tools", {"purse": "ours"}), commands=False
    )
    with pytest.raises(ValueError, match="`tools` was sent a `dict` without a message"):
        talk.say("go")


# --- tools, and people ----------------------------------------------------------------------------


@graphs
@commanded
@each_path
def test_nothing_that_is_sent_runs_before_people_have_answered(
    way: Way, path: Path, commands: bool
) -> None:
    """One call is held: the others wait, too, and the model is called when all are answered."""
    talk = open_graph(way, asked(100), path=path, commands=commands)
    talk.say([pay(900, "1"), pay(5, "2"), pay(6, "3")])
    assert (RAN, HEARD) == ([], [[]])
    came = answer(talk)
    assert sorted(RAN) == [5, 6, 900]
    assert HEARD == [[], []]
    assert [came.result(each)[:4] for each in ("1", "2", "3")] == ["paid"] * 3


@graphs
@commanded
@each_path
def test_each_call_that_is_sent_and_held_is_answered(way: Way, path: Path, commands: bool) -> None:
    """Yes to one, no to the other; nothing is lost."""
    talk = open_graph(way, asked(100), path=path, commands=commands)
    talk.say([pay(900, "1"), pay(800, "2"), pay(5, "3")])
    assert sorted(each["args"]["amount"] for s in stops(talk) for each in s.value["held"]) == [
        800,
        900,
    ]
    came = answer(talk, no=("2",))
    assert sorted(RAN) == [5, 900]
    assert "said no" in came.refused("2")
    assert HEARD == [[], []]


@graphs
def test_what_an_edge_sends_is_one_question(way: Way) -> None:
    """All calls of a message are in one interrupt, as if they had not been sent one by one."""
    talk = open_graph(way, asked(100), path=alone, commands=False)
    talk.say([pay(900, "1"), pay(800, "2")])
    assert [len(each.value["held"]) for each in stops(talk)] == [2]


@graphs
@commanded
@each_path
def test_another_process_gets_the_answer(way: Way, path: Path, commands: bool) -> None:
    """It has only the checkpoint: all calls count once, also those that have waited beside."""
    saver, rules = InMemorySaver(), (asked(100), few("pay", 3))
    first = open_graph(way, *rules, path=path, commands=commands, saver=saver)
    first.say([pay(900, "1"), pay(5, "2"), pay(6, "3")])
    other = open_graph(way, *rules, path=path, commands=commands, saver=saver)
    other.plan([pay(900, "1"), pay(5, "2"), pay(6, "3")])
    came = answer(other)
    assert [came.result(each)[:4] for each in ("1", "2", "3")] == ["paid"] * 3
    assert sorted(RAN) == [5, 6, 900]
    assert HEARD == [[], []]
    assert "not allowed" in other.say([pay(1, "4")]).refused("4")


@graphs
@commanded
def test_the_user_may_go_on_instead_of_answering(way: Way, commands: bool) -> None:
    """What was held beside is given up; calls that are sent later do not wait for it."""
    talk = open_graph(way, asked(100), path=alone, commands=commands)
    talk.say([pay(900, "1"), pay(5, "2")])
    came = talk.say([pay(6, "3"), pay(7, "4")])
    assert sorted(RAN) == [6, 7]
    assert came.result("4")[:4] == "paid"


# --- nodes ----------------------------------------------------------------------------------------


def node_graph(way: Way, *rules: Contract, commands: bool, mode: Mode = "enforce") -> Talk:
    """A graph that sends three orders to a guarded node."""
    talk = way.open([], few("nothing", 1))
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Purse)

    def act(state: Any) -> Any:
        RAN.append(state["amount"])
        return {"done": [f"paid {state['amount']}"]}

    def sent(_: Any) -> Any:
        return [Send("pay", {"amount": each}) for each in (1, 2, 300)]

    guard = Guard(rules, mode=mode, log=talk.records.append, log_args=True)
    guard_node(
        builder,
        guard,
        "pay",
        act,
        args=lambda state: {"amount": state["amount"]},
        blocked=lambda state, _: {"done": [f"sorry for {state['amount']}"]},
    )

    def start(state: Any) -> Any:
        return Command(goto=sent(state)) if commands else {}

    builder.add_node("start", start)
    builder.add_edge(START, "start")
    if not commands:
        builder.add_conditional_edges("start", sent, ["pay"])
    builder.add_edge("pay", END)
    talk.graph = builder.compile(checkpointer=InMemorySaver())
    return talk


def go(talk: Talk) -> list[str]:
    """Run it; what was done."""
    return sorted(talk.go({"amount": 77, "done": []}).state["done"])


@graphs
@commanded
def test_a_guarded_node_runs_on_what_it_was_sent(way: Way, commands: bool) -> None:
    """Not on the state of the graph; each is decided and counts."""
    assert go(node_graph(way, few("pay", 3), commands=commands)) == ["paid 1", "paid 2", "paid 300"]
    assert sorted(RAN) == [1, 2, 300]
    talk = node_graph(way, small(100), commands=commands)
    assert go(talk) == ["paid 1", "paid 2", "sorry for 300"]


@graphs
@commanded
def test_a_node_that_is_observed_runs_on_what_it_was_sent(way: Way, commands: bool) -> None:
    """As without contracts."""
    talk = node_graph(way, small(100), commands=commands, mode="observe")
    assert go(talk) == ["paid 1", "paid 2", "paid 300"]


@graphs
@commanded
def test_what_is_sent_to_a_node_waits_for_people(way: Way, commands: bool) -> None:
    """Then it runs on what it was sent; the state of the graph is not asked about."""
    talk = node_graph(way, asked(100), commands=commands)
    assert go(talk) == []
    assert [each["args"] for s in stops(talk) for each in s.value["held"]] == [{"amount": 300}]
    assert sorted(answer(talk).state["done"]) == ["paid 1", "paid 2", "paid 300"]
    assert sorted(RAN) == [1, 2, 300]


@graphs
def test_a_node_that_is_sent_too_much_ends_the_run(way: Way) -> None:
    """Without `blocked`, as when it is reached by an edge."""
    talk = way.open([], few("nothing", 1))
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Purse)
    guard_node(
        builder, Guard([small(100)]), "pay", lambda _: {}, args=lambda s: {"amount": s["amount"]}
    )
    builder.add_conditional_edges(START, lambda _: Send("pay", {"amount": 900}), ["pay"])
    talk.graph = builder.compile(checkpointer=InMemorySaver())
    with pytest.raises(CallBlocked, match="not allowed by `small`"):
        go(talk)


@graphs
def test_what_was_sent_is_asked_about_again_when_it_is_tried_again(way: Way) -> None:
    """The action has failed: people are asked about what it was sent, not about the state."""
    talk = way.open([], few("nothing", 1))

    def act(state: Any) -> Any:
        RAN.append(state["amount"])
        if len(RAN) == 1:
            raise OSError("not now")
        return {"done": ["paid"]}

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Purse)
    policy = RetryPolicy(initial_interval=0.0, jitter=False, retry_on=OSError)
    guard_node(
        builder,
        Guard([asked(100)]),
        "pay",
        act,
        args=lambda state: {"amount": state["amount"]},
        retry_policy=policy,
    )
    builder.add_conditional_edges(START, lambda _: Send("pay", {"amount": 900}), ["pay"])
    talk.graph = builder.compile(checkpointer=InMemorySaver())
    go(talk)
    answer(talk)
    assert [each["args"] for s in stops(talk) for each in s.value["held"]] == [{"amount": 900}]
    assert (answer(talk).state["done"], RAN) == (["paid"], [900, 900])


@graphs
def test_two_nodes_beside_each_other_are_answered_at_once(way: Way) -> None:
    """Both were held; each runs once."""
    talk = way.open([], few("nothing", 1))
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Purse)
    rules = [asked(100), few("send").strategy({"escalate": {"roles": ["manager"]}})]
    guard = Guard(rules)
    for name, amount in (("pay", 900), ("send", 800)):

        def act(_: Any, amount: int = amount) -> Any:
            RAN.append(amount)
            return {"done": [f"paid {amount}"]}

        guard_node(builder, guard, name, act, args=lambda _: {"amount": 900})
        builder.add_edge(START, name)
    talk.graph = builder.compile(checkpointer=InMemorySaver())
    go(talk)
    assert (len(stops(talk)), RAN) == (2, [])
    assert sorted(answer(talk).state["done"]) == ["paid 800", "paid 900"]
    assert sorted(RAN) == [800, 900]
