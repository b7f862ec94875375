"""Checkpoints that LangGraph itself has written are read as traces."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from sponsio_like import TraceError
from sponsio_like.traces import CallEvent, MessageEvent, ResultEvent, Trace, read_traces


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    if amount > 10:
        raise ValueError("too much")
    return f"paid {amount}"


def asking(amount: int, id: str) -> AIMessage:
    """A message of the model that pays."""
    return AIMessage("", tool_calls=[{"name": "pay", "args": {"amount": amount}, "id": id}])


def graph(saver: SqliteSaver, said: Sequence[AnyMessage]) -> Any:
    """A graph whose model says this, one message after the other."""
    script = iter(said)
    builder: Any = StateGraph(MessagesState)
    builder.add_node("model", lambda _: {"messages": [next(script)]})
    builder.add_node("tools", ToolNode([pay], handle_tool_errors=True))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=saver)


def thread(name: str) -> Any:
    """The config of a thread."""
    return {"configurable": {"thread_id": name}}


def told(trace: Trace) -> list[Any]:
    """The events of a trace, briefly."""
    out: list[Any] = []
    for event in trace.events:
        match event:
            case CallEvent(call, _):
                out.append((call.tool, call.args["amount"]))
            case ResultEvent(_, result, _):
                out.append(result.status)
            case MessageEvent(message, _):
                out.append((message.role, message.text))
    return out


def test_a_thread_is_a_session(tmp_path: Path) -> None:
    """Messages, calls and results in their order, with the times of the checkpoints."""
    path = tmp_path / "state.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        made = graph(saver, [asking(5, "a"), AIMessage("done"), asking(50, "b"), AIMessage("no")])
        made.invoke({"messages": [HumanMessage("pay 5")]}, thread("one"))
        made.invoke({"messages": [HumanMessage("pay 50")]}, thread("two"))
    one, two = read_traces(path)
    assert (one.id, two.id) == ("one", "two")
    assert told(one) == [("user", "pay 5"), ("pay", 5), "ok", ("assistant", "done")]
    assert told(two) == [("user", "pay 50"), ("pay", 50), "error", ("assistant", "no")]
    times = [each.call.time for each in one.events if isinstance(each, CallEvent)]
    assert times[0] > 1.7e9


def test_a_call_whose_message_was_removed_is_read(tmp_path: Path) -> None:
    """A state that is cut to be short does not hide what was done."""
    path = tmp_path / "state.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        made = graph(saver, [asking(5, "a"), AIMessage("done", id="last")])
        made.invoke({"messages": [HumanMessage("pay 5")]}, thread("one"))
        kept = made.get_state(thread("one")).values["messages"]
        removed = [RemoveMessage(each.id) for each in kept[:-1]]
        made.update_state(thread("one"), {"messages": removed}, as_node="model")
        assert len(made.get_state(thread("one")).values["messages"]) == 1
    (trace,) = read_traces(path)
    assert told(trace) == [("user", "pay 5"), ("pay", 5), "ok", ("assistant", "done")]


def test_a_fork_that_was_left_is_not_read(tmp_path: Path) -> None:
    """The trace is what led to the latest state."""
    path = tmp_path / "state.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        made = graph(saver, [asking(5, "a"), AIMessage("done"), asking(7, "b"), AIMessage("again")])
        made.invoke({"messages": [HumanMessage("pay")]}, thread("one"))
        first = [each for each in made.get_state_history(thread("one")) if each.next == ("model",)]
        made.invoke(None, first[-1].config)
    (trace,) = read_traces(path)
    assert told(trace) == [("user", "pay"), ("pay", 7), "ok", ("assistant", "again")]


def test_reading_writes_nothing(tmp_path: Path) -> None:
    """The file is opened to be read, and has the same bytes afterwards."""
    path = tmp_path / "state.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph(saver, [AIMessage("hello")]).invoke({"messages": [HumanMessage("hi")]}, thread("one"))
    before = path.read_bytes()
    assert len(list(read_traces(path))) == 1
    assert path.read_bytes() == before


def test_another_file_of_sqlite_is_refused(tmp_path: Path) -> None:
    """It is said which tables were expected."""
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as file:
        file.execute("create table notes (text)")
    with pytest.raises(TraceError, match="expected the tables `checkpoints` and `writes`"):
        list(read_traces(path))


def test_a_file_without_threads_is_refused(tmp_path: Path) -> None:
    """A trace of nothing would keep every contract."""
    path = tmp_path / "state.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        saver.setup()
    with pytest.raises(TraceError, match="looks like checkpoints of LangGraph, without calls"):
        list(read_traces(path))


def test_without_langgraph_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no part of the library."""
    path = tmp_path / "state.sqlite"
    with sqlite3.connect(path) as file:
        file.execute("create table checkpoints (thread_id)")
    monkeypatch.setitem(sys.modules, "langgraph.checkpoint.sqlite", None)
    with pytest.raises(TraceError, match="pip install langgraph-checkpoint-sqlite"):
        list(read_traces(path))
