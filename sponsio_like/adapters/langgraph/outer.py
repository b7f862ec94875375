"""The guarded call that a graph is called from, if it is called from one.

In: the id of a call whose tool is about to run. Out: `Outer`, for whatever runs inside of it: ids
of calls in there are its own, and what is done in there comes back with its result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


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
