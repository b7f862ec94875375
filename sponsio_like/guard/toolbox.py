"""The decorated tools of a guard, by name, in which the substitutes of redirects are found.

In: tools, as they are decorated. Out: the one of a name that belongs with another. The latest of a
name is kept; earlier ones, made for other sessions or customers, as long as somebody has them.
"""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError
from sponsio_like.guard.kinship import Origin


class Named(Protocol):
    """The properties of a tool that a toolbox needs."""

    @property
    def name(self) -> str:
        """The name that contracts use."""

    @property
    def origin(self) -> Origin:
        """The origin of its function."""


T = TypeVar("T", bound=Named)


@dataclass(slots=True)
class _Shelf(Generic[T]):
    """The tools of one name, and the parts in which they differ."""

    latest: T
    earlier: list[weakref.ref[T]] = field(default_factory=list)
    varying: set[str] = field(default_factory=set)
    room: int = 16

    def put(self, tool: T) -> None:
        """Add a tool of this name as the latest; keep the one before if they differ."""
        before, self.latest = self.latest, tool
        differing = before.origin.differs(tool.origin)
        if not differing and before.origin.batch is None:
            return  # they are interchangeable
        self.varying |= differing
        self.earlier.append(weakref.ref(before))
        if len(self.earlier) > self.room:
            self.earlier = [each for each in self.earlier if each() is not None]
            self.room = 2 * len(self.earlier) + 16

    def all(self) -> list[T]:
        """Return the tools that still exist, the latest first."""
        earlier = [each() for each in reversed(self.earlier)]
        return [self.latest, *(each for each in earlier if each is not None)]


class Toolbox(Generic[T]):
    """The tools of one guard."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._shelves: dict[str, _Shelf[T]] = {}
        self._lock = threading.Lock()

    def add(self, tool: T) -> None:
        """Add a tool. Raises `ContractError` if another function has its name."""
        with self._lock:
            shelf = self._shelves.get(tool.name)
            if shelf is None:
                self._shelves[tool.name] = _Shelf(tool)
                return
            origin, known = tool.origin, shelf.latest.origin
            at_once = origin.batch is not None and origin.batch is known.batch
            if origin.home != known.home or (at_once and origin.differs(known)):
                raise ContractError.of(
                    f"two tools are named `{tool.name}`", "give one another name=.."
                )
            shelf.put(tool)

    def instead(self, name: str, of: T) -> T:
        """Return the tool of this name that may run in place of another.

        Raises `LookupError` if none may.
        """
        with self._lock:
            shelf = self._shelves.get(name)
            if shelf is None:
                raise LookupError(f"no tool `{name}` is decorated with this guard")
            for each in shelf.all():
                if each.origin.belongs(of.origin, shelf.varying):
                    return each
        raise LookupError(f"no tool `{name}` is known to belong with this `{of.name}`")
