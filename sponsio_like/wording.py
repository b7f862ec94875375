"""Sentences with places for arguments: written from arguments, and read back.

In: a template such as "tool `{action}` at most {limit} times per {per.seconds} seconds", where
`{x}` is the argument x, `{x.y}` a value inside it, `{x: and }` a list with its separator; in
backticks: text, else a number. Out: the sentence for some arguments, or the arguments of one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from sponsio_like.formula import Formula, Happens, Match
from sponsio_like.kinds import Default

PLACE = re.compile(r"\{([a-z_.]+)(?::([^}]*))?\}")
NUMBER = r"(-?\d+(?:\.\d+)?)"


# --- writing ------------------------------------------------------------------------------------


def fill(template: str, given: Mapping[str, Any]) -> tuple[str, set[str]]:
    """The sentence with its arguments in place, and their names; empty if one has no value."""
    names: set[str] = set()
    text = template
    for place in PLACE.finditer(template):
        path, separator = place[1].split("."), place[2]
        value: Any = given
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is None:
            return "", set()
        names.add(path[0])
        text = text.replace(place[0], words_of(value, separator or " or "), 1)
    return text, names


def words_of(value: Any, separator: str = " or ") -> str:
    """An argument, as it is written in a sentence."""
    match value:
        case Default(template):
            return template.replace("{", "<").replace("}", ">")
        case tuple() if value and all(isinstance(each, Match) for each in value):
            return repr(Happens("called", value)).removeprefix("called(").removesuffix(")")
        case Happens("called", target):
            return words_of(target)
        case Formula():
            return repr(value)
        case list() | tuple():
            return f"`{separator}`".join(words_of(each) for each in value)
        case Mapping():
            return _mapping_words(value)
        case None:
            return "none"
        case bool():
            return str(value).lower()
    return str(value)


def _mapping_words(value: Mapping[Any, Any]) -> str:
    inner = {key: each for key, each in value.items() if key not in ("tool", "args")}
    args = value.get("args")
    inner = {**(args if isinstance(args, Mapping) else {}), **inner}
    shown = ", ".join(f"{key}: {words_of(each)}" for key, each in inner.items())
    if "tool" not in value:
        return f"{{{shown}}}"
    return f"{words_of(value['tool'])}({shown})" if shown else words_of(value["tool"])


# --- reading ------------------------------------------------------------------------------------


def arguments(template: str, sentence: str) -> dict[str, Any] | None:
    """The arguments that make this sentence of the template; None if it is another sentence."""
    pattern, places = _reader(template)
    found = pattern.fullmatch(sentence.strip())
    if found is None:
        return None
    out: dict[str, Any] = {}
    for (path, separator, text), value in zip(places, found.groups(), strict=True):
        *outer, last = path
        inside = out
        for part in outer:
            inside = inside.setdefault(part, {})
        inside[last] = _value(value, separator) if text else _number(value)
    return out


@cache
def _reader(template: str) -> tuple[re.Pattern[str], list[tuple[list[str], str | None, bool]]]:
    """A regular expression for the whole sentence, and what its groups are."""
    out, places, end = "", [], 0
    for place in PLACE.finditer(template):
        out += re.escape(template[end : place.start()])
        end = place.end()
        quoted = template[: place.start()].count("`") % 2 == 1
        places.append((place[1].split("."), place[2], quoted))
        out += _group(place[2], template[end : end + 1]) if quoted else NUMBER
    return re.compile(out + re.escape(template[end:])), places


def _group(separator: str | None, follows: str) -> str:
    """Text in backticks; a list of such; or text up to the dot before a field."""
    if separator is not None:
        return f"([^`]+(?:`(?:{re.escape(separator)}|, )`[^`]+)*)"
    return "([^`.]+)" if follows == "." else "([^`]+)"


def _value(text: str, separator: str | None) -> str | list[str]:
    return text if separator is None else re.split(f"`(?:{re.escape(separator)}|, )`", text)


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def shape(sentence: str) -> str:
    """The sentence without its arguments, to compare with others."""
    return re.sub(NUMBER, "0", re.sub(r"`[^`]*`(?:(?:, | and | or )`[^`]*`)*", "``", sentence))


def blanks(template: str) -> str:
    """The template for people: `first`, 3, as it may be written."""
    return PLACE.sub(lambda place: place[1].rpartition(".")[2].upper(), template)
