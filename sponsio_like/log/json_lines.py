"""Writes the decision log as JSON lines, and reads it back.

In: the records of a guard. Out: one JSON object a line, each with a `timestamp`, written at once.
A file that is full or gone loses records, which are counted, and said: by Python's log, and by a
record `dropped` once a line can be written again.
"""

from __future__ import annotations

import atexit
import functools
import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self
from weakref import WeakSet

from sponsio_like.errors import ContractError
from sponsio_like.event_types import Record
from sponsio_like.log.chain import HashChain
from sponsio_like.log.files import LogFile, size_of
from sponsio_like.log.queue import report_lost
from sponsio_like.outbox import flush
from sponsio_like.traces import Line, read_records


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


HEADS = ("contracts", "source")
"""The fields of the first record of a guard, which each new file begins with."""


class JsonLog:
    """A sink for `Guard(log=...)`, which any number of guards, sessions and threads may share.

    `lost` is the number of records that could not be written; `quick` is False where writing may
    wait: a pipe or a terminal that nobody reads.
    """

    def __init__(
        self,
        write: Callable[[str], Any],
        file: LogFile | None = None,
        chain: HashChain | None = None,
        *,
        quick: bool = False,
    ) -> None:
        self.lost = 0
        self.quick = quick
        self._untold = 0
        self._write = write
        self._file = file
        self._chain = chain
        self._lock = threading.Lock()
        if chain is not None:
            _CHAINED.add(self)

    def __call__(self, record: Record) -> None:
        """Write one record, with a timestamp."""
        line = _line(record)
        with self._lock:
            try:
                if self._untold:
                    self._put(_line({"event": "dropped", "records": self._untold}))
                    self._untold = 0
                self._put(line)
            except (OSError, ValueError) as error:  # a full disk, a closed file
                self._lose(error)
        if self._file is not None and self._chain is None and "contracts" in record:
            kept: Record = {each: record[each] for each in HEADS if each in record}
            self._file.head = _line({"event": "contracts", **kept})

    def _put(self, line: str) -> None:
        self._write((line if self._chain is None else self._chain.linked(line)) + "\n")

    def _lose(self, error: Exception) -> None:
        self.lost += 1
        self._untold += 1
        report_lost(self.lost, error)

    def close(self) -> None:
        """Close the file, if this log opened it; a chain ends with a record `closed`."""
        self.end_chain()
        if self._file is not None:
            self._file.close()

    def end_chain(self) -> None:
        """Write the record `closed`, once, if there is a chain that has begun."""
        with self._lock:
            chain, self._chain = self._chain, None
            if chain is not None and chain.length:
                with suppress(
                    OSError, ValueError
                ):  # then the chain has no end, and `verify` says so
                    self._write(chain.linked(_line({"event": "closed"})) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _at_exit() -> None:
    flush()
    for each in list(_CHAINED):
        each.end_chain()


_CHAINED: WeakSet[JsonLog] = WeakSet()
atexit.register(_at_exit)


def json_log(
    target: str | Path | IO[str],
    *,
    rotate: str | int | None = None,
    keep: int = 5,
    chain: bool = False,
) -> JsonLog:
    """Return a log that appends to a file, or writes to a stream of text. Raises `OSError`.

    `rotate`: the size from which on the file is renamed to `NAME.1`, and so on; the latest `keep`
    are kept: `"100 MB"`. `chain`: lines are chained by hashes, for `sponsio-like log verify`.
    """
    links = HashChain() if chain else None
    if isinstance(target, str | Path):
        file = LogFile(Path(target), None if rotate is None else size_of(rotate), keep)
        return JsonLog(file.write, file, links, quick=Path(target).is_file())
    if rotate is not None:
        raise ContractError.of("a stream cannot be rotated", "give the path of a file")
    stream = target

    def write(line: str) -> None:
        stream.write(line)
        stream.flush()

    return JsonLog(write, None, links, quick=isinstance(stream, io.StringIO))


def _line(record: Record) -> str:
    """Return the record as a line, with the time now, without its end."""
    second, rest = divmod(time.time_ns() // 1_000, 1_000_000)
    said = as_text(record)[1:]  # a record always has its event
    return f'{{"timestamp": "{_second(second)}.{rest:06d}Z", {said}'


def read_log(path: str | Path) -> Iterator[Line]:
    """Yield the records of a log one by one, each with its place `file:line`.

    A last line that is incomplete, since its writer was stopped, is left out. Another line that is
    not JSON is a record `dropped` with `damaged`; if it is the first one, it raises `TraceError`.
    """
    return read_records(path)


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
