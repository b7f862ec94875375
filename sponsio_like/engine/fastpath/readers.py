"""The usual ways to read an argument, for the usual arguments: flat, small, of the expected type.

In: a slot, once. Out: a function from the frozen arguments of a call to what the slot reads there,
or None where it takes the full reader (`slots.py`) to tell. It never says anything else than
that would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from sponsio_like.events import (
    RARE,
    WORK_CAP,
    RegexSearch,
    blank_tolerant,
    comparison,
    number,
    patterns_of,
    regex_searches,
    whole_or_anchored,
)
from sponsio_like.logic.formula import Arg, Compare, Const, Custom, Repeats, Sum
from sponsio_like.monitor import KEY_CAP, Slot
from sponsio_like.values import SHORT_TEXT, under

Shortcut: TypeAlias = Callable[[Mapping[str, Any]], Any]
SPELT = frozenset({"true", "false"})
"""Texts that spell something else."""
LARGE = 1 << 63
"""Whole numbers below are compared as they are."""


def shortcut(slot: Slot) -> Shortcut | None:
    """The fast path to read this slot, if there is one."""
    match slot.kind, slot.node:
        case "atom", Custom(name, (str() as path, *rest)) if _is_plain(path):
            ways: dict[str, Callable[..., Shortcut | None]] = {
                "arg_contains": _contains,
                "arg_allowed": _allowed,
                "arg_missing": _missing,
                "arg_length": _length,
                "arg_between": _between,
                "arg_inside": _inside,
            }
            return ways[name](path, *rest) if name in ways else None
        case "atom", Compare(Arg(path), op, Const(value)) if _is_plain(path):
            return _compares(path, comparison(op, value))
        case "amount", Sum(_, path) if _is_plain(path):
            return lambda args: _amount(args.get(path))
    return None


def similar(slot: Slot) -> bool:
    """True if the slot counts equal calls, and so is read of the tool and the arguments alone."""
    return isinstance(slot.node, Repeats) and slot.node.similar == "equal"


def key_part(path: str) -> Shortcut | None:
    """The fast path to a part of the key that chooses a monitor."""
    return (lambda args: _key(args.get(path))) if _is_plain(path) else None


def _is_plain(path: str) -> bool:
    """True if the path is the name of an argument, and nothing else."""
    return path.isidentifier()


def _contains(path: str, patterns: Any) -> Shortcut | None:
    return _searched(path, regex_searches(blank_tolerant, patterns_of(patterns)))


def _allowed(path: str, patterns: Any) -> Shortcut | None:
    return _searched(path, regex_searches(whole_or_anchored, patterns_of(patterns)))


def _missing(path: str) -> Shortcut:
    return lambda args: False if isinstance(args.get(path), (str, int, float)) else None


def _searched(path: str, finders: tuple[RegexSearch, ...]) -> Shortcut | None:
    """Return the search of one expression in a short text; None if there are several."""
    if len(finders) != 1:
        return None
    find, most = finders[0].find, min(SHORT_TEXT, WORK_CAP // max(finders[0].size, 1))

    def read(args: Mapping[str, Any]) -> bool | None:
        text = args.get(path)
        if type(text) is not str or len(text) > most or not text.isascii():
            return None
        if not text.isprintable() and RARE.search(text):
            return None
        return find(text.encode()) is not None

    return read


def _length(path: str, most: int) -> Shortcut:
    def read(args: Mapping[str, Any]) -> bool | None:
        text = args.get(path)
        return len(text) <= most if type(text) is str else None

    return read


def _between(path: str, least: Any, most: Any) -> Shortcut | None:
    low, high = number(least), number(most)
    if (low is None) is not (least is None) or (high is None) is not (most is None):
        return None

    def read(args: Mapping[str, Any]) -> bool | None:
        value = args.get(path)
        if type(value) is not int or not -LARGE < value < LARGE:
            return None
        return (low is None or low <= value) and (high is None or value <= high)

    return read


def _inside(path: str, folders: Any, root: str, links: bool) -> Shortcut | None:
    start = root or folders[0]

    def read(args: Mapping[str, Any]) -> bool | None:
        text = args.get(path)
        return under(text, folders, start) if type(text) is str else None

    return None if links else read


def _compares(path: str, holds: Callable[[Any], bool | None]) -> Shortcut:
    def read(args: Mapping[str, Any]) -> bool | None:
        value = args.get(path)
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
