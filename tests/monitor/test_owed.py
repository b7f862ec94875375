"""Much that is owed until different positions: the same answers, and work that stays small."""

from __future__ import annotations

import random
from functools import partial

import pytest

from sponsio_like import Allowed, Blocked, Guard
from sponsio_like.contracts import Contract, Rule
from sponsio_like.monitor.owed import bounds_after, is_bounded, owing
from sponsio_like.monitor.residual import (
    NO,
    YES,
    Literal,
    Residual,
    conjunction,
    entails,
    literals_of,
)
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement
from tests.support.costs import work
from tests.support.play import Clock, guarded

KINDS = ("F", "G", "f", "g", "X", "W", "D")


def literal(rng: random.Random) -> Literal:
    kind = rng.choice(KINDS)
    node = rng.randrange(4)
    if kind == "D":
        return (kind, node, 1, rng.random() < 0.5)
    return (kind, node) if kind in "XW" else (kind, node, rng.randint(1, 6))


def residual(rng: random.Random) -> Residual:
    terms = [
        frozenset(literal(rng) for _ in range(rng.randint(1, 2))) for _ in range(rng.randint(1, 3))
    ]
    return conjunction_of_one(frozenset(terms))


def conjunction_of_one(found: Residual) -> Residual:
    """The residual without alternatives that stand in another one."""
    return frozenset(term for term in found if not any(other < term for other in found))


def compared(each: set[Residual]) -> frozenset[Residual]:
    """The residuals that no other one implies, each compared with all others."""
    rest = each - {YES}
    if NO in rest:
        return frozenset({NO})
    return frozenset(
        weak for weak in rest if not any(other != weak and entails(other, weak) for other in rest)
    )


@pytest.mark.parametrize("seed", range(300))
def test_what_is_implied_is_left_out_as_if_each_was_compared_with_all(seed: int) -> None:
    """Residuals that differ in their bounds alone are compared by these; others in pairs."""
    rng = random.Random(seed)
    shapes = [residual(rng) for _ in range(3)]
    each = {moved(rng, rng.choice(shapes)) for _ in range(12)} | {residual(rng) for _ in range(3)}
    assert conjunction(each) == compared(each)
    live = frozenset(frozenset({one}) for one in each)
    assert owing(live).joint == compared(each)
    literals = literals_of(each)
    bounds = {one[2] for one in literals if one[0] in "FG"}
    assert is_bounded(live) == bool(bounds)
    for position in range(7):
        after = bounds_after(live, position)
        assert set(after) <= {bound for bound in bounds if bound > position}
        assert min(after, default=9) == min((b for b in bounds if b > position), default=9)


def moved(rng: random.Random, found: Residual) -> Residual:
    """The residual with other bounds."""
    return frozenset(
        frozenset(
            (*one[:2], rng.randint(1, 6)) if one[0] in "FGfg" else one for one in sorted(term)
        )
        for term in sorted(found, key=sorted)
    )


FORMS = {
    "owed": "G(called(c) -> F[<=100000] called(a))",
    "owed in seconds": "G(called(c) -> F[<=100000s] called(a))",
    "owed twice": "G(called(c) -> WX F[<=100000] (called(a) & X called(b)))",
    "kept": "G(called(c) -> WX G[<=100000] !called(a))",
    "either": "G(called(c) -> (F[<=100000] called(a) | G[<=200000] !called(b)))",
}


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_a_call_does_not_look_at_every_deadline(form: str) -> None:
    """A hundred and twenty more that are owed add little to the work of a call."""
    session = guarded(FORMS[form]).session()
    each = [work(lambda: session.decide("c", {})) for _ in range(160)]
    few, many = min(each[30:40]), min(each[150:160])
    assert many < few + 120 * 40, (few, many)
    assert work(session.pending) < 120 * 20


VALUES = {
    "owed for each": "G(done(c, id = $x) -> F[<=100000] done(a, id = $x))",
    "owed in seconds for each": "G(done(c, id = $x) -> F[<=100000s] done(a, id = $x))",
    "kept for each": "G(called(c, id = $x) -> WX G[<=100000] !called(a, id = $x))",
}


@pytest.mark.long
@pytest.mark.parametrize("form", VALUES)
def test_a_call_does_not_step_the_deadlines_of_other_values(form: str) -> None:
    """With a hundred and twenty more values a call takes little more work."""
    session = guarded(VALUES[form]).session()

    numbers = iter(range(160))

    def play() -> None:
        session.settle(session.decide("c", {"id": next(numbers)}).id, output="ok")

    each = [work(play) for _ in range(160)]
    few, many = min(each[30:40]), min(each[150:160])
    assert many < few + 120 * 8, (few, many)


def test_a_deadline_of_a_value_passes_though_no_call_names_it() -> None:
    """Each value is seen at its own position, and no sooner than that."""
    session = guarded("G(done(c, id = $x) -> F[<=9] done(a, id = $x))").session()
    for number in range(3):
        session.settle(session.decide("c", {"id": number}).id, output="ok")
    for _ in range(5):
        assert isinstance(session.decide("other", {}), Allowed)
    session.settle(session.decide("a", {"id": 0}).id, output="ok")
    owed = [isinstance(session.decide("c", {"id": 1}), Allowed) for _ in range(2)]
    assert owed == [True, False]
    session.settle(session.decide("a", {"id": 1}).id, output="ok")
    assert isinstance(session.decide("other", {}), Blocked)
    session.settle(session.decide("a", {"id": 2}).id, output="ok")
    assert isinstance(session.decide("other", {}), Allowed)


def test_a_deadline_in_seconds_passes_for_each_value() -> None:
    """Each is violated at its own time."""
    clock = Clock()
    rule = "G(done(c, id = $x) -> F[<=10s] done(a, id = $x))"
    session = guarded(rule, mode="observe").session(clock=clock)
    for number in range(3):
        session.settle(session.decide("c", {"id": number}).id, output="ok")
        clock.now += 4
    session.settle(session.decide("a", {"id": 1}).id, output="ok")
    assert session.verdicts() == {"rule 0": "violated"}
    assert len(session.pending()) == 1


def test_what_concerns_all_values_is_seen_by_all() -> None:
    """An event without a value ends what is owed for each of them."""
    rule = "G(done(c, id = $x) -> F[<=9] (done(a, id = $x) | called(flush)))"
    session = guarded(rule).session()
    for number in range(3):
        session.settle(session.decide("c", {"id": number}).id, output="ok")
    assert isinstance(session.decide("flush", {}), Allowed)
    assert session.pending() == ()
    assert all(isinstance(session.decide("other", {}), Allowed) for _ in range(12))


def test_a_deadline_may_begin_for_all_values_at_once() -> None:
    """An event without a value begins it for each of them."""
    rule = "G(done(c, id = $x) -> G(called(arm) -> F[<=4] done(a, id = $x)))"
    session = guarded(rule).session()
    session.settle(session.decide("c", {"id": 1}).id, output="ok")
    for tool in ("other", "arm", "other", "other", "other"):
        assert isinstance(session.decide(tool, {}), Allowed)
    assert isinstance(session.decide("other", {}), Blocked)


@requirement("S-VALUE-09")
def test_a_thousand_values_may_have_a_deadline() -> None:
    """One more is refused, until one is met: it could not be remembered."""
    session = guarded("G(called(c, id = $x) -> F[<=100000] done(a, id = $x))").session()
    given = [isinstance(session.decide("c", {"id": n}), Allowed) for n in range(1_001)]
    assert (given[:999], given[-1]) == ([True] * 999, False)
    session.settle(session.decide("a", {"id": 5}).id, output="ok")
    assert isinstance(session.decide("c", {"id": "more"}), Allowed)


FLYING = {
    "owed once it is done": "G(done(c) -> F called(a))",
    "owed soon once it is done": "G(done(c) -> F[<=5000] called(a))",
    "done before": "G(called(p) -> O done(c))",
    "counted when done": "G(count(done(c)) <= 2000)",
}


@pytest.mark.long
@pytest.mark.parametrize("form", FLYING)
def test_a_call_does_not_compare_each_pair_of_calls_in_flight(form: str) -> None:
    """Its work grows with the number of calls in flight, and so do `verdicts` and `pending`."""
    session = guarded(FLYING[form]).session()
    spent = {}
    for calls in range(1, 91):
        each = work(lambda: session.decide("c", {}))
        if calls in (30, 90):
            spent[calls] = each, work(session.verdicts), work(session.pending)
    for few, many in zip(spent[30], spent[90], strict=True):
        assert many < few + 60 * 600, (few, many)


@pytest.mark.long
@pytest.mark.parametrize("bound", ["", "[<=5000]"])
def test_what_calls_in_flight_may_meet_is_not_compared_in_pairs(bound: str) -> None:
    """Each of them waits for its own result, and for those of all calls that would meet it."""
    session = guarded(f"G(done(c) -> F{bound} done(a))").session()
    spent = {}
    for calls in range(1, 41):
        each = [work(partial(session.decide, tool, {})) for tool in "ca"]
        if calls in (20, 40):
            spent[calls] = max(each), work(session.pending)
    (few, told), (many, more) = spent[20], spent[40]
    assert many < 6 * few, (few, many)  # it is four times as much to read
    assert more < 10 * told, (told, more)
    assert many < 40 * 40 * 50, many


def test_what_is_told_of_calls_in_flight_is_told_once_for_those_alike() -> None:
    """`pending` and `verdicts` cost few calls for each call in flight: they took 120 and 60."""
    session = guarded("G(done(c) -> F done(a))").session()
    for _ in range(300):
        session.decide("c", {})
    (open_now,) = session.pending()
    assert open_now.message.endswith("still missing: done(a), the result of a call in flight")
    assert work(session.pending) < 25 * 300
    assert work(session.verdicts) < 45 * 300


def test_what_is_implied_may_wait_for_a_call_in_flight(caplog: pytest.LogCaptureFixture) -> None:
    """Where not all can be kept, each is kept by itself, also what waits for a result and is
    implied by another one. Its position was taken for a node of the formula, and the lane failed.
    """
    rule = Rule(read("G F X failed(b) & G G[<=2] called(b)"))
    session = Guard([Contract("lost", (rule,))], mode="observe").session()
    for tool in "xaccbb":
        session.decide(tool)
    assert caplog.records == []
    assert session.verdicts() == {"lost": "violated"}
    assert [each.message.partition("missing: ")[2] for each in session.pending()] == [
        "failed(b)",
        "failed(b), the result of a call in flight",
    ]
