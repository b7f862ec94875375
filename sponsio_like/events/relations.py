"""Compares values inside arguments and outputs, and finds regular expressions in them.

In: JSON data. Out: `True`, `False`, or `None` for a comparison that cannot be made (missing, of
another type, too long). The place of the comparison decides what `None` means, never this file.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from unicodedata import normalize

from sponsio_like.errors import ContractError
from sponsio_like.logic.formula import Op
from sponsio_like.values import (
    FORM_WORK,
    NUMBER_CAP,
    TEXT_CAP,
    VALUES_CAP,
    NotCanonical,
    canonical,
    exactly,
    key_of,
    normal,
    offered_in,
    once_per_decision,
    scalar_text,
    spend,
    under,
    words_in,
)

REGEX_CAP = 1_000
"""Longest regular expression, in characters."""
REGEX_MEMORY = 1 << 20
"""Most memory, in bytes, of one compiled regular expression; larger ones do not compile."""
WORK_CAP = 20_000_000
"""Most instructions of a regular expression times characters of the text it is searched in."""
LIGHT, WIDE = 2, 16
"""Steps for each character of a text, and the number of instructions that cost one step more."""
COUNTS = re.compile(r"(\w*)(\.|\[[^\]]*\]|\)|\\[A-Za-z])\{(\d+)(?:,(\d*))?\}")
"""The text before a repeated part of a pattern, the part, and its counts."""
MANY = 10
"""Most repetitions in a pattern with which a search still reaches few places at once."""
LOOSE = re.compile(r"(?:(?:\.|\[[^\]]*\]|\\[dDsSwWpP])\??){9}")
"""Nine classes of characters in a row."""
PIECES = re.compile(
    r"\\(?:[pP](?:\{\^?\w+\}|\w)|x(?:\{\w+\}|\w\w)|.)"  # an escape
    r"|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|[^\\\[]+",  # a class, plain text
    re.DOTALL,
)
RANGE_OF_MARKS = re.compile("[\u0300-\u036f]-")
HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which is not text."""
NUMERAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)
"""A plain decimal number: two texts that are such numbers are ordered as numbers."""
LONGEST = 100
"""Longest text, in characters, that is read as a number."""


@functools.lru_cache(maxsize=4096)
def regex(pattern: str) -> RegexSearch:
    """Return the search for a regular expression, in linear time (RE2). Callers keep what they
    reuse.

    Raises `ContractError` if it does not compile, with the reason. The search raises `NotCanonical`
    for a text that is too long for it, or no text.
    """
    compiled = _compiled(pattern, captures=False)
    return RegexSearch(compiled.search, compiled.programsize, _cost(pattern, compiled.programsize))


def _cost(pattern: str, size: int) -> int:
    """Return the work for each character of a text, in steps.

    Most programs take a step or two, however large they are. Where many places may be reached at
    once, as by a long count of any character, each of their instructions may be a step.
    """
    most = groups = 1
    for before, atom, least, last in COUNTS.findall(pattern):
        count = int(last or least)
        most = max(most, count // max(len(before), 1))  # a longer beginning matches at fewer places
        groups *= max(count, 1) if atom == ")" else 1
    many = most * groups > MANY or LOOSE.search(pattern) is not None
    return size if many else LIGHT + size // WIDE


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str, *, captures: bool) -> Any:
    import re2  # loaded only where a contract has a regular expression

    if len(pattern) > REGEX_CAP:
        raise ContractError.of(
            f"regular expression of {len(pattern)} characters", f"at most {REGEX_CAP} are allowed"
        )
    pattern = composed_pattern(pattern)
    options = re2.Options()
    options.max_mem = REGEX_MEMORY
    options.log_errors = False
    options.never_capture = not captures
    try:
        return re2.compile(pattern.encode(), options)  # over UTF-8: less work for each text
    except UnicodeEncodeError:
        raise ContractError.of("regular expression has half a character in it") from None
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        raise ContractError.of(
            f"regular expression `{pattern}` does not compile: {reason}",
            "RE2 syntax is needed: no look-around, no back-references",
        ) from None


def composed_pattern(pattern: str) -> str:
    """Return a pattern with its letters in NFC, as texts are; escapes and ranges of marks stay."""
    return pattern if pattern.isascii() else PIECES.sub(_composed, pattern)


def _composed(piece: re.Match[str]) -> str:
    text = piece[0]
    if text[0] == "\\" or (text[0] == "[" and RANGE_OF_MARKS.search(text)):
        return text
    parts = re.findall(r"\\.|[^\\]+", text, re.DOTALL)
    return "".join(each if each[0] == "\\" else normalize("NFC", each) for each in parts)


def captures(pattern: str, value: Any) -> list[str]:
    """Return all that the group of a regular expression finds in a text; without a group, its
    matches.

    Raises `NotCanonical` for anything but a string, and for one that is too long.
    """
    compiled = _compiled(pattern, captures=True)
    if not isinstance(value, str) or len(value) > TEXT_CAP or HALF.search(value):
        raise NotCanonical("no text to search in")
    if len(value) * compiled.programsize > WORK_CAP:
        raise NotCanonical("too much text for this regular expression")
    spend(len(value) * _cost(pattern, compiled.programsize))
    group = 1 if compiled.groups else 0
    matches = itertools.islice(compiled.finditer(normal(value).encode()), VALUES_CAP + 1)
    found = [each.group(group) for each in matches]
    if len(found) > VALUES_CAP:
        raise NotCanonical("too many matches")
    return [each.decode() for each in found if each is not None]


@dataclass(frozen=True, slots=True)
class RegexSearch:
    """The search for a regular expression in a text, and in the text's NFC form."""

    find: Callable[[bytes], Any]
    size: int
    """The number of instructions in the program of the expression."""
    cost: int = 1
    """The work for each character of a text, in steps."""

    def __call__(self, text: str) -> bool:
        if len(text) * self.size > WORK_CAP:
            raise NotCanonical("too much text for this regular expression")
        spend(len(text) * self.cost)
        if text.isascii():
            return self.find(text.encode()) is not None
        return any(self.find(form) is not None for form in once_per_decision("forms", text, _forms))


def _forms(text: str) -> list[bytes]:
    """Return a text as it is, and in its NFC form if that is another."""
    if HALF.search(text):
        raise NotCanonical("not text")
    spend(len(text) * FORM_WORK)
    return [form.encode() for form in dict.fromkeys((text, normal(text)))]


def compare(left: Any, op: Op, right: Any) -> bool | None:
    """Return `left op right`; None if it cannot be decided."""
    match op:
        case "=":
            return same(left, right)
        case "!=":
            equal = same(left, right)
            return None if equal is None else not equal
        case "in":
            return _among(left, right)
        case "matches":
            return text_matches(left, right)
        case "has" | "carries":
            return _stands_in(left, op, right)
        case "under" | "outside":
            inside = under(left, tuple(right)) if isinstance(right, (tuple, list)) else None
            return inside if inside is None or op == "under" else not inside
    return _ordered(left, op, right)


def same(left: Any, right: Any) -> bool | None:
    """Return JSON equality; None where the two may be read as the same: `"5"`
    and `5`, or `"a "`.
    """
    kind = type(left)
    if kind is type(right) and (kind is int or (kind is str and left.isascii())):
        if left == right:
            return True
        return None if kind is str and left.strip() == right.strip() else False
    try:
        if canonical(left) == canonical(right):
            return True
        return None if _reads_as(left, right) else False
    except NotCanonical:
        return None


def _reads_as(left: Any, right: Any) -> bool:
    """True if a tool may take one scalar for the other: as text, or as the same number."""
    texts = scalar_text(left), scalar_text(right)
    if None in texts or not (isinstance(left, str) or isinstance(right, str)):
        return False
    if texts[0] == texts[1]:
        return True
    if isinstance(left, bool) or isinstance(right, bool):  # Python writes `True`
        return str(texts[0]).lower() == str(texts[1]).lower()
    if isinstance(left, str) and isinstance(right, str):
        return False
    one, other = (number_in(text or "") for text in texts)
    return one is not None and one == other


def number_in(text: str) -> Decimal | None:
    """Return the exact number that a text is, without blanks around it; None if it is none."""
    bare = text.strip()
    return number(Decimal(bare)) if NUMERAL.fullmatch(bare) and len(bare) <= LONGEST else None


def _among(value: Any, choices: Any) -> bool | None:
    if not isinstance(choices, (tuple, list)):
        return None
    answers = [same(value, choice) for choice in choices]
    if True in answers:
        return True
    return None if None in answers else False


def _stands_in(value: Any, op: Op, text: Any) -> bool | None:
    """True if a text stands in the value as a whole token; for `carries`, in any case."""
    try:
        if op == "carries":
            return key_of(text) in offered_in(value)
        said = scalar_text(text)
        return None if said is None else said in words_in(value)
    except NotCanonical:
        return None


def text_matches(value: Any, pattern: Any) -> bool | None:
    """True if `pattern` is found in the string `value`; None if either is no
    string, or too long.
    """
    return _searched(value, regex(pattern)) if isinstance(pattern, str) else None


def _searched(value: Any, search: RegexSearch) -> bool | None:
    if not isinstance(value, str) or len(value) > TEXT_CAP:
        return None
    try:
        return search(value)
    except NotCanonical:
        return None


def comparison(op: Op, right: Any) -> Callable[[Any], bool | None]:
    """Return `compare` with a fixed right side: a regular expression is compiled here, once."""
    if op == "matches" and isinstance(right, str):
        search = regex(right)
        return lambda left: _searched(left, search)
    return lambda left: compare(left, op, right)


def number(value: Any) -> Decimal | None:
    """Return the exact value of a finite number; None for anything else, `True`
    and `"1"` included.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    exact = exactly(value)
    return exact if exact.is_finite() and abs(exact.adjusted()) <= NUMBER_CAP else None


def _ordered(left: Any, op: Op, right: Any) -> bool | None:
    if isinstance(left, str) and isinstance(right, str):
        return _texts_ordered(left, op, right)
    if type(left) is int and type(right) is int:
        return _order(left, op, right)
    a, b = _extended(left), _extended(right)
    return None if a is None or b is None else _order(a, op, b)


def _texts_ordered(left: str, op: Op, right: str) -> bool:
    one, other = left.strip(), right.strip()
    if PLAIN.fullmatch(one) and PLAIN.fullmatch(other):
        return _order(Decimal(one), op, Decimal(other))
    return _order(left, op, right)


def _extended(value: Any) -> Decimal | None:
    """Return a number, or infinity: the `since` and `age` of what never happened; else None."""
    never = isinstance(value, float) and value == float("inf")
    return Decimal("Infinity") if never else number(value)


def _order(left: Any, op: Op, right: Any) -> bool:
    match op:
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
    return bool(left >= right)
