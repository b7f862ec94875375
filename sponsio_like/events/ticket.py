"""A call that waits for a person, as people and hosts see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

TicketStatus: TypeAlias = Literal["open", "approved", "denied", "expired", "revoked"]


@dataclass(frozen=True, slots=True)
class Asked:
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
    asked: tuple[Asked, ...]
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
