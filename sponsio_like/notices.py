"""Delivers notices to notifiers, which are plain callables of the user.

Every notifier has a mailbox and a thread of its own: one that hangs, raises or calls the guard
delays neither a decision nor another notifier.
"""

from __future__ import annotations

import inspect
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeAlias

from sponsio_like.errors import ContractError
from sponsio_like.outbox import EXIT_SECONDS, Outbox, flush

MINUTE = 60.0
RATE_CAP = 100_000
"""The most notices a minute that a notifier can be bounded to."""
ALIKE_CAP = 1_000
"""The most combinations of contract, tool and action that are remembered; above it, the oldest is
forgotten, so that its next notice is passed on."""
MAILBOX_CAP = 1_000
"""The most notices that wait for one notifier; further ones are dropped, and the log says so."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to a notifier about one violation; it never has an argument or a text of the agent.

    `ticket` is to be answered, if the call was held. `because` to `tags` are what the contract says
    about itself. From a notifier that is told `Sparsely`, `times` counts the notices alike for
    which this one stands, and `skipped` others before it that were too many.
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
    times: int = 1
    skipped: int = 0


Notifier: TypeAlias = Callable[[Notice], Any]
"""A function, or a coroutine function."""


class Sparsely:
    """A notifier that passes fewer notices on to another: for the violations of one contract by one
    tool with one action, one in `every` seconds, and at most `per_minute` in all.

    What is left out is counted, and the next notice says how many. A notice with a ticket is always
    told: somebody has to answer it. Raises `ContractError` for what are no such numbers.
    """

    def __init__(
        self,
        notifier: Notifier,
        every: float = 60.0,
        per_minute: int = 30,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if type(every) not in (int, float) or not 0 <= every < inf:
            raise ContractError.of(f"every `{every}` is no number of seconds from 0", "write 60")
        if type(per_minute) is not int or not 1 <= per_minute <= RATE_CAP:
            what = f"per_minute `{per_minute}` is no number from 1 to {RATE_CAP:,}"
            raise ContractError.of(what, "write 30")
        self._notifier, self._every, self._per_minute = notifier, every, per_minute
        self._clock = clock
        self._told: dict[tuple[str, str | None, str], tuple[float, int]] = {}
        self._lately = deque[float](maxlen=per_minute)
        self._skipped = 0

    def __call__(self, notice: Notice) -> Any:
        """Tell the notice, or count it. Raises what the notifier raises; then it was not told."""
        key, now = (notice.contract, notice.tool, notice.action), self._clock()
        last, left_out = self._told.get(key, (-inf, 0))
        if notice.ticket is None and now - last < self._every:
            self._told[key] = last, left_out + 1
            return None
        full = len(self._lately) == self._per_minute and now - self._lately[0] < MINUTE
        if notice.ticket is None and full:
            self._skipped += 1
            return None
        skipped = self._skipped
        answer = self._notifier(replace(notice, times=1 + left_out, skipped=skipped))
        self._skipped -= skipped
        self._lately.append(now)
        self._told.pop(key, None)
        self._told[key] = now, 0
        if len(self._told) > ALIKE_CAP:
            del self._told[next(iter(self._told))]
        return answer


class Mailbox:
    """The notices for one notifier, delivered one after another by a thread of its own."""

    def __init__(self, notifier: Notifier, name: str = "") -> None:
        self.notifier = notifier
        self.name = name or getattr(notifier, "__qualname__", type(notifier).__name__)
        name = f"sponsio-like notifier {self.name}"
        self._outbox = Outbox[Notice](lambda one: self._tell(*one), name, MAILBOX_CAP)
        self._dropped = 0

    def post(self, notice: Notice) -> None:
        """Put the notice into the mailbox, and return at once."""
        if self._outbox.put(notice):
            return
        self._dropped += 1
        if self._dropped & (self._dropped - 1) == 0:  # the 1st, 2nd, 4th, 8th..
            what = "notifier %s is too slow: dropped notices so far: %d"
            _logger().error(what, self.name, self._dropped)

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
