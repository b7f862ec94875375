"""Clauses that owe things within steps: their lanes say and remember what the monitor says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from sponsio_like import Allowed, Blocked, Contract, Guard, contract
from sponsio_like.contracts.declaration import Rule
from sponsio_like.engine.fastpath.deadlines import has_deadlines
from sponsio_like.syntax import read
from tests.fuzz.fuzz_traces import Event
from tests.fuzz.twins import Pair
from tests.support.costs import work
from tests.support.size import sized

WITH = [
    "G(called(a) -> F[<=2] called(b))",
    "G(called(a) -> X F[<=3] called(b))",
    "G(done(a) -> X F[<=2] done(b))",
    "G(done(a) -> F[<=3] called(b))",
    "G(called(a) -> F[<=2] done(b))",
    "G(called(a, n > 1) -> F[<=3] called(b, n > 1))",
    "G(failed(a) -> F[<=2] done(b))",
    "G(called(a) -> F[<=4] called(b)) & G(called(c) -> F[<=2] called(b))",
    "G(called(a) & agent = bob -> F[<=2] called(b))",
    "G(called(a, n > 1) | called(c) -> X F[<=2] called(b))",
]
WITHOUT = {
    "it looks back": "G(called(a) -> F[<=2] (called(b) & Y O called(c)))",
    "it has no bound": "G(called(a) -> F called(b))",
    "the next call owes": "G(called(a) -> X called(b))",
    "not both at once": "G(called(a) -> F[<=3] called(b)) & G(called(a) -> F[<=3] called(c))",
    "no call meets it": "G(called(a) -> F[<=3] !called(*))",
    "any call meets it": "G(called(a) -> X F[<=3] !called(c))",
    "something is forbidden": "G(called(a) -> G[<=3] !called(b))",
    "either of two": "G(called(a) -> F[<=3] called(b) | F[<=5] called(c))",
    "two at once": "G(called(a) -> F[<=5] called(b) & F[<=7] called(b, n > 0))",
    "one of two bounds": "G(called(a) -> F[<=5] called(b) | F[<=7] called(b, n > 0))",
    "below X and above": "G(called(a) -> F[<=5] called(b) & X F[<=7] called(b, n > 0))",
    "every call may owe": "G(agent = bob -> F[<=2] called(b))",
    "it reads an answer": "G(called(a) -> F[<=3] (done(b) & output.ok = true))",
    "seconds": "G(called(a) -> F[<=3s] called(b))",
    "it owes at first": "F[<=3] called(b)",
}


def guard(*texts: str, mode: str = "observe") -> Guard:
    """A guard of these formulas."""
    rules = [Contract(f"c{k}", (Rule(read(text)),)) for k, text in enumerate(texts)]
    return Guard(rules, mode=mode)  # type: ignore[arg-type]


def has_lane(text: str) -> bool:
    """True if clauses of this formula have the lane."""
    return all(map(has_deadlines, guard(text).policy.clauses))


@pytest.mark.parametrize("text", WITH)
def test_what_one_call_meets_has_a_lane(text: str) -> None:
    """However many bounds are owed, and whatever the call is asked."""
    assert has_lane(text)


@pytest.mark.parametrize("why", WITHOUT)
def test_all_else_is_asked_of_the_monitor(why: str) -> None:
    """It remembers more, or may be violated before a bound runs out."""
    assert not has_lane(WITHOUT[why])


def test_by_scope_and_assumption_are_asked_of_the_monitor() -> None:
    """Such clauses have more than one state."""
    text = read("G(called(a) -> F[<=2] called(b))")
    assuming = Contract("c", (Rule(text),), assumption=read("O called(c)"))
    keyed = Contract("d", (Rule(text, by=("n",)),))
    for each in (assuming, keyed):
        assert not any(map(has_deadlines, Guard([each]).policy.clauses))


def events(dice: random.Random, most: int) -> Iterator[Event]:
    """Calls, of which some are in flight for a while, and their results."""
    flying: list[str] = []
    for number in range(24):
        while flying and (len(flying) > most or dice.random() < 0.4):
            id = flying.pop(dice.randrange(len(flying)))
            well = dice.random() < 0.7
            said = {"status": "ok" if well else "error", "output": 1 if well else "no"}
            yield {"type": "result", "id": id, "time": float(number), **said}
        tool, agent = dice.choice("abcabo"), dice.choice(("bob", "eve"))
        call = {"id": str(number), "tool": tool, "args": {"n": dice.randint(0, 3)}, "agent": agent}
        yield {"type": "call", "time": float(number), **call}
        flying.append(str(number))


@pytest.mark.parametrize("most", [0, 3])
@pytest.mark.parametrize("mode", ["observe", "enforce"])
def test_a_lane_is_the_same_both_ways(mode: str, most: int) -> None:
    """One after another and with calls in flight: outcomes, violations, states, when they wake."""
    dice, tally = random.Random(f"{mode} {most}"), Counter[str]()
    for text in WITH:
        made = guard(text, "G(called(c) -> Y O called(a))", mode=mode)
        for _ in range(sized(30, 12)):
            pair = Pair(made)
            found = pair.difference(events(dice, most))
            assert found == "", text
            tally.update(pair.tally)
    assert tally["short"] > 4 * tally["long"] or most
    assert tally["beside others"] > 200 or not most


def test_several_deadlines_are_the_same_both_ways() -> None:
    """Contracts do not disturb each other, and one that is due asks its monitor alone."""
    dice = random.Random(7)
    for _ in range(sized(60, 25)):
        texts = [*dice.sample(WITH, 3), "G !called(a, n > 2)", "G !called(b, n > 2)"]
        pair = Pair(guard(*texts, mode=dice.choice(("observe", "enforce"))))
        found = pair.difference(events(dice, dice.choice((0, 2))))
        assert found == "", texts


@pytest.mark.parametrize("why", WITHOUT)
def test_what_has_no_such_lane_is_the_same_both_ways(why: str) -> None:
    """The monitor judges what its other lane cannot say."""
    dice = random.Random(why)
    made = guard(WITHOUT[why], WITH[0])
    for _ in range(sized(20, 8)):
        assert Pair(made).difference(events(dice, dice.choice((0, 2)))) == ""


def test_what_is_refused_by_another_contract_owes_nothing() -> None:
    """Though this contract alone would let it through."""
    made = guard(WITH[0], "G !called(a, n > 1)", mode="enforce")
    session = made.session()
    assert isinstance(session.decide("a", {"n": 2}), Blocked)
    assert session.pending() == ()
    assert isinstance(session.decide("a", {"n": 1}), Allowed)
    assert len(session.pending()) == 1


def test_a_call_costs_what_it_does_without_deadlines() -> None:
    """What it owes is noted, and what it meets is taken away, without its monitor."""
    plain = contract("order").guarantees(read("G(called(b) -> Y O called(a))"))
    costs = []
    for more in ([], [contract("soon").guarantees(read("G(called(a) -> F[<=400] called(b))"))]):
        session = Guard([plain, *more]).session()

        def ran(session: object = session) -> None:
            for tool in "aaob":
                session.settle(session.decide(tool, {}).id)  # type: ignore[attr-defined]

        for _ in range(20):
            ran()
        costs.append(work(ran))
    assert costs[1] < 2.5 * costs[0]  # 8 times, if the monitor is asked
