"""The made parts of docs/adapters/: the table of scenarios, and that of behaviours.

In: the scenarios and the behaviours, with what adapters declare; the tests hold both against runs.
Out: Markdown. `python -m tests.project.pages --write` puts it into the docs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.adapters.apps import ADAPTERS as WAYS
from tests.adapters.behaviours import BEHAVIOURS
from tests.adapters.harness import Adapter
from tests.adapters.matrix import ADAPTERS
from tests.adapters.scenarios import GROUPS, Scenario
from tests.reference.trace_tables import PLACE

HEAD = """\
# What every adapter does

This page is made from the tests in `tests/adapters/`, by `python -m tests.project.pages --write`.
Each row is one test, which is run with every adapter, sync and async. *Shown*: the adapter does it.
A number: its framework cannot, for the reason below; that this is still so is a test as well.

The adapters: `@guard.tool` on plain functions; an agent loop written by hand on `guard.session()`;
`guard_tools` in a graph; `guarded` in an agent ([LangGraph and LangChain](langgraph.md)).
"""

NARROWER = {"": "", "sync": ", sync", "async": ", async", "anew": " in another process"}
"""Which of the ways of an adapter is wrong."""


def with_scenarios(text: str) -> str:
    """The page about LangGraph, with its tables as they should be."""
    return PLACE.sub(lambda place: f"{place[1]}\n{_table(GROUPS[place[2]])}\n{place[3]}", text)


def _table(scenarios: tuple[Scenario, ...]) -> str:
    heads = "what happens", "expected", *(f"observed: {each}" for each in WAYS)
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for each in scenarios:
        row = [_sentence(each.play.__doc__), each.expected, *(cell(each, way) for way in WAYS)]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join([*lines, ""])


def cell(scenario: Scenario, adapter: str) -> str:
    """What an adapter shows: what is expected, something else, or what is wrong."""
    bugs = [
        f"**not yet**{NARROWER[way.removeprefix(adapter).strip()]}: {why}"
        for way, why in scenario.bugs.items()
        if way.startswith(adapter)
    ]
    if bugs:
        return "; ".join(bugs)
    differs = scenario.differs.get(adapter)
    return "as expected" if differs is None else f"{differs.observed} ({differs.why})"


def conformance() -> str:
    """The page of behaviours."""
    names = list(dict.fromkeys(_kind(each) for each in ADAPTERS))
    reasons: dict[str, int] = {}
    lines = [HEAD, f"| behaviour | {' | '.join(names)} |", f"| --- |{' --- |' * len(names)}"]
    for behaviour, test in BEHAVIOURS.items():
        row = [_cell(name, behaviour, reasons) for name in names]
        lines.append(f"| {_words(behaviour)}: {_sentence(test.__doc__)} | {' | '.join(row)} |")
    return "\n".join([*lines, "", *_notes(reasons), ""])


def _cell(name: str, behaviour: str, reasons: dict[str, int]) -> str:
    """Whether the adapters of this name do it; if not, the numbers of the reasons."""
    members = [each for each in ADAPTERS if _kind(each) == name]
    unable = [each for each in members if behaviour in each.cannot]
    if not unable:
        return "shown"
    where = "" if len(unable) == len(members) else f" {unable[0].name.split()[-1]}"
    numbers = {reasons.setdefault(each.cannot[behaviour], len(reasons) + 1) for each in unable}
    return ", ".join(f"cannot{where} ({number})" for number in sorted(numbers))


def _notes(reasons: Mapping[str, int]) -> Iterator[str]:
    for reason, number in reasons.items():
        yield f"{number}. {reason[0].upper()}{reason[1:]}."


def _kind(adapter: Adapter) -> str:
    return adapter.name.rsplit(" ", 1)[0]


def _words(name: str) -> str:
    return f"**{name.replace('_', ' ')}**"


def _sentence(docstring: str | None) -> str:
    return " ".join((docstring or "").split())
