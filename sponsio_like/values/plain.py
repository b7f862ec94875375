"""Opens Python values as JSON data, as far as that is possible: contracts read arguments so.

In: enums, dataclasses, pydantic's models, dates and the like. Out: JSON data, bounded in depth and
size; what has no such form, or raises when it is read, is `UNREADABLE`. No serializer of a model is
asked: a contract reads what the tool receives.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections import deque
from collections.abc import Iterator, Mapping, MappingView, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any

from sponsio_like.values.frozen import (
    UNREADABLE,
    Room,
    freeze,
    freeze_args,
    freeze_members,
    key_name,
)
from sponsio_like.values.limits import ANSWER_CAP, DEPTH_CAP, VALUES_CAP

_COLLECTIONS = (dict, list, tuple, set, frozenset, deque)
_LAZY = (Mapping, MappingView, Sequence, AbstractSet)
_TEXTS = (str, bytes, bytearray, memoryview)


def given_args(args: Any) -> Any:
    """Return the arguments of a call that a host gives by hand, frozen; as `freeze_args`."""
    return freeze_args(args, unwrapped)


def given_value(value: Any, most: int = VALUES_CAP) -> Any:
    """Return a value that a host gives by hand, frozen: a fact, an answer or an error."""
    return freeze(value, most, unwrapped)


def as_data(value: Any, room: Room | None = None) -> Any:
    """Return the value as JSON data. `room`: how much may be read of all arguments together."""
    try:
        return _data(value, DEPTH_CAP, room or Room(VALUES_CAP))
    except Exception:  # a value of the host's own making may raise when it is read
        return UNREADABLE


def as_members(value: Any, most: int = VALUES_CAP) -> Any:
    """Return the value as JSON data; a member that is too large makes no other unreadable."""
    room = Room(most)
    try:
        pairs = _fields(value)
        if pairs is None:
            return _data(value, DEPTH_CAP, room)
        return freeze_members(pairs, lambda each: as_data(each, room), most)
    except Exception:  # as above
        return UNREADABLE


def as_answer(value: Any) -> Any:
    """Return the answer of a tool as JSON data."""
    return as_members(value, ANSWER_CAP)


def _fields(value: Any) -> Any:
    """Return the members of a map or a model; None for what has none."""
    if isinstance(value, Mapping):
        return value.items()
    if not hasattr(type(value), "model_fields"):
        return None
    from pydantic import BaseModel, RootModel

    if not isinstance(value, BaseModel) or isinstance(value, RootModel):
        return None
    mine, more = vars(value), value.__pydantic_extra__ or {}
    fields = [(name, mine[name]) for name in type(value).model_fields if name in mine]
    return [*fields, *more.items()]


def written_data(value: Any) -> Any:
    """Return the value as JSON data, if a model may have written it; else `UNREADABLE`.

    For parameters whose type is not data: a text among them is read, a client is not.
    """
    inside = isinstance(value, _COLLECTIONS)
    if not inside and isinstance(value, _LAZY) and not isinstance(value, _TEXTS):
        return UNREADABLE  # reading it may cost work
    data = as_data(value)
    leaves = [each is not UNREADABLE for each in _leaves(data)]
    return data if (any(leaves) if inside else all(leaves)) and data is not None else UNREADABLE


def _leaves(data: Any) -> Iterator[Any]:
    """Yield all scalars in the data but None, and the names of members."""
    stack = [data]
    while stack:
        each = stack.pop()
        if isinstance(each, dict):
            yield from each
            stack.extend(each.values())
        elif isinstance(each, list):
            stack.extend(each)
        elif each is not None:
            yield each


def _data(value: Any, depth: int, room: Room) -> Any:
    if isinstance(value, enum.Enum):
        return _data(value.value, depth - 1, room) if depth > 0 else UNREADABLE
    if _is_scalar(value):
        return value
    if depth <= 0 or room.values <= 0:
        return UNREADABLE
    if isinstance(value, Mapping):
        return _members(value, depth, room)
    if isinstance(value, list):
        return _items(value, depth, room)
    inside = _opened(value)
    return _data(inside, depth if isinstance(inside, (dict, list)) else depth - 1, room)


def _items(items: Any, depth: int, room: Room) -> Any:
    """Return all of the items as a list; `UNREADABLE` if there are too many."""
    room.values -= 1
    out: list[Any] = []
    for item in items:
        if room.values <= 0:
            return UNREADABLE
        room.values -= _is_scalar(item)
        out.append(_data(item, depth - 1, room))
    return out


def _members(value: Mapping[Any, Any], depth: int, room: Room) -> Any:
    """Return all of the members by name; `UNREADABLE` if there are too many.

    A name that two members have is unreadable.
    """
    room.values -= 1
    members: dict[str, Any] = {}
    for key, each in value.items():
        if room.values <= 0:
            return UNREADABLE
        room.values -= _is_scalar(each)
        name = key_name(key)
        members[name] = UNREADABLE if name in members else _data(each, depth - 1, room)
    return members


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | bool | int | float | Decimal)


def unwrapped(value: Any) -> Any:
    """Return what a value of the host is made of: a map, a list or a scalar; else `UNREADABLE`."""
    try:
        return _opened(value)
    except Exception:  # it may raise when it is read; the values beside it are read all the same
        return UNREADABLE


def _opened(value: Any) -> Any:
    match value:
        case enum.Enum():
            return value.value
        case bytes() | bytearray() | memoryview():
            return bytes(value).decode()
        case set() | frozenset() if len(value) <= VALUES_CAP:  # equal sets are in equal order
            return sorted(value, key=repr)
        case Sequence() | MappingView():
            items: Any = value
            return list(itertools.islice(items, ANSWER_CAP + 1))
        case Iterator():  # reading would use it up
            return UNREADABLE
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return _of_pydantic(value)


def _of_pydantic(value: Any) -> Any:
    """Return models by their fields; secrets as they are; dates, paths, ids as pydantic writes
    them.
    """
    from pydantic import BaseModel, RootModel, Secret, SecretBytes, SecretStr
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    match value:
        case Secret() | SecretStr() | SecretBytes():
            return value.get_secret_value()
        case RootModel():
            return value.root
        case BaseModel():
            return dict(_fields(value))
    foreign = all(each.__module__ != "pydantic.networks" for each in type(value).__mro__)
    if foreign and hasattr(type(value), "__pydantic_serializer__"):
        return UNREADABLE  # what a serializer says is not what the tool receives
    try:
        return to_jsonable_python(value)
    except PydanticSerializationError:  # it has no JSON form; the values beside it may have one
        return UNREADABLE
