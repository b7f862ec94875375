"""Learning: counts by state, streamed, merged, censored, and compared with a recount."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from sponsio_like.errors import RiskError
from sponsio_like.risk import Learner, RiskModel, learn
from tests.risk.runs import TOOLS, contracts, first_bad, random_calls, trace
from tests.semantics.manifest import requirement

REACH = 2


def learned(runs: Sequence[Sequence[str]], **options: object) -> RiskModel:
    """The model of these runs."""
    traces = (trace(calls, f"t{i}") for i, calls in enumerate(runs))
    return learn(contracts(), traces, reach=REACH, **options)


def recount(runs: Sequence[Sequence[str]]) -> Counter[tuple[tuple[str, ...], str, str]]:
    """First visits by (last symbols, proposed): all, and those that ended badly; no engine."""
    found: Counter[tuple[tuple[str, ...], str, str]] = Counter()
    for calls in runs:
        bad, seen = first_bad(calls), set[tuple[tuple[str, ...], str, tuple[int, bool]]]()
        kept = calls[:bad] if bad is not None else calls
        for i, each in enumerate(kept):
            past = [one.rstrip("!") for one in kept[:i]]
            looked = any(one == "look" for one in kept[:i])
            state = (
                tuple(kept[max(0, i - REACH) : i]),
                each.rstrip("!"),
                (past.count("pay"), looked),
            )
            if state not in seen:
                seen.add(state)
                found[state[0], state[1], "runs"] += 1
                found[state[0], state[1], "bad"] += bad is not None
    return found


@requirement("S-RISK-03")
def test_counts_are_those_of_a_recount_without_the_engine() -> None:
    """How many runs came to a state, and how many of them ended badly, as a second count has it."""
    rng = random.Random(1)
    runs = [random_calls(rng) for _ in range(400)]
    mine: Counter[tuple[tuple[str, ...], str, str]] = Counter()
    model = learned(runs)
    for state in model.states:
        count = model.count(state)
        mine[state[1], state[2], "runs"] += count.runs
        mine[state[1], state[2], "bad"] += count.hits
    assert +mine == +recount(runs)


def test_horizons_count_the_calls_to_the_violation() -> None:
    """Within 1 call: the next one violates; within 3: one of the next three."""
    model = learned([["look", "pay", "send", "pay", "pay"]] * 4)
    first = ("-", (), "look")
    assert [model.count(first, h).hits for h in (1, 3, 5, None)] == [0, 0, 4, 4]
    assert model.count(("-", (), "look"), 3) == (4, 0, 0)
    model = learned([["look", "pay", "pay", "pay"]])
    assert [model.count(first, h).hits for h in (1, 3, 5, None)] == [0, 1, 1, 1]
    with pytest.raises(RiskError, match="horizon 2 was not counted"):
        model.count(first, 2)


@requirement("S-RISK-04")
def test_the_first_visit_of_a_run_counts() -> None:
    """The state is visited four and three calls before the violation: once, and four before."""
    model = learned([["look", *["send"] * 4, *["pay"] * 3]])
    (again,) = [s for s in model.states if s[1:] == (("send", "send"), "send")]
    assert [model.count(again, h) for h in (3, 5)] == [(1, 0, 0), (1, 0, 1)]


@requirement("S-RISK-05")
def test_a_run_that_was_stopped_is_never_counted_as_safe() -> None:
    """The end of a run in which a call was refused is unknown, except what was seen before."""
    model = learned([["look", "send", "pay", "send-", "send"]] * 10)
    first = ("-", (), "look")
    assert model.count(first, 1) == (10, 0, 0)
    assert model.count(first, None) == (10, 10, 0)
    assert model.count(first, None).interval(0.05) == (0.0, 1.0)
    assert (model.data.traces, model.data.censored, model.data.bad) == (10, 10, 0)
    assert not any(end == "end" for _, end in model.moves)


def test_unknown_ends_widen_the_bounds() -> None:
    """With runs that were stopped the bounds hold whatever would have become of them."""
    plain = [["look", "send"]] * 30
    stopped = [["look", "send-"]] * 10
    alone, both = learned(plain), learned(plain + stopped)
    first = ("-", (), "look")
    assert both.count(first).interval(0.05).hi > alone.count(first).interval(0.05).hi
    assert both.count(first).interval(0.05).hi >= 10 / 40


def test_merging_shards_is_learning_the_whole() -> None:
    """The merged models of two shards are the model of all traces, in any order."""
    rng = random.Random(2)
    runs = [random_calls(rng, refused=True) for _ in range(200)]
    whole = learned(runs)
    traces = [trace(calls, f"t{i}") for i, calls in enumerate(runs)]
    one, two = (learn(contracts(), traces[i::2], reach=REACH) for i in (0, 1))
    for merged in (one.merged(two), two.merged(one)):
        assert (merged.header, merged.data) == (whole.header, whole.data)
        assert (merged.levels, merged.moves) == (whole.levels, whole.moves)


def test_memory_is_by_states_and_not_by_traces() -> None:
    """Ten times the traces of the same kind make no more states."""
    few = learned([["look", "pay"]] * 3)
    many = learned([["look", "pay"]] * 30)
    assert few.states.keys() == many.states.keys()
    assert few.moves.keys() == many.moves.keys()


def test_a_label_of_the_trace_may_say_what_is_bad() -> None:
    """With `field=value` a run is bad by its label, and its last call leads there."""
    runs = [trace(["look"], label={"hit": True}), trace(["look"], label={"hit": False})]
    model = learn(contracts(), runs, bad="label.hit=true")
    assert model.count(("-", (), "look"), 1) == (2, 0, 1)
    with pytest.raises(RiskError, match=r"trace `t` has no field `label\.miss`"):
        learn(contracts(), runs, bad="label.miss=true")


def test_predicates_of_arguments_are_part_of_a_symbol() -> None:
    """Two calls of a tool are two symbols if a named predicate tells them apart."""
    learner = Learner(contracts(), predicates={"large": "args.amount > 100"})
    one = {"tool": "send", "args": {"amount": 500}}
    from sponsio_like.traces.trace import trace_of

    learner.add(trace_of({"id": "a", "events": [one, {"tool": "send", "args": {"amount": 5}}]}))
    assert {state[1:] for state in learner.model().states} == {
        ((), "send[large]"),
        (("send[large]",), "send"),
    }


def test_a_trace_that_lacks_an_input_is_left_out() -> None:
    """Contracts that cannot be judged on a trace learn nothing from it, and it is counted."""
    from sponsio_like import contract

    polite = contract("polite").guarantees({"ltl": 'G(text matches "rude" -> !message(user))'})
    learner = Learner([polite])
    learner.add(trace(["look"]))
    with pytest.raises(RiskError, match="1 traces, none with all inputs"):
        learner.model()


def test_warnings_are_not_bad() -> None:
    """A contract that only warns lets the call through, and so is no end of a run."""
    from sponsio_like import contract

    warns = contract("few").guarantees("tool `pay` at most 1 times").strategy("warn_only")
    model = learn([warns], [trace(["pay", "pay", "pay"])])
    assert model.data.bad == 0
    assert len(model.states) == 3


@pytest.mark.parametrize("options", [{"reach": -1}, {"reach": 9}, {"bad": "broken"}])
def test_options_that_mean_nothing_are_refused(options: dict[str, object]) -> None:
    """A reach out of range, or an unknown word for bad, is an error that says what to write."""
    with pytest.raises(RiskError, match="write"):
        Learner(contracts(), **options)  # type: ignore[arg-type]


def test_states_are_named_alike_in_every_process() -> None:
    """Two learners name the states alike, whatever order they saw them in."""
    rng = random.Random(3)
    runs = [random_calls(rng) for _ in range(100)]
    one, two = learned(runs), learned(runs[::-1])
    assert one.levels == two.levels
    assert set(TOOLS) == {state[2] for state in one.states}
