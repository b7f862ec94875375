"""Chooses the traces of tests/project/values_excerpt.jsonl: few, short, each rule broken and kept.

    python -m campaigns.values.excerpt FOLDER

In: the corpora. Out: recorded runs, each with its source and licence, that show together every rule
broken in one and kept in another where it spoke, as far as short runs do.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from campaigns.excerpt import FIELDS, chosen
from campaigns.recount import moments
from campaigns.study import ROOT, lines
from campaigns.values.__main__ import CORPORA
from campaigns.values.independent import RECOUNTS
from campaigns.values.judging import as_events

EXCERPT = ROOT / "tests" / "project" / "values_excerpt.jsonl"
LONGEST = 16_000
"""The most characters of a line in the excerpt."""


def shown(value: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Return the rules that the run breaks, and those that it keeps where they spoke."""
    happened = moments(as_events(value)["events"])
    found = {name: recount(happened) for name, recount in RECOUNTS.items()}
    return frozenset(
        (name, "broken" if each.broken else "kept")
        for name, each in found.items()
        if each.broken or each.triggered
    )


def main() -> None:
    """Write the excerpt."""
    candidates = {}
    for file in chain(*CORPORA.values()):
        for value in lines(Path(sys.argv[1]), file):
            line = json.dumps({key: value[key] for key in FIELDS if key in value})
            if len(line) <= LONGEST and any("role" in each for each in as_events(value)["events"]):
                candidates[value["id"]] = (shown(value), line)
    found = chosen(candidates)
    EXCERPT.write_text("".join(line + "\n" for line in sorted(found)), "utf-8")
    sys.stdout.write(f"{len(found)} traces, {EXCERPT.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
