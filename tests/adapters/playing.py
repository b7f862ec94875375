"""How a hand-written agent loop goes through a script: calls of a turn in parallel, then the next.

In: a conversation, a generator that yields what has to run at once. Out: its report. The same
conversation is played in threads, or as tasks of an event loop.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.adapters.harness import Report


@dataclass(frozen=True)
class Failed:
    """What came of a job that raised."""

    error: Exception

    def __str__(self) -> str:
        return str(self.error) or type(self.error).__name__


Job: TypeAlias = Callable[[], Any]
Conversation: TypeAlias = Generator[Sequence[Job], list[Any], Report]


def play(conversation: Conversation) -> Report:
    """Run the jobs of a turn in threads."""
    with closing(conversation), ThreadPoolExecutor(8) as pool:

        def begun(job: Job) -> Any:
            return pool.submit(contextvars.copy_context().run, _tried, job)

        try:
            jobs = next(conversation)
            while True:
                futures = [begun(job) for job in jobs]
                jobs = conversation.send([future.result() for future in futures])
        except StopIteration as end:
            report: Report = end.value
            return report


async def aplay(conversation: Conversation) -> Report:
    """Run the jobs of a turn as tasks."""
    with closing(conversation):  # also if this task is cancelled
        try:
            jobs = next(conversation)
            while True:
                jobs = conversation.send(await asyncio.gather(*map(_atried, jobs)))
        except StopIteration as end:
            report: Report = end.value
            return report


def _tried(job: Job) -> Any:
    try:
        return job()
    except Exception as error:
        return Failed(error)


async def _atried(job: Job) -> Any:
    result = _tried(job)
    try:
        return await result if inspect.isawaitable(result) else result
    except Exception as error:
        return Failed(error)
