"""Simulations: the bounds that are looked up hold as often as they say, whatever makes the runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from sponsio_like import contract
from sponsio_like.risk import RiskPolicy, bounded_chain, check_chain, learn
from tests.risk.runs import trace

pytest.importorskip("scipy", reason="bounded chains need the extra `risk`")
TRIALS, RUNS, STATED = 30, 100, 0.95
NEVER_BAD = contract("none").guarantees("tool `bad` at most 0 times")
Source = Callable[[random.Random], Sequence[str]]


def loop(rng: random.Random) -> list[str]:
    """A loop: 10 % bad, 10 % end, else on; it has the Markov property."""
    calls = ["a"]
    while (draw := rng.random()) >= 0.2:
        calls.append("a")
    return [*calls, "bad"] if draw < 0.1 else calls


def tired(rng: random.Random) -> list[str]:
    """A source without it: the longer the run, the likelier that it ends badly."""
    calls = ["a"]
    while rng.random() < 0.7:
        calls.append("a")
    return [*calls, "bad"] if rng.random() < min(0.9, 0.1 * len(calls)) else calls


def truth(source: Source) -> float:
    """The risk at the first call, by many runs."""
    rng = random.Random(0)
    return sum(source(rng)[-1] == "bad" for _ in range(50_000)) / 50_000


@pytest.mark.long
@pytest.mark.parametrize("source", [loop, tired])
def test_first_visits_cover_the_truth_as_often_as_stated(source: Source) -> None:
    """Of the intervals of 30 models, at least 95 % hold the risk, less what chance explains."""
    risk, held = truth(source), 0
    for trial in range(TRIALS):
        rng = random.Random(trial + 1)
        model = learn([NEVER_BAD], [trace(source(rng), f"{i}") for i in range(RUNS)])
        found = RiskPolicy(model, 0.5, confidence=STATED).risk(("-", ()), "a")
        assert found.runs == RUNS
        held += found.lo <= risk <= found.hi
    assert held >= STATED * TRIALS - 2 * (STATED * (1 - STATED) * TRIALS) ** 0.5


def test_bounded_chains_cover_the_truth_of_a_markov_source() -> None:
    """The bounds for all probabilities at once hold the risk in each of 10 models."""
    risk = truth(loop)
    for trial in range(10):
        rng = random.Random(trial + 100)
        model = learn([NEVER_BAD], [trace(loop(rng), f"{i}") for i in range(RUNS)], reach=0)
        chain = bounded_chain(model)
        found = check_chain(chain, "P<=0.5 [F bad]")[chain.start]
        assert found.lo <= risk <= found.hi


@pytest.mark.long
def test_a_contract_that_counts_tells_states_apart_that_calls_do_not() -> None:
    """Without the Markov property, a counting contract in the state shows how the risk grows."""
    rng = random.Random(7)
    counts = contract("few").guarantees("tool `a` at most 50 times")
    runs = [trace(tired(rng), f"{i}") for i in range(3_000)]
    model = learn([NEVER_BAD, counts], runs, reach=0)
    counted = [model.count(state, None, 0) for state in model.states]
    often = sorted((each for each in counted if each.runs >= 100), key=lambda each: -each.runs)
    risks = [each.hits / each.runs for each in often]
    assert len(risks) >= 4
    assert risks == sorted(risks)
    assert risks[-1] - risks[0] > 0.1
