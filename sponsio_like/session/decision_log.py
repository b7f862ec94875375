"""Writes the decision log: one record for each decision, settlement, message, fact and end.

In: what a session did. Out: a flat JSON-able record, handed to a sink. Records never have argument
values unless asked for (`log_args`), so that a log is safe to ship. A sink that raises disturbs
nobody.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sponsio_like.contracts import said_of
from sponsio_like.engine import Finding
from sponsio_like.errors import STRAIN
from sponsio_like.events import Call, Ticket
from sponsio_like.outcome import Allowed, Blocked, Held, Outcome, Redirected, Unfulfilled, Violation

Record: TypeAlias = dict[str, Any]
Sink: TypeAlias = Callable[[Record], None]
Said: TypeAlias = tuple[str, str, Mapping[str, Any], str]
"""A call: its id, tool, arguments and agent."""
Applying: TypeAlias = Callable[[Literal["call", "message"], str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Log:
    """The sink that gets the records, if there is one.

    `applying`: a function from a tool or a role to the contracts that apply to it; `reads`: True if
    the sink reads records without a violation, None if it reads all.
    """

    sink: Sink | None = None
    log_args: bool = False
    applying: Applying | None = None
    reads: Callable[[], bool] | None = None

    def decision(
        self,
        session: str,
        call: Call,
        outcome: Outcome,
        found: Iterable[Finding],
        late: Iterable[Violation],
        started: float,
        again: bool = False,
    ) -> None:
        """Log one decision, with the violations of every contract; `again`: it was told before."""
        if self.sink is None:
            return
        said = (call.id, call.tool, call.args, call.agent)
        record = self._decided(session, said, outcome_name(outcome), started)
        record["violations"] += [
            self._violation(each) for each in _told(outcome, found, late, again)
        ]
        self._end(record, outcome, again)

    def passed(self, session: str, call: Said, started: float) -> None:
        """Log the decision on a call that violates no contract."""
        if self.reads is None or self.reads():
            self._send(self._decided(session, call, "allowed", started))

    def _decided(self, session: str, call: Said, outcome: str, started: float) -> Record:
        """Return the record of a decision, as yet without violations."""
        id, tool, args, agent = call
        record: Record = {
            "event": "decision",
            "session": session,
            "id": id,
            "tool": tool,
            "agent": agent,
            "outcome": outcome,
            "violations": [],
            "microseconds": round((time.perf_counter() - started) * 1e6, 1),
        }
        if self.applying is not None:
            record["applied"] = self.applying("call", tool)
        if self.log_args:
            record["args"] = args
        return record

    def landed(self, session: str, id: str, tool: str, status: str) -> None:
        """Log the result of a call that reveals nothing; without memory, it is not logged."""
        if self.sink is None or (self.reads is not None and not self.reads()):
            return
        try:
            self.settlement(session, id, tool, status, ())
        except STRAIN:
            return

    def settlement(
        self, session: str, id: str, tool: str, status: str, revealed: Iterable[Violation]
    ) -> None:
        """Log the result of a call, and the violations that it reveals."""
        record: Record = {
            "event": "settlement",
            "session": session,
            "id": id,
            "tool": tool,
            "status": status,
            "violations": self._plain(revealed),
        }
        self._send(record)

    def ignored(self, session: str, id: str) -> None:
        """Log a result that nobody waits for.

        It is a second one, or one of a call that was not let through.
        """
        self._write("result_ignored", session=session, id=id)

    def message(
        self,
        session: str,
        role: str,
        outcome: Outcome,
        found: Iterable[Finding],
        late: Iterable[Violation],
        *,
        again: bool = False,
    ) -> None:
        """Log a message, decided or recorded; `again`: it was told before."""
        record: Record = {
            "event": "message",
            "session": session,
            "role": role,
            "outcome": outcome_name(outcome),
            "violations": [self._violation(each) for each in _told(outcome, found, late, again)],
        }
        if self.applying is not None:
            record["applied"] = self.applying("message", role)
        self._end(record, outcome, again)

    def step(self, session: str, found: Iterable[Violation]) -> None:
        """Log a plain step, and the violations that it makes."""
        self._write("step", session=session, violations=self._plain(found))

    def ticket(self, session: str, ticket: Ticket) -> None:
        """Log that a ticket was answered, revoked, or has expired."""
        about = {"id": ticket.call, "ticket": ticket.id, "tool": ticket.tool, "by": ticket.by}
        self._write(f"ticket_{ticket.status}", session=session, **about)

    def restored(self, session: str, started_anew: Iterable[str]) -> None:
        """Log that a session goes on from a snapshot, and the changed contracts that start anew."""
        self._write("restored", session=session, started_anew=list(started_anew))

    def relaxed(self, variable: str) -> None:
        """Log, and warn in Python's log, that the environment has turned enforcement off."""
        text = f"{variable}=observe: contracts are observed, none is enforced"
        logging.getLogger("sponsio_like").warning(text)
        self._write("relaxed", message=text)

    def fact(self, session: str, key: str) -> None:
        """Log that a fact was told, without its value."""
        self._write("fact", session=session, key=key)

    def finish(self, session: str, late: Iterable[Violation], left: Iterable[Unfulfilled]) -> None:
        """Log the end of a session."""
        unfulfilled = [
            {"contract": each.contract, "message": each.message, **said_of(each)} for each in left
        ]
        violations = self._plain(late)
        self._write("finish", session=session, violations=violations, unfulfilled=unfulfilled)

    def _end(self, record: Record, outcome: Outcome, again: bool) -> None:
        """Send a decision, with the fields that only some outcomes have."""
        if isinstance(outcome, Held):
            record["ticket"] = outcome.ticket.id
        if isinstance(outcome, Redirected):
            record["substitute"] = outcome.tool
        if again:
            record["again"] = True
        self._send(record)

    def _plain(self, violations: Iterable[Violation]) -> list[Record]:
        return [self._violation(each) for each in violations]

    def _violation(self, violation: Violation) -> Record:
        names = ("contract", "position", "tool", "action", "mode", "message")
        record = {name: getattr(violation, name) for name in names} | said_of(violation)
        if violation.since is not None:
            record["since"] = violation.since
        if self.log_args and violation.values:
            record["values"] = violation.values
        return record

    def _write(self, event: str, **fields: Any) -> None:
        self._send({"event": event, **fields})

    def _send(self, record: Record) -> None:
        if self.sink is None:
            return
        try:
            self.sink(record)
        except Exception:  # a sink is user code; the decision stands
            logging.getLogger("sponsio_like").exception("the decision log's sink failed")


SILENT = Log()


def with_contracts(sink: Sink, modes: Iterable[tuple[str, str]]) -> Sink:
    """Return a sink that adds the contracts, each with its mode, to the first record."""
    each = [{"contract": name, "mode": mode} for name, mode in modes]
    once = iter([each])

    def send(record: Record) -> None:
        first = next(once, None)
        sink(record if first is None else {**record, "contracts": first})

    return send


def outcome_name(outcome: Outcome) -> str:
    """Return the outcome as one word."""
    match outcome:
        case Allowed():
            return "allowed"
        case Blocked():
            return "blocked"
        case Held():
            return "held"
        case Redirected():
            return "redirected"


def _told(
    outcome: Outcome, found: Iterable[Finding], late: Iterable[Violation], again: bool
) -> tuple[Violation, ...]:
    """Return the violations that a record tells: if it was told before, only the late ones."""
    if again:
        return tuple(late)
    each = [finding.violation for finding in found]
    if isinstance(outcome, Allowed):
        each = each or [*outcome.warnings, *outcome.observed]
    else:
        each = each or list(outcome.violations)
    return (*late, *each)
