"""The place in a graph's history where a node runs.

In: the config and the runtime of a node, and the value of its channel. Out: `Place`: the thread,
how deep it is nested, and a key that names this step: unchanged when it is run again after an
interrupt. And `Outer`, the guarded call that a graph is called from: ids of calls in there are its
own, and what is done in there comes back with its result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

_CHECKPOINTER = "__pregel_checkpointer"
"""The key of the checkpointer in the config of a node; its value is None if nothing saves."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place where a node runs. `thread`: None where nothing is saved.

    `inside`: the graph runs in another one; `lasting`: it goes on there where it was. `run` tells
    this run of the graph from others that were begun in the same place. `root` is the step of the
    outermost graph. `ended`: what calls have come to in a step before, which is in no checkpoint.
    """

    thread: str | None
    inside: bool
    step: str
    run: str = ""
    root: str = ""
    lasting: bool = False
    ended: tuple[Any, ...] = ()

    @property
    def depth(self) -> int:
        """The number of graphs, and of tasks of them, around this one."""
        return len(self.called.split("|")) if self.run else 0

    @property
    def called(self) -> str:
        """The place that this graph is called from, without the number of a later call there."""
        return "|".join(each for each in self.run.split("|") if not each.isdigit())


def saver_of(config: Mapping[str, Any]) -> Any:
    """Return the checkpointer of the graph; None if nothing saves its state."""
    return config.get("configurable", {}).get(_CHECKPOINTER)


def place_of(config: Mapping[str, Any], runtime: Any) -> Place:
    """Return the place where a node runs."""
    given = config.get("configurable", {})
    thread = given.get("thread_id") if saver_of(config) else None
    here = getattr(runtime, "execution_info", None)
    if here is None:
        return Place(None, False, "")
    run, inside, _ = here.checkpoint_ns.rpartition("|")
    return Place(
        None if thread is None else str(thread),
        bool(inside),
        f"{here.checkpoint_id} {here.task_id}",
        run,
        given.get("checkpoint_map", {}).get("", here.checkpoint_id),
        bool(run) and ":" not in run,
    )


def turn_of(config: Mapping[str, Any], node: str) -> tuple[str, int]:
    """Return a key for a node of this run of the graph, and the number of the run's step."""
    run = config.get("configurable", {}).get("checkpoint_ns", "").rpartition("|")[0]
    return f"{run}|{node}", config["metadata"]["langgraph_step"]


# --- the call that a graph is called from ---------------------------------------------------------


@dataclass(eq=False)
class Outer:
    """A call that runs. `entries`: what graphs inside of it have done to its session, by key.

    `name` tells it from others of the same id, and stays when its step is run again.
    """

    name: str
    guard: Any = None
    around: Any = None
    """The call that this one runs in, if it does."""
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    def own(self, run: str, id: str) -> str:
        """Return the id of a call of a `run` in there: two graphs or runs may use the same."""
        where = hashlib.blake2b(json.dumps([self.name, run]).encode(), digest_size=9).hexdigest()
        return f"{where}/{id}"

    def note(self, entries: Iterable[dict[str, Any]]) -> None:
        """Note what was done in there."""
        self.entries.update({each["key"]: each for each in entries})


def name_at(place: str, id: str) -> str:
    """Return the name of the call `id` that was decided at a place."""
    return f"{place} {id}"


_OUTER: ContextVar[Outer | None] = ContextVar("sponsio_like_outer", default=None)


def outer(guard: Any) -> Outer | None:
    """Return the call that this runs in, if this guard has let it through; None if in none."""
    here = _OUTER.get()
    while here is not None and here.guard is not guard:
        here = here.around
    return here


@contextmanager
def within(
    guard: Any, place: str, id: str, before: Iterable[dict[str, Any]] = ()
) -> Iterator[Outer]:
    """Mark the block as the run of a call that a guard let through at a place; yield it.

    `before`: what graphs inside of it have done in another process.
    """
    call = Outer(name_at(place, id), guard, _OUTER.get())
    call.note(before)
    token = _OUTER.set(call)
    try:
        yield call
    finally:
        _OUTER.reset(token)
