"""Weighs whether a contract that only observes may be enforced, from decision logs.

In: the records of logs, what people have said of its violations, and what is asked for. Out:
`Evidence`: the sessions in which it applied, those in which it would have stopped honest work, the
bound on their rate, and what is missing. A violation counts as honest work until a person has said
that it is right to stop it; so does a record that the log has lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sponsio_like.replay.bounds import needed, upper_bound
from sponsio_like.replay.report import STOPPING
from sponsio_like.terminal import counted
from sponsio_like.traces import Line

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """The evidence that is asked for: sessions, and the rate of false stops with its confidence."""

    sessions: int = 50
    at_most: float = 0.05
    confidence: float = 0.95


@dataclass(slots=True)
class Evidence:
    """The records of one contract in logs, in the form in which it stands in the file now.

    `sessions` are those in which it applied, `stops` the calls that it would have stopped, `false`
    the sessions with one that nobody has called right; `other` the sessions under another form of
    it; `lost` the records that the log says it has lost: each may have told of a false stop.
    """

    contract: str
    sessions: set[str] = field(default_factory=set)
    stops: int = 0
    unseen: int = 0
    false: set[str] = field(default_factory=set)
    other: int = 0
    lost: int = 0
    first: float = math.inf
    last: float = -math.inf

    @property
    def doubtful(self) -> int:
        """The most sessions that may have had a false stop: a lost record counts as one."""
        return min(len(self.false) + self.lost, len(self.sessions))

    def bound(self, wanted: Wanted) -> float:
        """Return the rate of sessions with a false stop that the true one does not exceed."""
        return upper_bound(self.doubtful, len(self.sessions), wanted.confidence)

    def missing(self, wanted: Wanted) -> Iterator[str]:
        """Yield what is missing until the contract may be enforced; nothing if it may."""
        seen = len(self.sessions)
        if not seen:
            yield "it never applied: a contract that has nothing to do is no evidence"
            if self.other:
                yield f"{counted(self.other, 'session')} had another form of this contract"
            return
        enough = max(wanted.sessions, needed(self.doubtful, wanted.at_most, wanted.confidence))
        bound = self.bound(wanted)
        if bound > wanted.at_most:
            yield (
                f"false stops in up to {100 * bound:.3g} % of sessions ({self.doubtful} of "
                f"{seen:,}, with {100 * wanted.confidence:g} % confidence); at most "
                f"{100 * wanted.at_most:g} % are asked for"
            )
        if self.unseen:
            yield (
                f"{counted(self.unseen, 'violation')} nobody has called right or wrong, which "
                "count as false stops: run `sponsio-like review`"
            )
        if self.lost and bound > wanted.at_most:
            yield (
                f"the log has lost {counted(self.lost, 'record')}, and each counts as a false "
                "stop: give logs without such gaps"
            )
        if seen < enough:
            yield f"{seen:,} of {enough:,} sessions in which it applied{self._soon(enough)}"

    def _soon(self, enough: int) -> str:
        days = (self.last - self.first) / DAY
        if not days > 0:
            return ""
        left = (enough - len(self.sessions)) * days / len(self.sessions)
        return f"; at the rate of this log that takes {left:,.1f} more days"


def evidence_of(
    lines: Iterable[Line], contract: str, mark: str, labels: Mapping[str, str]
) -> Evidence:
    """Read the evidence on a contract, whose hash is `mark`, from logs.

    `labels` has what people have said of violations (`label_of`): `right`, `wrong` or `unsure`.
    """
    found, ours = Evidence(contract), True
    for _, record in lines:
        found.lost += record["records"] if record.get("event") == "dropped" else 0
        for each in record.get("contracts", ()):
            if each["contract"] == contract:
                ours = each.get("hash") in (None, mark)
        if contract not in record.get("applied", ()) or record.get("again"):
            continue
        session = str(record.get("session"))
        if not ours:
            found.other += session not in found.sessions
            continue
        found.sessions.add(session)
        _timed(found, record)
        for violation in record.get("violations", ()):
            if violation["contract"] == contract and violation["action"] in STOPPING:
                said = labels.get(label_of(record, violation))
                found.stops += 1
                found.unseen += said is None
                if said != "right":
                    found.false.add(session)
    return found


def label_of(record: Mapping[str, Any], violation: Mapping[str, Any]) -> str:
    """Return the name of a violation, by which what people say of it is kept."""
    parts = (violation["contract"], record.get("session", ""), record.get("id", ""))
    return "\n".join([*map(str, parts), str(violation["position"])])


def _timed(found: Evidence, record: Mapping[str, Any]) -> None:
    try:
        time = datetime.fromisoformat(str(record.get("timestamp"))).timestamp()
    except ValueError:
        return
    found.first, found.last = min(found.first, time), max(found.last, time)
