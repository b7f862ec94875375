"""Counts what contracts did, from a decision log.

In: the records of a log. Out: a `Report`: what each contract stopped, or would have stopped in
observe mode, where it warned, at which tools. Nothing is kept but counts, the sessions' names, and
the calls that wait for a person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sponsio_like.contracts import KEYS
from sponsio_like.errors import TraceError
from sponsio_like.replay.bounds import upper_bound
from sponsio_like.replay.exact import Applications
from sponsio_like.terminal import NEVER_APPLIED, Styled, Table, counted, never_applied
from sponsio_like.traces import Line, lost_by

STOPPING = frozenset({"blocked", "held", "redirected", "custom"})
"""The actions by which a call does not run as it was meant."""
OF_NO_SESSION = frozenset(
    {"closed", "contracts", "dropped", "relaxed", "reload_failed", "reloaded", "switched"}
)
"""The events that no session has."""


@dataclass(slots=True)
class ContractRow:
    """The counts of one contract.

    `applied` counts the decisions it had to do with, told by the names of tools and roles; `broken`
    those of them that violated it;
    `approved` the calls that it held and that ran, since a person said yes.
    """

    applied: int = 0
    broken: int = 0
    stopped: int = 0
    approved: int = 0
    would_have_stopped: int = 0
    warned: int = 0
    reported: int = 0
    unfulfilled: int = 0
    tools: Counter[str] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    about: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the row as JSON data."""
        return {
            "applied": self.applied,
            "broken": self.broken,
            "rate": self.rate,
            "at_most": self.at_most,
            "stopped": self.stopped,
            "approved": self.approved,
            "would_have_stopped": self.would_have_stopped,
            "warned": self.warned,
            "reported": self.reported,
            "unfulfilled": self.unfulfilled,
            "sessions": len(self.sessions),
            "tools": dict(self.tools.most_common()),
            **self.about,
        }

    @property
    def rate(self) -> float | None:
        """The part of the decisions to which the contract applied that broke it, if any did."""
        return self.broken / self.applied if 0 < self.applied >= self.broken else None

    @property
    def at_most(self) -> float | None:
        """The rate that the true one does not exceed, with a confidence of 95 %."""
        return None if self.rate is None else upper_bound(self.broken, self.applied)

    @property
    def violated(self) -> bool:
        """True if the contract was ever violated."""
        return bool(self.sessions)

    @property
    def idle(self) -> bool:
        """True if the contract never had anything to do."""
        return not self.applied and not self.violated


@dataclass(slots=True)
class Report:
    """The counts of one log.

    It has the contracts that were violated; where the log names all contracts, it has all.
    """

    contracts: dict[str, ContractRow] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    relaxed: int = 0
    lost: int = 0
    """The number of records that the log has lost."""
    damaged: list[str] = field(default_factory=list)
    """The places of lines that are not JSON; they are counted among those that are lost."""
    ended: set[str] = field(default_factory=set)
    """The sessions that have an end in this log."""
    waiting: dict[tuple[str, str], list[Mapping[str, Any]]] = field(default_factory=dict)
    """The records of held calls, by session and call; they are removed when the call runs."""
    counted_by: str = ""
    """The sentence on where contracts applied, if not by the names of tools."""

    def count_again(self, found: Applications) -> None:
        """Take over where contracts applied as the sessions are played again."""
        for name in self.contracts.keys() & found.counts.keys():
            self.contracts[name].applied = found.counts[name]
        self.counted_by = found.said()

    def as_json(self) -> dict[str, Any]:
        """Return what `sponsio-like report --json` prints."""
        return {
            "sessions": len(self.sessions),
            "decisions": self.outcomes.total(),
            "outcomes": dict(self.outcomes.most_common()),
            "tools": dict(self.tools.most_common()),
            "relaxed": self.relaxed,
            "lost": self.lost,
            "without_end": len(self.sessions - self.ended),
            "contracts": [{"contract": name, **row.as_json()} for name, row in self._ranked()],
        }

    def table(self) -> Table:
        """Return a row for each contract: those that never applied, then those that stop most."""
        rows = [_cells(name, row) for name, row in self._ranked()]
        if len(rows) > 1:
            rows.append(_cells("all contracts", _sum(self.contracts.values())))
        table = Table(_COLUMNS, tuple(rows), styles=_STYLES)
        return table.without_zeros("applied", "approved", "warned", "reported late", "unfulfilled")

    def conclusion(self) -> list[str]:
        """Return the totals, in words."""
        words = ", ".join(f"{n:,} {name}" for name, n in self.outcomes.most_common())
        seen = f"{counted(len(self.sessions), 'session')}, "
        seen += counted(self.outcomes.total(), "decision")
        out = [f"{seen}: {words}" if words else seen]
        if not self.outcomes:
            out.append("nothing was decided: no call has come to a session of these guards")
        elif not any(row.violated for row in self.contracts.values()):
            out.append("no contract was violated")
        out += [_said(name, row) for name, row in self._ranked() if row.about]
        if idle := [name for name, row in self._ranked() if row.idle]:
            out.append(never_applied(idle))
        out += [self.counted_by] if self.counted_by else []
        if self.lost:
            out.append(
                f"{counted(self.lost, 'record')} of this log were lost: the numbers are too low"
            )
        if open_ones := len(self.sessions - self.ended):
            they = (
                "it goes on, or its end is" if open_ones == 1 else "they go on, or their ends are"
            )
            out.append(
                f"{counted(open_ones, 'session')} without an end in this log: {they} missing"
            )
        if self.relaxed:
            times = counted(self.relaxed, "time")
            out.append(f"enforcement was turned off by the environment {times}")
        return out

    def page(self) -> list[Styled]:
        """Return the conclusion with its styles: contracts that never applied are red."""
        never = NEVER_APPLIED
        return [(line, "bold red" if line.startswith(never) else "") for line in self.conclusion()]

    def _ranked(self) -> list[tuple[str, ContractRow]]:
        def weight(item: tuple[str, ContractRow]) -> tuple[bool, int, int, str]:
            row = item[1]
            return (not row.idle, -row.stopped - row.would_have_stopped, -row.warned, item[0])

        return sorted(self.contracts.items(), key=weight)


def report_of(lines: Iterable[Line]) -> Report:
    """Count a log. Raises `TraceError` if it is empty, or a line is no record of one."""
    report, empty = Report(), True
    for where, record in lines:
        empty = False
        if not isinstance(record.get("event"), str):
            raise TraceError(f"{where}: not a record of a decision log: it has no `event`")
        try:
            report.damaged += [where] if record.get("damaged") else []
            _count(report, record)
        except (KeyError, TypeError, AttributeError):
            kind = record["event"]
            raise TraceError(f"{where}: not a `{kind}` record of a decision log") from None
    if empty:
        raise TraceError(
            "the decision log is empty: no guard has written to it; give the file that "
            "Guard(log=..) names"
        )
    return report


def _count(report: Report, record: Mapping[str, Any]) -> None:
    event = record["event"]
    session = str(record.get("session", ""))
    for each in record.get("contracts", ()):
        report.contracts.setdefault(each["contract"], ContractRow())
    if event == "relaxed":
        report.relaxed += 1
    report.lost += lost_by(record)
    if event in OF_NO_SESSION:
        return
    report.sessions.add(session)
    if event == "finish":
        report.ended.add(session)
    if event == "decision" or (event == "message" and record.get("role") == "assistant"):
        report.outcomes[record["outcome"]] += 1
    if event == "decision":
        report.tools[record["tool"]] += 1
    if not record.get("again"):
        call = session, str(record.get("id", ""))
        for earlier in report.waiting.pop(call, []) if _runs(record) else ():
            _told(report, earlier, -1)
        if record.get("outcome") == "held":
            report.waiting.setdefault(call, []).append(record)
    _told(report, record, 1)
    for violation in record.get("violations", ()):
        row = report.contracts[violation["contract"]]
        row.sessions.add(session)
        row.about = {key: violation[key] for key in KEYS if key in violation}
    for left in record.get("unfulfilled", ()):
        row = report.contracts.setdefault(left["contract"], ContractRow())
        row.sessions.add(session)
        row.unfulfilled += 1
        row.about = {key: left[key] for key in KEYS if key in left}


def _runs(record: Mapping[str, Any]) -> bool:
    """True if a call, or its substitute, runs after this decision."""
    return record.get("outcome") in ("allowed", "redirected")


def _told(report: Report, record: Mapping[str, Any], times: int) -> None:
    """Add a record to the counts of the contracts; `times` is -1 to take back what is told anew."""
    if not record.get("again"):
        for name in record.get("applied", ()):
            report.contracts.setdefault(name, ContractRow()).applied += times
    found = record.get("violations", ())
    for violation in found:
        row = report.contracts.setdefault(violation["contract"], ContractRow())
        _violated(row, violation, times, runs=_runs(record))
    if record["event"] in ("decision", "message") and not record.get("again"):
        for name in {each["contract"] for each in found}:
            report.contracts[name].broken += times


def _violated(row: ContractRow, violation: Mapping[str, Any], times: int, *, runs: bool) -> None:
    action, tool = violation["action"], violation.get("tool")
    row.tools["(no call)" if tool is None else tool] += times
    if action == "reported":
        row.reported += times
    elif action not in STOPPING:
        row.warned += times
    elif violation["mode"] == "observe":
        row.would_have_stopped += times
    elif runs and action == "held":
        row.approved += times
    else:
        row.stopped += times


def _said(name: str, row: ContractRow) -> str:
    """Return what the contract says about itself, in one line."""
    about = dict(row.about)
    because = about.pop("because", "")
    tags = [f"tags {', '.join(about.pop('tags'))}"] if "tags" in about else []
    rest = ", ".join([*(f"{key} {value}" for key, value in about.items()), *tags])
    return f"{name}: {because or rest}" + (f" ({rest})" if because and rest else "")


def _sum(rows: Iterable[ContractRow]) -> ContractRow:
    total = ContractRow()
    for row in rows:
        total.applied += row.applied
        total.broken += row.broken
        total.stopped += row.stopped
        total.approved += row.approved
        total.would_have_stopped += row.would_have_stopped
        total.warned += row.warned
        total.reported += row.reported
        total.unfulfilled += row.unfulfilled
        total.sessions |= row.sessions
    return total


_STYLES = {"broken": "red", "stopped": "bold red", "would have stopped": "yellow"}
_COLUMNS = (
    "contract", "applied", "broken", "at most", "stopped", "approved", "would have stopped",
    "warned", "reported late", "unfulfilled", "sessions", "tools",
)  # fmt: skip


def _percent(part: float) -> str:
    """Return a part of all in words, with two digits: `0.012 %`, `5.3 %`, `100 %`."""
    return f"{100 * part:.2g} %" if part < 0.995 else "100 %"


def _cells(name: str, row: ContractRow) -> tuple[str | int, ...]:
    tools = ", ".join(f"{tool} {n:,}" for tool, n in row.tools.most_common())
    return (
        name,
        row.applied,
        row.broken,
        "" if row.at_most is None else _percent(row.at_most),
        row.stopped,
        row.approved,
        row.would_have_stopped,
        row.warned,
        row.reported,
        row.unfulfilled,
        len(row.sessions),
        tools,
    )
