"""The private parts of LangGraph and LangChain that the adapters rest on, one test each.

The day a release changes one, its test says which.
"""

from __future__ import annotations

import asyncio
import dis
import inspect
import re
import threading
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, ToolRuntime, tool_node
from langgraph.types import Command, RetryPolicy

from sponsio_like.adapters.langgraph.proxy import proxy
from tests.adapters.scripted import Scripted
from tests.adapters.talks import older

newer = pytest.mark.skipif(older("langgraph", 1, 2), reason="LangGraph has had it since 1.2")
ON: Any = {"configurable": {"thread_id": "one"}}


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def _seen(nested: bool = False) -> tuple[dict[str, Any], Any]:
    """The configurable and the runtime of a node of a graph, which may run inside another one."""
    found: list[Any] = []

    def node(_: MessagesState, config: Any, runtime: Any) -> dict[str, Any]:
        found.append((config["configurable"], runtime))
        return {}

    node.__annotations__ |= _annotations()
    inner: Any = StateGraph(MessagesState)
    inner.add_node("node", node)
    inner.add_edge(START, "node")
    graph = inner.compile(checkpointer=None if nested else InMemorySaver())
    if nested:
        outer: Any = StateGraph(MessagesState)
        outer.add_node("inside", graph)
        outer.add_edge(START, "inside")
        graph = outer.compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": []}, ON)
    return found[0]  # type: ignore[no-any-return]  # it is a pair


def _annotations() -> dict[str, Any]:
    from langchain_core.runnables import RunnableConfig
    from langgraph.runtime import Runtime

    return {"config": RunnableConfig, "runtime": Runtime[Any]}


def test_a_node_reads_channels_by_its_config() -> None:
    """`__pregel_read` gives the value of one channel, and a map of several; `fresh` if asked."""
    configurable, _ = _seen()
    reader = configurable["__pregel_read"]
    assert reader("messages", False) == []
    assert reader(["messages"], True) == {"messages": []}


def test_a_node_knows_its_checkpointer_by_its_config() -> None:
    """`__pregel_checkpointer` is what saves the state."""
    configurable, _ = _seen()
    assert configurable["__pregel_checkpointer"].get_tuple(ON) is not None


def test_a_node_knows_where_it_runs() -> None:
    """`execution_info` names thread, checkpoint, task; the namespace of nested graphs has a `|`."""
    _, runtime = _seen()
    here = runtime.execution_info
    assert here.thread_id == "one"
    assert here.checkpoint_id
    assert here.task_id
    assert "|" not in here.checkpoint_ns


def test_a_nested_node_knows_the_step_of_the_outermost_graph() -> None:
    """`checkpoint_map` has the checkpoint of the namespace that is empty."""
    configurable, runtime = _seen(nested=True)
    assert "|" in runtime.execution_info.checkpoint_ns
    assert ":" in runtime.execution_info.checkpoint_ns.rpartition("|")[0]
    assert configurable["checkpoint_map"][""]


def test_a_node_of_tools_takes_one_call_with_its_state() -> None:
    """`ToolNode` takes `{"__type": "tool_call_with_context"}`, as its own `Send` gives it."""
    call = {"name": "pay", "args": {"amount": 1}, "id": "a", "type": "tool_call"}
    given: Any = {"__type": "tool_call_with_context", "tool_call": call, "state": {"messages": []}}
    builder: Any = StateGraph(MessagesState)
    node = ToolNode([pay])
    builder.add_node("node", lambda _: {"messages": node.invoke(given)["messages"]})
    builder.add_edge(START, "node")
    state = builder.compile().invoke({"messages": []})
    assert [each.text for each in state["messages"]] == ["paid 1"]


def test_a_node_of_tools_runs_its_calls_in_a_pool_that_is_made_by_name() -> None:
    """`ToolNode._func` asks `get_executor_for_config` for a pool, and only for its `map`."""
    code = ToolNode._func.__code__
    assert "get_executor_for_config" in code.co_names
    assert "map" in code.co_names
    assert not {"submit", "shutdown"} & {*code.co_names}
    assert code.co_freevars == ()
    assert hasattr(tool_node, "get_executor_for_config")


def test_a_node_of_tools_awaits_its_calls_by_gather_of_asyncio() -> None:
    """`ToolNode._afunc` asks `asyncio` for nothing else."""
    code = ToolNode._afunc.__code__
    asked = [each.argval for each in dis.get_instructions(code) if each.argval == "asyncio"]
    assert {"asyncio", "gather"} <= {*code.co_names}
    assert len(asked) == 1
    assert code.co_freevars == ()


def test_a_tool_reads_the_parameters_of_its_body_in_each_run() -> None:
    """It asks `signature` and `get_type_hints` for those of `_run`, which take what is known."""

    def known(tool: Any) -> Any:
        return inspect.signature(tool._run), get_type_hints(tool._run)

    quick = proxy(pay, cast("Any", object()))
    assert known(quick) == known(pay)
    body: Any = type(quick)._run
    assert body.__signature__ == inspect.signature(type(pay)._run)
    assert all(not isinstance(each, str) for each in body.__annotations__.values())


def test_a_builder_says_its_edges() -> None:
    """`edges`, `branches`, `waiting_edges`, `nodes` and `schemas` are data that can be replaced."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("a", lambda _: {})
    builder.add_node("b", lambda _: {})
    builder.add_edge(START, "a")
    builder.add_edge(["a", "b"], "b")
    builder.add_conditional_edges("a", lambda _: "b", ["b"])
    assert (START, "a") in builder.edges
    assert (("a", "b"), "b") in builder.waiting_edges
    (branch,) = builder.branches["a"].values()
    assert branch.ends == {"b": "b"}
    assert branch._replace(ends=None).path is branch.path
    assert "messages" in builder.schemas[MessagesState]
    assert "compile" not in vars(builder)


def test_a_compiled_graph_hides_what_it_is_told_to() -> None:
    """Tags of a node, and `stream_channels`, are read when the graph runs."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("a", lambda _: {"messages": [("ai", "hello")]})
    builder.add_edge(START, "a")
    graph = builder.compile()
    graph.nodes["a"].tags = ["langsmith:hidden"]
    assert list(graph.stream({"messages": []}, stream_mode="updates")) == []
    assert "messages" in graph.stream_channels


def test_the_runnables_of_nodes_are_where_they_were() -> None:
    """Nodes of both kinds, sync and async, are made by these two."""
    from langgraph._internal._config import recast_checkpoint_ns
    from langgraph._internal._runnable import RunnableCallable, coerce_to_runnable

    assert RunnableCallable(lambda _: 1, None, name="x", trace=False).invoke({}) == 1
    assert coerce_to_runnable(lambda _: 2, name="x", trace=False).invoke({}) == 2
    assert recast_checkpoint_ns("tools:1|call:2") == "tools|call"


def test_interrupts_and_handovers_have_one_argument() -> None:
    """`GraphInterrupt` has the interrupts, `ParentCommand` the command."""
    from langgraph.errors import GraphInterrupt, ParentCommand
    from langgraph.types import Command

    command: Command[Any] = Command(graph="above")
    assert ParentCommand(command).args == (command,)
    assert GraphInterrupt(()).args == ((),)


def test_a_tool_can_be_one_of_a_subclass_with_the_same_state() -> None:
    """The slots of pydantic are these, and a method of the class is found before none."""
    assert isinstance(pay, StructuredTool)
    made: Any = object.__new__(type("Made", (type(pay),), {"__module__": __name__}))
    slots = ("__dict__", "__pydantic_fields_set__", "__pydantic_private__", "__pydantic_extra__")
    for each in slots:
        object.__setattr__(made, each, getattr(pay, each))
    assert made.invoke({"amount": 2}) == "paid 2"


def test_a_hook_of_an_agent_is_a_node_of_its_name() -> None:
    """`<name>.after_model`, and tools run in `tools`, beside `model`."""

    class After(AgentMiddleware[Any, Any]):
        name = "ours"

        def after_model(self, *_: Any) -> None:
            return None

    script: list[Any] = ["done"]
    agent = create_agent(Scripted(script=lambda: script), [pay], middleware=[After()])
    assert {"model", "tools", "ours.after_model"} <= set(agent.nodes)
    assert isinstance(AIMessage("x").additional_kwargs, dict)


@newer
def test_a_handler_of_errors_finds_the_error_in_its_config() -> None:
    """`__pregel_node_error` has the error of the node that has failed."""
    found: list[Any] = []

    def handle(_: MessagesState, config: Any) -> Any:
        found.append(config["configurable"]["__pregel_node_error"].error)
        return Command(goto="__end__")

    def fail(_: MessagesState) -> Any:
        raise KeyError("no")

    handle.__annotations__ |= {"config": _annotations()["config"]}
    builder: Any = StateGraph(MessagesState)
    builder.set_node_defaults(error_handler=handle)
    builder.add_node("node", fail)
    builder.add_edge(START, "node")
    builder.compile().invoke({"messages": []})
    assert isinstance(found[0], KeyError)
    assert builder._node_defaults.error_handler is handle


def test_a_node_of_tools_knows_which_errors_a_handler_takes() -> None:
    """By the annotation of its first parameter; the words for others are a template."""

    def handle(error: ValueError) -> str:
        return str(error)

    handle.__annotations__ = {"error": ValueError, "return": str}
    assert tool_node._infer_handled_types(handle) == (ValueError,)
    assert "{error}" in tool_node.TOOL_CALL_ERROR_TEMPLATE


def test_a_second_call_by_one_node_is_counted() -> None:
    """The graph that a node calls again has a number in its place, and another memory there."""
    found: list[str] = []

    def node(_: MessagesState, runtime: Any) -> dict[str, Any]:
        found.append(runtime.execution_info.checkpoint_ns.rpartition("|")[0])
        return {}

    node.__annotations__ |= _annotations()
    inner: Any = StateGraph(MessagesState)
    inner.add_node("node", node)
    inner.add_edge(START, "node")
    graph = inner.compile(checkpointer=True)
    outer: Any = StateGraph(MessagesState)

    def twice(given: MessagesState) -> dict[str, Any]:
        graph.invoke(given)
        graph.invoke(given)
        return {}

    outer.add_node("twice", twice)
    outer.add_edge(START, "twice")
    outer.compile(checkpointer=InMemorySaver()).invoke({"messages": []}, ON)
    assert found == ["twice", "twice|1"]


def test_edges_are_writers_of_the_node_that_they_start_at() -> None:
    """The first writer of a compiled node writes the state; those behind it lead on."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("one", lambda _: None)
    builder.add_node("two", lambda _: None)
    builder.add_edge(START, "one")
    builder.add_conditional_edges("one", lambda _: "two", ["two"])
    graph = builder.compile(checkpointer=InMemorySaver())
    assert len(graph.nodes["one"].writers) == 2
    graph.attach_edge("one", "two")
    assert len(graph.nodes["one"].writers) == 3
    del graph.nodes["one"].writers[1:]
    graph.update_state(ON, {"messages": ["hello"]}, as_node="one")
    assert graph.get_state(ON).next == ()
    assert len(graph.get_state(ON).values["messages"]) == 1


def test_what_runs_of_a_node_can_be_given_to_it() -> None:
    """Of writers that are added later only `update_state` knows, which asks for `flat_writers`."""
    ran: list[str] = []
    builder: Any = StateGraph(MessagesState)
    builder.add_node("one", lambda _: ran.append("one"))
    builder.add_node("two", lambda _: ran.append("two"))
    builder.add_edge(START, "one")
    graph = builder.compile(checkpointer=InMemorySaver())
    node = graph.nodes["one"]
    vars(node)["node"] = node.bound | node.writers[0]
    graph.attach_edge("one", "two")
    graph.invoke({"messages": ["hello"]}, ON)
    assert ran == ["one"]
    graph.update_state(ON, {"messages": ["hello"]}, as_node="one")
    assert graph.get_state(ON).next == ("two",)


def test_an_edge_behind_a_node_reads_what_the_node_has_written_only_if_it_asks() -> None:
    """`__pregel_read` with `fresh` has the writes of this very task, and without it has not."""
    found: list[Any] = []

    def lead(_: MessagesState, config: Any) -> str:
        reader = config["configurable"]["__pregel_read"]
        found.append([len(reader("messages", fresh)) for fresh in (False, True)])
        return "two"

    lead.__annotations__ |= {"config": _annotations()["config"]}
    builder: Any = StateGraph(MessagesState)
    builder.add_node("one", lambda _: {"messages": [("ai", "hello")]})
    builder.add_node("two", lambda _: {})
    builder.add_edge(START, "one")
    builder.add_conditional_edges("one", lead, ["two"])
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": []}, ON)
    graph.update_state(ON, {"messages": [("user", "go on")]}, as_node="one")
    assert found == [[0, 1], [1, 2]]


def test_a_plain_function_of_a_runnable_runs_in_the_event_loop() -> None:
    """`RunnableCallable` of a function alone hands it to no thread, and tells no callback."""
    from langgraph._internal._runnable import RunnableCallable

    async def ran() -> bool:
        made: Any = RunnableCallable(lambda _: threading.get_ident(), trace=False)
        return bool(await made.ainvoke({}) == threading.get_ident())

    assert asyncio.run(ran())


def test_a_config_says_step_and_place_of_a_node_and_the_checkpoint_that_was_named() -> None:
    """`langgraph_step`, `checkpoint_ns`; `checkpoint_id` in the metadata, if the run names it."""
    found: list[Any] = []

    def node(_: MessagesState, config: Any) -> dict[str, Any]:
        found.append(config)
        return {"messages": [("ai", "hello")]}

    node.__annotations__ |= {"config": _annotations()["config"]}
    builder: Any = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": []}, ON)
    first = [*graph.get_state_history(ON)][-1].config
    graph.invoke(None, first)
    assert [type(each["metadata"]["langgraph_step"]) for each in found] == [int, int]
    assert all(each["configurable"]["checkpoint_ns"].startswith("node:") for each in found)
    assert ["checkpoint_id" in each["metadata"] for each in found] == [False, True]


def test_ids_of_checkpoints_are_in_the_order_in_which_they_were_made() -> None:
    """They are texts; a checkpoint of `update_state` says so; pending writes name their channel."""
    saver = InMemorySaver()
    builder: Any = StateGraph(MessagesState)
    builder.add_node("one", lambda _: {"messages": [("ai", "hello")]})
    builder.add_node("two", lambda _: {"messages": [("ai", "again")]})
    builder.add_edge(START, "one")
    builder.add_edge("one", "two")
    graph = builder.compile(checkpointer=saver, interrupt_before=["two"])
    graph.invoke({"messages": []}, ON)
    graph.update_state(ON, {"messages": [("user", "go on")]})
    made = [*saver.list(ON)]
    ids = [each.checkpoint["id"] for each in made]
    assert ids == sorted(ids, reverse=True)
    assert made[0].metadata["source"] == "update"
    writes = [write for each in made for write in each.pending_writes or ()]
    assert {"messages"} <= {channel for _, channel, _ in writes}
    assert "messages" in made[0].checkpoint["channel_values"]


def test_a_node_that_is_tried_again_says_so() -> None:
    """`execution_info.node_attempt` counts from one."""
    found: list[int] = []

    def node(_: MessagesState, runtime: Any) -> dict[str, Any]:
        found.append(runtime.execution_info.node_attempt)
        if len(found) == 1:
            raise OSError
        return {}

    node.__annotations__ |= {"runtime": _annotations()["runtime"]}
    builder: Any = StateGraph(MessagesState)
    again = RetryPolicy(initial_interval=0.0, retry_on=OSError)
    builder.add_node("node", node, retry_policy=again)
    builder.add_edge(START, "node")
    builder.compile(checkpointer=InMemorySaver()).invoke({"messages": []}, ON)
    assert found == [1, 2]


def test_a_compiled_graph_says_its_channels_and_the_bodies_of_its_nodes() -> None:
    """`channels` and `nodes`, each with `bound`: of a node of tools the `ToolNode`."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([pay]))
    builder.add_edge(START, "tools")
    graph = builder.compile()
    assert "messages" in graph.channels
    assert isinstance(graph.nodes["tools"].bound, ToolNode)
    assert graph.nodes["tools"].cache_policy is None


def test_a_node_of_a_builder_can_be_replaced() -> None:
    """What `add_node` keeps is a dataclass with these fields."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("node", lambda _: {})
    known = {each.name for each in fields(builder.nodes["node"])}
    assert {"runnable", "input_schema", "ends", "defer", "metadata", "retry_policy"} <= known


def test_a_tool_knows_which_arguments_the_host_gives() -> None:
    """`_injected_args_keys` names them; `tool_call_schema` has none that LangGraph gives."""

    @tool
    def look(of: str, state: Annotated[Any, InjectedState]) -> str:
        """Look."""
        return f"{of} {state}"

    def _listen(runtime: Any) -> str:
        """Listen."""
        return str(runtime)

    _listen.__annotations__ = {"runtime": ToolRuntime, "return": str}
    listen: Any = tool("listen")(_listen)
    assert set(look.tool_call_schema.model_fields) == {"of"}  # type: ignore[union-attr]
    assert "runtime" in listen._injected_args_keys


@pytest.mark.skipif(older("langchain", 1, 4), reason="before, it edits the message")
def test_a_person_who_edits_a_call_is_known_by_its_id() -> None:
    """`HumanInTheLoopMiddleware` keeps the edited calls of a step under this key."""
    from langchain.agents.middleware import human_in_the_loop

    from sponsio_like.adapters.langchain.turns import EDITS

    assert EDITS in inspect.getsource(human_in_the_loop)


# --- the table ------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs/adapters/langgraph.md").read_text("utf-8").split("## Private parts", 1)[1]
PRIVATE = re.compile(r"__pregel_\w+|langgraph\._internal\.\w+|__pydantic_\w+|_node_defaults"
                     r"|_infer_handled_types|_injected_args_keys|TOOL_CALL_ERROR_TEMPLATE"
                     r"|checkpoint_map|checkpoint_ns|langgraph_step|execution_info|node_attempt"
                     r"|stream_channels|\.writers|attach_edge|waiting_edges|\.branches\b|\.schemas\b"
                     r"|hitl_edited_tool_calls|tool_call_with_context|\.bound\b"
                     r"|get_executor_for_config")  # fmt: skip


def test_the_table_names_each_private_part_that_the_adapters_use() -> None:
    """Whatever of these the code says stands in the table; and nothing of an `_internal` module."""
    code = "".join(
        each.read_text("utf-8") for each in (ROOT / "sponsio_like/adapters").rglob("*.py")
    )
    used = {each.strip(".") for each in PRIVATE.findall(code)}
    assert {each for each in used if each not in TABLE} == set()
    assert len(re.findall(r"langgraph\.pregel", code)) == 0


def test_the_table_names_each_guard_and_each_guard_is_there() -> None:
    """A row says which test fails when a release changes the part; every test has a row."""
    rows = set(re.findall(r"`(test_\w+)`", TABLE))
    mine = {name for name in globals() if name.startswith("test_") and "_table_" not in name}
    assert rows == mine
