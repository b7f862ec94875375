"""Selects the calls that a rule is about, and compares them.

In: names of tools, and moments of a trace. Out: True if a moment is one of those, its values, and
how it compares with another. Nothing of the engine is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from campaigns.recount import Moment

Fits: TypeAlias = Callable[[Moment], bool]
"""A function that is True for the moments that a rule is about."""


def of(*names: str) -> Fits:
    """Select the calls of these tools."""
    return lambda now: now.tool in names


def having(tool: str, field: str, value: str | None) -> Fits:
    """Select the calls of this tool in which the field has this value."""
    return lambda now: now.tool == tool and values(now, (field,)) == value


def well(fits: Fits) -> Fits:
    """Select those that succeeded."""
    return lambda now: now.ok and fits(now)


def confirming(fits: Fits) -> Fits:
    """Select those that succeeded and whose answer has a letter or a digit in it."""
    return lambda now: now.ok and fits(now) and any(map(str.isalnum, str(now.output)))


def calls(trace: Sequence[Moment]) -> list[Moment]:
    """Return the calls of a trace."""
    return [now for now in trace if not now.role]


def canonical(value: Any) -> str:
    """Return one text for all values that are equal as JSON: `1` is `1.0`, keys have no order."""

    def plain(each: Any) -> Any:
        match each:
            case bool() | None | str():
                return each
            case int() | float():
                return int(each) if each == int(each) else each
            case list():
                return [plain(one) for one in each]
            case dict():
                return {key: plain(one) for key, one in each.items()}
        return each

    return json.dumps(plain(value), sort_keys=True)


def values(now: Moment, fields: Iterable[str]) -> str | None:
    """Return the values of these arguments; None if one is missing, null or an empty list."""
    found = [now.args.get(field) for field in fields]
    return None if None in found or [] in found else canonical(found)


def words(text: str) -> list[str]:
    """Return the runs of letters and digits, in lower case; an underscore parts words."""
    return re.findall(r"[^\W_]+", text.lower())


def equal(one: Moment, other: Moment) -> bool:
    """True if both call the same tool, with arguments that are equal as JSON."""
    return one.tool == other.tool and canonical(one.args) == canonical(other.args)


def said(value: Any) -> list[str]:
    """Return every name and every value in a value, as text."""
    if isinstance(value, dict):
        return [*value, *(text for each in value.values() for text in said(each))]
    return (
        [text for each in value for text in said(each)] if isinstance(value, list) else [str(value)]
    )


def alike(one: Moment, other: Moment) -> bool:
    """True if both call the same tool, and share at least nine of ten words of names and values."""
    left, right = ({*" ".join(said(each.args)).casefold().split()} for each in (one, other))
    return one.tool == other.tool and len(left & right) >= 0.9 * len(left | right)
