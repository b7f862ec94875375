"""Every corpus read and replayed once, with contracts that look at everything.

In: the folder of corpora. Out: for each file how much there was, how fast it went, and each
exception with the trace that raised it. Real traces have tools without a name, commands that are
lists or objects, sessions without events, and arguments that are no JSON.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from campaigns.study import replay_of
from sponsio_like.replay import Replay
from sponsio_like.trace import read_traces

CONTRACTS = "campaigns/anything.yaml"


@dataclass
class Surveyed:
    """What became of one file."""

    name: str
    traces: int = 0
    calls: int = 0
    events: int = 0
    broken: int = 0
    not_judged: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)


def surveyed(folder: Path, first: int | None = None) -> list[Surveyed]:
    """All files of a folder, in order."""
    replay = replay_of(CONTRACTS)
    return [_file(path, replay, first) for path in sorted(folder.glob("*.jsonl.gz"))]


def _file(path: Path, replay: Replay, first: int | None) -> Surveyed:
    out = Surveyed(path.name)
    started = time.process_time()
    for trace in islice(read_traces(path), first):
        out.traces += 1
        out.calls += trace.calls
        out.events += len(trace.events)
        try:
            judged = replay.judge(trace)
            json.dumps(judged.as_json())
        except Exception as error:
            out.failures.append(f"{trace.id}: {type(error).__name__}: {error}")
            continue
        out.broken += not judged.clean
        out.not_judged += bool(judged.not_judged)
    out.seconds = time.process_time() - started
    return out
