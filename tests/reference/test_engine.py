"""The engine says what the oracle says: every small formula, on every short trace, at every event.

Compared are, after each event, what is violated and at which position, what time has violated, the
verdict, and what would be unfulfilled; what is blocked; and that a snapshot changes none of it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract
from sponsio_like.errors import ContractError
from sponsio_like.outcome import Allowed
from tests.reference import oracle
from tests.reference.oracle import Formula, call, settle
from tests.reference.oracle_runs import Scope, run
from tests.reference.tables import (
    ASSUMING,
    CA,
    DB,
    SCOPED,
    Case,
    always,
    assuming,
    compare,
    count,
    groups,
    sample,
    scoped,
    table,
)
from tests.reference.walk import (
    Disagreement,
    built,
    contract,
    forked,
    guard,
    happen,
    opened,
    restored,
    shown,
    walk,
    walk_enforced,
)

CHUNK = 10


def chunks() -> list[object]:
    """The formulas, some at a time."""
    found: list[object] = []
    for name, formulas in groups().items():
        for n, start in enumerate(range(0, len(formulas), CHUNK)):
            found.append(pytest.param(formulas[start : start + CHUNK], id=f"{name} {n}"))
    return found


def first(disagreements: Iterator[Disagreement]) -> str:
    """The first disagreement in words; nothing if there is none."""
    return "\n".join(str(each) for each in itertools.islice(disagreements, 1))


@pytest.mark.parametrize("formulas", chunks())
def test_the_engine_agrees_with_the_oracle(formulas: list[Formula]) -> None:
    """After every event, violations, verdict and what is unfulfilled are those of the oracle."""
    for formula in formulas:
        assert first(walk(table(formula), forked)) == ""


@pytest.mark.long
@pytest.mark.parametrize("formulas", chunks())
def test_exactly_the_calls_that_violate_are_blocked(formulas: list[Formula]) -> None:
    """A call is blocked if and only if the oracle reports it, and then nothing has changed."""
    for formula in formulas:
        assert first(walk_enforced(table(formula))) == ""


@pytest.mark.long
@pytest.mark.parametrize("n", range(3))
def test_a_restored_session_goes_on_as_if_nothing_had_happened(n: int) -> None:
    """A session that is written down and restored after every event says what the oracle says."""
    some = [*groups()["templates"][n::3], *groups()["timed"][n::3]][::2] + sample(2, 4, seed=n)
    for formula in some:
        assert first(walk(table(formula), restored)) == ""


@pytest.mark.parametrize(("formula", "assume"), ASSUMING)
def test_a_violation_counts_where_the_assumption_holds(formula: Formula, assume: Formula) -> None:
    """Evaluated at the step that would violate; the guarantee is watched from the start anyway."""
    assert first(walk(assuming(formula, assume))) == ""


@pytest.mark.parametrize(("formula", "scope"), SCOPED)
def test_a_scope_starts_afresh_with_every_segment(formula: Formula, scope: Scope) -> None:
    """With the position of its start, without that of its end; what is open at its end fails."""
    assert first(walk(scoped(formula, scope))) == ""


@pytest.mark.long
@pytest.mark.parametrize(
    "formula", [always(CA, compare(count(CA), "<=", 1)), always(CA, ("Y", ("O", DB)))]
)
def test_a_split_guarantee_watches_every_value_by_itself(formula: Formula) -> None:
    """Split by an argument, a guarantee sees for each value only the calls that have it."""
    rule = Rule(built(formula), by=("x",))
    start = opened(guard(Contract("c", (rule,))))
    calls = [call(tool, x=x) for tool in "ab" for x in (1, 2)]
    for chosen in itertools.product(calls, repeat=4):
        session = forked(start)
        trace: list[oracle.Event] = []
        for each in chosen:
            for event in (each, settle(len(trace), "done")):
                said = happen(session, event, len(trace))
                trace.append(event)
                mine = of_value(trace, dict(each.args)["x"])
                reports = run(formula, mine).reports
                violated = any(report.moment == len(mine) - 1 for report in reports)
                assert bool(said.now) == violated, shown(trace)


def of_value(trace: list[oracle.Event], x: object) -> list[oracle.Event]:
    """The calls with this value, and their results."""
    mine: list[oracle.Event] = []
    for event, result in zip(trace[::2], [*trace[1::2], None], strict=False):
        if dict(event.args)["x"] == x:
            mine += [event] if result is None else [event, settle(len(mine), result.name)]
    return mine


def test_a_call_without_the_value_that_splits_is_blocked() -> None:
    """A call that a split guarantee restricts must have the value; other calls need not."""
    rule = Rule(built(always(CA, compare(count(CA), "<=", 1))), by=("x",))
    session = opened(guard(Contract("c", (rule,)), mode="enforce"))
    assert not isinstance(session.decide("a", {}), Allowed)
    assert isinstance(session.decide("b", {}), Allowed)
    assert isinstance(session.decide("a", {"x": 1}), Allowed)


@pytest.mark.long
def test_contracts_do_not_disturb_each_other() -> None:
    """A session of many contracts says of each what a session of that one alone says."""
    chance = random.Random(7)
    for _ in range(6):
        chosen = chance.sample([*groups()["templates"], *sample(2, 60)], 8)
        contracts = [contract(Case(formula), str(n)) for n, formula in enumerate(chosen)]
        alone = [opened(guard(each)) for each in contracts if loads(each)]
        together = opened(guard(*(each for each in contracts if loads(each))))
        for number, event in enumerate(random_trace(chance, 25)):
            said = happen(together, event, number)
            each = [happen(session, event, number) for session in alone]
            assert len(said.now) == sum(len(one.now) for one in each)
            assert set(together.pending()) == {p for one in alone for p in one.pending()}
        verdicts = [verdict for one in alone for verdict in one.verdicts().items()]
        assert together.verdicts() == dict(verdicts)


def loads(each: Contract) -> bool:
    """Whether a guard accepts the contract."""
    try:
        guard(each)
    except ContractError:
        return False
    return True


def random_trace(chance: random.Random, length: int) -> Iterator[oracle.Event]:
    """Calls, messages, steps, and results that come in any order."""
    flying: list[int] = []
    for number in range(length):
        if flying and chance.random() < 0.4:
            made = flying.pop(chance.randrange(len(flying)))
            yield settle(made, chance.choice(["done", "failed"]))
        elif chance.random() < 0.2:
            yield chance.choice([oracle.message("user"), oracle.step("tick"), oracle.step()])
        else:
            flying.append(number)
            yield call(chance.choice("aabbo"))
