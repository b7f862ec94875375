"""Chooses the traces of examples/*_excerpt.jsonl: few, short, and each contract broken and kept.

    python -m campaigns.excerpt FOLDER

In: the corpora. Out: for each example contract file the recorded runs that show, together, every
contract broken in one and kept in another where it spoke, as far as the first corpora have such.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from campaigns.corpora import STUDIES
from campaigns.study import ROOT, Study, lines, replay_of
from sponsio_like.traces.trace import trace_of

FILES = {
    "agentdojo": ("agentdojo_runs_gpt4o.jsonl.gz", "agentdojo_runs_other_models.jsonl.gz"),
    "tau": ("tau_airline_gpt4o.jsonl.gz",),
}
FIELDS = ("id", "source", "licence", "suite", "label", "user_task", "events")
LONGEST = 12_000
"""The most characters of a line in an excerpt."""

Shown = frozenset[tuple[str, str]]


def shown(study: Study, folder: Path) -> dict[str, tuple[Shown, str]]:
    """Return for each trace what it shows of which contract, and its line."""
    contracts, triggers = replay_of(study.contracts), replay_of(study.triggers)
    out = {}
    for name in FILES[study.name]:
        for value in lines(folder, name):
            line = _line(value)
            if len(line) > LONGEST:
                continue
            trace = trace_of(value)
            judged = contracts.judge(trace)
            broken = {each.contract for each in judged.violations}
            broken |= {each.contract for each in judged.unfulfilled}
            spoke = {each.contract for each in triggers.judge(trace).violations}
            parts = {(each, "broken") for each in broken} | {(e, "kept") for e in spoke - broken}
            out[trace.id] = (frozenset(parts), line)
    return out


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps({key: value[key] for key in FIELDS if key in value}, ensure_ascii=False)


def chosen(candidates: Mapping[str, tuple[Shown, str]]) -> list[str]:
    """Return lines that together show all that the candidates do.

    The line that shows most for its length comes first.
    """
    left = frozenset[tuple[str, str]]().union(*(parts for parts, _ in candidates.values()))
    out: list[str] = []
    while left:
        parts, line = max(
            candidates.values(), key=lambda each: (len(each[0] & left) ** 2 / len(each[1]), each[1])
        )
        out.append(line)
        left -= parts
    return out


def main() -> None:
    """Write the excerpts."""
    for study in STUDIES:
        found = chosen(shown(study, Path(sys.argv[1])))
        path = (ROOT / study.contracts).with_name(f"{Path(study.contracts).stem}_excerpt.jsonl")
        path.write_text("".join(line + "\n" for line in sorted(found)), "utf-8")
        sys.stdout.write(f"{path.name}: {len(found)} traces, {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
