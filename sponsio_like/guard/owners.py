"""Finds the object that a function works on, and what a subclass has in place of a method.

In: functions, as they were decorated. Out: where one was written, its object, and whether it may
run for another object: a method of one customer must not run for another one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


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
    """Return what a subclass has in place of the method; None if nothing."""
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
    """Return what partials and decorators wrap: the first method, or the last function."""
    for _ in range(100):
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function) or not hasattr(function, "__wrapped__"):
            break
        else:
            function = function.__wrapped__
    return function
