"""Traces of other tools are read as they are, and replayed like our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import TraceError
from sponsio_like.traces import CallEvent, MessageEvent, ResultEvent, Trace, read_traces

CALL = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"amount": 5}'}}
CHAT = {
    "messages": [
        {"role": "developer", "content": "be polite"},
        {"role": "user", "content": [{"type": "text", "text": "pay!"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "paid"},
        {"role": "assistant", "content": "done"},
    ]
}
CLAUDE: list[dict[str, Any]] = [
    {"type": "summary", "summary": "Paying", "leafUuid": "1"},
    {"type": "user", "sessionId": "s", "timestamp": "2026-11-23T08:00:00.000Z",
     "message": {"role": "user", "content": "pay!"}},
    {"type": "assistant", "sessionId": "s", "timestamp": "2026-11-23T08:00:01.000Z",
     "message": {"role": "assistant", "content": [
         {"type": "text", "text": "I pay."},
         {"type": "tool_use", "id": "c1", "name": "pay", "input": {"amount": 5}}]}},
    {"type": "user", "sessionId": "s", "timestamp": "2026-11-23T08:00:02.000Z",
     "message": {"role": "user", "content": [
         {"type": "tool_result", "tool_use_id": "c1", "is_error": True,
          "content": [{"type": "text", "text": "no money"}]}]}},
]  # fmt: skip


def span(tool: str | None, start: int, **more: Any) -> dict[str, Any]:
    """A span of a tool, as OTLP has it in JSON."""
    each: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        **more,
    }
    attributes = [{"key": k, "value": {"stringValue": v}} for k, v in each.items() if v is not None]
    return {"traceId": "t", "startTimeUnixNano": str(start * 10**9), "attributes": attributes}


def spans(*each: dict[str, Any]) -> dict[str, Any]:
    """An export with these spans."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(each)}]}]}


def read(path: Path, *lines: Any) -> list[Trace]:
    """The traces of a file with these lines."""
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return list(read_traces(path))


def told(trace: Trace) -> list[tuple[Any, ...]]:
    """The events of a trace, briefly."""
    out: list[tuple[Any, ...]] = []
    for event in trace.events:
        match event:
            case CallEvent(call, result):
                out.append((call.tool, dict(call.args), result and result.status))
            case ResultEvent(_, result, _):
                out.append((result.status, result.output))
            case MessageEvent(message, _):
                out.append((message.role, message.text))
    return out


def test_chats_are_read(tmp_path: Path) -> None:
    """A chat a line: messages, calls with their arguments as text, and results by their ids."""
    one, two = read(tmp_path / "t", CHAT, {**CHAT, "id": "x"})
    assert told(one) == [
        ("system", "be polite"),
        ("user", "pay!"),
        ("pay", {"amount": 5}, None),
        ("ok", "paid"),
        ("assistant", "done"),
    ]
    assert two.id == "x"


def test_session_logs_of_claude_code_are_read(tmp_path: Path) -> None:
    """One session each, with times; a result that is an error is one."""
    (trace,) = read(tmp_path / "t", *CLAUDE)
    assert trace.id == "s"
    assert told(trace) == [
        ("user", "pay!"),
        ("assistant", "I pay."),
        ("pay", {"amount": 5}, None),
        ("error", "no money"),
    ]
    times = [each.call.time for each in trace.events if isinstance(each, CallEvent)]
    assert times == [1795420801.0]


def test_spans_are_read(tmp_path: Path) -> None:
    """Spans of tools are calls, in the order in which they began; other spans are none."""
    more = {"gen_ai.tool.call.arguments": '{"amount": 5}', "gen_ai.tool.call.result": "paid"}
    failed = {**span("pay", 3), "status": {"code": 2}}
    chat = span(None, 1, **{"gen_ai.operation.name": "chat"})
    (trace,) = read(tmp_path / "t", spans(failed, chat), spans(span("pay", 2, **more)))
    assert told(trace) == [("pay", {"amount": 5}, "ok"), ("pay", {}, "error")]


def test_runs_are_read(tmp_path: Path) -> None:
    """Runs of tools are calls of their trace, in order; chains and models are none."""
    run = {"run_type": "tool", "trace_id": "t", "name": "pay", "inputs": {"amount": 5},
           "outputs": {"output": "paid"}, "error": None,
           "start_time": "2026-11-23T08:00:02"}  # fmt: skip
    first = {**run, "start_time": "2026-11-23T08:00:01", "inputs": {"input": "{'amount': 4}"}}
    chain = {"run_type": "chain", "trace_id": "t", "inputs": {}, "outputs": {}}
    wrong = {**run, "trace_id": "u", "error": "no money", "outputs": None}
    one, two = read(tmp_path / "t", chain, run, first, wrong)
    assert told(one) == [("pay", {"amount": 4}, "ok"), ("pay", {"amount": 5}, "ok")]
    assert told(two) == [("pay", {"amount": 5}, "error")]


@pytest.mark.parametrize(
    ("line", "needs"),
    [
        ({"messages": [{"content": "x"}]}, "message 0: a message needs `role`"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "needs `tool_call_id`"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "needs `function`"),
        ({"type": "user", "sessionId": "s"}, "needs `message`"),
        (
            {"type": "user", "sessionId": "s", "message": {"content": [{"type": "tool_use"}]}},
            "cannot be read",
        ),
        (spans(span(None, 1)), "needs `gen_ai.tool.name`"),
        ({"run_type": "tool", "inputs": {}}, "a run of a tool needs `name`"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, line: Any, needs: str) -> None:
    """A shape that is not known is said, with its place and what was expected."""
    with pytest.raises(TraceError, match=needs):
        read(tmp_path / "t", line)


def test_a_file_without_a_single_call_or_message_is_refused(tmp_path: Path) -> None:
    """A trace of nothing would keep every contract."""
    with pytest.raises(TraceError, match="no traces"):
        read(tmp_path / "t", {"run_type": "chain", "inputs": {}})


FILES = Path(__file__).parent / "files"
REFUND = ("issue_refund", {"order": 17, "amount": 40})
FOUND = ("find_order", {"order": 17})


def test_a_chat_that_langchain_has_written_is_read() -> None:
    """The file of another tool, as it is."""
    (trace,) = read_traces(FILES / "openai_chat.jsonl")
    assert told(trace) == [
        ("user", "please refund order 17"),
        (*FOUND, None),
        ("ok", "order 17: 40 euros, open"),
        ("assistant", "I refund it."),
        (*REFUND, None),
        ("ok", "paid"),
        ("assistant", "Your 40 euros are on their way."),
    ]


def test_spans_that_opentelemetry_has_written_are_read() -> None:
    """The spans of the model and of the agent are left out."""
    (trace,) = read_traces(FILES / "otlp.jsonl")
    much = ("issue_refund", {"order": 17, "amount": 900}, "error")
    assert told(trace) == [(*FOUND, "ok"), much, (*REFUND, "ok")]


def test_runs_that_langsmith_has_written_are_read() -> None:
    """An output is what the tool has said, not the message that it came in."""
    (trace,) = read_traces(FILES / "langsmith.jsonl")
    assert told(trace) == [(*FOUND, "ok"), (*REFUND, "ok")]
    calls = [each for each in trace.events if isinstance(each, CallEvent)]
    assert [each.result and each.result.output for each in calls] == [
        "order 17: 40 euros, open",
        "paid",
    ]


def test_sessions_that_claude_code_has_written_are_read() -> None:
    """Three sessions in one file, whose first lines name none: calls, results and messages."""
    found = {each.id[:4]: told(each) for each in read_traces(FILES / "claude_code.jsonl")}
    assert {name: [each[0] for each in events] for name, events in found.items()} == {
        "858d": ["LS", "ok"],
        "b256": ["user", "assistant", "Grep", "ok", "ExitPlanMode", "ok", "TodoWrite", "ok",
                 "Edit", "error", "Read", "ok"],
        "7acd": ["BashOutput", "ok", "KillShell", "ok", "error"],
    }  # fmt: skip
    assert found["7acd"][2] == ("KillShell", {"shell_id": "dce0af"}, None)
    assert found["b256"][9][1].startswith("<tool_use_error>File has not been read yet.")


def test_a_run_whose_message_is_an_error_is_one(tmp_path: Path) -> None:
    """A tool whose errors are handled has no error of its own, but a message that says so."""
    said = {"type": "tool", "content": "no money", "status": "error"}
    run = {"run_type": "tool", "name": "pay", "inputs": {}, "outputs": {"output": said}}
    (trace,) = read(tmp_path / "t", run)
    assert told(trace) == [("pay", {}, "error")]
