"""Reads slots at an event. What cannot be read takes the value that violates."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from sponsio_like.events import (
    MISSING,
    OPEN,
    Call,
    Context,
    Event,
    Truth,
    concerns,
    nested_values,
    number,
    number_in,
    reader,
    value_reader,
)
from sponsio_like.logic.formula import Formula, Repeats, Sum, Term
from sponsio_like.monitor.past import EXACT
from sponsio_like.monitor.program import Slot
from sponsio_like.values import (
    TEXT_CAP,
    NotCanonical,
    canonical,
    composed,
    digest,
    find,
    is_gone,
    without_nulls,
)

KEY_CAP = 64
"""Longest value, in characters, that a key holds as it is; of longer ones it holds a hash."""
SHORT = 10**15
"""Whole numbers below this one are keys as they are."""

FEW, LIKENESS_CAP, EXACT_FLOATS = 8, 256, 1 << 53
"""Most arguments of a call, characters of each, and size of numbers, that are compared as they are;
other calls are compared by their fingerprints.
"""

_Read = Callable[[Event, Context], Any]


def slot_reader(slot: Slot) -> _Read:
    """Return the function that reads this slot at an event."""
    match slot.kind:
        case "atom":
            assert isinstance(slot.node, Formula)
            return _atom_reader(slot.node, default=slot.default, waits=slot.waits)
        case "value":
            assert isinstance(slot.node, Term)
            if slot.waits:
                return lambda event, _: OPEN if isinstance(event, Call) else MISSING
            return value_reader(slot.node)
        case "amount":
            assert isinstance(slot.node, Sum)
            return _amount_reader(slot.node)
        case "key":
            assert isinstance(slot.node, Repeats)
            return _key_reader(slot.node)


def _atom_reader(node: Formula, *, default: bool, waits: bool) -> _Read:
    read = reader(node)
    unknown: Truth = OPEN if waits and default else default

    def value(event: Event, context: Context) -> Truth:
        answer = read(event, context)
        return unknown if answer is None else answer

    return value


def _amount_reader(node: Sum) -> _Read:
    of = concerns(node.target)

    def amount(event: Event, _: Context) -> Any:
        if not isinstance(event, Call) or of(event) is False:
            return Decimal(0)
        found = [number(value) for value in find(event.args, node.path)]
        amounts = [amount for amount in found if amount is not None]
        return (
            functools.reduce(EXACT.add, amounts, Decimal(0))
            if found and len(amounts) == len(found)
            else MISSING
        )

    return amount


def likeness(tool: str, args: Mapping[str, Any]) -> Any:
    """Return a key that equal calls share. Calls of one tool with unreadable arguments share one,
    too.
    """
    pairs = _small(args)
    if pairs is None:
        args = without_nulls(args)
        pairs = _small(args)
    if pairs is not None:
        return (tool, *pairs)
    try:
        return digest(tool, args)
    except NotCanonical:
        return f"unreadable {tool}"


def _small(args: Mapping[str, Any]) -> list[Any] | None:
    """Return short texts and whole numbers by name, if a call has only few of them; else None."""
    if len(args) > FEW:
        return None
    pairs: list[Any] = []
    for name, value in sorted(args.items()) if len(args) > 1 else args.items():
        if type(value) is str:
            plain = len(value) <= LIKENESS_CAP and value.isascii()
        else:
            plain = type(value) is int and -EXACT_FLOATS < value < EXACT_FLOATS
        if not plain and (value := _alike(value)) is None:
            return None
        if not name.isascii():
            return _small_renamed(args)
        pairs += (name, value)
    return pairs


def _small_renamed(args: Mapping[str, Any]) -> list[Any] | None:
    """Return the same as `_small` for names in NFC; None if two of them are one, or not ASCII."""
    named = {composed(name): value for name, value in args.items()}
    return _small(named) if len(named) == len(args) and all(map(str.isascii, named)) else None


def _alike(value: Any) -> str | int | None:
    """Return a short text or whole number that equal values share; None for other values."""
    if isinstance(value, str):
        text = str.__str__(value) if value.isascii() else composed(value)
        return text if len(text) <= LIKENESS_CAP and text.isascii() else None
    exact = None if isinstance(value, str) else number(value)
    small = exact is not None and abs(exact) < EXACT_FLOATS and exact == int(exact)
    return int(exact) if exact is not None and small else None


def _key_reader(node: Repeats) -> _Read:
    of = concerns(node.target)

    def key(event: Event, _: Context) -> Any:
        if not isinstance(event, Call) or of(event) is False:
            return None
        if node.similar == "equal":
            return likeness(event.tool, event.args)
        return _words(event)

    return key


def _words(call: Call) -> tuple[str, frozenset[str]]:
    """Return the tool, and the words of all names and values of its arguments, in lower case."""
    said: list[str] = []
    try:
        for value in nested_values([without_nulls(call.args)]):
            parts = value if isinstance(value, Mapping) else [value]
            said.extend(map(str, () if isinstance(value, (list, tuple)) else parts))
    except NotCanonical:
        said = ["unreadable"]
    text = " ".join(said)
    return call.tool, frozenset(text[:TEXT_CAP].casefold().split())


def split_key(call: Call, paths: tuple[str, ...], single: bool = False) -> Any:
    """Return the canonical values at these paths; None if one is missing or cannot be read.

    `@agent` is the agent, `@tool` the tool, `*` all arguments together. Nulls and empty lists are
    missing. With `single`, a list of several values, or an object, cannot be read.
    """
    parts: list[Any] = []
    for path in paths:
        found = _values(call, path)
        if all(map(is_gone, found)) or (len(found) > 1 and "[]" not in path):
            return None  # missing, or hidden behind a second value
        try:
            value = found if "[]" in path else found[0]
            if single and path != "*" and isinstance(read_as(value), (list, tuple, Mapping)):
                return None
            parts.append(short(value if path[0] == "@" else read_as(value)))
        except NotCanonical:
            return None
    return tuple(parts)


def read_as(value: Any) -> Any:
    """Return one form for all values that a tool may read as the same.

    A text loses the blanks around it, and becomes the number or the truth value that it spells; a
    list of one element becomes the element.
    """
    match value:
        case str():
            bare = value.strip()
            exact = number_in(bare)
            return {"true": True, "false": False}.get(bare, bare) if exact is None else _bare(exact)
        case [only]:
            return read_as(only)
        case list() | tuple():
            return [read_as(each) for each in value]
        case Mapping():
            return {name: read_as(each) for name, each in value.items()}
    exact = number(value)
    return value if exact is None else _bare(exact)


def _bare(exact: Decimal) -> Decimal:
    """Return the same number without trailing zeros."""
    sign, digits, exponent = exact.as_tuple()
    text = "".join(map(str, digits))
    kept = text.rstrip("0") or "0"
    assert isinstance(exponent, int)  # a number, and finite
    return Decimal((sign, tuple(map(int, kept)), exponent + len(text) - len(kept)))


def short(value: Any) -> Any:
    """Return the canonical value, or a hash of it if it is long, since keys are kept for a session.

    Raises `NotCanonical`.
    """
    kind = type(value)
    if kind is int and -SHORT < value < SHORT:
        return Decimal(value)
    if kind is str and len(value) <= KEY_CAP and value.isascii():
        return value
    key = canonical(value)
    return key if len(str(value)) <= KEY_CAP else ("hash", digest("", value))


def _values(call: Call, path: str) -> list[Any]:
    if path in ("@agent", "@tool"):
        return [call.agent if path == "@agent" else call.tool]
    return [without_nulls(call.args)] if path == "*" else find(call.args, path)
