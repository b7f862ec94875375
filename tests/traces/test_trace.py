"""Trace files are read as they are found, or refused with the place of the mistake."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from sponsio_like.errors import TraceError
from sponsio_like.event_types import Call, Message, Result, Step
from sponsio_like.traces import read_traces
from sponsio_like.traces.trace import (
    CallEvent,
    FactEvent,
    MessageEvent,
    ResultEvent,
    StepEvent,
    Trace,
    trace_of,
)


def of(*events: Any) -> Trace:
    """A trace of these events."""
    return trace_of({"id": "t", "events": list(events)}, "f:1")


def file_of(folder: Path, *lines: str, name: str = "t.jsonl") -> Path:
    """A trace file of these lines."""
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def test_of_a_call_only_the_tool_is_required() -> None:
    """No arguments, agent `agent`, depth 0, its position as id, settled at once, ok."""
    assert of({"tool": "a"}, {"tool": "b"}).events == (
        CallEvent(Call("a", {}, "0", "agent", 0, 0.0), Result("ok")),
        CallEvent(Call("b", {}, "1", "agent", 0, 1.0), Result("ok")),
    )


def test_every_type_of_event_is_read() -> None:
    """A trace has calls, results, messages, facts and steps."""
    trace = of(
        {"type": "call", "tool": "a", "args": {"x": 1}, "id": "c", "agent": "bob", "depth": 2},
        {"type": "result", "id": "c", "status": "error", "output": "no"},
        {"type": "message", "role": "user", "text": "hi", "usage": {"total_tokens": 12}},
        {"type": "fact", "key": "stage", "value": "review"},
        {"type": "step", "atoms": ["open"]},
    )
    assert trace.events == (
        CallEvent(Call("a", {"x": 1}, "c", "bob", 2, 0.0), None),
        ResultEvent("c", Result("error", "no"), 1.0),
        MessageEvent(Message("user", "hi", 2.0), {"total_tokens": 12}),
        FactEvent("stage", "review", 3.0),
        StepEvent(Step(frozenset({"open"}), 4.0)),
    )
    assert trace.calls == 1


def test_without_a_time_an_event_is_a_second_after_the_one_before() -> None:
    """No `time`: one second after the event before; the first is at 0."""
    trace = of({"tool": "a"}, {"tool": "b", "time": 10}, {"tool": "c"}, {"tool": "d", "time": 10.5})
    assert [e.call.time for e in trace.events if isinstance(e, CallEvent)] == [
        0.0,
        10.0,
        11.0,
        10.5,
    ]


def test_a_call_is_in_flight_only_while_a_later_result_is_to_come() -> None:
    """A call with a status, or without a later result, is settled at once."""
    trace = of(
        {"type": "result", "id": "late"},
        {"tool": "a", "id": "late"},
        {"tool": "b", "id": "x", "status": "error", "output": "e"},
        {"tool": "c", "id": "y"},
        {"type": "result", "id": "x"},
        {"type": "result", "id": "y"},
    )
    called = [event for event in trace.events if isinstance(event, CallEvent)]
    assert [each.result for each in called] == [Result("ok"), Result("error", "e"), None]


def test_a_result_may_name_a_call_by_its_position() -> None:
    """The id of a call without one is its position, written as a number or a text."""
    trace = of({"tool": "a"}, {"tool": "b"}, {"type": "result", "id": 1, "status": "error"})
    assert [e.result for e in trace.events if isinstance(e, CallEvent)] == [Result("ok"), None]
    assert isinstance(trace.events[2], ResultEvent)
    assert trace.events[2].id == "1"


def test_ids_that_are_made_do_not_collide_with_ids_that_are_given() -> None:
    """A call without an id never gets the id of another call."""
    trace = of({"tool": "a", "id": "1"}, {"tool": "b"})
    ids = [event.call.id for event in trace.events if isinstance(event, CallEvent)]
    assert len(set(ids)) == 2


@pytest.mark.parametrize(
    ("args", "read"),
    [
        (None, {}),
        ('{"x": 1}', {"x": 1}),
        ("rm -rf /", {"_raw": "rm -rf /"}),
        ("[1]", {"_raw": "[1]"}),
        ({"command": ["ls", "-l"]}, {"command": ["ls", "-l"]}),
        ({"command": {"cmd": "ls"}}, {"command": {"cmd": "ls"}}),
    ],
)
def test_arguments_that_are_no_object_are_kept(args: Any, read: Any) -> None:
    """Arguments that are not a JSON object are kept under `_raw`, not lost and not an error."""
    (event,) = of({"tool": "bash", "args": args}).events
    assert isinstance(event, CallEvent)
    assert event.call.args == read


@pytest.mark.parametrize("tool", ["", "bash<|channel|>commentary", "\x1b[31m", "\ud800"])
def test_any_text_is_a_tools_name(tool: str) -> None:
    """Real traces have tools with odd names, or none at all."""
    (event,) = of({"tool": tool}).events
    assert isinstance(event, CallEvent)
    assert event.call.tool == tool


def test_a_session_without_events_is_a_trace() -> None:
    """Nothing happened, and that is read as such."""
    assert of() == Trace("t", (), frozenset({"results", "time", "finish", "tool_names"}), {}, "f:1")


def test_unknown_fields_are_kept_aside() -> None:
    """Fields that are not of the format are ignored; those of the line can be asked for."""
    event = {"tool": "a", "args": {}, "origin": "user"}
    trace = trace_of({"id": "t", "label": {"x": 1}, "events": [event]})
    assert trace.fields == {"label": {"x": 1}}


@pytest.mark.parametrize(
    ("event", "delivered"),
    [
        ({"tool": "a"}, set()),
        ({"tool": "a", "agent": "bob"}, {"agents"}),
        ({"tool": "a", "depth": 0}, {"depth"}),
        ({"type": "message", "role": "user"}, {"messages"}),
        (
            {"type": "message", "role": "user", "usage": {"total_tokens": 1}},
            {"messages", "usage"},
        ),
        ({"type": "fact", "key": "k"}, {"facts"}),
        ({"type": "step", "atoms": []}, set()),
    ],
)
def test_a_trace_delivers_the_inputs_that_its_events_show(
    event: dict[str, Any], delivered: set[str]
) -> None:
    """Results and times are always delivered; the rest only if an event of the trace has it."""
    assert of(event).inputs == {"results", "time", "finish", "tool_names"} | delivered


@pytest.mark.parametrize(
    ("event", "what"),
    [
        (1, "it must be a JSON object"),
        ({}, "a call needs `tool`"),
        ({"tool": 1}, "`tool` must be a text, not 1"),
        (
            {"tool": "a", "status": "success"},
            "`status` is `success`; write `ok`, `error` or `refused`",
        ),
        ({"tool": "a", "time": "now"}, "`time` must be a number of seconds"),
        ({"tool": "a", "time": float("nan")}, "`time` must be a number of seconds"),
        ({"tool": "a", "depth": "1"}, "`depth` must be a whole number"),
        ({"tool": "a", "agent": []}, "`agent` must be a text"),
        ({"type": "messages", "role": "user"}, "unknown type `messages`; did you mean `message`?"),
        ({"type": "message"}, "a message needs `role`"),
        ({"type": "message", "role": "user", "usage": 5}, "`usage` must be like"),
        ({"type": "result"}, "a result needs `id`"),
        ({"type": "fact"}, "a fact needs `key`"),
        ({"type": "step", "atoms": "x"}, "a step needs `atoms`"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(event: Any, what: str) -> None:
    """A mistake in an event is told with file, line and the number of the event."""
    with pytest.raises(TraceError) as error:
        of({"tool": "a"}, event)
    assert str(error.value).startswith(f"f:1: event 1: {what}")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{", "not a line of JSON: "),
        ("nonsense", "not a line of JSON: expecting value at column 1"),
        ("[]", "a line must be a JSON object"),
        ("{}", "a trace needs `events`, a list"),
        ('{"events": {}}', "a trace needs `events`, a list"),
        ('{"events": [' + "[" * 100_000, "the JSON is nested too deeply"),
        ('{"events": [], "x": ' + "9" * 5_000 + "}", "not a line of JSON: "),
    ],
)
def test_a_line_that_is_no_trace_is_refused(line: str, what: str, tmp_path: Path) -> None:
    """What is not a trace is told with file and line; empty lines count but are skipped."""
    path = file_of(tmp_path, '{"id": "a", "events": []}', "", line)
    with pytest.raises(TraceError) as error:
        list(read_traces(path))
    assert str(error.value).startswith(f"{path}:3: {what}")


def test_a_line_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """Bytes that are no text are a located error."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"id": "\xff", "events": []}\n')
    with pytest.raises(TraceError, match=r"t\.jsonl:1: not a line of JSON: it is not UTF-8"):
        list(read_traces(path))


def test_a_trace_without_an_id_is_named_by_its_place(tmp_path: Path) -> None:
    """Without an id a trace is called by file and line."""
    path = file_of(tmp_path, '{"events": []}', '{"id": 7, "events": []}')
    assert [trace.id for trace in read_traces(path)] == [f"{path}:1", "7"]


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.jsonl"])
def test_gzip_is_recognised_by_its_content(name: str, tmp_path: Path) -> None:
    """A file is unpacked if it is gzip, whatever it is called."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(b'{"id": "a", "events": []}\n'))
    assert [trace.id for trace in read_traces(path)] == ["a"]


def test_a_damaged_gzip_file_is_refused_where_it_breaks(tmp_path: Path) -> None:
    """What is whole is read; then comes a located error."""
    line = json.dumps({"id": "a", "events": [{"tool": str(i)} for i in range(2_000)]}) + "\n"
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(line.encode() * 10)[:-500])
    with pytest.raises(TraceError, match=r"t\.jsonl\.gz:\d+: the gzip data is damaged"):
        list(read_traces(path))


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_opened_is_refused(name: str, tmp_path: Path) -> None:
    """A missing file, or a folder, is an error in words."""
    with pytest.raises(TraceError, match="cannot be read: "):
        list(read_traces(tmp_path / name))


def test_traces_are_read_one_by_one(tmp_path: Path) -> None:
    """The first trace is there before the rest of the file is looked at."""
    path = file_of(tmp_path, '{"id": "a", "events": []}', "nonsense")
    seen: list[int] = []
    traces = read_traces(path, seen.append)
    assert next(traces).id == "a"
    assert seen
    with pytest.raises(TraceError):
        next(traces)
