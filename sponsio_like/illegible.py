"""What of a call, or of an answer, could not be read: in words, for whoever is refused.

In: the arguments of a call and what a clause reads of them; an answer. Out: which field, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sponsio_like.formula as f
from sponsio_like.atoms import names_tool
from sponsio_like.events import Call
from sponsio_like.freezing import UNREADABLE, Cut
from sponsio_like.limits import ANSWER_CAP, TEXT_CAP
from sponsio_like.meeting import single
from sponsio_like.places import path_parts, spot

KEPT = 100
"""Most tools of which it is remembered that an answer could not be read."""


def illegible(nodes: Iterable[f.Node], call: Call) -> Iterator[str]:
    """The fields of the call that these atoms read and cannot, each with the reason."""
    for path in dict.fromkeys(path for node in nodes for path in _paths(node, call.tool)):
        why = reason(call.args, path)
        if why:
            yield f"`{path}` could not be read: {why}"


def _paths(node: f.Node, tool: str) -> Iterator[str]:
    """The places in arguments that an atom or a term compares one by one."""
    match node:
        case f.Happens(_, target) | f.Sum(target):
            mine = (match for match in target if names_tool(match, tool))
            yield from (each.path for match in mine for each in match.conditions)
            if isinstance(node, f.Sum):
                yield node.path
        case f.Arg(path) | f.Mark(path) | f.Custom(_, (str() as path, *_)):
            yield path


def reason(args: Any, path: str) -> str:
    """Why what stands at a path cannot be told; empty if it can."""
    if path == "*" and isinstance(args, Cut):
        return _blank(args)
    if path == "*" or path.startswith("@"):
        return ""
    value = args
    for part in path_parts(path):
        if value is None or isinstance(value, (list, tuple)):
            break
        if value is UNREADABLE:
            return _blank(args)
        if part == "[]":
            return f"{_kind(value)}, where a list is expected"
        if not isinstance(value, Mapping):
            return f"{_kind(value)}, where an object is expected"
        value = value.get(part)
    found = single(spot(args, path))
    if isinstance(found, Mapping):
        return "an object, where one value is expected"
    if isinstance(found, str) and len(found) > TEXT_CAP:
        return f"a text of more than {TEXT_CAP:,} characters"
    blank = found is value is UNREADABLE or (isinstance(args, Cut) and _is_cut(value))
    return _blank(args) if blank else ""


def _is_cut(value: Any) -> bool:
    """Whether something in there could not be read."""
    stack = [value]
    while stack:
        each = stack.pop()
        if each is UNREADABLE:
            return True
        inner = each.values() if isinstance(each, Mapping) else each
        stack.extend(inner if isinstance(each, (Mapping, list)) else ())
    return False


def _blank(args: Any) -> str:
    """Why nothing of a value could be read: the cap that the whole call met, if it did."""
    met = args.met if isinstance(args, Cut) else ""
    return f"the call has {met}" if met else "it is too large, or no data"


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "a text"
    return "an object" if isinstance(value, Mapping) else "a plain value"


def too_large(answer: Any) -> str:
    """Why an answer, or a member of it, cannot be searched; empty if it can."""
    inner = answer.values() if isinstance(answer, Mapping) else answer
    for each in [answer, *(inner if isinstance(answer, (Mapping, list)) else ())]:
        if each is UNREADABLE:
            return f"more than {ANSWER_CAP:,} values, or no data"
        if isinstance(each, str) and len(each) > TEXT_CAP:
            return f"more than {TEXT_CAP:,} characters in one text"
    return ""
