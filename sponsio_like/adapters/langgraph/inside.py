"""Reads what graphs inside of a call have done from their own checkpoints.

In: the config of a node, and the names of calls that were let through by another process. Out: the
entries of the graphs that their tools have run. Such a graph goes on where it was, or is done; what
it has decided before, the session of the graph around it has to be told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sponsio_like.adapters.langgraph.channel import CHANNEL, Kept
from sponsio_like.adapters.langgraph.journal import Entry
from sponsio_like.adapters.langgraph.outer import name_at
from sponsio_like.adapters.langgraph.place import saver_of
from sponsio_like.guard import Flow, Run

MOST = 200
"""Most checkpoints of a thread that are looked at, the latest first."""
TRIES = 20
"""Attempts to list the checkpoints while others write, before a last one that may raise."""


def inside(config: Mapping[str, Any], runtime: Any, calls: Collection[str], *, later: bool) -> Flow:
    """Return the entries of graphs inside of these calls."""
    saver, here = saver_of(config), getattr(runtime, "execution_info", None)
    if saver is None or here is None or not calls:
        return []
    where: Any = {"configurable": {"thread_id": here.thread_id}}
    found = yield Run(alisted if later else listed, (saver, where))
    return _entries(found, calls)


def listed(saver: Any, where: Any, most: int = MOST) -> list[Any]:
    """List the latest checkpoints; anew, where another task has written to a saver in memory."""
    for _ in range(TRIES):
        try:
            return [*saver.list(where, limit=most)]
        except RuntimeError:  # a dictionary that has changed while it was gone through
            continue
    return [*saver.list(where, limit=most)]


async def alisted(saver: Any, where: Any, most: int = MOST) -> list[Any]:
    """Do what `listed` does, asynchronously."""
    for _ in range(TRIES):
        try:
            return [each async for each in saver.alist(where, limit=most)]
        except RuntimeError:
            continue
    return [each async for each in saver.alist(where, limit=most)]


def left_in(kept: Kept) -> set[str]:
    """Return the names of the calls of this part that were let through."""
    rulings = kept.get("rulings", {}).values()
    return {name_at(kept.get("place", ""), each["id"]) for each in rulings if "id" in each}


def _entries(found: Iterable[Any], calls: Collection[str]) -> list[Entry]:
    latest: dict[str, Any] = {}
    for each in found:
        at = each.config["configurable"]
        known = latest.get(at["checkpoint_ns"])
        if known is None or known.config["configurable"]["checkpoint_id"] < at["checkpoint_id"]:
            latest[at["checkpoint_ns"]] = each
    parts = [
        (each, kept)
        for each in latest.values()
        for kept in _parts(each.checkpoint["channel_values"].get(CHANNEL))
    ]
    names, entries = set(calls), list[Entry]()
    while mine := [pair for pair in parts if pair[1].get("outer") in names]:
        parts = [pair for pair in parts if pair not in mine]
        for each, kept in mine:
            names |= left_in(kept)
            entries += [*kept.get("journal", ()), *kept.get("results", ()), *_pending(each, kept)]
    return entries


def _parts(whole: Any) -> list[Kept]:
    return [*whole.values()] if isinstance(whole, dict) else []


def _pending(found: Any, kept: Kept) -> list[Entry]:
    """Return the results of calls whose step is in no checkpoint of that graph yet."""
    written = [value for _, channel, value in found.pending_writes or () if channel == CHANNEL]
    mine = [one for each in written for one in _parts(each) if one.get("rev") == kept["rev"]]
    return [entry for one in mine for entry in one.get("results", ())]
