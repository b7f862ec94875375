"""Measures how well a small set of contracts tells attacks that succeed from other runs.

    python -m campaigns.agentdojo FOLDER             prints the tables
    python -m campaigns.agentdojo FOLDER --write     puts them into docs/agentdojo.md and .json
    python -m campaigns.agentdojo FOLDER --first 50  only the first runs of each file, to try it

FOLDER has the files of recorded runs. A run is flagged if any contract of pack.yaml is broken.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from campaigns.agentdojo.runs import OUTCOMES, Counts, Measures, counted, judged, measures
from campaigns.pages import filled, markdown
from campaigns.study import ROOT, lines, replay_of

PACK = "campaigns/agentdojo/pack.yaml"
PAGE = ROOT / "docs" / "agentdojo.md"
RESULTS = ROOT / "docs" / "agentdojo.json"
FILES = {
    "tuned-on": "agentdojo_runs_other_models.jsonl.gz",
    "held-out": "agentdojo_runs_gpt4o.jsonl.gz",
    "other-attacks": "agentdojo_runs_gpt4o_other_attacks.jsonl.gz",
}

PUBLISHED = (
    ("Vigil", "629", "298", "35", "89.5", "99.3", "94.2"),
    ("a model as judge (claude-opus-4-6)", "629", "297", "34", "89.7", "99.0", "94.1"),
    ("AgentSpec", "629", "290", "41", "87.6", "96.7", "91.9"),
    ("Progent", "629", "285", "49", "85.3", "95.0", "89.9"),
)
"""What the paper on Vigil reports of the published runs of gpt-4o-2024-05-13, in its table 1."""


def measured(folder: Path, first: int | None) -> dict[str, dict[str, Any]]:
    """Return the counts over each file, as JSON."""
    replay = replay_of(PACK)
    out = {}
    for name, file in FILES.items():
        counts = counted(judged(replay, lines(folder, file, first)))
        out[name] = {
            "file": file,
            "suites": {suite: _suite(each) for suite, each in counts.items()},
            "contracts": {
                contract: _by_outcome(counts["all"].by.get(contract, {}))
                for contract in replay.needs
            },
        }
    return out


def _suite(counts: Counts) -> dict[str, Any]:
    return {
        "runs": _by_outcome(counts.runs),
        "flagged": _by_outcome(counts.flagged),
        "against all others": _rounded(measures(counts, OUTCOMES[1:])),
        "against failed attacks": _rounded(measures(counts, OUTCOMES[1:2])),
        "against no attack": _rounded(measures(counts, OUTCOMES[2:])),
    }


def _by_outcome(counter: Mapping[Any, int]) -> dict[str, int]:
    return {outcome: counter.get(outcome, 0) for outcome in OUTCOMES}


def _rounded(found: Measures) -> dict[str, float]:
    return {name: round(value, 4) for name, value in found._asdict().items()}


# --- tables ---------------------------------------------------------------------------------------


def tables(results: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return every table, by the name of its place."""
    out = {}
    for name, found in results.items():
        out[name] = suites_table(found["suites"])
        out[f"{name}-contracts"] = contracts_table(found)
    return out | {"attacked": attacked_table(results["held-out"]["suites"]["all"])}


def attacked_table(found: Mapping[str, Any]) -> str:
    """Return a table of the runs with an attack alone, beside what others have published."""
    runs, flagged = found["runs"], found["flagged"]
    right, wrong = (flagged[each] for each in OUTCOMES[:2])
    values = [f"{value * 100:.1f}" for value in found["against failed attacks"].values()]
    count = runs[OUTCOMES[0]] + runs[OUTCOMES[1]]
    mine = ["this pack", f"{count:,}", str(right), str(wrong), *values]
    head = ["system", "runs", "attacks that succeeded, flagged", "others, flagged"]
    rows = [mine, *(list(each) for each in PUBLISHED)]
    return markdown([*head, "precision", "recall", "F1"], rows)


def suites_table(suites: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a table of flagged runs by outcome, with precision, recall and F1, by suite."""
    head = ["suite", *(f"{each}: flagged" for each in OUTCOMES)]
    head += ["precision", "recall", "F1", "the same without failed attacks"]
    rows = []
    for suite, found in suites.items():
        parts = [f"{found['flagged'][each]:,} of {found['runs'][each]:,}" for each in OUTCOMES]
        alone = " / ".join(f"{value:.3f}" for value in found["against no attack"].values())
        values = [f"{value:.3f}" for value in found["against all others"].values()]
        rows.append([f"*{suite}*" if suite == "all" else suite, *parts, *values, alone])
    return markdown(head, rows)


def contracts_table(found: Mapping[str, Any]) -> str:
    """Return a table of the number of runs in which each contract was broken, by outcome."""
    runs = found["suites"]["all"]["runs"]
    head = ["contract", *(f"{each} ({runs[each]:,})" for each in OUTCOMES)]
    rows = [
        [name, *(f"{broken[each]:,}" for each in OUTCOMES)]
        for name, broken in found["contracts"].items()
    ]
    return markdown(head, rows)


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.agentdojo", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="the corpora: files *.jsonl.gz")
    parser.add_argument("--write", action="store_true", help="write docs/agentdojo.md and .json")
    parser.add_argument("--first", type=int, help="only so many runs of each file")
    options = parser.parse_args()
    if options.write and options.first is not None:
        parser.error("--write needs all runs; leave out --first")
    if missing := [name for name in FILES.values() if not (options.folder / name).is_file()]:
        parser.error(f"`{options.folder}` has no {', '.join(missing)}")
    results = measured(options.folder, options.first)
    made = tables(results)
    for name, table in made.items():
        sys.stdout.write(f"\n{name}\n\n{table}")
    if options.write:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
        PAGE.write_text(filled(PAGE.read_text("utf-8"), made), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
