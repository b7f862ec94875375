"""Reads the results of calls that ended in a step which is in no checkpoint.

In: the config of a node. Out: entries that tasks have written, and that the graph has not seen: of
those beside this one, when it is resumed in another process; of an earlier step, when its run was
left (the client went away, or the process died) and the thread goes on with something else. And
what graphs inside of a call have done, by their own checkpoints: such a graph goes on where it was,
or is done; what it has decided before, the session of the graph around it has to be told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from sponsio_like.adapters.langgraph.channel import CHANNEL, GuardPart
from sponsio_like.adapters.langgraph.journal import JournalEntry
from sponsio_like.adapters.langgraph.place import name_at, saver_of
from sponsio_like.guard import Flow, Run

MOST = 200
"""Most checkpoints of a thread that are looked at, the latest first."""
TRIES = 20
"""Attempts to read checkpoints while others write, before a last one that may raise."""
BACK = 8
"""Most checkpoints that are looked at, back from where the graph is."""


def is_saved(config: Any, runtime: Any, call: str, rev: str, *, later: bool) -> Flow:
    """True if a checkpoint of this graph knows what this call of the part `rev` has come to.

    It may have ended after another checkpoint than the one that the node goes on from.
    """
    here = runtime.execution_info
    at = {"thread_id": here.thread_id, "checkpoint_ns": here.checkpoint_ns.rpartition("|")[0]}
    where: Any = {"configurable": at}
    found = yield from checkpoints_of(saver_of(config), where, later=later)
    return any(_knows(part, rev, call) for each in found for part in parts_of(each))


def parts_of(found: Any) -> Iterator[GuardPart]:
    """Yield all parts that a checkpoint, or a write after it, has."""
    pending = [value for _, channel, value in found.pending_writes or () if channel == CHANNEL]
    for whole in (found.checkpoint["channel_values"].get(CHANNEL), *pending):
        yield from whole.values() if isinstance(whole, dict) else ()


def _knows(part: GuardPart, rev: str, call: str) -> bool:
    """True if this part has the result of the call, or was made from one that has it."""
    if part.get("rev") != rev:
        return rev in part.get("line", ())
    return any(each["id"] == call for each in part.get("results", ()))


def left_over(kept: GuardPart) -> bool:
    """True if calls were let through, and nobody knows how they have ended."""
    ended = {each["id"] for each in kept.get("results", ())}
    rulings = kept.get("rulings", {}).values()
    return any("id" in each and each["id"] not in ended for each in rulings)


def ended_in(config: Mapping[str, Any], runtime: Any, rev: str, most: int, *, later: bool) -> Flow:
    """Return the entries for this part, of the latest of so many checkpoints that has any.

    Of one: those of tasks beside this one; of more: those of a step that was left, too.
    """
    saver, here = saver_of(config), getattr(runtime, "execution_info", None)
    where = None if saver is None or here is None else _where(here)
    for _ in range(most):
        found = None if where is None else (yield from fetched(saver, where, later=later))
        if found is None or (entries := list(_entries(found, rev))):
            return [] if found is None else entries
        where = found.parent_config
    return []


def _where(here: Any) -> Any:
    """Return the config of the checkpoint that a node goes on from."""
    at = {"checkpoint_ns": here.checkpoint_ns.rpartition("|")[0]}
    at |= {"thread_id": here.thread_id, "checkpoint_id": here.checkpoint_id}
    return {"configurable": at}


def fetched(saver: Any, where: Any, *, later: bool) -> Flow:
    """Return a checkpoint."""
    return (yield from _read(saver.aget_tuple if later else saver.get_tuple, where))


def checkpoints_of(saver: Any, where: Any, most: int = MOST, *, later: bool) -> Flow:
    """Return the list of the latest checkpoints."""
    return (yield from _read(_alisted if later else _listed, saver, where, most))


def _read(ask: Callable[..., Any], *given: Any) -> Flow:
    """Return what a saver says; it is asked anew, where another task has written to it."""
    for _ in range(TRIES):
        try:
            return (yield Run(ask, given))
        except RuntimeError:  # a dictionary that has changed while it was gone through
            continue
    return (yield Run(ask, given))


def _listed(saver: Any, where: Any, most: int) -> list[Any]:
    return [*saver.list(where, limit=most)]


async def _alisted(saver: Any, where: Any, most: int) -> list[Any]:
    return [each async for each in saver.alist(where, limit=most)]


def _entries(found: Any, rev: str) -> Iterator[JournalEntry]:
    for _, channel, value in found.pending_writes or ():
        for each in value.values() if channel == CHANNEL and isinstance(value, dict) else ():
            if each.get("rev") == rev:
                yield from each.get("results", ())


# --- what graphs inside of a call have done -------------------------------------------------------


def inside(config: Mapping[str, Any], runtime: Any, calls: Collection[str], *, later: bool) -> Flow:
    """Return the entries of graphs inside of these calls."""
    saver, here = saver_of(config), getattr(runtime, "execution_info", None)
    if saver is None or here is None or not calls:
        return []
    where: Any = {"configurable": {"thread_id": here.thread_id}}
    return _done((yield from checkpoints_of(saver, where, later=later)), calls)


def left_in(kept: GuardPart) -> set[str]:
    """Return the names of the calls of this part that were let through."""
    rulings = kept.get("rulings", {}).values()
    return {name_at(kept.get("place", ""), each["id"]) for each in rulings if "id" in each}


def _done(found: Iterable[Any], calls: Collection[str]) -> list[JournalEntry]:
    latest: dict[str, Any] = {}
    for each in found:
        at = each.config["configurable"]
        known = latest.get(at["checkpoint_ns"])
        if known is None or known.config["configurable"]["checkpoint_id"] < at["checkpoint_id"]:
            latest[at["checkpoint_ns"]] = each
    parts = [
        (each, kept)
        for each in latest.values()
        for kept in (each.checkpoint["channel_values"].get(CHANNEL) or {}).values()
    ]
    names, entries = set(calls), list[JournalEntry]()
    while mine := [pair for pair in parts if pair[1].get("outer") in names]:
        parts = [pair for pair in parts if pair not in mine]
        for each, kept in mine:
            names |= left_in(kept)
            entries += [*kept.get("journal", ()), *kept.get("results", ())]
            entries += _entries(each, kept["rev"])
    return entries
