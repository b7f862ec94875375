"""Folds texts: case, width and invisible characters make no difference any more.

In: a text. Out: the same in small letters, with plain digits.
"""

from __future__ import annotations

import re

from sponsio_like.values.canonical_form import NotCanonical, normal
from sponsio_like.values.limits import TEXT_CAP

UNSEEN = re.compile(
    "[\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Invisible characters: those that Unicode calls ignorable, and formats (Cf)."""


def folded(text: str) -> str:
    """Return the text without case and invisible characters, and with plain digits.

    Raises `NotCanonical` for a text that is too long, or has too many combining marks in a row.
    """
    return visible_text(text, fold=True)


def visible_text(text: str, *, fold: bool = False) -> str:
    """Return the text without invisible characters, and with plain digits; its case stays.

    Raises `NotCanonical` as `folded` does. `fold`: without case, too.
    """
    if len(text) > TEXT_CAP:
        raise NotCanonical("too much text")
    if text.isascii():
        return text.casefold() if fold else text
    plain = normal(UNSEEN.sub("", text), "NFKC")
    plain = plain.casefold() if fold else plain  # capitals first become letters
    if len(plain) > TEXT_CAP:  # one sign may stand for eighteen
        raise NotCanonical("too much text")
    return UNSEEN.sub("", normal(plain, "NFKC"))
