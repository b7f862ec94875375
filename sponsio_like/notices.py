"""Delivers notices to notifiers, which are plain callables of the user.

Every notifier has a mailbox and a thread of its own, so that one which hangs, raises or calls the
guard back delays neither a decision nor another notifier.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from sponsio_like.outbox import EXIT_SECONDS, Outbox, flush

MAILBOX_CAP = 1_000
"""The most notices that wait for one notifier; further ones are dropped, and the log says so."""


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
        self._outbox = Outbox(self._tell, f"sponsio-like notifier {self.name}", MAILBOX_CAP)

    def post(self, notice: Notice) -> None:
        """Put the notice into the mailbox, and return at once."""
        if not self._outbox.put(notice):
            _logger().error("notifier %s is too slow: a notice was dropped", self.name)

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
    return flush(seconds)


def _logger() -> logging.Logger:
    return logging.getLogger("sponsio_like")
