"""The guarded call that a graph is called from, if it is.

In: the id of a call whose tool is about to run. Out: `Outer`, for whatever runs inside of it: ids
of calls in there begin with its own, and what is done in there comes back with its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Outer:
    """A call that runs. `entries`: what graphs inside of it have done to its session, by key."""

    id: str
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    def own(self, id: str) -> str:
        """The id of a call in there: two graphs may use the same."""
        return f"{self.id}/{id}"

    def note(self, entries: Iterable[dict[str, Any]]) -> None:
        """These were done in there."""
        self.entries.update({each["key"]: each for each in entries})


_OUTER: ContextVar[Outer | None] = ContextVar("sponsio_like_outer", default=None)


def outer() -> Outer | None:
    """The guarded call that this runs in."""
    return _OUTER.get()


@contextmanager
def within(id: str) -> Iterator[Outer]:
    """Within the block the tool of this call runs."""
    call = Outer(id)
    token = _OUTER.set(call)
    try:
        yield call
    finally:
        _OUTER.reset(token)
