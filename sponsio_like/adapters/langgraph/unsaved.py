"""Finds decisions that this process has acted on, and a run's checkpoint does not know.

In: where a node decides. Out: the part to go on from. LangGraph saves while a run goes on
(`durability="async"`): a run that begins when the client of the last one has just left, or beside
another one, reads a checkpoint from before its decisions. A replay or a fork does so on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from sponsio_like.adapters.langgraph.node_context import NodeContext
from sponsio_like.adapters.langgraph.pending_writes import acheckpoints_of, checkpoints_of, parts_of
from sponsio_like.adapters.langgraph.place import saver_of
from sponsio_like.guard import Flow, Run

LOOK = 64
"""Most checkpoints that are looked at, back from the newest one of the thread."""
_FORKED = frozenset({"update", "fork"})
"""The sources of checkpoints that `update_state`, or a replay, has made."""


def newest(stand: NodeContext, config: Any, runtime: Any, *, later: bool) -> Flow:
    """Return where the node decides, after all decisions before that this process knows of."""
    if stand.around is not None or stand.place.thread is None or not stand.sessions.own:
        return stand
    links, live = stand.since, stand.sessions.live
    beside = any(each.root == stand.place.root or each.batch == stand.batch for each in links)
    if beside or stand.batch in stand.kept.get("asked", ()) or not any(map(live.has_acted, links)):
        return stand
    if (yield from _looked(config, runtime, links[0].checkpoint, links[-1].mark, later=later)):
        return stand
    asked = stand.kept.get("asked", {})
    return replace(stand, kept={**live.written(links[-1].mark), "asked": asked}, newer=True)


def _looked(config: Any, runtime: Any, since: str, rev: str, *, later: bool) -> Flow:
    """True if the run goes back on purpose: it says so, and the store knows the part `rev`."""
    found, look = [_is_named(config)], acheckpoints_of if later else checkpoints_of
    for where in _places(runtime):
        every = yield Run(look, (saver_of(config), where, LOOK))
        newer = takewhile(lambda each: str(each.checkpoint["id"]) > since, every)
        found += [_tells(each, rev) for each in newer]  # their ids are in order
    return _on_purpose(found)


def _is_named(config: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return whether the run was begun from a named checkpoint, in the form of `_tells`."""
    return "checkpoint_id" in config.get("metadata", {}), False


def _places(runtime: Any) -> Iterator[Any]:
    """Yield the places of this graph's checkpoints, and of those of the outermost one."""
    here = runtime.execution_info
    for around in dict.fromkeys((here.checkpoint_ns.rpartition("|")[0], "")):
        yield {"configurable": {"thread_id": here.thread_id, "checkpoint_ns": around}}


def _tells(found: Any, rev: str) -> tuple[bool, bool]:
    """Return whether a checkpoint is a fork, and whether it knows the part."""
    knows = any(rev == part.get("rev") or rev in part.get("line", ()) for part in parts_of(found))
    return (found.metadata or {}).get("source") in _FORKED, knows


def _on_purpose(found: Iterable[tuple[bool, bool]]) -> bool:
    forks, knows = zip(*found, strict=True)
    return any(forks) and any(knows)
