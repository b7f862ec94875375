"""What fresh eyes have found in the fast path of a call; each is the same both ways now."""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Contract, Guard, contract
from sponsio_like.contracts.declaration import Rule
from sponsio_like.engine.index import INDEX_CAP
from sponsio_like.errors import Finished
from sponsio_like.logic.formula import Always, Happens, Implies, Match, Once, Seconds
from tests.support.play import guarded


def told(direct: bool, made: Contract, calls: list[tuple[str, dict[str, Any]]]) -> list[type]:
    """What becomes of calls, each settled at once, one way or the other."""
    session = Guard([made]).session("s", clock=lambda: 1.0)
    session._direct = direct
    outcomes = []
    for number, (tool, more) in enumerate(calls):
        outcomes.append(type(session.decide(tool, {}, id=str(number), **more)))
        session.settle(str(number))
    return outcomes


@pytest.mark.parametrize("direct", [True, False])
def test_shared_states_keep_the_memory_of_the_assumption(direct: bool) -> None:
    """What an assumption remembers is not what it was at the start."""
    made = contract("c").assume({"ltl": "since(called(login)) <= 50"})
    made = made.guarantees({"ltl": "G(called(pay) -> !O called(freeze))"})
    calls: list[tuple[str, dict[str, Any]]] = [("login", {}), ("freeze", {}), ("pay", {})]
    assert told(direct, made, calls) == [Allowed, Allowed, Blocked]


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("who", ["!(depth() <= 1)", "depth() > 1", 'agent = "bob"'])
def test_an_assumption_on_who_calls_is_read_from_the_call(direct: bool, who: str) -> None:
    """Whatever the tool, named or not: the caller is the one of this call."""
    made = contract("c").assume({"ltl": who}).guarantees({"ltl": "G(O done(login))"})
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read", {"depth": 0, "agent": "ann"}),
        ("read", {"depth": 2, "agent": "bob"}),
    ]
    assert told(direct, made, calls) == [Allowed, Blocked]


@pytest.mark.parametrize(
    ("text", "tool", "expected"),
    [
        ("G(called(pay) -> !O done(freeze)) & G(count(called(tick)) <= 9)", "freeze", Blocked),
        ("G(called(pay) -> O done(login)) & G(count(called(tick)) <= 9)", "login", Allowed),
    ],
)
def test_a_result_that_is_on_its_way_is_not_lost(text: str, tool: str, expected: type) -> None:
    """Between settling and settling nothing takes the fast path, however slow the clock is."""
    gap, free = threading.Event(), threading.Event()
    slow: list[threading.Thread] = []

    def clock() -> float:
        if threading.current_thread() in slow:
            gap.set()
            free.wait(5)
        return 1.0

    session = guarded(text).session("s", clock=clock)
    session.decide(tool, {}, id="A")
    session.decide("other", {}, id="x")
    session.settle("x")
    slow.append(threading.Thread(target=lambda: session.settle("A")))
    slow[0].start()
    gap.wait(5)
    session.decide("tick", {}, id="B")
    session.settle("B")
    free.set()
    slow[0].join()
    assert isinstance(session.decide("pay", {}), expected)


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("hangs", [True, False])
@pytest.mark.parametrize("late", ["call", "result"])
def test_a_deadline_that_has_run_out_is_told_with_the_next_event(
    late: str, direct: bool, hangs: bool
) -> None:
    """Whatever that event is, and whatever else is in flight: not with a later one."""
    now, records = [0.0], list[dict[str, Any]]()
    made = contract("soon").guarantees({"ltl": "G(called(a) -> F[<=5s] called(b))"})
    session = Guard([made], mode="observe", log=records.append).session(clock=lambda: now[0])
    session._direct = direct
    session.settle(session.decide("other", id="0").id)
    session.settle(session.decide("a", id="1").id)
    if hangs:
        session.decide("other", id="2")
    told, now[0] = len(records), 5.0
    if late == "result":
        session.decide("other", id="3")
    assert not any(each.get("violations") for each in records[told:])
    now[0] = 6.0
    if late == "call":
        session.decide("other", id="3")
    else:
        session.settle("3")
    named = [each["contract"] for one in records[told:] for each in one.get("violations", ())]
    assert named == ["soon"]


@pytest.mark.parametrize("odd", ["sNaN", "NaN123", "NaN", "Infinity"])
def test_numbers_of_an_odd_kind_hold_nobody_up(odd: str) -> None:
    """A call whose arguments have no fingerprint is in flight like any other."""
    for direct in (True, False):
        session = guarded("G(called(pay) -> !O called(freeze))").session()
        session._direct = direct
        assert isinstance(session.decide("pay", {"n": Decimal(odd)}, id="1"), Allowed)
        assert session.verdicts()
        assert session.calls == 1
        assert list(session._inner.flights) == ["1"]


def test_a_bound_without_end_is_a_bound() -> None:
    """Formulas of Python may have bounds that no text has."""
    once = Once(Happens("done", (Match(("login",)),)), Seconds(float("inf")))
    body = Implies(Happens("called", (Match(("pay",)),)), once)
    for direct in (True, False):
        calls: list[tuple[str, dict[str, Any]]] = [("pay", {}), ("login", {}), ("pay", {})]
        made = Contract("c", (Rule(Always(body)),))
        assert told(direct, made, calls) == [Blocked, Allowed, Allowed]


def test_arguments_that_change_while_they_are_read_block_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever reading them raises, the host meets no exception."""

    def half_written(*_: Any) -> Any:
        raise RuntimeError("dictionary changed size during iteration")

    session = guarded("G(called(pay) -> !O called(freeze))").session()
    monkeypatch.setattr("sponsio_like.session.fast.flat_copy", half_written)
    monkeypatch.setattr("sponsio_like.session.decide.given_args", half_written)
    assert isinstance(session.decide("pay", {}), Blocked)


def test_tools_that_nobody_names_share_their_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many names a model makes up, a lane is built once for those that globs take alike."""
    guard = guarded("G(count(called(db_*)) <= 100000)")
    session = guard.session()
    for number in range(INDEX_CAP + 10):
        session.settle(session.decide(f"junk {number}").id)
    session.settle(session.decide("db_1").id)
    monkeypatch.setattr("sponsio_like.session.fast.lane_of", pytest.fail)
    assert isinstance(session.decide("db_2"), Allowed)


BETWEEN: dict[str, Any] = {
    "finish": lambda session: session.finish(),
    "a call that is held": lambda session: session.decide("deploy"),
    "a call in flight": lambda session: session.decide("other", id="5"),
    "a call in flight that matters": lambda session: session.decide("freeze", id="5"),
    "a refusal that ends the run": lambda session: session.decide("halt"),
    "a fact": lambda session: session.fact("calm", True),
    "a message": lambda session: session.message("assistant", "stop"),
    "a deadline": lambda session: session.settle(session.decide("order").id),
    "a snapshot": lambda session: session.snapshot(),
    "nothing": lambda session: None,
}
"""What may happen between two calls."""
RULES = {
    "frozen": "G(called(pay) -> !O called(freeze))",
    "told": "G(called(pay) -> fact_age(calm) >= 100)",
    "late": "G(called(order) -> F[<=5s] called(ship))",
}


@pytest.mark.parametrize("between", BETWEEN)
def test_whatever_happens_between_calls_is_seen(between: str) -> None:
    """A call with a lane is decided as without one, after calls that nothing came between."""
    said = []
    for direct in (True, False):
        now = [1.0]
        rules = [contract(name).guarantees({"ltl": text}) for name, text in RULES.items()]
        rules.append(contract("h").guarantees({"ltl": "G !called(deploy)"}).strategy("escalate"))
        rules.append(contract("s").guarantees({"ltl": "G !called(halt)"}).strategy("stop"))
        session = Guard(rules).session(clock=lambda now=now: now[0])  # type: ignore[misc]
        session._direct = direct
        for number in range(3):
            session.settle(session.decide("pay", id=str(number)).id)
        assert session._inner.sequential is direct
        BETWEEN[between](session)
        now[0] = 10.0
        try:
            outcome = session.decide("pay", id="5")
            told: Any = type(outcome), getattr(outcome, "violations", None)
            session.settle("5")
        except Finished:
            told = Finished
        said.append((told, session.verdicts(), session.calls, sorted(session._inner.flights)))
    assert said[0] == said[1]
