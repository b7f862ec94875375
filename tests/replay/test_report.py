"""The report: what each contract did, or would have done, from the decision log."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from typing import Any

import pytest

from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.errors import TraceError
from sponsio_like.guard.guard import Guard
from sponsio_like.log import json_log
from sponsio_like.replay.report import Report, report_of
from sponsio_like.terminal import Table, console_for, plain, print_table
from sponsio_like.traces.jsonl import Line

FEW = contract("few").guarantees("tool `pay` at most 1 times")
GATE = contract("gate").guarantees("tool `check` must precede `pay`")
ANSWERED = contract("answered").guarantees({"ltl": "G(done(ask) -> X F done(answer))"})


def report(contracts: Iterable[Contract], *sessions: str) -> Report:
    """The report on sessions, each given as the tools that it calls."""
    stream = io.StringIO()
    guard = Guard(contracts, log=json_log(stream))
    for number, tools in enumerate(sessions):
        session = guard.session(str(number))
        for i, tool in enumerate(tools.split()):
            session.decide(tool, id=str(i))
            session.settle(str(i))
        session.finish()
    lines = stream.getvalue().splitlines()
    return report_of(Line(f"log:{i}", json.loads(line)) for i, line in enumerate(lines, 1))


def row(found: Report, name: str) -> dict[str, Any]:
    """The row of one contract, as JSON."""
    return next(each for each in found.as_json()["contracts"] if each["contract"] == name)


def test_what_was_stopped_is_counted_by_contract_and_tool() -> None:
    """An enforced contract's violations are what it stopped, at each tool, in how many sessions."""
    found = report([FEW, GATE], "pay pay check pay pay", "pay")
    assert row(found, "gate") == {
        "contract": "gate",
        "applied": 5,
        "broken": 3,
        "rate": 0.6,
        "at_most": pytest.approx(0.92356, rel=1e-4),
        "stopped": 3,
        "approved": 0,
        "would_have_stopped": 0,
        "warned": 0,
        "reported": 0,
        "unfulfilled": 0,
        "sessions": 2,
        "tools": {"pay": 3},
    }
    assert row(found, "few")["stopped"] == 1
    assert found.as_json()["outcomes"] == {"blocked": 4, "allowed": 2}


def test_what_observe_mode_would_have_stopped_is_told_apart() -> None:
    """A contract in observe mode stops nothing; the report says what it would have stopped."""
    found = report([FEW.observe()], "pay pay pay")
    assert row(found, "few")["stopped"] == 0
    assert row(found, "few")["would_have_stopped"] == 2
    assert found.as_json()["outcomes"] == {"allowed": 3}


def test_warnings_and_what_stays_unfulfilled_are_counted() -> None:
    """Warnings, late reports and obligations that stay open have columns of their own."""
    never = contract("never").guarantees({"ltl": "G !done(ask)"})
    found = report([FEW.strategy("warn_only"), ANSWERED, never], "pay pay ask")
    assert row(found, "few")["warned"] == 1
    assert row(found, "answered")["unfulfilled"] == 1
    assert row(found, "never")["reported"] == 1


def test_the_strictest_contract_comes_first_and_the_sum_last() -> None:
    """Rows are sorted by what they stopped; several contracts have a row of totals."""
    table = report([FEW, GATE], "pay pay check pay pay", "pay").table()
    found = [(row[0], row[2]) for row in table.rows]
    assert found == [("gate", 3), ("few", 1), ("all contracts", 4)]


def test_a_call_that_is_asked_again_counts_once() -> None:
    """Deciding an id in flight again tells its violations once."""
    stream = io.StringIO()
    session = Guard([GATE.observe()], log=json_log(stream)).session()
    session.decide("pay", id="x")
    session.decide("pay", id="x")
    lines = [Line("", json.loads(line)) for line in stream.getvalue().splitlines()]
    assert row(report_of(lines), "gate")["would_have_stopped"] == 1


def test_a_quiet_log_says_so() -> None:
    """Without violations the report says that nothing was violated."""
    found = report([GATE], "check pay")
    assert found.conclusion() == ["1 session, 2 decisions: 2 allowed", "no contract was violated"]


def test_a_relaxed_guard_is_told() -> None:
    """That the environment turned enforcement off is never silent: the report says it."""
    found = report_of([Line("log:1", {"event": "relaxed", "message": ".."})])
    assert "enforcement was turned off by the environment 1 time" in found.conclusion()


def test_records_of_other_kinds_are_passed_over() -> None:
    """A log may have records that a report does not count."""
    found = report_of([Line("log:1", {"event": "something new", "session": "s"})])
    assert found.as_json()["decisions"] == 0


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ({}, "log:3: not a record of a decision log: it has no `event`"),
        ({"event": "decision"}, "log:3: not a `decision` record of a decision log"),
        (
            {"event": "settlement", "violations": [1]},
            "log:3: not a `settlement` record of a decision log",
        ),
    ],
)
def test_a_line_that_is_no_record_is_refused(record: dict[str, Any], what: str) -> None:
    """A file that is no decision log is told with file and line."""
    with pytest.raises(TraceError) as error:
        report_of([Line("log:3", record)])
    assert str(error.value) == what


TABLE = Table(("name", "n"), (("a\nb [red]", 12_000), ("\x1b[31mc", 0)), "title")


def test_plain_tables_are_columns_without_ornaments() -> None:
    """A table that is piped has aligned columns, one line a row, and no control characters."""
    assert plain(TABLE).splitlines() == [
        "title",
        "name            n",
        "a b [red]  12,000",
        r"\x1b[31mc       .",
    ]


def test_a_terminal_gets_a_drawn_table_that_fits() -> None:
    """On a terminal a table is drawn in colours, and never wider than the window."""
    stream = io.StringIO()
    console = console_for(stream)
    print_table(Table(("name", "n"), (("long " * 30, 1),)), console)
    assert "\x1b" not in stream.getvalue()
    drawn = io.StringIO()
    console = console_for(drawn, terminal=True, width=40)
    print_table(Table(("name", "n"), (("long " * 30, 1), ("x" * 60, 0))), console)
    assert "\x1b[2m" in drawn.getvalue()
    uncoloured = re.sub(r"\x1b\[[\d;]*m", "", drawn.getvalue())
    assert max(map(len, uncoloured.splitlines())) <= 40


def test_a_bound_is_written_with_two_digits() -> None:
    """A contract that is always broken has a bound of 100 %, and no power of ten."""
    lines = [
        Line(str(n), {"event": "decision", "session": "s", "tool": "pay", "outcome": "blocked",
                      "applied": ["few"], "violations": [VIOLATED]})
        for n in range(8)
    ]  # fmt: skip
    assert report_of(lines).table().rows[0][:4] == ("few", 8, 8, "100 %")


VIOLATED = {"contract": "few", "tool": "pay", "action": "blocked", "mode": "enforce"}
