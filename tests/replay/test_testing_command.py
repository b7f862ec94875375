"""`sponsio-like test`: what it prints, its status, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sponsio_like.cli import app

FILE = """\
version: 1 # kept
contracts:
  - {name: first, guarantee: tool `check` must precede `pay`}
"""
TESTS = """\
tests:
  - {name: right, trace: check pay, expect: allowed}
  - {name: wrong, trace: pay, expect: {blocked: first}}
"""
TOOLS = """\
version: 1
tools:
  pay: {fields: {amount: number}}
  query: {fields: {sql: sql}}
  close: {fields: {}}
contracts:
  - {name: small, guarantee: the amount of `pay` is at most 200}
  - {name: total, guarantee: the total amount of `pay` is at most 500}
  - {name: reads, guarantee: the sql of `query` may only select}
  - {name: closed, guarantee: after `close` no tool may be called}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A contract file without tests."""
    file = tmp_path / "contracts.yaml"
    file.write_text(FILE, "utf-8")
    return file


def ran(*args: object) -> tuple[int, str]:
    """The status of the command, and what it prints."""
    result = CliRunner().invoke(app, ["test", *map(str, args)])
    return result.exit_code, result.output


def test_a_file_without_tests_fails(path: Path) -> None:
    """Untested is not tested."""
    status, said = ran(path)
    assert status == 1
    assert "no tests: write a section `tests:`" in said


def test_status_0_if_all_pass(path: Path) -> None:
    """One file that fails makes the status of all."""
    path.write_text(FILE + TESTS, "utf-8")
    bad = path.with_name("bad.yaml")
    bad.write_text(FILE + TESTS.replace("check pay", "pay"), "utf-8")
    assert ran(path)[0] == 0
    assert ran(path, "--mutants", "--strict")[0] == 0
    status, said = ran(path, bad)
    assert status == 1
    assert "bad.yaml:5:12: `right`: `pay` was blocked by `first`; expected: allowed" in said


def test_strict_fails_on_what_is_untested(path: Path) -> None:
    """A contract that no test breaks, or a proposal that nobody has read."""
    path.write_text(FILE + TESTS.partition("  - {name: wrong")[0], "utf-8")
    assert ran(path)[0] == 0
    assert ran(path, "--strict")[0] == 1
    path.write_text(FILE + TESTS.replace("name: wrong", "proposed: true, name: wrong"), "utf-8")
    assert ran(path, "--strict")[0] == 1


def test_json_is_one_line_for_each_file(path: Path) -> None:
    """Programs read names, places, what is missing."""
    path.write_text(FILE + TESTS, "utf-8")
    _, said = ran(path, path, "--json", "--mutants")
    first, second = map(json.loads, said.splitlines())
    assert first == second
    assert [each["passed"] for each in first["tests"]] == [True, True]
    assert first["contracts"]["first"]["broken"] == ["wrong"]
    assert first["passed"]
    assert first["complete"]
    assert first["survivors"] == []


def test_write_adds_tests_at_the_end_and_changes_nothing_else(path: Path) -> None:
    """Written twice, nothing is added; tests of a person are never touched, proposals are shown."""
    assert ran(path, "--write")[0] == 0
    written = path.read_text("utf-8")
    assert written.startswith(FILE)
    assert ran(path)[0] == 0
    assert "is there already" in ran(path, "--write")[1]
    assert path.read_text("utf-8") == written
    path.write_text(FILE + TESTS, "utf-8")
    status, said = ran(path, "--write")
    assert status == 0
    assert "Put these below `tests:`" in said
    assert "first: broken" in said
    assert path.read_text("utf-8") == FILE + TESTS


def test_tests_are_proposed_for_tools_of_the_file(path: Path) -> None:
    """A tool of nobody becomes one of the file; a test that reaches no contract is left out."""
    path.write_text(TOOLS, "utf-8")
    assert ran(path, "--write")[0] == 0
    written = path.read_text("utf-8")
    assert (
        '"closed: broken"\n  trace: "close pay(amount=200)"\n  expect: {blocked: "closed"}'
        in written
    )
    assert '"small: broken"' in written
    assert "other" not in written
    assert "closed: kept" not in written
    assert 'trace: "query(sql=\\"INSERT INTO t (a) VALUES (1)\\")"' in written
    assert 'trace: "query(sql=\\"SELECT a FROM t\\")"\n  expect: allowed' in written
    assert '"reads: broken"' in written
    assert "total: kept" not in written
    assert ran(path)[0] == 0


def test_a_file_with_mistakes_is_refused(path: Path) -> None:
    """The error is that of every command."""
    path.write_text(FILE + "tests: []\n", "utf-8")
    result = CliRunner().invoke(app, ["test", str(path)])
    assert "`tests` is no list of tests" in str(result.exception)


def test_a_misspelt_tool_is_told(path: Path) -> None:
    """Nothing judges its calls, so the test would pass for nothing; another tool is no slip."""
    other = "  - {name: other, trace: chekc look, expect: allowed}\n"
    path.write_text(FILE + TESTS + other, "utf-8")
    status, said = ran(path)
    assert status == 1
    assert "`other`: no contract names `chekc`; did you mean `check`?" in said
    assert "`look`" not in said
    assert not json.loads(ran(path, "--json")[1])["tests"][2]["passed"]
    path.write_text(FILE.replace("contracts:", "tools: [check, pay]\ncontracts:") + TESTS + other)
    result = CliRunner().invoke(app, ["test", str(path)])
    assert "calls `chekc`, which is no tool of this file; did you mean `check`?" in str(
        result.exception
    )


PROHIBITIONS = """\
version: 1
tools: {mail: {fields: {to: string}}, drop: {fields: {}}, bash: {fields: {command: shell}}}
contracts:
  - {name: not eve, guarantee: {pattern: absent, match: {tool: mail, args: {to: eve}}}}
  - {name: no drop, guarantee: never call `drop`}
  - {name: no rm, guarantee: bash must not run `rm`}
tests:
"""
KEPT = {
    "not eve": ("mail(to=ann)", "mail(to=eve)"),
    "no drop": ("mail(to=ann)", "drop"),
    "no rm": ("bash(command=ls)", 'bash(command="rm -r x")'),
}


def test_a_prohibition_is_kept_by_a_call_that_is_let_through(path: Path) -> None:
    """Of its tool, where it forbids some calls; of another, where it forbids all."""
    tests = [
        f"  - {{name: {name} {how}, trace: {json.dumps(trace)}, expect: {expected}}}\n"
        for name, (keeps, breaks) in KEPT.items()
        for how, trace, expected in (
            ("kept", keeps, "allowed"),
            ("broken", breaks, f"{{blocked: {name}}}"),
        )
    ]
    path.write_text(PROHIBITIONS + "".join(tests), "utf-8")
    assert ran(path, "--strict")[0] == 0
    for left in (0, 4):  # `not eve` and `no rm` are not kept without their own test
        path.write_text(PROHIBITIONS + "".join(tests[:left] + tests[left + 1 :]), "utf-8")
        status, said = ran(path, "--strict")
        assert (status, "no test keeps it" in said) == ((0, False) if left == 0 else (1, True))
