"""Counts and caps the work of reading values for one decision, summed over all contracts.

In: what a search is about to cost. Out: it may go on, or `NotCanonical`. What was found in a value
is kept until the decision is made, for the next contract that looks into it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from sponsio_like.values.canonical_form import NotCanonical
from sponsio_like.values.limits import EFFORT_CAP

T = TypeVar("T")
KNOWN_CAP = 1_000
"""Most values for which the results of reading them are cached."""


class _ReadResult(NamedTuple):
    """The result of reading a value, or why it failed. It keeps the value
    alive, and so its `id`.
    """

    value: Any
    made: Any
    why: str = ""

    def read(self) -> Any:
        if self.why:
            raise NotCanonical(self.why)
        return self.made


def _made(value: Any, make: Callable[[Any], Any]) -> _ReadResult:
    try:
        return _ReadResult(value, make(value))
    except NotCanonical as error:
        return _ReadResult(value, None, str(error))


class Effort:
    """The work of one decision in this thread, as a context manager. `spent`: it was too much."""

    __slots__ = ("_before", "_known", "_left", "spent")

    def __init__(self, most: int = EFFORT_CAP) -> None:
        self._left, self.spent = most, False
        self._known: dict[Any, _ReadResult] = {}
        self._before: Effort | None = None

    def __enter__(self) -> Self:
        self._before = _present()
        _HERE.effort = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        _HERE.effort = self._before

    def take(self, work: int) -> None:
        """Count this work. Raises `NotCanonical` if it is more than is left, which then serves
        smaller work.
        """
        if work > self._left:
            self.spent = True
            raise NotCanonical("too much work for one decision")
        self._left -= work

    def once(self, what: str, value: Any, make: Callable[[Any], T]) -> Any:
        """Return what `make` makes of the value, made once. Raises `NotCanonical` each time if
        `make` did.
        """
        key = (what, value if type(value) is str else id(value))
        found = self._known.get(key)
        if found is None:
            found = _made(value, make)
            if len(self._known) < KNOWN_CAP:
                self._known[key] = found
        return found.read()


_HERE = threading.local()


def _present() -> Effort | None:
    return getattr(_HERE, "effort", None)


def is_counted() -> bool:
    """True while a decision counts its work in this thread."""
    return getattr(_HERE, "effort", None) is not None


def spend(work: int) -> None:
    """Count this work towards the decision that is being made. Raises `NotCanonical`."""
    here = _present()
    if here is not None:
        here.take(work)


def once_per_decision(what: str, value: Any, make: Callable[[Any], T]) -> T:
    """Return what `make` makes of the value: made once for a decision, each time outside of one."""
    here = _present()
    if here is None:
        return make(value)
    made: T = here.once(what, value, make)
    return made
