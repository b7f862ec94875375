"""Judges the twelve rules over recorded runs twice: by a replay, and by the independent count.

In: objects of trace files. Out: for each contract in how many traces it spoke, and was broken, and
every trace in which the two do not agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from campaigns.agentdojo.runs import with_request
from campaigns.recount import AT_THE_END, moments
from campaigns.values.independent import RECOUNTS
from sponsio_like.replay.replay import Replay, TraceVerdict
from sponsio_like.traces.trace import trace_of


@dataclass
class Tally:
    """The counts of one contract.

    `spoke` and `broken` count traces, `positions` the positions at which it was broken.
    """

    judged: int = 0
    spoke: int = 0
    broken: int = 0
    positions: int = 0
    replayed: int = 0
    """Traces in which the replay found it broken."""
    replayed_positions: int = 0


@dataclass
class Result:
    """The findings in one corpus."""

    traces: int = 0
    calls: int = 0
    tallies: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in RECOUNTS})
    disagreements: list[str] = field(default_factory=list)


def as_events(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the trace; the runs of AgentDojo get the user's request as their first message."""
    return with_request(value) if value["id"].startswith("agentdojo") else value


def compared(replay: Replay, values: Iterable[Mapping[str, Any]]) -> Result:
    """Return the result of all traces, judged by both."""
    result = Result()
    for value in values:
        full = as_events(value)
        trace = trace_of(full)
        result.traces += 1
        result.calls += trace.calls
        _compare(result, replay.judge(trace), full["events"])
    return result


def _compare(result: Result, judged: TraceVerdict, events: Any) -> None:
    happened, places = moments(events), _places(judged)
    for name, recount in RECOUNTS.items():
        if name in judged.not_judged:
            continue
        tally, found, theirs = result.tallies[name], recount(happened), places.get(name, set())
        mine = set(found.broken)
        tally.judged += 1
        tally.spoke += bool(found.triggered)
        tally.broken += bool(mine)
        tally.positions += len(mine)
        tally.replayed += bool(theirs)
        tally.replayed_positions += len(theirs)
        if mine != theirs:
            said = f"replay {sorted(theirs)}, independent {sorted(mine)}"
            result.disagreements.append(f"{judged.id}: {name}: {said}")


def _places(judged: TraceVerdict) -> dict[str, set[int]]:
    """Return the positions at which each contract was broken."""
    places: dict[str, set[int]] = {}
    for each in judged.violations:
        places.setdefault(each.contract, set()).add(each.position)
    for left in judged.unfulfilled:
        places.setdefault(left.contract, set()).add(AT_THE_END)
    return places
