"""The usual ways to read an argument, for the usual arguments: flat, small, of the expected type.

In: a slot, once. Out: a function from the value of one argument to what the slot reads there, or
None where it takes the full reader (`slots.py`) to tell. It never says anything else than that
would; nor does the source of the plain test that comes before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.engine.fastpath.literals import end_of_all, part_of_all
from sponsio_like.events import (
    RARE,
    WORK_CAP,
    RegexSearch,
    answer_reader,
    blank_tolerant,
    comparison,
    number,
    patterns_of,
    regex_searches,
    whole_or_anchored,
)
from sponsio_like.logic.formula import Arg, Compare, Const, Custom, OutputIs, Repeats, Sum
from sponsio_like.monitor import KEY_CAP, Slot
from sponsio_like.values import SHORT_TEXT, plainly_under, under

Shortcut: TypeAlias = Callable[[Any], Any]
"""From the value of one argument to what a slot reads, or None."""
Bind: TypeAlias = Callable[[Any], str]
"""From a value to the name that source has for it."""


class ArgumentReader(NamedTuple):
    """The way of a lane to read a slot: the argument that it reads, and how.

    `quick`: from the variable of the argument to the source of what comes first: what the slot
    reads, and the condition, `X if CONDITION else`; empty if nothing does.
    """

    path: str
    read: Shortcut
    quick: Callable[[str, Bind], str] = lambda _, __: ""


SPELT = frozenset({"true", "false"})
"""Texts that spell something else."""
LARGE = 1 << 63
"""Whole numbers below are compared as they are."""


def shortcut(slot: Slot) -> ArgumentReader | None:
    """The fast path to read this slot, if there is one."""
    match slot.kind, slot.node:
        case "atom", Custom(name, (str() as path, *rest)) if _is_plain(path):
            ways: dict[str, Callable[..., ArgumentReader | None]] = {
                "arg_contains": _contains,
                "arg_allowed": _allowed,
                "arg_missing": _missing,
                "arg_length": _length,
                "arg_between": _between,
                "arg_inside": _inside,
            }
            return ways[name](path, *rest) if name in ways else None
        case "atom", Compare(Arg(path), op, Const(value)) if _is_plain(path):
            return ArgumentReader(path, _compares(comparison(op, value)))
        case "amount", Sum(_, path) if _is_plain(path):
            return ArgumentReader(path, _amount)
    return None


def condition_reader(slot: Slot) -> Callable[[Any], bool]:
    """Return the function from the answer of a call to what a condition on it says; one that cannot
    be compared has the value that violates.
    """
    assert isinstance(slot.node, OutputIs)
    ask, default = answer_reader(slot.node), slot.default

    def read(answer: Any) -> bool:
        said = ask(answer)
        return default if said is None else said

    return read


def similar(slot: Slot) -> bool:
    """True if the slot counts equal calls, and so is read of the tool and the arguments alone."""
    return isinstance(slot.node, Repeats) and slot.node.similar == "equal"


def key_part(path: str) -> ArgumentReader | None:
    """The fast path to a part of the key that chooses a monitor."""

    def quick(value: str, bind: Bind) -> str:
        text = f"type({value}) is str and len({value}) <= {KEY_CAP} and {value}.isascii()"
        ends = f"{value}[:1].isalpha() and not {value}[-1].isspace()"
        return f"{value} if {text} and {ends} and {value} not in {bind(SPELT)} else"

    return ArgumentReader(path, _key, quick) if _is_plain(path) else None


def _is_plain(path: str) -> bool:
    """True if the path is the name of an argument, and nothing else."""
    return path.isidentifier()


def _contains(path: str, patterns: Any) -> ArgumentReader | None:
    """Return the search for patterns; most texts lack a part of whatever each of them finds."""
    parts = [part_of_all(blank_tolerant(each)) for each in patterns_of(patterns)]
    searches = regex_searches(blank_tolerant, patterns_of(patterns))

    def quick(text: str, _: Bind) -> str:
        known = {part for part in parts if part is not None}
        if None in parts:
            return ""
        quiet = any(quiet for _, quiet in known)
        whole = f"({text}_low := {text}.lower())" if quiet else text
        first, *more = sorted(part.lower() if quiet else part for part, _ in known)
        where = f"{text}_low" if quiet else text
        lacks = [f"{first!r} not in {whole}", *(f"{each!r} not in {where}" for each in more)]
        return f"False if {' and '.join([_readable(text, searches[0]), *lacks])} else"

    return _searched(path, searches, quick)


def _allowed(path: str, patterns: Any) -> ArgumentReader | None:
    """Return the search for patterns, some of which only say how a text ends."""
    ends = [end_of_all(whole_or_anchored(each)) for each in patterns_of(patterns)]
    searches = regex_searches(whole_or_anchored, patterns_of(patterns))

    def quick(text: str, _: Bind) -> str:
        known = tuple(each for each in ends if each is not None)
        ended = f"{text}.endswith({known!r})"
        return f"True if {_readable(text, searches[0])} and {ended} else" if known else ""

    return _searched(path, searches, quick)


def _missing(path: str) -> ArgumentReader:
    return ArgumentReader(
        path, lambda value: False if isinstance(value, (str, int, float)) else None
    )


def _most(search: RegexSearch) -> int:
    """Return the longest text, in characters, that is searched on the fast path."""
    return min(SHORT_TEXT, WORK_CAP // max(search.size, 1))


def _readable(text: str, search: RegexSearch) -> str:
    """Return the condition that a value is a short text of which no sign is rare."""
    short = f"type({text}) is str and len({text}) <= {_most(search)}"
    return f"{short} and {text}.isascii() and {text}.isprintable()"


def _searched(
    path: str, searches: tuple[RegexSearch, ...], quick: Callable[[str, Bind], str]
) -> ArgumentReader | None:
    """Return the search of one expression in a short text; None if there are several."""
    if len(searches) != 1:
        return None
    find, most = searches[0].find, _most(searches[0])

    def read(text: Any) -> bool | None:
        if type(text) is not str or len(text) > most or not text.isascii():
            return None
        if not text.isprintable() and RARE.search(text):
            return None
        return find(text.encode()) is not None

    return ArgumentReader(path, read, quick)


def _length(path: str, most: int) -> ArgumentReader:
    return ArgumentReader(
        path,
        lambda text: len(text) <= most if type(text) is str else None,
        lambda text, _: f"len({text}) <= {most} if type({text}) is str else",
    )


def _between(path: str, least: Any, most: Any) -> ArgumentReader | None:
    low, high = number(least), number(most)
    if (low is None) is not (least is None) or (high is None) is not (most is None):
        return None

    def read(value: Any) -> bool | None:
        if type(value) is not int or not -LARGE < value < LARGE:
            return None
        return (low is None or low <= value) and (high is None or value <= high)

    return ArgumentReader(path, read)


def _inside(path: str, folders: Any, root: str, links: bool) -> ArgumentReader | None:
    """Return the reader of a path; most paths plainly lie in a folder."""
    start = root or folders[0]

    def read(text: Any) -> bool | None:
        return under(text, folders, start) if type(text) is str else None

    def quick(text: str, bind: Bind) -> str:
        return f"True if type({text}) is str and {bind(plainly_under(folders))}({text}) else"

    return None if links else ArgumentReader(path, read, quick)


def _compares(holds: Callable[[Any], bool | None]) -> Shortcut:
    def read(value: Any) -> bool | None:
        plain = type(value) is int or (type(value) is str and len(value) <= SHORT_TEXT)
        return holds(value) if plain else None

    return read


def _amount(value: Any) -> Decimal | None:
    small = type(value) is int and -LARGE < value < LARGE
    return Decimal(value) if small else None


def _key(value: Any) -> Any:
    """Return the part of a key that `slots.split_key` makes, if it is quickly made; else None."""
    if type(value) is str:
        plain = value[:1].isalpha() and value.isascii() and not value[-1].isspace()
        return value if plain and len(value) <= KEY_CAP and value not in SPELT else None
    return _amount(value)


def is_large(args: Mapping[str, Any]) -> bool:
    """True if the arguments have so much text that the work of searching in it is counted."""
    room, stack = SHORT_TEXT, [args]
    while stack:
        value: Any = stack.pop()
        if isinstance(value, str):
            room -= len(value)
        elif isinstance(value, Mapping):
            room -= len(value)
            stack += [*value, *value.values()] if room >= 0 else ()
        elif isinstance(value, list):
            room -= len(value)
            stack += value if room >= 0 else ()
        if room < 0:
            return True
    return False
