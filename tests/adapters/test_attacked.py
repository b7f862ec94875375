"""Ways around the contracts of graphs and agents that were tried: none of them leads anywhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from langgraph.types import Command, interrupt

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import approve, guard_node, guard_tools, waiting
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.guard.guard import Guard
from sponsio_like.patterns import must_precede, rate_limit, time_since
from tests.adapters.bodies import RAN, pay
from tests.adapters.harness import Call, Turn
from tests.adapters.rules import spending
from tests.adapters.scripted import Scripted, said

Build = Callable[..., Any]


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


@tool
def pay_and_fail(amount: int) -> str:
    """Pay an amount, and raise."""
    RAN.append(amount)
    raise ValueError("after the effect")


@tool
def question(text: str) -> str:
    """Ask the user."""
    return str(interrupt(text))


def node(contracts: Sequence[Contract], script: Sequence[Turn], tools: Any, **more: Any) -> Any:
    """A graph with a node of guarded tools."""
    guard = more.pop("guard", None) or Guard(contracts)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [said(script, state["messages"])]})
    guard_tools(builder, guard, tools, clock=more.get("clock", time.time))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=more.get("saver"))


def agent(contracts: Sequence[Contract], script: Sequence[Turn], tools: Any, **more: Any) -> Any:
    """An agent with middleware."""
    guard = more.pop("guard", None) or Guard(contracts)
    pair = guarded(guard, tools, *more.get("others", ()), clock=more.get("clock", time.time))
    model = Scripted(script=lambda: script)
    return create_agent(model, tools, middleware=pair, checkpointer=more.get("saver"))


everywhere = pytest.mark.parametrize("build", [node, agent])


def go(graph: Any, given: Any = "go on") -> Any:
    """Go on in the one thread: with a message of the user, or an answer."""
    value = {"messages": [("user", given)]} if isinstance(given, str) else given
    return graph.invoke(value, {"configurable": {"thread_id": "thread"}})


def failing(graph: Any, given: Any = "go on") -> None:
    """Go on, where a tool is going to raise, or is refused."""
    with suppress(ValueError):
        go(graph, given)


@everywhere
def test_an_approval_is_good_for_one_message(build: Build) -> None:
    """A call of a later message is another one, though id and arguments are the same."""
    script = [[Call("pay_and_fail", {"amount": 900}, "1")], "done"]
    small = contract("small").guarantees("`pay_and_fail.amount` between 0 and 50")
    held = small.strategy({"escalate": {"roles": ["manager"]}})
    graph = build([held], script, [pay_and_fail], saver=InMemorySaver())
    ticket = waiting(go(graph))[0]["ticket"]
    failing(graph, Command(resume=approve(ticket, by="ann", role="manager")))
    for _ in range(3):
        failing(graph)
    assert RAN == [900]


@everywhere
@pytest.mark.parametrize("ids", [("1", "1", "1"), ("1", "2", "3")])
def test_a_step_that_is_left_counts(build: Build, ids: tuple[str, ...]) -> None:
    """What ran in a step that the user has not waited for was run."""
    turn = [Call("pay", {"amount": 60}, ids[0]), Call("question", {"text": "?"}, "q")]
    script: list[Turn] = [turn, "done"]
    graph = build([spending(100)], script, [pay, question], saver=InMemorySaver())
    for id in ids:
        script[0] = [Call("pay", {"amount": 60}, id), Call("question", {"text": "?"}, f"q{id}")]
        go(graph)
    assert RAN == [60]


@everywhere
def test_a_tool_that_raises_counts_each_time(build: Build) -> None:
    """A limit is used up by calls that ran and raised, in turn after turn."""
    script = [[Call("pay_and_fail", {"amount": 1}, "1")], "done"]
    limit = contract("once").guarantees(rate_limit("pay_and_fail", limit=1))
    graph = build([limit], script, [pay_and_fail], saver=InMemorySaver())
    for _ in range(3):
        failing(graph)
    assert RAN == [1]


def _inside(build: Build, guard: Guard, script: Sequence[Turn], name: str, runs: int) -> BaseTool:
    """A tool in which a graph runs, so many times."""
    inner = build([], script, [pay], guard=guard)

    @tool(name)
    async def work(text: str) -> str:
        """Let another agent work."""
        given = {"messages": [("user", text)]}
        states = await asyncio.gather(*(inner.ainvoke(given) for _ in range(runs)))
        return " ".join(str(each["messages"][-1].text) for each in states)

    return work


@everywhere
def test_runs_inside_a_tool_have_ids_of_their_own(build: Build) -> None:
    """Three runs of one graph in one tool use one id, and pay once under the limit."""
    guard = Guard([spending(100)])
    work = _inside(build, guard, [[Call("pay", {"amount": 60}, "p")], "done"], "work", 3)
    script = [[Call("work", {"text": "x"}, "s")], "done"]
    graph = build([], script, [work], guard=guard, saver=InMemorySaver())
    config = {"configurable": {"thread_id": "thread"}}
    asyncio.run(graph.ainvoke({"messages": [("user", "go")]}, config))
    assert RAN == [60]


@everywhere
def test_ids_of_inner_and_outer_calls_cannot_be_confused(build: Build) -> None:
    """An outer call `a/b` with an inner `c`, and `a` with `b/c`, are two calls."""
    guard = Guard([spending(100)])
    one = _inside(build, guard, [[Call("pay", {"amount": 60}, "b/c")], "done"], "one", 1)
    two = _inside(build, guard, [[Call("pay", {"amount": 60}, "c")], "done"], "two", 1)
    turn = [Call("one", {"text": "x"}, "a"), Call("two", {"text": "x"}, "a/b")]
    graph = build([], [turn, "done"], [one, two], guard=guard, saver=InMemorySaver())
    config = {"configurable": {"thread_id": "thread"}}
    asyncio.run(graph.ainvoke({"messages": [("user", "go")]}, config))
    assert RAN == [60]


@everywhere
def test_a_sub_agent_with_a_thread_of_its_own_counts_once(build: Build) -> None:
    """What it did for an earlier call was told then, and is not told again."""
    guard = Guard([spending(100)])
    inner = build(
        [], [[Call("pay", {"amount": 20}, "p")], "done"], [pay], guard=guard, saver=InMemorySaver()
    )

    @tool
    def work(text: str) -> str:
        """Let another agent work."""
        config = {"configurable": {"thread_id": "inner"}}
        return str(inner.invoke({"messages": [("user", text)]}, config)["messages"][-1].text)

    script: list[Turn] = [[Call("work", {"text": "x"}, "s")], "done"]
    graph = build([], script, [work], guard=guard, saver=InMemorySaver())
    for _ in range(4):
        go(graph)
    assert RAN == [20] * 4


@everywhere
def test_a_hand_over_out_of_a_tool_is_settled(build: Build) -> None:
    """A sub-agent that hands back to the graph around it has run, and its payments count."""
    guard = Guard([spending(100)])

    @tool
    def back(text: str) -> Any:
        """Hand over to the agent around this one."""
        answer = ToolMessage("handed over", tool_call_id="s")
        return Command(graph=Command.PARENT, goto="model", update={"messages": [answer]})

    inner = build(
        [],
        [[Call("pay", {"amount": 60}, "p")], [Call("back", {"text": ""}, "b")], "done"],
        [pay, back],
        guard=guard,
    )

    @tool
    def work(text: str) -> str:
        """Let another agent work."""
        return str(inner.invoke({"messages": [("user", text)]}))

    script = [
        [Call("work", {"text": "x"}, "s")],
        [Call("pay", {"amount": 60}, "t")],
        [Call("pay", {"amount": 40}, "u")],
        "done",
    ]
    go(build([], script, [work, pay], guard=guard, saver=InMemorySaver()))
    assert RAN == [60, 40]


@tool
def check(text: str) -> str:
    """Check something."""
    return f"{text} is fine"


@everywhere
def test_what_ran_before_an_interrupt_stays_decided(build: Build) -> None:
    """In a new process, much later: what has run has run, and each call gets its own result."""
    now = [0.0]
    fresh = contract("fresh").guarantees(time_since("pay", "check", 60))
    beside: list[tuple[str, dict[str, Any]]] = [
        ("pay", {"amount": 60}),
        ("check", {"text": "this"}),
        ("question", {"text": "?"}),
    ]
    script: list[Turn] = [
        [Call("check", {"text": "that"}, "c")],
        [Call(name, args, name) for name, args in beside],
        [Call("check", {"text": "all"}, "d")],
        [Call("pay", {"amount": 60}, "e")],
        "done",
    ]
    saver, tools = InMemorySaver(), [pay, check, question]

    def made() -> Any:
        contracts = [fresh, spending(100)]
        return build(contracts, script, tools, saver=saver, clock=lambda: now[0])

    go(made())
    now[0] = 1_000
    state = go(made(), Command(resume="blue"))
    told = {each.tool_call_id: each.text for each in state["messages"] if each.type == "tool"}
    assert RAN == [60]
    assert [told[name] for name, _ in beside] == ["paid 60", "this is fine", "blue"]


def test_a_replay_of_a_step_that_was_interrupted_is_decided() -> None:
    """What was decided then is decided again, much later, in the same process."""
    now = [0.0]
    fresh = contract("fresh").guarantees(time_since("pay", "check", 60))
    script: list[Turn] = [
        [Call("check", {"text": "that"}, "c")],
        [Call("pay", {"amount": 60}, "p"), Call("question", {"text": "?"}, "q")],
        "done",
    ]
    tools = [pay, check, question]
    graph = node([fresh], script, tools, saver=InMemorySaver(), clock=lambda: now[0])
    go(graph)
    go(graph, Command(resume="blue"))
    history = list(graph.get_state_history({"configurable": {"thread_id": "thread"}}))
    before = next(each for each in history if each.next == ("tools",))
    now[0] = 1_000
    graph.invoke(None, before.config)
    assert RAN == [60]


class Edits(AgentMiddleware[Any, Any]):
    """Changes the amount of every call."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        args = {**request.tool_call["args"], "amount": 6000}
        return handler(request.override(tool_call={**request.tool_call, "args": args}))


def test_what_cannot_be_read_is_like_nothing_else() -> None:
    """An edit is noticed, though neither the call nor the edited one has a fingerprint."""

    @tool
    def wire(amount: int, meta: dict[str, Any]) -> str:
        """Wire an amount."""
        RAN.append(amount)
        return "wired"

    small = contract("small").guarantees("`wire.amount` between 0 and 100")
    call = Call("wire", {"amount": 60, "meta": {"x": float("nan")}}, "1")
    go(agent([small], [[call], "done"], [wire], others=[Edits()], saver=InMemorySaver()))
    assert RAN == []


class Jumps(AgentMiddleware[Any, Any]):
    """Sends the second message of the model to the tools by itself."""

    @hook_config(can_jump_to=["tools"])
    def after_model(self, state: Any, runtime: Any) -> Any:
        asking = [each for each in state["messages"] if isinstance(each, AIMessage)]
        return {"jump_to": "tools"} if len(asking) == 2 else None


def test_a_decision_is_for_the_calls_of_its_message() -> None:
    """A jump past the decision runs nothing, though the call was decided in another message."""
    call = Call("pay", {"amount": 60}, "1")
    script: list[Turn] = [[call], [call], "done"]
    go(agent([spending(100)], script, [pay], others=[Jumps()], saver=InMemorySaver()))
    assert RAN == [60]


def test_guarded_nodes_settle_inside_of_a_tool() -> None:
    """In a graph that a guarded tool calls, a node that has run has ended."""
    guard = Guard([contract("checked").guarantees(must_precede("check", "ship"))])
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    guard_node(builder, guard, "check", lambda _: {"messages": [("ai", "checked")]})
    guard_node(builder, guard, "ship", lambda _: {"messages": [("ai", "shipped")]})
    builder.add_edge(START, "check")
    builder.add_edge("check", "ship")
    inner = builder.compile()

    @tool
    def work(text: str) -> str:
        """Let another graph work."""
        return str(inner.invoke({"messages": [("user", text)]})["messages"][-1].text)

    script: list[Turn] = [[Call("work", {"text": "x"}, "s")], "done"]
    state = go(node([], script, [work], guard=guard, saver=InMemorySaver()))
    assert [each.text for each in state["messages"] if isinstance(each, ToolMessage)] == ["shipped"]
