"""The report as a page: the numbers of a log, counted by a database, are those of the log."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="the extra `report` is not installed")
pytest.importorskip("jinja2", reason="the extra `report` is not installed")

from campaigns.screenshots import browsed, chromium
from sponsio_like import Allowed, Guard, Held, TraceError, contract
from sponsio_like.log import json_log, read_log
from sponsio_like.replay import LogPart, facts_of, page_of, report_of
from tests.support.command_line import run_command

RULES = [
    contract("few").guarantees("tool `pay` at most 2 times"),
    contract("first").guarantees("tool `check` must precede `pay`").observe(),
    contract("asked").guarantees("`refund.amount` between 0 and 10").strategy("escalate"),
    contract("safe").guarantees("redirect `send` to `draft`"),
    contract("soft").guarantees("tool `look` at most 3 times").strategy("warn_only"),
    contract("answered").guarantees("every `check` must be followed by `pay`"),
    contract("never").guarantees("tool `no_such_tool` at most 1 times"),
]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of forty sessions in which everything happens."""
    path, chance = tmp_path_factory.mktemp("log") / "log.jsonl", random.Random(4)
    with json_log(path) as sink:
        guard = Guard(RULES, log=sink, log_content=["args"])
        for number in range(40):
            session = guard.session(f"s{number}")
            for i in range(chance.randint(0, 25)):
                tool = chance.choice(["pay", "check", "refund", "send", "look", "other"])
                args = {"amount": chance.randint(0, 20)} if tool == "refund" else {}
                agent = chance.choice(["agent", "sub"])
                outcome = session.decide(tool, args, id=f"c{i}", agent=agent)
                if isinstance(outcome, Held) and chance.random() < 0.5:
                    session.approve(outcome.ticket, by="ann")
                    outcome = session.decide(tool, args, id=f"c{i}", agent=agent)
                if isinstance(outcome, Allowed):
                    session.settle(outcome.id, output="ok")
            if chance.random() < 0.8:
                session.finish()
    return path


def test_the_database_counts_what_the_loop_counts(log: Path) -> None:
    """Whatever part is asked for, the page has the numbers of `sponsio-like report`."""
    middle = sorted(line.value["timestamp"] for line in read_log(log))[300]
    for part in (
        LogPart(),
        LogPart(agent="sub"),
        LogPart(session="s7"),
        LogPart(since=middle[:-1]),
    ):
        facts = facts_of([log], part)
        found = report_of(part.of(read_log(log))).as_json()
        assert facts.totals["decisions"] == found["decisions"]
        assert facts.totals["sessions"] == found["sessions"]
        outcomes = {each["outcome"]: each["n"] for each in facts.parts["outcomes"]}
        assert outcomes == found["outcomes"]
        rows = {each["contract"]: each for each in found["contracts"]}
        assert {each["contract"] for each in facts.contracts} == rows.keys()
        for each in facts.contracts:
            row = rows[each["contract"]]
            stopped = each["blocked"] + each["held"] + each["redirected"]
            assert (each["applied"], each["broken"]) == (row["applied"], row["broken"])
            assert (stopped, each["would"]) == (row["stopped"], row["would_have_stopped"])
            assert (each["approved"], each["warned"]) == (row["approved"], row["warned"])
            assert (each["late"], each["unfulfilled"]) == (row["reported"], row["unfulfilled"])
            assert (each["sessions"], each["tools"]) == (row["sessions"], row["tools"])
            assert each["high"] == row["at_most"]


def test_the_numbers_are_those_of_an_independent_script(log: Path) -> None:
    """A script that knows nothing of the report counts the same."""
    records = [json.loads(line) for line in log.read_text().splitlines()]
    decisions = [each for each in records if each["event"] == "decision"]
    runs = {(e["session"], e["id"]) for e in decisions if e["outcome"] in ("allowed", "redirected")}
    final = [e for e in decisions if e["outcome"] != "held" or (e["session"], e["id"]) not in runs]
    applied = Counter(name for each in final for name in each["applied"])
    broken = Counter(v["contract"] for each in final for v in each["violations"])
    facts = facts_of([log])
    assert {e["contract"]: e["applied"] for e in facts.contracts} == {
        rule.name: applied[rule.name] for rule in RULES
    }
    assert {e["contract"]: e["broken"] for e in facts.contracts} == {
        rule.name: broken[rule.name] for rule in RULES
    }
    assert sum(e["n"] for e in facts.parts["tools"]) == len(decisions)
    assert sum(e["n"] for e in facts.parts["over_time"]) == len(decisions)
    times = sorted(each["microseconds"] for each in decisions)
    assert facts.latency["most"] == times[-1]
    assert facts.latency["p50"] in times
    after = Counter[tuple[str, str]]()
    for _, group in itertools.groupby(
        sorted(decisions, key=lambda e: e["session"]), key=lambda e: e["session"]
    ):
        each = [one for one in group if not one.get("again")]
        for one, later in itertools.zip_longest(each, each[1:]):
            if one["outcome"] == "blocked":
                same = later and (later["tool"], later["outcome"]) == (one["tool"], "blocked")
                kind = "again" if same else "otherwise" if later else "stopped"
                after.update({(v["contract"], kind): 1 for v in one["violations"]})
    found = {
        (e["contract"], kind): e["afterwards"][kind]
        for e in facts.contracts
        for kind in ("again", "otherwise", "stopped")
        if e["afterwards"] and e["afterwards"][kind]
    }
    assert found == dict(after)


def test_what_never_applied_comes_first(log: Path) -> None:
    """A contract that never applied is the first one, and said to be so."""
    page = page_of(facts_of([log]), "log")
    assert facts_of([log]).contracts[0]["contract"] == "never"
    cards = re.findall(r'<section class="card( idle)?">\s*<header><h3>([^<]+)', page)
    assert cards[0] == (" idle", "never")
    assert len(cards) == len(RULES)
    assert page.count("never applied") == 1


def test_the_page_loads_nothing_and_shows_what_the_log_has(log: Path, tmp_path: Path) -> None:
    """The page names no address, and what an agent wrote is text in it, never markup."""
    with json_log(tmp_path / "log") as sink:
        session = Guard(RULES, log=sink, log_content=["args"]).session("<script>alert(1)</script>")
        for _ in range(3):
            session.decide("pay", {"x": "<img src=x onerror=alert(2)>"})
    page = page_of(facts_of([tmp_path / "log", log]), "<b>")
    assert not re.search(r"https?:|url\(|<script|<img|@import|src=x onerror=alert\(2\)>", page)
    assert "&lt;script&gt;" in page
    assert "&lt;img" in page
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_lines_that_are_no_json_are_left_out_and_said(log: Path, tmp_path: Path) -> None:
    """A log that was cut in the middle is counted as far as it goes; the loop says which lines."""
    lines = log.read_text().splitlines(keepends=True)
    (tmp_path / "cut").write_text("".join([*lines[:50], lines[50][:40], "\n", *lines[51:]]))
    (tmp_path / "half_written").write_text((tmp_path / "cut").read_text() + lines[52][:30])
    for name in ("cut", "half_written"):
        report = report_of(read_log(tmp_path / name))
        found = report.as_json()
        assert report.damaged == [f"{tmp_path / name}:51"]
        totals = facts_of([tmp_path / name]).totals
        assert (totals["decisions"], totals["dropped"]) == (found["decisions"], found["lost"])
        assert found["lost"] == 1


@pytest.mark.parametrize("content", ["", '{"a": 1}\n'])
def test_a_file_without_records_is_refused(tmp_path: Path, content: str) -> None:
    """A page with zeros would read as if all were well."""
    (tmp_path / "log").write_text(content)
    with pytest.raises(TraceError, match="no record of a decision log"):
        facts_of([tmp_path / "log"])
    with pytest.raises(TraceError, match="no such file"):
        facts_of([tmp_path / "missing"])


def test_the_command_line_writes_the_page(log: Path, tmp_path: Path) -> None:
    """`report LOG --html FILE` writes it, of the part that is asked for."""
    page = tmp_path / "page.html"
    done = run_command("report", log, "--html", page, "--contract", "few")
    assert str(page) in done.stdout
    assert page.read_text().count("<section") == 1


def test_a_session_is_shown_record_by_record(log: Path) -> None:
    """`report LOG --session ID` has a line for each record of it, and no others."""
    done = run_command("report", log, "--session", "s7")
    records = [json.loads(line) for line in log.read_text().splitlines()]
    mine = [each for each in records if each.get("session") == "s7"]
    lines = [line for line in done.stdout.splitlines() if re.match(r"\d\d:", line)]
    assert len(lines) == len(mine)
    assert run_command("report", log, "--session", "s99").returncode == 2
    assert "2026-11-23T08:00" in run_command("report", log, "--since", "today").stderr
    assert run_command("report", log, "--contract", "nobody").returncode == 2


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium here")
def test_a_browser_opens_the_page_without_errors_and_without_a_network(
    log: Path, tmp_path: Path
) -> None:
    """Chromium lays the page out, in which each contract has its card; it asks nobody."""
    page, net = tmp_path / "report.html", tmp_path / "net.json"
    page.write_text(page_of(facts_of([log]), "log.jsonl"), "utf-8")
    shown = browsed(page, f"--log-net-log={net}", "--dump-dom")
    assert all(f"<h3>{each.name}</h3>" in shown for each in RULES)
    asked = re.findall(r'"url":"((?:https?|wss?):[^"]*)"', net.read_text("utf-8"))
    assert not [each for each in asked if "google" not in each]
