"""Makes the canonical form of JSON values, in which equal values are equal, and digests."""

from __future__ import annotations

import functools
import hashlib
import json
import operator
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

from sponsio_like.values.limits import COMPOSED_CAP, DEPTH_CAP

WRITTEN_CAP = 1_024
"""Longest text, in characters, that stands in a fingerprint as it is; of longer ones, a hash."""


SHORT = 10**15
"""Numbers below this one are written as they are told apart, without decimals."""
MARKS_CAP = 30
"""Most combining marks in a row that are put in order."""


class NotCanonical(ValueError):
    """Raised for a value that has no canonical form: a cycle, or an object that is not data."""


def canonical(value: Any, depth: int = DEPTH_CAP) -> Any:
    """Return a hashable form, equal for JSON-equal values: `1` is `1.0`, `True` is not `1`.

    Strings are NFC; numbers are exact decimals. Raises `NotCanonical` for NaN, for anything that is
    not JSON data, for keys that NFC makes one, and for what is nested deeper than `depth`.
    """
    if depth <= 0:
        raise NotCanonical("a value nested too deeply")
    match value:
        case str():
            return composed(value)
        case bool() | None:
            return (type(value).__name__, value)
        case int() | float() | Decimal():
            return _number(value)
        case Mapping():
            pairs = {canonical(str(k)): canonical(v, depth - 1) for k, v in value.items()}
            if len(pairs) < len(value):
                raise NotCanonical("two keys that are one in NFC")
            return ("map", frozenset(pairs.items()))
        case list() | tuple():
            return ("list", tuple(canonical(item, depth - 1) for item in value))
    raise NotCanonical(f"a value of type `{type(value).__name__}`")


def composed(text: str) -> str:
    """Return the text in NFC, in linear time.

    Raises `NotCanonical` for text that is too long, or has too many combining marks in a row.
    """
    if len(text) > COMPOSED_CAP and not text.isascii():
        raise NotCanonical("too long a text")
    return normal(text)


def normal(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """Return a text in a normal form of Unicode.

    Raises `NotCanonical` for text with too many combining marks in a row: to put those in order
    takes time that grows with their square.
    """
    if text.isascii():
        return text
    if heaps_marks(text):
        raise NotCanonical("too many marks in a row")
    return unicodedata.normalize(form, text)


def heaps_marks(text: str) -> bool:
    """True if a text has more combining marks in a row than any language has."""
    if len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(text):  # none beyond U+FFFF
        return _heap().search(text) is not None
    classes = bytes(map(unicodedata.combining, text))
    return re.search(rb"[^\0]{%d}" % (MARKS_CAP + 1), classes) is not None


@functools.cache
def _heap() -> re.Pattern[str]:
    marks = filter(unicodedata.combining, map(chr, range(0x10000)))
    return re.compile(f"[{''.join(marks)}]{{{MARKS_CAP + 1}}}")


def _number(value: float | Decimal) -> Any:
    exact = exactly(value)
    if exact.is_nan():
        raise NotCanonical("not a number")
    return exact if exact.is_finite() else ("inf", exact > 0)


def exactly(value: float | Decimal) -> Decimal:
    """Return the number as it is written. A subclass of float may write its numbers otherwise."""
    return Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)


def digest(tool: str, args: Any) -> str:
    """Return a fingerprint of a call: equal for the same tool and JSON-equal arguments.

    Raises `NotCanonical` for arguments that have no canonical form: they equal nothing.
    """
    plain = _flat(args) if type(args) is dict else None
    text = json.dumps([tool, plain or _plain(canonical(args))], ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _flat(args: dict[Any, Any]) -> Any:
    """Return what `_short` does, in less time for arguments that are texts and numbers."""
    pairs: list[tuple[str, Any]] = []
    for name, value in args.items():
        kind = type(value)
        if type(name) is not str or not name.isascii():
            return None
        if kind is str and len(value) <= WRITTEN_CAP and value.isascii():
            pairs.append((name, value))
        elif kind is int and -SHORT < value < SHORT:
            pairs.append((name, ["num", _digits(value)]))
        elif (inner := _short(value, DEPTH_CAP - 1)) is None:
            return None
        else:
            pairs.append((name, inner))
    pairs.sort(key=_first)
    return ["map", pairs]


def _short(value: Any, depth: int) -> Any:
    """Return `_plain` of the canonical form of a short text or number, or of a list or an object of
    these; None for all others.
    """
    kind = type(value)
    if depth <= 0:
        return None
    if kind is str:
        return value if len(value) <= WRITTEN_CAP and value.isascii() else None
    if kind is int:
        return ["num", _digits(value)] if -SHORT < value < SHORT else None
    if value is None or kind is bool:
        return [kind.__name__, str(value)]
    if kind is list:
        items = [_short(each, depth - 1) for each in value]
        return None if None in items else ["list", items]
    if kind is not dict or not all([type(name) is str and name.isascii() for name in value]):
        return None
    pairs = sorted([(name, _short(value[name], depth - 1)) for name in value], key=_first)
    return None if None in [inner for _, inner in pairs] else ["map", pairs]


_first = operator.itemgetter(0)


def _digits(value: int) -> str:
    """Return `_written` of a small number."""
    digits = str(abs(value))
    short = digits.rstrip("0")
    return f"{int(value < 0)}:{short}:{len(digits) - len(short)}" if short else "0"


def _hashed(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _written(value: Decimal) -> str:
    """Return a text that is the same for equal numbers, whatever their size."""
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    short = text.rstrip("0")
    return f"{sign}:{short}:{int(exponent) + len(text) - len(short)}" if short else "0"


def _plain(value: Any) -> Any:
    """Return `canonical` output as ordered JSON data."""
    match value:
        case Decimal():
            return ["num", _written(value)]
        case ("map", frozenset() as pairs):
            return [
                "map",
                sorted(([k, _plain(v)] for k, v in pairs), key=lambda pair: str(pair[0])),
            ]
        case ("list", tuple() as items):
            return ["list", [_plain(item) for item in items]]
        case str():
            return value if len(value) <= WRITTEN_CAP else ["long", _hashed(value)]
        case (str() as tag, rest):
            return [tag, str(rest)]
    return str(value)
