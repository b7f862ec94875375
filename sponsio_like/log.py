"""Writes the decision log as JSON lines, and reads it back.

In: the records of a guard. Out: one JSON object a line, each with a `timestamp`, written at once.
Nothing is configured globally: the host's own logging is left alone.

    guard = Guard(contracts, log="decisions.jsonl")

or, to close the file at a certain point:

    with json_log("decisions.jsonl") as log:
        guard = Guard(contracts, log=log)
"""

from __future__ import annotations

import functools
import io
import json
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from sponsio_like.session import Record
from sponsio_like.traces import Line, read_lines


def _encoder() -> Callable[[Any], str]:
    """Return `json`'s encoder, made once where `json` has the one in C: else it is made anew for
    each record, which takes longer than to write the record.
    """
    plain = json.JSONEncoder(allow_nan=False, default=repr)
    in_c: Any = getattr(json.encoder, "c_make_encoder", None)
    if in_c is None:
        return plain.encode
    try:
        each = in_c(None, repr, json.encoder.encode_basestring_ascii, None, ": ", ", ",
                    False, False, False)  # fmt: skip
    except TypeError:  # another version of Python has other parameters
        return plain.encode
    return lambda value: "".join(each(value, 0))


_encode = _encoder()

__all__ = ["Record", "as_text", "json_log", "read_log"]


class JsonLog:
    """A sink for `Guard(log=...)`, which any number of guards, sessions and threads may share."""

    def __init__(self, write: Callable[[str], Any], file: IO[bytes] | None = None) -> None:
        self._write = write
        self._file = file
        self._lock = threading.Lock()

    def __call__(self, record: Record) -> None:
        """Write one record, with a timestamp."""
        second, rest = divmod(time.time_ns() // 1_000, 1_000_000)
        said = as_text(record)[1:]  # a record always has its event
        line = f'{{"timestamp": "{_second(second)}.{rest:06d}Z", {said}\n'
        with self._lock:
            self._write(line)

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
    """Return a log that appends to a file, or writes to a stream of text. Raises `OSError`."""
    if isinstance(target, str | Path):
        file = io.FileIO(target, "a")  # unbuffered: each line is one write
        log = JsonLog(lambda line: file.write(line.encode()), file)
        weakref.finalize(log, file.close).atexit = False  # the file closes when nobody has the log
        return log
    stream = target

    def write(line: str) -> None:
        stream.write(line)
        stream.flush()

    return JsonLog(write)


def read_log(path: str | Path) -> Iterator[Line]:
    """Yield the records of a log one by one, each with its place `file:line`.

    A last line that is incomplete, since its writer was stopped, is left out. Raises `TraceError`.
    """
    return read_lines(path, torn=True)


@functools.lru_cache(maxsize=1)
def _second(second: int) -> str:
    """Return the date and time of a second since 1970."""
    return datetime.fromtimestamp(second, UTC).isoformat(timespec="seconds")[:-6]


def as_text(record: Record) -> str:
    """Return the record as JSON on one line, whatever the arguments of a call were."""
    try:
        return _encode(record)
    except ValueError:  # NaN and infinity are no JSON
        return _encode(_finite(record))


def _finite(value: Any) -> Any:
    match value:
        case float():
            return value if value - value == 0 else repr(value)
        case dict():
            return {key: _finite(each) for key, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
    return value
