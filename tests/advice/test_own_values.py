"""Advice names what the values of the refused call lack, and not what they have."""

from __future__ import annotations

import pytest

from sponsio_like import Blocked, Guard, contract
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract
from sponsio_like.syntax import read

CHECKED = "G(called(pay) -> Y O (done(approve) & Y O done(check)))"
WITH_ID = "G(called(pay, id = $x) -> Y O (done(approve, id = $x) & Y O done(check, id = $x)))"
EACH = {
    "by a variable": contract("c").guarantees({"ltl": WITH_ID}),
    "by a field": Contract("c", (Rule(read(CHECKED), by=("id",)),)),
}


@pytest.mark.parametrize("form", EACH)
def test_a_step_that_this_value_has_made_is_not_asked_for_again(form: str) -> None:
    """Only the other one is missing; for another value, both are."""
    session = Guard([EACH[form]]).session()
    session.settle(session.decide("check", {"id": 1}).id)
    mine, other = session.decide("pay", {"id": 1}), session.decide("pay", {"id": 2})
    assert isinstance(mine, Blocked)
    assert isinstance(other, Blocked)
    assert "`check`" not in mine.advice
    assert "first call `approve`" in mine.advice
    assert "first call `check`" in other.advice
