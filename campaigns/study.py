"""Judges one contract file over recorded traces twice: by a replay, and by a recount without it.

In: contracts, their triggers, the recounts, and files of traces with labels. Out: for each contract
and label how many traces there were, in how many it spoke and was broken; and every disagreement.
"""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from campaigns.recount import AT_THE_END, Found, Recount, moments
from sponsio_like.contracts.loader import load
from sponsio_like.replay.replay import Replay, TraceVerdict
from sponsio_like.traces.trace import Trace, trace_of

ROOT = Path(__file__).parent.parent
Places: TypeAlias = tuple[str, str, int]
"""A trace, a contract, a position."""


@dataclass(frozen=True)
class Corpus:
    """Files of traces of one kind. `label` returns the outcome of a run; None leaves it out."""

    name: str
    files: tuple[str, ...]
    label: Callable[[Mapping[str, Any]], str | None]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """A contract file and all that it is judged on."""

    name: str
    contracts: str
    triggers: str
    recounts: Mapping[str, Recount]
    corpora: tuple[Corpus, ...]


@dataclass
class Tally:
    """The counts of one contract in the traces of one corpus, by label."""

    judged: Counter[str] = field(default_factory=Counter)
    triggered: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    recounted: Counter[str] = field(default_factory=Counter)
    """`triggered` and `broken` traces, `spoke` and `broke` positions, by the recount."""
    replayed: Counter[str] = field(default_factory=Counter)
    """The same by the replay."""


@dataclass
class Result:
    """The findings of a study in one corpus."""

    tallies: dict[str, Tally]
    traces: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    events: int = 0
    seconds: float = 0.0
    disagreements: list[str] = field(default_factory=list)
    violations: set[Places] = field(default_factory=set)


def lines(folder: Path, name: str, first: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the objects of a gzip file of JSON lines."""
    with gzip.open(folder / name, "rt", encoding="utf-8") as file:
        yield from (json.loads(line) for line in islice(file, first))


def replay_of(path: str) -> Replay:
    """Return a replay of a contract file of this repository."""
    file = load(ROOT / path)
    return Replay(file.contracts, mode=file.mode or "enforce", tools=file.inventory)


def observed(study: Study, corpus: Corpus, traces: Iterator[Mapping[str, Any]]) -> Result:
    """Return the result of all traces of a corpus, judged and recounted."""
    contracts, triggers = replay_of(study.contracts), replay_of(study.triggers)
    result = Result({name: Tally() for name in contracts.needs})
    for value in traces:
        label = corpus.label(value)
        if label is None:
            continue
        trace = trace_of(value, corpus.name)
        started = time.process_time()
        judged = contracts.judge(trace)
        result.seconds += time.process_time() - started
        result.calls += trace.calls
        result.events += len(trace.events)
        result.traces[label] += 1
        result.broken[label] += not judged.clean
        spoke = _places(triggers.judge(trace))
        _compare(result, study.recounts, trace, judged, spoke, label, value["events"])
    return result


def _places(judged: TraceVerdict) -> dict[str, set[int]]:
    """Return the positions at which each contract was broken."""
    places: dict[str, set[int]] = {}
    for each in judged.violations:
        places.setdefault(each.contract, set()).add(each.position)
    for left in judged.unfulfilled:
        places.setdefault(left.contract, set()).add(AT_THE_END)
    return places


def _compare(
    result: Result,
    recounts: Mapping[str, Recount],
    trace: Trace,
    judged: TraceVerdict,
    spoke: Mapping[str, set[int]],
    label: str,
    events: Any,
) -> None:
    happened, broke = moments(events), _places(judged)
    for name, tally in result.tallies.items():
        if name in judged.not_judged:
            continue
        engine = Found(sorted(spoke.get(name, ())), sorted(broke.get(name, ())))
        mine = recounts[name](happened)
        tally.judged[label] += 1
        tally.triggered[label] += bool(engine.triggered)
        tally.broken[label] += bool(engine.broken)
        _count(tally.replayed, engine)
        _count(tally.recounted, mine)
        if set(mine.triggered) != set(engine.triggered) or set(mine.broken) != set(engine.broken):
            result.disagreements.append(f"{trace.id}: {name}: replay {engine}, recount {mine}")
        if engine.broken and not engine.triggered:
            result.disagreements.append(f"{trace.id}: {name}: broken without its trigger")
        result.violations |= {(trace.id, name, at) for at in engine.broken}


def _count(counter: Counter[str], found: Found) -> None:
    counter["triggered"] += bool(found.triggered)
    counter["broken"] += bool(found.broken)
    counter["spoke"] += len(set(found.triggered))
    counter["broke"] += len(set(found.broken))
