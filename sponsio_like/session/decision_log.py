"""The decision log: one record for each decision, settlement, message, fact and end.

In: what a session did. Out: a flat JSON-able record, handed to a sink. Records never have
argument values unless asked for (`log_args`), so that a log is safe to ship. A sink that raises
disturbs nobody.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sponsio_like.contracts.about import said_of
from sponsio_like.engine.findings import Finding
from sponsio_like.events.events import Call
from sponsio_like.events.ticket import Ticket
from sponsio_like.outcome import Allowed, Blocked, Held, Outcome, Redirected, Unfulfilled, Violation

Record: TypeAlias = dict[str, Any]
Sink: TypeAlias = Callable[[Record], None]
Applying: TypeAlias = Callable[[Literal["call", "message"], str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Log:
    """Where records go; nowhere by default. `applying`: the contracts that apply, by a name."""

    sink: Sink | None = None
    log_args: bool = False
    applying: Applying | None = None

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
        """One decision, with the true verdict of every contract; `again`: told before."""
        if self.sink is None:
            return
        told = tuple(late) if again else (*late, *_violations(outcome, found))
        record: Record = {
            "event": "decision",
            "session": session,
            "id": call.id,
            "tool": call.tool,
            "agent": call.agent,
            "outcome": name_of(outcome),
            "violations": [self._plain(each) for each in told],
            "microseconds": round((time.perf_counter() - started) * 1e6, 1),
        }
        if self.applying is not None:
            record["applied"] = self.applying("call", call.tool)
        if self.log_args:
            record["args"] = call.args
        if isinstance(outcome, Held):
            record["ticket"] = outcome.ticket.id
        if isinstance(outcome, Redirected):
            record["substitute"] = outcome.tool
        if again:
            record["again"] = True
        self._send(record)

    def passed(self, session: str, call: Call, started: float) -> None:
        """A call that nothing was found against."""
        self.decision(session, call, Allowed(call.id), (), (), started)

    def settlement(
        self, session: str, id: str, tool: str, status: str, revealed: Iterable[Violation]
    ) -> None:
        """The result of a call, and the violations that it reveals."""
        violations = [self._plain(each) for each in revealed]
        self._send(
            {
                "event": "settlement",
                "session": session,
                "id": id,
                "tool": tool,
                "status": status,
                "violations": violations,
            }
        )

    def ignored(self, session: str, id: str) -> None:
        """A result that nobody waits for.

        A second one, or one of a call that was not let through.
        """
        self._send({"event": "result_ignored", "session": session, "id": id})

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
        """A message, decided or recorded; `again`: told before."""
        told = tuple(late) if again else (*late, *_violations(outcome, found))
        record: Record = {
            "event": "message",
            "session": session,
            "role": role,
            "outcome": name_of(outcome),
            "violations": [self._plain(each) for each in told],
        }
        if self.applying is not None:
            record["applied"] = self.applying("message", role)
        if isinstance(outcome, Held):
            record["ticket"] = outcome.ticket.id
        if again:
            record["again"] = True
        self._send(record)

    def step(self, session: str, found: Iterable[Violation]) -> None:
        """A plain observation, and the violations that it makes."""
        violations = [self._plain(each) for each in found]
        self._send({"event": "step", "session": session, "violations": violations})

    def ticket(self, session: str, ticket: Ticket) -> None:
        """A person has answered a ticket, or nobody has."""
        record = {"id": ticket.call, "ticket": ticket.id, "tool": ticket.tool, "by": ticket.by}
        self._send({"event": f"ticket_{ticket.status}", "session": session, **record})

    def restored(self, session: str, started_anew: Iterable[str]) -> None:
        """A session went on from a snapshot; contracts that have changed since started anew."""
        self._send({"event": "restored", "session": session, "started_anew": list(started_anew)})

    def relaxed(self, variable: str) -> None:
        """The environment has turned enforcement off; never silent, whatever the sink."""
        text = f"{variable}=observe: contracts are observed, none is enforced"
        logging.getLogger("sponsio_like").warning(text)
        self._send({"event": "relaxed", "message": text})

    def fact(self, session: str, key: str) -> None:
        """A fact; its value is not logged."""
        self._send({"event": "fact", "session": session, "key": key})

    def finish(self, session: str, late: Iterable[Violation], left: Iterable[Unfulfilled]) -> None:
        """The end of a session."""
        unfulfilled = [
            {"contract": each.contract, "message": each.message, **said_of(each)} for each in left
        ]
        violations = [self._plain(each) for each in late]
        self._send(
            {
                "event": "finish",
                "session": session,
                "violations": violations,
                "unfulfilled": unfulfilled,
            }
        )

    def _plain(self, violation: Violation) -> Mapping[str, Any]:
        record = {
            "contract": violation.contract,
            "position": violation.position,
            "tool": violation.tool,
            "action": violation.action,
            "mode": violation.mode,
            "message": violation.message,
        }
        record |= said_of(violation)
        if violation.since is not None:
            record["since"] = violation.since
        if self.log_args and violation.values:
            record["values"] = violation.values
        return record

    def _send(self, record: Record) -> None:
        if self.sink is None:
            return
        try:
            self.sink(record)
        except Exception:  # a sink is user code; the decision stands
            logging.getLogger("sponsio_like").exception("the decision log's sink failed")


SILENT = Log()


def naming(sink: Sink, modes: Iterable[tuple[str, str]]) -> Sink:
    """The sink; the first record that it gets names the contracts, each with its mode."""
    each = [{"contract": name, "mode": mode} for name, mode in modes]
    once = iter([each])

    def send(record: Record) -> None:
        first = next(once, None)
        sink(record if first is None else {**record, "contracts": first})

    return send


def name_of(outcome: Outcome) -> str:
    """The outcome as one word."""
    match outcome:
        case Allowed():
            return "allowed"
        case Blocked():
            return "blocked"
        case Held():
            return "held"
        case Redirected():
            return "redirected"


def _violations(outcome: Outcome, found: Iterable[Finding]) -> list[Violation]:
    each = [finding.violation for finding in found]
    if each:
        return each
    return (
        [*outcome.warnings, *outcome.observed]
        if isinstance(outcome, Allowed)
        else list(outcome.violations)
    )
