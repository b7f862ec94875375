"""The kinds of argument that a pattern can take, and how each is read and described.

In: a value as a user wrote it (in a file, a sentence or Python), and the annotation of a parameter.
Out: the value that the pattern works with, or a `ContractError` with every mistake. A new kind is
an annotation: `Annotated[type, Kind("what it expects", read)]`.
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from sponsio_like.contracts.conditions import event
from sponsio_like.contracts.confirmation import accepted
from sponsio_like.contracts.matches import Status, is_match, matched
from sponsio_like.contracts.operands import (
    check_keys,
    check_no_variable,
    field_path,
    folder,
    name,
    pattern_text,
)
from sponsio_like.contracts.targets import NOTHING, Vocabulary, read_target
from sponsio_like.errors import ContractError, Problems, closest, read_at, read_each
from sponsio_like.logic import is_glob, looks_ahead
from sponsio_like.logic.formula import (
    AT_MOST,
    LONGEST,
    Age,
    Bound,
    FactAge,
    Formula,
    Seconds,
    Steps,
    Target,
    Term,
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of argument: its description in words, its reader, and its JSON Schema.

    The schema accepts whatever the reader accepts, and may accept more (`schema.py`).
    """

    expects: str
    read: Callable[[Any, Vocabulary], Any]
    schema: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Default:
    """A default that is made of another argument: `confirm_{action}`.

    `optional`: None where an inventory is declared and has no such tool.
    """

    template: str
    optional: bool = False

    def lacking(self, made: str, words: Vocabulary) -> bool:
        """True if the default may be left out, and no such tool is known."""
        return self.optional and words.lacks(made) and made not in words.actions


def default(template: str, *, optional: bool = False) -> Any:
    """Return a default that is made of other arguments, for the signature of a pattern."""
    return Default(template, optional)


def _exact(value: Any, words: Vocabulary) -> Target:
    found = read_target(value, words)
    for match in found:
        if match.globs or not match.names:
            shown = match.globs[0] if match.globs else value
            raise ContractError.of(f"`{shown}` is not an exact name", "list every tool by its name")
    return found


def _one_tool(value: Any, words: Vocabulary) -> str:
    found = read_target(value, words) if isinstance(value, str) and not is_glob(value) else ()
    if [match.names for match in found] == [(value,)]:
        return str(value)
    raise ContractError.of(f"`{value}` is not one tool", "write the exact name of a tool")


def _whole(least: int) -> Callable[[Any, Vocabulary], int]:
    def read(value: Any, _: Vocabulary) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        raise ContractError.of(f"`{value}` is not a whole number from {least}")

    return read


def whole(least: int) -> dict[str, Any]:
    """Return the JSON Schema of whole numbers from `least`."""
    return {"type": "integer", "minimum": least}


SECONDS: Mapping[str, Any] = {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST}


def _number(value: Any, _: Vocabulary) -> int | float:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ContractError.of(f"`{value}` is not a number")


def _duration(value: Any, words: Vocabulary) -> int | float:
    number = _number(value, words)
    if 0 < number <= LONGEST:
        return number
    what = "a time is too long" if number > 0 else f"`{value}` is not a number of seconds above 0"
    raise ContractError.of(what, AT_MOST if number > 0 else "")


def _window(value: Any, words: Vocabulary) -> Bound:
    if value == "session" or value is None:
        return None
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ContractError.of(
            f"`{value}` is not a window", "write session, {seconds: 60} or {steps: 10}"
        )
    problems = Problems()
    check_keys(value, ("seconds", "steps"), "window", problems)
    problems.check()
    if "seconds" in value:
        return Seconds(float(read_at(("seconds",), _duration, value["seconds"], words)))
    return Steps(read_at(("steps",), _whole(1), value["steps"], words))


def _within(value: Any, words: Vocabulary) -> Steps | Seconds:
    """Read a time of at most so long ago: `5` and `{steps: 5}` are the five positions before."""
    bound = Steps(_whole(1)(value, words)) if isinstance(value, int) else _window(value, words)
    if bound is None:
        raise ContractError.of(f"`{value}` is no time", "write {seconds: 60} or {steps: 10}")
    return bound


def _event(value: Any, words: Vocabulary) -> Formula:
    found = event(value, words)
    if looks_ahead(found):
        raise ContractError.of(f"`{found!r}` speaks of the future", "use atoms, O, H, Y, S")
    return found


BARE = re.compile(r"(?:[\w.:/*?-]|\[[^\]\s]+\])+")
"""A name or a glob: no formula looks so."""


def _occurrence(status: Status) -> Callable[[Any, Vocabulary], Formula]:
    """Return a reader of one event: a match, or any condition; bare names have `status`."""

    def read(value: Any, words: Vocabulary) -> Formula:
        bare = isinstance(value, str) and BARE.fullmatch(value)
        if bare or isinstance(value, (list, tuple)):
            return matched(value, words, status)
        if isinstance(value, Mapping) and (is_match(value) or value.keys() == {"agent"}):
            return matched(value, words, status)
        return _event(value, words)

    return read


def _scalars(value: Any, _: Vocabulary) -> tuple[Any, ...]:
    """Return one value, or a list of them, as a tuple; each keeps its type."""
    check_no_variable(value, "a value here")
    values = value if isinstance(value, (list, tuple)) else [value]
    plain = all(isinstance(each, (str, int, float, bool, type(None))) for each in values)
    if (
        not values
        or not plain
        or any(isinstance(each, float) and math.isnan(each) for each in values)
    ):
        raise ContractError.of(f"`{value}` is not a list of plain values", "write [true]")
    return tuple(values)


def _moment(value: Any, words: Vocabulary) -> Term:
    """Return the term for the seconds since something happened, or since a fact was told; of a bare
    name, since a call of it that has succeeded.
    """
    if isinstance(value, Mapping) and "fact" in value:
        problems = Problems()
        check_keys(value, ("fact",), "event", problems)
        key = problems.attempt(("fact",), name, value["fact"])
        problems.check()
        return FactAge(str(key))
    return Age(_occurrence("ok")(value, words))


def _renames(value: Any, _: Vocabulary) -> tuple[tuple[str, str | None], ...]:
    if not isinstance(value, Mapping):
        raise ContractError.of(
            f"`{value}` is not a map of arguments", "write {old: new}, or {old: null} to drop one"
        )
    problems = Problems()
    for old, new in value.items():
        if new is not None:
            problems.attempt((str(old),), name, new)
    problems.check()
    return tuple((str(old), new) for old, new in value.items())


def refers(name: str) -> dict[str, str]:
    """Return the JSON Schema that is the definition of this name in the schema of files."""
    return {"$ref": f"#/definitions/{name}"}


TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1}
CALLS = "a tool, a list of them, a glob, an action, or a match"
Tools: TypeAlias = Annotated[Target, Kind(CALLS, read_target, refers("calls"))]
"""Calls: one name, a list of names (any of them), a glob, an action, or a match."""
ExactTools: TypeAlias = Annotated[Target, Kind("exact names of tools", _exact, refers("calls"))]
OneTool: TypeAlias = Annotated[str, Kind("the exact name of a tool", _one_tool, TEXT)]
PATH = Kind("a path into the arguments", lambda v, _: field_path(v), TEXT)
Field: TypeAlias = Annotated[str, PATH]
NumberField: TypeAlias = Annotated[str, PATH, "to a number"]
"""A path to a number; of a field of the kind `money`, to its amount."""
AnswerField: TypeAlias = Annotated[str, replace(PATH, expects="a path into the answer")]
Folder: TypeAlias = Annotated[str, Kind("an absolute folder", lambda v, _: folder(v), TEXT)]
Regex: TypeAlias = Annotated[str, Kind("a regular expression", lambda v, _: pattern_text(v), TEXT)]
ACCEPTED = "a regular expression, or a match of the answer: {path: status, equals: done}"
Accept: TypeAlias = Annotated[Formula, Kind(ACCEPTED, lambda v, _: accepted(v), refers("output"))]
Name: TypeAlias = Annotated[str, Kind("a name", lambda v, _: name(v), TEXT)]
Natural: TypeAlias = Annotated[int, Kind("a whole number from 0", _whole(0), whole(0))]
Positive: TypeAlias = Annotated[int, Kind("a whole number from 1", _whole(1), whole(1))]
Number: TypeAlias = Annotated[float, Kind("a number", _number, {"type": "number"})]
Duration: TypeAlias = Annotated[float, Kind("seconds", _duration, SECONDS)]
Window: TypeAlias = Annotated[
    Bound,
    Kind(
        "session, {seconds: N} or {steps: N}",
        _window,
        {"anyOf": [{"enum": ["session", None]}, refers("window")]},
    ),
]
Within: TypeAlias = Annotated[
    Steps | Seconds,
    Kind(
        "a number of steps, {steps: N} or {seconds: N}",
        _within,
        {"anyOf": [whole(1), refers("window")]},
    ),
]
Event: TypeAlias = Annotated[
    Formula, Kind("a tool, an atom, or a formula", _event, refers("occurrence"))
]
MATCH = "a tool, a list of them, a match of an event, or a formula"
Occurrence: TypeAlias = Annotated[Formula, Kind(MATCH, _occurrence("any"), refers("occurrence"))]
"""One event; a call, whatever became of it, where a match does not say more."""
Success: TypeAlias = Annotated[Formula, Kind(MATCH, _occurrence("ok"), refers("occurrence"))]
"""One event; a call that has succeeded, where a match does not say more."""
Scalars: TypeAlias = Annotated[
    tuple[Any, ...], Kind("a value, or a list of them", _scalars, refers("values"))
]
Moment: TypeAlias = Annotated[
    Term,
    Kind(
        "a tool (its success), {called: tool}, {fact: key} or {message: role}",
        _moment,
        {"anyOf": [refers("event"), refers("occurrence")]},
    ),
]
Renames: TypeAlias = Annotated[
    tuple[tuple[str, str | None], ...],
    Kind(
        "a map from argument to argument or null",
        _renames,
        {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
    ),
]


# --- by annotation ------------------------------------------------------------------------------


Reader: TypeAlias = Callable[[Any, Vocabulary], Any]


def read_parameter(annotation: Any, value: Any, words: Vocabulary = NOTHING) -> Any:
    """Return the value, read as its annotation says. Raises `ContractError` if it does not fit."""
    return reader_of(annotation)(value, words)


def reader_of(annotation: Any) -> Reader:
    """Return the function that reads a value as its annotation says, with the words of a file.

    It raises `ContractError` for a value that does not fit.
    """
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        kinds = [extra for extra in args[1:] if isinstance(extra, Kind)]
        return kinds[0].read if kinds else reader_of(args[0])
    if origin in (Union, types.UnionType):
        inner = [each for each in args if each is not type(None)]
        read = reader_of(inner[0])
        if len(inner) == len(args):
            return read
        return lambda value, words: None if value is None else read(value, words)
    if origin is Literal:
        return lambda value, _: _choice(args, value)
    if origin in (list, tuple):
        read, of_tools = reader_of(args[0]), args[0] == Tools
        return lambda value, words: _list(origin, read, value, words, of_tools=of_tools)
    return lambda value, words: _plain(annotation, value, words)


def _choice(choices: tuple[Any, ...], value: Any) -> Any:
    if isinstance(value, str) and value in choices:
        return value
    raise ContractError.of(f"`{value}` is not possible here", closest(value, choices))


def _list(
    make: Callable[[list[Any]], Any], read: Reader, value: Any, words: Vocabulary, *, of_tools: bool
) -> Any:
    if of_tools and isinstance(value, (str, Mapping)):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise ContractError.of(f"`{value}` is not a list", f"write [{value}]")
    if not value:
        raise ContractError.of("an empty list", "name at least one")
    return make(read_each(read, value, words))


_PLAIN: Mapping[Any, tuple[str, Callable[[Any], bool]]] = {
    str: ("text", lambda value: isinstance(value, str)),
    bool: ("true or false", lambda value: isinstance(value, bool)),
    int: ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    Any: ("anything", lambda _: True),
}


def _plain(annotation: Any, value: Any, words: Vocabulary) -> Any:
    if annotation is float:
        return _number(value, words)
    if annotation is Formula:
        return event(value, words)
    if annotation not in _PLAIN:
        raise TypeError(f"arguments of type `{annotation}` cannot be read; use a `Kind`")
    says, fits = _PLAIN[annotation]
    if fits(value):
        return value
    raise ContractError.of(f"`{value}` is not {says}")


def expects(annotation: Any) -> str:
    """Return in words the values that an argument of this annotation may have."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return next(extra.expects for extra in args[1:] if isinstance(extra, Kind))
    if origin in (Union, types.UnionType):
        return expects(next(each for each in args if each is not type(None)))
    if origin is Literal:
        return " or ".join(map(str, args))
    if origin in (list, tuple):
        return f"a list, each {expects(args[0])}"
    return "a number" if annotation is float else _PLAIN.get(annotation, ("a condition", bool))[0]


def schema_of(annotation: Any) -> dict[str, Any]:
    """Return the JSON Schema of the values that an argument of this annotation may have."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return dict(next(extra.schema for extra in args[1:] if isinstance(extra, Kind)))
    if origin in (Union, types.UnionType):
        return schema_of(next(each for each in args if each is not type(None)))
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (list, tuple):
        some = {"type": "array", "items": schema_of(args[0]), "minItems": 1}
        return {"anyOf": [some, refers("calls")]} if args[0] == Tools else some
    return dict(_SCHEMAS.get(annotation, refers("occurrence")))


_SCHEMAS: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    Any: {},
}


def of_kind(annotation: Any, *wanted: Any) -> bool:
    """True if an annotation is one of these kinds, or optional, or a list of them."""
    if annotation in wanted:
        return True
    if get_origin(annotation) in (Union, types.UnionType, list, tuple):
        return any(of_kind(each, *wanted) for each in get_args(annotation))
    return False
