"""Tells log and notices once, though a graph may decide a batch again after people were asked.

In: a session that decides a batch. Out: what it would have logged and told, in order, as `Said`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from sponsio_like.outcome import Held
from sponsio_like.session import Session


class Said(NamedTuple):
    """One record or notice.

    `asks`: the ticket that is opened; `answers`: the one that is answered.
    """

    tell: Callable[[], Any]
    asks: str = ""
    answers: str = ""


class Tape:
    """A stand-in for a session's log and its teller: it keeps what they would tell."""

    def __init__(self, session: Session) -> None:
        self._log, self._teller = session._log, session._teller  # noqa: SLF001  it stands between
        self.said: list[Said] = []

    def record(self, record: dict[str, Any]) -> None:
        """Keep a record of the log."""
        send, ticket = self._log._send, record.get("ticket", "")  # noqa: SLF001  as above
        asks, answers = (ticket, "") if record["event"] == "decision" else ("", ticket)
        self.said.append(Said(lambda: send(record), asks, answers))

    def after_decision(self, call: str, outcome: Any, late: Any, found: Any) -> None:
        """Keep what `Teller.after_decision` would tell."""
        self.reported("", late)
        self.decided(call, found, outcome)

    def decided(self, call: str, found: Any, outcome: Any) -> None:
        """Keep what `Teller.decided` would tell."""
        ticket = outcome.ticket.id if isinstance(outcome, Held) else ""
        self.said.append(Said(lambda: self._teller.decided(call, found, outcome), ticket))

    def reported(self, call: str, violations: Any) -> None:
        """Keep what `Teller.reported` would tell."""
        self.said.append(Said(lambda: self._teller.reported(call, violations)))


@contextmanager
def taped(session: Session, *, alone: bool) -> Iterator[list[Said]]:
    """Keep the session silent within the block; yield what it would have said.

    One that others use meanwhile, not `alone`, tells as it goes.
    """
    if not alone:
        yield []
        return
    log, teller, tape = session._log, session._teller, Tape(session)  # noqa: SLF001
    session._log = replace(log, sink=tape.record if log.sink else None)  # noqa: SLF001
    session._teller = tape  # type: ignore[assignment]  # noqa: SLF001
    try:
        yield tape.said
    finally:
        session._log, session._teller = log, teller  # noqa: SLF001
