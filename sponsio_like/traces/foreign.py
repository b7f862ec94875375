"""Recognises traces in other formats, and says what to write instead.

In: what stands in the place of a trace or an event. Out: what is wrong with it, or nothing. Unknown
fields are carried along; but what other formats call arguments, results or texts would be lost, and
a trace of empty calls keeps every contract.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sponsio_like.events import MODELS

"""`MODELS` are other names for the role of a response, which would not be decided under them."""
_ARGS = (
    *("input", "inputs", "arguments", "toolinput", "toolargs", "toolarguments", "parameters"),
    *("params", "kwargs", "functionargs", "actioninput"),
)
_OUTPUT = (
    *("result", "results", "response", "tooloutput", "toolresult", "toolresponse", "observation"),
    *("outputs", "returnvalue"),
)
_FAILURE = ("error", "iserror", "exception")
_TIME = ("timestamp", "ts", "createdat", "startedat", "starttime", "datetime")
_ID = ("callid", "toolcallid", "tooluseid", "runid")
_MEANT: dict[str, dict[str, tuple[str, ...]]] = {
    "call": {
        "tool": ("name", "toolname", "function", "functionname", "action"),
        "args": _ARGS,
        "output": _OUTPUT,
        "status": _FAILURE,
    },
    "result": {"id": _ID, "output": (*_OUTPUT, "content", "text"), "status": _FAILURE},
    "message": {"text": ("content", "message", "body"), "role": ("from", "author", "sender")},
    "fact": {"value": ("content", "data"), "key": ("name", "fact")},
    "step": {"atoms": ("names", "flags", "observations", "propositions")},
}
"""The fields of each event, with the names in other formats, in small letters without `_`."""

_TYPES = {
    "call": ("tooluse", "toolcall", "functioncall", "function", "tool", "action"),
    "result": ("toolresult", "toolresponse", "toolmessage", "functioncalloutput", "observation"),
    "message": ("user", "assistant", "system", "human", "ai", "text", "response"),
}
_CALLS_INSIDE = ("toolcalls", "functioncall", "tooluse")

EMPTY = re.compile(r"\s*(?:\{\s*\}|null)?\s*")
"""A text that stands for no arguments."""
JSON = re.compile(r'\s*(\{|\[\s*["\[{])')
"""The beginning of a map as text, or of a list of texts, lists or maps."""
TRACE = '{"id": "1", "events": [{"tool": "search", "args": {"q": "x"}, "output": "y"}]}'
"""A shortest trace, shown in messages."""
_LINES = (
    ("a decision log, which `sponsio-like report` reads", {"event", "timestamp"}),
    ("a run of a tracing service", {"runtype"}),
    ("a run of a tracing service", {"inputs", "outputs"}),
    ("spans of a tracing service", {"spans"}),
    ("spans of a tracing service", {"resourcespans"}),
    ("a chat", {"messages"}),
    ("a chat", {"choices"}),
    ("a message of a chat", {"role"}),
    ("a message of a chat", {"message", "type"}),
    ("tool calls by themselves", {"toolcalls"}),
    ("an event by itself", {"tool"}),
    ("an event by itself", {"toolname"}),
)
"""The formats that a line without `events` may have, by the fields that it has."""


def line_seen(line: Mapping[str, Any]) -> str:
    """Return what a line without `events` needs, and the format that it looks like."""
    keys = {_bare(key) for key in line}
    looks = next((what for what, fields in _LINES if fields <= keys), "")
    seen = f"; this looks like {looks}" if looks else ""
    if not looks and (list_ := next((k for k, v in line.items() if isinstance(v, list)), None)):
        seen = f"; `{list_}` is a list: are these its events?"
    return f"a trace needs `events`, a list, as in {TRACE}{seen}"


_KNOWN = {
    "call": ("tool", "args", "agent", "depth", "id", "status", "output", "approved_by"),
    "result": ("id", "status", "output"),
    "message": ("role", "text", "usage"),
    "fact": ("key", "value"),
    "step": ("atoms",),
}
"""The fields of each event, beside `type` and `time`."""


def misnamed(kind: str, event: Mapping[str, Any]) -> str | None:
    """Return the first field of an event that would be ignored; None if there is none."""
    if kind == "message" and _bare(event.get("role")) in MODELS:
        return f"`role` is `{event['role']}`; a response has the role `assistant`"
    meant = _MEANT.get(kind, {})
    for field in (*_KNOWN.get(kind, ()), "type", "time"):
        names = (field, *(_TIME if field == "time" else meant.get(field, ())))
        if event.get(field) is None:
            for key, value in event.items():
                if _bare(key) in names and key != field and _says(field, value):
                    return _lost(field, key)
    if kind in ("call", "message"):
        for key, value in event.items():
            if _bare(key) in _CALLS_INSIDE and value:
                each = '{"tool": "search", "args": {"q": "x"}}'
                return f"`{key}` would not be read; write each call as an event, like {each}"
    return _unread(event) if kind == "call" else None


def _unread(call: Mapping[str, Any]) -> str | None:
    """Return where the arguments of a call without any may stand instead; None if nowhere."""
    args = call.get("args")
    if isinstance(args, (list, tuple)):
        return '`args` is a list; write a map from names to values, like {"q": "x"}'
    for key in _unknown(call):
        value = call[key]
        if not (_is_much(value) or args is None or (_bare(key) in _ARGS and value)):
            continue
        if args is None:
            return f"`{key}` would not be read; write `args`, with all arguments; {{}} for none"
        return (
            f"`{key}` would not be read, and `args` is empty; write it as `args`, or leave it out"
        )
    return None


def beside(events: Iterable[Mapping[str, Any]]) -> frozenset[tuple[str, str]]:
    """Return the tools of calls with empty arguments, each with an unknown field of such a call."""
    calls = (event for event in events if event.get("type", "call") == "call")
    return frozenset((call["tool"], key) for call in calls for key in _unknown(call))


def _unknown(call: Mapping[str, Any]) -> Iterator[str]:
    """Yield the unknown fields of a call without arguments: the arguments may stand there."""
    args = call.get("args")
    if args in (None, {}) or (isinstance(args, str) and EMPTY.fullmatch(args)):
        known = ("type", "time", *_KNOWN["call"])
        yield from (key for key, value in call.items() if key not in known and value is not None)


def _is_much(value: Any) -> bool:
    """True if this is a map or a list with something in it, or the text of one."""
    if isinstance(value, str) and JSON.match(value):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return True  # the text of a map that was cut off, perhaps
    return isinstance(value, (Mapping, list, tuple)) and bool(value)


def type_meant(type_: Any) -> str | None:
    """Return the type that another format's type stands for; None if it is not known."""
    bare = _bare(type_) if isinstance(type_, str) else ""
    return next((ours for ours, names in _TYPES.items() if bare in names), None)


def _says(field: str, value: Any) -> bool:
    """True if a value under another name is worth reading; an empty `error` is no error."""
    return bool(value) if field == "status" else value is not None


def _lost(field: str, key: str) -> str:
    if field == "status":
        return f'`{key}` would not be read; write `"status": "error"`, and the text as `output`'
    unit = ", a number of seconds" if field == "time" else ""
    return f"`{key}` would not be read; write `{field}`{unit}"


def _bare(key: Any) -> str:
    return str(key).replace("_", "").replace("-", "").lower()
