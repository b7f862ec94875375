"""The decorated tools of a guard, by name, in which the substitutes of redirects are found.

In: tools, as they are decorated. Out: the one of a name that belongs with another: the one that was
wrapped together with it, else the only one, if there is only one of both.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError
from sponsio_like.guard.owners import home_of


class Named(Protocol):
    """The properties of a tool that a toolbox needs."""

    @property
    def name(self) -> str:
        """The name that contracts use."""

    @property
    def function(self) -> Callable[..., Any]:
        """The function, as it was decorated."""

    @property
    def batch(self) -> dict[str, Self]:
        """The tools that were wrapped together with it, by name."""


T = TypeVar("T", bound=Named)


@dataclass(slots=True)
class _Entry(Generic[T]):
    """The entry of a name: where its functions were written, and the tool if it is one."""

    home: tuple[Any, Any]
    only: T | None


class Toolbox(Generic[T]):
    """The tools of one guard."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._entries: dict[str, _Entry[T]] = {}
        self._lock = threading.Lock()

    def add(self, tool: T) -> None:
        """Add a tool. Raises `ContractError` if another function has its name."""
        with self._lock:
            home = home_of(tool.function)
            entry = self._entries.setdefault(tool.name, _Entry(home, tool))
            beside = tool.batch.setdefault(tool.name, tool)
            if entry.home != home or not _same(beside, tool):
                raise ContractError.of(
                    f"two tools are named `{tool.name}`", "give one another name=.."
                )
            entry.only = tool if entry.only and _same(entry.only, tool) else None

    def instead(self, name: str, of: T) -> T:
        """Return the tool of this name that may run in place of another.

        Raises `LookupError` if none may.
        """
        with self._lock:
            entry = self._entries.get(name)
            if entry is None:
                raise LookupError(f"no tool `{name}` is decorated with this guard")
            several = [each for each in (name, of.name) if self._entries[each].only is None]
            found = of.batch.get(name, None if several else entry.only)
        if found is None:
            raise LookupError(
                f"several functions are decorated as `{several[0]}`, and this `{of.name}` together "
                f"with no `{name}`; wrap both by one `guard.wrap([..])`"
            )
        return found


def _same(one: Named, other: Named) -> bool:
    """True if two tools are one function, or one method of one object."""
    mine, its = one.function, other.function
    return mine is its or (inspect.ismethod(mine) and inspect.ismethod(its) and mine == its)
