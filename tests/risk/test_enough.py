"""The stopping rule: both readings of equation (2), and what each of them gives."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sponsio_like.cli import app
from sponsio_like.errors import RiskError
from sponsio_like.risk import (
    MarkovChain,
    learn,
    needed_of_row,
    reach,
    runs_missing,
    runs_needed,
)
from sponsio_like.risk.enough import conditioning
from tests.risk.runs import contracts, trace

WORKED = {"a": 80, "b": 80, "c": 80, "d": 80, "e": 80, "f": 0}
"""400 runs of which no successor has more than a fifth, as in the paper's worked example."""


def test_the_strong_reading_gives_the_worked_example() -> None:
    """With 10 states, eps .05, delta .01, ratio .2 it is 1087.8: the paper's 1087."""
    assert runs_needed(0.2, 0.05, 0.01 / 10) == pytest.approx(1087.77, abs=0.01)
    assert math.floor(needed_of_row(WORKED, 10, 0.05, 0.01, "strong")) == 1087


def test_the_literal_reading_does_not() -> None:
    """As it is printed, a successor that was never seen decides: 195.9, so that 400 would do."""
    assert needed_of_row(WORKED, 10, 0.05, 0.01, "literal") == pytest.approx(195.9, abs=0.05)


def model(runs: int) -> object:
    """A model of so many equal runs."""
    return learn(contracts(), [trace(["look", "send"], f"{i}") for i in range(runs)])


@pytest.mark.long
def test_states_that_miss_runs_are_told() -> None:
    """Each state says what it has and needs; with enough runs nothing is missing."""
    few, many = (runs_missing(model(n), 0.1, 0.05) for n in (10, 5_000))  # type: ignore[arg-type]
    assert {need.has for need in few} == {10}
    assert all(need.more == need.needs - 10 > 0 for need in few)
    assert all(need.more == 0 for need in many)


def test_the_conditioned_rule_asks_for_more_and_keeps_its_promise() -> None:
    """In a loop the strong rule stops far too soon for the risk; the conditioned one does not.

    The loop: 2 % bad, 2 % end, else on. Stopped by the rule, the estimate of the risk is off by
    more than eps in too many of the trials of the strong rule, and in none of the conditioned one.
    """
    rng, eps = random.Random(29), 0.1
    wrong = {"strong": 0, "conditioned": 0}
    for reading in wrong:
        for _ in range(40):
            bad = end = on = 0
            while True:
                for _ in range(5 if reading == "strong" else 2_000):
                    while (draw := rng.random()) >= 0.04:
                        on += 1
                    bad, end = bad + (draw < 0.02), end + (draw >= 0.02)
                row = {"bad": bad, "end": end, "on": on}
                need = needed_of_row(row, 1, eps, 0.05)
                if reading == "conditioned":
                    need *= (1.1 * 1.5 * sum(row.values()) / (bad + end)) ** 2
                if sum(row.values()) >= need:
                    break
            wrong[reading] += abs(bad / (bad + end) - 0.5) > eps
    assert wrong["strong"] > 4
    assert wrong["conditioned"] == 0


def test_the_risk_is_off_by_no_more_than_the_factor_says() -> None:
    """Two chains with the same successors: the error of the risk, in 300 random pairs.

    It is at most the largest error of a probability times the factor of the one that was learned,
    and in some pair more than a third of that.
    """
    rng, closest = random.Random(31), 0.0
    for _ in range(300):
        names = [f"s{i}" for i in range(rng.randint(2, 6))]
        truth, learned = [], {}
        for name in names:
            to = [*rng.sample([*names, "bad", "end"], 2), rng.choice(["bad", "end"])]
            learned[name] = {each: rng.randint(1, 30) for each in to}
            truth.append({each: rng.randint(1, 30) for each in to})
        rows = dict(zip(names, truth, strict=True))
        eps = max(abs(a - b) for n in names for a, b in _shares(learned[n], rows[n]))
        off = max(abs(a - b) for a, b in zip(_risks(learned), _risks(rows), strict=True))
        assert off <= float(eps) * conditioning(learned) + 1e-9
        closest = max(closest, float(off) / (float(eps) * conditioning(learned)))
    assert closest > 1 / 3


def _shares(one: dict[str, int], other: dict[str, int]) -> list[tuple[Fraction, Fraction]]:
    """The shares of each successor in both rows."""
    a, b = sum(one.values()), sum(other.values())
    return [(Fraction(one[to], a), Fraction(other[to], b)) for to in one]


def _risks(rows: dict[str, dict[str, int]]) -> list[Fraction]:
    """The exact risk of each state of a chain of counts."""
    nodes = [*rows, "bad", "end"]
    chances = [
        {nodes.index(to): Fraction(n, sum(row.values())) for to, n in row.items()}
        for row in rows.values()
    ]
    ends = [{len(rows) + i: Fraction(1)} for i in (0, 1)]
    chain = MarkovChain(tuple(nodes), (*chances, *ends), {})
    return list(reach(chain, range(len(nodes)), [len(rows)]).values)


@pytest.mark.parametrize(
    "options", [(0, 0.01, "strong"), (0.05, 1, "strong"), (0.05, 0.01, "weak")]
)
def test_options_out_of_range_are_refused(options: tuple[float, float, str]) -> None:
    """Eps and delta lie between 0 and 1; a reading is one of three."""
    with pytest.raises(RiskError, match="write"):
        runs_missing(model(3), *options)  # type: ignore[arg-type]


RUN = '{"events": [{"tool": "look"}, {"tool": "pay"}, {"tool": "pay"}, {"tool": "pay"}]}\n'


def test_the_commands_learn_merge_and_tell(tmp_path: Path) -> None:
    """`risk learn`, `risk merge` and `risk enough` on files; a user's mistake is status 2."""
    import yaml

    said = [{"name": "few", "guarantee": "tool `pay` at most 2 times"}]
    (tmp_path / "c.yaml").write_text(yaml.safe_dump({"version": 1, "contracts": said}))
    (tmp_path / "t.jsonl").write_text(RUN * 5)
    run, model, both = CliRunner().invoke, str(tmp_path / "m.json"), str(tmp_path / "b.json")
    files = [str(tmp_path / "c.yaml"), str(tmp_path / "t.jsonl")]
    learned = run(app, ["risk", "learn", *files, "-o", model])
    assert "3 states from 5 runs, 5 bad" in learned.output
    (tmp_path / "t.jsonl").write_text(RUN * 4)
    other = str(tmp_path / "o.json")
    run(app, ["risk", "learn", *files, "-o", other])
    merged = run(app, ["risk", "merge", model, other, "-o", both])
    assert "3 states from 9 runs, 9 bad" in merged.output
    twice = run(app, ["risk", "merge", both, model, "-o", str(tmp_path / "no.json")])
    assert isinstance(twice.exception, RiskError)
    assert not (tmp_path / "no.json").exists()
    told = run(app, ["risk", "enough", both, "--eps", "0.1"])
    assert "0 of 4 states have enough runs" in told.output
    assert isinstance(run(app, ["risk", "enough", str(tmp_path / "c.yaml")]).exception, RiskError)
