"""Reads files of JSON lines, plain or gzip, whatever their names end with.

In: a path. Out: one object a line, with its place `file:line`; never the whole file in memory.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from sponsio_like.errors import TraceError

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""


class Line(NamedTuple):
    """One object, and its place."""

    where: str
    value: dict[str, Any]


def ignored(_: int) -> None:
    """Ignore how far the reading has come."""


def read_lines(
    path: str | Path,
    progress: Callable[[int], None] = ignored,
    *,
    torn: bool = False,
    lost: Callable[[str], None] | None = None,
) -> Iterator[Line]:
    """Yield the objects of a file one by one; empty lines are skipped.

    `progress` is told how many bytes of the file have been read. `torn`: the last line may be
    incomplete, because its writer was stopped; it is left out. `lost` is told the place of each
    line after a good one that is not JSON; without it, such a line raises `TraceError`.
    """
    where, good = str(path), False
    try:
        with Path(path).open("rb") as raw:
            zipped = raw.peek(2)[:2] == GZIP
            lines = cast("IO[bytes]", gzip.GzipFile(fileobj=raw) if zipped else raw)
            for number, line in enumerate(lines, start=1):
                where = f"{path}:{number}"
                try:
                    value = _object(line, where, torn and not line.endswith(b"\n"))
                except TraceError:
                    if lost is None or not good:
                        raise
                    lost(where)
                    continue
                progress(raw.tell())
                if value is not None:
                    good = True
                    yield Line(where, value)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TraceError(f"{where}: the gzip data is damaged ({error})") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TraceError(f"{path}: cannot be read: {reason}") from error


def stamp_seconds(stamp: Any) -> float | None:
    """Return a time stamp (ISO 8601) in seconds; None for what is none."""
    try:
        return datetime.fromisoformat(stamp).timestamp() if isinstance(stamp, str) else None
    except ValueError:
        return None


def _object(line: bytes, where: str, torn: bool) -> dict[str, Any] | None:
    if not line.strip():
        return None
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except RecursionError:
        raise TraceError(f"{where}: the JSON is nested too deeply") from None
    except ValueError as error:  # not JSON, not UTF-8, or a number of thousands of digits
        if torn:
            return None
        raise TraceError(f"{where}: not a line of JSON: {_reason(error)}") from None
    if not isinstance(value, dict):
        raise TraceError(f"{where}: a line must be a JSON object, like {{...}}")
    return value


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return str(error)
