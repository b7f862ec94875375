"""The command line: text out, a status that scripts can rely on, and no traceback for mistakes."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from sponsio_like import cli, explain
from sponsio_like.contracts.declaration import CATALOG, Pattern
from sponsio_like.contracts.definition import contract
from sponsio_like.contracts.loader import loads
from sponsio_like.errors import Problem
from sponsio_like.guard.guard import Guard
from sponsio_like.log import json_log
from sponsio_like.replay import underlined
from sponsio_like.terminal import LateProgress
from tests.support.notation import events

CONTRACTS = """\
version: 1
contracts:
  - name: policy first
    guarantee: {pattern: must_precede, first: check, then: refund}
  - name: polite
    assume: "called `refund`"
    guarantee: {ltl: 'G(message(assistant) -> !text matches "rude")'}
    strategy: warn_only
    mode: observe
"""


class Ran(NamedTuple):
    """What a command printed, and its status."""

    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs `sponsio-like` with some arguments in a folder of its own."""

    def command(*arguments: str) -> Ran:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["sponsio-like", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = capsys.readouterr()
        return Ran(int(stopped.value.code or 0), out, err)

    (tmp_path / "c.yaml").write_text(CONTRACTS, "utf-8")
    return command


def write(folder: Path, *traces: str, name: str = "t.jsonl") -> None:
    """A trace file; its traces in the short notation are called 0, 1, ..."""
    lines = [json.dumps({"id": str(i), "events": events(t)}) for i, t in enumerate(traces)]
    (folder / name).write_text("\n".join(lines), "utf-8")


# --- replay ---------------------------------------------------------------------------------------


def test_replay_prints_a_line_per_trace_in_order(run: Run, tmp_path: Path) -> None:
    """`replay --json` prints one JSON object a line per trace, in input order over all files."""
    write(tmp_path, "check refund", "refund")
    (tmp_path / "u.jsonl.gz").write_bytes(gzip.compress(b'{"id": "z", "events": []}'))
    ran = run("replay", "c.yaml", "t.jsonl", "u.jsonl.gz", "--json")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [line["id"] for line in lines] == ["0", "1", "z"]
    assert [len(line["violations"]) for line in lines] == [0, 1, 0]
    assert list(lines[1]) == ["id", "calls", "violations", "unfulfilled", "not_judged", "applied"]
    assert lines[1]["violations"][0]["action"] == "blocked"
    assert lines[1]["not_judged"] == ["polite"]
    assert (ran.status, ran.err) == (1, "")


@pytest.mark.parametrize(
    ("trace", "status"),
    [("check refund", 0), ("", 0), ("refund", 1), ('refund msg:assistant="rude"', 1)],
)
def test_replays_status_says_whether_something_was_violated(
    trace: str, status: int, run: Run, tmp_path: Path
) -> None:
    """The status is 0 if nothing was violated and 1 if something was, with and without --json."""
    write(tmp_path, trace)
    assert run("replay", "c.yaml", "t.jsonl").status == status
    assert run("replay", "c.yaml", "t.jsonl", "--json").status == status


def test_an_obligation_that_stays_open_is_status_1(run: Run, tmp_path: Path) -> None:
    """A session that ends with something owed breaks its contract, too."""
    (tmp_path / "c.yaml").write_text(
        "version: 1\ncontracts: [{name: n, guarantee: every `a` must be followed by `b`}]", "utf-8"
    )
    write(tmp_path, "a")
    assert run("replay", "c.yaml", "t.jsonl", "--json").status == 1


def test_replay_can_take_out_what_is_stopped(run: Run, tmp_path: Path) -> None:
    """`--enforce` takes a stopped call out of the trace."""
    twice = 'version: 1\ncontracts: [{name: n, guarantee: {ltl: "G(called(a) -> Y O called(b))"}}]'
    gate = twice.replace("]", ", {name: m, guarantee: tool `c` must precede `b`}]")
    (tmp_path / "c.yaml").write_text(gate, "utf-8")
    write(tmp_path, "b a")
    kept = json.loads(run("replay", "c.yaml", "t.jsonl", "--json").out)
    taken = json.loads(run("replay", "c.yaml", "t.jsonl", "--json", "--enforce").out)
    assert [each["contract"] for each in kept["violations"]] == ["m"]
    assert [each["contract"] for each in taken["violations"]] == ["m", "n"]


def test_replay_without_json_is_a_table(run: Run, tmp_path: Path) -> None:
    """For people there is a row per contract, the first violations, and the totals in words."""
    write(tmp_path, "refund", "check refund", 'refund msg:assistant="rude"')
    out = run("replay", "c.yaml", "t.jsonl").out
    assert re.match(r"policy first +3 +3 +2  blocked 2 +\.$", out.splitlines()[1])
    assert re.match(r"polite +1 +1 +1  warned 1 +2$", out.splitlines()[2])
    assert "3 traces, 4 calls: contracts broken in 2 traces" in out
    assert "1 contract could not be judged in 2 traces: `polite` in 2 without messages" in out
    assert "\x1b" not in out


def test_replay_shows_the_first_violations_only(run: Run, tmp_path: Path) -> None:
    """However many violations there are, ten are shown one by one."""
    write(tmp_path, *["refund"] * 25)
    out = run("replay", "c.yaml", "t.jsonl").out
    assert "the first 10 violations" in out
    assert out.count("    call 0, `refund`: blocked, `policy first`\n") == 10


def test_replay_stops_at_the_first_line_that_is_no_trace(run: Run, tmp_path: Path) -> None:
    """What was judged before a bad line is printed; then the mistake is told, with status 2."""
    (tmp_path / "t.jsonl").write_text('{"id": "a", "events": []}\noops\n', "utf-8")
    ran = run("replay", "c.yaml", "t.jsonl", "--json")
    assert json.loads(ran.out)["id"] == "a"
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert ran.err.startswith("t.jsonl:2: not a line of JSON")


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("replay", "missing.yaml", "t.jsonl"), "missing.yaml: cannot be read"),
        (("replay", "c.yaml", "missing.jsonl"), "missing.jsonl: cannot be read: no such file"),
        (("replay", "c.yaml", "."), ".: cannot be read: is a directory"),
        (("report", "missing.jsonl"), "missing.jsonl: cannot be read"),
        (("report", "c.yaml"), "c.yaml:1: not a line of JSON"),
        (("check", "missing.yaml"), "missing.yaml: cannot be read"),
        (("patterns", "must_preced"), "unknown pattern `must_preced`; did you mean `must_precede`"),
        (("demo", "--contracts", "missing.yaml"), "missing.yaml: cannot be read"),
        (("demo", "--trace", "missing.jsonl"), "missing.jsonl: cannot be read"),
        (("demo", "--trace", "empty.jsonl"), "empty.jsonl: there are no traces in it"),
        (("demo", "--save", "c.yaml"), "c.yaml: cannot be written"),
    ],
    ids=" ".join,
)
def test_a_mistake_is_one_line_and_status_2(
    arguments: tuple[str, ...], told: str, run: Run, tmp_path: Path
) -> None:
    """A user's mistake is one line on standard error and status 2, never a traceback."""
    (tmp_path / "empty.jsonl").write_text("", "utf-8")
    ran = run(*arguments)
    assert ran.status == 2
    assert ran.err.startswith(told)
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [("replay",), ("nonsense",), ("report", "--colour", "x")])
def test_wrong_usage_is_status_2(arguments: tuple[str, ...], run: Run) -> None:
    """Missing arguments, unknown commands and unknown options are status 2."""
    ran = run(*arguments)
    assert ran.status == 2
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("arguments", [(), ("replay",), ("report",), ("patterns",), ("demo",)])
def test_help_is_there(arguments: tuple[str, ...], run: Run) -> None:
    """Every command explains itself."""
    ran = run(*arguments, "--help")
    assert ran.status == 0
    assert "Usage" in ran.out


# --- check ----------------------------------------------------------------------------------------


def test_check_says_what_was_understood(run: Run) -> None:
    """Each contract is told with its place, its words, its formula and what it does."""
    ran = run("check", "c.yaml")
    assert ran.status == 0
    for told in (
        "policy first\n  c.yaml:3:11",
        "must     tool `check` must precede `refund`",
        "formula  G(called(refund) -> Y O done(check))",
        "else     block the call (enforce mode)",
        "where    ",
        "else     would warn (observe mode)",
        "needs    messages",
        "c.yaml: 2 contracts understood",
    ):
        assert told in ran.out


def test_check_tells_every_mistake_with_its_place(run: Run, tmp_path: Path) -> None:
    """All problems of a file are told at once as file:line:column, with status 2."""
    wrong = CONTRACTS.replace("first: check", "frist: check").replace("warn_only", "warn_onyl")
    (tmp_path / "c.yaml").write_text(wrong, "utf-8")
    ran = run("check", "c.yaml")
    assert (ran.status, ran.out) == (2, "")
    lines = ran.err.splitlines()
    assert any(line.startswith("c.yaml:4:") and "`frist`" in line for line in lines)
    assert any(
        line.startswith("c.yaml:8:") and "did you mean `warn_only`" in line for line in lines
    )


def test_check_finds_what_only_compiling_shows(run: Run, tmp_path: Path) -> None:
    """A contract that can never be violated does not pass the check."""
    idle = 'version: 1\ncontracts: [{name: idle, guarantee: {ltl: "G(called(a) | !called(a))"}}]'
    (tmp_path / "c.yaml").write_text(idle, "utf-8")
    ran = run("check", "c.yaml")
    assert ran.status == 2
    assert ran.err.startswith("c.yaml:2:")


# --- patterns -------------------------------------------------------------------------------------


def test_patterns_lists_all_by_family(run: Run) -> None:
    """Every pattern of the catalog is listed, once, under its family."""
    lines = run("patterns").out.splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(listed) == sorted(CATALOG)
    assert {pattern.family for pattern in CATALOG.values()} <= set(lines)


@pytest.mark.parametrize("pattern", CATALOG.values(), ids=lambda each: each.name)
def test_every_pattern_is_explained(pattern: Pattern, run: Run) -> None:
    """A pattern is told with meaning, arguments, sentence, and traces that keep and break it."""
    out = run("patterns", pattern.name).out
    assert pattern.summary.splitlines()[0] in out
    assert pattern.rule(pattern.example).sentence in out
    for parameter in pattern.parameters:
        assert f"\n  {parameter.name} " in out
    for trace in (*pattern.keeps, *pattern.breaks):
        assert f"\n  {trace or '(nothing happens)'}\n" in out


@pytest.mark.parametrize("pattern", CATALOG.values(), ids=lambda each: each.name)
def test_every_patterns_example_is_a_contract_file(pattern: Pattern) -> None:
    """The example that is shown loads as it stands, and means the pattern's example."""
    file = loads("\n".join(explain.example_file(pattern)))
    assert file.contracts[0].rules == (pattern.rule(pattern.example),)
    Guard(file.contracts)


# --- report ---------------------------------------------------------------------------------------


def logged(path: Path) -> None:
    """A log of one session, in which one call was blocked."""
    few = contract("few payments").guarantees("tool `pay` at most 1 times")
    with json_log(path) as log:
        session = Guard([few], log=log).session()
        session.decide("pay")
        session.decide("pay")


def test_report_is_a_table(run: Run, tmp_path: Path) -> None:
    """A report is a row per contract and the totals in words; plain when it is piped."""
    logged(tmp_path / "log.jsonl")
    ran = run("report", "log.jsonl")
    assert ran.status == 0
    assert re.fullmatch(r"few payments +2 +1 +97 % +1 +\. +1 +pay 1", ran.out.splitlines()[1])
    assert "1 session, 2 decisions: 1 allowed, 1 blocked" in ran.out
    assert "\x1b" not in ran.out


def test_report_can_be_json(run: Run, tmp_path: Path) -> None:
    """`report --json` prints one JSON object; several logs are counted together."""
    logged(tmp_path / "a.jsonl")
    logged(tmp_path / "b.jsonl")
    found = json.loads(run("report", "a.jsonl", "b.jsonl", "--json").out)
    assert found["decisions"] == 4
    assert found["contracts"][0]["stopped"] == 2


# --- the terminal ---------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "seconds", "seen"),
    [(Terminal(), 5.0, True), (Terminal(), 0.5, False), (io.StringIO(), 5.0, False)],
)
def test_progress_is_shown_on_a_terminal_after_a_second(
    stream: io.StringIO, seconds: float, seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A progress bar appears only on a terminal, and only if it takes more than a second."""
    monkeypatch.setenv("TERM", "xterm")
    now = iter([0.0, seconds, seconds])
    bar = LateProgress(100, stream, lambda: next(now, seconds))
    bar(50)
    bar.close()
    assert ("50%" in stream.getvalue()) is seen


def test_what_is_printed_is_safe_for_the_terminal(run: Run, tmp_path: Path) -> None:
    """A tool's name may be anything: control characters of it never reach the terminal."""
    (tmp_path / "c.yaml").write_text(
        "version: 1\ncontracts: [{name: n, guarantee: {pattern: tool_allowlist, tools: [a]}}]",
        "utf-8",
    )
    (tmp_path / "t.jsonl").write_text(
        json.dumps({"id": "x", "events": [{"tool": "\x1b[2Jbash<|channel|>"}, {"tool": "\ud800"}]}),
        "utf-8",
    )
    out = run("replay", "c.yaml", "t.jsonl").out
    assert r"\x1b[2Jbash<|channel|>" in out
    assert "\x1b" not in out


def test_an_old_terminal_gets_what_it_can_show(tmp_path: Path) -> None:
    """Where the encoding has no ticks and boxes, plain signs stand in, and nothing fails."""
    command = [sys.executable, "-c", "from sponsio_like.cli import main; main()", "demo"]
    environment = {"PYTHONIOENCODING": "ascii"}
    shown = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert "NO 3" in shown.stdout
    assert shown.stdout.isascii()


# --- say ------------------------------------------------------------------------------------------


def test_a_sentence_is_explained_by_its_formula_and_its_shortest_traces(run: Run) -> None:
    """`say` shows the pattern's sentence, the formula, and traces that keep and break it."""
    ran = run("say", "never call `pay` before `check`")
    assert ran.status == 0
    assert ran.out.splitlines() == [
        "must     tool `check` must precede `pay`",
        "formula  G(called(pay) -> Y O done(check))",
        "keeps    check pay",
        "breaks   pay",
    ]


def test_a_sentence_that_is_not_understood_is_refused(run: Run) -> None:
    """`say` refuses what the grammar does not have, with status 2 and no traceback."""
    ran = run("say", "be polite")
    assert ran.status == 2
    assert "“be polite” is not understood" in ran.err


def test_a_file_makes_bare_names_plain(run: Run, tmp_path: Path) -> None:
    """With `--tools`, names of the file's inventory need no quotes."""
    path = tmp_path / "c.yaml"
    path.write_text(
        "version: 1\ntools: [check, pay]\ncontracts:\n"
        "  - {name: a, guarantee: never call pay before check}\n",
        "utf-8",
    )
    ran = run("say", "check must precede pay", "--tools", str(path))
    assert ran.out.startswith("must     tool `check` must precede `pay`")
    ran = run("check", str(path), "--explain")
    assert "  keeps    check pay\n  breaks   pay\n" in ran.out


def test_the_schema_is_printed_or_written(run: Run, tmp_path: Path) -> None:
    """`schema` prints the JSON Schema of contract files, or writes it and says how to name it."""
    assert json.loads(run("schema").out)["title"] == "contract file of sponsio-like, version 1"
    line = "# yaml-language-server: $schema=it.json"
    said = f"it.json: the first line of a contract file beside it: {line}\n"
    assert run("schema", "--out", "it.json") == (0, said, "")
    assert (tmp_path / "it.json").read_text("utf-8") == run("schema").out
    ran = run("schema", "--out", "nowhere/it.json")
    assert (ran.status, ran.err) == (
        2,
        "nowhere/it.json: cannot be written: No such file or directory\n",
    )


TOGETHER = """\
version: 1
contracts:
  - name: mailed
    guarantee: {pattern: always_followed_by, trigger: pay, response: mail}
  - name: no mail
    guarantee: {ltl: "G !called(mail)"}
"""


def test_check_says_what_contracts_do_to_each_other(run: Run, tmp_path: Path) -> None:
    """Contracts that cannot be kept after a call are warned of, with the trace; or not compared."""
    (tmp_path / "c.yaml").write_text(TOGETHER, "utf-8")
    said = (
        "warning: c.yaml:5:11: after `pay`, which both let through, `mailed` and `no mail` can no "
        "longer both be kept; correct one of them, or forbid what leads there"
    )
    assert said in run("check", "c.yaml").out
    assert "warning" not in run("check", "c.yaml", "--pairs", "0").out


def test_check_tells_the_mistakes_of_all_files(run: Run, tmp_path: Path) -> None:
    """Of several files every mistake is told; what is sound is understood; the status is 2."""
    (tmp_path / "good.yaml").write_text(CONTRACTS, "utf-8")
    (tmp_path / "bad.yaml").write_text(
        "version: 1\ncontracts: [{name: a, guarantee: 3}]\n", "utf-8"
    )
    (tmp_path / "worse.yaml").write_text("version: 2\n", "utf-8")
    ran = run("check", "bad.yaml", "good.yaml", "worse.yaml")
    assert ran.status == 2
    assert "good.yaml: 2 contracts understood" in ran.out
    assert [line.split("; ")[0] for line in ran.err.splitlines()] == [
        "bad.yaml:2:34: `3` is not a guarantee",
        "worse.yaml:1:1: no contracts",
        "worse.yaml:1:10: version `2` is not known",
    ]
    ran = run("check", "bad.yaml", "good.yaml", "--github")
    assert (ran.status, ran.err) == (2, "")
    assert ran.out.startswith("::error file=bad.yaml,line=2,col=34,endColumn=35::`3` is not a")


def test_check_prints_json(run: Run, tmp_path: Path) -> None:
    """`--json` has for each file its mistakes and warnings with their places, and the findings."""
    (tmp_path / "c.yaml").write_text(TOGETHER, "utf-8")
    (tmp_path / "bad.yaml").write_text("version: 1\ncontract: []\n", "utf-8")
    ran = run("check", "c.yaml", "bad.yaml", "--json")
    assert ran.status == 2
    good, bad = json.loads(ran.out)["files"]
    (found,) = good["together"]
    assert found == {"kind": "trap", "contracts": ["mailed", "no mail"], "trace": "pay"}
    assert good["warnings"][-1]["line"] == 5
    assert (good["contracts"], bad["contracts"]) == (2, None)
    assert bad["errors"][-1] == {
        "file": "bad.yaml",
        "line": 2,
        "column": 1,
        "end_column": 9,
        "message": "unknown key `contract` in a contract file",
        "hint": "did you mean `contracts`?",
    }


def test_mistakes_are_underlined(tmp_path: Path) -> None:
    """On a terminal the line of a mistake stands below it, with the word underlined."""
    path = tmp_path / "bad.yaml"
    path.write_text("version: 1\n\tmode: x\ncontract: []\n", "utf-8")
    problem = Problem("unknown key", f"{path}:3:1", "write another")
    assert underlined([problem]) == [
        (f"{path}:3:1: unknown key; write another", ""),
        ("    contract: []", "dim"),
        ("    ^^^^^^^^", "bold red"),
    ]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("promote FILE ", ["first", "few"]),
        ("promote FILE fe", ["few"]),
        ("explain FILE t.jsonl --contract fi", ["first"]),
        ("report l.jsonl --contracts FILE --contract f", ["first", "few"]),
        ("promote BAD f", []),
        ("promote missing.yaml f", []),
        ("prom", ["promote"]),
    ],
)
def test_names_of_contracts_are_completed(tmp_path: Path, words: str, offered: list[str]) -> None:
    """From the file that stands before on the line, as a shell asks; of a bad file none."""
    good, bad = tmp_path / "c.yaml", tmp_path / "bad.yaml"
    rule = "guarantee: {pattern: idempotent, action: pay}"
    names = "".join(f"  - {{name: {name}, {rule}}}\n" for name in ("first", "few"))
    good.write_text(f"version: 1\ncontracts:\n{names}", "utf-8")
    bad.write_text("version: 1\ncontracts: [{name: f}]\n", "utf-8")
    line = "sponsio-like " + words.replace("FILE", str(good)).replace("BAD", str(bad))
    asked = {
        "_SPONSIO_LIKE_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    found = CliRunner().invoke(cli.app, [], env=asked, prog_name="sponsio-like")
    assert found.output.split() == offered
