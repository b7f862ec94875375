"""Looks single values up in a text or in data, without splitting all of it.

In: a message, an answer. Out: a `WordIndex`. It has exactly the values that `words_in` finds there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from sponsio_like.values.effort import once_per_decision
from sponsio_like.values.limits import INDEX_WORK
from sponsio_like.values.tokens import (
    RUN,
    WORDS_CAP,
    all_pieces,
    bare_forms,
    behind,
    codes_in,
    decimal_of,
    is_one,
    scalars_and_texts,
    word_tokens,
)

CORE = re.compile(r"[^\W_]+")
BREAKS = dict.fromkeys([i for i in range(128) if not chr(i).isalnum()], " ")
DIGIT = re.compile(r"\d")
GROUPS = re.compile(r"[0-9] [0-9]|[A-Z]{2}[0-9]{2} ")
"""Found in each text in which `codes_in` finds something."""
REWRITTEN = re.compile(r",\d{3}|\.\d+0|[^\D0-9]|-[$\u20ac\xa3\xa5]")
"""Found in each word with a number whose plain decimal does not stand there as it is."""
BETWEEN = " \n "
"""Stands between two texts: a word that no value has."""
SEARCHES_CAP = 256
"""Most searches in one text; after them all its pieces are made, and then looked up."""


def index_words(value: Any, most: int = WORDS_CAP) -> WordIndex:
    """Return the index of a message or an answer. Raises `NotCanonical` where `words_in` does."""
    return once_per_decision(
        f"word index {most}",
        value,
        lambda each: WordIndex(*scalars_and_texts(each, most, INDEX_WORK)),
    )


def cores_of(text: str) -> list[str]:
    """Return the runs of letters and digits in a text. A piece of a text begins and ends beside
    such runs, never within one: its cores are some of the text's, one behind the other.
    """
    return text.translate(BREAKS).split() if text.isascii() else CORE.findall(text)


class WordIndex(Collection[str]):
    """The values that stand in a text or in data; each is looked for when it is asked for.

    `plain`: scalars that are one piece; `texts`: the others. `cores`: the runs of letters and
    digits, of which each value that stands there has only such; `size`: at least how many values
    there are room is taken for, five for each word.
    """

    __slots__ = (
        "_apart", "_joined", "_lines", "_pieces", "_searches", "cores", "plain", "size", "texts",
    )  # fmt: skip

    def __init__(self, plain: Iterable[str], texts: Iterable[str]) -> None:
        self.plain, self.texts = frozenset(plain), tuple(texts)
        each = [text.split() for text in self.texts]
        self._joined = BETWEEN.join([" ".join(words) for words in each if words])
        self._apart = self.plain.union(self._made())
        self.cores = frozenset(cores_of(" ".join((self._joined, *self._apart))))
        self.size = RUN * sum(map(len, each)) + len(self._apart)
        self._pieces: frozenset[str] | None = None
        self._lines: frozenset[str] | None = None
        self._searches = 0

    def __contains__(self, value: object) -> bool:
        return type(value) is str and self.has(value, cores_of(value))

    def has(self, value: str, cores: Iterable[str]) -> bool:
        """True if this value stands there; `cores`: those of the value."""
        if value in self._apart:
            return True
        if self._pieces is not None:
            return value in self._pieces
        if not self.cores.issuperset(cores):
            return False
        self._searches += 1
        if self._searches > SEARCHES_CAP or not value or value != value.strip():
            return value in self.all()
        blanks = value.count(" ")
        return value in self._long() if blanks >= RUN else self._stands(value, blanks)

    def __iter__(self) -> Iterator[str]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())

    def __bool__(self) -> bool:
        return bool(self.plain or self._joined)

    def all(self) -> frozenset[str]:
        """Return all values, as `words_in` does."""
        if self._pieces is None:
            self._pieces = all_pieces(self.plain, self.texts)
        return self._pieces

    def example(self) -> str:
        """Return one of the values, of which there has to be one."""
        return next(iter(self.plain), self._joined.partition(" ")[0])

    def _made(self) -> Iterator[str]:
        """Yield the pieces that do not stand there as they are: plain decimals, whole codes."""
        if not DIGIT.search(self._joined):
            return
        if GROUPS.search(self._joined):
            for line in (line for text in self.texts for line in text.splitlines()):
                yield from codes_in(" ".join(line.split()))
        if REWRITTEN.search(self._joined):
            words = [word for word in self._joined.split() if REWRITTEN.search(word)]
            yield from {each for each in word_tokens(" ".join(words)) if decimal_of(each) == each}

    def _long(self) -> frozenset[str]:
        """Return the pieces of more than five words: whole texts, lines, what is behind a name."""
        if self._lines is None:
            found = {" ".join(text.split()) for text in self.texts}
            for line in (" ".join(one.split()) for text in self.texts for one in text.splitlines()):
                found.update((line,), behind(line))
            self._lines = frozenset(found)
        return self._lines

    def _stands(self, value: str, blanks: int) -> bool:
        """True if the value, of up to five words, is a piece of the words around it."""
        joined, at = self._joined, self._joined.find(value)
        while at >= 0:
            end, after = at + len(value), at + 1
            if not (at and joined[at - 1].isalnum()) and not joined[end : end + 1].isalnum():
                start, stop = joined.rfind(" ", 0, at) + 1, joined.find(" ", end)
                stop = len(joined) if stop < 0 else stop
                words = joined[start:stop]
                if value == words or value in bare_forms(words):
                    return True
                if not blanks:
                    if not is_one(words) and value in set(word_tokens(words)):
                        return True
                    after = stop  # all of this word has been looked at
            at = joined.find(value, after)
        return False

    def written(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return it as plain data, from which it can be made anew."""
        return tuple(sorted(self.plain)), self.texts
