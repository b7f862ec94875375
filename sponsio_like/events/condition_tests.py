"""Tests whether the value at a place meets a condition.

In: a comparison, and what `places.py` finds. Out: `True`, `False`, or `None` where that cannot be
decided. What is missing meets no condition; a list has to agree in all its elements.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from sponsio_like.events.relations import compare, comparison, same
from sponsio_like.logic.formula import Op
from sponsio_like.values import (
    ABSENT,
    JSON_CAP,
    TEXT_CAP,
    UNREADABLE,
    Many,
    NotCanonical,
    Spot,
    leaves_of,
    values_in_json,
)

Asks: TypeAlias = Callable[[Spot], bool | None]


def condition_on(op: Op, right: Any, *, every: bool = False) -> Asks:
    """Return a function: True if the value at a place compares so; what is missing never does.

    A list that the path does not ask for has to agree in all its elements. With `[]`, some element
    has to, or with `every` each of them.
    """
    holds, whole = comparison(op, right), op in ("=", "!=") and isinstance(right, (tuple, list))
    null = right is None if op == "=" else op == "in" and None in (right or ())

    def leaf(value: Any) -> bool | None:
        if value is None:
            return null
        return None if isinstance(value, Mapping) else holds(value)

    def asks(place: Spot) -> bool | None:
        if type(place) is str or type(place) is int:
            return holds(place)
        return place_test(place, holds if whole else leaf, every=every, whole=whole)

    return asks


def place_test(place: Spot, leaf: Asks, *, every: bool = False, whole: bool = False) -> bool | None:
    """Return the answer of a condition for a place; None if it cannot be decided.

    `whole`: the condition compares lists, and does not look into them.
    """
    if place is ABSENT:
        return False
    if isinstance(place, Many):
        answers = [place_test(part, leaf, every=every, whole=whole) for part in place.parts]
        if place.each:
            return _all(answers) if every else _any(answers)
        return _alike(answers)
    if isinstance(place, (list, tuple)) and not whole:
        return _alike([place_test(each, leaf) for each in place])
    return leaf(place)


def _any(answers: list[bool | None]) -> bool | None:
    return True if True in answers else None if None in answers else False


def _all(answers: list[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


def _alike(answers: list[bool | None]) -> bool | None:
    """Return the answer that all of them give; None if they differ, False if there is none."""
    if not answers:
        return False
    return answers[0] if all(each is answers[0] for each in answers) else None


def single(place: Spot) -> Any:
    """Return the one value that a place has as a term: `ABSENT`, or
    `UNREADABLE` if it has several.
    """
    if not isinstance(place, Many):
        return ABSENT if place is None else place
    found = list(leaves_of(place))
    if all(each is None for each in found):
        return ABSENT
    alike = all(same(found[0], each) is True for each in found[1:])
    return found[0] if alike else UNREADABLE


def comparison_test(left: Any, op: Op, right: Any) -> bool | None:
    """Return how the values of two terms compare; a list is looked into, unless both are lists."""
    if left is ABSENT or right is ABSENT:
        return False
    lists = (list, tuple)
    if isinstance(left, lists) and (op == "in" or not isinstance(right, lists)):
        return place_test(left, lambda each: comparison_test(each, op, right))
    if isinstance(right, lists) and op != "in" and not isinstance(left, lists):
        return place_test(right, lambda each: comparison_test(left, op, each))
    if op == "in" and isinstance(right, lists):
        return _any([of_one_shape(left, "=", each) for each in right])
    return of_one_shape(left, op, right)


def of_one_shape(left: Any, op: Op, right: Any) -> bool | None:
    """Return how two values compare, if both are objects, or neither is; else None."""
    alike = isinstance(left, Mapping) is isinstance(right, Mapping)
    return compare(left, op, right) if alike else None


def answer_test(place: Spot, op: Op, right: Any, *, whole: bool) -> bool | None:
    """Return the answer of a condition for a result; `whole`: for all of it.

    `matches` looks into the texts of data; a result without any does not match.
    """
    if op == "matches":
        return _texts_match(place, comparison(op, right))
    if whole and isinstance(place, Mapping):
        return op == "!="
    return condition_on(op, right)(place)


def _texts_match(place: Spot, found: Asks) -> bool | None:
    try:
        return _any([found(text) for text in texts_of(place)])
    except NotCanonical:
        return None


def texts_of(place: Spot) -> Iterator[str]:
    """Yield every text that stands there, once, in lists and objects too, and their keys.

    A text that is JSON is one itself, unless it is too long, and all that are in it are. Raises
    `NotCanonical`.
    """
    stack, seen = [place], set[str]()
    while stack:
        value = stack.pop()
        if value is UNREADABLE:
            raise NotCanonical("not data")
        if isinstance(value, str) and value not in seen:
            seen.add(value)
            inside = _inside(value)
            if inside is None or len(value) <= TEXT_CAP:
                yield value
            stack.append(inside)
        elif isinstance(value, Mapping):
            stack.extend(value)
            stack.extend(value.values())
        elif isinstance(value, Many):
            stack.extend(value.parts)
        elif isinstance(value, (list, tuple)):
            stack.extend(value)


def _inside(text: str) -> Any:
    """Return the data of a text if it is a JSON object or list, objects as pairs; else None."""
    if len(text) > JSON_CAP or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        values_in_json(text)
        return json.loads(text, object_pairs_hook=list)  # of two equal keys neither is lost
    except (RecursionError, NotCanonical):
        return UNREADABLE
    except ValueError:
        return None
