"""Reads one place of an event for value variables, and compares what stands there with a value.

In: a place, a condition with a variable. Out: a `Lookup`: the values that stand there, as keys have
them, and whether all could be read. A variable that is bound from parts of texts is compared as
text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.events import Call, captures, compare, number_in, texts_of
from sponsio_like.monitor.slots import short
from sponsio_like.values import (
    ABSENT,
    GIVEN_CAP,
    LEAK_WORK,
    TOLD_WORK,
    UNREADABLE,
    VALUE_WORK,
    Many,
    NotCanonical,
    Spot,
    carried_in,
    index_words,
    key_of,
    keys_of,
    leaves_of,
    offered_in,
    once_per_decision,
    scalar_text,
    spend,
    spot,
    without_nulls,
    words_in,
)

Form: TypeAlias = Literal["exact", "text", "folded"]


class Unbound:
    """The stand-in for all values that nothing has bound."""


UNBOUND = Unbound()
SINGLE: frozenset[f.Op] = frozenset({"=", "!=", "<", "<=", ">", ">=", "matches"})
"""Operators that compare single values; `has` and `carries` look into whatever stands there."""
BINDING: frozenset[f.Op] = frozenset({"=", "matches", "has", "carries"})
"""Operators that can bind a variable; `!=`, `<` and so on only compare with it."""


class Lookup(NamedTuple):
    """The values that stand at a place. `unclear`: not all could be read; `there`: there are some.

    `mixed`: one value was meant, and several stand there: which of them counts is not known.
    `bare`: something stands there in which a regular expression finds nothing.
    """

    values: Collection[Any]
    unclear: bool
    there: bool
    mixed: bool = False
    bare: bool = False


NOWHERE = Lookup({}, False, False)
FEW_PIECES = 32
"""Most values of a text that are remembered one by one where a text may be remembered whole."""


def form_value(value: Any, form: Form) -> Any:
    """Return the value as keys have it. Raises `NotCanonical`."""
    if form == "folded":
        return key_of(value)
    text = scalar_text(value) if form == "text" else None
    return short(value) if text is None else text


def look(
    place: Spot,
    op: f.Op,
    var: f.Var,
    form: Form,
    *,
    given: bool,
    whole: bool,
    every: bool = False,
) -> Lookup:
    """Return the values that `op var` binds at a place; with `every`, those that each element has.

    `given`: the place is in an output, not in arguments; `whole`: the path means all of it.
    """
    read: list[Collection[Any]] = []
    unclear = False
    for each in _parts_of(place, op, given=given, whole=whole):
        if each is None and not whole:
            continue
        try:
            one = UNREADABLE if isinstance(each, Mapping) and not whole and op in SINGLE else each
            read.append(dict.fromkeys(_pieces(one, op, var, form, given)))
        except NotCanonical:
            unclear = True
    there, bare = unclear or bool(read), op == "matches" and not all(read)
    every = every and op in BINDING and bool(read)
    found = _in_all(read) if every else _in_any(read)
    unclear = unclear and (bool(found) or not every)  # an unread element adds none
    mixed = len(found) > 1 and op in SINGLE and not whole and _is_mixed(place)
    return Lookup(found, unclear, there, mixed, bare)


def look_for_words(place: Spot, *, whole: bool) -> Lookup:
    """Return what `has` finds in a message or an answer, as `look` does: if it is much, an index.

    `whole`: the path means all of it.
    """
    read: list[Collection[Any]] = []
    unclear = False
    for each in _parts_of(place, "has", given=True, whole=whole):
        if each is None and not whole:
            continue
        try:
            index = index_words(each)
            spend(TOLD_WORK * index.size)
            read.append(dict.fromkeys(index) if index.size <= FEW_PIECES else index)
        except NotCanonical:
            unclear = True
    return Lookup(_in_any(read), unclear, unclear or bool(read))


def _in_all(read: list[Collection[Any]]) -> dict[Any, None]:
    return {key: None for key in read[0] if all(key in each for each in read)}


def _in_any(read: list[Collection[Any]]) -> Collection[Any]:
    return read[0] if len(read) == 1 else {key: None for each in read for key in each}


def _parts_of(place: Spot, op: f.Op, *, given: bool, whole: bool) -> Iterator[Any]:
    if op == "matches" and given:  # in the texts of an answer, wherever they stand
        yield from _texts(place)
    elif op in SINGLE and not (whole and op != "matches"):
        yield from leaves_of(place)
    elif isinstance(place, Many):
        for part in place.parts:
            yield from _parts_of(part, op, given=given, whole=whole)
    elif place is not ABSENT and not (place == [] and not whole):
        yield place


def _texts(place: Spot) -> Iterator[Any]:
    try:
        yield from texts_of(place)
    except NotCanonical:
        yield UNREADABLE


def _is_mixed(place: Spot) -> bool:
    """True if a list stands where one value was meant."""
    if isinstance(place, Many):
        return (not place.each and len(place.parts) > 1) or any(map(_is_mixed, place.parts))
    return isinstance(place, (list, tuple)) and len(place) > 1


def _pieces(value: Any, op: f.Op, var: f.Var, form: Form, given: bool) -> Iterable[Any]:
    match op:
        case "matches":
            return (form_value(each, form) for each in captures(var.regex or "", value))
        case "has":
            words = words_in(value) if given else words_in(value, GIVEN_CAP)
            spend(VALUE_WORK * len(words))
            return words if form == "text" else keys_of(words)
        case "carries":
            asked = var.regex
            keys = (
                once_per_decision(f"carried {asked}", value, lambda each: carried_in(each, asked))
                if given
                else once_per_decision("offered", value, offered_in)
            )
            spend(LEAK_WORK * len(keys))
            return keys
    return (form_value(value, form),)


def holds(
    found: Lookup, op: f.Op, value: Any, form: Form, *, every: bool = False, strict: bool = False
) -> bool | None:
    """True if `op value` holds for what was found; None if that cannot be decided."""
    if not found.there:
        return None if strict and op in BINDING else False
    if op in BINDING:
        if value in found.values:
            return None if found.mixed or (every and found.unclear) else True
        return None if found.unclear and not (every and found.values) else False
    answers = [_compared(each, op, value, form) for each in found.values]
    if every:
        whole = False if False in answers else None if None in answers else True
        return whole if whole is False or not found.unclear else None
    if True in answers:
        return None if found.mixed and (False in answers or None in answers) else True
    return None if None in answers or found.unclear else False


def _compared(found: Any, op: f.Op, value: Any, form: Form) -> bool | None:
    if op == "!=":
        return bool(found != value)
    return None if value is UNBOUND else ordered(found, op, value, form)


def ordered(left: Any, op: f.Op, right: Any, form: Form) -> bool | None:
    """Return how two values compare. Two texts of a text variable compare as numbers if one is a
    number.
    """
    if form != "exact" and isinstance(left, str) and isinstance(right, str):
        one, other = number_in(left), number_in(right)
        if one is not None or other is not None:
            return compare(one, op, other)
    return compare(left, op, right)


def call_spot(call: Call, path: str) -> Spot:
    """Return what stands at a path of a call; `*`, `@agent` and `@call` are paths, too."""
    match path:
        case "*":
            return without_nulls(call.args)
        case "@agent":
            return call.agent
        case "@call":
            return [call.tool, without_nulls(call.args)]
    return spot(call.args, path)


def is_whole(path: str) -> bool:
    """True if a path means everything that is there, in whatever shape."""
    return path in ("", "*", "@agent", "@call")
