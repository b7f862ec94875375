"""Makes functions that coerce the arguments of one parameter to its annotation, with pydantic.

In: an annotation, and the kind of the parameter. Out: a function of all that is given for it.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sized
from inspect import Parameter
from typing import Any, NamedTuple, TypeAlias

Coerce: TypeAlias = Callable[[Any], Any]


class Coercion(NamedTuple):
    """The coercion of one parameter.

    `whole` coerces all that is given for the parameter; `data` is False if pydantic cannot make
    such a value from data.
    """

    whole: Coerce
    data: bool = True


def coercion(hint: Any, kind: Any) -> Coercion:
    """Return the coercion of a parameter of this kind by its annotation."""
    parts = _unpacked(hint)
    if parts is not None:
        each, data = _validator(parts)
        return Coercion(_beside(each) if kind is Parameter.VAR_KEYWORD else each, data)
    each, data = _validator(hint)
    if kind is Parameter.VAR_POSITIONAL:
        return Coercion(lambda given: tuple(map(each, given)), data)
    if kind is Parameter.VAR_KEYWORD:
        return Coercion(lambda given: {key: each(one) for key, one in given.items()}, data)
    return Coercion(each, data)


def _validator(hint: Any) -> Coercion:
    from pydantic import TypeAdapter  # only needed where tools are decorated
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

    try:
        validate = TypeAdapter(hint).validate_python
    except PydanticSchemaGenerationError:
        return Coercion(_as_given, data=False)
    except PydanticUserError:  # data, but it cannot be coerced: it is read as it is given
        return Coercion(_as_given)
    return Coercion(lambda given: _gone_through(validate(given), given))


def _as_given(given: Any) -> Any:
    return given


def _gone_through(coerced: Any, given: Any) -> Any:
    """Return the value, or a list of pydantic's lazy iterator, so that all is coerced now."""
    lazy = type(coerced).__name__ == "ValidatorIterator" and isinstance(given, Sized)
    return list(coerced) if lazy else coerced


def _unpacked(hint: Any) -> Any:
    """Return the type in `Unpack[..]`, or behind a `*`; None where there is none."""
    if getattr(hint, "__unpacked__", False):  # *args: *tuple[int, ...]
        return typing.get_origin(hint)[typing.get_args(hint)]
    origin = typing.get_origin(hint)
    of_typing = getattr(origin, "__module__", "") in ("typing", "typing_extensions")
    unpack = of_typing and getattr(origin, "_name", "") == "Unpack"
    return typing.get_args(hint)[0] if unpack else None


def _beside(typed: Coerce) -> Coerce:
    """Return a coercion of those `**options` that the annotation names; others stay as they are."""

    def coerce(given: Mapping[str, Any]) -> dict[str, Any]:
        return {**given, **typed(given)}

    return coerce
