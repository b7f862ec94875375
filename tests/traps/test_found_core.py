"""What attacks on the core have found: ids, digests, threads, memory, faults and snapshots."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard, Held, SessionError, contract
from sponsio_like.engine.index import INDEX_CAP
from sponsio_like.patterns import always_followed_by, amount_limit, rate_limit
from sponsio_like.session import fast as passing
from sponsio_like.values.canonical_form import WRITTEN_CAP, NotCanonical, digest
from tests.semantics.manifest import requirement

KELVIN = "\u212a"
"""The sign of the unit; in NFC it is the letter K."""


def guard_of(*rules: Any, mode: Any = "enforce") -> Guard:
    """One contract for each rule, a pattern or a formula."""
    forms = [{"ltl": each} if isinstance(each, str) else each for each in rules]
    return Guard([contract(f"c{i}").guarantees(each) for i, each in enumerate(forms)], mode=mode)


# --- ids and digests ------------------------------------------------------------------------------


@requirement("S-ID-06")
@pytest.mark.parametrize("at", ["", "list", "map"])
def test_keys_that_are_one_in_nfc_have_no_digest(at: str) -> None:
    """Two keys that NFC makes one have no canonical form, wherever they stand."""
    both: Any = {"K": 5, KELVIN: 500}
    args = {"": both, "list": {"a": [both]}, "map": {"a": both}}[at]
    with pytest.raises(NotCanonical, match="two keys"):
        digest("pay", args)
    assert digest("pay", {"K": 5}) == digest("pay", {KELVIN: 5})


SCALARS = [0, 1, -1, 10, -2500, 10**14, 10**15, 10**15 - 1, 10**16, 1.0, 1.5, True, False, None]
TEXTS = ["", "a", "1", "é", "e\u0301", "x" * WRITTEN_CAP, "x" * (WRITTEN_CAP + 1)]


class Same(dict[str, Any]):
    """Arguments that are no plain dictionary: their fingerprint is made on the slow path."""


@requirement("S-ID-06")
@pytest.mark.parametrize(
    "value", [*SCALARS, *TEXTS, [1], {"a": 1}], ids=lambda each: repr(each)[:9]
)
def test_flat_arguments_have_the_fingerprint_of_all_others(value: Any) -> None:
    """What is read on the fast path is told apart, and found equal, as on the slow path."""
    for args in ({"a": value}, {"b": 1, "a": value}, {"é": 1, "a": value}):
        assert digest("pay", args) == digest("pay", Same(args))
        assert digest("pay", args) == digest("pay", Same(reversed(args.items())))
        assert digest("pay", args) != digest("pay", Same({**args, "a": [value]}))


@requirement("S-ID-06")
def test_the_first_answer_is_not_for_keys_that_are_swapped() -> None:
    """An id in flight is blocked with arguments whose keys are one in NFC, also for its own."""
    session = guard_of(rate_limit("pay", 10)).session()
    assert isinstance(session.decide("pay", {"K": 5, KELVIN: 500}, id="x"), Allowed)
    for args in ({"K": 500, KELVIN: 5}, {"K": 5, KELVIN: 500}):
        assert isinstance(session.decide("pay", args, id="x"), Blocked)


@requirement("S-ID-06")
def test_what_was_approved_never_runs_with_keys_that_are_swapped() -> None:
    """A call whose keys are one in NFC cannot be held for a person: it is blocked."""
    rule = contract("c").guarantees(rate_limit("pay", 0)).strategy("escalate")
    session = Guard([rule]).session()
    for args in ({"K": "good", KELVIN: "evil"}, {"K": "evil", KELVIN: "good"}):
        assert isinstance(session.decide("pay", args, id="x"), Blocked)
    assert session.tickets() == ()
    assert isinstance(session.decide("pay", {"K": "good"}, id="x"), Held)


@requirement("S-ID-05")
@pytest.mark.parametrize("args", [[{"n": 60}] * 3, [{"n": 60}, {"n": 1}, {"n": 2}]])
def test_an_id_that_stands_twice_in_a_batch_is_blocked(args: list[Any]) -> None:
    """Of calls that share an id in one batch the first is decided, the others are blocked."""
    session = guard_of(amount_limit("pay", "n", 100)).session()
    first, *others = session.decide_batch([("pay", each, "x") for each in args])
    assert isinstance(first, Allowed)
    for each in others:
        assert isinstance(each, Blocked)
        assert "id `x` stands twice in this batch" in each.advice
    assert session.calls == 1


@requirement("S-ID-05")
def test_where_only_observed_an_id_that_stands_twice_is_reported() -> None:
    """Observed, the later calls run, and what is wrong with them is said."""
    session = guard_of(amount_limit("pay", "n", 100), mode="observe").session()
    first, second = session.decide_batch([("pay", {"n": 60}, "x")] * 2)
    assert isinstance(first, Allowed)
    assert not first.observed
    assert isinstance(second, Allowed)
    assert "stands twice" in second.observed[0].message


@requirement("S-ID-05")
def test_the_same_batch_may_be_decided_again() -> None:
    """Ids that are in flight have the first answer, in another batch."""
    session = guard_of(amount_limit("pay", "n", 100)).session()
    batch = [("pay", {"n": 40}, "x"), ("pay", {"n": 50}, "y"), ("pay", {"n": 5}), ("pay", {"n": 4})]
    for _ in range(2):
        outcomes = session.decide_batch(batch[:2])
        assert [type(each) for each in outcomes] == [Allowed, Allowed]
    assert [type(each) for each in session.decide_batch(batch[2:])] == [Allowed, Allowed]


def test_a_batch_with_an_id_that_is_no_text_decides_nothing() -> None:
    """What is no id is an error of the host, before the first call of the batch counts."""
    session = guard_of(amount_limit("pay", "n", 100)).session()
    with pytest.raises(SessionError, match="have to be strings"):
        session.decide_batch([("pay", {"n": 60}, "x"), ("pay", {"n": 1}, 7)])
    assert session.calls == 0


@requirement("S-ID-07")
def test_an_empty_id_is_no_id() -> None:
    """Calls with an empty id have ids that are made, and each of them counts."""
    session = guard_of(amount_limit("pay", "n", 100)).session()
    first, second = session.decide("pay", {"n": 60}, id=""), session.decide("pay", {"n": 60}, id="")
    assert isinstance(first, Allowed)
    assert isinstance(second, Blocked)
    assert first.id
    assert second.id
    assert first.id != second.id
    batch = session.decide_batch([("look", {}, ""), ("look", {}, "")])
    assert [type(each) for each in batch] == [Allowed, Allowed]


# --- memory ---------------------------------------------------------------------------------------

WORDS = ("delete", "remove", "drop", "send", "mail", "pay", "exec", "shell", "sql", "write")


def named(k: int) -> str:
    """The name of a tool that some of these words stand in, others for each number."""
    return "_".join(word for i, word in enumerate(WORDS) if k >> i & 1) or "z"


@requirement("S-FAIL-11")
def test_what_is_remembered_of_tools_is_capped() -> None:
    """A guard under globs that has met a thousand kinds of names has a few hundred lanes."""
    guard = guard_of(*[rate_limit(f"*{word}*", 3) for word in WORDS])
    session = guard.session()
    for k in range(1 << len(WORDS)):
        session.decide(named(k))
    assert len(guard.policy.built) <= 256
    assert sum(isinstance(each, frozenset) for each in guard.policy.lanes) <= 257
    assert len(guard.policy.lanes) <= INDEX_CAP + 257


@requirement("S-FAIL-11")
def test_beyond_the_cap_calls_are_decided_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tools for which there is no room take the slow path, and count."""
    told = []
    for cap in (passing.LANES_CAP, 2):
        monkeypatch.setattr(passing, "LANES_CAP", cap)
        session = guard_of(*[rate_limit(f"*{word}*", 3) for word in WORDS]).session()
        told.append([type(session.decide(named(k * 37 % 1024))).__name__ for k in range(60)])
    assert told[0] == told[1]
    assert set(told[0]) == {"Allowed", "Blocked"}


# --- threads --------------------------------------------------------------------------------------

DECIDES: dict[str, Callable[[Any], Any]] = {
    "fast path": lambda session: session.decide("pay"),
    "slow path": lambda session: session.decide("pay", MappingProxyType({})),
    "batch": lambda session: session.decide_batch([("pay", {})]),
    "response": lambda session: session.message("assistant", "done"),
    "step": lambda session: session.step(["done"]),
}


@requirement("S-END-04")
@pytest.mark.parametrize("way", DECIDES)
def test_what_waits_while_the_session_is_finished_is_not_let_through(way: str) -> None:
    """A decision that waits in the clock while somebody else finishes is an error of the host."""
    armed: list[Any] = []

    def clock() -> float:
        if armed:
            armed.pop()()
        return 1.0

    session = guard_of(always_followed_by("pay", "notify")).session(clock=clock)
    armed.append(session.finish)
    with pytest.raises(SessionError, match="is finished"):
        DECIDES[way](session)
    assert not armed
    assert (session.open, session.calls) == (False, 0)
