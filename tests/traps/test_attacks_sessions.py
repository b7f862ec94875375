"""What became of sessions: observers, snapshots, replays, and calls that never settle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import (
    Allowed,
    Blocked,
    Guard,
    Session,
    SessionError,
    SnapshotError,
    TraceError,
    atom,
    contract,
)
from sponsio_like.events.registry import CUSTOM
from sponsio_like.patterns import idempotent, must_precede, rate_limit, redirect_to_safe
from sponsio_like.replay.replay import Replay, TraceVerdict
from sponsio_like.session.resume import seal
from sponsio_like.traces import read_traces, trace_of

GATE = contract("gate").guarantees(must_precede("check", "pay"))
BLIND = contract("gate").guarantees(
    {"ltl": "G(called(pay) -> O (called(go) & count(done(check)) > 0))"}
)
FEW = contract("few").guarantees(rate_limit("pay", 3))


# --- observers ------------------------------------------------------------------------------------


@pytest.mark.long
def test_an_observer_that_goes_blind_stops_nothing() -> None:
    """A rule that only observes, and can remember no more, blocks no call of the others."""
    mine = Guard([BLIND.observe(), contract("other").guarantees(rate_limit("drop", 0))]).session()
    for n in range(100):
        assert isinstance(mine.decide("check", id=f"{n}"), Allowed)
    assert isinstance(mine.decide("drop"), Blocked)


@pytest.mark.long
def test_where_all_observe_one_blind_rule_blinds_no_other() -> None:
    """Calls are counted on, whatever another rule can no longer tell."""
    mine = Guard([BLIND, FEW], mode="observe").session()
    for n in range(100):
        mine.decide("check", id=f"c{n}")
        outcome = mine.decide("pay", id=f"{n}")
        assert isinstance(outcome, Allowed)
        assert ("few" in {each.contract for each in outcome.observed}) == (n >= 3)
        mine.settle(f"{n}")
    assert mine.calls == 200


@pytest.mark.long
def test_an_enforced_rule_that_goes_blind_blocks() -> None:
    """What is enforced and can remember no more refuses, and says which call to settle."""
    mine = Guard([BLIND]).session()
    mine.settle(mine.decide("other").id)
    outcomes = [mine.decide("check", id=f"{n}") for n in range(100)]
    assert isinstance(outcomes[0], Allowed)
    assert isinstance(outcomes[-1], Blocked)
    assert "position 1 is in flight" in outcomes[-1].advice
    mine.settle("0")
    assert isinstance(mine.decide("check"), Allowed)


def test_a_call_that_hangs_for_long_blinds_no_rule() -> None:
    """However much happens in the meantime, its result is taken as if it had come at once."""
    mine = Guard([GATE]).session()
    mine.decide("check", id="open")
    for _ in range(1_100):
        assert isinstance(mine.decide("pay"), Blocked)
        mine.settle(mine.decide("other").id)
    mine.settle("open")
    assert isinstance(mine.decide("pay"), Allowed)


def test_where_all_observe_calls_that_never_settle_are_still_counted() -> None:
    """More calls in flight than are remembered disturb nobody who observes, and each is seen."""
    mine = Guard([FEW], mode="observe").session()
    outcomes = [mine.decide("pay", id=f"{n}") for n in range(1_500)]
    assert all(isinstance(each, Allowed) for each in outcomes)
    assert all(each.observed for each in outcomes[3:] if isinstance(each, Allowed))
    assert mine.calls == 1_500


@pytest.mark.parametrize("mode", ["observe", "enforce"])
def test_an_atom_that_raises_speaks_for_its_own_rule(mode: Any) -> None:
    """One rule that cannot be told blinds no other, and blocks only if it is enforced."""
    before = dict(CUSTOM)

    def broken(call: Any, context: Any) -> bool:
        raise OSError("cannot tell")

    atom("broken")(broken)
    odd = contract("odd").guarantees({"ltl": "G(called(pay) -> broken())"}).in_mode(mode)
    mine = Guard([odd, FEW]).session()
    outcomes = [mine.decide("pay") for _ in range(4)]
    CUSTOM.clear()
    CUSTOM.update(before)
    if mode == "enforce":
        assert [type(each) for each in outcomes] == [Blocked] * 4
    else:
        assert [type(each) for each in outcomes] == [Allowed] * 3 + [Blocked]


# --- snapshots ------------------------------------------------------------------------------------


def lived() -> Session:
    """A session with something of everything in its state."""
    rules = [
        GATE,
        FEW,
        contract("one each").guarantees(idempotent("book", by=["id"])),
        contract("spent").guarantees({"ltl": "G(called(pay) -> sum(pay, n) <= 100.5)"}),
        contract("soon").guarantees({"ltl": "G(called(pay) -> F[<=60s] called(tell))"}),
        contract("away").guarantees(redirect_to_safe("drop", "log")),
    ]
    mine = Guard(rules, mode="enforce").session("s", clock=lambda: 5.0)
    mine.settle(mine.decide("check").id)
    mine.settle(mine.decide("pay", {"n": 1.5}).id)
    mine.decide("book", {"id": 1}, id="open")
    mine.decide("drop", {"what": b"bytes"}, id="away")
    mine.fact("odd", b"bytes")
    mine.fact("approval", {"action": "pay", "role": "boss", "decision": "approve", "by": "ann"})
    return mine


def test_what_cannot_be_read_does_not_stop_a_snapshot() -> None:
    """Facts and arguments that are no data are part of a snapshot, as what cannot be read."""
    mine = lived()
    data = json.loads(json.dumps(mine.snapshot()))
    again = Guard(mine.policy.contracts).restore(data, clock=lambda: 5.0)
    assert again.snapshot() == mine.snapshot()
    assert again.started_anew == ()


def sealed(data: dict[str, Any]) -> dict[str, Any]:
    """As if it had been made so."""
    return data | {"seal": seal(data)}


def without(data: Any, path: tuple[Any, ...]) -> Any:
    """A copy of JSON data without what stands at `path`."""
    copy = json.loads(json.dumps(data))
    inside = copy
    for key in path[:-1]:
        inside = inside[key]
    del inside[path[-1]]
    return copy


def test_a_snapshot_with_a_clause_missing_is_damaged() -> None:
    """State that is lost is not lost in silence: a contract without its clauses is an error."""
    mine = lived()
    guard, data = Guard(mine.policy.contracts), mine.snapshot()
    for path in (("clauses", 0), ("clauses", 3), ("clauses", -1)):
        with pytest.raises(SnapshotError, match="damaged"):
            guard.restore(sealed(without(data, path)))
    with pytest.raises(SnapshotError, match="damaged"):
        guard.restore(sealed({**data, "clauses": []}))


DAMAGES: dict[str, Any] = {
    "contracts": [[], None, 5],
    "clauses": [None, 5, [5], {}],
    "flights": [5, [], {"map": [5]}, {"map": [["id", 5]]}],
    "facts": [5, {"list": []}, {"map": [[1]]}],
    "session": [{"decimal": "xx"}, {"unknown": 1}, {"a": 1, "b": 2}, 5, None],
    "positions": [None, 5, [[["call"], "x"]], [[5, 5]]],
    "time": ["x", None, {"float": "nan"}, {"list": []}],
    "tokens": ["x", None, -1, 1.5],
    "calls": ["x", -1, None, 2.5],
    "format": [0, None, "1"],
}


@pytest.mark.parametrize("key", DAMAGES)
def test_a_damaged_snapshot_is_an_error_of_its_own(key: str) -> None:
    """Whatever is wrong in a snapshot, or missing, is a `SnapshotError`, and never a session."""
    mine = lived()
    guard, data = Guard(mine.policy.contracts), mine.snapshot()
    for damage in DAMAGES[key]:
        with pytest.raises(SnapshotError):
            guard.restore(sealed({**data, key: damage}))
    with pytest.raises(SnapshotError):
        guard.restore(sealed(without(data, (key,))))


@pytest.mark.parametrize("state", [5, None, [], {"watch": []}, {"watch": [1, 2, 3, 4, 5]}, "x"])
def test_a_damaged_state_of_a_rule_is_an_error_of_its_own(state: Any) -> None:
    """The state of every rule is looked at before anything is restored."""
    mine = lived()
    guard, data = Guard(mine.policy.contracts), mine.snapshot()
    for number in range(len(data["clauses"])):
        broken = json.loads(json.dumps(data))
        broken["clauses"][number]["watch"] = state
        with pytest.raises(SnapshotError):
            guard.restore(sealed(broken))


def test_a_deep_snapshot_is_an_error_of_its_own() -> None:
    """Nesting without end is damage like any other."""
    deep: Any = 1
    for _ in range(100_000):
        deep = {"list": [deep]}
    mine = lived()
    with pytest.raises(SnapshotError):
        Guard(mine.policy.contracts).restore({**mine.snapshot(), "session": deep})


def test_a_finished_session_stays_finished() -> None:
    """A snapshot of a session that has ended restores as one that has ended."""
    guard = Guard([FEW])
    mine = guard.session()
    mine.decide("pay")
    mine.finish()
    again = guard.restore(json.loads(json.dumps(mine.snapshot())))
    with pytest.raises(SessionError, match="finished"):
        again.decide("pay")


# --- replays --------------------------------------------------------------------------------------


def judged(*events: Mapping[str, Any], rule: Any = None) -> TraceVerdict:
    """A trace, judged under one rule."""
    rules = [contract("rule").guarantees(rule or rate_limit("pay", 1))]
    return Replay(rules).judge(trace_of({"id": "t", "events": list(events)}))


PAY = {"tool": "pay", "id": "1"}
RESULT = {"type": "result", "id": "1"}


def test_a_replay_counts_both_calls_of_one_id() -> None:
    """In a recorded trace two calls with one id in flight did both happen: both are counted."""
    assert [each.position for each in judged(PAY, PAY, RESULT).violations] == [1]
    assert [each.position for each in judged(PAY, PAY, RESULT, RESULT).violations] == [1]
    assert [each.position for each in judged(PAY, PAY, PAY, RESULT, PAY).violations] == [1, 2, 3]


def test_results_of_one_id_are_taken_in_order() -> None:
    """The first result settles the first call of its id that is in flight, the next the next."""
    rule = must_precede("check", "pay")
    check, failed = {"tool": "check", "id": "1"}, {**RESULT, "status": "error"}
    pay = {"tool": "pay"}
    said = judged(check, check, failed, pay, RESULT, pay, rule=rule)
    assert [each.position for each in said.violations] == [2]
    said = judged(check, check, RESULT, pay, failed, pay, rule=rule)
    assert said.violations == ()


@pytest.mark.parametrize(
    "event",
    [
        {"type": "fact", "key": "approval", "value": 5},
        {"type": "fact", "key": "approval", "value": {"by": "ann"}},
        {"type": "fact", "key": "permissions", "value": "all"},
        {"type": "message", "role": "user", "text": "hi", "usage": {"total_tokens": -5}},
    ],
    ids=str,
)
def test_a_fact_that_is_none_is_refused_with_its_place(
    event: dict[str, Any], tmp_path: Path
) -> None:
    """A trace with a fact that could never be understood is refused with file, line and event."""
    file = tmp_path / "runs.jsonl"
    events = [{"tool": "pay"}, event]
    file.write_text("\n" + json.dumps({"id": "t", "events": events}) + "\n")
    with pytest.raises(TraceError, match=r"runs\.jsonl:2: event 1: "):
        list(read_traces(file))
