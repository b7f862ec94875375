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
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from sponsio_like.contracts import said_of
from sponsio_like.engine import Finding
from sponsio_like.errors import STRAIN
from sponsio_like.event_types import Entry, EntrySink, Frame, Record, Sink, record_of
from sponsio_like.events import Call, Ticket
from sponsio_like.outcome import Allowed, Blocked, Held, Outcome, Redirected, Unfulfilled, Violation
from sponsio_like.session.content import NOTHING, Content
from sponsio_like.session.gate import CallFields
from sponsio_like.values import NotCanonical, digest, given_value

Moment: TypeAlias = tuple[str, float, int, float | None]
"""A session, when its decision began, how many calls were let through before, and the time of the
session; None where its clock is that of the machine, which the timestamp has.
"""
NO_FIELDS: Record = {}
"""The further fields of a record that has none; nobody adds to it."""
Applying: TypeAlias = Callable[[Literal["call", "message"], str], tuple[str, ...]]


class Standing:
    """A block that says what came of a decision or a result: that stands, whatever fails in it."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Report an exception, and go on."""
        if not isinstance(error, Exception):
            return False
        untold(error)
        return True


KEEPS_DECISION = Standing()
"""The block that all sessions share: it has no state."""


def untold(error: Exception) -> None:
    """Write to the library's logger that a decision or a result could not be told."""
    with suppress(*STRAIN):
        logger = logging.getLogger("sponsio_like")
        logger.error("a decision could not be told", exc_info=error)


class Outlet:
    """A sink that hands records on, the first one with more fields.

    `enter` takes entries; after the first one, they go to `then`.
    """

    __slots__ = ("_first", "_sink", "_then", "enter")

    def __init__(self, sink: Sink, then: EntrySink, first: Record) -> None:
        self._sink, self._then, self._first = sink, then, iter([first])
        self.enter: EntrySink = self._begin

    def __call__(self, record: Record) -> None:
        """Hand on a record."""
        more = next(self._first, None)
        self._sink(record if more is None else {**record, **more})

    def _begin(self, entry: Entry) -> None:
        self(record_of(entry))
        self.enter = self._then


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
    frames: dict[tuple[str, str | bool], Frame] = field(
        default_factory=dict, repr=False, compare=False
    )

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
        frame = self._of_decisions(call.tool, call.agent, outcome_name(outcome))
        record = record_of(self._decided(at, said, frame))
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

    def passed(self, at: Moment, call: CallFields, risk: Record | None = None) -> None:
        """Log the decision on a call that violates no contract."""
        if self.reads is not None and not self.reads():
            return
        key = call[1], call[3]
        frame = self.frames.get(key) or self._kept(key, self._of_decisions(*key, "allowed"))
        entry = self._decided(at, call, frame)
        self._send(entry if risk is None else (*entry[:4], entry[4] | {"risk": risk}))

    def _decided(self, at: Moment, call: CallFields, frame: Frame) -> Entry:
        """Return the entry of a decision."""
        (session, started, position, now), (id, tool, args, _, depth) = at, call
        more = NO_FIELDS
        if self.content.chosen or depth or now is not None:
            more = self.content.args(tool, args) | ({"depth": depth} if depth else {}) | _at(now)
        return frame, session, id, (position, (time.perf_counter() - started) * 1e6), more

    def _of_decisions(self, tool: str, agent: str, outcome: str) -> Frame:
        """Return the frame of the decisions with this outcome on calls of a tool by an agent."""
        applied = {} if self.applying is None else {"applied": self.applying("call", tool)}
        first = {"tool": tool, "agent": agent, "outcome": outcome}
        return Frame("decision", first, applied)

    def _kept(self, key: tuple[str, str | bool], frame: Frame) -> Frame:
        """Return the frame, which is kept for further calls."""
        if len(self.frames) >= FRAMES_CAP:
            self.frames.clear()
        self.frames[key] = frame
        return frame

    def settlement(
        self,
        session: str,
        id: str,
        landed: tuple[str, tuple[Violation, ...]],
        result: tuple[Any, Any],
        now: float | None = None,
    ) -> None:
        """Log the result of a call, output and error, and the violations that it reveals."""
        tool, revealed = landed
        if not revealed:
            self.settled(session, id, tool, result, now)
        elif self.sink is not None:
            record = record_of(self._landed(session, id, tool, result, now))
            self._send(record | {"violations": self._plain(revealed)})

    def settled(
        self, session: str, id: str, tool: str, result: tuple[Any, Any], now: float | None
    ) -> None:
        """Log the result of a call that reveals no violation, or report that it cannot be told."""
        try:
            if self.sink is not None and (self.reads is None or self.reads()):
                self._send(self._landed(session, id, tool, result, now))
        except Exception as error:  # the result stands
            untold(error)

    def _landed(
        self, session: str, id: str, tool: str, result: tuple[Any, Any], now: float | None
    ) -> Entry:
        """Return the entry of a result."""
        (output, error), more = result, NO_FIELDS
        key = tool, error is None
        frame = self.frames.get(key)
        if frame is None:
            about = {"tool": tool, "status": "ok" if error is None else "error"}
            frame = self._kept(key, Frame("settlement", about))
        if self.content.chosen and self.content.has("outputs", tool):
            more = {"output": given_value(output if error is None else error)}
        return frame, session, id, None, more if now is None else more | {"time": now}

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

    def refused(self, session: str, call: CallFields, now: float | None) -> None:
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

    def _send(self, told: Record | Entry) -> None:
        """Hand a record to the sink; or an entry, for a record that the sink may not need."""
        sink: Any = self.sink
        try:
            if type(told) is tuple:
                if type(sink) is Outlet:
                    sink.enter(told)
                else:
                    sink(record_of(told))
            elif sink is not None:
                sink(told)
        except Exception:  # a sink is user code; the decision stands
            logging.getLogger("sponsio_like").exception("the decision log's sink failed")


SILENT = Log()
FRAMES_CAP = 1_000
"""The most frames that a log keeps: the names of tools may be made up."""
STOPPING = ("blocked", "custom", "held", "redirected")
"""The actions by which a call does not run as it was meant, the strictest first."""


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
