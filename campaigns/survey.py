"""Reads and replays every corpus once, with contracts that look at everything.

In: the folder of corpora. Out: for each file how much there was, what was odd in it, how fast it
went, the most memory the process had taken by then, every line that could not be read, and each
exception with the trace that raised it. Real traces have tools without a name, commands that are
lists or objects, sessions without events, and arguments that are no JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from campaigns.study import replay_of
from sponsio_like.errors import TraceError
from sponsio_like.replay.replay import Replay
from sponsio_like.traces.jsonl import read_lines
from sponsio_like.traces.trace import RAW, CallEvent, Trace, trace_of

CONTRACTS = "campaigns/anything.yaml"
ODD = ("no events", "no tool name", "arguments no object", "command no text", "errors")
"""The oddities that a reader of traces has to survive, by their names in the table."""


@dataclass
class Surveyed:
    """The counts of one file."""

    name: str
    traces: int = 0
    calls: int = 0
    events: int = 0
    broken: int = 0
    not_judged: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    peak: float = 0.0
    odd: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def surveyed(folder: Path, first: int | None = None) -> list[Surveyed]:
    """Return the counts of all files of a folder, in order."""
    replay = replay_of(CONTRACTS)
    return [_file(path, replay, first) for path in sorted(folder.glob("*.jsonl.gz"))]


def _file(path: Path, replay: Replay, first: int | None) -> Surveyed:
    out = Surveyed(path.name, megabytes=_unpacked(path) / 1e6)
    started = time.process_time()
    for trace in _traces(path, out, first):
        out.traces += 1
        out.calls += trace.calls
        out.events += len(trace.events)
        out.odd.update(_odd(trace))
        try:
            judged = replay.judge(trace)
            json.dumps(judged.as_json())
        except Exception as error:
            out.failures.append(f"{trace.id}: {type(error).__name__}: {error}")
            continue
        out.broken += not judged.clean
        out.not_judged += bool(judged.not_judged)
    out.seconds = time.process_time() - started
    out.peak = peak()
    return out


def _unpacked(path: Path) -> int:
    """Return the bytes of a gzip file when unpacked, from its last four bytes."""
    with path.open("rb") as file:
        file.seek(-4, 2)
        return int.from_bytes(file.read(), "little")


def _traces(path: Path, out: Surveyed, first: int | None) -> Iterator[Trace]:
    """Yield the traces that can be read; note the others."""
    for where, value in islice(read_lines(path), first):
        try:
            yield trace_of(value, where)
        except TraceError as error:
            out.unreadable.append(str(error))


def _odd(trace: Trace) -> Iterator[str]:
    if not trace.events:
        yield "no events"
    for event in trace.events:
        if not isinstance(event, CallEvent):
            continue
        if not event.call.tool:
            yield "no tool name"
        if RAW in event.call.args:
            yield "arguments no object"
        if not isinstance(event.call.args.get("command", ""), str):
            yield "command no text"
        if event.result is not None and event.result.status == "error":
            yield "errors"


def peak() -> float:
    """Return the most memory that this process ever had, in megabytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
