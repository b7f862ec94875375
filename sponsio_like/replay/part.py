"""Takes a part of a decision log: since a time, of a contract, an agent or a session.

In: records. Out: those that are asked for; and one session record by record, for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sponsio_like.errors import TraceError
from sponsio_like.replay.report import Report
from sponsio_like.terminal import Styled
from sponsio_like.traces import Line


@dataclass(frozen=True, slots=True)
class LogPart:
    """The part of a log that is asked for; None: all of it. Raises `TraceError` for no time."""

    since: str | None = None
    contract: str | None = None
    agent: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        if self.since is None:
            return
        try:
            moment = datetime.fromisoformat(self.since)
        except ValueError:
            raise TraceError(f"`{self.since}` is no time; write 2026-11-23T08:00") from None
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
        object.__setattr__(self, "since", moment.isoformat())

    def of(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Yield the records of this part, and those that name contracts."""
        for line in lines:
            if self._has(line.value):
                yield line
            elif "contracts" in line.value:
                named = {"event": "contracts", "contracts": line.value["contracts"]}
                yield Line(line.where, named)

    def _has(self, record: Mapping[str, Any]) -> bool:
        since, agent = self.since or "", self.agent
        return (
            str(record.get("timestamp", since)) >= since
            and self.session in (None, record.get("session"))
            and (agent is None or record.get("agent", agent) == agent)
        )

    def of_report(self, report: Report) -> Report:
        """Return the report with the contract that is asked for alone."""
        if self.contract is not None:
            row = report.contracts.get(self.contract)
            if row is None:
                raise TraceError(f"no contract `{self.contract}` is in this log")
            report.contracts = {self.contract: row}
        return report


def session_page(lines: Iterable[Line], session: str) -> Iterator[Styled]:
    """Yield the records of a session, a line each. Raises `TraceError` if there are none."""
    empty = True
    for _, record in lines:
        if record.get("session") == session:
            empty = False
            yield from _told(record)
    if empty:
        raise TraceError(f"no session `{session}` is in this log")


def _told(record: dict[str, Any]) -> Iterator[Styled]:
    at = str(record.get("timestamp", ""))[11:19]
    name = record.get("tool") or record.get("role") or record.get("key") or ""
    became = record.get("outcome") or record.get("status") or ""
    would = f" (would be {record['would']})" if "would" in record else ""
    args = f" {record['args']}" if "args" in record else ""
    style = "bold red" if became in ("blocked", "held", "error") else ""
    yield f"{at}  {record.get('event')}  {name}{args}  {became}{would}".rstrip(), style
    for each in record.get("violations", ()):
        yield f"          {each['contract']}: {each['action']}: {each['message']}", ""
    for each in record.get("unfulfilled", ()):
        yield f"          {each['contract']}: left open: {each['message']}", ""
    if advice := record.get("advice"):
        yield f"          told: {advice}", "dim"
