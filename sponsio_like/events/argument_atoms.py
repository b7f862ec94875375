"""Built-in atoms over the arguments of a call: what they contain, match, measure.

In: a call, a path, and what to look for. Out: `True`, `False`, or `None` where that cannot be
decided: a value that is missing, of another type, unreadable, or over the size caps.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from sponsio_like.errors import ContractError
from sponsio_like.event_types import Call
from sponsio_like.events.context import Context
from sponsio_like.events.registry import atom
from sponsio_like.events.relations import REGEX_CAP, WORK_CAP, RegexSearch, number, regex
from sponsio_like.values import (
    DEPTH_CAP,
    TEXT_CAP,
    VALUES_CAP,
    NotCanonical,
    is_gone,
    once_per_decision,
    reach,
)

SEARCHES_CAP = 1_000
"""Most searches in the single texts of one argument; a search takes some microseconds."""

Read: TypeAlias = Callable[[Call, Context], bool | None]

PLAIN = (str, int, float, bool, type(None), Decimal)
BLANKS, RUN = re.compile(r"\s+"), r"(?:\s+)"
ODD = {ord(each): "\n" for each in "\v\x85\u2028\u2029"} | dict.fromkeys(
    map(
        ord,
        "\x1c\x1d\x1e\x1f\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))),
    ),
    " ",
)
"""Blanks that RE2 does not treat as blanks, and the ones that they are read as."""
ANY_ODD = re.compile("[" + "".join(map(re.escape, map(chr, ODD))) + "]")
RARE = re.compile("[\v\x1c-\x1f]")
"""Such blanks among the ASCII characters."""
PARTS = re.compile(
    r"(?P<whole>\\Q.*?(?:\\E|$)|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\])"  # what is left as it is
    r"|(?P<blank>(?:\\?\s)+)|\\.|(?P<anchor>[\^$])",
    re.DOTALL,
)

BRANCHES = re.compile(r"\||\(\?|\^[*+?{]")
"""Parts of patterns that may match past an anchor that stands in the pattern, and flags."""
LOCAL = re.compile(r"\\[AzQ]|\(\?[a-zA-Z]*-?[a-zA-Z]*m")
"""Parts of patterns that cannot be searched for in joined texts: ends of a text, the flag for
lines.
"""


# --- finding ------------------------------------------------------------------------------------


def _carried(args: Any, path: str) -> list[Any]:
    """Return the values at `path`; `*` is all arguments together, with their names."""
    return [args] if path == "*" else reach(args, path)[0]


def nested_values(values: list[Any]) -> Iterator[Any]:
    """Yield these values and everything in them, but for the keys of objects.

    Raises `NotCanonical` over the caps, and for anything but JSON data.
    """
    stack = [(value, 1) for value in reversed(values)]
    seen = 0
    while stack:
        value, depth = stack.pop()
        seen += 1
        if isinstance(value, PLAIN):
            inner: list[Any] = []
        elif isinstance(value, (list, tuple)):
            inner = list(value)
        elif isinstance(value, Mapping):
            inner = list(value.values())
        else:
            raise NotCanonical("not data")
        if depth > DEPTH_CAP or seen + len(stack) + len(inner) > VALUES_CAP:
            raise NotCanonical("too many values")
        stack.extend((each, depth + 1) for each in reversed(inner))
        yield value


def texts(values: list[Any]) -> Iterator[str]:
    """Yield every string inside, keys too; a list of words (argv) is also read as one line.

    Raises `NotCanonical` over the caps.
    """
    size = 0
    for value in nested_values(values):
        if isinstance(value, (list, tuple)):
            words = (
                word for word in nested_values(list(value)) if isinstance(word, (str, int, float))
            )
            line = " ".join(map(str, words))
            if len(line) > TEXT_CAP:
                raise NotCanonical("too much text")
            yield line
            continue
        found = [value] if isinstance(value, str) else value if isinstance(value, Mapping) else ()
        for text in map(str, found):
            size += len(text)
            if size > TEXT_CAP:
                raise NotCanonical("too much text")
            yield text


# --- regular expressions --------------------------------------------------------------------------


def blank_tolerant(pattern: str) -> str:
    """Return the pattern in which a run of blanks stands for any run of blanks, and `^` and `$`
    also for those at the ends of the text.
    """
    return PARTS.sub(_any_blanks, pattern)


def _any_blanks(part: re.Match[str]) -> str:
    text = part[0]
    if part["anchor"]:
        return r"(?:^\s*)" if text == "^" else r"(?:\s*$)"
    if part["blank"] or text in ("[ ]", r"\s"):
        return RUN
    if text.startswith(r"\Q"):
        return BLANKS.sub(lambda _: rf"\E{RUN}\Q", text)
    if part["whole"] and text[1] != "^":  # one of several characters
        return BLANKS.sub(lambda _: r"\s", text)
    return text


def line_by_line(pattern: str) -> str:
    """Return the pattern in which `^` and `$` are the ends of lines."""
    return f"(?m){blank_tolerant(pattern)}"


def whole_or_anchored(pattern: str) -> str:
    """Return the pattern so that it matches whole texts; with just one of `^` and `$`, so that it
    matches from the beginning of a text, or up to its end.
    """
    parts = list(PARTS.finditer(pattern))
    anchors = {part["anchor"] for part in parts if part["anchor"]}
    if len(anchors) != 1:
        return rf"\A{_alone(pattern)}\z"
    plain = not BRANCHES.search(pattern)
    if "^" in anchors:
        return pattern if plain and pattern[0] == "^" else rf"\A{_alone(pattern)}"
    return pattern if plain and parts[-1].end() == len(pattern) else rf"{_alone(pattern)}\z"


def _alone(pattern: str) -> str:
    """Return the pattern as a part of a larger one; a quotation that is open at
    its end is closed.
    """
    parts = [part[0] for part in PARTS.finditer(pattern)]
    quoting = bool(parts) and parts[-1].startswith(r"\Q") and not parts[-1].endswith(r"\E")
    return f"(?:{pattern}\\E)" if quoting and pattern.endswith(parts[-1]) else f"(?:{pattern})"


def regex_searches(
    form: Callable[[str], str], patterns: tuple[str, ...]
) -> tuple[RegexSearch, ...]:
    """Return as few searches as possible that together find what any of the patterns finds."""
    groups: list[list[str]] = []
    for pattern in (_alone(form(each)) for each in patterns):
        if groups and len("|".join([*groups[-1], pattern])) <= REGEX_CAP:
            groups[-1].append(pattern)
        else:
            groups.append([pattern])
    return tuple(search for group in groups for search in _together(group))


ODD_TEXTS = ("", "x", "-1", "a b", "../../etc/passwd", "https://evil.example/?q=1", "; rm -rf /")
"""Odd texts: a pattern that matches all of them is no allowlist."""
ANY_TEXT = "(?s)"
"""The beginning of a pattern whose author knows that `.` is any character, and
may mean any text.
"""


def refuse_match_all(
    form: Callable[[str], str], patterns: tuple[str, ...], texts: tuple[str, ...], instead: str
) -> None:
    """Raise `ContractError` for a pattern that matches each of these texts,
    however odd they are.
    """
    for pattern in patterns:
        if not pattern.startswith(ANY_TEXT) and all(map(regex(form(pattern)), texts)):
            raise ContractError.of(f"`{pattern}` matches every text", instead)


def _together(group: list[str]) -> list[RegexSearch]:
    try:
        together = regex("|".join(group))
    except ContractError:  # too large together, or one of them is wrong
        return [regex(each) for each in group]
    large = together.size > WORK_CAP // TEXT_CAP  # too large for long texts: each alone may fit
    return [regex(each) for each in group] if large else [together]


# --- atoms --------------------------------------------------------------------------------------


@atom("arg_contains", prepared=True)
def arg_contains(path: str, patterns: Any) -> Read:
    """Return the test: a string inside the argument matches one of the patterns. Missing: False."""
    wanted = patterns_of(patterns)
    finders = regex_searches(blank_tolerant, wanted)
    local = LOCAL.search("".join(wanted)) is not None
    by_line = functools.cache(lambda: regex_searches(line_by_line, wanted))

    def read(call: Call, _: Context) -> bool | None:
        try:
            found = list(texts(_carried(call.args, path)))
            found += [
                each
                for text in found
                if (each := once_per_decision("blanks", text, _plain_blanks)) is not None
            ]
            few = finders
            if len(found) * len(finders) > SEARCHES_CAP and not local:
                lines = "\n".join(found)  # found in no line of all texts: in none of them
                few = tuple(search for search in by_line() if search(lines))
            return _any_found(few, found)
        except NotCanonical:
            return None

    return read


def _plain_blanks(text: str) -> str | None:
    """Return the text with a plain blank for each odd one; None if it has none."""
    return text.translate(ODD) if ANY_ODD.search(text) else None


def _any_found(finders: tuple[RegexSearch, ...], found: list[str]) -> bool:
    if len(found) * len(finders) > SEARCHES_CAP:
        raise NotCanonical("too many texts")
    return any(finder(text) for text in found for finder in finders)


@atom("arg_allowed", prepared=True)
def arg_allowed(path: str, patterns: Any) -> Read:
    """Return the test: every string of the argument (of a list: each) matches
    one of the patterns.
    """
    finders = regex_searches(whole_or_anchored, patterns_of(patterns))

    def read(call: Call, _: Context) -> bool | None:
        found, lacking = reach(call.args, path)
        try:
            words = [each for value in found for each in _elements(value)]
            size = sum(len(word) for word in words if isinstance(word, str))
            if lacking or size > TEXT_CAP or not all(isinstance(word, str) for word in words):
                return None
            if len(words) * len(finders) > SEARCHES_CAP:
                return None
            return all(_any_found(finders, [word]) for word in words)
        except NotCanonical:
            return None

    return read


def _elements(value: Any) -> list[Any]:
    """Return the value; of a list, what is in it; of an empty list, one None, so that it is not
    allowed.
    """
    if not isinstance(value, (list, tuple)):
        return [value]
    return [each for each in nested_values([value]) if not isinstance(each, (list, tuple))] or [
        None
    ]


@atom("arg_missing")
def arg_missing(call: Call, _: Context, path: str) -> bool:
    """True if nothing stands at the path: no key, a null, an empty list, or elements without it
    alone.
    """
    return all(map(is_gone, reach(call.args, path)[0]))


@atom("arg_length")
def arg_length(call: Call, _: Context, path: str, most: int) -> bool | None:
    """True if the argument has at most so many characters; of a list or object:
    all that is in it.
    """
    lengths = [_length(value) for value in _carried(call.args, path)]
    if any(length is not None and length > most for length in lengths):
        return False
    return None if None in lengths else True


def _length(value: Any) -> int | None:
    """Return the number of characters; None for numbers, truth values, and anything but data."""
    if isinstance(value, (bool, int, float, Decimal)):
        return None
    try:
        return sum(map(_characters, nested_values([value])))
    except NotCanonical:
        return None


def _characters(value: Any) -> int:
    """Return the characters of a text or a number, or of the keys of an object,
    without its values.
    """
    if isinstance(value, Mapping):
        return sum(len(str(key)) for key in value)
    plain = isinstance(value, (str, int, float, Decimal)) and not isinstance(value, bool)
    return len(str(value)) if plain else 0


@atom("arg_between")
def arg_between(call: Call, _: Context, path: str, least: Any, most: Any) -> bool | None:
    """True if the argument is a number from `least` to `most`; None if it is none, as `True` or
    `"5"`.
    """
    found, lacking = reach(call.args, path)
    values = [number(value) for value in found]
    if lacking or None in values:
        return None
    low, high = number(least), number(most)
    return all(
        value is not None and (low is None or low <= value) and (high is None or value <= high)
        for value in values
    )


def patterns_of(patterns: Any) -> tuple[str, ...]:
    """Return the patterns as a tuple. Raises `ContractError` if there are none."""
    found = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    if not found:
        raise ContractError.of("there is no pattern to look for", "write at least one")
    return found
