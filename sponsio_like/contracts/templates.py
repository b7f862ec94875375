"""Templates of sentences: filled with arguments, and read back.

In: a template such as "tool `{action}` at most {limit} times per {per.seconds} seconds", where
`{x}` is the argument x, `{x.y}` a value inside it, `{x: and }` a list with its separator (with `, `
of names alone, without conditions), `{x:=}` a plain word or JSON value, `{x:with}` a match; in
backticks: text, else a number. `time(s)` is `time` after 1. Out: the sentence for some arguments,
or the arguments of one.

A match in words: "`pay` with `to` = `$x` and `amount` > `5`". Tools and plain comparisons read
back; what a match says beyond them is said, not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from sponsio_like.contracts.matches import is_match
from sponsio_like.contracts.operands import COMPARISONS, SEARCHES
from sponsio_like.contracts.parameters import Default
from sponsio_like.logic import is_glob
from sponsio_like.logic.formula import Formula, Happens, Match, Var

SIGNS: dict[str, str] = {**COMPARISONS, **SEARCHES}
_SIGN = "|".join(sorted({"=", *SIGNS.values()}, key=len, reverse=True))
_TEST = f"`[^`]+` (?:{_SIGN}) `[^`]+`"
PHRASE = f"`[^`]+`(?: or `[^`]+`)*(?: with {_TEST}(?: and {_TEST})*)?"
"""The words that `read_phrase` understands, as a regular expression."""


# --- writing ----------------------------------------------------------------------------------


def phrase(value: Any) -> str:
    """Return a match, a name or a list of these in words; empty for anything else."""
    match value:
        case str():
            return f"`{value}`"
        case list() | tuple() if value:
            parts = [phrase(each) for each in value]
            return " or ".join(parts) if all(parts) else ""
        case Mapping() if "message" in value:
            return f"message of {phrase(value['message'])}{''.join(_text(value.get('text')))}"
        case Mapping() if is_match(value) or value.keys() == {"agent"}:
            return _call(value)
    return ""


def _call(value: Mapping[str, Any]) -> str:
    status = {"ok": "successful ", "error": "failed "}.get(str(value.get("status")), "")
    args = value.get("args")
    tests = [test for path, wanted in _items(args) for test in _tests(f"`{path}`", wanted)]
    outputs = value.get("output", [])
    for each in outputs if isinstance(outputs, (list, tuple)) else [outputs]:
        asked = dict(each) if isinstance(each, Mapping) else each
        path = asked.pop("path", None) if isinstance(asked, dict) else None
        tests += _tests(f"output `{path}`" if path else "output", asked)
    if "call" in value:
        tests.append(f"all arguments = {_value(value['call'])}")
    said = f"{status}{phrase(value['tool']) if 'tool' in value else 'any call'}"
    said += f" by {_value(value['agent'])}" if "agent" in value else ""
    said += f" with {' and '.join(tests)}" if tests else ""
    ends = {"refuse": ", or without such a field", "skip": ", if it has such a field"}
    return said + ends.get(str(value.get("missing")), "")


def _items(args: Any) -> list[tuple[Any, Any]]:
    return list(args.items()) if isinstance(args, Mapping) else []


def _tests(place: str, wanted: Any) -> Iterator[str]:
    """Yield the comparisons of one place, in words."""
    if not isinstance(wanted, Mapping):
        yield f"{place} = {_value(wanted)}"
        return
    for key in ("some", "every"):
        if key in wanted:
            yield from _tests(f"{key} {place}", wanted[key])
    name = f" as {_value(wanted['bind'])}" if "bind" in wanted else ""
    for key, operand in wanted.items():
        if key in SIGNS:
            yield f"{place} {SIGNS[key]} {_value(operand)}{name if key == 'matches' else ''}"
        elif key not in ("some", "every", "bind"):
            yield from _fact(place, str(key), operand)
    if name and "matches" not in wanted:
        yield f"{place} = {_value(wanted['bind'])}"


def _fact(place: str, fact: str, wanted: Any) -> Iterator[str]:
    """Yield what is asked of a fact of a text, in words: host of `url` = `x`."""
    name, sign, folders = fact.rpartition("_")
    if fact == "only":
        yield f"nothing in {place} but {_value(wanted)}"
    elif sign and folders in ("under", "outside"):
        yield f"{name} of {place} {folders} {_value(wanted)}"
    elif isinstance(wanted, (list, tuple)):
        yield f"{fact} of {place} in {_value(wanted)}"
    else:
        yield from _tests(f"{fact} of {place}", wanted)


def _text(wanted: Any) -> Iterator[str]:
    if wanted is not None:
        said = (test.removeprefix(" = ") for test in _tests("", wanted))
        yield " that " + " and ".join(
            f"is {each}" if each[:1] == "`" else each[1:] for each in said
        )


def _value(value: Any) -> str:
    """Return a value in backticks: a variable, a word that is read as text, or JSON."""
    if isinstance(value, Var):
        return f"`${value.name}`"
    plain = isinstance(value, str) and value and _plain(value) == value
    return f"`{value if plain else json.dumps(value, ensure_ascii=False, default=str)}`"


# --- reading ----------------------------------------------------------------------------------


def read_phrase(text: str) -> Any:
    """Return the match that words of the form `PHRASE` describe; for names alone, the names."""
    head, _, tail = text.partition("` with `")
    names = head.strip("`").split("` or `")
    tool: Any = names if len(names) > 1 else names[0]
    if not tail:
        return tool
    args: dict[str, Any] = {}
    keys = {sign: key for key, sign in SIGNS.items()}
    for path, sign, written in re.findall(f"`([^`]+)` ({_SIGN}) `([^`]+)`", "`" + tail):
        value = _plain(written)
        if sign == "=":
            args[path] = value
        elif isinstance(inner := args.setdefault(path, {}), dict):
            inner[keys[sign]] = value
    return {"tool": tool, "args": args}


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


PLACE = re.compile(r"\{([a-z_.]+)(?::([^}]*))?\}")
NUMBER = r"(-?\d+(?:\.\d+)?)"
ALONE = ", "
"""The separator of a list of names that have no conditions."""
PLAIN = "="
"""In the place of a separator: a plain word or a JSON value, without backticks."""
WITH = "with"
"""In the place of a separator: a match in words, which has backticks of its own."""
WORD = r'(?:"(?:[^"\\]|\\.)*"|[^\s`"\]\[]+)'
PLURAL = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)( \w+)\(s\)")


# --- writing ------------------------------------------------------------------------------------


def fill(template: str, given: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    """Return the sentence with its arguments, and their names; empty if one has no value."""
    places, tail, names = _parts(template)
    text: list[str] = []
    for before, name, path, separator in places:
        value = given.get(name)
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is None or (separator == ALONE and isinstance(value, Mapping)):
            return "", frozenset()
        text += (before, _said(value, separator))
    filled = "".join(text) + tail
    if "(s)" in template:
        filled = PLURAL.sub(lambda n: f"{n[1]}{n[2]}{'' if n[1] == '1' else 's'}", filled)
    return filled, names


Place: TypeAlias = "tuple[str, str, list[str], str | None]"
"""The text before a place of a template, its argument, the path inside of it, its separator."""


@cache
def _parts(template: str) -> tuple[list[Place], str, frozenset[str]]:
    """Return the places of a template, the text behind them, and the names of its arguments."""
    places, end = list[Place](), 0
    for place in PLACE.finditer(template):
        name, *path = place[1].split(".")
        places.append((template[end : place.start()], name, path, place[2]))
        end = place.end()
    return places, template[end:], frozenset(name for _, name, _, _ in places)


def _said(value: Any, separator: str | None) -> str:
    if separator == PLAIN:
        return _plainly(value)
    if isinstance(value, str) and separator != WITH:
        return str(value)
    if separator == WITH:
        return phrase(value) or f"`{argument_text(value, '` or `')}`"
    said = phrase(value) if isinstance(value, Mapping) and is_match(value) else ""
    if said[:1] == said[-1:] == "`":
        return said[1:-1]  # it stands in backticks, and has backticks of its own
    return argument_text(value, f"`{separator or ' or '}`")


def _plainly(value: Any) -> str:
    """Return a value as words or JSON, without backticks: `true`, `review`, `"true"`."""
    if isinstance(value, (list, tuple)):
        return " or ".join(map(_plainly, value))
    plain = isinstance(value, str) and re.fullmatch(WORD, value) and _plain(value) == value
    return value if plain else json.dumps(value)


def argument_text(value: Any, between: str = " or ") -> str:
    """Return an argument in words; `between` stands between the elements of a list."""
    match value:
        case str():
            return str(value)
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
        inside[last] = _inserted(value, separator) if text else _number(value)
        if separator == PLAIN:
            each = [_plain(part) for part in value.split(" or ")]
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


def _inserted(text: str, separator: str | None) -> str | list[str]:
    if separator in (PLAIN, WITH):
        return text
    if separator is None:
        words = text.split("` or `")
        return words if len(words) > 1 else text
    return re.split(f"`(?:{re.escape(separator)}|, )`", text)


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def blanks(template: str) -> str:
    """Return the template for people: its places in capitals, `FIRST`, as it may be written."""
    words = PLACE.sub(_blank, template)
    return words.replace("(s)", "s")


def _blank(place: re.Match[str]) -> str:
    word = place[1].rpartition(".")[2].upper()
    return f"`{word}`" if place[2] == WITH else word
