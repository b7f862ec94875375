"""Hands records to a sink that may be slow, by a thread of its own, from a queue with a cap.

In: a sink. Out: a sink that returns at once. Records for which the queue has no room, or on which
the sink raises, are counted; Python's log says so, and so does a record `dropped` afterwards.
"""

from __future__ import annotations

import contextvars
import logging
import threading
from typing import TypeAlias

from sponsio_like.event_types import Record, Sink
from sponsio_like.outbox import Outbox

QUEUE_CAP = 10_000
"""The most records that wait for one sink."""
Told: TypeAlias = tuple[contextvars.Context, Record]
"""A record, and the context of the thread that made it."""


def report_lost(count: int, why: object) -> None:
    """Write to Python's log how many records are lost, at the 1st, 2nd, 4th, 8th .. of them."""
    if count & (count - 1) == 0:
        logging.getLogger("sponsio_like").error(
            "the decision log's sink failed: %d records are lost so far: %s", count, why
        )


class Queued:
    """A sink that never delays an agent. `lost` is the number of records that were not written."""

    def __init__(self, sink: Sink, cap: int = QUEUE_CAP) -> None:
        self.lost = 0
        self._untold = 0
        self._sink = sink
        self._lock = threading.Lock()
        self._outbox = Outbox[Told](self._hand, "sponsio-like decision log", cap)

    def __call__(self, record: Record) -> None:
        """Put the record into the queue, with the context of the caller, and return at once."""
        if not self._outbox.put((contextvars.copy_context(), record)):
            self._lose("the sink is too slow")

    def _hand(self, told: Told) -> None:
        context, record = told
        context.run(self._write, record)

    def _write(self, record: Record) -> None:
        try:
            if untold := self._untold:
                self._sink({"event": "dropped", "records": untold})
                with self._lock:
                    self._untold -= untold
            self._sink(record)
        except BaseException as error:  # a sink is user code, in a thread of ours
            self._lose(f"{type(error).__name__}: {error}")

    def _lose(self, why: str) -> None:
        with self._lock:
            self.lost += 1
            self._untold += 1
            report_lost(self.lost, why)


def queued(sink: Sink, cap: int = QUEUE_CAP) -> Queued:
    """Return the sink, behind a queue: `Guard(log=queued(post))`."""
    return Queued(sink, cap)
