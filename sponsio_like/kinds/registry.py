"""Declares kinds of text, those of this package and yours.

In: a function from a text to facts, and the names of the facts. Out: a kind that contracts name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TypeAlias

from sponsio_like.errors import ContractError, closest
from sponsio_like.values import TEXT_KINDS, UNREADABLE, Facts, TextKind, forget_paths

Read: TypeAlias = Callable[[str], Facts]
OfWords: TypeAlias = Callable[[tuple[str, ...]], Facts]
FACT = re.compile(r"[a-z][a-z0-9_]*(\[\])?")
TAKEN = frozenset({"string", "number", "integer", "boolean", "array", "object", "any"})
"""The kinds of any JSON value, which are no texts with a grammar."""


def kind(
    name: str,
    facts: Mapping[str, str],
    *,
    main: str,
    needs: Iterable[str] = (),
    of_words: OfWords | None = None,
    numbers: bool = False,
    steps: int = 1,
) -> Callable[[Read], Read]:
    """Declare a kind: `@kind("sku", {"vendor": "who makes it", "parts[]": ".."}, main="vendor")`.

    The function returns the facts of a text, for any text, quickly, and raises nothing. Each fact
    is a tuple of texts, numbers and truth values; `UNREADABLE` stands among them for what cannot be
    resolved. A fact without `[]` has at most one value. `main` is the fact that `only` speaks of.
    `needs` are modules that the function imports; they are imported when a contract asks for a
    fact of the kind, so that no call waits for them. `of_words` reads a list of texts, as a command
    may be given; with `numbers` a number is read as text. `steps`: the work of reading a character,
    of the 30,000,000 steps that one decision may take (docs/semantics.md, S-FAIL-12). Raises
    `ContractError` for a name or a fact that cannot be, or that is taken.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in TAKEN:
        raise ContractError.of(f"`{name}` is no name for a kind", "write small letters: `sku`")
    for fact in facts:
        if not FACT.fullmatch(fact):
            raise ContractError.of(f"`{fact}` is no name for a fact", "write `vendor` or `parts[]`")
    if main not in {fact.removesuffix("[]") for fact in facts}:
        raise ContractError.of(f"kind `{name}` has no fact `{main}`", "name one of its facts")

    def declare(read: Read) -> Read:
        known = TEXT_KINDS.get(name)
        if known is not None and _home(known.read) != _home(read):
            raise ContractError.of(f"kind `{name}` exists already", "choose another name")
        TEXT_KINDS[name] = TextKind(name, read, facts, main, tuple(needs), of_words, numbers, steps)
        forget_paths()
        return read

    return declare


@dataclass(frozen=True, slots=True)
class OfKind:
    """The kind of an argument, in an annotation: `command: Annotated[str, OfKind("shell")]`.

    Raises `ContractError` for a kind that does not exist, or whose libraries are not installed.
    """

    kind: str

    def __post_init__(self) -> None:
        known = TEXT_KINDS.get(self.kind)
        if known is None:
            raise ContractError.of(f"unknown kind `{self.kind}`", closest(self.kind, TEXT_KINDS))
        installed(known)


def _home(read: Read) -> tuple[str, str]:
    """Return the module and the name of a function: the same after its module is loaded again."""
    return read.__module__, read.__qualname__


def installed(known: TextKind) -> None:
    """Raise `ContractError` if a module is not installed that the kind needs."""
    _find(f"kind `{known.name}`", known.needs)


def import_needed(by: str, modules: Sequence[str]) -> None:
    """Import modules of the extra `[kinds]`. Raises `ContractError` if one cannot be imported."""
    _find(by, modules)
    for each in modules:
        try:
            import_module(each)
        except ImportError as error:
            what = f"{by} needs `{each}`, which cannot be imported: {error}"
            raise ContractError.of(what, "install it again") from error


def _find(by: str, modules: Sequence[str]) -> None:
    lacking = [each for each in modules if find_spec(each) is None]
    if lacking:
        what = f"{by} needs `{'`, `'.join(lacking)}`"
        raise ContractError.of(what, "write: pip install 'sponsio-like[kinds]'")


def unknown(facts: Iterable[str]) -> Facts:
    """Return facts of which none could be told."""
    return dict.fromkeys(facts, (UNREADABLE,))
