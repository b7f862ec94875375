"""The decision log as JSON lines: written by structlog, and read back.

In: the records of a guard. Out: one JSON object a line, each with a `timestamp`. Nothing is
configured globally: the host's own structlog and logging are left alone.

    with json_log("decisions.jsonl") as log:
        guard = Guard(contracts, log=log)
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

from sponsio_like.jsonl import Line, read_lines
from sponsio_like.records import Record


class JsonLog:
    """A sink for `Guard(log=...)`. Any number of guards, sessions and threads may share one."""

    def __init__(self, logger: Any, file: IO[bytes] | None) -> None:
        self._logger = logger
        self._file = file

    def __call__(self, record: Record) -> None:
        """Write one record."""
        rest = {key: value for key, value in record.items() if key != "event"}
        self._logger.info(record.get("event"), **rest)

    def close(self) -> None:
        """Close the file, if this log opened it."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def json_log(target: str | Path | IO[str]) -> JsonLog:
    """A log that appends to a file, or writes to a stream of text. Raises `OSError`."""
    from structlog import BytesLogger, WriteLogger

    if isinstance(target, str | Path):
        file = cast("IO[bytes]", io.FileIO(target, "a"))  # unbuffered: a line is one write
        return JsonLog(_wrapped(BytesLogger(cast("Any", file)), _encoded), file)
    return JsonLog(_wrapped(WriteLogger(cast("Any", target)), _text), None)


def read_log(path: str | Path) -> Iterator[Line]:
    """The records of a log, one by one, each with its place `file:line`.

    A last line that is incomplete, since its writer was stopped, is left out. Raises `TraceError`.
    """
    return read_lines(path, torn=True)


def _wrapped(writer: Any, render: Any) -> Any:
    """A logger of its own: with all of these given, no global configuration is asked."""
    from structlog import BoundLogger, wrap_logger
    from structlog.processors import TimeStamper

    return wrap_logger(
        writer,
        processors=[TimeStamper(fmt="iso", utc=True), render],
        wrapper_class=BoundLogger,
        context_class=dict,
        cache_logger_on_first_use=True,
    )


def _text(_: Any, __: str, record: Any) -> str:
    """One line of JSON, whatever the arguments of a call were."""
    first = {"timestamp": record.pop("timestamp", None), "event": record.pop("event", None)}
    try:
        return json.dumps({**first, **record}, allow_nan=False, default=repr)
    except ValueError:  # NaN and infinity are no JSON
        return json.dumps({**first, **_finite(record)}, default=repr)


def _encoded(logger: Any, method: str, record: Any) -> bytes:
    return _text(logger, method, record).encode()


def _finite(value: Any) -> Any:
    match value:
        case float():
            return value if value - value == 0 else repr(value)
        case dict():
            return {key: _finite(each) for key, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
    return value
