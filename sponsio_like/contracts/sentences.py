"""Reads guarantees that are written as a sentence of a pattern, as a whole or not at all.

In: "tool `check` must precede `pay`". Out: the `Rule` of the pattern that has this sentence; where
several have it, of the first in reading order. What is not entirely understood is refused.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from sponsio_like.contracts.declaration import Pattern, Rule, catalog
from sponsio_like.contracts.targets import NOTHING, Vocabulary
from sponsio_like.contracts.templates import PLACE, arguments, blanks, sentence_shape
from sponsio_like.errors import ContractError


def read_sentence(sentence: str, words: Vocabulary = NOTHING) -> Rule:
    """Return the rule that a sentence states. Raises `ContractError` with the closest sentences."""
    for declared, given in readings(sentence):
        return declared.rule(given, words)
    near = " or ".join(f"“{each}”" for each in closest_sentences(sentence))
    raise ContractError.of(
        f"“{sentence.strip()}” is not understood",
        f"did you mean {near}?" if near else "write a pattern: {pattern: must_precede, ..}",
    )


def readings(sentence: str) -> Iterator[tuple[Pattern, dict[str, Any]]]:
    """Yield every pattern that has this very sentence, with its arguments."""
    for declared in catalog():
        for template in declared.sentences:
            given = arguments(template, sentence)
            if given is not None:
                yield declared, given


def closest_sentences(sentence: str) -> list[str]:
    """Return up to two sentences that are most like this one, with names for their arguments."""
    shapes = {
        sentence_shape(PLACE.sub("0", template)): blanks(template)
        for declared in catalog()
        for template in declared.sentences
    }
    near = difflib.get_close_matches(sentence_shape(sentence), shapes, n=2, cutoff=0.55)
    return [shapes[each] for each in near]
