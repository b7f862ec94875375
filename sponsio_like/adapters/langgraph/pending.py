"""What calls have come to that ended in a step which is in no checkpoint.

In: the config of a node. Out: entries that tasks have written, and that the graph has not seen: of
those beside this one, when it is resumed in another process; of an earlier step, when its run was
left (the client went away, or the process died) and the thread goes on with something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sponsio_like.adapters.langgraph.channel import CHANNEL, Kept
from sponsio_like.adapters.langgraph.journal import Entry
from sponsio_like.adapters.langgraph.place import saver_of

BACK = 8
"""Most checkpoints that are looked at, back from where the graph is."""


def siblings(config: Mapping[str, Any], runtime: Any, rev: str, later: bool) -> Any:
    """The entries for this part, of tasks beside this one; `later`, to be awaited."""
    return _walk(config, runtime, rev, 1, later)


def abandoned(config: Mapping[str, Any], runtime: Any, kept: Kept, later: bool) -> Any:
    """The entries for this part, of a step that was left; `later`, to be awaited."""
    return _walk(config, runtime, str(kept["rev"]), BACK, later)


def is_saved(config: Mapping[str, Any], runtime: Any, later: bool) -> Any:
    """Whether a call of this very step has ended, as its checkpoint knows; `later`, awaited."""
    saver, here = saver_of(config), runtime.execution_info
    at = {"checkpoint_ns": here.checkpoint_ns.rpartition("|")[0]}
    where: Any = {"thread_id": here.thread_id, "checkpoint_id": here.checkpoint_id, **at}

    def known(found: Any) -> bool:
        writes = () if found is None else found.pending_writes or ()
        return any(task == here.task_id and channel == CHANNEL for task, channel, _ in writes)

    async def look() -> bool:
        return known(await saver.aget_tuple({"configurable": where}))

    return look() if later else known(saver.get_tuple({"configurable": where}))


def left_over(kept: Kept) -> bool:
    """Whether calls were let through of which nobody knows how they have ended."""
    ended = {each["id"] for each in kept.get("results", ())}
    rulings = kept.get("rulings", {}).values()
    return any("id" in each and each["id"] not in ended for each in rulings)


def _walk(config: Mapping[str, Any], runtime: Any, rev: str, most: int, later: bool) -> Any:
    saver, here = saver_of(config), getattr(runtime, "execution_info", None)
    if saver is None or here is None:
        return _nothing() if later else []
    around = here.checkpoint_ns.rpartition("|")[0]
    at = {"checkpoint_ns": around, "checkpoint_id": here.checkpoint_id}
    where: Any = {"configurable": {"thread_id": here.thread_id, **at}}
    if later:
        return _later(saver, where, rev, most)
    for _ in range(most):
        found = None if where is None else saver.get_tuple(where)
        if found is None or (entries := list(_entries(found, rev))):
            return [] if found is None else entries
        where = found.parent_config
    return []


async def _later(saver: Any, where: Any, rev: str, most: int) -> list[Entry]:
    for _ in range(most):
        found = None if where is None else await saver.aget_tuple(where)
        if found is None or (entries := list(_entries(found, rev))):
            return [] if found is None else entries
        where = found.parent_config
    return []


async def _nothing() -> list[Entry]:
    return []


def _entries(found: Any, rev: str) -> Iterator[Entry]:
    for _, channel, value in found.pending_writes or ():
        for each in value.values() if channel == CHANNEL and isinstance(value, dict) else ():
            if each.get("rev") == rev:
                yield from each.get("results", ())
