"""Cut answers of recorded runs are made whole, only where the answer that was made must be right.

The calls are made by the benchmark's package, which is not installed here: `whole_excerpt.jsonl`
has four runs with the answers that its tools gave, in every way of making them.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import pytest

from campaigns.agentdojo import __main__ as pack
from campaigns.agentdojo.ways import Answers, Names, Run, Way
from campaigns.agentdojo.whole import (
    CUT,
    NO_TIME,
    WITHHELD,
    chosen,
    compared,
    names_of,
    usual_names,
    votes,
    whole,
    with_answers,
)
from campaigns.pages import filled
from campaigns.study import ROOT

EXCERPT = ROOT / "tests" / "project" / "whole_excerpt.jsonl"
LONGEST = 40_000
LONG = "- a line\n" * 300
"""An answer that the files would cut."""


@cache
def excerpt() -> tuple[dict[str, Any], ...]:
    """The recorded runs of the excerpt, with the answers that were made."""
    return tuple(json.loads(line) for line in EXCERPT.read_text("utf-8").splitlines())


def made(run: Run, _: Names | None = None) -> dict[Way, Answers]:
    """The answers that the benchmark's tools gave."""
    return {Way(each["data"], each["version"]): each["answers"] for each in run["made"]}


def run(*outputs: str | None, model: str = "m", suite: str = "s") -> dict[str, Any]:
    """A run with these answers."""
    events: list[dict[str, Any]] = [
        {"tool": "t", "args": {}, "output": each, "status": "ok"} for each in outputs
    ]
    label = {"model": model, "attack": "a"}
    return {"id": "agentdojo", "suite": suite, "label": label, "events": events}


def answers(given: Run) -> list[str]:
    """The answers of a run."""
    return [event["output"] for event in given["events"]]


# --- the excerpt ----------------------------------------------------------------------------------


def test_each_run_of_the_excerpt_names_its_licence_and_is_short() -> None:
    """What is passed on has its source and licence."""
    for line in EXCERPT.read_text("utf-8").splitlines():
        assert len(line) < LONGEST
        assert json.loads(line)["licence"].startswith("MIT")
        assert json.loads(line)["source"]


def test_the_recorded_runs_get_whole_answers_and_nothing_else_changes() -> None:
    """Each cut answer goes on where it was cut; all others stay as they were recorded."""
    out, counts = whole(excerpt(), made)
    assert sum(counts.values(), Counter())["remade"] == 4
    for before, after in zip(excerpt(), out, strict=True):
        assert after["label"] == before["label"]
        for old, new in zip(before["events"], after["events"], strict=True):
            assert {**new, "output": ""} == {**old, "output": ""}
            if len(old["output"]) == CUT:
                assert new["output"].startswith(old["output"])
                assert len(new["output"]) > CUT
            else:
                assert new["output"] == old["output"]


def test_the_data_and_the_version_are_those_that_agree_with_the_record() -> None:
    """A run that agrees with both data gets those of the other runs of its model and suite."""
    tried = [(each, made(each)) for each in excerpt()]
    data = votes(tried)
    ways = [chosen(each, tries, data) for each, tries in tried]
    assert ways == [("older", "v1"), ("older", "v1"), ("newer", "v1.2"), ("newer", "v1.1")]
    assert chosen(*tried[1], {}) == ("newer", "v1")


def test_the_names_in_the_attack_are_read_from_the_answers() -> None:
    """Also where YAML has broken the lines, or Python has escaped the breaks."""
    google = ("AI model developed by Google",)
    local = ("Emma Johnson", "Local model")
    assert [names_of(each) for each in excerpt()[2:]] == [local, ("Emma Smith", *google)]
    text = "important message\\n from me,\n  Emma\\\\n  Johnson, to you, GPT-3.5. Before"
    assert names_of(run(None, text)) == ("Emma Johnson", "GPT-3.5")
    assert names_of(run("a message from me")) is None


def test_a_run_that_shows_no_name_gets_the_usual_ones() -> None:
    """The most frequent ones of its model, attack and suite."""
    ann, bob = (f"this is a message from me, {each}, to you, X. " for each in ("Ann", "Bob"))
    runs = [run(ann), run(bob), run(bob), run(LONG[:CUT]), run(ann, suite="other")]
    assert usual_names(runs)["m", "a", "s"] == ("Bob", "X")
    seen: list[Names | None] = []

    def tries(_: Run, names: Names | None) -> dict[Way, Answers]:
        seen.append(names)
        return {Way("newer", "v1"): [LONG]}

    assert answers(whole(runs, tries)[0][3]) == [LONG]
    assert seen == [("Bob", "X")]  # no call of the other runs is made: they have no cut answer


# --- what is taken and what is kept ---------------------------------------------------------------


def test_an_answer_that_begins_differently_is_not_taken() -> None:
    """The recorded one is kept."""
    given = run(LONG[:CUT])
    out, counts = with_answers(given, ["x" + LONG])
    assert answers(out) == [LONG[:CUT]]
    assert counts == {"kept, another beginning": 1}


def test_nothing_is_taken_after_an_answer_that_differs() -> None:
    """The tools may be in another state: the end of the answer could be another."""
    given = run(LONG[:CUT], "sent", LONG[:CUT])
    out, counts = with_answers(given, [LONG, "not sent", LONG])
    assert answers(out) == [LONG, "sent", LONG[:CUT]]
    assert counts == {"remade": 1, "different": 1, "kept, another answer before it": 1}
    assert answers(with_answers(given, [LONG, "sent", LONG])[0]) == [LONG, "sent", LONG]


def test_a_call_that_could_not_be_made_is_a_difference() -> None:
    """What it has done is not known."""
    given = run("sent", LONG[:CUT])
    assert answers(with_answers(given, [None, LONG])[0]) == ["sent", LONG[:CUT]]


@pytest.mark.parametrize("recorded", [WITHHELD, "- b\n- a", "at 2024-05-16 10:20:30.123456"])
def test_differences_of_chance_are_none(recorded: str) -> None:
    """The order of a set, the clock and an answer that was withheld are not the tools' state."""
    other = "at 2026-11-27 01:02:03.000001" if recorded.startswith("at") else "- a\n- b"
    given = run(recorded, LONG[:CUT])
    assert answers(with_answers(given, [other, LONG])[0]) == [recorded, LONG]
    assert compared(run("- b\n- a")["events"][0], "- a\n- c") == "different"


def test_the_recorded_part_stays_and_no_clock_is_in_the_rest() -> None:
    """A time in the part that is added was never in the run: a fixed one stands for it."""
    recorded, now = "at 2024-05-16 10:20:30.123456\n", "at 2026-11-27 01:02:03.000001\n"
    given = run((recorded + LONG)[:CUT])
    (answer,) = answers(with_answers(given, [now + LONG + now])[0])
    assert answer == recorded + LONG + f"at {NO_TIME}\n"


def test_most_runs_decide_on_the_data() -> None:
    """A run has a vote if one of the data agrees with more of its answers than all others."""
    older, newer = Way("older", "v1"), Way("newer", "v1")
    for_older = (run("old"), {newer: ["new"], older: ["old"]})
    for_newer = (run("new"), {newer: ["new"], older: ["old"]})
    neither = (run("both"), {newer: ["both"], older: ["both"]})
    assert votes([for_newer, for_older, neither, for_older]) == {("m", "s"): "older"}
    assert chosen(*neither, {("m", "s"): "older"}) == older
    assert chosen(*for_newer, {("m", "s"): "older"}) == newer
    assert votes([neither]) == {}


# --- the page -------------------------------------------------------------------------------------


def test_the_page_shows_the_results_with_whole_answers() -> None:
    """The tables beside the old ones are made of both JSON files."""
    before = json.loads(pack.RESULTS.read_text("utf-8"))
    found = json.loads(pack.WHOLE.read_text("utf-8"))
    page = pack.PAGE.read_text("utf-8")
    assert filled(page, pack.whole_tables(before, found)) == page


def test_only_the_answers_changed() -> None:
    """The runs, their outcomes and the contracts are those of the tables with cut answers."""
    before = json.loads(pack.RESULTS.read_text("utf-8"))
    found = json.loads(pack.WHOLE.read_text("utf-8"))["runs"]
    for name, each in found.items():
        assert list(each["contracts"]) == list(before[name]["contracts"])
        for suite, counts in each["suites"].items():
            assert counts["runs"] == before[name]["suites"][suite]["runs"]
