"""Finds the value at a path of arguments or of an answer.

In: JSON data, and a path such as `customer.id`, `items[].sku`, or `command:shell.runs[]`, which
reads the text at `command` by the kind `shell`. Out: the value; `ABSENT` if there is none;
`UNREADABLE` if it is there and cannot be read; or `Many`, where lists are on the way.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.values.canonical_form import NotCanonical
from sponsio_like.values.effort import once_per_decision, spend
from sponsio_like.values.frozen import UNREADABLE
from sponsio_like.values.limits import ANSWER_CAP, JSON_CAP, JSON_VALUE_WORK, JSON_WORK
from sponsio_like.values.text_kinds import (
    TEXT_KINDS,
    TextKind,
    kind_step,
    split_kind,
    values_of,
)

PathParts: TypeAlias = tuple[str, ...]
Spot: TypeAlias = Any
"""A value as it stands there, `ABSENT`, `UNREADABLE`, or `Many` of these."""


class Absent:
    """The class of `ABSENT`: the value at a place where there is nothing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<absent>"


ABSENT = Absent()


class Many(NamedTuple):
    """Several values at one place. `each`: the path asks for them one by one, by `[]`.

    Otherwise one value was meant, and a condition has an answer only if all of them agree.
    """

    parts: tuple[Spot, ...]
    each: bool


@functools.lru_cache(maxsize=4096)
def path_parts(path: str) -> PathParts:
    """Return the parts of a path: `items[].sku` as `("items", "[]", "sku")`, and
    `command:shell.runs` as `("command", ":shell", "runs")`.
    """
    spaced = path.replace("[]", ".[]")
    parts = (part for part in spaced.split(".") if part)
    if ":" not in path:
        return tuple(parts)
    return tuple(each for part in parts for each in split_kind(part))


def forget_paths() -> None:
    """Forget how paths were split: a kind has been declared, which they may name."""
    path_parts.cache_clear()
    _steps.cache_clear()
    _asked.cache_clear()


# --- one value ------------------------------------------------------------------------------------


def spot(args: Any, path: str) -> Spot:
    """Return the value at a path of arguments.

    A key that is the whole path (`"customer.id"`) stands beside what the path leads to.
    """
    if ":" in path and (asked := _asked(path)) is not None and isinstance(args, Mapping):
        name, kind, fact, rest = asked
        value = args.get(name)
        if isinstance(value, str) and path not in args:
            return _fact(values_of(TEXT_KINDS[kind], value, fact), rest)
    parts = path_parts(path)
    if len(parts) == 1 and path != "[]" and isinstance(args, Mapping):
        return args.get(path, ABSENT)
    return _beside(args, path, _below(args, parts, _odd))


@functools.lru_cache(maxsize=4096)
def _asked(path: str) -> tuple[str, str, str, PathParts] | None:
    """Return the argument, the kind, the fact and the rest of a path such as `query:sql.verbs[]`;
    None for one that leads elsewhere first.
    """
    name, *parts = path_parts(path)
    kind = kind_step(parts[0]) if parts and name != "[]" and kind_step(name) is None else None
    if kind is None:
        return None
    return name, parts[0][1:], (*parts[1:], kind.main)[0], tuple(parts[2:])


def value_in_result(output: Any, path: str) -> Spot:
    """Return the value at a path of an answer; texts that are JSON objects or lists are read as
    such.

    Another text, or a number, has no fields: what it is asked for is absent.
    """
    if not path:
        return output
    return _beside(output, path, _below(output, path_parts(path), _opened))


def _beside(data: Any, path: str, found: Spot) -> Spot:
    if not isinstance(data, Mapping) or path not in data or path_parts(path) == (path,):
        return found
    return data[path] if found is ABSENT else Many((data[path], found), each=False)


Odd: TypeAlias = Callable[[Any], Any]
"""A function from a value of another shape than the path needs to what is read in its place."""


def _below(value: Any, parts: PathParts, odd: Odd) -> Spot:
    if not parts:
        return value
    if value is None:
        return ABSENT
    if (kind := kind_step(parts[0])) is not None and not _is_list_of_texts(kind, value):
        fact = parts[1] if len(parts) > 1 else kind.main
        return _fact(values_of(kind, value, fact), parts[2:])
    if isinstance(value, (list, tuple)):
        rest = parts[1:] if parts[0] == "[]" else parts
        if len(rest) == 1 and rest[0] != "[]" and kind_step(rest[0]) is None:
            (name,) = rest  # the usual case: one field of each row
            found = [
                each.get(name, ABSENT) if type(each) is dict else _below(each, rest, odd)
                for each in value
            ]
            return Many(tuple(found), each=rest is not parts)
        return Many(tuple(_below(each, rest, odd) for each in value), each=rest is not parts)
    if isinstance(value, Mapping) and parts[0] != "[]":
        return _below(value[parts[0]], parts[1:], odd) if parts[0] in value else ABSENT
    instead = odd(value)
    return _below(instead, parts, odd) if isinstance(instead, (Mapping, list)) else instead


def _is_list_of_texts(kind: TextKind, value: Any) -> bool:
    """True if each text of a list is read by itself, and the list is no text of this kind."""
    return isinstance(value, (list, tuple)) and kind.of_words is None


def _fact(values: tuple[Any, ...], rest: PathParts) -> Spot:
    """Return what stands at a fact with these values; `rest` are the steps behind its name."""
    if rest[:1] == ("[]",):
        return Many(values, each=True)
    if len(values) == 1:
        return values[0]
    return Many(values, each=False) if values else ABSENT


def _odd(_: Any) -> Any:
    """Return `UNREADABLE` for a value of another shape than the path needs."""
    return UNREADABLE


def _opened(value: Any) -> Any:
    """Return what an answer's value of another shape has inside: the data in a
    text, else `ABSENT`.
    """
    if value is UNREADABLE or isinstance(value, Mapping):
        return UNREADABLE
    return parsed_text(value) if isinstance(value, str) else ABSENT


STRINGS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""Texts in a JSON text, the last one perhaps without an end."""


def parsed_text(text: str) -> Any:
    """Return the data of a text that is a JSON object or list; else `ABSENT`.

    `UNREADABLE` if it is too long or too deep, or if there is too much in all such texts.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return ABSENT
    try:
        return once_per_decision("json", text, _parsed)
    except NotCanonical:
        return UNREADABLE


def _parsed(text: str) -> Any:
    values_in_json(text)
    try:
        return json.loads(text)
    except RecursionError:
        return UNREADABLE
    except ValueError:
        return ABSENT


def values_in_json(text: str) -> int:
    """Return how many values a JSON text has at most, and count the work to read them.

    Raises `NotCanonical` beyond the caps.
    """
    if len(text) > JSON_CAP:
        raise NotCanonical("too long a text")
    spend(JSON_WORK * len(text))
    if (values := 1 + sum(map(text.count, ",[{"))) > ANSWER_CAP:
        bare = STRINGS.sub("", text)
        values = 1 + sum(map(bare.count, ",[{"))
    if values > ANSWER_CAP:
        raise NotCanonical("too many values")
    spend(JSON_VALUE_WORK * values)
    return values


def leaves_of(place: Spot) -> Iterator[Any]:
    """Yield all that stands there, one by one; lists are looked into."""
    stack = [place]
    while stack:
        value = stack.pop()
        if isinstance(value, Many):
            stack.extend(reversed(value.parts))
        elif isinstance(value, (list, tuple)):
            stack.extend(reversed(value))
        elif value is not ABSENT:
            yield value


def has_gaps(place: Spot) -> bool:
    """True if what is looked for is missing, or is missing in an element of a list."""
    if isinstance(place, Many):
        return any(map(has_gaps, place.parts))
    return place is ABSENT or place is None or place == []


def is_list(place: Spot) -> bool:
    """True if a list stands there, even an empty one."""
    return isinstance(place, (Many, list, tuple))


def without_nulls(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return all arguments together, without those that are null: these count as not given."""
    some = any(value is None for value in args.values())
    return {name: value for name, value in args.items() if value is not None} if some else args


def is_gone(value: Any) -> bool:
    """True if the value counts as missing: a null, an empty list, or a list of such."""
    return value is None or (isinstance(value, (list, tuple)) and all(map(is_gone, value)))


# --- as keys and sums read it -----------------------------------------------------------------


def find(data: Any, path: str) -> list[Any]:
    """Return every value at `path`, as it is; none if it is missing, or if the shape is another.

    A key that is the whole path (`"o.id"`) is found as well: it must not hide a nested value.
    """
    found: list[Any] = [data]
    for part, fact in _steps(path):
        found = list(_down(found, part) if fact is None else _facts_down(found, part, fact))
    shadow = isinstance(data, Mapping) and path in data and path_parts(path) != (path,)
    return [data[path], *found] if shadow else found


@functools.lru_cache(maxsize=4096)
def _steps(path: str) -> tuple[tuple[str, str | None], ...]:
    """Return the parts of a path one by one; a kind together with its fact, and without the `[]`
    behind it.
    """
    parts, steps, i = path_parts(path), [], 0
    while i < len(parts):
        kind = kind_step(parts[i])
        steps.append((parts[i], (*parts[i + 1 :], kind.main)[0] if kind is not None else None))
        i += 1 if kind is None else 3 if parts[i + 2 : i + 3] == ("[]",) else 2
    return tuple(steps)


def _facts_down(values: list[Any], part: str, fact: str) -> Iterator[Any]:
    kind = TEXT_KINDS[part[1:]]
    for value in values:
        if value is not None:
            yield from values_of(kind, value, fact)


def _down(values: list[Any], part: str) -> Iterator[Any]:
    for value in values:
        if value is UNREADABLE:
            yield value
        elif part == "[]":
            yield from value if isinstance(value, (list, tuple)) else ()
        elif isinstance(value, Mapping) and part in value:
            yield value[part]


# --- as patterns over arguments read it -------------------------------------------------------


def reach(args: Any, path: str) -> tuple[list[Any], bool]:
    """Return the values at `path`, and True if some are missing.

    Where a value is of another shape than the path says (text instead of a list), it is found as it
    is: what must not be inside a field must not be there in another shape either.
    """
    if path == "*" and isinstance(args, Mapping):
        return list(args.values()), not args
    if not isinstance(args, Mapping):
        return [args], False
    whole = [args[path]] if path in args and path_parts(path) != (path,) else []
    found, lacking = reached(args, path)
    return whole + found, not whole and (lacking or not found)


def reached(args: Any, path: str) -> tuple[list[Any], bool]:
    """Return the same as `reach`, but an empty list lacks nothing."""
    found: list[Any] = [args]
    lacking = False
    for part, fact in _steps(path):
        below: list[Any] = []
        if fact is not None:
            lacking |= None in found
            found = list(_facts_down(found, part, fact))
            continue
        for value in found:
            inner = _inside(value, part)
            lacking |= inner is None
            odd = part == "[]" or not isinstance(value, Mapping)
            below += [value] if inner is None and odd else inner or []
        found = below
    return found, lacking


def _inside(value: Any, part: str) -> list[Any] | None:
    """Return the values that one step of a path leads to; None if there is no such step here."""
    if part == "[]":
        return list(value) if isinstance(value, (list, tuple)) else None
    return [value[part]] if isinstance(value, Mapping) and part in value else None
