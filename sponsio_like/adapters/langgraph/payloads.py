"""Payloads for guarded nodes: from a user's own nodes and edges, and from the node that decides.

In: the payloads of `Send("tools", ..)`. Out: one payload for the node that decides, which has them
all; and of each, the calls and the state that it brings along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from langgraph.types import Send

from sponsio_like.adapters.langgraph.asked_calls import last_asking, unanswered

SENT: Final = "sponsio_like"
"""The key that tells what a node of decisions is sent, and sends, from what a user's node sends."""


Sent: TypeAlias = dict[str, Any]
"""The payload of a guarded node: under `SENT` `run`, `refused`, `stop`, `ask` or `none`, and what
that takes. `given`: what a user's own node or edge has sent; of a question, all of a batch."""


class Brought(NamedTuple):
    """The messages and the calls that a payload brings to guarded tools."""

    messages: Sequence[Any]
    calls: Sequence[Mapping[str, Any]]


def to_decide(node: str, payloads: Sequence[Any] | None, of: str = "") -> Send:
    """Return the one `Send` to a node that decides, with all payloads.

    Without payloads it decides on the state of the graph. `of`: the batch, if decided before.
    """
    more: dict[str, Any] = {SENT: "given"}
    if payloads is not None:
        more["given"] = [*payloads]
    if of:
        more["of"] = of
    return Send(node, more)


def is_given(state: Any) -> bool:
    """True if a node that decides was sent this; otherwise it is the state of the graph."""
    return isinstance(state, Mapping) and state.get(SENT) == "given"


def is_calls(payload: Any) -> bool:
    """True if a payload is a list of calls, as `ToolNode` takes it, without a state."""
    last = payload[-1] if isinstance(payload, list) and payload else None
    return isinstance(last, Mapping) and last.get("type") == "tool_call"


def brought(payload: Any, key: str, node: str) -> Brought:
    """Return the messages that a payload has, if any, and the calls that it brings.

    Raises `ValueError` for what `ToolNode` does not take either.
    """
    match payload:
        case list() if is_calls(payload):
            return Brought([], payload)
        case {"__type": "tool_call_with_context", "tool_call": call}:
            return Brought([], [call])
    messages = payload if isinstance(payload, list) else messages_of(payload, key)
    if last_asking(messages) is None:
        raise ValueError(
            f"`{node}` was sent a `{type(payload).__name__}` without a message of the model; "
            f'send the state, {{"{key}": [message]}} or [call]'
        )
    return Brought(messages, unanswered(messages))


def state_in(payload: Any, instead: Any) -> Any:
    """Return the state that a payload brings; `instead`, where it brings none."""
    match payload:
        case {"__type": "tool_call_with_context", "state": state}:
            return state
    return instead if is_calls(payload) else payload


def messages_of(state: Any, key: str) -> Sequence[Any]:
    """Return the messages of a state; none, if it has no such key."""
    found: Sequence[Any] = (
        state.get(key, ()) if isinstance(state, Mapping) else getattr(state, key, ())
    )
    return found
