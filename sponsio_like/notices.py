"""Delivers notices to notifiers, which are plain callables of the user.

Every notifier has a mailbox and a thread of its own, so that one which hangs, raises or calls the
guard back delays neither a decision nor another notifier.
"""

from __future__ import annotations

import atexit
import inspect
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from weakref import WeakSet

MAILBOX_CAP = 1_000
"""The most notices that wait for one notifier; further ones are dropped, and the log says so."""
IDLE_SECONDS = 5.0
"""The seconds that the thread of a mailbox waits for another notice before it ends."""
EXIT_SECONDS = 5.0
"""The most seconds that the end of the process waits for notices to be delivered."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to a notifier about one violation; it never has an argument or a text of the agent.

    `ticket` is to be answered, if the call was held. The last four fields are what the contract
    says about itself.
    """

    session: str
    contract: str
    tool: str | None
    call: str
    position: int
    action: str
    message: str
    ticket: str | None = None
    roles: tuple[str, ...] = ()
    because: str = ""
    owner: str = ""
    severity: str | None = None
    tags: tuple[str, ...] = ()


Notifier: TypeAlias = Callable[[Notice], Any]
"""A function, or a coroutine function."""


class Mailbox:
    """The notices for one notifier, delivered one after another by a thread of its own."""

    def __init__(self, notifier: Notifier, name: str = "") -> None:
        self.notifier = notifier
        self.name = name or getattr(notifier, "__qualname__", type(notifier).__name__)
        self._waiting: queue.Queue[Notice] = queue.Queue(MAILBOX_CAP)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        _MAILBOXES.add(self)

    def post(self, notice: Notice) -> None:
        """Put the notice into the mailbox, and return at once."""
        try:
            self._waiting.put_nowait(notice)
        except queue.Full:
            _logger().error("notifier %s is too slow: a notice was dropped", self.name)
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():  # threads do not survive a fork
                self._start()

    def _start(self) -> None:
        name = f"sponsio-like notifier {self.name}"
        self._thread = threading.Thread(target=self._deliver, name=name, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no more threads, or the process ends; the next notice tries again
            self._thread = None
            _logger().exception("notifier %s has no thread", self.name)

    @property
    def empty(self) -> bool:
        """True if every notice has been delivered."""
        return not self._waiting.unfinished_tasks

    def _deliver(self) -> None:
        while True:
            try:
                notice = self._waiting.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._waiting.empty():
                        self._thread = None
                        return
                continue
            self._tell(notice)
            self._waiting.task_done()

    def _tell(self, notice: Notice) -> None:
        try:
            answer = self.notifier(notice)
            if inspect.isawaitable(answer):
                import asyncio  # only needed where a notifier is a coroutine function

                asyncio.run(_awaited(answer))
        except BaseException:  # user code, in a thread that is ours; the next notice is told
            _logger().exception("notifier %s failed", self.name)


async def _awaited(answer: Any) -> None:
    await answer


def drain(seconds: float = EXIT_SECONDS) -> bool:
    """Wait at most so many seconds until all notices are delivered; return True if they are."""
    end = time.monotonic() + seconds
    while not all(mailbox.empty for mailbox in _MAILBOXES.copy()):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def _logger() -> logging.Logger:
    return logging.getLogger("sponsio_like")


_MAILBOXES: WeakSet[Mailbox] = WeakSet()
atexit.register(drain)
