"""Snapshots of the version that kept windows of positions, where this one keeps branches.

`windows.json` was made by that version: contracts, a snapshot with calls in flight, and how
sessions that were restored from it went on there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Guard
from sponsio_like.contracts import Contract, Rule
from sponsio_like.session.session import Session
from sponsio_like.syntax import read

MADE = json.loads((Path(__file__).parent / "windows.json").read_text("utf-8"))


def restored(snapshot: Any) -> Session:
    """A session that goes on from there."""
    contracts = [
        Contract(
            name,
            (Rule(read(text)),),
            assumption=read("O called(quote)") if name == "assumed" else None,
        )
        for name, text in MADE["contracts"].items()
    ]
    return Guard(contracts, mode="observe").restore(snapshot)


def played(session: Session, events: list[Any]) -> list[Any]:
    """The contracts that were violated by each event, and all verdicts at the end."""
    said = []
    for kind, *rest in events:
        if kind == "decide":
            tool, args, id = rest
            outcome = session.decide(tool, args, id=id)
            assert isinstance(outcome, Allowed)
            found = outcome.observed
        else:
            id, well, output = rest
            found = session.settle(id, output=output, error=None if well else "no")
        said.append(sorted({each.contract for each in found}))
    return [said, dict(session.verdicts())]


@pytest.mark.parametrize("number", range(3))
def test_a_session_goes_on_as_it_would_have_before(number: int) -> None:
    """Whatever has happened since its calls went into flight, and however they settle."""
    assert str(MADE["snapshot"]).count("'entry'") > 60
    events, *expected = MADE["cases"][number]
    assert played(restored(MADE["snapshot"]), events) == expected


def test_a_snapshot_of_what_was_restored_has_branches() -> None:
    """It no longer has the positions, and goes on in the same way."""
    again = json.loads(json.dumps(restored(MADE["snapshot"]).snapshot()))
    assert "'entry'" not in str(again)
    assert "'branch'" in str(again)
    assert "'addition'" in str(again)
    for events, *expected in MADE["cases"]:
        assert played(restored(again), events) == expected
