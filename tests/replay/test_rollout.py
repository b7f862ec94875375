"""The way from observing to enforcing: compare two versions, review violations, promote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import ContractError, Guard
from sponsio_like.checks import read_file
from sponsio_like.contracts import fingerprint, loads
from sponsio_like.log import read_log
from sponsio_like.replay import (
    Replay,
    Wanted,
    difference,
    evidence_of,
    promoted,
    promotion,
    upper_bound,
)
from sponsio_like.traces import Line, read_traces
from tests.semantics.manifest import requirement
from tests.support.command_line import run_command

OLD = """\
version: 1
mode: observe
contracts:
  # nobody pays twice
  - name: few
    guarantee: tool `pay` at most 1 times   # for now
  - name: first
    guarantee: tool `check` must precede `pay`
"""
NEW = OLD.replace("at most 1", "at most 2").replace("`check` must", "`look` must")


def written(path: Path, text: str) -> Path:
    """The file with this text."""
    path.write_text(text)
    return path


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Three sessions: check and pay; look and pay twice; pay three times."""
    calls = [["check", "pay"], ["look", "pay", "pay"], ["pay", "pay", "pay"]]
    lines = [
        json.dumps({"id": f"t{n}", "events": [{"tool": tool, "args": {}} for tool in each]})
        for n, each in enumerate(calls)
    ]
    return written(tmp_path / "traces.jsonl", "\n".join(lines))


# --- diff -------------------------------------------------------------------------------------


def test_a_difference_is_of_calls(traces: Path) -> None:
    """What is newly stopped, and what newly passes, by contract, call by call."""
    found = difference(loads(OLD), loads(NEW), read_traces(traces))
    assert {name: dict(counts) for name, counts in found.counts.items()} == {
        "first": {"newly stopped": 1, "newly let through": 2},
        "few": {"newly let through": 1},
    }
    assert dict(found.events) == {"newly stopped": 1, "newly let through": 2}
    told = [(each.kind, each.contract, each.trace, each.position) for each in found.examples]
    assert told == [
        ("newly stopped", "first", "t0", 1),
        ("newly let through", "first", "t1", 1),
        ("newly let through", "few", "t1", 2),
        ("newly let through", "first", "t1", 2),
    ]


def test_no_difference_is_status_0(traces: Path, tmp_path: Path) -> None:
    """Two files that do the same have status 0; a mode that changed is a difference."""
    old, new = written(tmp_path / "a.yaml", OLD), written(tmp_path / "b.yaml", OLD)
    assert run_command("diff", old, new, traces).returncode == 0
    written(new, promoted(OLD, "few"))
    done = run_command("diff", old, new, traces)
    assert (done.returncode, "few: mode observe before, enforce now" in done.stdout) == (1, True)


def test_a_difference_is_printed_as_markdown_and_json(traces: Path, tmp_path: Path) -> None:
    """A pull request gets a table; a program gets the counts."""
    old, new = written(tmp_path / "a.yaml", OLD), written(tmp_path / "b.yaml", NEW)
    done = run_command("diff", old, new, traces, "--markdown")
    assert "| first | 1 | 2 | 0 | 0 |" in done.stdout.splitlines()
    assert json.loads(run_command("diff", old, new, traces, "--json").stdout)["newly_stopped"] == 1


def test_calls_that_were_refused_are_tried_again(tmp_path: Path) -> None:
    """In the log of an enforced agent, what the new contracts would have let through is seen."""
    log = tmp_path / "log"
    session = Guard(loads(OLD).contracts, log=log, log_content=True).session("s")
    for tool in ("check", "pay", "pay", "check"):
        outcome = session.decide(tool, {})
        if type(outcome).__name__ == "Allowed":
            session.settle(outcome.id)
    session.finish()
    new = loads(OLD.replace("at most 1", "at most 2"))
    found = difference(loads(OLD), new, read_traces(log))
    assert {name: dict(counts) for name, counts in found.counts.items()} == {
        "few": {"newly let through": 1}
    }
    again = loads(OLD.replace("`check` must precede `pay`", "`pay` must precede `check`"))
    assert dict(difference(loads(OLD), again, read_traces(log)).events) == {"newly stopped": 1}


def test_an_obligation_that_is_newly_left_open_is_a_difference(traces: Path) -> None:
    """What is owed at the end counts, too."""
    new = loads(OLD + "  - name: soon\n    guarantee: every `look` must be followed by `note`\n")
    assert dict(difference(loads(OLD), new, read_traces(traces)).events) == {"newly left open": 1}


# --- promote ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (OLD, OLD.replace("  - name: few\n", "  - mode: enforce\n    name: few\n")),
        (
            OLD.replace("# for now", "# for now\n    mode: observe  # until June"),
            OLD.replace("# for now", "# for now\n    mode: enforce  # until June"),
        ),
        (
            'version: 1\ncontracts: [{name: few, guarantee: "tool `pay` at most 1 times"}]\n',
            (
                "version: 1\ncontracts: [{mode: enforce, name: few, "
                'guarantee: "tool `pay` at most 1 times"}]\n'
            ),
        ),
    ],
)
def test_a_promoted_contract_is_the_only_change(text: str, after: str) -> None:
    """The contract is enforced; comments, order and the other contracts stay as they are."""
    assert promoted(text, "few") == after
    (few, *rest) = loads(after).contracts
    assert (few.name, few.mode) == ("few", "enforce")
    assert all(each.mode is None for each in rest)
    with pytest.raises(ContractError, match=r"no contract `fw`.*did you mean `few`"):
        promoted(text, "fw")


@pytest.mark.parametrize("mode", ["observe", '"observe"', "enforce", "{enforce: 5%}"])
def test_a_contract_is_promoted_in_a_share(mode: str) -> None:
    """The share stands in the place of the mode, whatever that was; and so does `enforce`."""
    text = OLD.replace("# for now", f"# for now\n    mode: {mode}  # until June")
    after = promoted(text, "few", "10%")
    assert after == text.replace(f"mode: {mode}  #", "mode: {enforce: 10%}  #")
    assert (loads(after).contracts[0].mode, loads(after).contracts[0].share) == ("enforce", 0.1)
    assert promoted(text, "few") == text.replace(f"mode: {mode}  #", "mode: enforce  #")


BASE = OLD.replace("mode: observe\n", "")


@pytest.mark.parametrize(
    ("root", "changed", "before", "after"),
    [
        (
            "overrides: [{name: few, mode: observe}]",
            "root.yaml",
            "{name: few, mode: observe}",
            "{name: few, mode: enforce}",
        ),
        (
            (
                "overrides:\n  - {name: few, mode: observe}\n  - {name: few, because: x}\n"
                "  - {name: few, mode: observe}"
            ),
            "root.yaml",
            "because: x}\n  - {name: few, mode: observe}",
            "because: x}\n  - {name: few, mode: enforce}",
        ),
        (
            "overrides: [{name: few, because: x}]\nmode: observe",
            "base.yaml",
            "  - name: few",
            "  - mode: enforce\n    name: few",
        ),
        (
            "overrides: [{name: 'f*', mode: observe}, {name: few, mode: observe}]",
            "root.yaml",
            "{name: few, mode: observe}",
            "{name: few, mode: enforce}",
        ),
    ],
)
def test_the_mode_is_changed_where_it_is_said(
    tmp_path: Path, root: str, changed: str, before: str, after: str
) -> None:
    """An override of a file that includes the contract says its mode, if it has one."""
    written(tmp_path / "base.yaml", BASE)
    outer = written(tmp_path / "root.yaml", f"version: 1\ninclude: [base.yaml]\n{root}\n")
    read = read_file(outer)
    place, text = promotion(outer, read, read.contracts[0])
    assert (place.name, text) == (changed, (tmp_path / changed).read_text().replace(before, after))
    now = read_file(outer, instead={place: text})
    assert {each.name: each.mode for each in now.contracts}["few"] == "enforce"


@pytest.mark.parametrize(
    ("root", "says"),
    [
        ("overrides: [{name: 'f*', mode: observe}]", "root.yaml:3:32: the override of `f*`"),
        (
            "parameters: {how: observe}\noverrides: [{name: few, mode: '${how}'}]",
            "the mode of `few` is `${how}`",
        ),
    ],
)
def test_what_would_not_be_enforced_is_not_promoted(tmp_path: Path, root: str, says: str) -> None:
    """A mode that is shared or filled in is no word to change: no file is touched."""
    base = written(tmp_path / "base.yaml", BASE)
    text = f"version: 1\ninclude: [base.yaml]\n{root}\n"
    outer = written(tmp_path / "root.yaml", text)
    log = observed(tmp_path / "log", outer, 60, 0)
    done = run_command("promote", outer, "few", "--evidence", log, cwd=tmp_path)
    assert done.returncode != 0
    assert says in done.stdout + done.stderr
    assert (base.read_text(), outer.read_text()) == (BASE, text)


def observed(path: Path, file: Path, sessions: int, breaking: int, content: Any = ()) -> Path:
    """A log of so many sessions in which `few` applies; the first ones break it."""
    guard = Guard.from_yaml(file, log=path, log_content=content)
    for number in range(sessions):
        session = guard.session(f"s{number}")
        session.settle(session.decide("check", {}).id)
        for _ in range(2 if number < breaking else 1):
            session.settle(session.decide("pay", {"amount": 5}).id)
        session.finish()
    return path


def test_a_contract_that_kept_quiet_long_enough_is_promoted(tmp_path: Path) -> None:
    """59 sessions without a false stop show less than 5 %; the file is changed then, not before."""
    file = written(tmp_path / "c.yaml", OLD)
    few = observed(tmp_path / "few", file, 58, 0)
    done = run_command("promote", file, "few", "--evidence", few, cwd=tmp_path)
    assert done.returncode == 1
    assert "58 of 59 sessions" in done.stdout
    assert file.read_text() == OLD
    more = observed(tmp_path / "more", file, 59, 0)
    done = run_command("promote", file, "few", "--evidence", more, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert read_file(file).contracts[0].mode == "enforce"


def test_a_record_that_was_lost_counts_as_a_false_stop(tmp_path: Path) -> None:
    """What a lost record said is not known: enough sessions outweigh it, 59 do not."""
    file = written(tmp_path / "c.yaml", OLD)
    log = observed(tmp_path / "log", file, 60, 0)
    gap = written(tmp_path / "gap", '{"event": "dropped", "records": 1}\n')
    done = run_command("promote", file, "few", "--evidence", log, "--evidence", gap, cwd=tmp_path)
    assert done.returncode == 1
    assert "(1 of 60, with 95 % confidence)" in done.stdout
    assert "the log has lost 1 record, and each counts as a false stop" in done.stdout
    assert "60 of 93 sessions" in done.stdout
    assert file.read_text() == OLD
    more = observed(tmp_path / "more", file, 93, 0)
    done = run_command("promote", file, "few", "--evidence", more, "--evidence", gap, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("records", ['"many"', "null", "-1", "true", "[]"])
def test_a_number_that_is_none_is_refused(tmp_path: Path, records: str) -> None:
    """A record `dropped` that does not say how many is no record of a log, and named so."""
    file = written(tmp_path / "c.yaml", OLD)
    log = written(tmp_path / "gap", f'{{"event": "dropped", "records": {records}}}\n')
    for command in (("report", log), ("promote", file, "few", "--evidence", log)):
        done = run_command(*command, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"{log}:1: not a `dropped` record of a decision log\n"


def test_sessions_without_an_end_are_said(tmp_path: Path) -> None:
    """Of 59 sessions the log shows the end of 57; that stands beside the answer, whatever it is."""
    file = written(tmp_path / "c.yaml", OLD)
    log = observed(tmp_path / "log", file, 59, 0)
    ends = {f'"{name}"' for name in ("s3", "s58")}
    lines = [
        line
        for line in log.read_text().splitlines(keepends=True)
        if '"finish"' not in line or not any(each in line for each in ends)
    ]
    log.write_text("".join(lines))
    done = run_command("promote", file, "few", "--evidence", log, cwd=tmp_path)
    assert done.returncode == 0
    assert "2 sessions of 59 have no end in these logs" in done.stderr


@requirement("S-LOG-10")
def test_a_line_that_is_no_json_is_a_record_that_is_lost(tmp_path: Path) -> None:
    """It counts as a false stop."""
    file = written(tmp_path / "c.yaml", OLD)
    log = observed(tmp_path / "log", file, 60, 0)
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([*lines[:50], "{\n", *lines[51:]]))
    done = run_command("promote", file, "few", "--evidence", log, cwd=tmp_path)
    assert (done.returncode, "the log has lost 1 record" in done.stdout) == (1, True)


ASSUMING = """version: 1
mode: observe
contracts:
  - name: few
    assume: called `open_dispute`
    guarantee: tool `pay` at most 1 times
"""
SMALL = ASSUMING.replace("tool `pay` at most 1 times", "'`pay.amount` between 0 and 9'").replace(
    "    assume: called `open_dispute`\n", ""
)


def test_a_contract_whose_assumption_never_holds_has_not_applied(tmp_path: Path) -> None:
    """A call of its tool is no evidence: the session is played again to see if it applied."""
    file = written(tmp_path / "c.yaml", ASSUMING)
    log = observed(tmp_path / "log", file, 70, 0)
    done = run_command("promote", file, "few", "--evidence", log, "--by-name", cwd=tmp_path)
    assert done.returncode == 1
    assert "never applied" in done.stdout
    assert "70 sessions had calls of its tools, to which it did not apply" in done.stdout


@requirement("S-LOG-11")
def test_only_sessions_in_which_it_applied_are_kept(tmp_path: Path) -> None:
    """Of three sessions it applied in one; what is not asked of a call is no reason to count it."""
    file = written(tmp_path / "c.yaml", ASSUMING)
    guard = Guard.from_yaml(file, log=tmp_path / "log")
    for name, tools in {"a": ["pay"], "b": ["open_dispute", "pay"], "c": ["look"]}.items():
        session = guard.session(name)
        for tool in tools:
            session.settle(session.decide(tool, {}).id)
        session.finish()
    contracts = read_file(file).contracts
    found = evidence_of(read_log(tmp_path / "log"), "few", fingerprint(contracts[0]), {})
    assert found.sessions == {"a", "b"}
    found.confirm(read_traces(tmp_path / "log"), Replay(contracts), by_name=False)
    assert (found.sessions, found.idle) == ({"b"}, 1)


def test_a_log_that_does_not_show_if_a_contract_applied_is_no_evidence(tmp_path: Path) -> None:
    """It says what the log lacks; the names of tools are evidence only if that is asked for."""
    file = written(tmp_path / "c.yaml", SMALL)
    log = observed(tmp_path / "log", file, 70, 0)
    done = run_command("promote", file, "few", "--evidence", log, cwd=tmp_path)
    assert done.returncode == 1
    assert "70 sessions do not show if it applied: the log lacks the arguments of `pay`" in (
        done.stdout
    )
    done = run_command("promote", file, "few", "--evidence", log, "--by-name", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    written(file, SMALL)
    log = observed(tmp_path / "amounts", file, 70, 0, ["args.pay.amount"])
    assert run_command("promote", file, "few", "--evidence", log, cwd=tmp_path).returncode == 0


def test_more_records_may_be_lost_than_sessions_were_seen() -> None:
    """Then every session may have had a false stop, and nothing is promoted."""
    lost = Line("1", {"event": "dropped", "records": 7})
    seen = Line("2", {"event": "decision", "session": "s", "applied": ["few"]})
    found = evidence_of([lost, seen], "few", "", {})
    assert (found.doubtful, found.bound(Wanted())) == (1, 1.0)


def test_a_violation_counts_as_false_until_somebody_has_called_it_right(tmp_path: Path) -> None:
    """Reviewed as right, violations are no false stops; as wrong or unsure, they are."""
    file = written(tmp_path / "c.yaml", OLD)
    log = observed(tmp_path / "log", file, 70, 2)
    done = run_command("promote", file, "few", "--evidence", log, cwd=tmp_path)
    assert (done.returncode, "2 violations nobody has called" in done.stdout) == (1, True)
    done = run_command("review", log, stdin="w\nr\n", cwd=tmp_path)
    assert "1 right, 1 wrong" in done.stdout
    assert "few: tool `pay` at most 1 times" in done.stdout
    done = run_command("promote", file, "few", "--evidence", log, cwd=tmp_path)
    assert (done.returncode, "(1 of 70" in done.stdout) == (1, True)
    assert f"{100 * upper_bound(1, 70):.3g} %" in done.stdout
    assert "at the rate of this log" in done.stdout
    (tmp_path / "labels.jsonl").unlink()
    run_command("review", log, stdin="r\nr\n", cwd=tmp_path)
    assert "no answers" not in run_command("review", log, cwd=tmp_path).stdout
    done = run_command("promote", file, "few", "--evidence", log, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + (tmp_path / "labels.jsonl").read_text()


def test_a_contract_that_never_applied_is_not_promoted(tmp_path: Path) -> None:
    """Nothing to do is no evidence; nor is what another form of the contract did."""
    file = written(tmp_path / "c.yaml", OLD)
    log = observed(tmp_path / "log", file, 60, 0)
    text = OLD.replace("`pay` at most", "`pya` at most")
    done = run_command("promote", written(file, text), "few", "--evidence", log, cwd=tmp_path)
    assert done.returncode == 1
    assert "never applied" in done.stdout
    assert "60 sessions had another form" in done.stdout


def test_what_is_asked_for_counts() -> None:
    """The numbers that are asked for decide, not others."""
    found = evidence_of([], "few", "", {})
    found.sessions = {str(n) for n in range(100)}
    assert not list(found.missing(Wanted(100, 0.03)))
    assert list(found.missing(Wanted(101, 0.03)))
    assert list(found.missing(Wanted(100, 0.0295)))


def test_the_evidence_of_a_log_is_read_with_times(tmp_path: Path) -> None:
    """The time that more evidence takes is told by the times of the log."""
    lines = [
        {"event": "decision", "session": f"s{n}", "id": "1", "tool": "pay", "outcome": "allowed",
         "violations": [], "applied": ["few"], "timestamp": f"2026-11-{n + 1:02}T00:00:00.000000Z"}
        for n in range(11)
    ]  # fmt: skip
    path = written(tmp_path / "log", "".join(json.dumps(each) + "\n" for each in lines))
    found = evidence_of(read_log(path), "few", "any", {})
    assert [each for each in found.missing(Wanted(22, 0.5)) if "10.0 more days" in each]
