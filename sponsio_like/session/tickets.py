"""Keeps the tickets of a session: calls that wait for a person, and the answers.

A ticket is bound to one call: its id, and the digest of its tool and arguments. It answers the
contracts that held the call, and no others. Time is the session's.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Any

from sponsio_like.errors import SessionError
from sponsio_like.events import HeldBy, Ticket, TicketStatus
from sponsio_like.session.ids import MADE

TICKETS_CAP = 1_000
"""Most tickets that one session remembers; the oldest that are closed are forgotten first."""

NO_TICKETS: Any = MappingProxyType({})
"""The tickets of all sessions that have none."""

_MADE = re.compile(rf"{MADE}[0-9a-f]{{8,16}}-\d+")
"""The ids that sessions make for calls that come without one."""


def _is_made(id: str) -> bool:
    return _MADE.fullmatch(id) is not None


def ticket_id(session: str, call: str, mark: str) -> str:
    """Return the ticket's id: the same for the same call of a session, in every process.

    So a call that is held again from an earlier snapshot has the ticket id that people know. So may
    one that is tried again, the same in every respect, after its ticket was used up. For a call
    whose id was made by the session, the ticket's id is random.
    """
    if not call or _is_made(call):
        return f"ticket-{secrets.token_hex(8)}"
    said = json.dumps([session, call, mark]).encode()
    return f"ticket-{hashlib.sha256(said).hexdigest()[:16]}"


def as_id(ticket: Ticket | str) -> str:
    """Return the id of a ticket, given as a ticket or as its id."""
    return ticket if isinstance(ticket, str) else ticket.id


class Tickets:
    """The tickets of one session. Not thread-safe by itself: the interceptor holds the lock."""

    __slots__ = ("by_id", "session")

    def __init__(self, session: str = "") -> None:
        self.session = session
        self.by_id = NO_TICKETS

    def find(self, call: str, mark: str, now: float) -> Ticket | None:
        """Return the ticket of this very call, or None; where ids are made, by
        tool and arguments.
        """
        for ticket in self.by_id.values():
            if ticket.mark != mark:
                continue
            if ticket.call == call or (_is_made(ticket.call) and _is_made(call)):
                return self._aged(ticket, now)
        return None

    def approved(self, call: str, mark: str, now: float) -> Ticket | None:
        """Return the approved ticket of this very call; None if it has none."""
        ticket = self.find(call, mark, now) if self.by_id else None
        return ticket if ticket is not None and ticket.status == "approved" else None

    def open(
        self,
        call: str,
        tool: str,
        mark: str,
        asked: Sequence[HeldBy],
        violated: frozenset[str],
        within: float | None,
        now: float,
    ) -> tuple[Ticket, frozenset[str]]:
        """Return the ticket for this call, open if it is new, and the contracts nobody was told of
        yet.

        A contract that asks only now, or asks other roles now, opens it again. That may shorten the
        time to answer, and never lengthens it. Raises `SessionError` if too many calls are held.
        """
        known = self.find(call, mark, now)
        until = None if within is None else now + within
        if known is None:
            self._make_room(now)
            id = ticket_id(self.session, call, mark)
            fresh = Ticket(id, call, tool, tuple(asked), until, mark=mark, within=within)
            return self._keep(replace(fresh, told=violated)), violated
        asking = {(each.contract, each.roles) for each in known.asked}
        more = [each for each in asked if (each.contract, each.roles) not in asking]
        if more and known.status in ("open", "approved"):
            until, within = _least(known.until, until), _least(known.within, within)
            again = {each.contract for each in more}
            kept = (each for each in known.asked if each.contract not in again)
            known = replace(known, asked=(*kept, *more), status="open", until=until)
            known = replace(known, within=within, told=known.told - again)
        news = violated - known.told
        return self._keep(replace(known, told=known.told | violated)), news

    def approve(self, id: str, by: str, role: str, now: float) -> Ticket:
        """Record the answer yes, for the contracts that this role may answer."""
        ticket = self._answerable(id, by, role, now)
        asked = tuple(
            replace(each, by=by, role=role) if not each.by and each.by_role(role) else each
            for each in ticket.asked
        )
        status: TicketStatus = "approved" if all(each.by for each in asked) else "open"
        return self._keep(replace(ticket, asked=asked, status=status, by=by))

    def deny(self, id: str, by: str, role: str, now: float) -> Ticket:
        """Record the answer no, which is final for this call."""
        return self._keep(replace(self._answerable(id, by, role, now), status="denied", by=by))

    def revoke(self, id: str, by: str, now: float) -> Ticket:
        """Take an approval back, as long as the call has not been let through."""
        ticket = self.known(id, now)
        if ticket.status not in ("open", "approved"):
            raise SessionError(f"ticket `{id}` is {ticket.status}; there is nothing to revoke")
        _named(id, by)
        return self._keep(replace(ticket, status="revoked", by=by))

    def expire(self, id: str, now: float) -> Ticket:
        """Close a ticket that nobody will answer."""
        ticket = self.known(id, now)
        if ticket.status != "open":
            raise SessionError(f"ticket `{id}` is {ticket.status}; it cannot expire")
        return self._keep(replace(ticket, status="expired"))

    def asked(self, id: str, at: float, now: float) -> Ticket:
        """Count the time to answer from `at`, when the call was held, if that ends sooner."""
        ticket = self.known(id, now)
        if ticket.until is not None and ticket.within is not None:
            sooner = min(ticket.until, at + ticket.within)
            ticket = self._keep(replace(ticket, until=sooner))
        return self._aged(ticket, now)

    def use(self, ticket: Ticket | None) -> None:
        """Remove the ticket of a call that has been let through: it is good for one call."""
        if ticket is not None:
            del self.by_id[ticket.id]

    def waiting(self, now: float) -> tuple[Ticket, ...]:
        """Return the tickets that are open."""
        each = [self._aged(ticket, now) for ticket in list(self.by_id.values())]
        return tuple(ticket for ticket in each if ticket.status == "open")

    def known(self, id: str, now: float) -> Ticket:
        """Return the ticket as it stands now. Raises `SessionError` if there is none."""
        if id not in self.by_id:
            raise SessionError(f"there is no ticket `{id}`, or its call was let through already")
        return self._aged(self.by_id[id], now)

    def plain(self) -> list[dict[str, Any]]:
        """Return the tickets, as a snapshot keeps them."""
        return [asdict(ticket) for ticket in self.by_id.values()]

    def resume(self, plain: Iterable[Mapping[str, Any]], still: Callable[[HeldBy], bool]) -> None:
        """Take over those tickets of a snapshot that would `still` ask the same people."""
        for each in plain:
            asked = tuple(HeldBy(**one) for one in each["asked"])
            if all(map(still, asked)):
                self._keep(Ticket(**{**each, "asked": asked}))

    def _answerable(self, id: str, by: str, role: str, now: float) -> Ticket:
        ticket = self.known(id, now)
        if ticket.status != "open":
            raise SessionError(f"ticket `{id}` is {ticket.status}; it cannot be answered")
        _named(id, by)
        if not any(not each.by and each.by_role(role) for each in ticket.asked):
            wanted = ", ".join(f"`{each}`" for each in ticket.roles)
            raise SessionError(f"ticket `{id}` is for {wanted}, not for role `{role}`")
        return ticket

    def _aged(self, ticket: Ticket, now: float) -> Ticket:
        over = ticket.until is not None and now > ticket.until
        if over and ticket.status in ("open", "approved"):
            return self._keep(replace(ticket, status="expired"))
        return ticket

    def _keep(self, ticket: Ticket) -> Ticket:
        if self.by_id is NO_TICKETS:
            self.by_id = {}
        self.by_id[ticket.id] = ticket
        return ticket

    def _make_room(self, now: float) -> None:
        if len(self.by_id) < TICKETS_CAP:
            return
        aged = [self._aged(ticket, now) for ticket in list(self.by_id.values())]
        closed = [ticket.id for ticket in aged if ticket.status not in ("open", "approved")]
        if not closed:
            raise SessionError("too many calls are held; answer some of them first")
        del self.by_id[closed[0]]


def _named(id: str, by: Any) -> None:
    if not isinstance(by, str) or not by.strip():
        raise SessionError(f"ticket `{id}` needs the name of the person who answers")


def _least(*limits: float | None) -> float | None:
    return min((each for each in limits if each is not None), default=None)


def why_closed(ticket: Ticket) -> str:
    """Return why a call that was held will not run."""
    names = ", ".join(f"`{name}`" for name in ticket.contracts)
    match ticket.status:
        case "denied":
            return f"`{ticket.tool}` was held by {names}, and {ticket.by} said no; do not repeat it"
        case "revoked":
            return f"`{ticket.tool}` was held by {names}, and {ticket.by} took the approval back"
    return f"`{ticket.tool}` was held by {names}, and nobody answered in time"
