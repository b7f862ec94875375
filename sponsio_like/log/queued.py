"""Hands records to a sink that may be slow, by a thread of its own, from a queue with a cap.

In: a sink. Out: a sink that returns at once. Records for which the queue has no room, or on which
the sink raises, are counted; Python's log says so, and so does a record `dropped` afterwards.
"""

from __future__ import annotations

import atexit
import contextvars
import logging
import queue
import threading
import time
from weakref import WeakSet

from sponsio_like.session import Record, Sink

QUEUE_CAP = 10_000
"""The most records that wait for one sink."""
IDLE_SECONDS = 5.0
"""The seconds that the thread waits for another record before it ends."""
EXIT_SECONDS = 5.0
"""The most seconds that the end of the process waits for records to be written."""


class Queued:
    """A sink that never delays an agent. `lost` is the number of records that were not written."""

    def __init__(self, sink: Sink, cap: int = QUEUE_CAP) -> None:
        self.lost = 0
        self._untold = 0
        self._sink = sink
        self._waiting: queue.Queue[tuple[contextvars.Context, Record]] = queue.Queue(cap)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        _QUEUES.add(self)

    def __call__(self, record: Record) -> None:
        """Put the record into the queue, with the context of the caller, and return at once."""
        try:
            self._waiting.put_nowait((contextvars.copy_context(), record))
        except queue.Full:
            self._lose("the sink is too slow")
            return
        thread = self._thread
        if thread is None or not thread.is_alive():  # threads do not survive a fork
            self._start()

    @property
    def empty(self) -> bool:
        """True if nothing waits, and nothing is being written."""
        return not self._waiting.unfinished_tasks

    def _start(self) -> None:
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return
            self._thread = threading.Thread(
                target=self._work, name="sponsio-like decision log", daemon=True
            )
            try:
                self._thread.start()
            except RuntimeError:  # no more threads, or the process ends
                self._thread = None

    def _work(self) -> None:
        while True:
            try:
                context, record = self._waiting.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._waiting.empty():
                        self._thread = None
                        return
                continue
            context.run(self._write, record)
            self._waiting.task_done()

    def _write(self, record: Record) -> None:
        try:
            if untold := self._untold:
                self._sink({"event": "dropped", "records": untold})
                self._untold -= untold
            self._sink(record)
        except Exception as error:  # a sink is user code; the next record is written
            self._lose(f"{type(error).__name__}: {error}")

    def _lose(self, why: str) -> None:
        with self._lock:
            self.lost += 1
            self._untold += 1
            lost = self.lost
        if lost & (lost - 1) == 0:  # the 1st, 2nd, 4th, 8th..
            logging.getLogger("sponsio_like").error(
                "the decision log has lost %d records so far: %s", lost, why
            )


def queued(sink: Sink, cap: int = QUEUE_CAP) -> Queued:
    """Return the sink, behind a queue: `Guard(log=queued(post))`."""
    return Queued(sink, cap)


def flush(seconds: float = EXIT_SECONDS) -> bool:
    """Wait at most so many seconds until all queues are written; return True if they are."""
    end = time.monotonic() + seconds
    while not all(each.empty for each in _QUEUES.copy()):
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def _at_exit() -> None:
    if not flush():
        left = sum(each._waiting.unfinished_tasks for each in _QUEUES.copy())  # noqa: SLF001
        logging.getLogger("sponsio_like").error("the decision log has lost %d records", left)


_QUEUES: WeakSet[Queued] = WeakSet()
atexit.register(_at_exit)
