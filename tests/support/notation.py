"""A short notation for traces, for the examples of patterns, the tests and the docs.

In: text. Out: events as in a trace file (docs/semantics.md), each one second after the one before.

    check refund            two calls, each settled at once          check! refund     it failed
    check? refund ok:check  in flight, then settled (or error:check); without it, ok at the end
    pay(amount=5, to=bob)   arguments are JSON, or plain words       pay@bob          the agent
    ask="no thanks"         the output (error:ask=.. too)            +60s             a minute later
    ctx:stage=review  permit:pay,refund  approve:pay/boss            facts
    msg:user="are you sure?"  tokens:12                              messages; one with its usage
    pay^2                   by an agent two levels deep              pay~             refused
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from sponsio_like.errors import TraceError

CALL = re.compile(
    r"([\w.*/-]+)(?:\((.*)\))?(?:@([\w.-]+))?(?:\^(\d+))?([!?~])?(?:=(.*))?", re.DOTALL
)
NAMED = re.compile(r"(ctx|permit|approve|msg|tokens|ok|error):([^=]*)(?:=(.*))?", re.DOTALL)
TIME = re.compile(r"\+(\d+(?:\.\d+)?)s")


def events(text: str) -> list[dict[str, Any]]:
    """The events that `text` describes. Raises `TraceError` for what it does not understand."""
    out: list[dict[str, Any]] = []
    open_calls: list[tuple[str, str]] = []
    time, wait = -1.0, 1.0
    for word in split(text, " \t\n"):
        if pause := TIME.fullmatch(word):
            wait = float(pause[1])
            continue
        time, wait = time + wait, 1.0
        named = NAMED.fullmatch(word)
        event = _named(named, open_calls) if named else _call(word, len(out), open_calls)
        out.append({**event, "time": time})
    for _, id in open_calls:
        time += 1.0
        out.append({**_result("ok", id, None), "time": time})
    return out


def split(text: str, at: str) -> Iterator[str]:
    """The parts of `text` between characters of `at` that stand in no quotes and no brackets."""
    part, depth, quoted, skip = "", 0, False, False
    for sign in text:
        if skip:
            skip = False
        elif quoted:
            quoted, skip = sign != '"', sign == "\\"
        elif sign == '"':
            quoted = True
        elif depth == 0 and sign in at:
            if part:
                yield part
            part = ""
            continue
        else:
            depth += (sign in "([{") - (sign in ")]}")
        part += sign
    if quoted or depth:
        raise TraceError(f"`{text}`: a quote or a bracket is not closed")
    if part:
        yield part


def value(text: str) -> Any:
    """JSON, or else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _call(word: str, number: int, open_calls: list[tuple[str, str]]) -> dict[str, Any]:
    found = CALL.fullmatch(word)
    if found is None:
        raise TraceError(f"`{word}` is not understood; write a tool: pay, pay!, pay?, pay(to=bob)")
    tool, args, agent, depth, sign, output = found.groups()
    id = f"{tool}-{number}"
    event = {"type": "call", "tool": tool, "args": _args(args or ""), "id": id}
    if agent:
        event["agent"] = agent
    if depth:
        event["depth"] = int(depth)
    if sign == "?":
        open_calls.append((tool, id))
        return event
    event["status"] = {"!": "error", "~": "refused"}.get(sign, "ok")
    return {**event, "output": value(output)} if output is not None else event


def _args(text: str) -> dict[str, Any]:
    pairs = [part.strip().partition("=") for part in split(text, ",")]
    return {name.strip(): value(written.strip()) for name, _, written in pairs}


def _named(found: re.Match[str], open_calls: list[tuple[str, str]]) -> dict[str, Any]:
    kind, name, written = found.groups()
    match kind:
        case "ctx":
            return {"type": "fact", "key": name, "value": value(written or "null")}
        case "permit":
            return {"type": "fact", "key": "permissions", "value": list(split(name, ","))}
        case "approve":
            action, _, role = name.partition("/")
            approval = {"action": action, "role": role, "decision": "approve", "by": role}
            return {"type": "fact", "key": "approval", "value": approval}
        case "tokens":
            usage = {"total_tokens": int(name)}
            return {"type": "message", "role": "system", "text": "", "usage": usage}
        case "msg":
            return {"type": "message", "role": name, "text": str(value(written or ""))}
    for i, (tool, id) in enumerate(open_calls):
        if tool == name:
            del open_calls[i]
            return _result(kind, id, written)
    raise TraceError(f"`{found[0]}`: no call of `{name}` is in flight; write {name}? before")


def _result(status: str, id: str, output: str | None) -> dict[str, Any]:
    event = {"type": "result", "id": id, "status": status}
    return {**event, "output": value(output)} if output is not None else event
