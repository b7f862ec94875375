"""Where contracts applied, by playing the sessions of a log again: `report --contracts FILE`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Guard, Held
from sponsio_like.checks import read_file
from sponsio_like.log import read_log
from sponsio_like.replay import Applications, Replay, applications, report_of
from tests.semantics.manifest import requirement
from tests.support.command_line import run_command

FILE = """version: 1
contracts:
  - name: first
    guarantee: tool `check` must precede `pay`
  - name: disputed
    assume: called `open_dispute`
    guarantee: tool `pay` at most 1 times
  - name: small
    mode: observe
    guarantee: "`pay.amount` between 0 and 9"
  - name: asked
    guarantee: "`refund.amount` between 0 and 9"
    strategy: escalate
"""
RUNS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "a": [("pay", {"amount": 5}), ("check", {}), ("pay", {"amount": 50}), ("pay", {})],
    "b": [("open_dispute", {}), ("check", {}), ("pay", {"amount": 1}), ("pay", {"amount": 2})],
    "c": [("refund", {"amount": 5}), ("refund", {"amount": 20}), ("refund", {"amount": 30})],
}
"""To `disputed` belong two calls of `pay`, those of `b`, of which the last is refused; by the names
of tools it is all five. To `first` and `small` belong all five calls of `pay`, of which two are
refused; to `asked` three, of which one is held and runs, and one is held for ever.
"""
EXACT = {"first": 5, "disputed": 2, "small": 5, "asked": 3}


def written(folder: Path, text: str = FILE) -> Path:
    """The contract file."""
    path = folder / "contracts.yaml"
    path.write_text(text)
    return path


def logged(folder: Path, file: Path, content: Iterable[str] | bool = True) -> Path:
    """The log of the runs under this file."""
    guard = Guard.from_yaml(file, log=folder / "log", log_content=content)
    for name, calls in RUNS.items():
        session = guard.session(name)
        for i, (tool, args) in enumerate(calls):
            outcome = session.decide(tool, args, id=f"c{i}")
            if isinstance(outcome, Held) and i == 1:
                session.approve(outcome.ticket, by="ann")
                outcome = session.decide(tool, args, id=f"c{i}")
            if isinstance(outcome, Allowed):
                session.settle(outcome.id, output="ok")
        session.finish()
    return folder / "log"


def found(log: Path, file: Path) -> Applications:
    """Where the contracts of the file applied."""
    return applications(read_log(log), Replay(read_file(file).contracts), "contracts.yaml")


@requirement("S-LOG-16")
def test_where_contracts_applied_is_seen_by_playing_again(tmp_path: Path) -> None:
    """Calls of other tools, and those under no assumption, do not count; refused calls do."""
    file = written(tmp_path)
    log = logged(tmp_path, file)
    by_name = {name: row.applied for name, row in report_of(read_log(log)).contracts.items()}
    assert by_name == {**EXACT, "disputed": 5}
    counted = found(log, file)
    assert dict(counted.counts) == EXACT
    assert (counted.by_name, counted.other) == (set(), set())
    assert counted.said().endswith("playing the sessions again under contracts.yaml")


def test_what_the_log_does_not_show_is_counted_by_names(tmp_path: Path) -> None:
    """Without arguments the sessions with `pay` and `refund` are counted by names, where needed."""
    file = written(tmp_path)
    counted = found(logged(tmp_path, file, ()), file)
    assert dict(counted.counts) == EXACT
    assert counted.by_name == {"a", "b", "c"}
    assert "in 3 sessions by names of tools alone: the log lacks the arguments of" in counted.said()


def test_another_form_of_a_contract_is_counted_by_names(tmp_path: Path) -> None:
    """What the log tells of violations is that of the form in which the contract stood."""
    log = logged(tmp_path, written(tmp_path))
    counted = found(log, written(tmp_path, FILE.replace("at most 1", "at most 2")))
    assert dict(counted.counts) == {**EXACT, "disputed": 5}
    assert "`disputed` had another form in the log" in counted.said()


def test_the_command_line_counts_so_if_it_is_given_the_contracts(tmp_path: Path) -> None:
    """`report LOG --contracts FILE` has the counts, and rates by them; the page, too."""
    pytest.importorskip("duckdb", reason="the extra `report` is not installed")
    file = written(tmp_path)
    log = logged(tmp_path, file)

    def run(*more: str) -> str:
        return run_command("report", log, *more).stdout

    rows = json.loads(run("--json", "--contracts", str(file)))["contracts"]
    assert {row["contract"]: row["applied"] for row in rows} == EXACT
    assert {row["rate"] for row in rows if row["contract"] == "disputed"} == {0.5}
    said = "here a contract applied is seen by playing the sessions again under contracts.yaml"
    assert said in " ".join(run("--contracts", str(file)).split())
    page = tmp_path / "page.html"
    run("--contracts", str(file), "--html", str(page))
    assert said in page.read_text()
    assert "<b>2</b> applied" in page.read_text()
    run("--html", str(page))
    assert "is counted by the names of tools" in page.read_text()
