"""Finds texts that have a recognisable form inside of other texts: addresses, numbers, keys.

In: a text, and the names of detectors. Out: where each stands, and what it is without blanks and
signs. Texts are searched as a person sees them: full-width letters and digits, digits of other
scripts, invisible characters and odd dashes make no difference.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sponsio_like.errors import ContractError, closest
from sponsio_like.kinds.registry import import_needed
from sponsio_like.values import folded, normal

Found: TypeAlias = Iterator[tuple[int, int, str]]
"""Start and end of each, and its plain value."""
DASHES = {ord(each): "-" for each in "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63"}
BLANKS = dict.fromkeys([0x0B, 0x0C, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F], " ")
BLANKS |= dict.fromkeys([*range(0x2000, 0x200B), 0x3000], " ")
ESCAPED = re.compile(r"%(?:09|0[AaDd]|2[0BbDdEe]|3[0-9]|40)")
"""A digit, a blank, `+`, `-`, `.` or `@` as in a URL."""
SIGNS = re.compile(rf"(?P<same>[^%\x80-\U0010ffff]+)|{ESCAPED.pattern}|.", re.DOTALL)
"""Characters that are seen as they are; or one, which may be written as in a URL."""
FILLERS = "\u115f\u1160"
"""Letters that nobody sees."""
LONGEST_KEPT = 4_096
"""Most characters of a text of which it is remembered that something was found in it."""
MOST = 1_000
"""Most texts that one detector finds in a text."""


class Hit(NamedTuple):
    """A text that was found. `value` is it without blanks and signs, `name` that of its detector.

    `start` and `end` are places in the text that was searched.
    """

    name: str
    start: int
    end: int
    value: str


@dataclass(frozen=True)
class Detector:
    """A detector: `find` gets a plain text. `needs` are modules of the extra `[kinds]`."""

    name: str
    group: str
    find: Callable[[str], Found]
    needs: tuple[str, ...] = ()


DETECTORS: dict[str, Detector] = {}
"""The detectors by name."""


def detector(
    name: str, group: str, *needs: str
) -> Callable[[Callable[[str], Found]], Callable[[str], Found]]:
    """Declare a detector of the group `personal` or `secrets`."""

    def declare(find: Callable[[str], Found]) -> Callable[[str], Found]:
        DETECTORS[name] = Detector(name, group, find, needs)
        return find

    return declare


def chosen_detectors(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of detectors; `personal` and `secrets` stand for all of that group.

    Raises `ContractError` for other names, and where a module is missing that one needs.
    """
    groups = dict.fromkeys(each.group for each in DETECTORS.values())
    out: dict[str, None] = {}
    for name in names:
        if name not in DETECTORS and name not in groups:
            hint = closest(name, [*groups, *DETECTORS])
            known = f"write one of {', '.join([*groups, *DETECTORS])}"
            raise ContractError.of(f"`{name}` is no kind of text that is found", hint or known)
        known_as = (each.name for each in DETECTORS.values() if name in (each.name, each.group))
        out |= dict.fromkeys(known_as)
    for name in out:
        import_needed(f"finding `{name}`", DETECTORS[name].needs)
    return tuple(out)


def hits(text: str, names: Iterable[str]) -> list[Hit]:
    """Return what these detectors find, by where it starts."""
    plain, found = _plain(text), list[tuple[str, int, int, str]]()
    for name in names:
        some = itertools.islice(DETECTORS[name].find(plain), MOST)
        found += [(name, start, end, value) for start, end, value in some]
    places, ends = _places(text) if found else ((), ())
    out = [Hit(name, places[start], ends[end - 1], value) for name, start, end, value in found]
    return sorted(out, key=lambda hit: (hit.start, -hit.end))


@functools.lru_cache(maxsize=4_096)
def _has_hits(text: str, names: tuple[str, ...]) -> bool:
    return bool(hits(text, names))


def has_hits(text: str, names: tuple[str, ...]) -> bool:
    """True if one of these detectors finds something; kept for short texts."""
    return _has_hits(text, names) if len(text) <= LONGEST_KEPT else bool(hits(text, names))


def _plain(text: str) -> str:
    """Return the text as it is seen."""
    if "%" in text:
        text = ESCAPED.sub(lambda match: chr(int(match[0][1:], 16)), text)
    if text.isascii():
        return text
    return text.translate({ord(each): _seen(each) for each in {*text} if not each.isascii()})


def _places(text: str) -> tuple[Sequence[int], Sequence[int]]:
    """Return where each character of the text as it is seen begins and ends in it."""
    if "%" not in text and all(len(_seen(each)) == 1 for each in {*text} if not each.isascii()):
        return range(len(text)), range(1, len(text) + 1)
    places: list[int] = []
    ends: list[int] = []
    for match in SIGNS.finditer(text):
        start, end = match.span()
        if match.lastgroup == "same":
            places += range(start, end)
            ends += range(start + 1, end + 1)
        else:
            seen = 1 if match[0].isascii() else len(_seen(match[0]))
            places += [start] * seen
            ends += [end] * seen
    return places, ends


@functools.lru_cache(maxsize=4_096)
def _seen(sign: str) -> str:
    """Return one character as it is read: plain digits and dashes, nothing for what is unseen."""
    if _is_letter(sign):
        return sign
    if not folded(sign):
        return ""
    plain = normal(sign.translate(DASHES).translate(BLANKS), "NFKC")
    digits = [unicodedata.digit(each, None) for each in plain]
    pairs = zip(plain, digits, strict=True)
    return "".join(each if digit is None else str(digit) for each, digit in pairs)


def _is_letter(sign: str) -> bool:
    """True for a letter that is read as it is: most of a text, and soon told."""
    return sign.isalpha() and sign not in FILLERS and unicodedata.is_normalized("NFKC", sign)


def between(text: str, start: int, end: int) -> str:
    """Return letters and digits between two places, the letters as capitals."""
    return re.sub(r"[\W_]", "", text[start:end]).upper()
