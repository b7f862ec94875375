"""What is told of a call that is held, and who is asked, when things change while it waits."""

from __future__ import annotations

from typing import Any

from sponsio_like import Allowed, Guard, Held, contract
from sponsio_like.notices import drain
from sponsio_like.patterns import arg_value_range, deadline, rate_limit
from tests.semantics.manifest import requirement
from tests.session.test_tickets import large, opened, pay, ticket


@requirement("S-ASK-19")
def test_what_is_violated_only_while_a_call_waits_is_told_once() -> None:
    """Trying a held call again says nothing twice, and everything once."""
    records: list[Any] = []
    told: list[str] = []
    few = contract("few").guarantees(rate_limit("pay", 1)).strategy("warn_only")
    session, _ = opened(
        large(), few, log=records.append, notify=[lambda n: told.append(n.contract)]
    )
    assert isinstance(pay(session), Held)
    session.settle(pay(session, 5, id="small").id)
    for _ in range(3):
        held = pay(session)
        assert isinstance(held, Held)
        assert {each.contract for each in held.violations} == {"large", "few"}
    drain()
    assert told == ["large", "few"]
    logged = [each["contract"] for one in records for each in one.get("violations", ())]
    assert logged == ["large", "few"]


@requirement("S-ASK-19")
def test_what_is_violated_after_a_denial_is_told() -> None:
    """A call that stays refused still says what else it has come to violate."""
    records: list[Any] = []
    few = contract("few").guarantees(rate_limit("pay", 1)).strategy("warn_only")
    session, _ = opened(large(), few, log=records.append)
    session.deny(ticket(pay(session)), by="ann")
    session.settle(pay(session, 5, id="small").id)
    records.clear()
    pay(session)
    pay(session)
    assert [each["contract"] for one in records for each in one["violations"]] == ["few"]


@requirement("S-ASK-20")
def test_a_contract_that_asks_other_roles_now_asks_again() -> None:
    """An answer by a role that the contract does not ask any more lets nothing through."""
    roles = ["clerk"]
    rule = arg_value_range("pay", "amount", max=100)
    asks = contract("it").guarantees(rule).strategy(lambda _: {"escalate": {"roles": list(roles)}})
    session, _ = opened(asks)
    session.approve(ticket(pay(session)), by="ann", role="clerk")
    roles[:] = ["owner"]
    again = ticket(pay(session))
    assert again.roles == ("owner",)
    session.approve(again, by="bob", role="owner")
    assert isinstance(pay(session), Allowed)


@requirement("S-TIME-05")
def test_what_time_has_violated_is_told_whatever_is_asked_next() -> None:
    """A deadline that ran out is reported with the next call, even if a callable rules on it."""
    records: list[Any] = []
    late = contract("late").guarantees(deadline("receive", "respond", seconds=5))
    none = contract("none").guarantees(rate_limit("pay", 0)).strategy(lambda _: "warn_only")
    now = [0.0]
    session = Guard([late, none], log=records.append).session(clock=lambda: now[0])
    session.settle(session.decide("receive").id)
    now[0] = 10.0
    session.decide("pay")
    found = [each["contract"] for one in records for each in one["violations"]]
    assert found == ["late", "none"]
