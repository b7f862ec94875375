"""Reads a text by its grammar into facts: a command into what it runs, a URL into its host.

In: the name of a kind, and a value. Out: the values of one fact. A path asks for them by a step
`:kind` and the name of a fact: `command:shell.runs[]`, `url:url.host`. `sponsio_like.kinds`
declares the kinds; here they are kept, and asked.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sponsio_like.values.effort import is_counted, once_per_decision, spend
from sponsio_like.values.frozen import UNREADABLE
from sponsio_like.values.limits import TEXT_CAP
from sponsio_like.values.tokens import scalar_text

Facts: TypeAlias = Mapping[str, tuple[Any, ...]]
"""The values of each fact. `UNREADABLE` stands among them where something cannot be resolved."""
CACHED = 4_096
"""Most texts of a kind whose facts are kept, and the most characters of such a text."""
CACHED_LONG = 16
"""Most longer texts of a kind whose facts are kept: each contract asks for those of one call."""


@dataclass(frozen=True)
class TextKind:
    """A kind of text. `facts`: each by name, in words; `[]` behind a name: it may have many values.

    `read` returns the facts of a text, for any text, and raises nothing. `main` is the fact that is
    meant where none is named. `needs` are the modules that `read` imports, of the extra `[kinds]`.
    `of_words` reads a list of texts; `numbers`: a number is read as the text that it is. `steps`:
    the work of reading one character, as `effort.py` counts it.
    """

    name: str
    read: Callable[[str], Facts]
    facts: Mapping[str, str]
    main: str
    needs: tuple[str, ...] = ()
    of_words: Callable[[tuple[str, ...]], Facts] | None = None
    numbers: bool = False
    steps: int = 1
    _cached: Callable[[str], Facts] = field(init=False, repr=False, compare=False)
    _cached_long: Callable[[str], Facts] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, most in (("_cached", CACHED), ("_cached_long", CACHED_LONG)):
            object.__setattr__(self, name, functools.lru_cache(maxsize=most)(self.read))

    def has_many(self, fact: str) -> bool:
        """True if the fact may have several values."""
        return f"{fact}[]" in self.facts

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the facts."""
        return tuple(name.removesuffix("[]") for name in self.facts)

    def facts_of(self, value: Any) -> Facts | None:
        """Return the facts of a value; None if it is of another shape, or too long."""
        if isinstance(value, str):
            if len(value) > TEXT_CAP:
                return None
            if not is_counted():
                return self._known(value)
            return once_per_decision(f":{self.name}", value, self._counted)
        if isinstance(value, (list, tuple)) and self.of_words is not None:
            if value and all(isinstance(each, str) for each in value):
                spend(sum(map(len, value)) * self.steps)
                return self.of_words(tuple(value))
            return None
        text = scalar_text(value) if self.numbers and not isinstance(value, bool) else None
        return None if text is None else self._cached(text)

    def _counted(self, text: str) -> Facts:
        """Return the facts of a text. Its work is counted whether or not the facts are cached, so
        that no decision depends on those before it.
        """
        spend(len(text) * self.steps)
        return self._known(text)

    def _known(self, text: str) -> Facts:
        return (self._cached if len(text) <= CACHED else self._cached_long)(text)


TEXT_KINDS: dict[str, TextKind] = {}
"""The kinds that are declared, by name."""


def kind_step(part: str) -> TextKind | None:
    """Return the kind that a step of a path names, as `:shell` does; None for any other step."""
    return TEXT_KINDS.get(part[1:]) if part[:1] == ":" else None


def split_kind(part: str) -> tuple[str, ...]:
    """Return `("command", ":shell")` for `command:shell`; where no such kind is declared, the part
    itself.
    """
    name, sign, kind = part.rpartition(":")
    if not sign or kind not in TEXT_KINDS:
        return (part,)
    return (name, sign + kind) if name else (sign + kind,)


def values_of(kind: TextKind, value: Any, fact: str) -> tuple[Any, ...]:
    """Return the values of a fact of a value; `UNREADABLE` alone where it cannot be read."""
    facts = kind.facts_of(value)
    return (UNREADABLE,) if facts is None else facts.get(fact, (UNREADABLE,))
