"""Allows graphs inside others that keep a memory (`checkpointer=True`) one at a time in a place.

In: where such a graph decides, and what its channel holds there. Out: why its contracts would
forget calls, where LangGraph gives it a second memory, or writes two runs over each other.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from sponsio_like.adapters.langgraph.place import Place

STEPS_CAP = 4096
"""Most steps that are known; of more, those that were seen first are forgotten."""
_SEEN: OrderedDict[tuple[str, ...], str] = OrderedDict()
_LOCK = threading.Lock()
_FORKS = tuple(map(int, version("langgraph").split(".")[:2])) >= (1, 2)
"""True if LangGraph gives a replay a checkpoint of its own: before, it looks like a second run."""


def forgets(contract: str, place: Place, whole: Mapping[str, Any]) -> str:
    """Return why the contract would forget, as another run has its own memory here; or `""`.

    `whole` is the value of the channel of this graph.
    """
    what = f"contract `{contract}` remembers earlier calls, but this graph, of checkpointer=True,"
    if place.run != place.called:
        return (
            f"{what} is called for the second time by one node (or is tried again), and LangGraph "
            "gives it another memory there; call it in a node or a @task of its own, or put the "
            "contract on the world"
        )
    revs = sorted(str(each.get("rev", "")) for each in whole.values())
    if _FORKS and _is_beside((place.root, place.run, *revs), place.step.split()[0]):
        return (
            f"{what} runs beside another one in the same place, and the one that ends last would "
            "overwrite the memory of the other; let them run one after another, or put the "
            "contract on the world"
        )
    return ""


def _is_beside(step: tuple[str, ...], checkpoint: str) -> bool:
    """True if another run has gone on from the same value, in the same step of the graph around."""
    with _LOCK:
        known = _SEEN.setdefault(step, checkpoint)
        if len(_SEEN) > STEPS_CAP:
            _SEEN.popitem(last=False)
    return known != checkpoint
