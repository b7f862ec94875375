"""Reads the names and kinds of arguments from the tools of a program: their names, and the kinds of
texts.

In: functions, tools of LangChain, tools of MCP, or descriptions of tools as JSON. Out: a
`Described` for each. Kinds stand in annotations (`Annotated[str, OfKind("shell")]`) and in the
`format`s of schemas; nothing else is taken for one.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from inspect import Parameter
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.contracts import (
    FieldKind,
    is_text_kind,
    joined_kinds,
    read_kind,
    schema_fields,
    schema_kind,
    schema_of_tool,
)
from sponsio_like.errors import ContractError, Problem, Problems, closest, refuse
from sponsio_like.guard.arguments import ToolSignature, hints_of
from sponsio_like.guard.structured_tools import is_finished
from sponsio_like.kinds import OfKind
from sponsio_like.values import path_parts

ToolsLike: TypeAlias = "Iterable[Any] | Mapping[str, Any]"
"""Tools as a program has them; a map has those that the agent knows by another name."""
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", Any: "any"}
"""The annotations of which no schema has to be made."""


class Described(NamedTuple):
    """A tool as it describes itself: its name, its arguments (None: any), their kinds.

    `hosts` are those of the arguments that no model gives.
    """

    tool: str
    arguments: frozenset[str] | None
    hosts: frozenset[str]
    kinds: tuple[FieldKind, ...]


def descriptions(tools: ToolsLike) -> tuple[Described, ...]:
    """Return a description of each tool of a program.

    Raises `ContractError` for what is no tool, and for kinds that contradict each other.
    """
    if isinstance(tools, str) or not isinstance(tools, Iterable):
        raise ContractError.of(f"tools={tools!r} is no list of tools", "write [search, fetch]")
    problems = Problems()
    pairs = tools.items() if isinstance(tools, Mapping) else (("", each) for each in tools)
    found = [problems.attempt((), _described, each, str(name)) for name, each in pairs]
    told = tuple(each for each in found if each is not None)
    joined_kinds((kind for each in told for kind in each.kinds), problems.found)
    refuse(replace(each, path=()) for each in problems.found)
    return told


def _described(given: Any, name: str) -> Described:
    schema = getattr(given, "inputSchema", None)  # a tool of MCP
    if isinstance(schema, Mapping):
        return _of_fields(name or str(given.name), schema_fields(schema))
    if isinstance(given, (str, Mapping)):
        known, fields = schema_of_tool(given)
        return _of_fields(name or known, fields)
    if is_finished(given):
        kinds = declared_kinds(given, name or given.name)
        return Described(name or given.name, frozenset(given.args), frozenset(), kinds)
    function = given.__func__ if isinstance(given, (staticmethod, classmethod)) else given
    name = name or str(getattr(function, "__name__", ""))
    if not callable(function) or not name or name == "<lambda>":
        what = f"`{given!r}` is no tool with a name"
        raise ContractError.of(what, "write a function, a tool, or {name: tool}")
    signature = ToolSignature(function, name)
    kinds = declared_kinds(function, name)
    return Described(name, signature.arguments, signature.hosts, kinds)


def _of_fields(name: str, fields: Mapping[str, str] | None) -> Described:
    """Return a tool of which a schema is known, and no code."""
    arguments = None if fields is None else frozenset(fields)
    return Described(name, arguments, frozenset(), tuple(_of_schema(name, fields or {})))


def _of_schema(name: str, fields: Mapping[str, str]) -> Iterator[FieldKind]:
    place = f"the schema of `{name}`"
    return (FieldKind(name, field, kind, place) for field, kind in fields.items() if kind != "any")


# --- the kinds of one tool ------------------------------------------------------------------------


def declared_kinds(
    given: Any, name: str, fields: Mapping[str, str] = MappingProxyType({})
) -> tuple[FieldKind, ...]:
    """Return the kinds of arguments that a function, or a tool of LangChain, declares.

    `fields` are those that its decorator gives. Raises `ContractError` for kinds that do not exist,
    and for those that contradict each other.
    """
    parts = [_of_decorator(name, fields)]
    if is_finished(given):
        bodies = [getattr(given, each, None) for each in ("func", "coroutine")]
        parts += [_of_marks(each, name) for each in bodies if each is not None]
        model = getattr(given.args_schema, "model_fields", {})
        parts += [_of_model(model, name)]
        read = {field: schema_kind(each) for field, each in given.args.items()}
        parts += [_of_schema(name, read)]
    else:
        parts += [_of_hints(given, name)]
    wrong = list[Problem]()
    found = joined_kinds((each for part in parts for each in part), wrong)
    refuse(replace(each, path=()) for each in wrong)
    return tuple(found.values())


def check_fields(fields: Mapping[str, str], name: str, arguments: Iterable[str] | None) -> None:
    """Raise `ContractError` for kinds of arguments that the tool does not take."""
    known = None if arguments is None else set(arguments)
    for path in fields:
        if known is not None and path_parts(path)[0] not in known:
            what = f"`{name}` takes no `{path}`, of which `fields=` gives the kind"
            raise ContractError.of(what, closest(path, sorted(known)))


def _of_decorator(name: str, fields: Mapping[str, str]) -> Iterator[FieldKind]:
    for field, kind in fields.items():
        yield FieldKind(name, field, read_kind(kind), f"`fields=` of `{name}`")


def _of_hints(function: Callable[..., Any], name: str) -> Iterator[FieldKind]:
    """Yield the kinds that the annotations of a function say, or are marked with."""
    place = f"the annotation{_line(function)}"
    parameters = inspect.signature(function).parameters
    for field, hint in hints_of(function, name).items():
        form = parameters[field].kind if field in parameters else Parameter.VAR_KEYWORD
        marked = _marked(hint, f"`{field}` of `{name}`")
        if form is Parameter.VAR_POSITIONAL and marked:
            yield FieldKind(name, field, f"[{marked}]", place)
        elif form not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            kind = marked or _schema_kind(hint)
            yield from [FieldKind(name, field, kind, place)] if kind != "any" else []
        elif marked:
            what = f"`{field}` of `{name}` may have any name"
            raise ContractError.of(what, "mark arguments that are named")


def _of_marks(function: Callable[..., Any], name: str) -> Iterator[FieldKind]:
    """Yield the kinds that the annotations of a finished tool's function are marked with."""
    try:
        hints = hints_of(function, name)
    except ContractError:  # the tool has a schema of its own
        return
    for field, hint in hints.items():
        kind = _marked(hint, f"`{field}` of `{name}`")
        if kind is not None:
            yield FieldKind(name, field, kind, f"the annotation{_line(function)}")


def _of_model(fields: Mapping[str, Any], name: str) -> Iterator[FieldKind]:
    """Yield the kinds that the fields of a model are marked with, or have a `format` for.

    LangChain's own schema leaves out what stands in `json_schema_extra`.
    """
    for field, each in fields.items():
        marks = [mark for mark in each.metadata if isinstance(mark, OfKind)]
        whole = typing.Annotated[each.annotation, *marks] if marks else each.annotation
        kind = _marked(whole, f"`{field}` of `{name}`")
        if kind is None and each.json_schema_extra:
            said = _schema_kind(typing.Annotated[each.annotation, each])
            kind = said if is_text_kind(said) else None
        if kind is not None:
            yield FieldKind(name, field, kind, f"the model of `{name}`")


def _line(function: Callable[..., Any]) -> str:
    """Return the file and the line of a function, in brackets; empty if it has none."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return "" if code is None else f" ({Path(code.co_filename).name}:{code.co_firstlineno})"


def _schema_kind(hint: Any) -> str:
    """Return the kind that the schema of an annotation says; `any` if it says none."""
    if isinstance(hint, type) and hint in PLAIN:
        return PLAIN[hint]
    from pydantic import TypeAdapter  # only needed where tools are described
    from pydantic.errors import PydanticUserError

    try:
        return schema_kind(TypeAdapter(hint).json_schema())
    except (PydanticUserError, TypeError):  # no data, or none that a schema can say
        return "any"


def _marked(hint: Any, whose: str) -> str | None:
    """Return the kind that an annotation is marked with; of a list, that of its elements.

    Raises `ContractError` where only a part of it is marked.
    """
    hint = getattr(hint, "__value__", hint)  # type Command = ..
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        found: set[str | None] = {each.kind for each in parts[1:] if isinstance(each, OfKind)}
        found = found or {_marked(parts[0], whose)}
    elif origin in (typing.Union, types.UnionType):
        found = {_marked(each, whose) for each in parts if each is not type(None)}
    elif origin in (list, tuple, set, frozenset) or _is_iterable(origin):
        found = {_marked(each, whose) for each in parts if each is not ...}
        found = {each and f"[{each}]" for each in found}
    else:
        return None
    if len(found) > 1:
        what = f"{whose} is not of one kind in all its parts"
        raise ContractError.of(what, 'mark the whole: Annotated[str | None, OfKind("shell")]')
    return found.pop() if found else None


def _is_iterable(origin: Any) -> bool:
    return (
        isinstance(origin, type)
        and issubclass(origin, Iterable)
        and not (issubclass(origin, Mapping))
    )
