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
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeAlias
from weakref import WeakSet

from sponsio_like.errors import ContractError
from sponsio_like.event_types import Entry, Frame, Record
from sponsio_like.log.chain import HashChain
from sponsio_like.log.files import Full, LogFile, size_of
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
_quoted = json.encoder.encode_basestring_ascii
FrameText: TypeAlias = tuple[str, str, str]
"""The JSON text of a frame: before the session, before what is counted, and after that."""
FRAMES_CAP = 1_000
"""The most frames whose text is kept."""
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
        self._texts = dict[Frame, FrameText]()
        _LOGS.add(self)

    def __call__(self, record: Record) -> None:
        """Write one record, with a timestamp."""
        self._append(_line(record))
        if self._file is not None and self._chain is None and "contracts" in record:
            kept: Record = {each: record[each] for each in HEADS if each in record}
            self._file.head = _line({"event": "contracts", **kept})

    def enter(self, entry: Entry) -> None:
        """Write the record of an entry: the same line, of texts that are made once."""
        self._append(self._line_of(entry))

    def enter_all(self, entries: Iterable[Entry]) -> None:
        """Write the records of entries, by one write if there is no chain. If one of them cannot be
        a line, none is written.
        """
        lines = [self._line_of(each) for each in entries]
        if self._chain is None:
            self._append("\n".join(lines), len(lines))
            return
        for each in lines:
            self._append(each)

    def _line_of(self, entry: Entry) -> str:
        """Return the line of an entry, as `_line` that of its record."""
        frame, session, id, counted, more = entry
        start, first, last = self._texts.get(frame) or self._text_of(frame)
        if counted is not None:
            first = f'{first}, "position": {counted[0]}, "microseconds": {counted[1]:.1f}'
        if more:
            last = f"{last}, {as_text(more)[1:-1]}"
        return f'{_stamp()}{start}{_quoted(session)}, "id": {_quoted(id)}{first}{last}}}'

    def _text_of(self, frame: Frame) -> FrameText:
        """Return the text of a frame, which is kept."""
        if len(self._texts) >= FRAMES_CAP:
            self._texts.clear()
        text = self._texts[frame] = _frame_text(frame)
        return text

    def _append(self, line: str, records: int = 1) -> None:
        """Write the line of a record, or those of several, or count that they are lost."""
        with self._lock:
            try:
                if self._untold:
                    self._put(_line({"event": "dropped", "records": self._untold}))
                    self._untold = 0
                self._put(line)
            except Full as error:
                self._lose(error, records - error.lines)
            except (OSError, ValueError) as error:  # a full disk, a closed file
                self._lose(error, records)

    def _put(self, line: str) -> None:
        self._write(f"{line}\n" if self._chain is None else f"{self._chain.linked(line)}\n")

    def _lose(self, error: Exception, records: int) -> None:
        self.lost += records
        self._untold += records
        report_lost(self.lost, error, records)

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

    def part(self) -> None:
        """Go on in a process that was forked: in a chain of its own, whoever had the lock."""
        self._lock = threading.Lock()
        if self._chain is not None:
            self._chain = self._chain.another()

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
    for each in list(_LOGS):
        each.end_chain()


def _forked() -> None:
    for each in list(_LOGS):
        each.part()


_LOGS: WeakSet[JsonLog] = WeakSet()
atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):  # there are systems that cannot fork
    os.register_at_fork(after_in_child=_forked)


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


def report_lost(count: int, why: object, now: int = 1) -> None:
    """Write to Python's log how many records are lost, `now` of them just now; at the 1st, 2nd,
    4th, 8th .. of them.
    """
    if count.bit_length() > (count - now).bit_length():
        logging.getLogger("sponsio_like").error(
            "the decision log's sink failed: %d records are lost so far: %s", count, why
        )


def _line(record: Record) -> str:
    """Return the record as a line, with the time now, without its end."""
    return f"{_stamp()}{as_text(record)[1:]}"  # a record always has its event


def _stamp() -> str:
    """Return the beginning of a line that is written now."""
    now = str(time.time_ns())
    return f'{_until(now[:10])}{now[10:16]}Z", '


def _frame_text(frame: Frame) -> FrameText:
    first = as_text({**frame.first, "violations": []})[1:-1]
    last = f", {as_text({**frame.last})[1:-1]}" if frame.last else ""
    return f'"event": {_quoted(frame.event)}, "session": ', f", {first}", last


def read_log(path: str | Path) -> Iterator[Line]:
    """Yield the records of a log one by one, each with its place `file:line`.

    A last line that is incomplete, since its writer was stopped, is left out. Another line that is
    not JSON is a record `dropped` with `damaged`; if it is the first one, it raises `TraceError`.
    """
    return read_records(path)


@functools.lru_cache(maxsize=1)
def _until(second: str) -> str:
    """Return the beginning of lines that are written in this second since 1970."""
    when = datetime.fromtimestamp(int(second), UTC).isoformat(timespec="seconds")[:-6]
    return f'{{"timestamp": "{when}.'


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
