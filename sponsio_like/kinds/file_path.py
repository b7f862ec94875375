"""The kind `path`: the path of a file, read as `values/paths.py` reads it.

In: a text. Out: its parts. For folders there are the comparisons `under` and `outside`.
"""

from __future__ import annotations

import re

from sponsio_like.kinds.registry import kind, unknown
from sponsio_like.values import UNREADABLE, Facts, place_of, under

PARTS = {
    "whole": "the path as it was written",
    "place": "the path without `.`, `..` and slashes that stand for nothing: `/w/a` for `/w//./a`",
    "name": "its last step",
    "suffix": "what stands behind the last dot of its name, in small letters",
    "folders[]": "the steps before its name",
    "absolute": "true if it starts from the root, a drive or a home folder",
}


@kind("path", PARTS, main="whole", steps=10)
def file_path(text: str) -> Facts:
    """Return the parts of a path; of one that readers take differently, only the text is known."""
    if under(text, ("/",), "/") is None:
        return {**unknown(_bare()), "whole": (text,)}
    steps = [step for step in re.split(r"[/\\]", text) if step not in ("", ".")]
    name = steps[-1] if steps else ""
    dot = name.rfind(".")
    unclear = (UNREADABLE,)
    place = place_of(text)
    moved = ".." in steps
    return {
        "whole": (text,),
        "place": unclear if place is None else (place,),
        "name": unclear if name == ".." else (name,),
        "suffix": unclear if name == ".." else (name[dot + 1 :].lower() if dot > 0 else "",),
        "folders": unclear if moved else tuple(steps[:-1]),
        "absolute": (re.match(r"[/\\~]|[A-Za-z]:|file:|\$|%", text) is not None,),
    }


def _bare() -> list[str]:
    return [name.removesuffix("[]") for name in PARTS]
