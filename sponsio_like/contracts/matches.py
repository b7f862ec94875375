"""Reads matches: one event as a mapping, from the tool that is called to what its answer says.

In: `{tool: pay, args: {to: $x}, status: ok, output: {path: id, bind: $y}}`, `{message: user, text:
{matches: r}}`, a name, or a list of these (any of them). Out: a `Formula` about one position; or a
`ContractError` with every mistake. Where only calls can stand, `contracts/targets.py` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.contracts.operands import (
    SEARCHES,
    VARIABLE,
    check_keys,
    check_match_keys,
    field_path,
    name,
    pattern_text,
    read_comparison,
    variable,
)
from sponsio_like.contracts.targets import CALL_KEYS, NOTHING, Vocabulary, matching, read_target
from sponsio_like.errors import ContractError, Problems, closest, read_each
from sponsio_like.logic.formula import Formula, Happening, Happens, conj, disj

Status: TypeAlias = Literal["any", "ok", "error"]
HAPPENING: Mapping[str, Happening] = MappingProxyType(
    {"any": "called", "ok": "done", "error": "failed"}
)
"""The happening that a call of this status has."""
OF_CALLS = (*CALL_KEYS, "status", "output")
OF_MESSAGES = ("message", "text")


def is_match(value: Mapping[Any, Any]) -> bool:
    """True if a mapping describes an event, and is no atom such as `{called: x}`."""
    return bool(value.keys() & ({*OF_CALLS, *OF_MESSAGES} - {"agent"}))


def matched(value: Any, words: Vocabulary = NOTHING, status: Status = "any") -> Formula:
    """Return the formula that this position is such an event.

    `status` is that of a call whose match does not say it. Raises `ContractError` with every
    mistake.
    """
    match value:
        case Mapping() if value.keys() & {*OF_MESSAGES}:
            return _message(value)
        case Mapping():
            return _call(value, words, status)
        case list() | tuple() if any(isinstance(each, Mapping) for each in value):
            return disj(*read_each(matched, value, words, status))
    return Happens(HAPPENING[status], read_target(value, words))


# --- calls ------------------------------------------------------------------------------------


def _call(value: Mapping[Any, Any], words: Vocabulary, status: Status) -> Formula:
    problems = Problems()
    check_match_keys(value, OF_CALLS, problems)
    said = {key: value[key] for key in value if key in CALL_KEYS}
    calls: f.Target | None = (f.Match(),)
    if said or not value:
        calls = problems.attempt((), matching, said, words)
    what = HAPPENING[status]
    if "status" in value:
        what = problems.attempt(("status",), _status, value["status"]) or what
    answers = problems.attempt(("output",), outputs, value["output"]) if "output" in value else []
    problems.check()
    return conj(Happens(what, calls or ()), *(answers or ()))


def _status(value: Any) -> Happening:
    if isinstance(value, str) and value in HAPPENING:
        return HAPPENING[value]
    raise ContractError.of(f"`{value}` is not a status", closest(value, HAPPENING))


def outputs(value: Any) -> list[Formula]:
    """Read conditions on an answer: `done`, `{path: id, equals: 3}`, or a list of these."""
    if not isinstance(value, (list, tuple)):
        return _output(value)
    problems = Problems()
    found: list[Formula] = []
    for i, each in enumerate(value):
        found += problems.attempt((i,), _output, each) or []
    plain = [one for one in found if isinstance(one, f.OutputIs) and _is_plain(one)]
    if not value or len(plain) > 1:
        problems.add("no output equals several values", "for one of them, write {in: [..]}")
    problems.check()
    return found


def _is_plain(atom: f.OutputIs) -> bool:
    return atom.path == "" and atom.op == "=" and not isinstance(atom.value, f.Var)


def _output(value: Any) -> list[Formula]:
    if not isinstance(value, Mapping):
        return [f.OutputIs("", op, operand) for op, operand in read_comparison(value, "")]
    problems = Problems()
    path = ""
    if "path" in value:
        path = problems.attempt(("path",), _output_path, value["path"]) or ""
    found = problems.attempt((), read_comparison, value, path, ("path",)) or []
    problems.check()
    return [f.OutputIs(path, op, operand) for op, operand in found]


def _output_path(value: Any) -> str:
    """Read a path into an output, which may be a list itself: `[].id`."""
    inner = value.removeprefix("[]").removeprefix(".") if isinstance(value, str) else value
    if inner == "*":
        raise ContractError.of("`*` is all arguments", "leave `path` out for the whole output")
    if value != "[]":
        field_path(inner)
    return str(value)


# --- messages ---------------------------------------------------------------------------------


def _message(value: Mapping[Any, Any]) -> Formula:
    problems = Problems()
    for key in (key for key in value if key in OF_CALLS):
        problems.add(
            f"`{key}` is of a call, and this is a message", "write two matches", key, of_key=True
        )
    check_keys(value, (*OF_MESSAGES, *OF_CALLS), "match", problems)
    if "message" not in value:
        problems.add("a `text` is of a message", "write message: user beside it", "text")
    role = problems.attempt(("message",), name, value.get("message", "?"))
    text = problems.attempt(("text",), _text, value["text"]) if "text" in value else []
    problems.check()
    return conj(f.MessageBy(str(role)), *(text or ()))


def _text(value: Any) -> list[Formula]:
    if isinstance(value, f.Var) or (isinstance(value, str) and VARIABLE.fullmatch(value)):
        return [f.TextIs("=", variable(value))]
    if not isinstance(value, Mapping):
        raise ContractError.of(f"`{value}` does not describe a text", "write {matches: regex}")
    problems = Problems()
    check_keys(value, ("matches", *SEARCHES, "bind"), "text", problems)
    problems.check()
    return [
        f.TextIs(op, operand)
        if isinstance(operand, f.Var)
        else f.TextMatches(pattern_text(operand))
        for op, operand in read_comparison(value, "")
    ]
