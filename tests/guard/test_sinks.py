"""What `log=` is given never delays a decision: what may be slow has a thread of its own."""

from __future__ import annotations

import contextvars
import io
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import structlog

from sponsio_like import Guard, contract
from sponsio_like.guard.sinks import sink_of
from sponsio_like.log import Queued, flush, json_log
from tests.semantics.manifest import requirement

FEW = contract("few").guarantees("tool `pay` at most 1 times")
REQUEST = contextvars.ContextVar("request", default="none")


class Hanging:
    """A sink, and a handler of Python's log, that hangs until `free`."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.records: list[Any] = []
        self.agent = threading.get_ident()

    def write(self, record: Any) -> None:
        """Wait, and keep the record; do not wait if the agent's own thread is told."""
        if threading.get_ident() == self.agent:
            self.records.append("told by the agent")
            return
        self.free.wait(30)
        self.records.append(record)


class Handler(logging.Handler):
    """A handler that hands records on."""

    def __init__(self, write: Callable[[Any], None]) -> None:
        super().__init__()
        self.emit = write  # type: ignore[method-assign,assignment]


def as_function(sink: Hanging) -> Any:
    return sink.write


def as_lambda(sink: Hanging) -> Any:
    return lambda record, more=None: sink.write(record)


def as_logger(sink: Hanging) -> Any:
    logger = logging.getLogger("a logger that hangs")
    logger.setLevel(logging.INFO)
    logger.handlers.clear()
    logger.addHandler(Handler(sink.write))
    return logger


def as_structlog(sink: Hanging) -> Any:
    def keep(_: object, __: str, event: Any) -> Any:
        sink.write(dict(event))
        raise structlog.DropEvent

    return structlog.wrap_logger(None, processors=[keep])


WAYS = [as_function, as_lambda, as_logger, as_structlog]


@requirement("S-LOG-09")
@pytest.mark.parametrize("way", WAYS)
def test_a_sink_that_hangs_delays_nobody(way: Callable[[Hanging], Any]) -> None:
    """Calls are decided while the sink hangs, in a thread of its own; then it has them all."""
    sink = Hanging()
    session = Guard([FEW], log=way(sink)).session("s")
    for n in range(200):
        session.decide("pay", id=str(n))
    assert not sink.records
    sink.free.set()
    assert flush()
    assert len(sink.records) == 200


def test_a_pipe_that_nobody_reads_delays_nobody(tmp_path: Path) -> None:
    """A path that is a pipe, and a stream of one, are written by another thread, too."""
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream:
        session = Guard([FEW], log=json_log(stream)).session("s")
        for n in range(1000):  # more than a pipe holds
            session.decide("pay", id=str(n))
        text = b""
        while text.count(b"\n") < 1000:
            text += os.read(reader, 65536)
    os.close(reader)
    assert flush()
    assert isinstance(sink_of(json_log(stream)).write, Queued)


def test_what_is_quick_has_no_queue(tmp_path: Path) -> None:
    """A file, a text in memory and a method of a list are written at once."""
    kept: list[Any] = []
    for given in (tmp_path / "log", kept.append, io.StringIO().write, json_log(io.StringIO())):
        assert not isinstance(sink_of(given).write, Queued)


@requirement("S-LOG-09")
def test_a_sink_is_called_in_the_context_of_the_agent() -> None:
    """Context variables have the values that they had where the call was decided."""
    seen: list[str] = []

    def sink(_: Any) -> None:
        seen.append(REQUEST.get())

    session = Guard([FEW], log=sink).session("s")
    for name in "ab":
        REQUEST.set(name)
        session.decide("look")
    assert flush()
    assert seen == ["a", "b"]


def test_context_variables_of_structlog_are_merged() -> None:
    """The processors of the host run: `merge_contextvars` finds the values of the decision."""
    seen: list[tuple[Any, ...]] = []

    def keep(_: object, method: str, event: Any) -> Any:
        seen.append((method, event["event"], event.get("request"), event.get("user")))
        raise structlog.DropEvent

    merge = structlog.contextvars.merge_contextvars
    logger = structlog.wrap_logger(None, processors=[merge, keep]).bind(user="ann")
    session = Guard([FEW], log=logger).session("s")
    with structlog.contextvars.bound_contextvars(request="r1"):
        session.decide("pay")
    with structlog.contextvars.bound_contextvars(request="r2"):
        session.decide("pay")
    assert flush()
    assert seen == [("info", "decision", "r1", "ann"), ("warning", "decision", "r2", "ann")]


def test_a_sink_that_leaves_ends_no_thread(caplog: pytest.LogCaptureFixture) -> None:
    """A sink that raises `SystemExit` loses its record, which is said; the next one is written."""
    seen: list[Any] = []

    def sink(record: Any) -> None:
        seen.append(record)
        if len(seen) == 1:
            raise SystemExit

    session = Guard([FEW], log=sink).session("s")
    session.decide("look")
    session.decide("look")
    assert flush()
    assert [each["event"] for each in seen] == ["decision", "dropped", "decision"]
    assert "1 records are lost so far: SystemExit" in caplog.text
