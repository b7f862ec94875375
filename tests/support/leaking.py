"""Whether a value stands in a text, said a second time: every piece of the text is tried.

In: a value and a text of ASCII. Out: yes or no. Shares no code with the engine; slow.
"""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

NUMBER = re.compile(r"\$?(\d{1,3}(,\d\d\d)+|0|[1-9]\d*)(\.\d+)?")


def occurs(value: str, text: str) -> bool:
    """Whether some piece of the text is this value, and no letter or digit stands beside it."""
    ends = itertools.combinations(range(len(text) + 1), 2)
    pieces = [(i, j) for i, j in ends if _apart(text, i) and _apart(text, j)]
    amount = _amount(value)
    return any(_is(value, text[i:j]) for i, j in pieces) or any(
        amount is not None and amount == _amount(text[i:j]) and not _cuts(text, i, j)
        for i, j in pieces
    )


def _apart(text: str, at: int) -> bool:
    """Whether no word goes on across this place."""
    return not (text[max(0, at - 1) : at].isalnum() and text[at : at + 1].isalnum())


def _cuts(text: str, start: int, end: int) -> bool:
    """Whether the piece is a part of a larger number: `12` of `12.5`."""
    before = re.search(r"\d[.,]$", text[:start]) is not None
    return before or re.match(r"[.,]\d", text[end:]) is not None


def _is(value: str, piece: str) -> bool:
    if not (piece[:1].isalnum() and piece[-1:].isalnum()) or _amount(value) is not None:
        return piece.isalnum() and piece.lower() == value.lower()
    mine, other = (re.findall("[a-z0-9]+", each.lower()) for each in (value, piece))
    wide = len(other) <= 8 and re.search(r"\d", other[0]) and re.search(r"\d", other[-1])
    if len(other) > 5 and not wide:
        return False
    joined = "".join(mine)
    if len(joined) >= 7 and re.search(r"\d", joined):
        return joined == "".join(other)
    return mine == other


def _amount(text: str) -> Fraction | None:
    found = NUMBER.fullmatch(text)
    return Fraction(re.sub("[$,]", "", text)) if found else None
