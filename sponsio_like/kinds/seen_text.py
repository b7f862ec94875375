"""A text as a person sees it, and where in it something may begin that has a certain form.

In: any text. Out: it with plain digits, blanks and dashes, and without what nobody sees; and the
places where a quick expression (RE2) finds that an exact one may match. The work at such places is
counted, so that a text that is made of nothing else does not hold up a decision.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sponsio_like.values import TEXT_CAP, NotCanonical, folded, normal

DASHES = {ord(each): "-" for each in "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63"}
BLANKS = dict.fromkeys([0x0B, 0x0C, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F], " ")
BLANKS |= dict.fromkeys([*range(0x2000, 0x200B), 0x3000], " ")
ESCAPED = re.compile(r"%(?:09|0[AaDd]|2[0BbDdEe]|3[0-9]|40)")
"""A digit, a blank, `+`, `-`, `.` or `@` as in a URL."""
ESCAPES = (
    *("%09", "%0A", "%0a", "%0D", "%0d", "%20", "%2B", "%2b", "%2D", "%2d", "%2E", "%2e", "%40"),
    *("%30", "%31", "%32", "%34", "%35", "%36", "%37", "%38", "%39", "%33"),
)
"""All of these, `3` behind all that its `%3` may make: what was replaced is not read again."""
SIGNS = re.compile(rf"(?P<same>[^%\x80-\U0010ffff]+)|{ESCAPED.pattern}|.", re.DOTALL)
"""Characters that are seen as they are; or one, which may be written as in a URL."""
FILLERS = "\u115f\u1160"
"""Letters that nobody sees."""
WORK, SHARE = 12_000, 8
"""Most work on what may be a number in a text, of about a microsecond each: so much, and one more
for each so many characters. Honest numbers are found long before.
"""
PLACE = 5
"""The work of one place where a number may begin."""
DIFFERENT, DIFFERENT_LETTERS = 1_000, 10_000
"""Most different signs in a text that are worked out one by one; and most with letters."""
FEW = 50
"""Most different signs that are replaced one after another, which is faster."""


class Seen:
    """A text as it is seen, and the work that may still be done on it. `work` is what was done.

    `text` is that text, `ascii` the same with `?` for all that is not ASCII. Raises `NotCanonical`
    where there is too much in it; with `capped=False` never.
    """

    __slots__ = ("ascii", "most", "text", "work")

    def __init__(self, text: str, *, capped: bool = True) -> None:
        self.text = _plain(text, capped=capped)
        self.most = WORK + len(text) // SHARE if capped else None
        self.work = 0
        if capped and len(self.text) > 2 * TEXT_CAP:
            raise NotCanonical("a text that is too long when it is read as it is seen")
        self.ascii = self.text.encode("ascii", "replace")

    def translated(self, table: Mapping[int, str | int]) -> Seen:
        """Return this text with other characters, one for each."""
        other = object.__new__(Seen)
        other.text, other.most, other.work = self.text.translate(table), self.most, self.work
        other.ascii = other.text.encode("ascii", "replace")
        return other

    def take(self, work: int) -> None:
        """Count this work. Raises `NotCanonical` if there is too much."""
        self.work += work
        if self.most is not None and self.work > self.most:
            raise NotCanonical("too many numbers in a text")

    def has(self, quick: str) -> bool:
        """True if the quick expression is found anywhere."""
        return _quick(quick).search(self.ascii) is not None

    def places(self, quick: str) -> Iterator[int]:
        """Yield each place where a group of the quick expression begins.

        What stands before the group is to be no more than the characters that it follows.
        """
        find, at, last = _quick(quick).search, 0, -1
        while (found := find(self.ascii, at)) is not None:
            at = found.start() + 1
            start = found.start(found.lastindex)
            if start > last:
                self.take(PLACE)
                last = start
                yield start

    def matches(self, exact: re.Pattern[str], quick: str) -> Iterator[re.Match[str]]:
        """Yield what `exact.finditer` finds, where `quick` finds that it may begin."""
        past = 0
        for start in self.places(quick):
            match = exact.match(self.text, start) if start >= past else None
            if match is not None:
                past = match.end()
                yield match


@functools.cache
def _quick(pattern: str) -> Any:
    import re2  # loaded only where a contract searches for such texts

    return re2.compile(pattern.encode())


def _plain(text: str, *, capped: bool) -> str:
    """Return the text as it is seen."""
    for escape in ESCAPES if "%" in text else ():
        text = text.replace(escape, chr(int(escape[1:], 16)))
    if text.isascii():
        return text
    signs = [each for each in {*text} if not each.isascii()]
    if capped and len(signs) > DIFFERENT_LETTERS:
        raise NotCanonical("too many different letters in a text")
    others = _others(signs)
    if capped and len(others) > DIFFERENT:
        raise NotCanonical("too many different signs in a text")
    seen = {each: plain for each in others if (plain := seen_sign(each)) != each}
    for each in [sign for sign, plain in seen.items() if plain.isascii()][:FEW]:
        text = text.replace(each, seen.pop(each))
    return text.translate({ord(each): plain for each, plain in seen.items()}) if seen else text


def _others(signs: list[str]) -> list[str]:
    """Return the signs that may be seen as others: those that are not plain letters."""
    letters = "".join([each for each in signs if each.isalpha()])
    usual = not any(each in letters for each in FILLERS)
    if usual and unicodedata.is_normalized("NFKC", letters):
        return [each for each in signs if not each.isalpha()]
    return [each for each in signs if not _is_letter(each)]


def seen_places(text: str) -> tuple[Sequence[int], Sequence[int]]:
    """Return where each character of the text as it is seen begins and ends in it."""
    if "%" not in text and all(len(seen_sign(each)) == 1 for each in {*text} if not each.isascii()):
        return range(len(text)), range(1, len(text) + 1)
    places: list[int] = []
    ends: list[int] = []
    for match in SIGNS.finditer(text):
        start, end = match.span()
        if match.lastgroup == "same":
            places += range(start, end)
            ends += range(start + 1, end + 1)
        else:
            seen = 1 if match[0].isascii() else len(seen_sign(match[0]))
            places += [start] * seen
            ends += [end] * seen
    return places, ends


@functools.lru_cache(maxsize=4_096)
def seen_sign(sign: str) -> str:
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
