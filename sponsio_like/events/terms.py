"""Reads the values of stateless terms at one event.

In: a term, once, at load time. Out: a function from an event and its context to the value, or
`MISSING`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from sponsio_like.events.condition_tests import single
from sponsio_like.events.context import Context
from sponsio_like.events.denials import refusals
from sponsio_like.events.events import Call, Event
from sponsio_like.logic.formula import (
    ApprovalAge,
    Arg,
    Const,
    Ctx,
    Delivered,
    Denied,
    Depth,
    FactAge,
    Mark,
    Term,
    Tokens,
)
from sponsio_like.values import UNREADABLE, NotCanonical, digest, reach, spot, without_nulls


class Missing:
    """The value of a term that has none here."""


MISSING = Missing()
SKEW_SECONDS = 60.0
"""Most seconds by which the clock of approvals may be ahead of the session's."""


def value_reader(node: Term) -> Callable[[Event, Context], Any]:
    """Return the function that reads a stateless term at an event; `MISSING`
    where it has no value.
    """
    match node:
        case Const(value):
            return lambda event, context: value
        case Arg(path):
            return lambda event, _: (
                argument(event.args, path) if isinstance(event, Call) else MISSING
            )
        case Ctx(key):
            return lambda event, context: context.facts.get(key, MISSING)
        case Mark(path):
            return lambda event, _: mark_at(event, path) if isinstance(event, Call) else MISSING
        case Delivered():
            return lambda event, context: context.delivered.get(node, 0)
        case Denied(_, like):
            return lambda event, context: (
                refusals(context.denied, node, event)
                if like == "any" or isinstance(event, Call)
                else MISSING
            )
        case FactAge(key):
            return lambda event, context: context.told_at.get(key, MISSING)
        case ApprovalAge(action, role):
            return lambda event, context: context.approved_at(action, role, MISSING)
        case Tokens():
            return lambda event, context: context.tokens
        case Depth():
            return lambda event, _: event.depth if isinstance(event, Call) else MISSING
    raise TypeError(f"not a stateless term: {node!r}")


def mark_at(call: Call, path: str) -> Any:
    """Return a fingerprint of the value at `path`, in any shape; `MISSING` if it cannot be read."""
    try:
        return digest(
            "", [without_nulls(call.args)] if path == "*" else list(reach(call.args, path))
        )
    except NotCanonical:
        return MISSING


def elapsed(since: Any, now: float) -> Any:
    """Return the seconds since something was told; infinite if it never was.

    `MISSING` for a time that is still to come: it is that of another clock.
    """
    if since is MISSING:
        return inf
    return MISSING if since > now + SKEW_SECONDS else now - since


def argument(args: Any, path: str) -> Any:
    """Return the argument at `path` as a term: `ABSENT` if there is none,
    `MISSING` if unreadable.
    """
    value = single(spot(args, path))
    return MISSING if value is UNREADABLE else value
