"""Tells what stands in every text that a regular expression finds, so that plain tests come first.

In: a regular expression of RE2. Out: a text that is a part of whatever it finds, or the one end of
all texts that it finds. None wherever the expression is not one of those that are read here.
"""

from __future__ import annotations

import re

_QUIET = re.compile(r"\(\?i\)")
_PART = re.compile(
    r"\\(?:[bBdDsSwWAz]|(?P<sign>[^\w\s]))"  # a class, an anchor, or a sign as it is
    r"|\[\^?[^\[\]\\](?:[^\[\]\\]|\\[dDsSwW])*\]"  # one of several characters
    r"|(?P<plain>[\w@:/<>=!#%&~,;'\" -])"
    r"|[.^$]",
    re.ASCII,
)
_GROUP = re.compile(r"\((?:\?:)?(?!\?)(?:[\w|.*+? -]|\\[^\w\s]|\\[dDsSwW])*\)", re.ASCII)
_TIMES = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})\??")


def part_of_all(pattern: str) -> tuple[str, bool] | None:
    """Return the longest text that stands in whatever is found, and True if case does not matter.

    Reads groups as if they were not there, and no alternatives outside of groups.
    """
    quiet = bool(_QUIET.match(pattern))
    rest, runs = _QUIET.sub("", pattern, count=1) if quiet else pattern, [""]
    while rest:
        if rest[0] == "(":
            length = _group(rest)
            if length is None:
                return None
            part, sign = rest[:length], ""
        else:
            found = _PART.match(rest)
            if found is None:
                return None
            part, sign = found[0], found["sign"] or found["plain"] or ""
        rest = rest[len(part) :]
        times = _TIMES.match(rest)
        if times is not None:
            rest = rest[times.end() :]
        if sign and (times is None or times[0] == "+"):
            runs[-1] += sign
        if not sign or times is not None:
            runs.append("")
    longest = max(runs, key=len)
    return (longest, quiet) if longest else None


def _group(text: str) -> int | None:
    """Return the length of the group at the beginning; None for one with a group in it, flags, or
    one of several characters.
    """
    found = _GROUP.match(text)
    return None if found is None else found.end()


def end_of_all(pattern: str) -> str | None:
    """Return the text with which all texts that are found end, and no others."""
    found = re.fullmatch(r"((?:[\w@:/-]|\\[^\w\s])+)\$", pattern, re.ASCII)
    return None if found is None else re.sub(r"\\(.)", r"\1", found[1])
