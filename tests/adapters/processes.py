"""Processes for the tests: forks of one that has imported everything, `warmed`.

In: a function of a module, and its arguments. Out: what it returns, or how its process has ended.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PATIENCE = 60.0
"""Seconds that a process may take."""
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.adapters.warmed"])


@dataclass(frozen=True)
class Started:
    """A process that runs."""

    process: Any
    answers: Any

    def ended(self) -> int:
        """Wait until it has ended; its exit code, which is negative for a signal."""
        self.process.join(PATIENCE)
        assert self.process.exitcode is not None, "the process does not end"
        return int(self.process.exitcode)

    def came(self) -> Any:
        """Wait for what its function returns."""
        assert self.answers.poll(PATIENCE), "the process does not answer"
        try:
            came = self.answers.recv()
        except EOFError:
            raise AssertionError(f"the process has ended with {self.ended()}") from None
        assert self.ended() == 0
        return came


def start(work: Callable[..., Any], *args: Any) -> Started:
    """Run the function in a process of its own."""
    mine, its = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_answer, args=(its, work, args))
    process.start()
    its.close()
    return Started(process, mine)


def barrier(number: int) -> Any:
    """Where so many processes wait for each other."""
    return _CONTEXT.Barrier(number, timeout=PATIENCE)


def elsewhere(work: Callable[..., Any], *args: Any) -> Any:
    """What the function returns in a process of its own."""
    return start(work, *args).came()


def _answer(answers: Any, work: Callable[..., Any], args: tuple[Any, ...]) -> None:
    answers.send(work(*args))
