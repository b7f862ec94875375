"""The tools that every adapter is tried with: each records that it ran, and with what.

In: nothing; a bench is made fresh for each trial. Out: the same tools as plain functions and as
coroutine functions, and what has run. A tool may be told to fail, what to return, and to wait.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

PATIENCE = 2.0
"""Seconds that a body waits at most for what it was told to wait for."""
POLL = 0.001

Function: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class Ran:
    """One body that began to run, and the arguments that it received."""

    tool: str
    args: dict[str, Any]


@dataclass
class Clock:
    """A clock that is set by hand, and may be out of order."""

    now: float = 1_000.0
    broken: bool = False

    def __call__(self) -> float:
        if self.broken:
            raise OSError("the clock is out of order")
        return self.now


@dataclass
class Bench:
    """The tools of one trial; `tools` are plain functions, `async_tools` coroutine functions.

    `broken`: these raise. `outputs`: what a tool returns, if not its usual text. `pause`: a body
    that has begun goes on when this says so.
    """

    ran: list[Ran] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    outputs: dict[str, Any] = field(default_factory=dict)
    pause: dict[str, Callable[[], bool]] = field(default_factory=dict)

    @property
    def tools(self) -> dict[str, Function]:
        """The tools by name, as plain functions."""
        return {each.__name__: self._plain(each) for each in TOOLS}

    @property
    def async_tools(self) -> dict[str, Function]:
        """The tools by name, as coroutine functions."""
        return {each.__name__: self._later(each) for each in TOOLS}

    def _plain(self, work: Function) -> Function:
        @functools.wraps(work)
        def run(*args: Any, **kwargs: Any) -> Any:
            for _ in self._begin(work, args, kwargs):
                time.sleep(POLL)
            return self._end(work, args, kwargs)

        return run

    def _later(self, work: Function) -> Function:
        @functools.wraps(work)
        async def run(*args: Any, **kwargs: Any) -> Any:
            for _ in self._begin(work, args, kwargs):
                await asyncio.sleep(POLL)
            return self._end(work, args, kwargs)

        return run

    def _begin(self, work: Function, args: Any, kwargs: Any) -> Iterator[None]:
        """Record the call; then go on in steps, as long as it has to wait."""
        named = inspect.signature(work).bind(*args, **kwargs).arguments
        self.ran.append(Ran(work.__name__, copy.deepcopy(named)))
        ready = self.pause.get(work.__name__)
        until = time.monotonic() + PATIENCE
        while ready is not None and not ready() and time.monotonic() < until:
            yield

    def _end(self, work: Function, args: Any, kwargs: Any) -> Any:
        if work.__name__ in self.broken:
            raise ValueError(f"{work.__name__} is out of order")
        usual = work(*args, **kwargs)
        return self.outputs.get(work.__name__, usual)


# --- the tools ------------------------------------------------------------------------------------


def check() -> str:
    """Check what there is to check."""
    return "clean"


def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def send(to: str, text: str) -> str:
    """Send a text to somebody."""
    return f"sent {text} to {to}"


def label(tags: list[str]) -> str:
    """Label something; it takes the tags off the list."""
    names = " ".join(tags)
    tags.clear()
    return f"labelled {names}"


def delete(path: str) -> str:
    """Delete a file for good."""
    return f"deleted {path}"


def trash(file: str) -> str:
    """Put a file where it can be found again."""
    return f"trashed {file}"


TOOLS: tuple[Function, ...] = (check, pay, send, label, delete, trash)
