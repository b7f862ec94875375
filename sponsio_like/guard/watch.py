"""Calls a function whenever a file has changed, from a thread of its own.

In: a path, and a function that raises nothing. Out: a `Watch`, until it is stopped.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Seen: TypeAlias = tuple[int, int, int] | None


class Watch:
    """A thread that looks at a file every few seconds; its process does not wait for it."""

    def __init__(self, path: Path, changed: Callable[[], None], seconds: float) -> None:
        self._path, self._changed, self._seconds = path, changed, seconds
        self._stopped = threading.Event()
        self._seen = _state(path)
        work = threading.Thread(target=self._work, name="sponsio-like watch", daemon=True)
        work.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()

    def _work(self) -> None:
        while not self._stopped.wait(self._seconds):
            seen = _state(self._path)
            if seen != self._seen:
                self._seen = seen
                self._changed()


def _state(path: Path) -> Seen:
    """Return what tells a changed file from the one before; None if it is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a name, not a path of another kind
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
