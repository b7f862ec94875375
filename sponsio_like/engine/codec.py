"""Encodes what sessions remember as JSON data, and decodes it.

In: states, letters, numbers, facts. Out: JSON data that is read back exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from sponsio_like.events import LATE, MISSING, OPEN
from sponsio_like.monitor import (
    Addition,
    Branch,
    Change,
    ClauseState,
    Comparison,
    PositionCounts,
    State,
    ToCome,
    WindowEntry,
)
from sponsio_like.values import ABSENT, UNREADABLE

_NAMES: dict[str, Any] = {
    "open": OPEN,
    "late": LATE,
    "missing": MISSING,
    "absent": ABSENT,
    "unreadable": UNREADABLE,
}
_RECORDS: dict[str, Callable[..., Any]] = {
    "watch": ClauseState,
    "state": State,
    "addition": Addition,
    "branch": Branch,
    "comparison": Comparison,
    "to come": ToCome,
    "entry": WindowEntry,
    "change": Change,
    "place": PositionCounts,
}
_PLAIN = frozenset({bool, int, str, type(None)})


def encode(value: Any) -> Any:
    """Return `value` as JSON data that `decode` reads back exactly; raise `TypeError` if it cannot
    be.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    name = _BY_TYPE.get(kind)
    if name is not None:
        return {name: [each if type(each) in _PLAIN else encode(each) for each in value]}
    match value:
        case bool() | int() | str():
            return value
        case list():
            return {"list": [encode(each) for each in value]}
        case float():
            return value if math.isfinite(value) else {"float": repr(value)}
        case Decimal():
            return {"decimal": str(value)}
        case frozenset():
            return {"set": sorted(map(encode, value), key=repr)}
        case Mapping():
            return {"map": [[encode(key), encode(each)] for key, each in value.items()]}
        case tuple():  # of a class that is not known: it is read back as a plain one
            return {"tuple": [encode(each) for each in value]}
    for named, known in _NAMES.items():
        if value is known:
            return {"name": named}
    raise TypeError(f"cannot be part of a snapshot: {value!r}")


_BY_TYPE: dict[Any, str] = {record: name for name, record in _RECORDS.items()}
_BY_TYPE |= {tuple: "tuple", list: "list"}


def decode(data: Any) -> Any:
    """Return the value that `encode` has encoded."""
    if not isinstance(data, dict):
        return data
    ((kind, body),) = data.items()
    read = _READERS.get(kind)
    if read is not None:
        return read([decode(each) if isinstance(each, dict) else each for each in body])
    return _RARE[kind](body)


_READERS: dict[str, Callable[[list[Any]], Any]] = {"tuple": tuple, "set": frozenset, "list": list}
_READERS |= {
    name: (lambda parts, record=record: record(*parts))  # type: ignore[misc]
    for name, record in _RECORDS.items()
}
_RARE: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "decimal": Decimal,
    "name": _NAMES.__getitem__,
    "map": lambda pairs: {decode(key): decode(each) for key, each in pairs},
}
