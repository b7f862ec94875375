"""Python values as JSON data, as far as they can be said: what contracts read of an argument.

In: enums, dataclasses, pydantic's models, dates and the like. Out: JSON data, bounded in depth and
size; what has no such form, or raises when it is read, is `UNREADABLE`.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from sponsio_like.freezing import DEPTH_CAP, UNREADABLE
from sponsio_like.values import VALUES_CAP


def as_data(value: Any) -> Any:
    """The value as JSON data."""
    try:
        return _data(value, DEPTH_CAP, [VALUES_CAP])
    except Exception:  # a value of the host's own making may raise when it is read
        return UNREADABLE


def _data(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if depth <= 0 or left[0] < 0:
        return UNREADABLE
    match value:
        case enum.Enum():
            return _data(value.value, depth - 1, left)
        case None | bool() | int() | float() | Decimal() | str():
            return value
        case Mapping():
            return _members(value.items(), depth, left)
        case list() | tuple():
            return [_data(each, depth - 1, left) for each in _while_room(value, left)]
        case set() | frozenset() if len(value) <= VALUES_CAP:  # equal sets are in equal order
            return _data(sorted(value, key=repr), depth, left)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return _members(((name, getattr(value, name)) for name in names), depth, left)
    return UNREADABLE if isinstance(value, Iterator) else _foreign(value, depth, left)


def _members(pairs: Any, depth: int, left: list[int]) -> dict[str, Any]:
    return {str(key): _data(each, depth - 1, left) for key, each in _while_room(pairs, left)}


def _while_room(items: Any, left: list[int]) -> Iterator[Any]:
    """The items, the last of which cannot be read any more if there is no room for all."""
    for item in items:
        yield item
        if left[0] < 0:
            return


def _foreign(value: Any, depth: int, left: list[int]) -> Any:
    """Models, dates, paths, ids: as pydantic writes them."""
    from pydantic import BaseModel, RootModel
    from pydantic_core import to_jsonable_python

    if isinstance(value, RootModel):
        return _data(value.root, depth - 1, left)
    if isinstance(value, BaseModel):
        return _members(value, depth, left)
    return _data(to_jsonable_python(value), depth - 1, left)
