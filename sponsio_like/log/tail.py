"""Follows a decision log as it grows.

In: a path. Out: its latest records, and each that is written from then on; when the file is
rotated, those of the next one.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from sponsio_like.errors import TraceError
from sponsio_like.traces import Line

SHOW = 10
"""The number of records that are there already, and shown first."""
WAIT_SECONDS = 0.2
"""The seconds between two looks at the end of the file."""


def followed(path: Path, wait: Callable[[float], object] = time.sleep) -> Iterator[Line]:
    """Yield the latest records of a log, and further ones without end, as they are written.

    `wait` is called where there is no more for now. Raises `TraceError` if there is no such file.
    """
    latest: deque[Line] | None = deque(maxlen=SHOW)
    for line in _lines(path, wait):
        if latest is None and line is not None:
            yield line
        elif latest is not None and line is not None:
            latest.append(line)
        elif latest is not None:
            yield from latest
            latest = None


def _lines(path: Path, wait: Callable[[float], object]) -> Iterator[Line | None]:
    """Yield the records of a log, and None wherever there is no more for now."""
    while True:
        try:
            file = path.open("rb")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise TraceError(f"{path}: cannot be read: {reason}") from None
        with file:
            number, left, over = 0, b"", False
            while True:
                text = file.readline()
                left += text
                if left.endswith(b"\n"):
                    number, raw, left = number + 1, left, b""
                    yield from _record(f"{path}:{number}", raw)
                elif over:
                    break
                elif not text and _is_another(path, file):
                    over = True  # what was written before the file was moved is read first
                elif not text:
                    yield None
                    wait(WAIT_SECONDS)


def _record(where: str, raw: bytes) -> Iterator[Line]:
    """Yield the record of a line; a line that is none is a record that is lost."""
    try:
        value = json.loads(raw)
    except ValueError:
        value = {"event": "dropped", "records": 1}
    if isinstance(value, dict) and isinstance(value.get("event"), str):
        yield Line(where, value)


def _is_another(path: Path, file: IO[bytes]) -> bool:
    """True if another file has this name now, or it was emptied."""
    try:
        now = path.stat()
    except OSError:
        return False  # it is being rotated
    return now.st_ino != os.fstat(file.fileno()).st_ino or now.st_size < file.tell()
