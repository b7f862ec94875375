"""Hold the engine against z3 on recorded runs: `python -m tests.reference.smt_corpora DIR`.

In: a folder of traces, files `*.jsonl.gz`, and the statements of
`tests/reference/smt_policies.yaml`. Out: for each statement how many traces were judged, explained
(all but those with too many values) and violated, how many conditions are refuted, and every
disagreement. Exit status 1 if there is one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from tests.reference.smt import judged
from tests.reference.smt_compared import compared
from tests.reference.smt_engine import engine_witnesses
from tests.reference.smt_reading import Statement, statement
from tests.reference.smt_values import Event

POLICIES = Path(__file__).with_name("smt_policies.yaml")
MOST = 3
"""So many disagreements on one statement are shown."""


@dataclass
class Row:
    """What came of one statement."""

    name: str
    mapping: Mapping[str, Any]
    over: str
    traces: int = 0
    blamed: int = 0
    spoken: int = 0
    violated: int = 0
    events: int = 0
    conditions: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)

    @property
    def read(self) -> Statement:
        """The statement."""
        return statement(self.mapping)


def rows() -> list[Row]:
    """The statements, and nothing counted yet."""
    listed = yaml.safe_load(POLICIES.read_text("utf-8"))
    return [Row(each["name"], each["statement"], each["over"]) for each in listed]


def traces(path: Path, every: int, first: int | None) -> Iterator[tuple[str, list[Event]]]:
    """Each trace of a file: its id, and its events; one out of so many."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, first, every):
            trace = json.loads(line)
            yield trace["id"], [event for event in trace["events"] if is_judged(event)]


def is_judged(event: Event) -> bool:
    """A call or a message; nothing else counts."""
    return event.get("type", "call") in ("call", "message")


def ask(row: Row, read: Statement, id: str, events: Sequence[Event]) -> None:
    """Ask both about one trace. A trace without an event that is judged is kept; so says z3."""
    row.traces += 1
    pattern = read.judged()
    assert pattern is not None
    row.spoken += any(map(pattern.names_it, events))
    said = engine_witnesses(row.mapping, events)
    row.blamed += bool(said.blamed)
    started = time.process_time()
    verdict = judged(row.mapping, events, lean=True)
    row.seconds += time.process_time() - started
    row.violated += verdict.violated
    row.events += len({number for number, _ in verdict.witnesses})
    row.conditions += len(verdict.witnesses)
    row.wrong += [f"{id}: {each}" for each in compared(read, events, said, verdict)]


def table(done: Sequence[Row]) -> Iterator[str]:
    """A line for each statement."""
    yield "  traces explained spoken of violated  events  values     ms"
    for row in done:
        pace = 1_000 * row.seconds / max(1, row.traces)
        yield (
            f"{row.traces:>8,} {row.blamed:>9,} {row.spoken:>9,} {row.violated:>8,}"
            f" {row.events:>7,} {row.conditions:>7,} {pace:>6.1f}  {row.name}"
            + (f": {len(row.wrong)} DISAGREE" if row.wrong else "")
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.reference.smt_corpora", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="the corpora: files *.jsonl.gz")
    parser.add_argument("--every", type=int, default=1, help="one trace out of so many")
    parser.add_argument("--first", type=int, help="only the first lines of each file")
    parser.add_argument("--files", default="", help="only files whose names have this in them")
    options = parser.parse_args(arguments)
    done = rows()
    for path in sorted(options.folder.glob("*.jsonl.gz")):
        meant = [(r, r.read) for r in done if path.name.startswith(r.over)]
        if not meant or options.files not in path.name:
            continue
        print(f"{path.name} ...", file=sys.stderr, flush=True)
        for id, events in traces(path, options.every, options.first):
            for row, read in meant:
                ask(row, read, id, events)
    print("\n".join(table(done)))
    for row in done:
        print("".join(f"wrong: {row.name}: {each}\n" for each in row.wrong[:MOST]), end="")
    wrong = sum(len(row.wrong) for row in done)
    print(f"{sum(row.traces for row in done):,} pairs, {wrong} disagree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
