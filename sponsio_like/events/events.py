"""The events of a trace: what an agent did or was told.

Events are plain frozen records. An adapter makes them; atoms read them; nothing else does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["call", "message", "step", "end"]
Status: TypeAlias = Literal["ok", "error"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that is about to run. `time` is in seconds, monotone within a session."""

    tool: str
    args: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    agent: str = "agent"
    depth: int = 0
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class Message:
    """A message; one of the role `assistant` is a response, and is decided before it is shown."""

    role: str
    text: str = ""
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """A plain observation: the names of the atoms that hold now."""

    atoms: frozenset[str] = frozenset()
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class End:
    """The end of a session, as an event: no tool, no text, only context and time."""

    time: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call. `output` is what the tool returned, or the error's text."""

    status: Status
    output: Any = None


Event: TypeAlias = Call | Message | Step | End


def kind_of(event: Event) -> Kind:
    """Return the kind of position that `event` makes."""
    match event:
        case Call():
            return "call"
        case Message():
            return "message"
        case Step():
            return "step"
        case End():
            return "end"
