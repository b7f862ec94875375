"""The decorated tools of a guard, by name, in which the substitutes of redirects are found.

In: tools, as they are decorated. Out: the tool of a name that may run in place of another: the one
that was wrapped together with it, else the only one of its name if both names have only one. And
the object that a method belongs to: a method of one customer must not run for another one.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError


def home_of(function: Any) -> tuple[Any, Any]:
    """Return where a function was written; the same after its module is loaded again."""
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function) and not isinstance(function, type):
        function = type(function)
    return getattr(function, "__module__", None), getattr(function, "__qualname__", None)


def object_of(function: Any) -> Any:
    """Return the object whose method this is, or the callable object; None for a function."""
    inner = _innermost(function)
    if inspect.ismethod(inner):
        return inner.__self__
    return None if inspect.isroutine(inner) or isinstance(inner, type) else inner


def is_of_another(function: Any, owner: Any) -> bool:
    """True if this is a method of another object than `owner`, and `owner` has it, too."""
    mine = object_of(function)
    if mine is None or owner is None or mine is owner:
        return False
    name = getattr(_innermost(function), "__name__", "__call__")
    holders = [cls for cls in type(mine).__mro__ if name in vars(cls)]
    return isinstance(owner, holders[-1] if holders else type(mine))


def wrapped_chain(function: Any) -> list[Any]:
    """Return a function, and those that it wraps."""
    chain = [function]
    while hasattr(chain[-1], "__wrapped__") and len(chain) < 100:
        chain.append(chain[-1].__wrapped__)
    return chain


def overridden(function: Callable[..., Any], owner: Any) -> Any:
    """Return the method by which a subclass overrides this one; None if none does."""
    home, _, name = getattr(function, "__qualname__", "").rpartition(".")
    for cls in (owner if isinstance(owner, type) else type(owner)).__mro__:
        if cls.__qualname__ == home:
            return None
        if name in vars(cls):
            found = vars(cls)[name]
            inner = getattr(found, "__func__", found)
            return None if any(each is function for each in wrapped_chain(inner)) else found
    return None


def _innermost(function: Any) -> Any:
    """Return the first method, or else the last function, that partials and decorators wrap."""
    for _ in range(100):
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function) or not hasattr(function, "__wrapped__"):
            break
        else:
            function = function.__wrapped__
    return function


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
    """The functions of one name: where they were written, and the tool if there is only one."""

    home: tuple[Any, Any]
    only: T | None


class Toolbox(Generic[T]):
    """The tools of one guard. `checks`: of each name, what refuses contracts that do not fit it."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.checks: dict[str, Callable[[Policy], None]] = {}
        self._entries: dict[str, _Entry[T]] = {}
        self._lock = threading.Lock()

    def add(self, tool: T) -> None:
        """Add a tool. Raises `ContractError` if another function has its name."""
        with self._lock:
            home = home_of(tool.function)
            entry = self._entries.setdefault(tool.name, _Entry(home, tool))
            same_name = tool.batch.setdefault(tool.name, tool)
            if entry.home != home or not _same(same_name, tool):
                raise ContractError.of(
                    f"two tools are named `{tool.name}`", "give one another name=.."
                )
            entry.only = tool if entry.only and _same(entry.only, tool) else None

    def substitute(self, name: str, of: T) -> T:
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
