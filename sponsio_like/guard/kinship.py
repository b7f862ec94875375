"""Decides which of several functions of one name may run in place of another.

In: functions, as they were decorated. Out: the parts that they were made with, and the answer. A
function that is made anew for each customer must not stand in for that of another customer, unless
the host has wrapped both at once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import CellType, FunctionType
from typing import Any

_VALUES = (str, bytes, int, float, complex, bool, Decimal, type(None))


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """The place where a function was written, and the parts that it was made with, by name.

    `home` is the same after its module is loaded again. `batch`: those that were wrapped at once.
    """

    home: tuple[Any, Any]
    parts: Mapping[str, Any]
    batch: object | None = None

    def differs(self, other: Origin) -> set[str]:
        """Return the names of the parts in which they differ."""
        names = self.parts.keys() | other.parts.keys()
        return names - self._shared(names, other)

    def belongs(self, with_: Origin, varying: Iterable[str]) -> bool:
        """True if this one may run in place of the other one.

        Functions that were wrapped at once always may. Otherwise this one must not be a method of
        another object of the same class, and must share with the other one each part that it has of
        those in `varying`, in which functions of its name differ.
        """
        if self.batch is not None and self.batch is with_.batch:
            return True
        own = self.parts.keys() & set(varying)
        return not self._stranger(with_) and own == self._shared(own, with_)

    def _shared(self, names: Iterable[str], other: Origin) -> set[str]:
        both = [name for name in names if name in self.parts and name in other.parts]
        return {name for name in both if _same(self.parts[name], other.parts[name])}

    def _stranger(self, other: Origin) -> bool:
        mine, its = self.parts.get("self"), other.parts.get("self")
        return mine is not its and None not in (mine, its) and type(mine) is type(its)


def origin_of(function: Any, batch: object | None = None) -> Origin:
    """Return the origin of a function."""
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if not inspect.isroutine(inner) and not isinstance(inner, type):
        inner = type(inner)
    home = getattr(inner, "__module__", None), getattr(inner, "__qualname__", None)
    parts: dict[str, Any] = {}
    for name, part in _parts(function):
        parts[name if name not in parts else f"{name} {len(parts)}"] = part
    return Origin(home, parts, batch)


def unwrapped(function: Any) -> list[Any]:
    """Return a function, and those that it wraps."""
    chain = [function]
    while hasattr(chain[-1], "__wrapped__") and len(chain) < 100:
        chain.append(chain[-1].__wrapped__)
    return chain


def overridden(function: Callable[..., Any], owner: Any) -> Any:
    """Return what a subclass has in place of the method; None if nothing."""
    home, _, name = getattr(function, "__qualname__", "").rpartition(".")
    for cls in (owner if isinstance(owner, type) else type(owner)).__mro__:
        if cls.__qualname__ == home:
            return None
        if name in vars(cls):
            found = vars(cls)[name]
            inner = getattr(found, "__func__", found)
            return None if any(each is function for each in unwrapped(inner)) else found
    return None


def _parts(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts that a function was made with, by name: object, defaults, closure."""
    if isinstance(function, functools.partial):
        yield from _parts(function.func)
        yield from ((f"partial {n}", each) for n, each in enumerate(function.args))
        yield from ((f"partial {name}", each) for name, each in function.keywords.items())
    elif inspect.ismethod(function):
        yield "self", function.__self__
        yield from _parts(function.__func__)
    elif isinstance(function, FunctionType):
        chain = unwrapped(function)
        for each in chain:
            yield from _own(each, chain) if isinstance(each, FunctionType) else ()
    elif not inspect.isroutine(function) and not isinstance(function, type):
        yield "self", function


def _own(function: FunctionType, chain: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the parts of one function of a chain.

    Of a decorator the contents of closure cells, of the last function the cells themselves.
    """
    scope = "".join(function.__code__.co_qualname.rpartition("<locals>")[:2])
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name == "__class__":
            continue
        try:
            inside = cell.cell_contents
        except ValueError:  # the cell is empty
            inside = cell
        if not any(inside is each for each in chain):
            yield f"{scope} {name}", cell if function is chain[-1] else inside
    for default in inspect.signature(function, follow_wrapped=False).parameters.values():
        if default.default is not default.empty:
            yield f"default {default.name}", default.default


def _same(mine: Any, its: Any) -> bool:
    """True if two parts are one.

    The content of a cell may change, so cells with equal texts differ.
    """
    if mine is its:
        return True
    if isinstance(mine, CellType) and isinstance(its, CellType):
        try:
            inside = mine.cell_contents
            return inside is its.cell_contents and not isinstance(inside, _VALUES)
        except ValueError:
            return False
    return type(mine) is type(its) and isinstance(mine, _VALUES) and bool(mine == its)
