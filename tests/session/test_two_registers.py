"""Snapshots of the version that kept `Y O[<=n] f` in two registers, where this one has one.

`two_registers.json` was made by that version: contracts, snapshots with calls in flight, and how
sessions that were restored from them went on there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Guard
from sponsio_like.contracts import Contract, Rule
from sponsio_like.errors import SnapshotError
from sponsio_like.session.resume import seal
from sponsio_like.session.session import Session
from sponsio_like.syntax import read
from tests.session.test_windows import played

MADE = json.loads((Path(__file__).parent / "two_registers.json").read_text("utf-8"))
RUNS = range(len(MADE["runs"]))


def restored(snapshot: Any) -> Session:
    """A session that goes on from there."""
    contracts = [
        Contract(
            name,
            (Rule(read(text), by=("to",) if name.startswith("each") else ()),),
            assumption=read("Y O[<=2] done(vet)") if name == "assumed" else None,
        )
        for name, text in MADE["contracts"].items()
    ]
    return Guard(contracts, mode="observe").restore(snapshot)


@pytest.mark.parametrize("number", RUNS)
def test_a_session_goes_on_as_it_would_have_before(number: int) -> None:
    """However its calls in flight settle; and so does one that was written and read once more."""
    run = MADE["runs"][number]
    assert "'branch'" in str(run["snapshot"])
    again = json.loads(json.dumps(restored(run["snapshot"]).snapshot()))
    assert "one register" in str(again)
    for events, *expected in run["cases"]:
        assert played(restored(run["snapshot"]), events) == expected
        assert played(restored(again), events) == expected
        text = restored(run["snapshot"]).snapshot()
        assert played(restored(text), events) == expected


def test_every_contract_of_these_snapshots_is_violated_in_some_run() -> None:
    """Otherwise they would say nothing of it."""
    cases = [case for run in MADE["runs"] for case in run["cases"]]
    found = {name for _, said, _ in cases for names in said for name in names}
    assert found == set(MADE["contracts"])


def test_a_register_that_is_read_by_itself_is_shared() -> None:
    """Then there are two, as in older versions: results may change both together."""
    made = restored(MADE["runs"][0]["snapshot"]).policy.clauses
    registers = {each.contract.name: len(each.monitor.past.cells) for each in made}
    assert (registers["fresh"], registers["both"], registers["shared"]) == (1, 2, 2)


def test_a_state_of_fewer_fields_is_written_anew() -> None:
    """A snapshot of a version whose clauses remembered less is read, and so is the next one."""
    guard = Guard([Contract("c", (Rule(read("G(called(a) -> F[<=3] called(b))")),))])
    session = guard.session()
    session.settle(session.decide("a", {}).id)
    snapshot = json.loads(json.dumps(session.snapshot()))
    del snapshot["seal"], snapshot["clauses"][0]["watch"]["watch"][5]
    snapshot["seal"] = seal(snapshot)
    again = guard.restore(snapshot)
    again.settle(again.decide("b", {}).id)
    assert guard.restore(again.snapshot()).pending() == ()


@pytest.mark.parametrize("number", RUNS)
def test_registers_that_are_missing_are_noticed(number: int) -> None:
    """Whatever the layout: nothing is guessed."""
    snapshot = json.loads(json.dumps(MADE["runs"][number]["snapshot"]))
    del snapshot["seal"]
    state = snapshot["clauses"][0]["watch"]["watch"][1]["state"]
    state[0]["tuple"].pop()
    with pytest.raises(SnapshotError):
        restored(snapshot)
