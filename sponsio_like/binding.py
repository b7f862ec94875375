"""The arguments that a tool will receive, by name: bound, defaults filled in, coerced.

In: a function, and the arguments of one call. Out: what the function is called with, and the same
as JSON data for contracts to read. Coercion is pydantic's: `"5000"` for an `int` becomes `5000`.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

DEPTH_CAP = 64
"""Deepest nesting of an argument that is turned into data; contracts look no further."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a function is called with, and what contracts read."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    data: Mapping[str, Any]


class Signature:
    """How one function takes its arguments. Made once, when the function is decorated."""

    def __init__(self, function: Callable[..., Any]) -> None:
        from pydantic import TypeAdapter  # only needed where tools are decorated

        self._signature = inspect.signature(function)
        hints = _hints(function)
        names = list(self._signature.parameters)
        self.method = bool(names) and names[0] in ("self", "cls") and names[0] not in hints
        self._coerce = {
            name: TypeAdapter(hint, config=None) for name, hint in hints.items() if name in names
        }

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, coerce: bool) -> Bound:
        """The arguments of one call.

        Raises `TypeError` if they do not fit, and `pydantic.ValidationError` if one cannot be
        coerced.
        """
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if coerce:
            for name, adapter in self._coerce.items():
                bound.arguments[name] = self._coerced(name, adapter, bound.arguments[name])
        return Bound(bound.args, bound.kwargs, self._data(bound.arguments))

    def _coerced(self, name: str, adapter: Any, value: Any) -> Any:
        match self._signature.parameters[name].kind:
            case inspect.Parameter.VAR_POSITIONAL:
                return tuple(adapter.validate_python(each) for each in value)
            case inspect.Parameter.VAR_KEYWORD:
                return {key: adapter.validate_python(each) for key, each in value.items()}
        return adapter.validate_python(value)

    def _data(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for i, (name, value) in enumerate(arguments.items()):
            if i == 0 and self.method:
                continue
            if self._signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                data.update((key, as_data(each)) for key, each in value.items())
            else:
                data[name] = as_data(value)
        return data


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(f"`{name}` has an annotation that is not known: {error}") from None


def as_data(value: Any, depth: int = DEPTH_CAP) -> Any:
    """The value as JSON data, as far as it can be said; the rest stays as it is."""
    if depth <= 0 or value is None or isinstance(value, (bool, int, float, Decimal)):
        return value
    match value:
        case enum.Enum():
            return as_data(value.value, depth - 1)
        case str():
            return value
        case Mapping():
            return {str(key): as_data(each, depth - 1) for key, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [as_data(each, depth - 1) for each in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (field.name for field in dataclasses.fields(value))
        return {name: as_data(getattr(value, name), depth - 1) for name in fields}
    return _foreign(value, depth)


def _foreign(value: Any, depth: int) -> Any:
    """Models, dates, paths, ids: as pydantic writes them."""
    from pydantic import BaseModel
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    if isinstance(value, BaseModel):
        return {name: as_data(each, depth - 1) for name, each in value}
    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError):
        return value
