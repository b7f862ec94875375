"""Replays contracts of every pattern of the catalog over the corpora, and counts without the
engine.

    python -m campaigns.catalog FOLDER             shows every table, and all that does not agree
    python -m campaigns.catalog FOLDER --write     puts the tables into docs/corpora.md
    python -m campaigns.catalog FOLDER --first 50  only the first traces of each file, to try it

Status 1 if replay and recount disagree anywhere, if a pattern has no contract, or if a contract is
never broken or never kept in any trace.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from campaigns.catalog import pages
from campaigns.catalog.offers import Offer, offered
from campaigns.catalog.studies import STUDIES
from campaigns.corpora import PAGE
from campaigns.pages import filled, found_table, never, recount_table
from campaigns.study import Corpus, Result, lines, observed

Results = dict[str, list[Result]]


def studied(folder: Path, first: int | None) -> Results:
    """Return the results of all contract files over all their corpora."""

    def traces(corpus: Corpus) -> Iterator[Mapping[str, Any]]:
        for name in corpus.files:
            yield from lines(folder, name, first)

    return {
        study.name: [observed(study, corpus, traces(corpus)) for corpus in study.corpora]
        for study in STUDIES
    }


def tables(results: Results, offers: Sequence[Offer]) -> dict[str, str]:
    """Return every table, by the name of its place."""
    out = {
        "catalog": pages.catalog_table(STUDIES, results, offers),
        "catalog-offers": pages.offers_table(offers),
        "catalog-unseen": pages.unseen_table(offers),
    }
    for study in STUDIES:
        out[f"{study.name}-contracts"] = pages.contracts_table(study)
        out[f"{study.name}-recount"] = recount_table(study, results[study.name])
        for corpus, result in zip(study.corpora, results[study.name], strict=True):
            out[corpus.name] = found_table(corpus, result)
    return out


def mistakes(results: Results, offers: Sequence[Offer], *, everything: bool) -> list[str]:
    """Return all findings that should not be."""
    out = [line for found in results.values() for each in found for line in each.disagreements]
    out += pages.missing(STUDIES, offers)
    if everything:
        out += [
            f"{name}: never broken or never kept: {how}" for name, how in never(STUDIES, results)
        ]
    return out


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.catalog", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="the corpora: files *.jsonl.gz")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/corpora.md")
    parser.add_argument("--first", type=int, help="only so many traces of each file")
    options = parser.parse_args()
    if options.write and options.first is not None:
        parser.error("--write needs all traces; leave out --first")
    needed = {name for study in STUDIES for corpus in study.corpora for name in corpus.files}
    if absent := [name for name in sorted(needed) if not (options.folder / name).is_file()]:
        parser.error(f"`{options.folder}` has no {', '.join(absent)}")
    offers = offered(options.folder, options.first)
    results = studied(options.folder, options.first)
    wrong = mistakes(results, offers, everything=options.first is None)
    made = tables(results, offers)
    for name, table in made.items():
        sys.stdout.write(f"\n{name}\n\n{table}")
    sys.stdout.write("\n" + "".join(f"wrong: {line}\n" for line in wrong))
    sys.stdout.write(f"{len(wrong)} mistakes\n")
    if options.write:
        PAGE.write_text(filled(PAGE.read_text("utf-8"), made), "utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
