"""Replays the example contracts over the corpora of recorded runs, and counts again without the
engine.

    python -m campaigns.corpora FOLDER            shows every table, and all that does not agree
    python -m campaigns.corpora FOLDER --write    puts the tables into docs/corpora.md
    python -m campaigns.corpora FOLDER --first 50 only the first traces of each file, to try it

Status 1 if replay and recount disagree anywhere, a replay raises, or a violation that was checked
by hand is no longer found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from campaigns import pages, recount_agentdojo, recount_tau
from campaigns.checked import CHECKED, REASONS
from campaigns.study import ROOT, Corpus, Result, Study, lines, observed
from campaigns.survey import Surveyed, surveyed

PAGE = ROOT / "docs" / "corpora.md"


def _recorded(value: Mapping[str, Any]) -> str:
    match value["label"]:
        case {"kind": "benign"}:
            return "no attack"
        case {"kind": "injection_task_asked_directly"}:
            return "asked for"
        case {"attack_succeeded": True}:
            return "attack succeeded"
        case {"attack_succeeded": False}:
            return "attack failed"
    return "no verdict"


def _constructed(value: Mapping[str, Any]) -> str:
    match value["label"]:
        case {"kind": "benign"}:
            return "no attack"
        case {"violating": True}:
            return "attack carried out"
    return "attack ignored"


def _rewarded(value: Mapping[str, Any]) -> str:
    return "reward 1" if value["label"]["reward"] == 1 else "reward 0"


def _airline(value: Mapping[str, Any]) -> str | None:
    return "reference" if "airline" in value["id"] else None


RUNS = ("attack succeeded", "attack failed", "no verdict", "no attack", "asked for")
STUDIES = (
    Study(
        "agentdojo",
        "examples/agentdojo.yaml",
        "campaigns/agentdojo_triggers.yaml",
        recount_agentdojo.RECOUNTS,
        (
            Corpus("agentdojo-gpt4o", ("agentdojo_runs_gpt4o.jsonl.gz",), _recorded, RUNS),
            Corpus(
                "agentdojo-others",
                (
                    "agentdojo_runs_gpt4o_other_attacks.jsonl.gz",
                    "agentdojo_runs_other_models.jsonl.gz",
                ),
                _recorded,
                RUNS,
            ),
            Corpus(
                "agentdojo-constructed",
                ("agentdojo_attacked.jsonl.gz", "agentdojo_benign.jsonl.gz"),
                _constructed,
                ("attack carried out", "attack ignored", "no attack"),
            ),
        ),
    ),
    Study(
        "tau",
        "examples/tau_airline.yaml",
        "campaigns/tau_airline_triggers.yaml",
        recount_tau.RECOUNTS,
        (
            Corpus(
                "tau-airline-gpt4o",
                ("tau_airline_gpt4o.jsonl.gz",),
                _rewarded,
                ("reward 1", "reward 0"),
            ),
            Corpus("tau-airline-reference", ("tau_reference.jsonl.gz",), _airline, ("reference",)),
        ),
    ),
)
Results = dict[str, list[Result]]


def studied(folder: Path, first: int | None) -> Results:
    """Return the results of all studies over all their corpora."""

    def traces(corpus: Corpus) -> Iterator[Mapping[str, Any]]:
        for name in corpus.files:
            yield from lines(folder, name, first)

    return {
        study.name: [observed(study, corpus, traces(corpus)) for corpus in study.corpora]
        for study in STUDIES
    }


def tables(results: Results, files: Sequence[Surveyed]) -> dict[str, str]:
    """Return every table, by the name of its place."""
    out = {"checked": pages.checked_table(), "survey": pages.survey_table(files)}
    out["odd"] = pages.odd_table(files)
    out["never"] = pages.never_table(STUDIES, results)
    out["speed"] = pages.speed_table(results, STUDIES)
    for study in STUDIES:
        out[f"{study.name}-triggers"] = pages.trigger_table(study)
        out[f"{study.name}-recount"] = pages.recount_table(study, results[study.name])
        for corpus, result in zip(study.corpora, results[study.name], strict=True):
            out[corpus.name] = pages.found_table(corpus, result)
    return out


def mistakes(results: Results, files: Sequence[Surveyed], *, everything: bool) -> list[str]:
    """Return all findings that should not be."""
    every = [result for found in results.values() for result in found]
    out = [line for result in every for line in result.disagreements]
    out += [line for each in files for line in (*each.failures, *each.unreadable)]
    if everything:
        seen = set[tuple[str, str, int]]().union(*(result.violations for result in every))
        gone = [row for row in CHECKED if (row.trace, row.contract, row.at) not in seen]
        out += [f"{row.trace}: {row.contract}: not found at {row.at}" for row in gone]
        found = [name for name, _ in pages.never(STUDIES, results)]
        out += [f"{name}: never broken or never kept: why?" for name in {*found} ^ {*REASONS}]
    return out


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.corpora", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="the corpora: files *.jsonl.gz")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/corpora.md")
    parser.add_argument("--first", type=int, help="only so many traces of each file")
    options = parser.parse_args()
    if options.write and options.first is not None:
        parser.error("--write needs all traces; leave out --first")
    needed = {name for study in STUDIES for corpus in study.corpora for name in corpus.files}
    if missing := [name for name in sorted(needed) if not (options.folder / name).is_file()]:
        parser.error(f"`{options.folder}` has no {', '.join(missing)}")
    files = surveyed(options.folder, options.first)
    results = studied(options.folder, options.first)
    wrong = mistakes(results, files, everything=options.first is None)
    made = tables(results, files)
    for name, table in made.items():
        sys.stdout.write(f"\n{name}\n\n{table}")
    sys.stdout.write("\n" + "".join(f"wrong: {line}\n" for line in wrong))
    sys.stdout.write(f"{len(wrong)} mistakes\n")
    if options.write:
        PAGE.write_text(pages.filled(PAGE.read_text("utf-8"), made), "utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
