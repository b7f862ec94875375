"""Other ways to say each pattern in English: the rows of `phrasings.txt`.

In: the name of a pattern. Out: its phrasings, in the notation of `contracts/prose/grammar.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources


def _read(text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the phrasings of each pattern: the lines that are indented below its name."""
    blocks = (block.splitlines() for block in text.split("\n\n"))
    return {name: tuple(map(str.strip, below)) for name, *below in blocks}


PHRASINGS = _read(resources.files(__package__).joinpath("phrasings.txt").read_text("utf-8"))
