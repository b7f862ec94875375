"""Reads the short notation of traces: `find_order(order=17) pay(amount=80)! msg:user="hello"`.

In: a text. Out: the events, as a trace file has them; `wait` are the seconds since the event
before, where they are not 1 (`docs/testing-contracts.md` has the notation).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from sponsio_like.errors import ContractError

if TYPE_CHECKING:
    from lark import Lark

FORM = 'write calls such as `pay(amount=80)`, `pay!` (failed), `msg:user="hello"`, `ctx:stage=open`'
LENGTH_CAP = 100_000
"""The longest text of a trace, in characters."""


def read_steps(text: str) -> list[dict[str, Any]]:
    """Return the events of a text. Raises `ContractError` with the column of a mistake."""
    from lark.exceptions import UnexpectedInput

    if len(text) > LENGTH_CAP:
        raise ContractError.of(f"a trace of {len(text)} characters", f"at most {LENGTH_CAP}")
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        ended = getattr(getattr(error, "token", None), "type", "") == "$END"
        at = len(text) + 1 if ended else error.column
        what = f"the trace `{_short(text)}` is not understood at column {at}"
        raise ContractError.of(what, FORM) from None
    except RecursionError:
        raise ContractError.of("a trace with too many brackets in brackets", FORM) from None
    return [_step(step) for step in tree.children]


@cache
def _parser() -> Lark:
    from lark import Lark

    grammar = resources.files("sponsio_like.contracts").joinpath("steps.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=False)


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + ".."


def _step(step: Any) -> dict[str, Any]:
    event: dict[str, Any] = {}
    for part in step.children:
        match part.data:
            case "wait":
                event["wait"] = float(str(part.children[0])[1:-1])
            case "call":
                event |= _call(part)
            case _:
                event |= _other(part)
    return event


def _call(call: Any) -> dict[str, Any]:
    event: dict[str, Any] = {"tool": str(call.children[0])}
    for part in call.children[1:]:
        match part.data:
            case "args":
                event["args"] = _pairs(part.children, f"`{event['tool']}` has an argument")
            case "agent":
                event["agent"] = str(part.children[0])
            case "depth":
                event["depth"] = int(str(part.children[0]))
            case "end":
                event["status"] = "error" if part.children[0] == "!" else "refused"
            case "output":
                event["output"] = _value(part.children[0])
            case "yes":
                event["approved_by"] = str(part.children[0])
    return event


def _pairs(pairs: Iterable[Any], what: str) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for pair in pairs:
        name = _name(pair.children[0])
        if name in read:
            raise ContractError.of(f"{what} `{name}` twice", "write it once")
        read[name] = _value(pair.children[1])
    return read


def _other(part: Any) -> dict[str, Any]:
    names = [str(each) for each in part.children if isinstance(each, str)]
    match part.data:
        case "message":
            text = _value(part.children[1])
            return {
                "type": "message",
                "role": names[0],
                "text": text if isinstance(text, str) else json.dumps(text),
            }
        case "fact":
            return {"type": "fact", "key": names[0], "value": _value(part.children[1])}
        case "permit":
            return {"type": "fact", "key": "permissions", "value": names}
        case "approve":
            action, role = names
            told = {"action": action, "role": role, "decision": "approve", "by": role}
            return {"type": "fact", "key": "approval", "value": told}
    usage = {"total_tokens": int(names[0])}
    return {"type": "message", "role": "assistant", "text": "", "usage": usage}


def _name(token: Any) -> str:
    return _unquoted(str(token)) if token.type == "STRING" else str(token)


def _unquoted(text: str) -> str:
    if text[0] == "'":
        return text[1:-1]
    try:
        read: str = json.loads(text)
    except ValueError:
        raise ContractError.of(f"{text} is no text", 'escape as JSON does: \\\\ and \\"') from None
    return read


def _value(node: Any) -> Any:
    match node.data:
        case "string":
            return _unquoted(str(node.children[0]))
        case "number":
            text = str(node.children[0])
            return int(text) if text.lstrip("-").isdigit() else float(text)
        case "list":
            return [_value(each) for each in node.children]
        case "map":
            return _pairs(node.children, "a mapping has")
        case "bare":
            return str(node.children[0])
    return {"true": True, "false": False, "null": None}[node.data]
