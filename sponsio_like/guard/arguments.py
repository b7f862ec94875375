"""Reads the arguments that a tool will receive, by name: bound, defaults filled in, coerced.

In: a function, and the arguments of one call. Out: what the function is called with, and the same
as JSON data for contracts to read. Coercion is pydantic's: `"5000"` for an `int` becomes `5000`.
"""

from __future__ import annotations

import copy
import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.errors import ContractError
from sponsio_like.values import UNREADABLE, VALUES_CAP, Room, as_data, written_data

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
    """Return the value; a lazy iterator of pydantic as a list, so that all of it is coerced now."""
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


_KEYWORDS = inspect.Parameter.VAR_KEYWORD
_REST = inspect.Parameter.VAR_POSITIONAL


@dataclass(frozen=True, slots=True)
class BoundCall:
    """The arguments of one call of a function.

    `read` returns them as JSON data, which contracts read; `named` has them by name before that,
    with the objects of the host.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    read: Callable[[], Mapping[str, Any]]
    named: Mapping[str, Any]


class ToolSignature:
    """The parameters of one function, prepared for its calls when the function is decorated.

    `owner` is the parameter for the object, or the class, that a method belongs to. `hosts` are the
    parameters of a type that pydantic cannot make from data (a client, a connection). Their
    arguments are passed on as they are, and read only if a model may have written them. `shown` are
    the arguments that the schema of a finished tool makes; the function's other parameters are the
    host's.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        *,
        owned: bool | None = None,
        shown: frozenset[str] | None = None,
    ) -> None:
        self._parse: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
        self._shown = shown
        self._signature = _signature(function, name)
        names = list(self._signature.parameters)
        self._home = getattr(function, "__qualname__", "").rpartition(".")[0]
        if owned is None:
            owned = bool(names) and _is_method(function, names[0])
        self.owner = names[0] if owned and names else ""
        if shown is not None:
            rest = {each for each in names if self._kind(each) in (_KEYWORDS, _REST)}
            self._coercions: dict[str, Coercion] = {}
            self.hosts = frozenset(names) - shown - rest
            return
        hints = {each: hint for each, hint in hints_of(function, name).items() if each in names}
        self._coercions = {
            each: coercion(hint, self._kind(each))
            for each, hint in hints.items()
            if each != self.owner
        }
        self.hosts = frozenset(each for each, how in self._coercions.items() if not how.data)

    @property
    def arguments(self) -> frozenset[str] | None:
        """The names that arguments may have; None if they may have any."""
        if self._shown is not None:
            return self._shown
        names = [name for name in self._signature.parameters if name != self.owner]
        open_ = any(self._kind(name) is _KEYWORDS for name in names)
        return None if open_ else frozenset(names)

    def after(self, parse: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> ToolSignature:
        """Return a copy for arguments that the schema `parse` has to make first."""
        made = copy.copy(self)
        made._parse = parse  # noqa: SLF001  a copy of this
        return made

    def _kind(self, name: str) -> Any:
        return self._signature.parameters[name].kind

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> BoundCall:
        """Return the arguments of one call, coerced; defaults stay as they are.

        Raises `TypeError` if they do not fit, and `pydantic.ValidationError` if one cannot be
        coerced.
        """
        given = kwargs if self._parse is None else self._parse(kwargs)
        bound = self._signature.bind(*args, **given)
        for name, value in bound.arguments.items():
            bound.arguments[name] = self._coerced(name, value)
        bound.apply_defaults()
        named = bound.arguments
        return BoundCall(bound.args, bound.kwargs, lambda: self._data(named), self._flat(named))

    def watch(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> BoundCall:
        """Return the arguments of one call that is only observed: the function gets them as given.

        Contracts read them coerced, or as given if that fails. Raises `TypeError` if the arguments
        do not fit.
        """
        bound = self._signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            bound.arguments[name] = self._if_it_can(name, value)
        bound.apply_defaults()
        named = bound.arguments
        return BoundCall(args, kwargs, lambda: self._data(named, watched=True), self._flat(named))

    def _if_it_can(self, name: str, value: Any) -> Any:
        kind = self._kind(name)
        parts = value if kind is _REST else value.values() if kind is _KEYWORDS else (value,)
        if any(isinstance(each, Iterator) for each in parts):  # to coerce it would use it up
            return value
        try:
            return self._coerced(name, value)
        except Exception:  # validators are user code; the agent is only watched
            return value

    def _coerced(self, name: str, value: Any) -> Any:
        how = self._coercions.get(name)
        return value if how is None else how.whole(value)

    def _flat(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value, _ in self._each(arguments)}

    def _data(self, arguments: Mapping[str, Any], *, watched: bool = False) -> dict[str, Any]:
        """Return the arguments as JSON data.

        Raises `TypeError` if one name would have two values; if `watched`, its value is unreadable
        instead.
        """
        data: dict[str, Any] = {}
        room = Room(VALUES_CAP)
        for name, value, hosts in self._each(arguments):
            read = written_data(value) if hosts else as_data(value, room)
            if name in data and not watched:
                raise TypeError(f"argument `{name}` is given twice")
            if name in data or not hosts or read is not UNREADABLE:
                data[name] = UNREADABLE if name in data else read
        return data

    def _each(self, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
        """Yield each argument: its name, its value, and True if its type is no data."""
        for name, value in arguments.items():
            if name == self.owner and self._owns(value):
                continue
            if self._kind(name) is _KEYWORDS:
                yield from ((key, each, name in self.hosts) for key, each in value.items())
            else:
                yield name, value, name in self.hosts

    def _owns(self, value: Any) -> bool:
        """True if the value is the object that a method belongs to.

        It need not be: a static method may also have a parameter named `self`.
        """
        classes = value.__mro__ if isinstance(value, type) else type(value).__mro__
        ours = any(each.__qualname__ == self._home for each in classes)
        return ours or written_data(value) is UNREADABLE


def _signature(function: Callable[..., Any], name: str) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except ValueError:
        raise ContractError.of(
            f"`{name}` does not say which arguments it takes", "wrap it in a function that does"
        ) from None


def _is_method(function: Callable[..., Any], first: str) -> bool:
    """True if the first argument is the object that a method belongs to."""
    home = getattr(function, "__qualname__", "").rpartition(".")[0]
    bound = inspect.ismethod(function)
    return first in ("self", "cls") and bool(home) and not home.endswith("<locals>") and not bound


def hints_of(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Return the annotations of a function. Raises `ContractError` for one that is not known."""
    inner = function.func if isinstance(function, functools.partial) else function
    if inspect.isclass(inner):
        inner = inner.__init__
    elif not inspect.isroutine(inner):
        inner = type(inner).__call__
    try:
        return typing.get_type_hints(inner, include_extras=True)
    except (NameError, SyntaxError, TypeError, AttributeError) as error:
        raise ContractError.of(
            f"`{name}` has an annotation that is not known: {error}",
            "define the type where the module sees it",
        ) from None
