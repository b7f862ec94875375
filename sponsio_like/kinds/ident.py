"""The kind `id`: a name that somebody has given to a thing, for comparison.

In: a text, or a number. Out: the same without blanks and invisible characters, in small letters,
with plain digits: `ORD 17`, `ord17` and `ＯＲＤ１７` are one.
"""

from __future__ import annotations

from sponsio_like.kinds.registry import kind
from sponsio_like.values import UNREADABLE, Facts, NotCanonical, folded

LONGEST = 256
"""Most characters that are read."""


@kind("id", {"value": "the name in its plain form"}, main="value", numbers=True)
def ident(text: str) -> Facts:
    """Return a name in its plain form; unknown if it is none, or has control characters."""
    try:
        plain = "".join(folded(text).split()) if len(text) <= LONGEST else ""
    except NotCanonical:
        plain = ""
    return {"value": (plain if plain.isprintable() and plain else UNREADABLE,)}
