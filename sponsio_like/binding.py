"""The arguments that a tool will receive, by name: bound, defaults filled in, coerced.

In: a function, and the arguments of one call. Out: what the function is called with, and the same
as JSON data for contracts to read. Coercion is pydantic's: `"5000"` for an `int` becomes `5000`.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sponsio_like.errors import ContractError
from sponsio_like.plain import as_data

_KEYWORDS = inspect.Parameter.VAR_KEYWORD
_REST = inspect.Parameter.VAR_POSITIONAL


@dataclass(frozen=True, slots=True)
class Bound:
    """What a function is called with; `read` makes of it what contracts read.

    `hosts`: what no contract reads, by name.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    read: Callable[[], Mapping[str, Any]]
    hosts: Mapping[str, Any]


class Signature:
    """How one function takes its arguments. Made once, when the function is decorated.

    A parameter of a type that pydantic cannot make of data (a client, a connection) is the host's:
    it is passed on as it is, and no contract reads it.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._signature = _signature(function, name)
        names = list(self._signature.parameters)
        self.owner = names[0] if names and _is_method(function, names[0]) else ""
        self._coerce: dict[str, Callable[[Any], Any]] = {}
        self.hosts: set[str] = set()
        for each, hint in _hints(function, name).items():
            if each in names and each != self.owner:
                self._take(each, hint)

    def _take(self, name: str, hint: Any) -> None:
        from pydantic import TypeAdapter  # only needed where tools are decorated
        from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

        try:
            self._coerce[name] = TypeAdapter(hint).validate_python
        except PydanticSchemaGenerationError:
            self.hosts.add(name)
        except PydanticUserError:  # data, but it cannot be coerced: it is read as it is given
            pass

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Bound:
        """The arguments of one call, coerced. Defaults are taken as they are.

        Raises `TypeError` if they do not fit, and `pydantic.ValidationError` if one cannot be
        coerced.
        """
        bound = self._signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            bound.arguments[name] = self._coerced(name, value)
        bound.apply_defaults()
        return self._bound(bound.args, bound.kwargs, bound.arguments)

    def watch(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Bound:
        """The same where only observed: the function is called with what was given.

        What cannot be coerced is read as it is. Raises `TypeError` if the arguments do not fit.
        """
        bound = self._signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            bound.arguments[name] = self._if_it_can(name, value)
        bound.apply_defaults()
        return self._bound(args, kwargs, bound.arguments)

    def _bound(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], named: Mapping[str, Any]
    ) -> Bound:
        hosts = {name: named[name] for name in self.hosts & named.keys()}
        return Bound(args, kwargs, lambda: self._data(named), hosts)

    def _if_it_can(self, name: str, value: Any) -> Any:
        kind = self._signature.parameters[name].kind
        parts = value if kind is _REST else value.values() if kind is _KEYWORDS else (value,)
        if any(isinstance(each, Iterator) for each in parts):  # to coerce it would use it up
            return value
        try:
            return self._coerced(name, value)
        except Exception:  # validators are user code; the agent is only watched
            return value

    def _coerced(self, name: str, value: Any) -> Any:
        coerce = self._coerce.get(name)
        if coerce is None:
            return value
        kind = self._signature.parameters[name].kind
        if kind is _REST:
            return tuple(map(coerce, value))
        if kind is _KEYWORDS:
            return {key: coerce(each) for key, each in value.items()}
        return coerce(value)

    def _data(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Raises `TypeError` if one name would have two values."""
        left_out = {self.owner, *self.hosts}
        given = {name: value for name, value in arguments.items() if name not in left_out}
        rest = {name for name in given if self._signature.parameters[name].kind is _KEYWORDS}
        data = {name: as_data(value) for name, value in given.items() if name not in rest}
        for name, value in given.items():
            if name in rest:
                if twice := data.keys() & value.keys():
                    raise TypeError(f"argument `{min(twice)}` is given twice")
                data.update((key, as_data(each)) for key, each in value.items())
        return data


def _signature(function: Callable[..., Any], name: str) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except ValueError:
        raise ContractError.of(
            f"`{name}` does not say which arguments it takes", "wrap it in a function that does"
        ) from None


def _is_method(function: Callable[..., Any], first: str) -> bool:
    """Whether the first argument is the object that a method belongs to."""
    home = getattr(function, "__qualname__", "").rpartition(".")[0]
    bound = inspect.ismethod(function)
    return first in ("self", "cls") and bool(home) and not home.endswith("<locals>") and not bound


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    inner = function.func if isinstance(function, functools.partial) else function
    if inspect.isclass(inner):
        inner = inner.__init__
    elif not inspect.isroutine(inner):
        inner = type(inner).__call__
    try:
        return typing.get_type_hints(inner, include_extras=True)
    except NameError as error:
        raise ContractError.of(
            f"`{name}` has an annotation that is not known: {error}",
            "define the type where the module sees it",
        ) from None
