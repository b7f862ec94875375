"""Counts the decisions to which contracts applied, by playing the sessions of a log again.

In: the records of a log, and a contract file. Out: `Applications`. What ran, and messages that
passed, are played; a call that was refused is looked at where it was refused. A decision that broke
a contract counts in any case. Where the log does not show it, the names of tools are counted, as
without a contract file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sponsio_like.contracts import fingerprint
from sponsio_like.replay.applied import Applied, AppliedTo
from sponsio_like.replay.replay import Replay
from sponsio_like.terminal import counted
from sponsio_like.traces import Line, Trace, logged_traces

BY_NAMES = (
    "where a contract applied is counted by the names of tools; with --contracts FILE the sessions "
    "are played again"
)


class _Decided(NamedTuple):
    """A decision: the id of its call, the contracts that name its tool, and those that
    it violated.
    """

    id: str
    named: frozenset[str]
    broke: frozenset[str]


@dataclass(slots=True)
class _SessionDecisions:
    """The decisions of a session. `ours` are the contracts that were the same then as
    in the file now.
    """

    ours: frozenset[str]
    decided: dict[int, _Decided] = field(default_factory=dict)
    held: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    seen: int = 0

    def note(self, record: Mapping[str, Any]) -> None:
        """Add the decision of a record. One that lets a held call run replaces the
        decision to hold it.
        """
        event, outcome = record["event"], record.get("outcome")
        if record.get("again") or event not in ("decision", "message"):
            return
        id, runs = str(record.get("id", "")), outcome in ("allowed", "redirected")
        for earlier in self.held.pop(id, ()) if runs else ():
            del self.decided[earlier]
        self.seen += 1
        if outcome == "held":
            self.held[id].append(self.seen)
        broke = {each["contract"] for each in record.get("violations", ())}
        passed = event == "message" and runs  # then it is played
        self.decided[self.seen] = _Decided(
            id, frozenset(record.get("applied", ())), frozenset(() if passed else broke)
        )


@dataclass(slots=True)
class Applications:
    """The number of decisions to which each contract of a file applied; `source` is its name.

    `by_name` has the sessions that are counted by the names of tools, `lacks` what the log would
    have to show of them, `other` the contracts that had another form in the log.
    """

    source: str
    counts: Counter[str] = field(default_factory=Counter)
    by_name: set[str] = field(default_factory=set)
    lacks: set[str] = field(default_factory=set)
    other: set[str] = field(default_factory=set)

    def said(self) -> str:
        """Return the sentence that says how it was counted."""
        told = f"where a contract applied is seen by playing the sessions again under {self.source}"
        if self.by_name:
            why = f"the log lacks {', '.join(sorted(self.lacks))}"
            told += f"; in {counted(len(self.by_name), 'session')} by names of tools alone: {why}"
        if self.other:
            names = ", ".join(f"`{name}`" for name in sorted(self.other))
            told += f"; {names} had another form in the log, and is counted by names of tools"
        return told


def applications(lines: Iterable[Line], replay: Replay, source: str) -> Applications:
    """Count where contracts applied. Raises `TraceError` for a line that is no record of a log."""
    found, known = Applications(source), dict[str, _SessionDecisions]()
    found.counts.update(dict.fromkeys(replay.needs, 0))
    for trace in logged_traces(_noted(lines, replay, known, found)):
        session = known.pop(trace.id)
        missing = replay.missing(trace)
        if lacks := set().union(*(missing[name] for name in missing if name in session.ours)):
            found.by_name.add(trace.id)
            found.lacks |= lacks
        shown = session.ours - missing.keys()
        for each in session.decided.values():
            found.counts.update((each.named - shown | each.broke) & replay.needs.keys())
        found.counts.update(_played(trace, replay, session, shown))
    return found


def _played(
    trace: Trace, replay: Replay, session: _SessionDecisions, shown: frozenset[str]
) -> Iterator[str]:
    """Yield the name of a contract for each decision to which it applied and that did
    not violate it.
    """
    broke = defaultdict[str, set[str]](set)
    for each in session.decided.values():
        broke[each.id] |= each.broke if each.id else frozenset()
    told: AppliedTo = []
    applied = Applied(*replay.ready(trace), told)
    for event in trace.events:
        applied.see(event)
    applied.end()
    for id, names in told:
        yield from (name for name in names if name in shown and name not in broke[id])


def _noted(
    lines: Iterable[Line], replay: Replay, known: dict[str, _SessionDecisions], found: Applications
) -> Iterator[Line]:
    """Yield the lines, and add each decision to its session in `known`."""
    marks = {each.name: fingerprint(each) for each in replay.contracts}
    ours = frozenset(marks)
    for line in lines:
        record = line.value
        if "contracts" in record:
            forms = {each["contract"]: each.get("hash") for each in record["contracts"]}
            ours = frozenset(name for name in marks if forms.get(name) in (None, marks[name]))
            found.other |= marks.keys() - ours
        session = record.get("session")
        if isinstance(session, str) and isinstance(record.get("event"), str):
            known.setdefault(session, _SessionDecisions(ours)).note(record)
        yield line
