"""Chains: rows that sum to 1, properties compared with exact arithmetic of another kind, bounds."""

from __future__ import annotations

import random
from collections.abc import Hashable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from sponsio_like.errors import RiskError
from sponsio_like.risk import (
    BoundedChain,
    Interval,
    MarkovChain,
    bounded_chain,
    chain_of,
    check_chain,
    clopper_pearson,
    learn,
    learned_chain,
    parse_pctl,
    reach,
    smoothed,
    steps_to,
)
from tests.risk.chains import as_floats, random_chain, until, until_within
from tests.risk.runs import contracts, random_calls, trace
from tests.support.size import sized

pytest.importorskip("scipy", reason="iteration needs the extra `risk`")
CHAINS = 1_000


@pytest.fixture(scope="module")
def chains() -> list[MarkovChain]:
    """A thousand random chains of 2 to 9 states."""
    rng = random.Random(7)
    return [random_chain(rng, rng.randint(2, 9)) for _ in range(CHAINS)]


def values(chain: MarkovChain, path: str) -> list[Any]:
    """The probability of a path in each state, which its bounds enclose."""
    found = check_chain(chain, f"P>=0.5 [{path}]")
    assert all(each.lo <= each.hi for each in found)
    return [each.lo for each in found]


@pytest.mark.long
def test_until_is_exact(chains: list[MarkovChain]) -> None:
    """U, F and G of a thousand chains equal the fractions of a dense elimination: difference 0."""
    for chain in chains:
        every = range(chain.size)
        bad, goal = chain.labels["bad"], chain.labels["goal"]
        stay = [i for i in every if i not in bad]
        assert values(chain, "F bad") == until(chain.rows, every, bad)
        assert values(chain, "!bad U goal") == until(chain.rows, stay, goal)
        assert values(chain, "G !bad") == [1 - p for p in until(chain.rows, every, bad)]


def test_bounded_operators_and_next_are_exact(chains: list[MarkovChain]) -> None:
    """U<=k, F<=k, G<=k and X equal a sum over all paths: difference 0."""
    for chain in chains[:300]:
        every, bad, goal = range(chain.size), chain.labels["bad"], chain.labels["goal"]
        stay = [i for i in every if i not in bad]
        inside = [until_within(chain.rows, stay, goal, 4, i) for i in every]
        soon = [until_within(chain.rows, every, bad, 3, i) for i in every]
        after = [sum((p for j, p in row.items() if j in bad), Fraction(0)) for row in chain.rows]
        assert values(chain, "!bad U<=4 goal") == inside
        assert values(chain, "F<=3 bad") == soon
        assert values(chain, "G<=3 !bad") == [1 - p for p in soon]
        assert values(chain, "X bad") == after


def test_nested_formulas_are_exact(chains: list[MarkovChain]) -> None:
    """A state formula inside of a path is evaluated in each state first."""
    for chain in chains[:300]:
        every = range(chain.size)
        risky = until(chain.rows, every, chain.labels["bad"])
        inner = {i for i in every if risky[i] > Fraction(1, 2) or i in chain.labels["goal"]}
        assert values(chain, "F (P>0.5 [F bad] | goal)") == until(chain.rows, every, inner)
        answers = [each.answer for each in check_chain(chain, "!P<=0.5 [F bad]")]
        assert answers == ["yes" if p > Fraction(1, 2) else "no" for p in risky]


@pytest.mark.long
def test_iteration_differs_by_less_than_it_says(chains: list[MarkovChain]) -> None:
    """Solved by iteration, a thousand chains differ from the exact answer by at most 1e-9."""
    worst = 0.0
    for chain in chains:
        exact = reach(chain, range(chain.size), chain.labels["bad"]).values
        near = reach(as_floats(chain), range(chain.size), chain.labels["bad"])
        away = max(abs(float(a) - b) for a, b in zip(exact, near.values, strict=True))
        assert away <= near.error + 1e-12
        worst = max(worst, away)
    assert worst <= 1e-9


def test_expected_steps_are_those_of_the_distribution() -> None:
    """The steps to bad, of the runs that get there, are the weighted sum over all lengths."""
    rng = random.Random(3)
    for _ in range(sized(40, 8)):
        chain = random_chain(rng, 5)
        bad = chain.labels["bad"]
        found = steps_to(chain, bad)
        near = steps_to(as_floats(chain), bad).values
        for i in range(chain.size):
            within = [float(p) for p in _within(chain, bad, i)]
            if within[-1] == 0:
                assert found.values[i] is None
                assert near[i] is None
                continue
            terms = (n * (b - a) for n, (a, b) in enumerate(pairwise(within), 1))
            assert float(found.values[i]) == pytest.approx(sum(terms) / within[-1], rel=1e-3)
            assert near[i] == pytest.approx(float(found.values[i]), rel=1e-9)


def _within(chain: MarkovChain, goal: frozenset[int], start: int) -> list[float]:
    """The probability to be there within 0, 1, 2, .. 4000 steps."""
    at = [float(i == start) for i in range(chain.size)]
    out = [sum(at[j] for j in goal)]
    for _ in range(4_000):
        after = [at[j] if j in goal else 0.0 for j in range(chain.size)]
        for i in range(chain.size):
            for j, p in chain.rows[i].items() if i not in goal else ():
                after[j] += at[i] * float(p)
        at = after
        out.append(sum(at[j] for j in goal))
    return out


# --- rows -------------------------------------------------------------------------------------


def test_smoothed_rows_sum_to_one_exactly() -> None:
    """Alpha is added to every valid successor, and the sum is 1; what is invalid gets nothing."""
    rng = random.Random(5)
    for _ in range(200):
        valid = rng.sample("abcdefgh", rng.randint(1, 8))
        counts: dict[Hashable, int] = {each: rng.randint(0, 9) for each in valid}
        row = smoothed(counts, valid, Fraction(1, rng.randint(1, 7)))
        assert sum(row.values()) == 1
        assert set(row) == set(valid)
    assert smoothed({"a": 3, "b": 1}, "ab", 0) == {"a": Fraction(3, 4), "b": Fraction(1, 4)}


def test_a_step_that_was_declared_impossible_is_refused() -> None:
    """A count of an invalid successor, or a row without anything, is an error."""
    with pytest.raises(RiskError, match="a step to `x` was counted, and declared impossible"):
        smoothed({"a": 1, "x": 1}, "ab", 1)
    with pytest.raises(RiskError, match="without counts"):
        smoothed({}, "ab", 0)
    with pytest.raises(RiskError, match="steps from `a` to `b`, which cannot be"):
        learned_chain([["a", "b"]], ["a", "b"], lambda one, other: one == other)


@pytest.mark.parametrize(
    "rows",
    [
        [{0: 0.5, 1: 0.6}, {1: 1.0}],
        [{0: Fraction(1, 2), 1: Fraction(1, 3)}, {1: Fraction(1)}],
        [{0: 1.5, 1: -0.5}, {1: 1.0}],
        [{}, {1: 1.0}],
        [{2: 1.0}, {1: 1.0}],
        [{0: float("nan")}, {1: 1.0}],
        [{0: 1.0}],
    ],
)
def test_rows_that_are_no_distribution_are_refused(rows: list[dict[int, Any]]) -> None:
    """Probabilities that do not sum to 1, are negative, or lead nowhere, make no chain."""
    with pytest.raises(RiskError):
        MarkovChain(("a", "b"), tuple(rows), {})


def test_the_chain_of_a_model_has_its_counts() -> None:
    """The chain of learned moves reaches bad as often as the runs did."""
    rng = random.Random(11)
    model = learn(contracts(), [trace(random_calls(rng), f"{i}") for i in range(300)])
    chain = chain_of(model)
    assert all(sum(row.values()) == 1 for row in chain.rows)
    found = check_chain(chain, "P<=0.5 [F bad]")[chain.start]
    assert found.lo == Fraction(model.data.bad, model.data.traces)


def test_what_was_never_seen_may_follow_in_a_bounded_chain() -> None:
    """Thirty safe runs do not show that there is no risk: something else may come, and be bad."""
    model = learn(contracts(), [trace(["look", "send"], f"{i}") for i in range(30)])
    found = check_chain(bounded_chain(model), "P<=0.01 [F bad]")[0]
    assert found.answer == "unknown"
    assert found.lo == 0
    assert found.hi > 0.1


# --- the seed's motivating chain --------------------------------------------------------------

IDLE, ON, RISKY, DONE, HAZARD = "idle", "on", "risky", "done", "hazard"
STEPS = {
    IDLE: (IDLE, ON, RISKY, DONE),
    ON: (IDLE, ON, DONE, HAZARD),
    RISKY: (IDLE, RISKY, DONE, HAZARD),
}
COUNTED = {(IDLE, IDLE): 150, (IDLE, ON): 30, (ON, DONE): 30}


def microwave(alpha: Fraction | int) -> MarkovChain:
    """The chain of the counts: 30 runs, of which none was ever in the risky state."""
    traces = [pair for pair, n in COUNTED.items() for _ in range(n)]
    states = [IDLE, ON, RISKY, DONE, HAZARD]
    return learned_chain(
        traces,
        states,
        lambda one, other: other in STEPS.get(one, ()),
        alpha=alpha,
        labels={"hazard": [HAZARD]},
    )


def test_the_motivating_chain_is_rebuilt_from_its_counts() -> None:
    """With alpha 1 the risk is 14/349 = .04 from idle and 121/349 = .34 from the risky state."""
    found = reach(microwave(1), range(5), [4]).values
    assert (found[0], found[1], found[2]) == (
        Fraction(14, 349),
        Fraction(11, 349),
        Fraction(121, 349),
    )


def test_the_motivating_risk_is_the_prior_and_not_the_data() -> None:
    """Without smoothing idle has no risk, and nothing is known of the risky state: [0, 1].

    However little is added, the risky state stays at a third: that is the prior. For idle, 0 of 30
    runs bound the risk by .095, at 95 % and one-sided.
    """
    assert reach(microwave(0), range(5), [4]).values[0] == 0
    tiny = reach(microwave(Fraction(1, 10**9)), range(5), [4]).values
    assert [float(tiny[0]), float(tiny[2])] == pytest.approx([0, 1 / 3], abs=1e-6)
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    assert pytest.approx(0.095, abs=5e-4) == 1 - 0.05 ** (1 / 30)
    assert clopper_pearson(0, 30, 0.10).hi == pytest.approx(1 - 0.05 ** (1 / 30), abs=1e-9)


# --- within bounds ----------------------------------------------------------------------------


def widened(chain: MarkovChain, rng: random.Random) -> BoundedChain:
    """Bounds around the probabilities of a chain."""
    rows = tuple(
        {
            j: Interval(
                max(0.0, float(p) - rng.random() / 5), min(1.0, float(p) + rng.random() / 5)
            )
            for j, p in row.items()
        }
        for row in chain.rows
    )
    return BoundedChain(chain.names, rows, chain.labels)


def test_bounds_enclose_every_chain_within_them() -> None:
    """The probability of the chain that the bounds were made around lies between the answers."""
    rng = random.Random(13)
    paths = ("F bad", "!bad U goal", "F<=4 bad", "!bad U<=3 goal", "X bad", "G !bad", "G<=3 !bad")
    for _ in range(60):
        chain = random_chain(rng, rng.randint(2, 7))
        wide = widened(chain, rng)
        for path in paths:
            exact = values(chain, path)
            for mine, true in zip(check_chain(wide, f"P<=0.5 [{path}]"), exact, strict=True):
                assert mine.lo - 1e-9 <= true <= mine.hi + 1e-9


def test_bounds_are_reached_by_some_chain_within_them() -> None:
    """For bounds on one free row the answers are its extremes, not more."""
    rows = (
        {1: Interval(0.1, 0.4), 2: Interval(0.6, 0.9)},
        {1: Interval(1, 1)},
        {2: Interval(1, 1)},
    )
    chain = BoundedChain(("s", "bad", "end"), rows, {"bad": frozenset([1])})
    for path in ("F bad", "X bad", "F<=2 bad"):
        found = check_chain(chain, f"P<=0.2 [{path}]")[0]
        assert (found.lo, found.hi) == pytest.approx((0.1, 0.4))
        assert found.answer == "unknown"


def test_answers_are_yes_no_or_unknown() -> None:
    """Yes if all within the bounds comply, no if none does, unknown otherwise; nested, too."""
    rows = (
        {1: Interval(0.1, 0.4), 2: Interval(0.6, 0.9)},
        {1: Interval(1, 1)},
        {2: Interval(1, 1)},
    )
    chain = BoundedChain(("s", "bad", "end"), rows, {"bad": frozenset([1])})
    for text, answer in {
        "P<=0.5 [F bad]": "yes",
        "P<=0.05 [F bad]": "no",
        "P<=0.2 [F bad]": "unknown",
        "!P<=0.2 [F bad]": "unknown",
        "!P<=0.5 [F bad]": "no",
        "P>=1 [X (bad | !bad)]": "yes",
        "P>=0.5 [F<=0 P<=0.2 [F bad]]": "unknown",
        "P<=0.05 [F bad] & P<=0.2 [F bad]": "no",
    }.items():
        assert check_chain(chain, text)[0].answer == answer, text


def test_bounds_that_no_chain_has_are_refused() -> None:
    """Lower bounds above 1, upper bounds below it, or a bound out of order, are no chain."""
    for row in ({0: Interval(0.6, 0.7), 1: Interval(0.6, 0.7)}, {0: Interval(0.1, 0.2)},
                {0: Interval(0.9, 0.1), 1: Interval(0, 1)}):  # fmt: skip
        with pytest.raises(RiskError, match="no probabilities within these bounds"):
            BoundedChain(("a", "b"), (row, {1: Interval(1, 1)}), {})


# --- formulas ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "P<=2 [F bad]", "P [F bad]", "P<=0.1 [bad]", "P<=0.1 [F bad", "F bad", "P<=.1 [F<=x bad]"],
)
def test_what_is_no_formula_is_refused(text: str) -> None:
    """A formula that cannot be read is an error that shows one."""
    with pytest.raises(RiskError, match=r"write"):
        parse_pctl(text)


def test_an_unknown_label_is_refused() -> None:
    """A misspelt label is not false everywhere: it is an error with the closest name."""
    chain = MarkovChain(("a",), ({0: Fraction(1)},), {"bad": frozenset([0])})
    with pytest.raises(RiskError, match=r"no state has the label `bda`; did you mean `bad`"):
        check_chain(chain, "P<=0.1 [F bda]")
