"""Makes the tables of docs/corpora.md.

In: what the studies and the survey found. Out: Markdown tables, each with the name of its place in
the page: `<!-- table: NAME -->`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import get_args

from campaigns.checked import CHECKED, REASONS, Checked, Judgement
from campaigns.recount import AT_THE_END
from campaigns.study import ROOT, Corpus, Result, Study
from campaigns.survey import ODD, Surveyed
from sponsio_like.contracts.loader import load
from sponsio_like.logic.formula import Always, Not

PLACE = re.compile(r"(<!-- table: (\S+) -->\n)(?:.*?)(<!-- /table -->)", re.DOTALL)


def filled(page: str, tables: Mapping[str, str]) -> str:
    """Return the page with each table in its place; other places stay as they are.

    Raises `KeyError` if a table has no place.
    """
    if homeless := tables.keys() - {place[2] for place in PLACE.finditer(page)}:
        raise KeyError(f"no place for {', '.join(sorted(homeless))}")

    def put(place: re.Match[str]) -> str:
        table = tables.get(place[2])
        return place[0] if table is None else f"{place[1]}\n{table}\n{place[3]}"

    return PLACE.sub(put, page)


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    every = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in every)


@cache
def triggers(path: str) -> dict[str, str]:
    """Return the trigger of each contract as text: what stands under `G !` in the file."""
    out = {}
    for contract in load(ROOT / path).contracts:
        match contract.rules[0].formula:
            case Always(Not(body)):
                out[contract.name] = repr(body)
            case other:
                raise ValueError(f"{path}: `{contract.name}` is `{other!r}`, not `G !..`")
    return out


def trigger_table(study: Study) -> str:
    """Return a table of contracts and their triggers."""
    rows = [
        (name, f"`{text}`".replace("|", "\\|")) for name, text in triggers(study.triggers).items()
    ]
    return markdown(("contract", "trigger"), rows)


def found_table(corpus: Corpus, result: Result) -> str:
    """Return a table of the traces judged, triggered, kept and broken, for each contract.

    Also how many of the triggered ones were broken, by label.
    """
    labels = [label for label in corpus.labels if result.traces[label]]
    head = ["contract", "judged", "triggered", "kept", "broken"]
    head += [f"{label} ({result.traces[label]:,})" for label in labels]
    rows: list[list[object]] = []
    for name, tally in result.tallies.items():
        triggered, broken = tally.triggered.total(), tally.broken.total()
        numbers = (tally.judged.total(), triggered, triggered - broken, broken)
        cells = [f"{each:,}" for each in numbers]
        parts = [_part(tally.broken[label], tally.triggered[label]) for label in labels]
        rows.append(
            [name, *cells, *parts]
            if tally.judged
            else [name, "not judged", *[""] * (3 + len(labels))]
        )
    total = ["*any of them*", f"{result.traces.total():,}", "", "", f"{result.broken.total():,}"]
    rows.append([*total, *(_part(result.broken[label], result.traces[label]) for label in labels)])
    return markdown(head, rows)


def _part(broken: int, triggered: int) -> str:
    return f"{broken:,} of {triggered:,}" if triggered else ""


def recount_table(study: Study, results: Sequence[Result]) -> str:
    """Return a table of replay and recount beside each other, over all traces of a study."""
    head = ("contract", "triggered: traces", "positions", "broken: traces", "positions", "agree")
    rows = []
    for name in triggers(study.triggers):
        cells = []
        for what in ("triggered", "spoke", "broken", "broke"):
            ours = sum(result.tallies[name].replayed[what] for result in results)
            theirs = sum(result.tallies[name].recounted[what] for result in results)
            cells.append((ours, theirs))
        wrong = any(f": {name}: " in line for result in results for line in result.disagreements)
        shown = [f"{ours:,} / {theirs:,}" for ours, theirs in cells]
        rows.append((name, *shown, "**no**" if wrong else "yes"))
    return markdown(head, rows)


def never_table(studies: Sequence[Study], results: Mapping[str, Sequence[Result]]) -> str:
    """Return a table of contracts never broken, or never kept where triggered, with reasons."""
    rows = [(*row, REASONS.get(row[0], "")) for row in never(studies, results)]
    return markdown(("contract", "in all traces", "why"), rows)


def never(
    studies: Sequence[Study], results: Mapping[str, Sequence[Result]]
) -> Iterator[tuple[str, str]]:
    """Yield each contract that was never broken, or never kept where triggered, and how often."""
    for study in studies:
        for name in triggers(study.triggers):
            tallies = [result.tallies[name] for result in results[study.name]]
            triggered = sum(tally.triggered.total() for tally in tallies)
            broken = sum(tally.broken.total() for tally in tallies)
            if broken in {0, triggered}:
                yield name, f"{broken:,} of {triggered:,} broken"


def checked_table(rows: Sequence[Checked] = CHECKED) -> str:
    """Return a table of the violations that a person read, and the number of each judgement."""
    shown = [
        (
            row.contract,
            f"`{row.trace}`, {_position(row.at)}",
            f"`{row.call}`",
            f"**{row.judgement}**. {row.why}",
        )
        for row in rows
    ]
    counts = Counter(row.judgement for row in rows)
    summary = ", ".join(f"{counts[each]} {each}" for each in get_args(Judgement))
    head = ("contract", "where", "the essential call", "judgement")
    return f"{len(rows)} violations: {summary}.\n\n{markdown(head, shown)}"


def _position(at: int) -> str:
    return "at the end" if at == AT_THE_END else f"call {at}"


def speed_table(results: Mapping[str, Sequence[Result]], studies: Sequence[Study]) -> str:
    """Return a table of the speed of the replays."""
    rows = []
    for study in studies:
        for corpus, result in zip(study.corpora, results[study.name], strict=True):
            seen = (len(result.tallies), result.traces.total(), result.calls, result.events)
            speeds = (_speed(result.calls, result.seconds), _speed(result.events, result.seconds))
            rows.append((corpus.name, *(f"{each:,}" for each in seen), *speeds))
    head = ("corpus", "contracts", "traces", "calls", "events", "calls per second", "events")
    return markdown(head, rows)


def _speed(number: int, seconds: float) -> str:
    return f"{number / max(seconds, 1e-9):,.0f}"


def survey_table(files: Iterable[Surveyed]) -> str:
    """Return a table of the counts of every file under the contracts that look at everything."""
    rows, total = [], Surveyed("*all*")
    for each in files:
        rows.append(_surveyed(each))
        total.traces += each.traces
        total.calls += each.calls
        total.events += each.events
        total.broken += each.broken
        total.seconds += each.seconds
        total.megabytes += each.megabytes
        total.peak = max(total.peak, each.peak)
        total.unreadable += each.unreadable
        total.failures += each.failures
    head = ["file", "traces", "calls", "events", "broken", "unreadable lines", "exceptions"]
    head += ["calls per second", "MB unpacked", "peak memory so far, MB"]
    return markdown(head, [*rows, _surveyed(total)])


def _surveyed(file: Surveyed) -> tuple[object, ...]:
    return (
        file.name,
        f"{file.traces:,}",
        f"{file.calls:,}",
        f"{file.events:,}",
        f"{file.broken:,}",
        len(file.unreadable),
        len(file.failures),
        _speed(file.calls, file.seconds),
        f"{file.megabytes:.1f}",
        f"{file.peak:.0f}",
    )


def odd_table(files: Iterable[Surveyed]) -> str:
    """Return a table of what is odd in the files, and was survived."""
    rows = [(each.name, *(f"{each.odd[name]:,}" for name in ODD)) for each in files]
    return markdown(("file", *ODD), rows)
