"""What the calls of a batch say that have ended before the graph was resumed, elsewhere.

In: the config of a task. Out: the entries that tasks beside it have written, and that its graph
will see only when all of them have ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sponsio_like.adapters.langgraph.journal import Entry
from sponsio_like.adapters.langgraph.lineage import CHANNEL
from sponsio_like.adapters.langgraph.place import saver_of


def siblings(config: Mapping[str, Any], runtime: Any, rev: str, later: bool) -> Any:
    """The entries for the value `rev`; `later`, something to be awaited for them."""
    saver, here = saver_of(config), getattr(runtime, "execution_info", None)
    if saver is None or here is None:
        return _nothing() if later else []
    around = here.checkpoint_ns.rpartition("|")[0]
    at = {"checkpoint_ns": around, "checkpoint_id": here.checkpoint_id}
    where = {"configurable": {"thread_id": here.thread_id, **at}}
    return _fetched(saver, where, rev) if later else _entries(saver.get_tuple(where), rev)


async def _fetched(saver: Any, where: Any, rev: str) -> list[Entry]:
    return _entries(await saver.aget_tuple(where), rev)


async def _nothing() -> list[Entry]:
    return []


def _entries(found: Any, rev: str) -> list[Entry]:
    writes = [] if found is None else found.pending_writes or []
    values = [value for _, channel, value in writes if channel == CHANNEL]
    mine = [value for value in values if isinstance(value, dict) and value.get("rev") == rev]
    return [each for value in mine for each in value.get("results", ())]
