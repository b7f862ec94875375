"""The values that stand in an event, read a second time: paths, texts, words, equality.

In: one event of a trace file, and a place in it. Out: the values found there, as keys: equal values
have equal keys. Shares no code with the engine.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

Event: TypeAlias = Mapping[str, Any]
"""As in a trace file: a call that is settled at once, or a message."""
Key: TypeAlias = tuple[Any, ...]
Tree: TypeAlias = tuple[Any, ...]
How: TypeAlias = Literal["plain", "text", "words", "regex", "texts"]


class Unclear(Exception):
    """A value that cannot be read, so that it equals nothing."""


JSON_CAP = 64 * 1024
AROUND = "\"'`.,;:!?()[]{}<>*#@‘’“”„«»…"
"""Punctuation around words that is no part of them."""
MARKS = ' \t\n";|<>()[]{}='
"""What stands between the parts of data that is written as text."""
FRESH: Key = ("fresh",)
"""A value that occurs nowhere."""


@dataclass(frozen=True)
class Place:
    """Where a value stands in an event, and how it is read there.

    As it is, as text, as the words that it has, or as what a regular expression shows.
    """

    source: Literal["args", "output", "text", "agent", "call"]
    path: str = ""
    how: How = "plain"
    regex: str = ""


@dataclass(frozen=True)
class Found:
    """What stands at a place: keys. `lacks`: nothing does. `blind`: something is unreadable.

    `gap`: the way there does not lead on everywhere, say in some element of a list. `mixed`: one
    value was meant, and several stand there. `bare`: a regular expression
    finds nothing in some of it. `hole`: a gap that no null makes. `shared`: the keys that all of it
    has that could be read; None if nothing could.
    """

    keys: tuple[Key, ...]
    lacks: bool
    blind: bool
    gap: bool
    mixed: bool
    null: bool = False
    bare: bool = False
    hole: bool = False
    shared: tuple[Key, ...] | None = None

    def misses(self, place: Place) -> bool:
        """Whether the call lacks the field, or an element of its list does."""
        return self.lacks or self.bare or (self.gap and "[]" in place.path)


def key(value: Any) -> Key:
    """Equal for values that are equal as JSON. Raises `Unclear` for what equals nothing."""
    match value:
        case str():
            return ("text", nfc(value))
        case bool() | None:
            return ("word", json.dumps(value))
        case int() | float():
            return ("number", _exact(value))
        case Mapping():
            return ("map", frozenset((nfc(name), key(inner)) for name, inner in value.items()))
        case list() | tuple():
            return ("list", tuple(map(key, value)))
    raise Unclear(f"not JSON: {value!r}")


def nfc(text: str) -> str:
    """The composed form of a text."""
    return unicodedata.normalize("NFC", text)


def _exact(value: float) -> Fraction | float:
    if math.isnan(value):
        raise Unclear("not a number")
    return value if math.isinf(value) else Fraction(repr(value))


def at(event: Event, place: Place) -> Found:
    """The values that stand at a place of an event."""
    tree = standing(event, place)
    entire = place.path in ("", "*") and place.how != "texts"
    looked = list(whole(tree)) if entire or place.how == "words" else list(leaves_at(tree))
    if place.how in ("texts", "regex") and place.source == "output":
        looked = list(texts_in(tree))
    keys: list[Key] = []
    each_has: list[list[Key]] = []
    blind = bare = False
    for value in looked:
        try:
            odd = isinstance(value, Mapping) and not entire and place.how in ("plain", "text")
            found_here = list(read(ODD if odd else value, place))
            keys += found_here
            each_has.append(found_here)
            bare |= place.how == "regex" and not found_here
        except Unclear:
            blind = True
    gap = place.source == "args" and gaps(tree)
    hole = gap and gaps(tree, nulls=False)
    single = not entire and place.how in ("plain", "text", "regex") and several(tree)
    found = tuple(dict.fromkeys(keys))
    shared = tuple(one for one in found if all(one in has for has in each_has))
    null = any(value is None for value in whole(tree))
    return Found(
        found,
        not looked,
        blind,
        gap,
        mixed=single and len(found) > 1,
        null=null,
        bare=bare,
        hole=hole,
        shared=shared if each_has else None,
    )


# --- trees: ("is", value), ("none",), ("each", trees), ("alike", trees) ---------------------------

ODD = object()
NONE: Tree = ("none",)


def grown(data: Any, steps: list[str], answer: bool) -> Tree:
    """What a path leads to; lists that it does not ask for have to agree."""
    if data is None and steps:
        return NONE
    if not steps:
        return ("is", data)
    step, rest = steps[0], steps[1:]
    if isinstance(data, list | tuple):
        below = rest if step == "[]" else steps
        return ("each" if step == "[]" else "alike", [grown(each, below, answer) for each in data])
    if isinstance(data, Mapping) and step != "[]":
        return grown(data[step], rest, answer) if step in data else NONE
    if answer and not isinstance(data, Mapping):
        inner = opened(data)
        return NONE if inner is data else grown(inner, steps, answer)
    return ("is", ODD)


def whole(tree: Tree) -> Iterator[Any]:
    """What stands there, as it is."""
    if tree[0] == "is":
        yield tree[1]
    for part in tree[1] if tree[0] in ("each", "alike") else ():
        yield from whole(part)


def leaves_at(tree: Tree) -> Iterator[Any]:
    """The same, and what is in lists one by one; no nulls."""
    for value in whole(tree):
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, list | tuple):
                yield from leaves_at(("is", each))
            elif each is not None:
                yield each


def texts_in(tree: Tree) -> Iterator[Any]:
    """Every text in there."""
    for value in whole(tree):
        inner = [*value, *value.values()] if isinstance(value, Mapping) else value
        if isinstance(value, str) or value is ODD:
            yield value
            if (data := opened(value)) is not value:
                yield from texts_in(("is", data))
        elif isinstance(value, Mapping | list | tuple):
            for each in inner:
                yield from texts_in(("is", each))


def gaps(tree: Tree, *, nulls: bool = True) -> bool:
    """Whether the way ends early in some element; an empty list has none. `nulls`: at one, too."""
    if tree[0] in ("each", "alike"):
        return any(gaps(each, nulls=nulls) for each in tree[1])
    return tree in (NONE, ("is", [])) or (nulls and tree == ("is", None))


def several(tree: Tree) -> bool:
    """Whether a list stands where one value was meant."""
    if tree[0] == "is":
        return isinstance(tree[1], list | tuple) and len(tree[1]) > 1
    parts = tree[1] if tree != NONE else []
    return (tree[0] == "alike" and len(parts) > 1) or any(map(several, parts))


def standing(event: Event, place: Place) -> Tree:
    """What stands at a place of an event."""
    message = event.get("type") == "message"
    if (place.source == "text") != message:
        return NONE
    match place.source:
        case "text":
            return ("is", event.get("text") or "")
        case "agent":
            return ("is", event.get("agent", "agent"))
        case "call":
            return ("is", [event["tool"], given(event)])
    answer = place.source == "output"
    data = event.get("output") if answer else event.get("args", {})
    if place.path == "*" and not answer:
        return ("is", given(event))
    if place.path in ("", "*"):
        return ("is", data)
    steps = place.path.replace("[]", ".[]").strip(".").split(".")
    tree = grown(data, steps, answer)
    if "." in place.path and isinstance(data, Mapping) and place.path in data:
        key_: Tree = grown(data[place.path], [], answer)
        return key_ if tree == NONE else ("alike", [key_, tree])
    return tree


def given(event: Event) -> dict[str, Any]:
    """All arguments of a call: a null is as if not given."""
    return {name: value for name, value in event.get("args", {}).items() if value is not None}


def opened(output: Any) -> Any:
    """An output; a text that is a JSON object or list is read as such."""
    if isinstance(output, str) and len(output) <= JSON_CAP and output.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(output)
        except json.JSONDecodeError:
            return output
    return output


def read(value: Any, place: Place) -> Iterator[Key]:
    """The keys that a value has at a place."""
    match place.how:
        case "plain" | "texts":
            yield key(value)
        case "text":
            yield key(as_text(value))
        case "words":
            yield from map(key, words(value))
        case "regex":
            yield from map(key, shown(value, place.regex))


def as_text(value: Any) -> Any:
    """A scalar as text: the number 5, 5.0 and the text "5" are one. Anything else as it is."""
    if isinstance(value, str):
        return " ".join(nfc(value).split())
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int | float) and math.isfinite(value):
        written = f"{Decimal(repr(value)) or Decimal(0):f}"
        return written.rstrip("0").rstrip(".") if "." in written else written
    return value


def shown(value: Any, regex: str) -> list[str]:
    """What a regular expression shows in a text: its group, or all of it, wherever it is found."""
    if not isinstance(value, str):
        raise Unclear("only texts are searched")
    pattern = re.compile(regex)
    found = [each[1 if pattern.groups else 0] for each in pattern.finditer(nfc(value))]
    return [each for each in found if each is not None]


def words(value: Any) -> set[str]:
    """What a value has as a whole token: scalars, lines, names, up to five words in a row."""
    out: set[str] = set()
    for leaf in leaves(opened(value)):
        text = as_text(leaf)
        if not isinstance(text, str):
            raise Unclear("not a number")
        out.add(text)
        if not isinstance(leaf, str):
            continue
        for line in (" ".join(line.split()) for line in nfc(leaf).splitlines()):
            name, _, behind = line.partition(": ")
            named = name.split(" ")[-1].isidentifier() and behind
            out |= {line} | (bare(behind) if named else set()) | codes(line)
        for part in parted(text):
            out |= bare(part)
            out |= {str(number) for number in [numeral(part.strip(AROUND))] if number is not None}
        row = text.split()
        for size, start in itertools.product(range(1, 6), range(len(row))):
            run = " ".join(row[start : start + size])
            out |= bare(run)
    return out - {""}


def codes(line: str) -> set[str]:
    """The codes that are printed in groups: accounts first, then numbers outside of them."""
    out: set[str] = set()
    for is_code in (is_account, is_number):
        ends = [0, 0]
        while (ends := next_code(line, ends[1], is_code)) != [0, 0]:
            code = line[ends[0] : ends[1]]
            fresh = code.replace(" ", "")
            out |= {code, fresh} if len(fresh) >= 10 else set()
            if is_code is is_account:
                line = line[: ends[0]] + "\0" * len(code) + line[ends[1] :]
    return out


def next_code(line: str, start: int, is_code: Callable[[str, str, str], bool]) -> list[int]:
    """Where the first code from there on begins and ends: the longest at its place."""
    for i in range(start, len(line)):
        for j in range(min(len(line), i + 99), i, -1):
            inside = line[i : i + 1].isalnum() and line[max(0, i - 1) : i].isalnum()
            cut = line[j : j + 1].isalnum()
            if not inside and not cut and is_code(line[:i], line[i:j], line[j:]):
                return [i, j]
    return [0, 0]


def is_account(_: str, code: str, __: str) -> bool:
    """An IBAN: groups of four, and a shorter one with a digit at the end."""
    if not code.isascii() or code != code.upper():
        return False
    first, *groups = code.split(" ")
    last = groups.pop() if groups and 0 < len(groups[-1]) < 4 else "0"
    fine = len(first) == 4 and first[:2].isalpha() and first[2:].isdigit()
    whole = all(len(each) == 4 and each.isalnum() for each in groups) and 2 <= len(groups) <= 7
    return (
        fine
        and whole
        and last.isalnum()
        and any(map(str.isdigit, last))
        and (last.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")[:1].isdigit())
    )


def is_number(before: str, code: str, after: str) -> bool:
    """A number in three groups or more, with no digit that goes on before or behind it."""
    groups = code.removeprefix("+").split(" ")
    plain = code.isascii() and all(each.isdigit() and len(each) <= 5 for each in groups)
    fine = plain and len(groups) > 2 and all(len(each) > 1 for each in groups[1:])
    stops = before[-2:-1].isdigit() and before[-1:] in (" ", ".", ",")
    goes = after[:1] in (" ", ".", ",") and after[1:2].isdigit()
    joined = code.startswith("+") and before[-1:].isalnum()
    return fine and not stops and not goes and not joined


def parted(text: str) -> Iterator[str]:
    """The parts between marks, and between commas outside numbers; what follows its name."""
    row = "".join(" " if each in MARKS else each for each in text)
    inner = {i for i in range(1, len(row)) if row[i - 1].isdigit() and row[i + 1 : i + 2].isdigit()}
    row = "".join(" " if each == "'" and i not in inner else each for i, each in enumerate(row))
    for part in row.split(" "):
        pieces = [part] if numeral(part.strip(AROUND)) is not None else part.split(",")
        for each in pieces:
            yield each
            name, colon, value = each.strip(AROUND).partition(":")
            fine = name.isidentifier() and ":" not in value and not value.startswith("/")
            if colon and value and fine:
                yield value


def numeral(text: str) -> str | None:
    """A number in words of accounts: `$1,234.50` is 1234.5. None if it is none, or an id: 007."""
    sign = "-" if text.startswith("-") else ""
    digits = text.lstrip("+-") if text[1:2] not in "+-" else text
    digits = digits.removeprefix("$").removesuffix("$") if digits.count("$") < 3 else digits
    whole, point, rest = digits.partition(".")
    groups = whole.split(",")
    first, others = groups[0], groups[1:]
    grouped = all(len(each) == 3 for each in others) and (not others or len(first) <= 3)
    plain = (first, *others, rest) if point else (first, *others)
    if not grouped or not all(each.isdecimal() for each in plain):
        return None
    if first.startswith("0") and not others and first != "0":
        return None
    written = f"{Decimal(''.join((first, *others)) + point + rest):f}"
    written = written.rstrip("0").rstrip(".") if point else written
    return "0" if not written.strip("0.") else sign + written


def bare(text: str) -> set[str]:
    """A text without the punctuation at its ends, or on a side with all of it, or with the mark of
    it that stands next to the words.
    """
    inner = text.strip(AROUND)
    if not inner:
        return {text}
    before, after = text[: text.index(inner)], text[text.rindex(inner) + len(inner) :]
    fronts = {"", before[-1:], before}
    return {front + inner + back for front in fronts for back in ("", after[:1], after)}


def leaves(value: Any) -> Iterator[Any]:
    """The scalars in a value, and the names of its fields."""
    if isinstance(value, Mapping):
        yield from value
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value
