"""What a guarded turn costs beside the same turn without contracts, counted as work.

No test here judges a time: they count threads that are asked, runs that callbacks see, and calls of
functions of ours.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from sponsio_like.adapters.langchain import guarded, middleware
from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.adapters.langgraph.channel import CHANNEL
from sponsio_like.adapters.langgraph.live import Live
from sponsio_like.guard.guard import Guard
from tests.adapters.harness import Call
from tests.adapters.rules import few, spending
from tests.adapters.scripted import Scripted

ON: Any = {"configurable": {"thread_id": "one"}}


@tool
async def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def _calls(count: int) -> list[dict[str, Any]]:
    return [{"name": "pay", "args": {"amount": 1}, "id": f"c{i}"} for i in range(count)]


def _builder(count: int, guard: Guard | None, *, joined: bool = False, turns: int = 1) -> Any:
    """A model that calls `pay` so often in each turn, and then is done. All of it is async.

    `joined`: a conditional edge leads on from the tools, and not a plain one.
    """

    async def model(state: MessagesState) -> dict[str, Any]:
        answers = sum(isinstance(each, ToolMessage) for each in state["messages"])
        over = answers >= turns * count
        said = AIMessage("done") if over else AIMessage("", tool_calls=_calls(count))
        return {"messages": [said]}

    async def asks(state: MessagesState) -> str:
        return "tools" if state["messages"][-1].tool_calls else END  # type: ignore[union-attr]

    async def back(_: MessagesState) -> str:
        return "model"

    builder: Any = StateGraph(MessagesState)
    builder.add_node("model", model)
    if guard is None:
        builder.add_node("tools", ToolNode([pay]))
    else:
        guard_tools(builder, guard, [pay])
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", asks, ["tools", END])
    if joined:
        builder.add_conditional_edges("tools", back, ["model"])
    else:
        builder.add_edge("tools", "model")
    return builder


class _Started(BaseCallbackHandler):
    """Counts the runs that callbacks are told of, by their names."""

    def __init__(self) -> None:
        self.names: Counter[str] = Counter()

    def on_chain_start(self, *_: Any, **more: Any) -> None:
        self.names[more["name"]] += 1


def _runs(count: int, guard: Guard | None, *, joined: bool) -> Counter[str]:
    seen = _Started()
    graph = _builder(count, guard, joined=joined).compile(checkpointer=InMemorySaver())
    asyncio.run(graph.ainvoke({"messages": ["pay"]}, {**ON, "callbacks": [seen]}))
    return seen.names


@pytest.mark.parametrize("joined", [False, True])
def test_callbacks_see_the_runs_of_the_graph_and_the_node_that_decides(joined: bool) -> None:
    """Traces show a node for each step, and nothing of how edges are redirected."""
    plain, mine = _runs(1, None, joined=joined), _runs(1, Guard([few("pay", 5)]), joined=joined)
    steps = {"tools.decide": 1, **({"tools.ended": 1} if joined else {})}
    assert mine - plain == Counter(steps)
    assert plain - mine == Counter()


@pytest.mark.parametrize("joined", [False, True])
def test_a_guarded_turn_asks_for_no_other_thread(
    joined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an event loop, where model, tools and edges are async, nothing is handed to a thread.

    What LangGraph itself does to save a checkpoint is the same with contracts, one for each step.
    """
    asked: list[str] = []
    before = asyncio.BaseEventLoop.run_in_executor

    def run_in_executor(self: Any, executor: Any, function: Any, *args: Any) -> Any:
        asked.append(repr(function))
        return before(self, executor, function, *args)

    monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", run_in_executor)
    graph = _builder(3, Guard([few("pay", 5), spending(100)]), joined=joined).compile(
        checkpointer=InMemorySaver()
    )
    asyncio.run(graph.ainvoke({"messages": ["pay"]}, ON))
    assert asked == []


def _threads(count: int, invoke: Callable[[Any], Any]) -> tuple[list[int], int]:
    """The threads in which so many guarded calls of one message run; and the one that asks."""
    ran: list[int] = []

    @tool
    def pay(amount: int) -> str:
        """Pay an amount, in an event loop of its own."""

        async def paid() -> str:
            return f"paid {amount}"

        ran.append(threading.get_ident())
        return asyncio.run(paid())

    turns: list[Any] = [AIMessage("", tool_calls=_calls(count)), AIMessage("done")]
    builder: Any = StateGraph(MessagesState)
    builder.add_node("model", lambda _: {"messages": [turns.pop(0)]})
    guard_tools(builder, Guard([few("pay", 5)]), [pay])
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    said = invoke(builder.compile(InMemorySaver()))["messages"]
    assert [each.content for each in said[2:-1]] == ["paid 1"] * count
    return ran, threading.get_ident()


class _Other(AgentMiddleware[Any, Any]):
    """Stands between the two of the pair."""


def _asked_of(around: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often another thread is asked in a run of an agent that calls a tool."""
    asked, before = list[Any](), asyncio.BaseEventLoop.run_in_executor

    def run_in_executor(self: Any, executor: Any, function: Any, *args: Any) -> Any:
        asked.append(function)
        return before(self, executor, function, *args)

    script: list[Any] = [[Call("pay", {"amount": 1}, "a")], "done"]
    model = Scripted(script=lambda: script)
    made: Any = create_agent(model, [pay], middleware=around, checkpointer=InMemorySaver())
    with monkeypatch.context() as patched:
        patched.setattr(asyncio.BaseEventLoop, "run_in_executor", run_in_executor)
        said = asyncio.run(made.ainvoke({"messages": ["pay"]}, ON))["messages"]
    assert said[-2].content == "paid 1"
    return len(asked)


def test_the_hooks_of_an_agent_ask_for_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """LangChain asks two for each call of a coroutine function, and none for ours."""
    alone = _asked_of([], monkeypatch)
    assert _asked_of(guarded(Guard([few("pay", 5)]), [pay]), monkeypatch) == alone
    assert _asked_of(guarded(Guard([few("pay", 5)]), [pay], _Other()), monkeypatch) == alone


def test_the_hooks_of_an_agent_that_is_traced_are_coroutine_functions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LangSmith shows when one has ended, and not when it has returned what is awaited."""
    monkeypatch.setattr(middleware, "tracing_is_enabled", lambda: True)
    pair = guarded(Guard([few("pay", 5)]), [pay], _Other())
    hooks = [(each.awrap_model_call, each.awrap_tool_call) for each in (pair[0], pair[-1])]
    assert all(inspect.iscoroutinefunction(each) for both in hooks for each in both)
    _asked_of(pair, monkeypatch)


def test_a_call_runs_in_the_thread_of_its_node() -> None:
    """Nobody begins a thread for the only call of a task."""
    (ran,), here = _threads(1, lambda graph: graph.invoke({"messages": ["pay"]}, ON))
    assert ran == here


def test_a_tool_may_begin_an_event_loop_where_one_waits_for_the_graph() -> None:
    """A graph that is invoked by code in an event loop runs its tools in other threads."""

    async def invoke(graph: Any) -> Any:
        return graph.invoke({"messages": ["pay"]}, ON)

    for count in (1, 3):
        ran, here = _threads(count, lambda graph: asyncio.run(invoke(graph)))
        assert len(ran) == count
        assert here not in ran


def _work(play: Callable[[], Any]) -> int:
    """How many functions of ours are called."""
    found = 0

    def called(frame: Any, event: str, _: Any) -> None:
        nonlocal found
        found += event == "call" and "sponsio_like/" in frame.f_code.co_filename

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        play()
    finally:
        sys.setprofile(before)
    return found


def _work_of(count: int) -> int:
    graph = _builder(count, Guard([few("pay", 500), spending(500)])).compile(
        checkpointer=InMemorySaver()
    )
    asyncio.run(graph.ainvoke({"messages": ["pay"]}, {"configurable": {"thread_id": "warm"}}))
    return _work(lambda: asyncio.run(graph.ainvoke({"messages": ["pay"]}, ON)))


def test_the_work_of_a_message_grows_with_its_calls_alone() -> None:
    """Of 60 calls each costs what each of 20 does."""
    ten, twenty, sixty = _work_of(10), _work_of(20), _work_of(60)
    each = (twenty - ten) / 10
    assert sixty - twenty < 1.1 * each * 40


def _opcodes(turns: int) -> int:
    """How many opcodes of ours run in a thread of so many turns."""
    found = 0

    def counted(_: Any, event: str, __: Any) -> Any:
        nonlocal found
        found += event == "opcode"
        return counted

    def called(frame: Any, *_: Any) -> Any:
        frame.f_trace_opcodes = True
        return counted if "sponsio_like/" in frame.f_code.co_filename else None

    graph = _builder(1, Guard([few("pay", 500), spending(500)]), turns=turns).compile(
        checkpointer=InMemorySaver()
    )
    before = sys.gettrace()
    sys.settrace(called)
    try:
        asyncio.run(graph.ainvoke({"messages": ["pay"]}, {**ON, "recursion_limit": 500}))
    finally:
        sys.settrace(before)
    return found


@pytest.mark.long
def test_the_work_of_a_turn_grows_with_no_turn_before_it() -> None:
    """Neither messages nor results of earlier turns are gone through again."""
    ten, thirty, ninety = map(_opcodes, (10, 30, 90))
    assert ninety - thirty < 1.02 * 3 * (thirty - ten)


class _Saver(InMemorySaver):
    """Keeps what is written to the channel of the contracts."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[Any] = []

    def put_writes(self, config: Any, writes: Any, *args: Any, **more: Any) -> None:
        self.written.extend(value for channel, value in writes if channel == CHANNEL)
        super().put_writes(config, writes, *args, **more)

    async def aput_writes(self, config: Any, writes: Any, *args: Any, **more: Any) -> None:
        self.put_writes(config, writes, *args, **more)


def test_the_work_of_a_turn_does_not_grow_with_the_run() -> None:
    """What is written to the channel in a turn is as large after 60 turns as after 20."""
    saver = _Saver()
    graph = _builder(1, Guard([few("pay", 500), spending(500)]), turns=60).compile(saver)
    asyncio.run(graph.ainvoke({"messages": ["pay"]}, {**ON, "recursion_limit": 300}))
    written = [len(saver.serde.dumps_typed(each)[1]) for each in saver.written]
    decided, results = written[::2], written[1::2]
    assert len(decided) == len(results) == 60
    assert max(decided[20:]) < 1.05 * min(decided[20:])
    assert max(results) < 1.1 * min(results)


def test_an_answer_without_calls_does_not_write_the_session_down_again() -> None:
    """It is written with calls that are let through, and by a later process read from there."""
    saver, guard = _Saver(), Guard([few("pay", 2)])
    turns: list[Any] = [[Call("pay", {"amount": 1}, "a")], "done"]

    def say() -> Any:
        made: Any = create_agent(
            Scripted(script=lambda: turns),
            [pay],
            middleware=guarded(guard, [pay]),
            checkpointer=saver,
        )
        return asyncio.run(made.ainvoke({"messages": ["pay"]}, ON))["messages"]

    say()
    assert ["session" in each for written in saver.written for each in written.values()] == [
        True,
        False,
    ]
    assert saver.written[-1] == {}
    guard = Guard([few("pay", 2)])
    assert [say()[-2].status for _ in range(2)] == ["success", "error"]


@pytest.mark.long
@pytest.mark.parametrize("guard", [Guard([few("pay", 0)]), Guard([few("pay", 9)])])
def test_a_call_leaves_nothing_to_the_collector_of_garbage(guard: Guard) -> None:
    """What was needed for a decision goes with it: nothing of ours holds itself.

    The collector stops all threads while it goes through everything that the process has.
    """
    graph = _builder(1, guard).compile(InMemorySaver())
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        asyncio.run(graph.ainvoke({"messages": ["pay"]}, ON))
        gc.collect()
        left = [each for each in gc.garbage if "sponsio_like" in type(each).__module__]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert left == []


def test_a_step_that_decides_looks_at_no_calls_but_those_that_run() -> None:
    """Calls that have run before are not gone through again."""
    live, looked = Live(), list[str]()

    class Seen:
        rev = ""

        def __init__(self, own: str) -> None:
            self.own = own

        @property
        def session(self) -> Any:
            looked.append(self.own)
            return session

    session, every = Guard([few("pay", 2)]).session(), [Seen(str(i)) for i in range(9)]
    for each in every:
        assert live.begin(each.own, each)
    for each in every[1:]:
        live.rests(each.own, each)
    assert live.runs(session) == {"0"}
    assert looked == ["0"]
