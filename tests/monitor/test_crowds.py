"""Many values at once: the words of a text, or of an answer, take one step together."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sponsio_like import Allowed, Guard, Session, contract
from sponsio_like.engine import Clause
from sponsio_like.monitor import ClauseState, State
from sponsio_like.monitor.parametric.store import GAPS_CAP, ValueStates
from sponsio_like.patterns import value_from
from sponsio_like.syntax import read

SAID = "G(called(pay, to = $x) -> O(message(user) & text has $x))"
ONCE = "G(called(pay, to = $x) -> count(message(user) & text has $x) <= 1)"
MANY = [f"w{k}" for k in range(300)]


def guarded(*formulas: str) -> Session:
    """A session under these formulas."""
    each = (contract(f"c{k}").guarantees(read(text)) for k, text in enumerate(formulas))
    return Guard(list(each)).session()


def pays(session: Session, to: str) -> bool:
    """True if this may be paid."""
    outcome = session.decide("pay", {"to": to})
    if isinstance(outcome, Allowed):
        session.settle(outcome.id)
    return isinstance(outcome, Allowed)


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[str]:
    """One entry for each time that a clause is asked from now on."""
    seen, whole = list[str](), getattr(Clause, name)

    def spy(*given: Any) -> Any:
        seen.append(name)
        return whole(*given)

    monkeypatch.setattr(Clause, name, spy)
    return seen


def test_all_words_of_a_text_are_remembered() -> None:
    """Each word of a text is bound, runs of words too, and nothing else."""
    session = guarded(SAID)
    session.message("user", " ".join(MANY))
    assert all(pays(session, word) for word in (*MANY, "w1 w2", "w7 w8 w9"))
    assert not any(pays(session, word) for word in ("w300", "w2 w1", "w"))


def test_a_word_that_was_bound_before_is_bound_anew() -> None:
    """A text changes what is known of words that an earlier text had, as of new ones."""
    session = guarded(ONCE)
    session.message("user", " ".join(MANY[:100]))
    assert pays(session, "w5")
    assert pays(session, "w60")
    session.message("user", " ".join(MANY[50:]))
    assert pays(session, "w5")
    assert not pays(session, "w60")
    assert pays(session, "w250")
    session.message("user", "w250")
    assert not pays(session, "w250")


def test_a_text_asks_the_monitor_once_for_all_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps for a text do not grow with its words."""
    asked = counted(monkeypatch, "step")
    steps = []
    for words in (10, 300):
        session = guarded(SAID)
        asked.clear()
        session.message("user", " ".join(MANY[:words]))
        steps.append(len(asked))
    assert steps[0] == steps[1] <= 2


def test_an_answer_asks_the_monitor_once_for_all_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps for a result do not grow with its words; all of them are remembered."""
    asked = counted(monkeypatch, "settle")
    steps = []
    for words in (10, 300):
        session = Guard([contract("a").guarantees(value_from("pay", "to", "find"))]).session()
        call = session.decide("find").id
        asked.clear()
        session.settle(call, output=" ".join(MANY[:words]))
        steps.append(len(asked))
        assert all(pays(session, word) for word in MANY[:words])
        assert not pays(session, "w300")
    assert steps[0] == steps[1] <= 3


# --- the store ------------------------------------------------------------------------------------


def watch(n: int) -> ClauseState:
    """A state, other for each number."""
    return ClauseState(State((n,), frozenset()), None)


def anything(_: ClauseState, __: ClauseState) -> bool:
    """Any key may be forgotten."""
    return True


@pytest.mark.parametrize("seed", range(30))
def test_many_values_are_stored_as_one_by_one(seed: int) -> None:
    """`put_all` leaves the store as `put` of each key does, also where there is no room."""
    dice = random.Random(seed)
    cap, states = dice.choice([5, 1_000]), dice.choice([2, 100])
    permits = dice.choice([anything, lambda *_: False])
    together, alone = (ValueStates(watch(0), cap, permits, states) for _ in range(2))
    for call in range(40):
        what, to = dice.random(), watch(dice.randrange(4))
        if what < 0.3:
            for store in (together, alone):
                store.put(("k0",), to, call)
        elif what < 0.4:
            for store in (together, alone):
                store.move(dict.fromkeys(list(store.cells)[1:], to), call)
        else:
            fresh = (f"k{dice.randrange(60)}" for _ in range(dice.randrange(8)))
            keys = [(each,) for each in dict.fromkeys(fresh) if not together.knows((each,))]
            together.put_all(keys, to, call)
            for key in keys:
                alone.put(key, to, call)
        assert together.plain() == alone.plain()
        assert [each.keys for each in together.cells.values()] == [
            each.keys for each in alone.cells.values()
        ]


def test_the_oldest_values_are_forgotten_however_many_there_were() -> None:
    """At its cap the store keeps the latest values, and makes its dictionary anew in time."""
    store = ValueStates(watch(0), 3, anything, 100)
    total = 3 * GAPS_CAP
    for call in range(total):
        store.put((call,), watch(1), call)
        assert store._dropped <= GAPS_CAP
    assert list(store.keys) == [(total - 3,), (total - 2,), (total - 1,)]
    assert not store.blind
