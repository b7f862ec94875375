"""Work that a node does once, however often it runs again after an interrupt: LangGraph's tasks.

In: a function. Out: its result; when the node runs again it comes from the checkpoint. Streams of
updates show a task as they show a node: what it gives stands under the channel, so that nobody
takes it for an update of the state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.func import task

from sponsio_like.adapters.langgraph.channel import CHANNEL


def once(make: Callable[[], Any], later: bool) -> Any:
    """Return what `make` gives, once, however often the node runs; and True if that was now.

    `later`: something to be awaited for that.
    """
    fresh: list[bool] = []

    def made() -> Any:
        fresh.append(True)
        return {CHANNEL: make()}

    named: Any = task(name="contracts")
    waiting = named(made)()
    return _awaited(waiting, fresh) if later else (waiting.result()[CHANNEL], bool(fresh))


async def _awaited(waiting: Any, fresh: list[bool]) -> tuple[Any, bool]:
    return (await waiting)[CHANNEL], bool(fresh)
