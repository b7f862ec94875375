"""A snapshot as a text: it says what the snapshot says, however the session has come there."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Callable

import pytest

from sponsio_like import Allowed, Blocked, Guard, Held, contract
from sponsio_like.errors import SessionError, SnapshotError
from sponsio_like.patterns import (
    amount_limit,
    arg_value_range,
    idempotent,
    must_precede,
    token_budget,
)
from sponsio_like.patterns import rate_limit as limit
from sponsio_like.session import Session, read_saved, saved


def _guard() -> Guard:
    """Contracts that count, add up, look back, ask people, and remember one thing for each key."""
    asks = {"escalate": {"roles": ["manager"]}}
    return Guard(
        [
            contract("few").guarantees(limit("pay", limit=20)),
            contract("sum").guarantees(amount_limit("pay", "amount", 500)),
            contract("first").guarantees(must_precede("check", "pay")),
            contract("each").guarantees(idempotent("refund", by=["order"])),
            contract("large").guarantees(arg_value_range("pay", "amount", max=40)).strategy(asks),
        ]
    )


def _one(session: Session, chance: random.Random, number: int) -> None:
    """A call, or what comes of one that runs, or an answer of a person."""
    amount, id = chance.choice([1, 30, 2.5, 41]), str(number)
    match chance.randrange(5):
        case 0:
            session.decide("check", {}, id=id)
        case 1:
            session.decide("refund", {"order": chance.choice("abcdé")}, id=id)
        case 2:
            session.fact("day", chance.choice(["monday", 1.0, None]))
        case _:
            outcome = session.decide("pay", {"amount": amount}, id=id)
            if isinstance(outcome, Held) and chance.random() < 0.5:
                session.approve(outcome.ticket.id, by="ann", role="manager")
    flying = session._inner.in_flight()
    if flying and chance.random() < 0.7:
        session.settle(flying[0], output=chance.choice(["paid", None]))


@pytest.mark.parametrize("seed", range(6))
def test_a_text_says_what_the_snapshot_says(seed: int) -> None:
    """Parts that are written down from before are those of now; also after it was read back."""
    chance, guard = random.Random(seed), _guard()
    session = guard.session("one")
    for number in range(60):
        _one(session, chance, number)
        text = saved(session)
        assert isinstance(text, str)
        assert read_saved(text) == json.loads(json.dumps(session.snapshot()))
        if chance.random() < 0.2:
            session = guard.restore(read_saved(text))
    (fresh,) = [_guard().restore(read_saved(saved(session)))]
    assert saved(fresh) == saved(session)


def test_a_text_that_was_changed_is_refused() -> None:
    """Nobody adds to what was paid, and nobody takes a contract away."""
    session = _guard().session()
    session.decide("check", {}, id="1")
    text = saved(session)
    assert isinstance(text, str)
    for changed in (text.replace("check", "chock"), text[:-1], f" {text}", "", text.split(" ")[0]):
        with pytest.raises(SnapshotError, match="damaged"):
            read_saved(changed)


def test_a_long_text_is_dense() -> None:
    """Of 400 orders each looks like the others; a text that was changed is refused here, too."""
    session = _guard().session()
    for number in range(400):
        session.decide("refund", {"order": f"order {number}"}, id="1")
        session.settle("1", output="paid")
    text = saved(session)
    assert isinstance(text, str)
    assert read_saved(text) == json.loads(json.dumps(session.snapshot()))
    assert len(text) < len(json.dumps(session.snapshot())) / 8
    for changed in (text[:-8], text[:50], text.replace(text[60:64], "AAAA"), text[:33] + "é"):
        with pytest.raises(SnapshotError, match="damaged"):
            read_saved(changed)
    again = _guard().restore(read_saved(text))
    assert isinstance(again.decide("refund", {"order": "order 7"}, id="2"), Blocked)


def test_what_no_text_can_say_is_saved_as_data() -> None:
    """Python writes no number of more than 4,300 digits down."""
    session = Guard([contract("few").guarantees(token_budget(10))]).session()
    session.message("assistant", "hello", usage={"total_tokens": 10**5_000})
    assert read_saved(saved(session)) == session.snapshot()
    assert not isinstance(saved(session), str)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_session_is_not_doubled(copied: Callable[[Session], Session]) -> None:
    """A copy is the session itself: two would each let through what one may."""
    session = Guard([contract("few").guarantees(limit("pay", limit=2))]).session()
    other = copied(session)
    outcomes = [each.decide("pay") for each in (session, other, other, session)]
    assert [type(each) for each in outcomes] == [Allowed, Allowed, Blocked, Blocked]


def test_a_session_cannot_be_pickled() -> None:
    """Its snapshot is its state as data."""
    with pytest.raises(SessionError, match=r"`snapshot\(\)` is its state"):
        pickle.dumps(_guard().session())
