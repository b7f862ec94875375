"""Work that a node begins, and whose result outlives it: LangGraph's tasks.

In: a function. Out: what will come of it. When the node runs again after an interrupt it comes at
once, without the function. Streams of updates show a task as they show a node: what it gives
stands under `contracts`, so that nobody takes it for an update of the state.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from langgraph.func import task

from sponsio_like.adapters.langgraph.lineage import CHANNEL


def begin(work: Callable[[], Any], name: str) -> Any:
    """Begin it, as a task of this name. The order in which a node begins tasks identifies them."""

    def given() -> Any:
        return {CHANNEL: work()}

    async def agiven() -> Any:
        return {CHANNEL: await work()}

    make: Any = task(name=name)
    return make(agiven if inspect.iscoroutinefunction(work) else given)()


def ended(waiting: Any) -> list[Any]:
    """What has come of it, if that is known already: it ended when the node ran before."""
    known = waiting.done() and waiting.exception() is None
    return [waiting.result()[CHANNEL]] if known else []


def end(waiting: Any, later: bool) -> Any:
    """What has come of it; `later`, what has to be awaited for that."""
    return _later(waiting) if later else waiting.result()[CHANNEL]


async def _later(waiting: Any) -> Any:
    return (await waiting)[CHANNEL]


def once(make: Callable[[], Any], later: bool) -> Any:
    """What `make` gives, once, however often the node runs; and whether that was now."""
    fresh: list[bool] = []

    def made() -> Any:
        fresh.append(True)
        return make()

    waiting = begin(made, "contracts")
    return _with(waiting, fresh) if later else (end(waiting, later=False), bool(fresh))


async def _with(waiting: Any, fresh: list[bool]) -> tuple[Any, bool]:
    return await _later(waiting), bool(fresh)
