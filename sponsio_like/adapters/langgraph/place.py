"""The place in a graph's history where a node runs.

In: the config and the runtime of a node, and the value of its channel. Out: `Place`: the thread,
how deep it is nested, and a key that names this step: unchanged when it is run again after an
interrupt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
