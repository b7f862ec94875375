"""Makes the tables of docs/corpora.md about the catalog.

In: what the studies found, and the inputs that the traces have. Out: Markdown tables by the name of
their place in the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from campaigns.catalog.offers import INPUTS, NONE, REFUSALS, VALUES, Offer
from campaigns.pages import markdown, triggers
from campaigns.study import ROOT, Result, Study, Tally
from sponsio_like.contracts.declaration import catalog, find_pattern
from sponsio_like.contracts.loader import load

Results = Mapping[str, Sequence[Result]]


def patterns(path: str) -> dict[str, str]:
    """Return the pattern of each contract's guarantee, by the contract's name."""
    return {each.name: each.rules[0].pattern for each in load(ROOT / path).contracts}


def contracts_table(study: Study) -> str:
    """Return a table of contracts: name, pattern, trigger."""
    named = patterns(study.contracts)
    rows = [
        (name, f"`{named[name]}`", f"`{text}`".replace("|", "\\|"))
        for name, text in triggers(study.triggers).items()
    ]
    return markdown(("contract", "pattern", "trigger"), rows)


def catalog_table(studies: Sequence[Study], results: Results, offers: Sequence[Offer]) -> str:
    """Return a table of every pattern: its contracts, and the counts over all corpora together."""
    tallies = _by_pattern(studies, results)
    wrong = _wrong(studies, results)
    unseen = set(patterns(NONE).values())
    rows: list[Sequence[object]] = []
    for each in catalog():
        found = tallies.get(each.name, {})
        row: list[object] = [each.family, f"`{each.name}`"]
        if found:
            row += [len(found), *_numbers(found), "**no**" if each.name in wrong else "yes"]
        elif each.name in unseen:
            traces = sum(offer.unseen[each.name].total() for offer in offers)
            row += ["", "", "", "", f"not judged in {traces:,} traces"]
        elif each.name in REFUSALS:
            row += ["", "", "", "", "no trace has a refused call"]
        else:
            row += ["", "", "", "", "see [values](values-measured.md)"]
        rows.append(row + [""] * (7 - len(row)))
    head = ("family", "pattern", "contracts", "triggered", "kept", "broken", "recount agrees")
    return markdown(head, rows)


def _by_pattern(studies: Sequence[Study], results: Results) -> dict[str, dict[str, list[Tally]]]:
    """Return the tallies in each corpus, by pattern and by contract."""
    out: dict[str, dict[str, list[Tally]]] = {}
    for study in studies:
        for name, pattern in patterns(study.contracts).items():
            found = [result.tallies[name] for result in results[study.name]]
            out.setdefault(pattern, {})[name] = found
    return out


def _numbers(found: Mapping[str, Sequence[Tally]]) -> tuple[str, str, str]:
    every = [tally for tallies in found.values() for tally in tallies]
    triggered = sum(tally.triggered.total() for tally in every)
    broken = sum(tally.broken.total() for tally in every)
    return f"{triggered:,}", f"{triggered - broken:,}", f"{broken:,}"


def _wrong(studies: Sequence[Study], results: Results) -> set[str]:
    """Return the patterns on which replay and recount disagree."""
    return {
        pattern
        for study in studies
        for name, pattern in patterns(study.contracts).items()
        for result in results[study.name]
        if any(f": {name}: " in line for line in result.disagreements)
    }


def missing(studies: Sequence[Study], offers: Sequence[Offer]) -> list[str]:
    """Return the patterns without a contract and a reason here, and reasons that no longer hold."""
    files = [*(study.contracts for study in studies), NONE, VALUES]
    named = {pattern for path in files for pattern in patterns(path).values()} | REFUSALS
    if any(offer.has["refused"] for offer in offers):
        named -= REFUSALS
    out = [f"{each.name}: no contract" for each in catalog() if each.name not in named]
    judged = {name for offer in offers for name in offer.judged}
    return out + [f"{name}: there is a trace that can be judged by it" for name in sorted(judged)]


def offers_table(offers: Iterable[Offer]) -> str:
    """Return a table of the number of traces of each file that have an input."""
    rows, total = [], Offer("*all*")
    for each in offers:
        rows.append(_offered(each))
        total.traces += each.traces
        total.has.update(each.has)
    return markdown(("file", "traces", *INPUTS), [*rows, _offered(total)])


def _offered(offer: Offer) -> list[str]:
    return [offer.name, f"{offer.traces:,}", *(f"{offer.has[name]:,}" for name in INPUTS)]


def unseen_table(offers: Sequence[Offer]) -> str:
    """Return a table of the patterns that no trace can show, with the inputs that each needs."""
    rows = []
    for name, pattern in patterns(NONE).items():
        lacks = [(need, n) for offer in offers for need, n in offer.unseen[pattern].items()]
        needs = ", ".join(sorted({f"`{need}`" for need, _ in lacks}))
        total = f"{sum(n for _, n in lacks):,}"
        rows.append((find_pattern(pattern).family, f"`{pattern}`", name, needs, total))
    return markdown(("family", "pattern", "contract", "needs", "traces not judged"), rows)
