"""Scenarios of graphs and agents: what is observed is what is expected, in every way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.apps import ADAPTERS, Way
from tests.adapters.page import cell
from tests.adapters.scenarios import GROUPS, Differs, Scenario
from tests.project.pages import DOCS
from tests.reference.trace_tables import places

SCENARIOS = [each for group in GROUPS.values() for each in group]


def _cases() -> Iterator[object]:
    for scenario in SCENARIOS:
        for way in scenario.ways:
            bug = scenario.bug(way)
            marks = [pytest.mark.xfail(reason=bug, strict=True)] if bug else []
            name = f"{scenario.name}-{way}".replace(" ", "-")
            yield pytest.param(scenario, way, id=name, marks=marks)


@pytest.mark.long
@pytest.mark.parametrize(("scenario", "way"), list(_cases()))
def test_what_is_observed_is_what_is_expected(scenario: Scenario, way: Way) -> None:
    """What came of each step is what the table says: what ran, what was refused, what is asked."""
    assert scenario.play(way) == scenario.expected_of(way)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_differences_have_a_reason(scenario: Scenario) -> None:
    """What differs from what is expected really does, in an adapter that exists, and says why."""
    assert {*scenario.differs, *(each.split()[0] for each in scenario.bugs)} <= set(ADAPTERS)
    for each in scenario.differs.values():
        assert each.observed != scenario.expected
        assert len(each.why.split()) >= 4


def test_every_scenario_says_what_is_done() -> None:
    """The table has a sentence of each scenario, and no two the same."""
    sentences = [each.play.__doc__ for each in SCENARIOS]
    assert None not in sentences
    assert len(set(sentences)) == len(sentences)


def test_a_cell_says_what_is_not_as_expected() -> None:
    """A cell is what was expected, what is observed instead, or what is wrong."""
    scenario = Scenario(SCENARIOS[0].play, "this", {"node": Differs("that", "why")})
    assert cell(scenario, "middleware") == "as expected"
    assert cell(scenario, "node").startswith(scenario.differs["node"].observed)
    wrong = Scenario(scenario.play, "something", bugs={"node async": "it is wrong"})
    assert cell(wrong, "node") == "**not yet**, async: it is wrong"


def test_every_group_has_its_place() -> None:
    """Every group of scenarios is a table of the page, once."""
    text = (DOCS / "adapters" / "langgraph.md").read_text("utf-8")
    assert sorted(places(text)) == sorted(GROUPS)
