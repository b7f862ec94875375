"""Arguments are read once: a private copy, bounded in depth and size.

What lies beyond the bounds, or is not JSON data, becomes `UNREADABLE`: no comparison with it can
be made.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sponsio_like.values import VALUES_CAP

DEPTH_CAP = 64
"""Deepest nesting of arguments that is looked at."""


BITS_CAP = 14_000
"""Largest whole number that is looked at, in bits: some 4,200 digits."""


class Unreadable:
    """A value that no comparison can be made with."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<unreadable>"


UNREADABLE = Unreadable()
FLAT = 100
"""Most arguments that are looked at one by one, to see whether all are plain."""
LARGE = 1 << 63
_FLAT = frozenset({bool, float, type(None)})
_PLAIN = (str, int, float, bool, type(None), Decimal)


def freeze_args(args: Any) -> Any:
    """The arguments of a call, frozen. Raises `TypeError` if they are no map."""
    if args is None:
        return {}
    if type(args) is dict and len(args) < FLAT:
        for name, value in args.items():
            kind = type(value)
            flat = kind is str or kind in _FLAT or (kind is int and -LARGE < value < LARGE)
            if not flat or type(name) is not str:
                break
        else:
            return args.copy()  # names, and values that never change: this is a copy of all
    if not isinstance(args, Mapping):
        raise TypeError(f"arguments are a {type(args).__name__}, not a map of names to values")
    return freeze(args)


def freeze(value: Any) -> Any:
    """A copy that later changes to `value` do not reach."""
    try:
        return _copy(value, DEPTH_CAP, [VALUES_CAP])
    except Exception:  # a mapping of the host's own making may raise when it is read
        return UNREADABLE


def _copy(value: Any, depth: int, left: list[int]) -> Any:
    if isinstance(value, _PLAIN):
        huge = isinstance(value, int) and value.bit_length() > BITS_CAP
        return UNREADABLE if huge else value
    left[0] -= 1
    if depth <= 0 or left[0] <= 0:
        return UNREADABLE
    if isinstance(value, Mapping):
        return {str(key): _copy(item, depth - 1, left) for key, item in _first(value.items(), left)}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_copy(item, depth - 1, left) for item in _first(value, left)]
    return UNREADABLE


def _first(items: Any, left: list[int]) -> Any:
    """The items while there is room; then one that cannot be read."""
    for item in items:
        left[0] -= 1
        if left[0] < 0:
            yield ("", UNREADABLE) if isinstance(item, tuple) and len(item) == 2 else UNREADABLE
            return
        yield item
