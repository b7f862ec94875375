"""What a host tells wrongly is refused at once, and what is told to people is what happened."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard, contract
from sponsio_like.errors import SessionError, TraceError
from sponsio_like.patterns import approval_active
from sponsio_like.trace import trace_of
from tests.manifest import requirement

# --- facts ----------------------------------------------------------------------------------------

APPROVAL = {"action": "pay", "role": "boss", "by": "ann"}


@requirement("S-FACT-07")
@pytest.mark.parametrize("said", ["aprove", "Approve", "approved", "", "yes", True, None, 1, []])
def test_an_approval_that_says_neither_yes_nor_no_is_refused(said: Any) -> None:
    """An approval of which nobody knows the decision is an error of the host, not a lost answer."""
    fact = APPROVAL | ({} if said is None else {"decision": said})
    session = Guard([contract("c").guarantees(approval_active("pay", "boss"))]).session()
    with pytest.raises(SessionError, match="is neither yes nor no; write `approve`, or one of"):
        session.fact("approval", fact)
    event = {"type": "fact", "key": "approval", "value": fact}
    with pytest.raises(TraceError, match=r"event 0: .* is neither yes nor no"):
        trace_of({"id": "t", "events": [event]})


@requirement("S-FACT-07")
@pytest.mark.parametrize(
    "no",
    [*("deny", "denied", "reject", "rejected", "refuse", "refused", "revoke", "revoked"), None],
)
def test_an_approval_that_says_no_ends_one(no: str | None) -> None:
    """Each word for no ends the approval of that person; so does `revoked` without a decision."""
    session = Guard([contract("c").guarantees(approval_active("pay", "boss"))]).session()
    session.fact("approval", APPROVAL | {"decision": "approve"})
    assert isinstance(session.decide("pay"), Allowed)
    session.fact("approval", APPROVAL | ({"decision": no} if no else {"revoked": True}))
    assert isinstance(session.decide("pay"), Blocked)
