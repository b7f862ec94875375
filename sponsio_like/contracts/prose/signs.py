"""Makes one spelling of the signs that a word processor has several of.

In: a sentence. Out: the sentence with as many characters, so that places in it stay what they are.
What stands in quotes or backticks is left alone.
"""

from __future__ import annotations

import re

SIGNS = str.maketrans(dict.fromkeys("‘’ʼ´", "'") | {"\u2010": "-", "\u2011": "-", "\u200b": " "})
KEPT = re.compile(r"(`[^`]*`|\"[^\"]*\"|“[^”]*”)")


def one_spelling(sentence: str) -> str:
    """Return the sentence with straight apostrophes, plain hyphens and plain spaces."""
    parts = KEPT.split(sentence)
    parts[::2] = [each.translate(SIGNS) for each in parts[::2]]
    return "".join(parts)
