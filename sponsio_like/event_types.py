"""The events of a trace, what an agent did or was told; the tickets of calls that wait; and the
records of the decision log.

Events and tickets are plain frozen data. An adapter makes events, and atoms read them; people and
hosts see tickets; sinks are given records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["call", "message", "step", "end"]
Status: TypeAlias = Literal["ok", "error"]
TicketStatus: TypeAlias = Literal["open", "approved", "denied", "expired", "revoked"]
Record: TypeAlias = dict[str, Any]
"""One record of the decision log."""
Sink: TypeAlias = Callable[[Record], None]
"""A function that is given each record."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The fields that are the same in all records of one event and one tool: `first` those before
    the violations, `last` those after what is counted.
    """

    event: str
    first: Mapping[str, str]
    last: Mapping[str, Any] = field(default_factory=dict)


Entry: TypeAlias = tuple[Frame, str, str, tuple[int, float] | None, Record]
"""A record without violations that is not made yet: its frame, its session, the id of its call, of
a decision the position and the microseconds, and its other fields.
"""
EntrySink: TypeAlias = Callable[[Entry], None]
"""A function that is given each entry, and makes a record of it if it needs one."""


def record_of(entry: Entry) -> Record:
    """Return the record of an entry; it is a new one each time."""
    frame, session, id, counted, more = entry
    record: Record = {"event": frame.event, "session": session, "id": id, **frame.first}
    record["violations"] = []
    if counted is not None:
        record["position"], record["microseconds"] = counted[0], round(counted[1], 1)
    record.update(frame.last)
    record.update(more)
    return record


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


@dataclass(frozen=True, slots=True)
class HeldBy:
    """One contract that held the call: the roles that may answer (none: anyone), and who did."""

    contract: str
    roles: tuple[str, ...] = ()
    by: str = ""
    role: str = ""

    def by_role(self, role: str) -> bool:
        """True if this role may answer."""
        return not self.roles or role in self.roles


@dataclass(frozen=True, slots=True)
class Ticket:
    """A call that is held. `call`: its id; `until`: when the time to answer is over, in seconds."""

    id: str
    call: str
    tool: str
    asked: tuple[HeldBy, ...]
    until: float | None = None
    status: TicketStatus = "open"
    by: str = ""
    mark: str = field(default="", repr=False)
    within: float | None = field(default=None, repr=False)
    """The seconds to answer: the fewest that a contract gives."""
    told: frozenset[str] = field(default=frozenset(), repr=False)
    """The contracts violated by its call of which notifiers have been told."""

    @property
    def contracts(self) -> tuple[str, ...]:
        """The contracts that held the call."""
        return tuple(each.contract for each in self.asked)

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that an answer still has to come from; none if anyone may answer."""
        return tuple(
            dict.fromkeys(role for each in self.asked if not each.by for role in each.roles)
        )
