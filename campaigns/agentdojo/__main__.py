"""Measures how well a small set of contracts tells attacks that succeed from other runs.

    python -m campaigns.agentdojo FOLDER             prints the tables
    python -m campaigns.agentdojo FOLDER --write     puts them into docs/agentdojo.md and .json
    python -m campaigns.agentdojo FOLDER --first 50  only the first runs of each file, to try it
    python -m campaigns.agentdojo WHOLE --whole --write   the same with whole answers

FOLDER has the files of recorded runs, WHOLE what `campaigns.agentdojo.whole` has made of them. A
run is flagged if any contract of pack.yaml is broken.
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
WHOLE = ROOT / "docs" / "agentdojo_whole.json"
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


# --- tables of whole answers, beside those of cut ones --------------------------------------------

REMADE = ("remade", "kept, another beginning", "kept, another answer before it")


def whole_tables(
    cut: Mapping[str, Mapping[str, Any]], whole: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """Return the tables of whole answers, by the name of its place."""
    out = {"whole-answers": answers_table(whole["answers"])}
    for name, found in whole["runs"].items():
        before = cut[name]
        out[f"whole-{name}"] = whole_suites_table(before["suites"], found["suites"])
        out[f"whole-{name}-contracts"] = whole_contracts_table(before, found)
    return out


def answers_table(answers: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """Return a table of how many answers were made whole, by file and suite."""
    head = ["runs", "suite", "with a cut answer", "cut answers", *REMADE]
    head += ["other answers in these runs", "made as they were recorded", "withheld by a defence"]
    rows = []
    for name, file in FILES.items():
        for suite, counts in answers[file].items():
            cut = sum(counts.get(each, 0) for each in REMADE)
            same = counts.get("equal", 0) + counts.get("order", 0)
            withheld = counts.get("withheld", 0)
            others = same + withheld + counts.get("different", 0)
            numbers = [counts["runs"], cut, *(counts.get(each, 0) for each in REMADE)]
            rows.append([name, suite, *(f"{n:,}" for n in (*numbers, others, same, withheld))])
    return markdown(head, rows)


def whole_suites_table(
    cut: Mapping[str, Mapping[str, Any]], whole: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the table of flagged runs by outcome, with what it was for cut answers."""
    head = ["suite", *(f"{each}: flagged" for each in OUTCOMES), "precision", "recall", "F1"]
    rows = []
    for suite, found in whole.items():
        before = cut[suite]
        parts = [
            f"{_then(before['flagged'][each], found['flagged'][each])} of {found['runs'][each]:,}"
            for each in OUTCOMES
        ]
        pairs = zip(
            before["against all others"].values(), found["against all others"].values(), strict=True
        )
        values = [_then(f"{old:.3f}", f"{new:.3f}") for old, new in pairs]
        rows.append([f"*{suite}*" if suite == "all" else suite, *parts, *values])
    return markdown(head, rows)


def whole_contracts_table(cut: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    """Return the table of contracts, without those that were broken in as many runs before."""
    head = ["contract", *OUTCOMES]
    rows = [
        [name, *(_then(cut["contracts"][name][each], broken[each]) for each in OUTCOMES)]
        for name, broken in whole["contracts"].items()
        if broken != cut["contracts"][name]
    ]
    return markdown(head, rows)


def _then(before: object, after: object) -> str:
    """Return both values, or one if they are equal."""
    old, new = (f"{each:,}" if isinstance(each, int) else str(each) for each in (before, after))
    return new if old == new else f"{old} → {new}"


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.agentdojo", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="the corpora: files *.jsonl.gz")
    parser.add_argument("--write", action="store_true", help="write docs/agentdojo.md and .json")
    parser.add_argument("--first", type=int, help="only so many runs of each file")
    parser.add_argument("--whole", action="store_true", help="the folder has whole answers")
    options = parser.parse_args()
    if options.write and options.first is not None:
        parser.error("--write needs all runs; leave out --first")
    if missing := [name for name in FILES.values() if not (options.folder / name).is_file()]:
        parser.error(f"`{options.folder}` has no {', '.join(missing)}")
    results: dict[str, Any] = measured(options.folder, options.first)
    if options.whole:
        answers = json.loads((options.folder / "whole.json").read_text("utf-8"))
        results = {"answers": answers, "runs": results}
        made = whole_tables(json.loads(RESULTS.read_text("utf-8")), results)
    else:
        made = tables(results)
    for name, table in made.items():
        sys.stdout.write(f"\n{name}\n\n{table}")
    if options.write:
        (WHOLE if options.whole else RESULTS).write_text(
            json.dumps(results, indent=1) + "\n", "utf-8"
        )
        PAGE.write_text(filled(PAGE.read_text("utf-8"), made), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
