"""Finds what shows that a value was passed on: the pieces of an answer, and of an argument.

In: an output, an argument. Out: the values in an output that identify something (`carried_in`), and
all that stands in an argument, wherever a letter or digit begins or ends (`offered_in`). Both are
keys: texts without case and punctuation, numbers as plain decimals.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from sponsio_like.values.canonical_form import NotCanonical
from sponsio_like.values.limits import ANSWER_CAP, JSON_CAP, TEXT_CAP
from sponsio_like.values.tokens import (
    NUMBER,
    decimal_of,
    leaves,
    parts_between,
    read_json,
    scalar_text,
)
from sponsio_like.values.visible_text import visible_text

PARTS_CAP = 20_000
"""Most parts (runs of letters and digits) of one argument."""
RUN = 5
"""Parts in a row that make a passage; longer values are found by their passages."""
GROUPS = 8
"""Most parts of a number, an IBAN or the like that is written in groups."""
LONG = 40
"""Most characters of a number that is written in more groups than that, such as digit by digit."""
JOINED = 7
"""Fewest characters of a value with a digit that is the same in whatever groups it is written."""
SHORT = 4
"""Fewest characters of a value that identifies something, unless the contract says otherwise."""
TOKEN = 16
"""Fewest characters of a word without digits that is taken for a secret."""

OWN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Scripts without blanks: letters of others beside such a letter are parts of their own."""
PART = re.compile(rf"[{OWN}]+|[^\W_{OWN}]+")
DIGIT = re.compile(r"\d")
AROUND = "\"'`.,;:!?()[]{}<>*"
DATE = (
    r"(?:19|20)\d\d(?:[-/.]\d\d?(?:[-/.]\d\d?)?)?|\d\d?[-/.]\d\d?[-/.](?:19|20)?\d\d"
    r"|\d\d?:\d\d(?::\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?"
)
MOMENT = re.compile(rf"(?<![^\W_])(?:{DATE})(?:[tT\s](?:{DATE}))?(?![^\W_])", re.IGNORECASE)
COMMON = re.compile(
    rf"(?:{DATE})(?:(?:t|\s+)(?:{DATE}))?"  # dates, times, years
    r"|\d{1,3}(?:[a-z]{1,2}|%)|\d{1,2}[-/]\d{1,2}|[+-]?\d0+(?:\.0+)?",  # 20th, 10am, 10-15, 5000
    re.IGNORECASE,
)
"""Texts with digits that identify nothing."""
GROUPED = re.compile(r"(?<![^\W_])\+?\(?\d+(?:[ ./()-]{1,3}\d+)+(?![^\W_])")
IBAN = re.compile(r"(?<![^\W_])[A-Z]{2}\d\d(?: [A-Z0-9]{2,4}){3,8}(?![^\W_])")
AMOUNT = re.compile(rf"(?<![^\W_])(?<!\d[.,])(?:{NUMBER.pattern})(?![^\W_]|[.,]\d)")
WRITTEN = re.compile(r"%[0-9A-Fa-f]{2}")
ADDRESS = re.compile(r"[\w.+-]+(?:@[\w-]+(?:\.[\w-]+)+)?")
"""An address, or a run of letters without one: else a long run is searched from each letter on."""
MARK = re.compile(r"[\"';|<>()\[\]{}=,:&]")  # where a part of a word may begin
PASSWORD = re.compile(r"//[^\s/:@]*:([^\s/@]+)@")  # of the user in a URL
NAMED = re.compile(r"[^\W\d](?:[^\W\d]|[-.])*\d?")  # a name of a field, as programs write it
INNER = re.compile(r"(?<=[a-z])[A-Z]")
LEAST = re.compile(r"(\d{1,4}) characters?")
SECRET = re.compile(
    r"passw|passphrase|pwd|secret|token|credential|api.?key|access.?key|private.?key"
    r"|^(?:key|pin|otp|cvv|cvc|ssn|iban)$",
    re.IGNORECASE,
)
"""Names of fields whose values identify something, whatever they are."""


# --- keys -----------------------------------------------------------------------------------------


def key_of(value: Any) -> str:
    """Return the key of a single value. Raises `NotCanonical` for no scalar, or
    one that is too long.
    """
    text = scalar_text(value)
    if text is None:
        raise NotCanonical("not a plain value")
    found = _whole(text)
    if len(found) != 1:
        raise NotCanonical("not one value")
    return found[0]


def keys_of(words: Iterable[str]) -> Iterator[str]:
    """Yield the key of each of these texts that has one."""
    for word in words:
        found = _whole(word)
        yield from found if len(found) == 1 else ()


def _whole(text: str) -> list[str]:
    """Return the key of a text; the passages of a long one; nothing for mere punctuation."""
    number = decimal_of(text)
    if number is not None:
        return [number.lstrip("-")]
    parts = word_parts(text)
    if len(parts) <= RUN or (len(parts) <= GROUPS and _is_code(parts)) or _is_spelt(parts):
        return [_key(parts)] if parts else []
    return [_key(run) for run in _runs(parts)]


def word_parts(text: str) -> list[str]:
    """Return the runs of letters and digits, without case."""
    return PART.findall(visible_text(text, fold=True))


def _key(parts: Iterable[str]) -> str:
    """Return parts as one text, without blanks if it is long enough and has a digit."""
    spaced = " ".join(parts)
    joined = spaced.replace(" ", "")
    return joined if len(joined) >= JOINED and DIGIT.search(joined) else spaced


def _is_code(parts: list[str]) -> bool:
    """True if the first and the last part have digits."""
    return bool(DIGIT.search(parts[0]) and DIGIT.search(parts[-1]))


def _is_spelt(parts: list[str]) -> bool:
    """True if the parts are a number in many groups."""
    return sum(map(len, parts)) <= LONG and all(map(DIGIT.search, parts))


def _runs(parts: list[str]) -> Iterator[list[str]]:
    """Yield every passage: each `RUN` of parts in a row."""
    return (parts[i : i + RUN] for i in range(len(parts) - RUN + 1))


def _is_prose(run: list[str]) -> bool:
    """True if most of the run is words: a date and a time are no passage."""
    return sum(not DIGIT.search(each) for each in run) > RUN // 2


# --- what an argument has -------------------------------------------------------------------------


def offered_in(value: Any) -> frozenset[str]:
    """Return the keys of all that stands in an argument, in names of fields too.

    Raises `NotCanonical` for anything but data, or for too much of it.
    """
    found: set[str] = set()
    room = PARTS_CAP
    for _, leaf in leaves(value):
        text = scalar_text(leaf)
        if text is None:
            raise NotCanonical("not a number that can be written")
        for each in _written(text):
            parts = word_parts(each)
            room -= len(parts)
            if room < 0:
                raise NotCanonical("too many words")
            found.update(_pieces(parts), _numbers(each))
    return frozenset(found)


def _written(text: str) -> tuple[str, ...]:
    """Return the text, and the text without percent-escapes if it has any."""
    return (text, unquote(text)) if WRITTEN.search(text) else (text,)


def _pieces(parts: list[str]) -> Iterator[str]:
    """Yield every run of parts that may be a key: the work grows with the number of parts."""
    digits = [DIGIT.search(each) is not None for each in parts]
    for i, first in enumerate(parts):
        spaced = joined = first
        some = digits[i]
        yield first
        last = GROUPS if some else RUN
        for j in range(i + 1, min(i + last, len(parts))):
            spaced, joined = f"{spaced} {parts[j]}", joined + parts[j]
            some = some or digits[j]
            if j < i + RUN or digits[j]:
                yield joined if some and len(joined) >= JOINED else spaced
    for numeric, run in itertools.groupby(zip(digits, parts, strict=True), lambda each: each[0]):
        spelt = [each for _, each in run] if numeric else []
        if len(spelt) > GROUPS:
            yield "".join(spelt)


def _numbers(text: str) -> Iterator[str]:
    """Yield the numbers in the text, as plain decimals: `$1,234.50` is `1234.5`."""
    for each in AMOUNT.finditer(visible_text(text)):
        number = decimal_of(each[0])
        yield from () if number is None else (number.lstrip("-"),)


# --- what an output delivers ----------------------------------------------------------------------


def carried_in(value: Any, asked: str | None = None) -> frozenset[str]:
    """Return the keys of all that identifies something in an output.

    `asked`: the fewest characters, or the fields whose values count, whatever they are. Raises
    `NotCanonical` for anything but data, or for too much of it.
    """
    fields, least = leak_fields(asked)
    data = read_json(value, wholly=True, longest=JSON_CAP)
    structured = isinstance(data, (Mapping, list, tuple))
    found: set[str] = set()
    room = ANSWER_CAP
    places = itertools.chain(*(_anywhere(data, path) for path in fields if structured))
    once = {(id(place), whole): (place, whole) for place, whole in places}
    for place, whole in once.values() if fields and structured else [(data, False)]:
        for name, leaf in leaves(place):
            text = None if leaf is None else scalar_text(leaf)
            if leaf is not None and (text is None or len(text) > TEXT_CAP):
                raise NotCanonical("too long")
            for each in _written(text or ""):
                parts = word_parts(each)
                room -= len(parts)
                if room < 0:
                    raise NotCanonical("too many words")
                secret = name and SECRET.search(name) and sum(map(len, parts)) >= least
                if name is not None and (whole or secret):
                    found.update(_whole(each))
                elif not isinstance(leaf, bool) and (name is not None or not NAMED.fullmatch(each)):
                    found.update(_identifying(each, least, alone=structured))
    return frozenset(found)


def leak_fields(asked: str | None) -> tuple[tuple[str, ...], int]:
    """Return the fields that are asked for, and the fewest characters of other values."""
    if asked is None:
        return (), SHORT
    if least := LEAST.fullmatch(asked):
        return (), int(least[1])
    return tuple(each.strip() for each in asked.split(",")), SHORT


def _anywhere(data: Any, path: str) -> Iterator[tuple[Any, bool]]:
    """Yield what `_at` does, and the same for each object inside of the data: `iban` is found in
    `{"user": {"iban": ..}}`.
    """
    yield from _at(data, path)
    first = path.replace("[]", "").split(".")[0]
    stack = list(_inner(data))
    while stack:
        each = read_json(stack.pop(), wholly=True)
        if isinstance(each, Mapping) and (first in each or path in each):
            yield from _at(each, path)
        stack += _inner(each)


def _inner(data: Any) -> Iterator[Any]:
    """Yield the values of an object, or of each object of a list."""
    if isinstance(data, Mapping):
        yield from data.values()
    elif isinstance(data, (list, tuple)):
        yield from data


def _at(data: Any, path: str) -> list[tuple[Any, bool]]:
    """Return the values at a path, in lists too; each with False if it has another shape than the
    path.
    """
    if isinstance(data, Mapping) and path in data:
        return [(data[path], True)]
    found: list[tuple[Any, bool]] = [(data, True)]
    for part in path.replace("[]", "").split("."):
        below: list[tuple[Any, bool]] = []
        for each, whole in found:
            below += _below(each, part) if whole else [(each, False)]
        found = below
    return found


def _below(data: Any, part: str) -> list[tuple[Any, bool]]:
    data = read_json(data, wholly=True)
    if isinstance(data, Mapping):
        return [(data[part], True)] if part in data else []
    if isinstance(data, (list, tuple)):
        return [found for each in data for found in _below(each, part)]
    return [(data, False)]


def _identifying(text: str, least: int, *, alone: bool) -> Iterator[str]:
    """Yield the keys of what identifies something in a scalar.

    `alone`: the scalar is a value of data, not a running text.
    """
    plain = visible_text(text)
    if alone and _is_telling(plain, least):
        yield from _whole(plain)
    if " " in plain:
        yield from (_key(run) for run in _runs(word_parts(plain)) if _is_prose(run))
    runs = ADDRESS.findall(plain) if "@" in plain else ()
    yield from keys_of(each for each in runs if "@" in each and _is_token(each, least))
    yield from _tokens(plain, least)


def _tokens(text: str, least: int) -> Iterator[str]:
    """Yield the keys of words, and of numbers in groups, that identify something."""
    text = MOMENT.sub(" \0 ", text)
    ibans = [each[0] for each in IBAN.finditer(text)]
    groups = (each[0] for each in GROUPED.finditer(IBAN.sub(" \0 ", text)) if " " in each[0])
    known: set[str] = set()
    for group in (*ibans, *groups):
        parts = word_parts(group)
        if sum(map(len, parts)) >= JOINED and len(parts) <= GROUPS:
            known.update(each for each in group.split() if len(each) <= SHORT or "-" in each)
            yield _key(parts)
    for word in text.split():
        bare = word.strip(AROUND)
        for each in (bare, *_inside(bare)):
            if each not in known and _is_token(each, least):
                yield from _whole(each)


def _inside(word: str) -> Iterator[str]:
    """Yield the parts of a word: those between its marks, and the password of a URL."""
    if MARK.search(word):
        yield from (each.strip(AROUND) for each in parts_between(word.replace("&", ";")))
        yield from PASSWORD.findall(word)


def _is_token(word: str, least: int) -> bool:
    """True if one word identifies something: it has a digit, or is an address."""
    number = decimal_of(word)
    if number is not None:
        digits = re.sub(r"\D", "", number)
        return len(digits) >= least and not COMMON.fullmatch(number)
    parts = word_parts(word)
    size = sum(map(len, parts))
    if size < least or COMMON.fullmatch(word):
        return False
    return DIGIT.search(word) is not None or ("@" in word and len(parts) > 1)


def _is_telling(text: str, least: int) -> bool:
    """True if a value of data identifies something: a number, a code, a name, a secret."""
    bare = text.strip(AROUND)
    words = bare.split()
    if not words or sum(map(len, word_parts(bare))) < least or COMMON.fullmatch(bare):
        return False
    if len(words) == 1:
        return _is_token(bare, least) or len(bare) >= TOKEN or len(INNER.findall(bare)) > 1
    if DIGIT.search(bare) and bare == bare.upper():
        return True
    return sum(word[:1].isupper() for word in words) > 1
