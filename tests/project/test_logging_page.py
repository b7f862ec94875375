"""docs/logging.md has every event and every field that a decision log can have, and no other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Blocked, Guard, Held, contract

PAGE = (Path(__file__).parents[2] / "docs" / "logging.md").read_text("utf-8")
EVERYWHERE = {"event", "contracts", "source"}
KNOWN = "G(called(mail, to = $x) -> !Y O called(find, who = $x))"
SECRET = "mallory@example.com"  # noqa: S105  it looks for it in what is logged


def guarded(records: list[dict[str, Any]], **content: Any) -> Guard:
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
        relaxable=True,
        source="contracts.yaml 0123",
        **content,
    )


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The records of sessions in which everything happens that is logged, with all content."""
    some: list[dict[str, Any]] = []
    guarded(some, log_content=["args.check.a"]).session("a").decide("check", {"a": 1, "b": 2})
    return [*some, *everything(monkeypatch, log_content=True)]


def everything(monkeypatch: pytest.MonkeyPatch, **content: Any) -> list[dict[str, Any]]:
    """The records of sessions in which everything happens that is logged."""
    found: list[dict[str, Any]] = []
    guard = guarded(found, **content)
    session = guard.session("a", clock=lambda: 0.0)
    session.settle(session.decide("check", {}, id="1").id, output="yes")
    session.settle("1", output="again")
    session.decide("send", {"to": SECRET})
    session.settle(session.decide("find", {"who": SECRET}).id, error="gone")
    refused = session.decide("mail", {"to": SECRET}, agent="sub", depth=1)
    assert isinstance(refused, Blocked)
    assert "mail" in refused.advice
    session.refused("mail", {"to": SECRET})
    for act in ("approve", "deny", "revoke", "expire"):
        held = session.decide("refund", {"amount": 900}, id=act)
        assert isinstance(held, Held)
        session.decide("refund", {"amount": 900}, id=act)
        answer = getattr(session, act)
        answer(held.ticket) if act == "expire" else answer(held.ticket, by="ann")
    session.settle(session.decide("refund", {"amount": 900}, id="approve").id, output="paid")
    for _ in range(2):
        session.message("assistant", f"rude {SECRET}", usage={"total_tokens": 3})
    session.step(["checked"])
    session.fact("stage", SECRET)
    guard.restore(session.snapshot(), clock=lambda: 0.0)
    session.finish()
    monkeypatch.setenv("SPONSIO_LIKE_MODE", "observe")
    guarded(found, **content)
    observing(found, **content)
    guard.switch.turn_off(by="ann")
    monkeypatch.delenv("SPONSIO_LIKE_MODE")
    reloading(found, **content)
    return found


def reloading(records: list[dict[str, Any]], **content: Any) -> None:
    """Load a contract file again, and one with a mistake."""
    text = "version: 1\ncontracts: [{name: few, guarantee: tool `pay` at most 1 times}]\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "contracts.yaml"
        path.write_text(text)
        guard = Guard.from_yaml(path, log=records.append, **content)
        path.write_text(text.replace("1 times", "2 times"))
        guard.reload()
        path.write_text("")
        guard._reloaded()


def observing(records: list[dict[str, Any]], **content: Any) -> None:
    """Break a contract that only observes."""
    few = contract("few").guarantees("tool `pay` at most 1 times")
    session = Guard([few], mode="observe", log=records.append, **content).session("o")
    for _ in range(2):
        session.decide("pay", {})


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


def test_content_that_nobody_asked_for_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that an agent, a tool or a person said stands in a log that was not asked for it."""
    assert SECRET not in json.dumps(everything(monkeypatch), default=repr)


def test_arguments_stand_in_their_fields_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `log_args`, values stand in arguments and `values`: not in what was said or answered."""
    for record in everything(monkeypatch, log_args=True):
        args = ("args", "substitute_args", "violations")
        kept = {key: value for key, value in record.items() if key not in args}
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
    """Each record is one write: no line is half_written, and none is lost."""
    path = tmp_path / "decisions.jsonl"
    command = [sys.executable, "-c", APPENDS, str(path)]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [each.wait(timeout=60) for each in both] == [0, 0]
    lines = path.read_text("utf-8").splitlines()
    assert len([json.loads(line) for line in lines]) == 2 * 2 * 300
