"""Where graphs in graphs meet: beside each other, once more, on the world, at another tenant."""

from __future__ import annotations

import operator
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command, RetryPolicy, Send
from typing_extensions import TypedDict

from sponsio_like.adapters.langgraph import GuardedState, guard_tools
from sponsio_like.contracts.definition import contract
from sponsio_like.errors import ContractError, SessionError
from sponsio_like.guard.guard import Guard
from sponsio_like.patterns import rate_limit
from sponsio_like.worlds import MemoryWorld
from tests.adapters.nests import (
    Both,
    Inside,
    Ledger,
    acts,
    agent_inside,
    as_tool,
    few,
    go,
    graph_inside,
    pays,
)
from tests.adapters.talks import ask, older

GO: Any = {"messages": [("user", "go on")]}
insides = pytest.mark.parametrize("inside", [graph_inside, agent_inside])
ways = pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])


def ran(ledger: Ledger) -> str:
    """What has run since this was asked last."""
    told = "".join(ledger.ran)
    del ledger.ran[:]
    return told


# --- map and reduce -------------------------------------------------------------------------------


class Work(TypedDict):
    """Some items, and what has come of them."""

    items: list[str]
    done: Annotated[list[str], operator.add]


class SharedWork(Work, GuardedState):
    """The same, with the channel of the contracts."""


def mapped(inner: Any, state: Any, *keys: str) -> Any:
    """A graph that sends each item to the inner graph, with these keys of its state."""

    def fan(state: Any) -> list[Send]:
        more = {key: state[key] for key in keys}
        return [Send("work", {"messages": [("user", each)], **more}) for each in state["items"]]

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(state)
    builder.add_node("work", inner)
    builder.add_conditional_edges(START, fan, ["work"])
    return builder.compile(checkpointer=InMemorySaver())


@ways
@insides
def test_each_run_of_a_map_has_its_own_cap(inside: Inside, *, later: bool) -> None:
    """With `scope="run"`: three items, one payment for each, in each turn."""
    ledger = Ledger()
    inner = inside(few("one", 1), [ledger.pay("i")], acts("alice", *pays("i", 2)), scope="run")
    graph = mapped(inner, Work)
    for _ in range(2):
        go(graph, {"items": ["a", "b", "c"]}, later=later)
        assert ran(ledger) == "iii"


@ways
@insides
def test_a_map_may_share_one_cap(inside: Inside, *, later: bool) -> None:
    """With `shared=True`, where the channel is sent, too: five payments over two turns."""
    ledger, guard = Ledger(), few("five", 5)
    inner = inside(guard, [ledger.pay("i")], acts("alice", *pays("i", 2)), shared=True)
    graph = mapped(inner, SharedWork, "__contracts__")
    go(graph, {"items": ["a", "b"]}, later=later)
    assert ran(ledger) == "iiii"
    go(graph, {"items": ["a", "b"]}, later=later)
    assert ran(ledger) == "i"


@ways
@insides
def test_a_send_without_the_channel_is_refused(inside: Inside, *, later: bool) -> None:
    """The error says that it has to be sent."""
    inner = inside(few("one", 1), [Ledger().pay("i")], acts("alice", *pays("i", 2)), shared=True)
    with pytest.raises(SessionError, match="a Send has to send it"):
        go(mapped(inner, SharedWork), {"items": ["a"]}, later=later)


# --- a chain that does not share ------------------------------------------------------------------


@ways
@insides
def test_every_graph_around_has_to_share(inside: Inside, *, later: bool) -> None:
    """One in the middle shares with the inner one, but not with the one that is saved."""
    ledger, middle = Ledger(), StateGraph(Both)
    inner = inside(few("one", 1), [ledger.pay("i")], acts("alice", *pays("i", 2)), shared=True)
    middle.add_node("inner", inner)
    middle.add_edge(START, "inner")
    bare = graph_around(as_tool(middle.compile()))
    with pytest.raises(SessionError, match="the states of all graphs around it"):
        go(bare, GO, later=later)
    assert ran(ledger) == ""


def graph_around(research: Any, *script: Any) -> Any:
    """An agent of which nothing is guarded, with this tool."""
    turns = script or (ask("research", question="why"),)
    return create_agent(acts("boss", *turns), [research], checkpointer=InMemorySaver())


@ways
@insides
def test_a_tool_may_hand_back_the_channel(inside: Inside, *, later: bool) -> None:
    """A sub-agent with `shared=True` as a tool that passes the state on, and returns what it is."""
    ledger, saver = Ledger(), InMemorySaver()
    inner: Any = None

    def given(runtime: Any) -> Any:
        return {"messages": [("user", "go")], "__contracts__": runtime.state["__contracts__"]}

    def back(runtime: Any, state: Any) -> Any:
        answer = ToolMessage("done", tool_call_id=runtime.tool_call_id)
        return Command(update={"messages": [answer], "__contracts__": state["__contracts__"]})

    def research(runtime: ToolRuntime) -> Any:
        """Let a sub-agent find something out."""
        return back(runtime, inner.invoke(given(runtime)))

    async def aresearch(runtime: ToolRuntime) -> Any:
        return back(runtime, await inner.ainvoke(given(runtime)))

    tools = [
        StructuredTool.from_function(research, aresearch, name="research"),
        ledger.pay("o"),
    ]
    for expected in (
        "iio",
        "i",
    ):  # each time as in a new process: nothing is known but what is saved
        alice = acts("alice", *pays("i", 2))
        inner = inside(few("inner", 3), [ledger.pay("i")], alice, shared=True)
        model = acts("boss", ask("research", "r"), *pays("o", 1))
        go(inside(few("outer", 1), tools, model, shared=True, saver=saver), GO, later=later)
        assert ran(ledger) == expected


# --- sub-agents that a tool holds -----------------------------------------------------------------


def test_a_sub_agent_that_a_tool_holds_needs_a_guard() -> None:
    """As `task` of deepagents: it has a tool that contracts name, and would run it undecided."""
    ledger, guard = Ledger(), few("one", 1)
    bare = create_agent(acts("alice", *pays("i", 2)), [ledger.pay("i")], name="alice")
    kept = agent_inside(guard, [ledger.pay("i")], acts("alice", *pays("i", 2)))

    def opened(inner: Any) -> Any:
        agents = {"alice": inner}

        @tool
        def task(name: str) -> str:
            """Give somebody a task."""
            return str(agents[name].invoke(GO)["messages"][-1].text)

        model = acts("boss", ask("task", "t", name="alice"))
        return agent_inside(guard, [task, ledger.pay("o")], model, saver=InMemorySaver())

    with pytest.raises(ContractError, match="sub-agent `alice` has the tool `pay`"):
        go(opened(bare), GO, later=False)
    assert ran(ledger) == ""
    go(opened(kept), GO, later=False)
    assert ran(ledger) == "i"


# --- again, and beside each other -----------------------------------------------------------------


@ways
@insides
def test_two_runs_in_one_step_have_a_session_each(inside: Inside, *, later: bool) -> None:
    """With `scope="run"` and one guard, each of two sub-agents in one step may pay once."""
    ledger, guard = Ledger(), few("one", 1)
    made = [
        inside(guard, [ledger.pay("i")], acts("alice", *pays("i", 2)), scope="run")
        for _ in range(2)
    ]

    @entrypoint(checkpointer=InMemorySaver())
    def flow(given: Any) -> None:
        for each in made:
            each.invoke(given)

    @entrypoint(checkpointer=InMemorySaver())
    async def aflow(given: Any) -> None:
        for each in made:
            await each.ainvoke(given)

    for _ in range(2):
        go(aflow if later else flow, GO, later=later)
        assert ran(ledger) == "ii"


@ways
@insides
def test_two_that_go_on_remember_apart(inside: Inside, *, later: bool) -> None:
    """With `checkpointer=True` and one guard: two payments of each, over two turns."""
    ledger, guard = Ledger(), few("two", 2)
    made = [
        inside(guard, [ledger.pay(who)], acts(who, *pays(who, n)), saver=True)
        for who, n in (("i", 1), ("o", 2))
    ]
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Both)
    builder.add_node("flow", functional_of(made, later=later))
    builder.add_edge(START, "flow")
    flow = functional_of(made, later=later)
    for expected in ("ioo", "i", ""):
        go(flow, GO, later=later)
        assert ran(ledger) == expected


def functional_of(graphs: list[Any], *, later: bool) -> Any:
    """An entrypoint that calls each graph in a task of its own."""

    def sync(graph: Any) -> Any:
        return lambda given: graph.invoke(given)["messages"][-1].text

    def late(graph: Any) -> Any:
        async def run(given: Any) -> Any:
            return (await graph.ainvoke(given))["messages"][-1].text

        return run

    make: Any = task
    tasks = [make(name=f"t{i}")((late if later else sync)(each)) for i, each in enumerate(graphs)]

    @entrypoint(checkpointer=InMemorySaver())
    def flow(given: Any) -> None:
        for each in tasks:
            each(given).result()

    @entrypoint(checkpointer=InMemorySaver())
    async def aflow(given: Any) -> None:
        for each in tasks:
            await each(given)

    return aflow if later else flow


@ways
@insides
def test_a_second_call_by_one_node_is_refused(inside: Inside, *, later: bool) -> None:
    """LangGraph gives it another memory than the first: the cap would be twice as large."""
    ledger = Ledger()
    inner = inside(few("one", 1), [ledger.pay("i")], acts("alice", *pays("i", 2)), saver=True)

    @entrypoint(checkpointer=InMemorySaver())
    def flow(given: Any) -> None:
        for _ in range(2):
            inner.invoke(given)

    @entrypoint(checkpointer=InMemorySaver())
    async def aflow(given: Any) -> None:
        for _ in range(2):
            await inner.ainvoke(given)

    with pytest.raises(SessionError, match="for the second time by one node"):
        go(aflow if later else flow, GO, later=later)
    assert ran(ledger) == "i"


def test_a_loop_of_tasks_has_one_memory() -> None:
    """In a task of its own each call goes on where the last one was."""
    ledger = Ledger()
    inner = agent_inside(few("three", 3), [ledger.pay("i")], acts("a", *pays("i", 1)), saver=True)

    @task
    def once(given: Any) -> str:
        return str(inner.invoke(given)["messages"][-1].text)

    @entrypoint(checkpointer=InMemorySaver())
    def flow(given: Any) -> None:
        for _ in range(2):
            once(given).result()

    for expected in ("ii", "i"):
        go(flow, GO, later=False)
        assert ran(ledger) == expected


@pytest.mark.long
@ways
@insides
def test_a_node_that_is_tried_again_is_refused(inside: Inside, *, later: bool) -> None:
    """A retry has another memory, too."""
    ran_: list[int] = []

    @tool
    def pay(amount: int) -> str:
        """Pay an amount."""
        ran_.append(amount)
        raise OSError("not now")

    inner = inside(few("one", 1), [pay], acts("alice", *pays("i", 1)), saver=True)
    policy = RetryPolicy(max_attempts=3, initial_interval=0.001, retry_on=OSError)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Both)
    builder.add_node("inner", inner, retry_policy=policy)
    builder.add_edge(START, "inner")
    with pytest.raises(SessionError, match="or is tried again"):
        go(builder.compile(checkpointer=InMemorySaver()), GO, later=later)
    assert ran_ == [0]


@pytest.mark.skipif(older("langgraph", 1, 2), reason="there a replay looks the same")
@ways
@insides
def test_two_runs_in_one_place_are_refused(inside: Inside, *, later: bool) -> None:
    """Calls of one message: what ends last would overwrite what the others remember."""
    ledger = Ledger()
    inner = inside(few("three", 3), [ledger.pay("i")], acts("alice", *pays("i", 2)), saver=True)
    both = [*ask("research", "r", question="a"), *ask("research", "s", question="b")]
    with pytest.raises(SessionError, match=r"in the same place|for the second time"):
        go(graph_around(as_tool(inner), both), GO, later=later)
    assert len(ran(ledger)) <= 2


@ways
@insides
def test_what_is_replayed_runs_again(inside: Inside, *, later: bool) -> None:
    """A replay of the graph around is no second call: the inner one goes on where it was."""
    ledger = Ledger()
    inner = inside(few("nine", 9), [ledger.pay("i")], acts("alice", *pays("i", 2)), saver=True)
    outer = graph_around(as_tool(inner))
    go(outer, GO, later=later)
    on: Any = {"configurable": {"thread_id": "one"}}
    befores = [each for each in outer.get_state_history(on) if each.next == ("tools",)]
    assert ran(ledger) == "ii"
    outer.invoke(None, befores[0].config)
    assert ran(ledger) == "ii"


# --- on the world ---------------------------------------------------------------------------------


@ways
@insides
@pytest.mark.parametrize("options", [{}, {"scope": "run"}], ids=["thread", "run"])
def test_a_contract_on_the_world_holds_inside(
    inside: Inside, options: dict[str, Any], *, later: bool
) -> None:
    """Nothing else has to keep it: called twice in a turn, over two turns, three payments."""
    ledger, world = Ledger(), MemoryWorld()
    guard = Guard([contract("paid").guarantees(rate_limit("pay", 3)).world()])
    model = acts("alice", *pays("i", 1))
    inner = inside(guard, [ledger.pay("i")], model, world=world, **options)
    first, second = ask("research", "r", question="a"), ask("research", "s", question="b")
    outer = graph_around(as_tool(inner), first, second)
    for expected in ("ii", "i"):
        go(outer, GO, later=later)
        assert ran(ledger) == expected


def test_a_contract_on_the_world_needs_a_thread() -> None:
    """The error does not say what would not help."""
    guard = Guard([contract("paid").guarantees(rate_limit("pay", 3)).world()])
    agent = agent_inside(
        guard, [Ledger().pay("i")], acts("a", *pays("i", 1)), world=MemoryWorld(), scope="run"
    )
    with pytest.raises(SessionError, match=r"give a thread_id(\n|$)"):
        agent.invoke(GO)


# --- tenants --------------------------------------------------------------------------------------


@ways
@insides
def test_tenants_of_one_builder_have_their_own_caps(inside: Inside, *, later: bool) -> None:
    """One builder, compiled with a checkpointer for each tenant, who have threads of one name."""
    ledger = Ledger()
    inner = inside(few("inner", 3), [ledger.pay("i")], acts("alice", *pays("i", 2)), saver=True)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Both)
    model = acts("boss", ask("research", question="why"), *pays("o", 1))
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    guard_tools(builder, few("outer", 1), [as_tool(inner), ledger.pay("o")])
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", going)
    builder.add_edge("tools", "model")
    tenants = [builder.compile(checkpointer=InMemorySaver()) for _ in range(2)]
    for expected in ("iio", "i"):
        for tenant in tenants:
            go(tenant, GO, later=later)
            assert ran(ledger) == expected


def going(state: Any) -> str:
    """To the tools, if the model wants some."""
    return "tools" if state["messages"][-1].tool_calls else "__end__"
