"""Calls a function whenever a file has changed, from a thread of its own.

In: a function that returns paths, and one that is called; they raise nothing. Out: a
`Watch`, until it is stopped.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import TypeAlias

Seen: TypeAlias = tuple[int, int, int] | None


class Watch:
    """A thread that looks at files every few seconds; its process does not wait for it."""

    def __init__(
        self, paths: Callable[[], Iterable[str]], changed: Callable[[], None], seconds: float
    ) -> None:
        self._paths, self._changed, self._seconds = paths, changed, seconds
        self._stopped = threading.Event()
        self._seen = self._states()
        work = threading.Thread(target=self._work, name="sponsio-like watch", daemon=True)
        work.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()

    def _work(self) -> None:
        while not self._stopped.wait(self._seconds):
            seen = self._states()
            if seen != self._seen:
                self._changed()  # other files may be watched after it
                self._seen = {path: seen.get(path, now) for path, now in self._states().items()}

    def _states(self) -> dict[str, Seen]:
        return {path: _state(path) for path in self._paths()}


def _state(path: str) -> Seen:
    """Return what tells a changed file from the one before; None if it is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a name, not a path of another kind
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
