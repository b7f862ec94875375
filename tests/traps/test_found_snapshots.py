"""Snapshots that are not as they were made: they are refused, and everything else works."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from sponsio_like import Guard, SnapshotError, contract
from sponsio_like.patterns import amount_limit, precedence
from tests.semantics.manifest import requirement

RULES: tuple[Any, ...] = (
    {"ltl": "G(called(open) -> F[<=4] done(close))"},
    {"ltl": "G(called(open) -> F[<=60s] done(mail))"},
    amount_limit("pay", "n", 100),
    precedence({"tool": "mail", "args": {"to": "$w"}}, {"tool": "vet", "args": {"name": "$w"}}),
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    7,
    1 << 40,
    0.5,
    "x",
    [],
    {},
    [[]],
    {"tuple": []},
    {"set": [1]},
)
CHANGES = 500


@pytest.fixture(scope="module")
def guard() -> Guard:
    """One contract of each sort."""
    return Guard([contract(f"c{i}").guarantees(rule) for i, rule in enumerate(RULES)])


@pytest.fixture(scope="module")
def kept(guard: Guard) -> str:
    """The snapshot of a session with a call in flight, values, deadlines and a fact."""
    session = guard.session("s", clock=lambda: 5.0)
    session.fact("who", {"name": "ann"})
    for tool, args in (("vet", {"name": "ann"}), ("pay", {"n": 40}), ("open", {}), ("vet", {})):
        session.settle(session.decide(tool, args).id)
    session.decide("pay", {"n": 1}, id="away")
    return json.dumps(session.snapshot())


def places(data: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in JSON data."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data)
    for key, each in list(pairs):
        yield (*above, key)
        if isinstance(each, dict | list):
            yield from places(each, (*above, key))


def changed(kept: str, dice: random.Random) -> Any:
    """The snapshot with one value changed, taken away, doubled or put in another place."""
    data = json.loads(kept)
    *above, key = dice.choice(list(places(data)))
    inside = data
    for each in above:
        inside = inside[each]
    match dice.randrange(4):
        case 0:
            del inside[key]
        case 1:
            inside[key] = [inside[key], inside[key]]
        case 2 if isinstance(inside[key], int) and not isinstance(inside[key], bool):
            inside[key] += dice.choice((-1, 1, 1 << 30))
        case _:
            inside[key] = dice.choice(VALUES)
    return data


@requirement("S-SNAPSHOT-03")
def test_what_was_changed_is_not_restored(guard: Guard, kept: str) -> None:
    """Of 500 random changes none is restored, and each is an error of its own."""
    dice, same = random.Random(18), 0
    for _ in range(CHANGES):
        data = changed(kept, dice)
        if data == json.loads(kept):
            same += 1
            continue
        with pytest.raises(SnapshotError):
            guard.restore(data)
    assert same < CHANGES // 20


def spoilt(data: Any) -> Any:
    """Add to every list of JSON data, and every dictionary, in place."""
    for each in list(data.values() if isinstance(data, dict) else data):
        if isinstance(each, dict | list):
            spoilt(each)
    if isinstance(data, dict):
        data["spoilt"] = True
    else:
        data.append("spoilt")
    return data


def test_a_snapshot_is_a_copy(guard: Guard, kept: str) -> None:
    """A host that changes one in place changes no session: not its own, nor a new one."""
    first = guard.restore(given := json.loads(kept), clock=lambda: 6.0)
    spoilt(given)
    taken = first.snapshot()
    text, new = json.dumps(taken), json.dumps(guard.session("new").snapshot())
    assert "spoilt" not in text
    spoilt(taken)
    assert json.dumps(first.snapshot()) == text
    assert json.dumps(guard.session("new").snapshot()) == new


@requirement("S-SNAPSHOT-03")
def test_what_stores_do_to_json_is_no_change(guard: Guard, kept: str) -> None:
    """Keys in another order, whole numbers without their zeros: it is the same snapshot."""
    data = json.loads(kept)
    turned = dict(reversed(data.items())) | {"time": 5}
    assert data["time"] == turned["time"]
    for each in (data, turned):
        again = guard.restore(each, clock=lambda: 6.0)
        assert again.settle("away") == ()
        assert type(again.decide("mail", {"to": "ann"})).__name__ == "Allowed"
        assert type(again.decide("pay", {"n": 60})).__name__ == "Blocked"
