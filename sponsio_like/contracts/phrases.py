"""Matches in words, and back: "`pay` with `to` = `$x` and `amount` > `5`".

In: a match as a user wrote it (docs/semantics.md), or such words. Out: the words, or the match.
Tools and plain comparisons read back; what a match says beyond them is said, not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sponsio_like.contracts.matches import is_match
from sponsio_like.contracts.operands import COMPARISONS, SEARCHES
from sponsio_like.logic.formula import Var

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
        path = each.get("path") if isinstance(each, Mapping) else None
        tests += _tests(f"output `{path}`" if path else "output", each)
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
    if name and "matches" not in wanted:
        yield f"{place} = {_value(wanted['bind'])}"


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
