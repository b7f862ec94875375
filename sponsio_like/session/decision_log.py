"""Writes the decision log: one record for each decision, settlement, message, fact and end.

In: what a session did. Out: a flat JSON-able record, handed to a sink. Records never have argument
values unless asked for (`content.py`), so that a log is safe to ship. A sink that raises disturbs
nobody.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from sponsio_like.contracts import said_of
from sponsio_like.engine import Finding
from sponsio_like.errors import STRAIN
from sponsio_like.event_types import Record, Sink
from sponsio_like.events import Call, Ticket
from sponsio_like.outcome import Allowed, Blocked, Held, Outcome, Redirected, Unfulfilled, Violation
from sponsio_like.session.content import NOTHING, Content
from sponsio_like.session.gate import Said
from sponsio_like.values import NotCanonical, digest, given_value

Moment: TypeAlias = tuple[str, float, int, float | None]
"""A session, when its decision began, how many calls were let through before, and the time of the
session; None where its clock is that of the machine, which the timestamp has.
"""
Applying: TypeAlias = Callable[[Literal["call", "message"], str], tuple[str, ...]]


class Standing:
    """A block that says what came of a decision or a result: that stands, whatever fails in it."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Report an exception to the library's logger, and go on."""
        if not isinstance(error, Exception):
            return False
        with suppress(*STRAIN):
            logger = logging.getLogger("sponsio_like")
            logger.error("a decision could not be told", exc_info=error)
        return True


STANDS = Standing()


@dataclass(frozen=True, slots=True)
class Log:
    """The sink that gets the records, if there is one.

    `applying`: a function from a tool or a role to the contracts that apply to it; `reads`: True if
    the sink reads records without a violation, None if it reads all.
    """

    sink: Sink | None = None
    content: Content = NOTHING
    applying: Applying | None = None
    reads: Callable[[], bool] | None = None

    def decision(
        self,
        at: Moment,
        call: Call,
        outcome: Outcome,
        found: Iterable[Finding],
        late: Iterable[Violation],
        again: bool = False,
        risk: Record | None = None,
    ) -> None:
        """Log one decision, with the violations of every contract; `again`: it was told before."""
        if self.sink is None:
            return
        said = (call.id, call.tool, call.args, call.agent, call.depth)
        record = self._decided(at, said, outcome_name(outcome))
        told = _told(outcome, found, late, again)
        if told:
            record["violations"] += [self._violation(each) for each in told]
            record |= _about(call, outcome, told)
        if risk is not None:
            record["risk"] = risk
        if isinstance(outcome, Redirected):
            instead = self.content.args(outcome.tool, outcome.args)
            if "args" in instead:
                record["substitute_args"] = instead["args"]
        self._end(record, outcome, again)

    def passed(self, at: Moment, call: Said, risk: Record | None = None) -> None:
        """Log the decision on a call that violates no contract."""
        if self.reads is None or self.reads():
            record = self._decided(at, call, "allowed")
            if risk is not None:
                record["risk"] = risk
            self._send(record)

    def _decided(self, at: Moment, call: Said, outcome: str) -> Record:
        """Return the record of a decision, as yet without violations."""
        session, started, position, now = at
        id, tool, args, agent, depth = call
        record: Record = {
            "event": "decision",
            "session": session,
            "id": id,
            "tool": tool,
            "agent": agent,
            "outcome": outcome,
            "violations": [],
            "position": position,
            "microseconds": round((time.perf_counter() - started) * 1e6, 1),
        }
        if self.applying is not None:
            record["applied"] = self.applying("call", tool)
        if self.content.chosen:
            record |= self.content.args(tool, args)
        if depth:
            record["depth"] = depth
        if now is not None:
            record["time"] = now
        return record

    def settlement(
        self,
        session: str,
        id: str,
        landed: tuple[str, tuple[Violation, ...]],
        result: tuple[Any, Any],
        now: float | None = None,
    ) -> None:
        """Log the result of a call, output and error, and the violations that it reveals."""
        if self.sink is None:
            return
        (tool, revealed), (output, error) = landed, result
        if not revealed and self.reads is not None and not self.reads():
            return
        record: Record = {
            "event": "settlement",
            "session": session,
            "id": id,
            "tool": tool,
            "status": "ok" if error is None else "error",
            "violations": self._plain(revealed) if revealed else [],
        }
        if self.content.chosen and self.content.has("outputs", tool):
            record["output"] = given_value(output if error is None else error)
        if now is not None:
            record["time"] = now
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
        said: tuple[str, int, float | None] = ("", 0, None),
    ) -> None:
        """Log a message, decided or recorded; `again`: it was told before.

        `said` is its text, the tokens that it took, and the time.
        """
        text, tokens, now = said
        record: Record = {
            "event": "message",
            "session": session,
            "role": role,
            "outcome": outcome_name(outcome),
            "violations": [self._violation(each) for each in _told(outcome, found, late, again)],
        }
        if self.applying is not None:
            record["applied"] = self.applying("message", role)
        if self.content.chosen and self.content.has("texts", role):
            record["text"] = text
        if tokens:
            record["tokens"] = tokens
        if now is not None:
            record["time"] = now
        self._end(record, outcome, again)

    def step(
        self, session: str, atoms: Iterable[str], found: Iterable[Violation], now: float | None
    ) -> None:
        """Log a plain step, and the violations that it makes."""
        fields = {"atoms": sorted(atoms), "violations": self._plain(found)}
        self._write("step", session=session, **fields, **_at(now))

    def refused(self, session: str, call: Said, now: float | None) -> None:
        """Log a call that somebody else has refused."""
        _, tool, args, agent, _ = call
        self._write(
            "refused",
            session=session,
            tool=tool,
            agent=agent,
            **self.content.args(tool, args),
            **_at(now),
        )

    def advised(self, session: str, outcome: Outcome) -> Outcome:
        """Return the outcome; when its advice is read, the log has it, if it has advice at all."""
        if self.sink is None or not isinstance(outcome, Blocked) or not self.content.has("advice"):
            return outcome

        def explain() -> str:
            text = outcome.explain()
            self._write("advice", session=session, id=outcome.id, advice=text)
            return text

        return replace(outcome, explain=explain)

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

    def switched(self, mode: str, contracts: tuple[str, ...], by: str) -> None:
        """Log, and warn in Python's log, that contracts were switched to another mode."""
        what = ", ".join(f"`{name}`" for name in contracts)
        logging.getLogger("sponsio_like").warning("switched to %s by %s: %s", mode, by or "-", what)
        self._write("switched", mode=mode, switched=list(contracts), by=by)

    def reloaded(self, source: str) -> None:
        """Log, and say in Python's log, that contracts were loaded again; the record names them."""
        logging.getLogger("sponsio_like").info("contracts were loaded again: %s", source)
        self._write("reloaded", source=source)

    def kept(self, why: str) -> None:
        """Log that contracts could not be loaded again, and stay as they are."""
        self._write("reload_failed", message=why)

    def fact(self, session: str, key: str, value: Any, now: float | None) -> None:
        """Log that a fact was told, without its value unless that was asked for."""
        told = {"value": given_value(value)} if self.content.has("facts", key) else {}
        self._write("fact", session=session, key=key, **told, **_at(now))

    def finish(
        self,
        session: str,
        late: Iterable[Violation],
        left: Iterable[Unfulfilled],
        calls: int,
        now: float | None,
    ) -> None:
        """Log the end of a session, with the number of calls that were let through."""
        unfulfilled = [
            {"contract": each.contract, "message": each.message, **said_of(each)} for each in left
        ]
        violations = self._plain(late)
        ended = {"violations": violations, "unfulfilled": unfulfilled, "calls": calls}
        self._write("finish", session=session, **ended, **_at(now))

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
        record = {
            "contract": violation.contract,
            "position": violation.position,
            "tool": violation.tool,
            "action": violation.action,
            "mode": violation.mode,
            "message": violation.message,
            **said_of(violation),
        }
        if violation.since is not None:
            record["since"] = violation.since
        if violation.values and self.content.has("args"):
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
STOPPING = ("blocked", "custom", "held", "redirected")
"""The actions by which a call does not run as it was meant, the strictest first."""


def with_contracts(sink: Sink, contracts: Iterable[Record], source: str = "") -> Sink:
    """Return a sink that adds the contracts, and where they come from, to the first record."""
    first: Record = {"contracts": list(contracts)}
    once = iter([first | ({"source": source} if source else {})])

    def send(record: Record) -> None:
        more = next(once, None)
        sink(record if more is None else {**record, **more})

    return send


def _at(now: float | None) -> Record:
    return {} if now is None else {"time": now}


def _about(call: Call, outcome: Outcome, told: Iterable[Violation]) -> Record:
    """Return what tells this call from others, and what enforcement would have made of it."""
    found: Record = {}
    with suppress(NotCanonical, TypeError, ArithmeticError):  # numbers of an odd kind
        found["digest"] = digest(call.tool, call.args)[:16]
    stopping = [each.action for each in told if each.action in STOPPING]
    if stopping and isinstance(outcome, Allowed):
        found["would"] = min(stopping, key=STOPPING.index)
    return found


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
