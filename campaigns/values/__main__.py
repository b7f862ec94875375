"""Replays twelve rules about values over recorded runs, and counts the same without the engine.

    python -m campaigns.values FOLDER             prints the tables, and all that does not agree
    python -m campaigns.values FOLDER --write     puts them into docs/values-measured.md and .json
    python -m campaigns.values FOLDER --first 50  only the first traces of each file, to try it

FOLDER has the files of recorded runs. Status 1 if replay and independent count disagree anywhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from campaigns.pages import filled, markdown
from campaigns.study import ROOT, lines, replay_of
from campaigns.values.judging import compared

CONTRACTS = "campaigns/values/contracts.yaml"
PAGE = ROOT / "docs" / "values-measured.md"
RESULTS = ROOT / "docs" / "values-measured.json"
CORPORA: Mapping[str, tuple[str, ...]] = {
    "tau airline": ("tau_airline_gpt4o.jsonl.gz",),
    "tau shop": ("tau_retail_agentverify.jsonl.gz",),
    "tau reference": ("tau_reference.jsonl.gz",),
    "ODCV": ("odcv.jsonl.gz",),
    "AgentDojo runs": (
        "agentdojo_runs_gpt4o.jsonl.gz",
        "agentdojo_runs_gpt4o_other_attacks.jsonl.gz",
        "agentdojo_runs_other_models.jsonl.gz",
    ),
    "AgentDojo constructed": ("agentdojo_attacked.jsonl.gz", "agentdojo_benign.jsonl.gz"),
}


def measured(folder: Path, first: int | None) -> dict[str, Any]:
    """Return the findings in each corpus, as JSON."""
    replay = replay_of(CONTRACTS)
    out = {}
    for name, files in CORPORA.items():
        result = compared(replay, chain(*(lines(folder, file, first) for file in files)))
        out[name] = asdict(result)
    return out


# --- tables ---------------------------------------------------------------------------------------


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Return every table, by the name of its place."""
    return {"values": found_table(results), "values-agree": agreement_table(results)}


def found_table(results: Mapping[str, Any]) -> str:
    """Return a table of the traces in which each contract was broken, by corpus."""
    head = ["contract", *(f"{name} ({found['traces']:,})" for name, found in results.items())]
    rows = []
    for contract in _contracts(results):
        tallies = [found["tallies"][contract] for found in results.values()]
        rows.append([contract, *map(_part, tallies)])
    return markdown(head, rows)


def _part(tally: Mapping[str, int]) -> str:
    if not tally["judged"]:
        return "not judged"
    return f"{tally['broken']:,} of {tally['spoke']:,}" if tally["spoke"] else ""


def agreement_table(results: Mapping[str, Any]) -> str:
    """Return a table of replay and independent count beside each other, over all corpora."""
    rows = []
    for contract in _contracts(results):
        tallies = [found["tallies"][contract] for found in results.values()]
        sums = {key: sum(tally[key] for tally in tallies) for key in tallies[0]}
        lines_ = [line for found in results.values() for line in found["disagreements"]]
        wrong = sum(f": {contract}: " in line for line in lines_)
        cells = (
            f"{sums['replayed']:,} / {sums['broken']:,}",
            f"{sums['replayed_positions']:,} / {sums['positions']:,}",
        )
        rows.append(
            (contract, f"{sums['judged']:,}", *cells, f"**no: {wrong}**" if wrong else "yes")
        )
    return markdown(("contract", "judged", "broken: traces", "positions", "agree"), rows)


def _contracts(results: Mapping[str, Any]) -> list[str]:
    return list(next(iter(results.values()))["tallies"])


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.values", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="the corpora: files *.jsonl.gz")
    parser.add_argument("--write", action="store_true", help="write docs/values-measured.*")
    parser.add_argument("--first", type=int, help="only so many traces of each file")
    options = parser.parse_args()
    if options.write and options.first is not None:
        parser.error("--write needs all traces; leave out --first")
    needed = chain(*CORPORA.values())
    if missing := [name for name in needed if not (options.folder / name).is_file()]:
        parser.error(f"`{options.folder}` has no {', '.join(missing)}")
    results = measured(options.folder, options.first)
    made = tables(results)
    for name, table in made.items():
        sys.stdout.write(f"\n{name}\n\n{table}")
    wrong = [line for found in results.values() for line in found["disagreements"]]
    sys.stdout.write("\n" + "".join(f"wrong: {line}\n" for line in wrong))
    sys.stdout.write(f"{len(wrong)} disagreements\n")
    if options.write:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
        PAGE.write_text(filled(PAGE.read_text("utf-8"), made), "utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
