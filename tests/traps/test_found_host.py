"""What the host does wrong without knowing: a log that loses everything, a second budget, a file
of another format, a replay that stops nothing, a contract that never applies.
"""

from __future__ import annotations

import io
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import ContractError, Guard, atom, contract
from sponsio_like.errors import TraceError
from sponsio_like.log import json_log, read_log
from sponsio_like.trace import Trace, trace_of
from tests.manifest import requirement

FEW = contract("few").guarantees("tool `pay` at most 1 times")


def paid_twice(log: Any, **options: Any) -> None:
    """A session with a payment, and a second one, which is blocked."""
    session = Guard([FEW], log=log, **options).session("s")
    session.decide("pay", {"to": "bob"}, id="a")
    session.settle("a")
    session.decide("pay", {"to": "eve"}, id="b")


# --- where the log goes ---------------------------------------------------------------------------

RECORDS = ["decision", "settlement", "decision"]


def events(records: list[dict[str, Any]]) -> list[str]:
    """What the records of a session are."""
    return [each["event"] for each in records if each["event"] in RECORDS]


@requirement("S-LOG-03")
@pytest.mark.parametrize("made", [str, Path])
def test_a_path_is_a_log(tmp_path: Path, made: Any) -> None:
    """A guard whose log is a path appends a line of JSON to that file for each record."""
    path = tmp_path / "log.jsonl"
    for _ in range(2):
        paid_twice(made(path))
    assert events([line.value for line in read_log(path)]) == 2 * RECORDS


@requirement("S-LOG-03")
def test_a_logger_of_the_standard_library_is_a_log(caplog: pytest.LogCaptureFixture) -> None:
    """A standard logger gets each record as JSON; what was blocked is a warning, else information.

    Handlers find the record itself at `sponsio_like`.
    """
    with caplog.at_level(logging.INFO, logger="host"):
        paid_twice(logging.getLogger("host"))
    mine = [each for each in caplog.records if each.name == "host"]
    assert events([json.loads(each.getMessage()) for each in mine]) == RECORDS
    assert events([getattr(each, "sponsio_like") for each in mine]) == RECORDS  # noqa: B009
    assert [each.levelname for each in mine][-3:] == ["INFO", "INFO", "WARNING"]


class Structured:
    """A logger like structlog's: an event and fields; methods are found when they are asked for."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str, dict[str, Any]]] = []

    def bind(self, **fields: Any) -> Structured:
        return self

    def __getattr__(self, level: str) -> Any:
        if level not in ("info", "warning", "error"):
            raise AttributeError(level)
        return lambda event, **fields: self.said.append((level, event, fields))


@requirement("S-LOG-03")
def test_a_structured_logger_is_a_log() -> None:
    """A logger like structlog's gets the event, and all else as fields."""
    log = Structured()
    paid_twice(log)
    last = log.said[-3:]
    assert [(level, event) for level, event, _ in last] == [
        ("info", "decision"),
        ("info", "settlement"),
        ("warning", "decision"),
    ]
    assert last[2][2]["outcome"] == "blocked"
    assert last[2][2]["session"] == "s"


def test_a_logger_of_structlog_is_a_log() -> None:
    """Structlog's own loggers, bound or not, are logs."""
    structlog = pytest.importorskip("structlog")
    stream = io.StringIO()
    made = structlog.wrap_logger(
        structlog.PrintLogger(stream), processors=[structlog.processors.JSONRenderer()]
    )
    for log in (made, made.bind(app="a")):
        paid_twice(log)
    assert events([json.loads(line) for line in stream.getvalue().splitlines()]) == 2 * RECORDS


@requirement("S-LOG-04")
def test_a_decision_that_failed_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    """A logger is told of an atom or a clock that raises as of an error, and of a call as usual."""

    @atom(name="host_raises")
    def host_raises(event: Any, context: Any) -> bool:
        raise ValueError

    broken = contract("broken").guarantees({"ltl": "G(called(pay) -> host_raises())"})
    log = Structured()
    Guard([broken], log=log).session().decide("pay")

    def late() -> float:
        raise OSError

    Guard([FEW], log=log).session(clock=late).decide("pay")
    said = [(level, event) for level, event, _ in log.said if event == "decision"]
    assert said == [("error", "decision")] * 2


async def awaited(record: Any) -> None:
    """A coroutine function, which nobody would await."""


@requirement("S-LOG-05")
@pytest.mark.parametrize(
    "log",
    [5, "", {}, [], b"log.jsonl", io.StringIO(), object(), awaited, lambda: None, True],
    ids=[
        *("number", "nothing", "object", "list", "bytes", "stream", "any object", "coroutine"),
        *("function of nothing", "truth value"),
    ],
)
def test_what_cannot_be_a_log_is_refused_when_the_guard_is_made(log: Any) -> None:
    """A log that would lose its records is an error of the guard, with what to write."""
    with pytest.raises(ContractError, match="log="):
        Guard([FEW], log=log)


@requirement("S-LOG-05")
def test_a_log_that_cannot_be_opened_is_refused_when_the_guard_is_made(tmp_path: Path) -> None:
    """A path in a folder that is not there, or that is a folder, is an error of the guard."""
    with pytest.raises(ContractError, match=r"missing.x.jsonl` cannot be opened: no such file"):
        Guard([FEW], log=tmp_path / "missing" / "x.jsonl")
    with pytest.raises(ContractError, match="cannot be opened: is a directory"):
        Guard([FEW], log=str(tmp_path))


def test_any_function_of_a_record_is_a_log() -> None:
    """A method of a list, a log of JSON lines and a function with options are taken."""
    records: list[Any] = []
    stream = io.StringIO()
    for log in (records.append, json_log(stream), lambda record, extra=1: records.append(record)):
        paid_twice(log)
    assert events(records) == 2 * RECORDS
    assert stream.getvalue().count("decision") == 2


# --- traces of other formats ----------------------------------------------------------------------

CALL = {"tool": "pay", "args": {"to": "bob"}, "output": "paid"}
ARGS = [
    *("input", "arguments", "tool_input", "parameters", "params", "kwargs", "toolInput"),
    *("tool_args", "action_input", "inputs"),
]
OUTPUTS = ["result", "response", "tool_output", "observation", "toolOutput", "tool_response"]


def read_one(event: dict[str, Any]) -> Trace:
    """The trace of one event."""
    return trace_of({"events": [event]}, "file:1")


@requirement("S-REPLAY-08")
@pytest.mark.parametrize("name", ARGS)
@pytest.mark.parametrize("value", [{"to": "eve"}, '{"to": "eve"}', {}])
def test_what_other_formats_call_arguments_is_refused(name: str, value: Any) -> None:
    """A call with its arguments under another name is refused, and never an empty call."""
    with pytest.raises(TraceError, match=f"event 0: `{name}` would not be read; write `args`"):
        read_one({"tool": "pay", name: value})


@requirement("S-REPLAY-08")
@pytest.mark.parametrize("name", OUTPUTS)
def test_what_other_formats_call_results_is_refused(name: str) -> None:
    """A call or a result with its output under another name is refused with the right one."""
    for event in ({"tool": "pay", "args": {}, name: "no"}, {"type": "result", "id": "0", name: 1}):
        with pytest.raises(TraceError, match=f"event 0: `{name}` would not be read; write `outp"):
            read_one(event)


@requirement("S-REPLAY-08")
@pytest.mark.parametrize(
    ("event", "what"),
    [
        ({"name": "pay", "args": {}}, "`name` would not be read; write `tool`"),
        ({"tool_name": "pay"}, "`tool_name` would not be read; write `tool`"),
        ({"tool": "pay", "error": "boom"}, '`error` would not be read; write `"status": "error'),
        ({"tool": "pay", "is_error": True}, "`is_error` would not be read"),
        ({"type": "result", "tool_call_id": "1"}, "`tool_call_id` would not be read; write `id`"),
        ({"type": "message", "role": "user", "content": "hi"}, "write `text`"),
        ({"type": "message", "role": "a", "tool_calls": [{}]}, "write each call as an event"),
        ({"role": "assistant", "tool_calls": [{}]}, "write each call as an event"),
        ({"type": "tool_use", "name": "pay", "input": {}}, "unknown type `tool_use`; write `call`"),
        ({"type": "tool_result"}, "unknown type `tool_result`; write `result`"),
        ({"type": "assistant"}, "unknown type `assistant`; write `message`"),
        ({"type": "mesage"}, "unknown type `mesage`; did you mean `message`?"),
    ],
)
def test_what_other_formats_call_tools_failures_and_texts_is_refused(
    event: dict[str, Any], what: str
) -> None:
    """Names, failures, texts and calls that would be lost are refused with what to write."""
    with pytest.raises(TraceError, match=re.escape(what)):
        read_one(event)


@requirement("S-REPLAY-08")
def test_other_fields_are_carried_along() -> None:
    """What is beside the right field, or says nothing, is nobody's mistake."""
    for more in ({"input": 1, "result": 2}, {"error": None}, {"origin": "user", "no_result": True}):
        assert read_one({**CALL, **more}).calls == 1
    assert read_one({"type": "message", "role": "a", "text": "", "tool_calls": []}).events


@requirement("S-REPLAY-09")
@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ({"messages": [{"role": "user", "content": "hi"}]}, "this looks like a chat"),
        ({"model": "m", "choices": []}, "this looks like a chat"),
        ({"role": "assistant", "tool_calls": []}, "this looks like a message of a chat"),
        ({"type": "user", "message": {"role": "user"}}, "this looks like a message of a chat"),
        ({"run_type": "chain", "inputs": {}}, "this looks like a run of a tracing service"),
        ({"resourceSpans": []}, "this looks like spans of a tracing service"),
        ({"tool": "pay", "args": {}}, "this looks like an event by itself"),
        ({"event": "decision", "timestamp": ""}, "this looks like a decision log"),
        ({"id": "1", "trajectory": [{}]}, "`trajectory` is a list: are these its events?"),
    ],
)
def test_a_line_of_another_format_is_told(line: dict[str, Any], seen: str) -> None:
    """A line without `events` is refused with what was expected, and what it looks like."""
    with pytest.raises(TraceError, match=r"^file:1: a trace needs `events`, a list, as in \{") as e:
        trace_of(line, "file:1")
    assert seen in str(e.value)
