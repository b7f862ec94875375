"""Splits texts and data into the pieces that count as values of their own.

In: an output, an argument, a text. Out: what `has $x` finds in there (`words_in`). Pieces are
texts; numbers are written as plain decimals.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from sponsio_like.values.canonical_form import NotCanonical, composed, exactly
from sponsio_like.values.effort import once_per_decision, spend
from sponsio_like.values.limits import ANSWER_CAP, DEPTH_CAP, JSON_CAP, TEXT_CAP, WORD_WORK

PIECES_CAP = 2 * ANSWER_CAP
"""Most values that are read in data, the names of fields included."""
PLAIN = frozenset({str, int, float, bool, type(None)})
"""The types of most scalars."""
SMALL = 10**15
"""Integers below it are written as text at once."""
DIGITS = 16
"""A text of fewer ASCII digits is a number as it is written."""
POWER_CAP = 4_300
"""Largest power of ten of a number that is written as text."""
WORDS_CAP = 20_000
"""Most words, beside the first of each text, that are read in an answer or a message;"""
GIVEN_CAP = 2_000
"""and of an argument, which is looked into while the call waits."""
RUN = 5
"""Most words in a row that count as one value; a longer text is found by its runs."""
AROUND = "\"'`.,;:!?()[]{}<>*#@\u2018\u2019\u201c\u201d\u201e\xab\xbb\u2026"
"""Punctuation around a word that does not belong to it."""
PARTS = re.compile(r"""(?:[\s";|<>()\[\]{}=]|(?<!\d)'|'(?!\d))+""")
"""Separators between the parts of data that is written as text; commas separate outside numbers."""
LABEL = re.compile(r"[^\W\d]\w*:(?!/)([^:]+)")
"""A name before its value: `id:7`, but not `12:30`, nor an address."""
NAME = re.compile(r"(?<!\S)[^\W\d]\w*$")
IBAN = re.compile(
    r"(?<![^\W_])[A-Z]{2}[0-9]{2}(?: [A-Z0-9]{4}){2,7}(?: (?=[A-Z]*[0-9])[A-Z0-9]{1,3})?(?![^\W_])"
)
GROUPED = re.compile(
    r"(?<![^\W_])(?<![0-9][ .,])\+?[0-9]{1,5}(?: [0-9]{2,5}){2,}(?! ?[0-9]|[^\W_]|[.,][0-9])"
)
"""Codes as they are printed in groups: accounts (`IBAN`); cards, phone numbers (`GROUPED`)."""
PRINTED = 10
"""Fewest letters and digits of such a code."""
NUMBER = re.compile(
    r"[-+]?[$\u20ac\xa3\xa5]?(?:\d{1,3}(?:,\d{3})+|0|[1-9]\d*)(?:\.\d+)?[$\u20ac\xa3\xa5]?"
)


def read_json(value: Any, *, wholly: bool = False, longest: int = TEXT_CAP) -> Any:
    """Return a text that is a JSON object or list as data, and everything else as it is.

    `wholly`: only if nothing of it is lost, as it is where an object has a key twice.
    """
    if not isinstance(value, str) or len(value) > longest or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value, object_pairs_hook=_wholly if wholly else None)
    except (ValueError, RecursionError):
        return value


def _wholly(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found


def scalar_text(value: Any) -> str | None:
    """Return a scalar as text: `5`, `5.0` and `"5"` are one; None for other values."""
    match value:
        case str():
            return " ".join(composed(value).split())
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case int() | float() | Decimal():
            return _decimal(value)
    return None


def _decimal(value: float | Decimal) -> str | None:
    if type(value) is int and abs(value) < SMALL:
        return str(value)
    exact = exactly(value)
    if not exact.is_finite() or abs(exact.adjusted()) > POWER_CAP:
        return None
    text = f"{exact:f}" if exact else "0"  # of all its digits; `normalize` rounds
    return text.rstrip("0").rstrip(".") if "." in text else text


def decimal_of(text: str) -> str | None:
    """Return a text that is a number as a plain decimal: `$1,234.50` is `1234.5`; else None."""
    if len(text) < DIGITS and text.isascii() and text.isdigit():
        return text if text[0] != "0" or text == "0" else None
    if not NUMBER.fullmatch(text):
        return None
    return _decimal(Decimal(re.sub(r"[^\d.-]", "", text)))


def leaves(value: Any, *, longest: int = TEXT_CAP) -> Iterator[tuple[str | None, Any]]:
    """Yield every scalar with the name of its field; names of fields themselves, with None.

    A text that is JSON is looked into. Raises `NotCanonical`.
    """
    stack: list[tuple[str | None, Any, int]] = [
        ("", read_json(value, wholly=True, longest=longest), 1)
    ]
    seen = 0
    while stack:
        name, each, depth = stack.pop()
        seen += 1
        if depth > DEPTH_CAP or seen + len(stack) > PIECES_CAP:
            raise NotCanonical("too many values")
        if type(each) in PLAIN:
            yield name, each
        elif isinstance(each, Mapping):
            stack += [(None, key, depth + 1) for key in each]
            stack += [(str(key), one, depth + 1) for key, one in each.items()]
        elif isinstance(each, (list, tuple)):
            stack += [(name, one, depth + 1) for one in each]
        elif isinstance(each, (str, bool, int, float, Decimal)) or each is None:
            yield name, each
        else:
            raise NotCanonical("not data")


def words_in(value: Any, most: int = WORDS_CAP) -> frozenset[str]:
    """Return every value that stands in there: scalars, lines, words, runs of up to five words.

    Raises `NotCanonical` for anything but data, or for too much of it.
    """
    return once_per_decision(
        f"words {most}", value, lambda each: all_pieces(*scalars_and_texts(each, most, WORD_WORK))
    )


def scalars_and_texts(value: Any, most: int, work: int) -> tuple[set[str], list[str]]:
    """Return what is one piece by itself, and all other texts, in the normal form of Unicode.

    `most`: words that are read; `work`: what each costs. Raises `NotCanonical`.
    """
    plain: set[str] = set()
    texts: list[str] = []
    longest = TEXT_CAP if most <= GIVEN_CAP else JSON_CAP
    for _, leaf in leaves(value, longest=longest):
        if type(leaf) is str and leaf.isascii() and leaf.isalnum():
            plain.add(leaf)  # a plain word is one piece
            continue
        if isinstance(leaf, str) and not leaf.isalnum():
            text = composed(leaf)
            if len(leaf) > TEXT_CAP:
                raise NotCanonical("too long a text")
            words = max(len(text.split()), 1)
            most -= words - 1  # a single word is found at once
            if most < 0:
                raise NotCanonical("too many words")
            spend(work * words)
            texts.append(text)
            continue
        scalar = scalar_text(leaf)
        if scalar is None:
            raise NotCanonical("not a number that can be written")
        plain.add(scalar)
    plain.discard("")
    return plain, texts


def all_pieces(plain: Iterable[str], texts: Iterable[str]) -> frozenset[str]:
    """Return every piece of what `scalars_and_texts` has returned."""
    found = set(plain)
    for text in texts:
        words = text.split()
        found.add(" ".join(words))
        for line in map(_plain, text.splitlines()):
            found.update((line,), behind(line), codes_in(line))
        found.update(words)
        found.update(word_tokens(" ".join([each for each in words if not is_one(each)])))
        found.update(_runs(words))
    found.discard("")
    return frozenset(found)


def word_tokens(text: str) -> Iterator[str]:
    """Yield the parts between quotes, brackets, commas and the like; numbers also as plain
    decimals.
    """
    for one in parts_between(text):
        yield from bare_forms(one)
        number = decimal_of(one.strip(AROUND))
        yield from () if number is None else (number,)


def parts_between(text: str) -> list[str]:
    """Return the parts between quotes, brackets, commas and the like, and what stands behind its
    name in one.
    """
    found: list[str] = []
    for part in PARTS.split(text):
        whole = "," not in part or decimal_of(part.strip(AROUND))
        for each in (part,) if whole else part.split(","):
            found.append(each)
            if ":" in each and (label := LABEL.fullmatch(each.strip(AROUND))):
                found.append(label[1])
    return found


def behind(line: str) -> Iterator[str]:
    """Yield what stands behind the first `name: ` of a line."""
    name, _, value = line.partition(": ")
    if value and NAME.search(name):
        yield from bare_forms(value)


def codes_in(line: str) -> Iterator[str]:
    """Yield whole codes that are printed in groups, with their blanks and without."""
    groups = GROUPED.findall(IBAN.sub(" \0 ", line))
    for code in (*IBAN.findall(line), *groups):
        joined = code.replace(" ", "")
        if len(joined) >= PRINTED:
            yield from (code, joined)


def _plain(line: str) -> str:
    return " ".join(line.split())


def is_one(word: str) -> bool:
    """True if a word has no other part than itself, and is written as it is."""
    return word.isascii() and word.isalnum()


def _runs(words: list[str]) -> Iterator[str]:
    """Yield up to five words in a row, and these and single words without the punctuation around.

    Only what begins or ends with punctuation is looked at one by one.
    """
    for size in range(2, RUN + 1):
        yield from map(" ".join, zip(*(words[first:] for first in range(size)), strict=False))
    edged = [word[:1] in AROUND or word[-1:] in AROUND for word in words]
    for i in itertools.compress(range(len(words)), edged):
        for end in range(i + 1, min(i + RUN, len(words)) + 1):
            yield from bare_forms(" ".join(words[i:end]))
        for start in range(max(0, i - RUN + 1), i):
            if not edged[start]:
                yield from bare_forms(" ".join(words[start : i + 1]))


def bare_forms(text: str) -> Collection[str]:
    """Return the text with the punctuation at its ends, without it, and with the mark next to it.

    `Bob Inc.` before a comma is `Bob Inc`, and `Bob Inc.` as well.
    """
    bare = text.strip(AROUND)
    if len(bare) >= len(text) - 1 or not bare:
        return (text, bare) if bare else (text,)
    start = len(text) - len(text.lstrip(AROUND))
    end = start + len(bare)
    return {
        text[left:right]
        for left in (0, max(0, start - 1), start)
        for right in (end, min(end + 1, len(text)), len(text))
    }
