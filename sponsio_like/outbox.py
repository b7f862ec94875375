"""Passes things to a function that may be slow, in a thread of its own, from a queue with a cap.

In: a function. Out: an `Outbox`, whose `put` returns at once. Notices and records of the log use
it, so that a notifier or a sink that hangs delays neither a decision nor another notifier or sink.
The queue is a `deque` without a lock: `queue.Queue` costs the deciding thread ten times as much.
"""

from __future__ import annotations

import atexit
import logging
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar
from weakref import WeakSet

GATHER_SECONDS = 0.01
"""The seconds for which the thread lets things gather, once it has handed over all that there are:
to be woken for each would delay who puts them more than to hand them over.
"""
IDLE_SECONDS = 5.0
"""The seconds that the thread waits for another thing before it ends."""
EXIT_SECONDS = 5.0
"""The most seconds that the end of the process waits for things to be handed over."""

Thing = TypeVar("Thing")


class Outbox(Generic[Thing]):
    """A queue before a function, which gets at most so many things at once, and raises nothing.

    `name` is that of the thread, which lives while there is something to do; `cap` things wait
    beside the first one.
    """

    def __init__(
        self, hand: Callable[[list[Thing]], None], name: str, cap: int, most: int = 1
    ) -> None:
        self.name = name
        self._deliver = hand
        self._cap, self._half, self._most = cap, cap // 2, most
        self.empty()
        _OUTBOXES.add(self)

    def empty(self) -> None:
        """Forget what waits, and the thread: after a fork, they are those of the other process."""
        self._waiting = deque[Thing]()  # the first ones are being handed over
        self._idle = True
        self._wakeup: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def put(self, thing: Thing) -> bool:
        """Put a thing into the queue, and return at once; return False if there is no room."""
        many = len(self._waiting)
        if many > self._cap:
            return False
        self._waiting.append(thing)
        if self._idle or many == self._half:
            self._wake()
        return True

    @property
    def left(self) -> int:
        """The number of things that wait, or are being handed over."""
        return len(self._waiting)

    def _wake(self) -> None:
        """Have the thread look at the queue; start it if there is none."""
        self._idle = False
        self._wakeup.put(None)
        with self._lock:
            if self._thread is not None:
                return
            self._thread = threading.Thread(target=self._work, name=self.name, daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # no more threads, or the process ends; the next thing tries again
                self._thread, self._idle = None, True
                _logger().exception("%s has no thread", self.name)

    def _work(self) -> None:
        try:
            while self._wait_for_thing():
                while many := min(len(self._waiting), self._most):
                    try:
                        self._deliver([self._waiting[n] for n in range(many)])
                    finally:
                        for _ in range(many):
                            self._waiting.popleft()
        finally:
            if self._thread is threading.current_thread():  # something was raised
                self._thread, self._idle = None, True  # the next thing starts another thread

    def _wait_for_thing(self) -> bool:
        """Wait until a thing is there; return False if there was none for long: the thread ends.

        INVARIANT: here `_idle` is set before the queue is looked at; who puts a thing reads `_idle`
        after that. So the thing is found here, or a wake-up follows, which starts a thread if this
        one has ended. The same holds for `_thread`, which is changed under the lock.
        """
        with suppress(queue.Empty):
            self._wakeup.get(timeout=GATHER_SECONDS)
        if self._waiting:
            return True
        self._idle = True
        if not self._waiting:
            try:
                self._wakeup.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    mine, self._thread = self._thread, None
                    if not self._waiting:
                        return False
                    self._thread = mine
        return True


def flush(seconds: float = EXIT_SECONDS) -> bool:
    """Wait at most so many seconds until all notices and records are handed over; return True if
    they are.
    """
    end = time.monotonic() + seconds
    while any(each.left for each in _OUTBOXES.copy()):
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def _at_exit() -> None:
    if flush():
        return
    for each in _OUTBOXES.copy():
        if each.left:
            _logger().error("the process ends: %s has lost %d", each.name, each.left)


def _logger() -> logging.Logger:
    return logging.getLogger("sponsio_like")


def _forked() -> None:
    """Empty the queues in a process that was forked: what waited is handed over by the other one,
    whose threads this one does not have.
    """
    for each in _OUTBOXES.copy():
        each.empty()


_OUTBOXES: WeakSet[Outbox[Any]] = WeakSet()
atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):  # there are systems that cannot fork
    os.register_at_fork(after_in_child=_forked)
