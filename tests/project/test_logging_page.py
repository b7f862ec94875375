"""docs/logging.md has every event and every field that a decision log can have, and no other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Guard, Held, contract

PAGE = (Path(__file__).parents[2] / "docs" / "logging.md").read_text("utf-8")
EVERYWHERE = {"event", "contracts"}
KNOWN = "G(called(mail, to = $x) -> !Y O called(find, who = $x))"
SECRET = "mallory@example.com"  # noqa: S105  it looks for it in what is logged


def guarded(records: list[dict[str, Any]]) -> Guard:
    """A guard whose log can have every field."""
    return Guard(
        [
            contract("first").guarantees("tool `check` must precede `refund`"),
            contract("large")
            .guarantees("`refund.amount` between 0 and 100")
            .strategy({"escalate": {"within": 60}})
            .because("money")
            .owner("payments")
            .severity("high")
            .tags("money"),
            contract("safe").guarantees("redirect `send` to `draft`"),
            contract("known").guarantees({"ltl": KNOWN}),
            contract("polite").guarantees("response must not mention `rude`").strategy("escalate"),
            contract("answered").guarantees("every `refund` must be followed by `draft`"),
            contract("late").guarantees({"ltl": "G(called(find) -> !failed(find))"}),
        ],
        log=records.append,
        log_args=True,
        relaxable=True,
    )


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The records of sessions in which everything happens that is logged."""
    found: list[dict[str, Any]] = []
    guard = guarded(found)
    session = guard.session("a", clock=lambda: 0.0)
    session.settle(session.decide("check", {}, id="1").id, output="yes")
    session.settle("1", output="again")
    session.decide("send", {"to": SECRET})
    session.settle(session.decide("find", {"who": SECRET}).id, error="gone")
    session.decide("mail", {"to": SECRET})
    for act in ("approve", "deny", "revoke", "expire"):
        held = session.decide("refund", {"amount": 900}, id=act)
        assert isinstance(held, Held)
        session.decide("refund", {"amount": 900}, id=act)
        answer = getattr(session, act)
        answer(held.ticket) if act == "expire" else answer(held.ticket, by="ann")
    session.settle(session.decide("refund", {"amount": 900}, id="approve").id, output="paid")
    for _ in range(2):
        session.message("assistant", f"rude {SECRET}")
    session.step(["checked"])
    session.fact("stage", SECRET)
    guard.restore(session.snapshot(), clock=lambda: 0.0)
    session.finish()
    monkeypatch.setenv("SPONSIO_LIKE_MODE", "observe")
    guarded(found)
    return found


def rows(head: str) -> dict[str, str]:
    """A table of the page that begins so: the words of the first column, the text of the last."""
    table = PAGE.partition(f"\n| {head} |")[2].partition("\n\n")[0]
    found: dict[str, str] = {}
    for line in table.splitlines()[2:]:
        first, *_, last = [cell.strip() for cell in line[1:-1].split("|")]
        found |= dict.fromkeys(re.findall(r"`(\w+)`", first), last)
    return found


def test_every_event_has_its_fields_on_the_page(records: list[dict[str, Any]]) -> None:
    """Each event that is logged is on the page, with just the fields that its records can have."""
    fields: dict[str, set[str]] = defaultdict(set)
    for record in records:
        fields[record["event"]] |= record.keys() - EVERYWHERE
    shown = {event: set(re.findall(r"`(\w+)`", text)) for event, text in rows("event").items()}
    assert shown == dict(fields)


def test_every_field_has_its_meaning_on_the_page(records: list[dict[str, Any]]) -> None:
    """The fields of records and those of violations are the rows of the two tables."""
    of_records = {key for record in records for key in record} - {"event"}
    violations = [each for record in records for each in record.get("violations", ())]
    first, second = PAGE.split("\n| field |")[1:]
    assert {*_names(first)} == of_records
    assert {*_names(second)} == {key for each in violations for key in each}


def _names(table: str) -> list[str]:
    lines = table.partition("\n\n")[0].splitlines()[2:]
    return [name for line in lines for name in re.findall(r"`(\w+)`", line.split("|")[1])]


def test_what_is_never_logged_is_not_there(records: list[dict[str, Any]]) -> None:
    """Values stand in `args` and `values` alone: not in what was said, told or answered."""
    for record in records:
        kept = {key: value for key, value in record.items() if key not in ("args", "violations")}
        assert SECRET not in json.dumps(kept, default=repr)
        for each in record.get("violations", ()):
            assert SECRET not in json.dumps({**each, "values": None}, default=repr)


APPENDS = """
import sys
from sponsio_like import Guard, contract
guard = Guard([contract("a").guarantees("tool `b` must precede `c`")], log=sys.argv[1])
session = guard.session()
for _ in range(300):
    session.settle(session.decide("b", {}).id)
"""


def test_several_processes_append_to_one_file(tmp_path: Path) -> None:
    """Each record is one write: no line is torn, and none is lost."""
    path = tmp_path / "decisions.jsonl"
    command = [sys.executable, "-c", APPENDS, str(path)]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [each.wait(timeout=60) for each in both] == [0, 0]
    lines = path.read_text("utf-8").splitlines()
    assert len([json.loads(line) for line in lines]) == 2 * 2 * 300
