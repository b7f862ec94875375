"""Appends lines to a file, which several processes may share, and rotates it by size.

In: lines. Out: each is one write to the end of the file. A line that did not fit, since the disk is
full, is ended before the next one, so that it spoils no other.
"""

from __future__ import annotations

import io
import os
import re
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from sponsio_like.errors import ContractError

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}
STALE_SECONDS = 60.0
"""The age from which on a claim to rotate is that of a process which has died."""
LOOK_EVERY = 64
"""The number of lines after which it is looked whether another process has rotated the file."""


class Full(OSError):
    """Raised for lines of which only the first ones, `lines`, could be written."""

    def __init__(self, lines: int) -> None:
        super().__init__(28, "no space left: a line did not fit")
        self.lines = max(lines, 0)


class LogFile:
    """A file that lines are appended to. Not for several threads at once."""

    def __init__(self, path: Path, rotate: int | None = None, keep: int = 5) -> None:
        if type(keep) is not int or keep < 1:
            raise ContractError.of(f"keep={keep!r} is no number of files from 1", "write keep=5")
        self.path, self._rotate, self._keep = path, rotate, keep
        self.head = ""
        """The line with the contracts, which each new file begins with."""
        self._torn = False
        self._left = 0
        self._open()

    def write(self, lines: str) -> None:
        """Append lines, each with a line break at its end, by one write. Raises `OSError`; `Full`
        if not all of them fit.
        """
        if self._rotate is not None:
            self._turn(lines.count("\n"))
        text = lines.encode()
        torn = self._torn
        if torn:
            text = b"\n" + text
        written = self._file.write(text)
        self._torn = False
        if written != len(text):
            self._torn = torn or bool(written)
            raise Full(text[: written or 0].count(b"\n") - torn)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _open(self) -> None:
        self._file = io.FileIO(self.path, "a")  # unbuffered: each line is one write
        end = weakref.finalize(self, self._file.close)
        end.atexit = False  # the file closes when nobody has the log

    def _turn(self, lines: int) -> None:
        """Rotate the file if it is large, or follow another process that has."""
        self._left -= lines
        if self._left > 0:
            return
        self._left = LOOK_EVERY
        size, mine = _there(self.path), os.fstat(self._file.fileno())
        assert self._rotate is not None
        if size is not None and size.st_ino == mine.st_ino:
            if mine.st_size < self._rotate:
                return
            if not _claim(self.path):
                return  # another process is about to
            try:
                self._rename()
            finally:
                _claimed(self.path).unlink(missing_ok=True)
        self._file.close()
        self._open()
        if self.head and not os.fstat(self._file.fileno()).st_size:
            self._file.write(self.head.encode() + b"\n")

    def _rename(self) -> None:
        for n in range(self._keep - 1, 0, -1):
            with suppress(FileNotFoundError):
                self.numbered(n).replace(self.numbered(n + 1))
        self.path.replace(self.numbered(1))

    def numbered(self, n: int) -> Path:
        """Return the path of the file that was rotated n times."""
        return self.path.with_name(f"{self.path.name}.{n}")


def _there(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _claimed(path: Path) -> Path:
    return path.with_name(f".{path.name}.rotating")


def _claim(path: Path) -> bool:
    """Return True if this process alone may rename the file now."""
    claimed = _claimed(path)
    try:
        os.close(os.open(claimed, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        with suppress(FileNotFoundError):
            if time.time() - claimed.stat().st_mtime > STALE_SECONDS:
                claimed.unlink()
        return False
    return True


def size_of(given: Any) -> int:
    """Return a size in bytes: a number, or a text such as `100 MB`. Raises `ContractError`."""
    if type(given) is int and given > 0:
        return given
    found = re.fullmatch(r"\s*(\d+)\s*([kmg]?b?)\s*", given.lower()) if type(given) is str else None
    unit = found[2] if found else ""
    unit = unit if not unit or unit.endswith("b") else f"{unit}b"
    if found is None or not int(found[1]):
        raise ContractError.of(f"rotate={given!r} is no size", 'write rotate="100 MB"')
    return int(found[1]) * UNITS[unit]
