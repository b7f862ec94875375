"""Templates of sentences: filled with arguments, and read back.

In: a template such as "tool `{action}` at most {limit} times per {per.seconds} seconds", where
`{x}` is the argument x, `{x.y}` a value inside it, `{x: and }` a list with its separator, `{x:=}` a
plain word or JSON value, `{x:with}` a match (`phrases.py`); in backticks: text, else a number.
`time(s)` is `time` after 1. Out: the sentence for some arguments, or the arguments of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from sponsio_like.contracts.parameters import Default
from sponsio_like.contracts.phrases import PHRASE, phrase, read_phrase
from sponsio_like.logic import is_glob
from sponsio_like.logic.formula import Formula, Happens, Match

PLACE = re.compile(r"\{([a-z_.]+)(?::([^}]*))?\}")
NUMBER = r"(-?\d+(?:\.\d+)?)"
PLAIN = "="
"""In the place of a separator: a plain word or a JSON value, without backticks."""
WITH = "with"
"""In the place of a separator: a match in words, which has backticks of its own."""
WORD = r'(?:"(?:[^"\\]|\\.)*"|[^\s`"\]\[]+)'
PLURAL = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)( \w+)\(s\)")


# --- writing ------------------------------------------------------------------------------------


def fill(template: str, given: Mapping[str, Any]) -> tuple[str, set[str]]:
    """Return the sentence with its arguments, and their names; empty if one has no value."""
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
        text = text.replace(place[0], _said(value, separator), 1)
    return PLURAL.sub(lambda n: f"{n[1]}{n[2]}{'' if n[1] == '1' else 's'}", text), names


def _said(value: Any, separator: str | None) -> str:
    if separator == PLAIN:
        return _plainly(value)
    if separator == WITH:
        return phrase(value) or f"`{argument_text(value, '` or `')}`"
    return argument_text(value, f"`{separator or ' or '}`")


def _plainly(value: Any) -> str:
    """Return a value as words or JSON, without backticks: `true`, `review`, `"true"`."""
    if isinstance(value, (list, tuple)):
        return " or ".join(map(_plainly, value))
    plain = isinstance(value, str) and re.fullmatch(WORD, value) and _read_plain(value) == value
    return value if plain else json.dumps(value)


def _read_plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def argument_text(value: Any, between: str = " or ") -> str:
    """Return an argument in words; `between` stands between the elements of a list."""
    match value:
        case Default(template):
            return template.replace("{", "<").replace("}", ">")
        case tuple() if value and all(isinstance(each, Match) for each in value):
            return repr(Happens("called", value)).removeprefix("called(").removesuffix(")")
        case Happens("called", target):
            return argument_text(target, between)
        case Formula():
            return repr(value)
        case list() | tuple():
            return between.join(argument_text(each, between) for each in value)
        case Mapping():
            return _mapping_words(value, between)
        case None:
            return "none"
        case bool():
            return str(value).lower()
    return str(value)


def named_argument(name: str, value: Any) -> str:
    """Return `name: value` of an argument beside the sentence; a list stands in brackets."""
    words = argument_text(value, ", ")
    several = isinstance(value, (list, tuple)) and len(value) > 1 and not words.startswith("[")
    return f"{name}: [{words}]" if several else f"{name}: {words}"


def _mapping_words(value: Mapping[Any, Any], between: str) -> str:
    if value.keys() == {"called"}:
        return argument_text(value["called"], between)
    inner = {key: each for key, each in value.items() if key not in ("tool", "args")}
    args = value.get("args")
    inner = {**(args if isinstance(args, Mapping) else {}), **inner}
    shown = ", ".join(f"{key}: {argument_text(each)}" for key, each in inner.items())
    if "tool" not in value:
        return f"{{{shown}}}"
    tools = argument_text(value["tool"], between)
    return f"{tools}({shown})" if shown else tools


def made_name(default: Default, given: Mapping[str, Any]) -> str:
    """Return a default, made of other arguments.

    Raises `KeyError` if one of them is not one name.
    """
    names = {key: _one_name(value) for key, value in given.items()}
    return default.template.format_map({k: v for k, v in names.items() if v})


def _one_name(value: Any) -> str | None:
    """Return the name of a tool or an action, if the argument is just one; else None."""
    match value:
        case [Match() | str() as only]:
            return _one_name(only)
        case {"tool": tool} | Match((tool,), ()):
            return _one_name(tool)
        case str() if not is_glob(value):
            return value
    return None


# --- reading ------------------------------------------------------------------------------------


def arguments(template: str, sentence: str) -> dict[str, Any] | None:
    """Return the arguments that make this sentence of the template; None if there are none."""
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
        if separator == PLAIN:
            each = [_read_plain(part) for part in value.split(" or ")]
            inside[last] = each if len(each) > 1 else each[0]
        elif separator == WITH:
            inside[last] = read_phrase(value)
    return out


@cache
def _reader(template: str) -> tuple[re.Pattern[str], list[tuple[list[str], str | None, bool]]]:
    """Return a regular expression for the whole sentence, and what its groups are."""
    out, places, end = "", [], 0
    for place in PLACE.finditer(template):
        out += _escaped(template[end : place.start()])
        end = place.end()
        quoted = template[: place.start()].count("`") % 2 == 1
        is_text = quoted or place[2] in (PLAIN, WITH)
        places.append((place[1].split("."), place[2], is_text))
        out += _group(place[2], template[end : end + 1]) if is_text else NUMBER
    return re.compile(out + _escaped(template[end:])), places


def _escaped(text: str) -> str:
    return re.escape(text).replace(r"\(s\)", "s?")


def _group(separator: str | None, follows: str) -> str:
    """Return a regular expression for one place: text in backticks, or several of them.

    Before a dot the text ends at the dot, which begins the name of a field.
    """
    if separator == PLAIN:
        return f"({WORD}(?: or {WORD})*)"
    if separator == WITH:
        return f"({PHRASE})"
    if separator is not None:
        return f"([^`]+(?:`(?:{re.escape(separator)}|, )`[^`]+)*)"
    word = "[^`.]+" if follows == "." else "[^`]+"
    return f"({word}(?:` or `{word})*)"


def _value(text: str, separator: str | None) -> str | list[str]:
    if separator in (PLAIN, WITH):
        return text
    if separator is None:
        words = text.split("` or `")
        return words if len(words) > 1 else text
    return re.split(f"`(?:{re.escape(separator)}|, )`", text)


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def sentence_shape(sentence: str) -> str:
    """Return the sentence without its arguments, to compare with others."""
    return re.sub(NUMBER, "0", re.sub(r"`[^`]*`(?:(?:, | and | or )`[^`]*`)*", "``", sentence))


def blanks(template: str) -> str:
    """Return the template for people: its places in capitals, `FIRST`, as it may be written."""
    words = PLACE.sub(_blank, template)
    return words.replace("(s)", "s")


def _blank(place: re.Match[str]) -> str:
    word = place[1].rpartition(".")[2].upper()
    return f"`{word}`" if place[2] == WITH else word
