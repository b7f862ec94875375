"""Weighs whether a contract that only observes may be enforced, from decision logs.

In: the records of logs, what people have said of its violations, and what is asked for. Out:
`Evidence`: the sessions in which it applied, those in which it would have stopped honest work, the
bound on their rate, and what is missing. A record names the contracts that have to do with the tool
of a call; whether one applied there is seen by playing the session again. A violation counts as
honest work until a person has said that it is right to stop it; so does a record that the log has
lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sponsio_like.errors import TraceError
from sponsio_like.replay.bounds import needed, upper_bound
from sponsio_like.replay.replay import Replay
from sponsio_like.replay.report import STOPPING
from sponsio_like.terminal import counted
from sponsio_like.traces import CUT, Line, Trace, lost_by

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """The evidence that a promotion needs: sessions, and the highest rate of false stops."""

    sessions: int = 50
    at_most: float = 0.05
    confidence: float = 0.95


@dataclass(slots=True)
class Evidence:
    """The records of one contract in logs, in the form in which it stands in the file now.

    `sessions` are those in which it applied, `stops` the calls that it would have stopped, `false`
    the sessions with one that nobody has called right; `other` the sessions under another form of
    it; `lost` the records that the log says it has lost: each may have told of a false stop; `idle`
    the sessions with a call of its tools to which it did not apply; `blind` those of which the log
    does not show it, and `lacks` what it would have to show; `ended` those with their end.
    """

    contract: str
    sessions: set[str] = field(default_factory=set)
    stops: int = 0
    unseen: int = 0
    false: set[str] = field(default_factory=set)
    other: int = 0
    lost: int = 0
    idle: int = 0
    blind: set[str] = field(default_factory=set)
    lacks: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    first: float = math.inf
    last: float = -math.inf

    @property
    def doubtful(self) -> int:
        """The most sessions that may have had a false stop: a lost record counts as one."""
        return min(len(self.false) + self.lost, len(self.sessions))

    def open_sessions(self) -> str:
        """Return the sentence on the sessions without an end in the logs; empty if all have one."""
        n = len(self.sessions - self.ended)
        if not n:
            return ""
        verb = "has" if n == 1 else "have"
        return (
            f"{counted(n, 'session')} of {len(self.sessions):,} {verb} no end in these logs: a "
            "false stop may have come after what was read"
        )

    def bound(self, wanted: Wanted) -> float:
        """Return the upper confidence bound of the rate of sessions with a false stop."""
        return upper_bound(self.doubtful, len(self.sessions), wanted.confidence)

    def missing(self, wanted: Wanted) -> Iterator[str]:
        """Yield what is missing until the contract may be enforced; nothing if it may."""
        seen = len(self.sessions)
        if not seen:
            yield "it never applied: a contract that has nothing to do is no evidence"
            if self.other:
                yield f"{counted(self.other, 'session')} had another form of this contract"
            if self.idle:
                yield (
                    f"{counted(self.idle, 'session')} had calls of its tools, to which it did not "
                    "apply"
                )
            yield from self._unseen()
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
            yield from self._unseen()
            yield f"{seen:,} of {enough:,} sessions in which it applied{self._soon(enough)}"

    def _unseen(self) -> Iterator[str]:
        if self.blind:
            yield (
                f"{counted(len(self.blind), 'session')} do not show if it applied: the log lacks "
                f"{', '.join(sorted(self.lacks))}; log that (`log_content=`), or count them by the "
                "names of tools alone (`--by-name`)"
            )

    def confirm(self, traces: Iterable[Trace], replay: Replay, *, by_name: bool) -> None:
        """Remove the sessions to which the contract does not apply when they are played again.

        One that cannot be judged stays with `by_name`, and where records are lost, which count as
        false stops. A session with a violation always stays.
        """
        shown, idle = set[str](), set[str]()
        for trace in traces:
            if trace.id not in self.sessions:
                continue
            judged = replay.judge(trace)
            lacks = judged.not_judged.get(self.contract, frozenset()) - set(CUT)
            if lacks and not by_name:
                self.blind.add(trace.id)
                self.lacks |= lacks
            elif self.contract in judged.not_judged or judged.applied.get(self.contract):
                shown.add(trace.id)
            else:
                idle.add(trace.id)
        self.blind -= shown | self.false
        self.idle = len(idle - shown - self.blind - self.false)
        self.sessions -= (self.blind | idle) - shown - self.false

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
    found, ours, forms = Evidence(contract), True, dict[str, bool]()
    for where, record in lines:
        try:
            found.lost += lost_by(record)
            for each in record.get("contracts", ()):
                if each["contract"] == contract:
                    ours = each.get("hash") in (None, mark)
            form = forms.setdefault(str(record.get("session")), ours)  # it keeps what it began with
            if contract in record.get("applied", ()) and not record.get("again"):
                _weigh(found, record, labels, ours=form)
            if record.get("event") == "finish":
                del forms[str(record.get("session"))]
                found.ended.add(str(record.get("session")))
        except (KeyError, TypeError, AttributeError):
            kind = record.get("event")
            raise TraceError(f"{where}: not a `{kind}` record of a decision log") from None
    return found


def _weigh(
    found: Evidence, record: Mapping[str, Any], labels: Mapping[str, str], *, ours: bool
) -> None:
    """Count a record of a decision to which the contract applied."""
    session = str(record.get("session"))
    if not ours:
        found.other += session not in found.sessions
        return
    found.sessions.add(session)
    _timed(found, record)
    for violation in record.get("violations", ()):
        if violation["contract"] == found.contract and violation["action"] in STOPPING:
            said = labels.get(label_of(record, violation))
            found.stops += 1
            found.unseen += said is None
            if said != "right":
                found.false.add(session)


def label_of(record: Mapping[str, Any], violation: Mapping[str, Any]) -> str:
    """Return the text that identifies a violation in the file of labels."""
    parts = (violation["contract"], record.get("session", ""), record.get("id", ""))
    return "\n".join([*map(str, parts), str(violation["position"])])


def _timed(found: Evidence, record: Mapping[str, Any]) -> None:
    try:
        time = datetime.fromisoformat(str(record.get("timestamp"))).timestamp()
    except ValueError:
        return
    found.first, found.last = min(found.first, time), max(found.last, time)
