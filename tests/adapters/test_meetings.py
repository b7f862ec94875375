"""What happens where two meet: guards, branches, runs, answers, clients that leave, tenants."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from langgraph.types import Command, Send

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import approve, guard_tools
from sponsio_like.guard.guard import Guard
from sponsio_like.worlds import MemoryWorld
from tests.adapters.rules import asked, few, spending, told
from tests.adapters.scripted import Scripted
from tests.adapters.talks import Way, agents, ask, everywhere, graphs

RAN: list[str] = []


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


def runs(name: str) -> int:
    """How often the body of a tool ran."""
    return sum(each.split()[0] == name for each in RAN)


# --- two guards -----------------------------------------------------------------------------------


def test_two_guards_of_one_graph_hold_both() -> None:
    """Each node has a guard of its own; neither forgets what it has seen when the other decides."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    wanted = [call for _ in range(5) for call in ("pay", "send")]

    def model(state: Any) -> Any:
        i = sum(isinstance(each, AIMessage) for each in state["messages"])
        if i >= len(wanted):
            return {"messages": [AIMessage("done")]}
        args: dict[str, Any] = {"amount": 1} if wanted[i] == "pay" else {"text": "hello"}
        call = {"name": wanted[i], "args": args, "id": f"c{i}"}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    def where(state: Any) -> str:
        calls = state["messages"][-1].tool_calls
        return "__end__" if not calls else {"pay": "money", "send": "mail"}[calls[0]["name"]]

    builder.add_node("model", model)
    guard_tools(builder, Guard([few("pay", 2)]), [pay], name="money")
    guard_tools(builder, Guard([few("send", 2)]), [send], name="mail")
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", where)
    builder.add_edge("money", "model")
    builder.add_edge("mail", "model")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": [("user", "go")]}, _on("one", 100))
    assert (runs("pay"), runs("send")) == (2, 2)


def test_two_guards_of_one_agent_hold_both() -> None:
    """Two pairs of middlewares can stand around one agent; a call needs the leave of both."""
    script: list[Any] = [*(ask("pay", f"a{i}", amount=60) for i in range(3)), "done"]
    one, two = Guard([few("pay", 2)]), Guard([spending(100)])
    pairs = [*guarded(one, [pay], name="number"), *guarded(two, [pay], name="sum")]
    agent: Any = create_agent(
        Scripted(script=lambda: script), [pay], middleware=pairs, checkpointer=InMemorySaver()
    )
    agent.invoke({"messages": [("user", "go")]}, _on("one"))
    assert RAN == ["pay 60"]


@everywhere
def test_a_guard_with_more_contracts_goes_on_with_the_session(way: Way) -> None:
    """A release adds a contract: the others remember what they have seen."""
    saver = InMemorySaver()
    old = _agent(way, Guard([few("pay", 2)]), saver)
    old.say(ask("pay", amount=1))
    del old
    gc.collect()
    new = _agent(way, Guard([few("pay", 2), few("send", 1)]), saver)
    new.say(ask("pay", amount=2), ask("pay", "b", amount=3))
    assert RAN == ["pay 1", "pay 2"]


# --- a client leaves ------------------------------------------------------------------------------


@pytest.mark.long
@everywhere
@pytest.mark.parametrize("mode", ["messages", "updates", "values", "custom", "debug"])
@pytest.mark.parametrize("anew", [False, True], ids=["here", "elsewhere"])
def test_a_client_that_leaves_gets_no_more_than_the_cap(way: Way, mode: str, anew: bool) -> None:
    """The reader of a stream stops after the tool's answer, again and again."""
    saver, rule = InMemorySaver(), told("G(called(pay) -> count(done(pay)) < 2)")
    talk = _agent(way, Guard([rule]), saver)
    for i in range(5):
        if anew:
            talk = _agent(way, Guard([rule]), saver)
        talk.plan(ask("pay", f"c{i}", amount=i))
        _left(talk, mode, i)
    assert runs("pay") == 2


def _left(talk: Any, mode: str, before: int) -> None:
    """Read the stream until one more body has run than before, then leave."""
    given = {"messages": [("user", "go")]}

    async def later() -> None:
        stream = talk.graph.astream(given, _on("one"), stream_mode=mode)
        async for each in stream:
            if runs("pay") > before and _is_answer(each):
                break
        await stream.aclose()

    if talk.later:
        asyncio.run(later())
        return
    stream = talk.graph.stream(given, _on("one"), stream_mode=mode)
    for each in stream:
        if runs("pay") > before and _is_answer(each):
            break
    stream.close()


def _is_answer(chunk: Any) -> bool:
    return not isinstance(chunk, tuple) or isinstance(chunk[0], ToolMessage)


# --- answers --------------------------------------------------------------------------------------


@everywhere
@pytest.mark.parametrize("world", [False, True], ids=["session", "world"])
def test_an_answer_that_is_given_twice_at_once_is_one_answer(way: Way, world: bool) -> None:
    """A double click on yes pays once; the other run ends, or is told so."""
    rule = asked(100)
    rules = [rule, few("pay", 1).world()] if world else [rule]
    options: dict[str, Any] = {"world": MemoryWorld()} if world else {}
    both = threading.Barrier(2, timeout=10)

    @tool
    def wait(amount: int) -> str:
        """Pay, slowly."""
        RAN.append(f"pay {amount}")
        time.sleep(0.05)
        return "paid"

    wait.name = "pay"
    talk = way.open([wait], *rules, **options)
    (question,) = talk.say(ask("pay", amount=900)).asked
    yes: Any = Command(resume=approve(question["ticket"], by="ann", role="manager"))

    def click(_: int) -> None:
        both.wait()
        try:
            if way.later:
                asyncio.run(talk.graph.ainvoke(yes, _on("one")))
            else:
                talk.graph.invoke(yes, _on("one"))
        except Exception:  # the second one may be told so by an error
            return

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(click, range(2)))
    assert RAN == ["pay 900"]


# --- beside each other ----------------------------------------------------------------------------


def test_guarded_nodes_beside_each_other_share_a_session() -> None:
    """Two branches of one step, each with a guarded node under one guard: the limit holds."""
    guard = Guard([few("pay", 1)])
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    call = {"name": "pay", "args": {"amount": 1}}
    builder.add_node(
        "model", lambda _: {"messages": [AIMessage("", tool_calls=[{**call, "id": "a"}])]}
    )
    guard_tools(builder, guard, [pay], name="left")
    guard_tools(builder, guard, [pay], name="right")
    builder.add_edge(START, "model")
    builder.add_edge("model", "left")
    builder.add_edge("model", "right")
    graph = builder.compile(checkpointer=InMemorySaver())
    state = graph.invoke({"messages": [("user", "go")]}, _on("one"))
    assert runs("pay") == 1
    assert len([each for each in state["messages"] if isinstance(each, ToolMessage)]) == 2


def test_what_guarded_nodes_beside_each_other_have_done_counts_for_each() -> None:
    """Both run the same call of one message: a limit on what has succeeded hears of both.

    The two of a step are in flight beside each other, as two calls of one message are.
    """
    guard = Guard([told("G(called(pay) -> count(done(pay)) < 3)")])
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=[_call("a")])]})
    builder.add_edge(START, "model")
    for name in ("left", "right"):
        guard_tools(builder, guard, [pay], name=name)
        builder.add_edge("model", name)
    graph = builder.compile(checkpointer=InMemorySaver())
    for _ in range(4):
        graph.invoke({"messages": [("user", "go")]}, _on("one"))
    assert runs("pay") == 4


@pytest.mark.parametrize("mode", ["enforce", "observe"])
def test_calls_that_are_sent_one_by_one_are_decided(mode: Any) -> None:
    """`Send("tools", [call])` for each call, as agents that are built by hand do."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    calls = [{"name": "pay", "args": {"amount": i}, "id": f"c{i}"} for i in range(3)]
    builder.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=calls)]})
    guard_tools(builder, Guard([few("pay", 2)], mode=mode), [pay])
    builder.add_edge(START, "model")
    sends = [Send("tools", [{**each, "type": "tool_call"}]) for each in calls]
    builder.add_conditional_edges("model", lambda _: sends)
    graph = builder.compile(checkpointer=InMemorySaver())
    state = graph.invoke({"messages": [("user", "go")]}, _on("one"))
    assert runs("pay") == (2 if mode == "enforce" else 3)
    answers = [each for each in state["messages"] if isinstance(each, ToolMessage)]
    assert sorted(each.tool_call_id for each in answers) == ["c0", "c1", "c2"]


@graphs
def test_a_node_that_goes_to_the_tools_by_itself_is_decided(way: Way) -> None:
    """`Command(goto="tools")` leads to the decision first."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    script = iter([AIMessage("", tool_calls=[_call("a")]), AIMessage("", tool_calls=[_call("b")])])

    def model(_: MessagesState) -> Any:
        said = next(script, None)
        if said is None:
            return {"messages": [AIMessage("done")]}
        return Command(update={"messages": [said]}, goto="tools")

    whole: Any = model
    builder.add_node("model", whole, destinations=("tools",))
    guard_tools(builder, Guard([few("pay", 1)]), [pay])
    builder.add_edge(START, "model")
    builder.add_edge("tools", "model")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": [("user", "go")]}, _on("one"))
    assert runs("pay") == 1


def test_an_edge_that_looks_is_asked_once_for_all_calls() -> None:
    """A conditional edge behind the tools sees the answers of all calls of the message."""
    seen: list[int] = []

    def after(state: Any) -> str:
        seen.append(sum(isinstance(each, ToolMessage) for each in state["messages"]))
        return "__end__"

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    calls = [_call("a"), _call("b"), _call("c")]
    builder.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=calls)]})
    guard_tools(builder, Guard([few("pay", 2)]), [pay])
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_conditional_edges("tools", after)
    builder.compile(checkpointer=InMemorySaver()).invoke({"messages": [("user", "go")]}, _on("one"))
    assert seen == [3]
    assert runs("pay") == 2


# --- tenants --------------------------------------------------------------------------------------


@everywhere
def test_tenants_with_a_checkpointer_each_know_nothing_of_each_other(way: Way) -> None:
    """One guard, one thread id, two savers: what failed at one is not held against the other."""
    guard = Guard([few("pay", 1)])
    for saver in (InMemorySaver(), InMemorySaver()):
        _agent(way, guard, saver).say(ask("pay", amount=1), ask("pay", "b", amount=2))
    assert RAN == ["pay 1", "pay 1"]


# --- nesting --------------------------------------------------------------------------------------


@agents
@pytest.mark.parametrize("outer", ["none", "other", "same"])
def test_a_sub_agent_as_a_tool_has_contracts_of_its_own(way: Way, outer: str) -> None:
    """With `scope="run"` a limit holds in each of its runs, whatever guards the agent around it."""
    inner_script: list[Any] = [ask("pay", "a", amount=1), ask("pay", "b", amount=2), "done"]
    inner_guard = Guard([few("pay", 1)])
    inner: Any = create_agent(
        Scripted(script=lambda: inner_script),
        [pay],
        middleware=guarded(inner_guard, [pay], scope="run"),
    )

    @tool
    def helper(task: str) -> str:
        """Let somebody else do it."""
        return str(inner.invoke({"messages": [("user", task)]})["messages"][-1].text)

    guards = {"other": Guard([few("helper", 9)]), "same": inner_guard}
    guard = guards.get(outer)
    script: list[Any] = [ask("helper", "h1", task="x"), ask("helper", "h2", task="y"), "done"]
    pair = guarded(guard, [helper, pay]) if guard else []
    agent: Any = create_agent(
        Scripted(script=lambda: script), [helper], middleware=pair, checkpointer=InMemorySaver()
    )
    agent.invoke({"messages": [("user", "go")]}, _on("one"))
    assert runs("pay") == (1 if outer == "same" else 2)


# --- observing ------------------------------------------------------------------------------------


@everywhere
@pytest.mark.parametrize("what", ["facts", "state", "format"])
def test_what_fails_inside_does_not_disturb_who_is_observed(
    way: Way, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No error, and every call runs: it is logged instead."""

    def facts(*_: Any) -> Any:
        raise OSError("nothing is known")

    options: dict[str, Any] = {"facts": facts} if what == "facts" else {}
    talk = way.open([pay], few("pay", 1), mode="observe", **options)
    talk.say(ask("pay", amount=1))
    if what != "facts":
        _damage(talk, way, {"format": 99} if what == "format" else "?")
    came = talk.say(ask("pay", "b", amount=2), ask("pay", "c", amount=3))
    assert came.result("b") == "paid 2"
    assert came.result("c") == "paid 3"
    assert any("sponsio_like" in each.name for each in caplog.records)


@graphs
def test_a_state_of_the_same_name_is_left_alone(way: Way) -> None:
    """An agent about legal contracts has a key `contracts`: it stays what it is."""

    class Legal(MessagesState):
        contracts: dict[str, str]

    from tests.adapters.talks import More

    talk = way.open([pay], few("pay", 1), more=More(schema=Legal))
    came = talk.say(ask("pay", amount=1), contracts={"nda": "signed"})
    assert came.state["contracts"] == {"nda": "signed"}
    assert set(came.state) == {"messages", "contracts"}


# --- what they share ------------------------------------------------------------------------------


def _call(id: str) -> Any:
    return {"name": "pay", "args": {"amount": 1}, "id": id}


def _on(thread: str, limit: int = 50) -> Any:
    return {"configurable": {"thread_id": thread}, "recursion_limit": limit}


def _agent(way: Way, guard: Guard, saver: Any) -> Any:
    from tests.adapters.talks import More

    return way.under(guard, [pay, send], more=More(saver=saver))


def _damage(talk: Any, way: Way, session: Any) -> None:
    """Put something in the place of the session that this version cannot read."""
    config = talk.graph.get_state(_on("one")).config
    saved = talk.graph.checkpointer.get_tuple(config).checkpoint["channel_values"]["__contracts__"]
    part: Any = {
        name: {"rev": "x", "line": [kept["rev"]], "live": "?", "seq": 0, "session": session}
        for name, kept in saved.items()
        if "rev" in kept
    }
    node = "tools" if way.name.startswith("graph") else "contracts.after_model"
    talk.graph.update_state(config, {"__contracts__": part}, as_node=node)
