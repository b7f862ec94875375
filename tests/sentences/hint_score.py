"""Counts how often the first hint is right, for sentences whose own phrasing is taken away.

`python -m tests.sentences.hint_score` takes the sentences of the blind tables and of `others.yaml`
that mean a contract without a condition, hides the phrasings that read each, and asks for hints.
"""

from __future__ import annotations

import re
from itertools import islice

from sponsio_like import ContractError
from sponsio_like.contracts import read_sentence
from sponsio_like.contracts import sentences as reader
from sponsio_like.contracts.circumstances import tool_test
from sponsio_like.contracts.demands import same_meaning
from sponsio_like.contracts.prose import likeness
from sponsio_like.contracts.prose.forest import trees
from sponsio_like.contracts.prose.grammar import grammar_for
from tests.sentences.test_sentences import Row, expected, rows

TABLES = ("blind", "blind_second", "blind_third", "blind_fourth", "others")


def phrasings_of(row: Row) -> frozenset[int]:
    """The numbers of the phrasings that read a sentence."""
    found = islice(trees(grammar_for(reader.phrasings()), "start", row.sentence), 64)
    names = (re.fullmatch(r"p(\d+)", child.data) for tree in found for child in tree.children)
    return frozenset(int(name[1]) for name in names if name)


def first_hint(row: Row, hidden: frozenset[int]) -> str:
    """The first hint for a sentence; empty if there is none."""
    phrasings = reader.phrasings()
    given = (row.sentence, phrasings, tool_test(row.words))
    about = list(likeness.on_topic(*given))
    spoken = likeness._spoken
    left = tuple(() if i in hidden else each for i, each in enumerate(spoken(phrasings)))
    likeness._spoken = lambda _: left  # type: ignore[assignment]
    try:
        near = [*about, *islice(likeness.nearest(*given), 2)]
    finally:
        likeness._spoken = spoken
    return reader._shown(near[0]) if near else ""


def is_right(hint: str, row: Row) -> bool:
    """True if a hint means what the sentence means."""
    try:
        return same_meaning(read_sentence(hint, row.words), expected(row))
    except ContractError:
        return False


def main() -> None:
    """Print how many sentences were asked for, how many got a hint, and how many a right one."""
    asked = [row for name in TABLES for row in rows(f"{name}.yaml") if row.meant]
    asked = [row for row in asked if row.meant is not None and "when" not in row.meant]
    hidden = [phrasings_of(row) for row in asked]
    pairs = [(row, each) for row, each in zip(asked, hidden, strict=True) if each]
    hints = [(first_hint(row, each), row) for row, each in pairs]
    told = [(hint, row) for hint, row in hints if hint]
    right = sum(is_right(hint, row) for hint, row in told)
    print(f"{len(pairs)} sentences, {len(told)} with a hint, {right} of these right")


if __name__ == "__main__":
    main()
