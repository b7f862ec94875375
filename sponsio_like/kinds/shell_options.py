"""Sorts the arguments of a command, and says what a row of the table of commands has.

In: arguments. Out: options, their values, and the rest.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple, TypeAlias

from sponsio_like.kinds.shell_state import Words
from sponsio_like.kinds.shell_words import LOOSE

Destroys: TypeAlias = "Callable[[Options], str]"
"""A function that returns what a call destroys, in a few words; empty for nothing."""


class Options(NamedTuple):
    """The arguments of a call: options, values of options, and the rest."""

    flags: AbstractSet[str]
    values: Mapping[str, str]
    rest: list[str]

    @property
    def loose(self) -> bool:
        """True if there may be more options than are known."""
        return any([each[:1] == LOOSE for each in self.rest])

    def has(self, *names: str) -> bool:
        """True if one of these options is given; GNU takes the first letters of a long one."""
        if not self.flags.isdisjoint(names):
            return True
        return any([name.startswith(each) for each in self.flags if each[2:] for name in names])


NO_FLAGS = frozenset[str]()
TRUE = frozenset({"true"})
NO_VALUES: Mapping[str, str] = {}


def sorted_options(args: Words, short: str = "", long: Words = ()) -> Options:
    """Return the arguments, sorted; `short` and `long` are options that take a value."""
    for word in args:
        if word[:1] == "-":
            break
    else:
        return Options(NO_FLAGS, NO_VALUES, list(args))
    flags: set[str] = set()
    values: dict[str, str] = {}
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word[:1] != "-" or word == "-":
            rest.append(word)
            continue
        if word == "--":
            rest += words
            break
        if word[:2] == "--":
            name, sign, value = word.partition("=")
            name = name if name in long or len(name) < 4 else _whole(name, long)
            flags.add(name)
            if sign or name not in long:
                if sign:
                    values[name] = value
                continue
        else:
            letters, name, value = _letters(word, short)
            flags |= letters
            if value or not name:
                if value:
                    values[name] = value
                continue
        for value in words:
            values[name] = value
            break
    return Options(flags, values, rest)


@functools.lru_cache(maxsize=1_000)
def _letters(word: str, short: str) -> tuple[AbstractSet[str], str, str]:
    """Return the options in `-rfo.txt`; the last one if it takes a value; what stands behind it."""
    for i, each in enumerate(word[1:], 2):
        if each in short:
            return frozenset([f"-{letter}" for letter in word[1:i]]), f"-{each}", word[i:]
    return frozenset([f"-{letter}" for letter in word[1:]]), "", ""


def _whole(name: str, long: Words) -> str:
    """Return the option of which these are the first letters: `--outp` is `--output`."""
    return next((each for each in long if each.startswith(name)), name)


def behind_options(args: Words, short: str, long: tuple[str, ...] = ()) -> list[str]:
    """Return the arguments from the first one that is neither an option nor its value."""
    rest = list(args)
    while rest and rest[0][:1] == "-" and len(rest[0]) > 1:
        option = rest.pop(0)
        if option == "--":
            break
        if option[:2] == "--":
            rest = rest[1:] if option in long else rest
        elif any(each in short for each in option[1:]):
            at = next(i for i, each in enumerate(option) if i and each in short)
            rest = rest[1:] if at == len(option) - 1 else rest
    return rest


class Row(NamedTuple):
    """A command. `roles` has a letter for each argument: `r` read, `w` written, `t` written with
    its content as it was, `d` deleted, `m` moved away, `h` host, `u` host if it is a URL, `i` host
    if a name such as `host/image` begins with one, `p` package, `g` both of these, `-` none. `s` is
    read, `c` written, unless on another host; `S` and `C` unless in a container or in a cloud. The
    letter before `*` is that of all others, and what stands behind it is of the last ones. `paths`:
    options whose values have such a role; they need not stand in `short` and `long`.
    """

    roles: str = ""
    short: str = ""
    long: tuple[str, ...] = ()
    paths: Mapping[str, str] = {}
    destroys: Destroys | None = None
    depends: bool = True
    """True if it depends on an option that may be hidden in an unknown argument."""


def completed(row: Row) -> Row:
    """Return a row whose options with a role are among those that take a value."""
    letters = "".join(each[1] for each in row.paths if len(each) == 2)
    return row._replace(
        short=row.short + letters,
        long=(*row.long, *(each for each in row.paths if len(each) > 2)),
    )


# --- what destroys --------------------------------------------------------------------------------


def always(what: str) -> Destroys:
    """Return a rule: every call destroys."""
    return lambda _: what


def unless_dry(destroys: Destroys, *dry: str, values: AbstractSet[str] = TRUE) -> Destroys:
    """Return a rule: what `destroys` says, but for a call that is surely a dry run.

    It has one of the options `dry`, with one of these values if any, none that takes it back, and
    no argument that may be more options.
    """

    def rule(said: Options) -> str:
        asked = [each for each in dry if each in said.flags]
        sure = all(said.values.get(each, "true") in values for each in asked)
        if asked and sure and not said.loose and not said.has("--no-dry-run"):
            return ""
        return destroys(said)

    return rule


def flag(what: str, *flags: str) -> Destroys:
    """Return a rule: a call with one of these options destroys."""
    return lambda said: what if said.has(*flags) else ""


def first(what: str, *words: str) -> Destroys:
    """Return a rule: a call with one of these words in the first place destroys."""
    return lambda said: f"{what} {said.rest[0]}" if said.rest[:1] and said.rest[0] in words else ""


def among(what: str, pattern: str) -> Destroys:
    """Return a rule: a call with a word such as `delete` among its arguments destroys."""
    fits = re.compile(pattern).fullmatch

    def rule(said: Options) -> str:
        return next((f"{what} {each}" for each in said.rest if fits(each)), "")

    return rule
