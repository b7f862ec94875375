"""Hands records to a sink that may be slow, by a thread of its own, from a queue with a cap.

In: a sink. Out: a sink that returns at once. Records for which the queue has no room, or on which
the sink raises, are counted; Python's log says so, and so does a record `dropped` afterwards.
"""

from __future__ import annotations

import contextvars
import itertools
import threading
from typing import Any, TypeAlias

from sponsio_like.event_types import Entry, EntrySink, Record, Sink, record_of
from sponsio_like.log.json_lines import JsonLog, report_lost
from sponsio_like.outbox import Outbox

QUEUE_CAP = 10_000
"""The most records that wait for one sink."""
TOGETHER = 250
"""The most records that are written into a file by one write."""
Told: TypeAlias = tuple[contextvars.Context, Record | Entry]
"""A record, or an entry of one, and the context of the thread that made it."""


def entering(sink: Sink) -> EntrySink:
    """Return the function by which a sink takes entries: its own, or one that makes the records."""
    if type(sink) is JsonLog or type(sink) is Queued:  # one that is derived may do something else
        return sink.enter
    return lambda entry: sink(record_of(entry))


class Queued:
    """A sink that never delays an agent. `lost` is the number of records that were not written."""

    def __init__(self, sink: Sink, cap: int = QUEUE_CAP) -> None:
        self.lost = 0
        self._untold = 0
        self._sink, self._enter = sink, entering(sink)
        self._file = sink if type(sink) is JsonLog and sink.quick else None
        self._lock = threading.Lock()
        most = 1 if self._file is None else TOGETHER
        self._outbox = Outbox[Told](self._hand, "sponsio-like decision log", cap, most)

    def __call__(self, record: Record) -> None:
        """Put the record into the queue, with the context of the caller, and return at once."""
        if not self._outbox.put((contextvars.copy_context(), record)):
            self._lose("the sink is too slow")

    def enter(self, entry: Entry) -> None:
        """Put the entry of a record into the queue; the record is made when it is written."""
        if not self._outbox.put((contextvars.copy_context(), entry)):
            self._lose("the sink is too slow")

    def _hand(self, told: list[Told]) -> None:
        for are_entries, each in itertools.groupby(told, lambda one: type(one[1]) is tuple):
            some = list(each)
            if not (are_entries and self._together(some)):
                for context, record in some:
                    context.run(self._write, record)

    def _together(self, told: list[Any]) -> bool:
        """Write entries by one write, if they go into a file; return False if they are not."""
        if self._file is None or self._untold:
            return False
        try:
            self._file.enter_all(entry for _, entry in told)
        except Exception:  # one of them cannot be a line: each is written by itself
            return False
        return True

    def _write(self, record: Record | Entry) -> None:
        try:
            if untold := self._untold:
                self._sink({"event": "dropped", "records": untold})
                with self._lock:
                    self._untold -= untold
            if isinstance(record, dict):
                self._sink(record)
            else:
                self._enter(record)
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
