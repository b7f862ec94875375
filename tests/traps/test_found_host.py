"""What the host does wrong without knowing: a log that loses everything, a second budget, a file
of another format, a replay that stops nothing, a contract that never applies.
"""

from __future__ import annotations

import asyncio
import gc
import io
import json
import logging
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard, atom, contract
from sponsio_like.cli import demo
from sponsio_like.contracts.declaration import CATALOG, catalog
from sponsio_like.contracts.loader import load
from sponsio_like.errors import SessionError, TraceError
from sponsio_like.guard.raised import CallBlocked
from sponsio_like.log import flush, json_log, read_log
from sponsio_like.outcome import Redirect
from sponsio_like.replay.replay import Replay
from sponsio_like.terminal import console_for
from sponsio_like.traces.trace import Trace, trace_of
from tests.semantics.manifest import requirement
from tests.support import notation

FEW = contract("few").guarantees("tool `pay` at most 1 times")


def paid_twice(log: Any, **options: Any) -> None:
    """A session with a payment, and a second one, which is blocked."""
    session = Guard([FEW], log=log, **options).session("s")
    session.decide("pay", {"to": "bob"}, id="a")
    session.settle("a")
    session.decide("pay", {"to": "eve"}, id="b")


# --- where the log goes ---------------------------------------------------------------------------

RECORDS = ["decision", "settlement", "decision"]


def events(records: list[dict[str, Any]]) -> list[str]:
    """What the records of a session are."""
    return [each["event"] for each in records if each["event"] in RECORDS]


@requirement("S-LOG-03")
@pytest.mark.parametrize("made", [str, Path])
def test_a_path_is_a_log(tmp_path: Path, made: Any) -> None:
    """A guard whose log is a path appends a line of JSON to that file for each record."""
    path = tmp_path / "log.jsonl"
    for _ in range(2):
        paid_twice(made(path))
    assert events([line.value for line in read_log(path)]) == 2 * RECORDS


@requirement("S-LOG-03")
def test_a_logger_of_the_standard_library_is_a_log(caplog: pytest.LogCaptureFixture) -> None:
    """A standard logger gets each record as JSON; what was blocked is a warning, else information.

    Handlers find the record itself at `sponsio_like`.
    """
    with caplog.at_level(logging.INFO, logger="host"):
        paid_twice(logging.getLogger("host"))
        assert flush()
    mine = [each for each in caplog.records if each.name == "host"]
    assert events([json.loads(each.getMessage()) for each in mine]) == RECORDS
    assert events([getattr(each, "sponsio_like") for each in mine]) == RECORDS  # noqa: B009
    assert [each.levelname for each in mine][-3:] == ["INFO", "INFO", "WARNING"]


class Structured:
    """A logger like structlog's: an event and fields; methods are found when they are asked for."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str, dict[str, Any]]] = []

    def bind(self, **fields: Any) -> Structured:
        return self

    def __getattr__(self, level: str) -> Any:
        if level not in ("info", "warning", "error"):
            raise AttributeError(level)
        return lambda event, **fields: self.said.append((level, event, fields))


@requirement("S-LOG-03")
def test_a_structured_logger_is_a_log() -> None:
    """A logger like structlog's gets the event, and all else as fields."""
    log = Structured()
    paid_twice(log)
    assert flush()
    last = log.said[-3:]
    assert [(level, event) for level, event, _ in last] == [
        ("info", "decision"),
        ("info", "settlement"),
        ("warning", "decision"),
    ]
    assert last[2][2]["outcome"] == "blocked"
    assert last[2][2]["session"] == "s"


def test_a_logger_of_structlog_is_a_log() -> None:
    """Structlog's own loggers, bound or not, are logs."""
    structlog = pytest.importorskip("structlog")
    stream = io.StringIO()
    made = structlog.wrap_logger(
        structlog.PrintLogger(stream), processors=[structlog.processors.JSONRenderer()]
    )
    for log in (made, made.bind(app="a")):
        paid_twice(log)
        assert flush()  # two logs are written by two threads, in an order of their own
    assert events([json.loads(line) for line in stream.getvalue().splitlines()]) == 2 * RECORDS


@requirement("S-LOG-04")
def test_a_decision_that_failed_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    """A logger is told of an atom or a clock that raises as of an error, and of a call as usual."""

    @atom(name="host_raises")
    def host_raises(event: Any, context: Any) -> bool:
        raise ValueError

    broken = contract("broken").guarantees({"ltl": "G(called(pay) -> host_raises())"})
    log = Structured()
    Guard([broken], log=log).session().decide("pay")

    def late() -> float:
        raise OSError

    Guard([FEW], log=log).session(clock=late).decide("pay")
    assert flush()
    said = [(level, event) for level, event, _ in log.said if event == "decision"]
    assert said == [("error", "decision")] * 2


async def awaited(record: Any) -> None:
    """A coroutine function, which nobody would await."""


@requirement("S-LOG-05")
@pytest.mark.parametrize(
    "log",
    [5, "", {}, [], b"log.jsonl", io.StringIO(), object(), awaited, lambda: None, True],
    ids=[
        *("number", "nothing", "object", "list", "bytes", "stream", "any object", "coroutine"),
        *("function of nothing", "truth value"),
    ],
)
def test_what_cannot_be_a_log_is_refused_when_the_guard_is_made(log: Any) -> None:
    """A log that would lose its records is an error of the guard, with what to write."""
    with pytest.raises(ContractError, match="log="):
        Guard([FEW], log=log)


@requirement("S-LOG-05")
def test_a_log_that_cannot_be_opened_is_refused_when_the_guard_is_made(tmp_path: Path) -> None:
    """A path in a folder that is not there, or that is a folder, is an error of the guard."""
    with pytest.raises(ContractError, match=r"missing.x.jsonl` cannot be opened: no such file"):
        Guard([FEW], log=tmp_path / "missing" / "x.jsonl")
    with pytest.raises(ContractError, match="cannot be opened: is a directory"):
        Guard([FEW], log=str(tmp_path))


def test_any_function_of_a_record_is_a_log() -> None:
    """A method of a list, a log of JSON lines and a function with options are taken."""
    records: list[Any] = []
    stream = io.StringIO()
    for log in (records.append, json_log(stream), lambda record, extra=1: records.append(record)):
        paid_twice(log)
    assert flush()
    assert events(records) == 2 * RECORDS
    assert stream.getvalue().count("decision") == 2


# --- traces of other formats ----------------------------------------------------------------------

CALL = {"tool": "pay", "args": {"to": "bob"}, "output": "paid"}
ARGS = [
    *("input", "arguments", "tool_input", "parameters", "params", "kwargs", "toolInput"),
    *("tool_args", "action_input", "inputs"),
]
OUTPUTS = ["result", "response", "tool_output", "observation", "toolOutput", "tool_response"]


def read_one(event: dict[str, Any]) -> Trace:
    """The trace of one event."""
    return trace_of({"events": [event]}, "file:1")


@requirement("S-REPLAY-08")
@pytest.mark.parametrize("name", ARGS)
@pytest.mark.parametrize("value", [{"to": "eve"}, '{"to": "eve"}', {}])
def test_what_other_formats_call_arguments_is_refused(name: str, value: Any) -> None:
    """A call with its arguments under another name is refused, and never an empty call."""
    with pytest.raises(TraceError, match=f"event 0: `{name}` would not be read; write `args`"):
        read_one({"tool": "pay", name: value})


@requirement("S-REPLAY-08")
@pytest.mark.parametrize("name", OUTPUTS)
def test_what_other_formats_call_results_is_refused(name: str) -> None:
    """A call or a result with its output under another name is refused with the right one."""
    for event in ({"tool": "pay", "args": {}, name: "no"}, {"type": "result", "id": "0", name: 1}):
        with pytest.raises(TraceError, match=f"event 0: `{name}` would not be read; write `outp"):
            read_one(event)


@requirement("S-REPLAY-08")
@pytest.mark.parametrize(
    ("event", "what"),
    [
        ({"name": "pay", "args": {}}, "`name` would not be read; write `tool`"),
        ({"tool_name": "pay"}, "`tool_name` would not be read; write `tool`"),
        ({"tool": "pay", "error": "boom"}, '`error` would not be read; write `"status": "error'),
        ({"tool": "pay", "is_error": True}, "`is_error` would not be read"),
        ({"type": "result", "tool_call_id": "1"}, "`tool_call_id` would not be read; write `id`"),
        ({"type": "message", "role": "user", "content": "hi"}, "write `text`"),
        ({"type": "message", "role": "a", "tool_calls": [{}]}, "write each call as an event"),
        ({"role": "assistant", "tool_calls": [{}]}, "write each call as an event"),
        (
            {"tool": "pay", "timestamp": "12:00"},
            "`timestamp` would not be read; write `time`, a num",
        ),
        ({"type": "message", "role": "a", "ts": 5}, "`ts` would not be read; write `time`"),
        ({"type": "tool_use", "name": "pay", "input": {}}, "unknown type `tool_use`; write `call`"),
        ({"type": "tool_result"}, "unknown type `tool_result`; write `result`"),
        ({"type": "assistant"}, "unknown type `assistant`; write `message`"),
        ({"type": "mesage"}, "unknown type `mesage`; did you mean `message`?"),
    ],
)
def test_what_other_formats_call_tools_failures_and_texts_is_refused(
    event: dict[str, Any], what: str
) -> None:
    """Names, failures, texts and calls that would be lost are refused with what to write."""
    with pytest.raises(TraceError, match=re.escape(what)):
        read_one(event)


@requirement("S-REPLAY-08")
def test_other_fields_are_carried_along() -> None:
    """What is beside the right field, or says nothing, is nobody's mistake."""
    for more in ({"input": 1, "result": 2}, {"error": None}, {"origin": "user", "no_result": True}):
        assert read_one({**CALL, **more}).calls == 1
    assert read_one({"type": "message", "role": "a", "text": "", "tool_calls": []}).events


@requirement("S-REPLAY-09")
@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ({"messages": [{"role": "user", "content": "hi"}]}, "this looks like a chat"),
        ({"model": "m", "choices": []}, "this looks like a chat"),
        ({"role": "assistant", "tool_calls": []}, "this looks like a message of a chat"),
        ({"type": "user", "message": {"role": "user"}}, "this looks like a message of a chat"),
        ({"run_type": "chain", "inputs": {}}, "this looks like a run of a tracing service"),
        ({"resourceSpans": []}, "this looks like spans of a tracing service"),
        ({"tool": "pay", "args": {}}, "this looks like an event by itself"),
        ({"event": "decision", "timestamp": ""}, "this looks like a decision log"),
        ({"id": "1", "trajectory": [{}]}, "`trajectory` is a list: are these its events?"),
    ],
)
def test_a_line_of_another_format_is_told(line: dict[str, Any], seen: str) -> None:
    """A line without `events` is refused with what was expected, and what it looks like."""
    with pytest.raises(TraceError, match=r"^file:1: a trace needs `events`, a list, as in \{") as e:
        trace_of(line, "file:1")
    assert seen in str(e.value)


# --- replay ---------------------------------------------------------------------------------------

PAYS = {"id": "t", "events": [{"tool": "pay"}] * 3}


def written(rules: str, *traces: dict[str, Any], mode: str = "enforce") -> None:
    """A contract file and a trace file in the folder."""
    Path("c.yaml").write_text(f"version: 1\nmode: {mode}\ncontracts:\n{rules}", "utf-8")
    Path("t.jsonl").write_text("\n".join(map(json.dumps, traces)), "utf-8")


@requirement("S-REPLAY-03")
@pytest.mark.parametrize("mode", ["observe", "enforce"])
def test_enforced_means_enforced_whatever_the_mode_of_the_file(run: Any, mode: str) -> None:
    """A replay with `--enforce` of a file that observes takes out what it counts as blocked."""
    written(
        "  - {name: few, guarantee: {pattern: cooldown, action: pay, steps: 2}}", PAYS, mode=mode
    )
    status, out = run("replay", "c.yaml", "t.jsonl", "--enforce", "--json")
    assert status == 1
    assert [each["position"] for each in json.loads(out)["violations"]] == [1, 2]
    observed = contract("few").guarantees("tool `check` must precede `pay`").observe()
    assert Replay([observed], enforce=True, mode="observe").judge(trace_of(PAYS)).calls == 3


POLITE = "  - {name: polite, guarantee: {pattern: no_keywords, words: [rude]}}"
FIRST = "  - {name: gate, guarantee: {pattern: must_precede, first: check, then: pay}}"


@requirement("S-REPLAY-10")
def test_what_could_not_be_judged_is_said_and_may_be_a_failure(run: Any) -> None:
    """Contracts that lack an input are told at the end, with their traces; strictly, they fail."""
    said = {"id": "m", "events": [{"type": "message", "role": "assistant", "text": "hi"}]}
    written(POLITE, PAYS, PAYS, said)
    status, out = run("replay", "c.yaml", "t.jsonl")
    last = "1 contract could not be judged in 2 traces: `polite` in 2 without messages"
    assert (status, out.splitlines()[-1]) == (0, last)
    assert run("replay", "c.yaml", "t.jsonl", "--strict")[0] == 1
    assert run("replay", "c.yaml", "t.jsonl", "--strict", "--json")[0] == 1
    written(POLITE, said)
    assert run("replay", "c.yaml", "t.jsonl", "--strict")[0] == 0


@requirement("S-REPLAY-10")
def test_where_nothing_could_be_judged_nothing_was_kept(run: Any) -> None:
    """Over traces that no contract can be judged on, a replay does not say that all were kept."""
    written(POLITE, PAYS)
    out = run("replay", "c.yaml", "t.jsonl")[1]
    assert "no contract could be judged" in out
    assert "kept" not in out


# --- how often a contract applied -----------------------------------------------------------------

WRONG = "  - {name: wrong, guarantee: {pattern: must_precede, first: chekc, then: isue_refund}}"


@requirement("S-REPLAY-11")
def test_what_never_applied_comes_first(run: Any) -> None:
    """A contract about a tool that is never called is the first row of a replay, and is named."""
    written(f"{FIRST}\n{WRONG}", PAYS)
    out = run("replay", "c.yaml", "t.jsonl")[1]
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["wrong", "gate"]
    assert "never applied: `wrong`; compare the names in it with your agent's" in out
    explained = run("explain", "c.yaml", "t.jsonl")[1].splitlines()
    assert [line.split()[:3] for line in explained[-2:]] == [
        ["wrong", "1", "."],
        ["gate", "1", "1"],
    ]
    assert json.loads(run("replay", "c.yaml", "t.jsonl", "--json")[1])["applied"] == {"gate": 3}


APPLIED = [
    ("tool `check` must precede `pay`", "check other pay pay", 2),
    ("tool `pay` at most 2 times", "pay check pay", 2),
    ({"pattern": "always_followed_by", "trigger": "a", "response": "b"}, "b a b a! b", 1),
    ({"pattern": "always_followed_by", "trigger": "a", "response": "b"}, "a? b ok:a", 1),
    ({"pattern": "always_followed_by", "trigger": "a", "response": "b"}, "a? b error:a", 0),
    ({"pattern": "tool_allowlist", "tools": ["a", "b"]}, "a b c", 3),
    ({"pattern": "absent", "match": {"tool": "pay", "args": {"to": "eve"}}}, "pay(to=bob)", 0),
    ({"pattern": "absent", "match": {"tool": "pay", "args": {"to": "eve"}}}, "pay(to=eve)", 1),
    ({"ltl": "G(count(pay) <= 3)"}, "pay other pay", 2),
    ({"ltl": "F called(log)"}, "other", 1),
    ({"ltl": "G !called(drop)"}, "other pay", 0),
    ({"ltl": "G(called(pay, to=$x) -> O called(vet, who=$x))"}, "vet(who=bob) pay(to=bob)", 1),
    ({"pattern": "no_keywords", "words": ["rude"]}, "msg:user=rude msg:assistant=hi", 1),
]


@requirement("S-REPLAY-11")
@pytest.mark.parametrize(("guarantee", "text", "times"), APPLIED)
def test_a_contract_applies_to_what_triggers_it_or_is_restricted(
    guarantee: Any, text: str, times: int
) -> None:
    """A prerequisite alone does not count; a trigger does if it was one; an allowlist always."""
    trace = trace_of({"id": "t", "events": notation.events(text)})
    judged = Replay([contract("c").guarantees(guarantee)]).judge(trace)
    assert judged.applied.get("c", 0) == times


@requirement("S-REPLAY-11")
@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("pay login pay pay", 2),
        ("pay pay", 0),
        ("login! pay", 0),
        ("login? pay ok:login pay", 1),
        ("login pay logout pay", 1),
    ],
)
def test_a_contract_does_not_apply_outside_of_its_scope(text: str, times: int) -> None:
    """Outside of its segments, and where its assumption is not true, a contract does not apply."""
    gate = contract("c").guarantees("tool `check` must precede `pay`")
    scoped = gate.between({"done": "login"}, {"called": "logout"})
    trace = trace_of({"id": "t", "events": notation.events(text)})
    assert Replay([scoped]).judge(trace).applied.get("c", 0) == times
    if "logout" not in text:
        assert Replay([gate.assume({"done": "login"})]).judge(trace).applied.get("c", 0) == times


@requirement("S-REPLAY-11")
@pytest.mark.parametrize(
    "name", [each.name for each in catalog() if each.build.__module__.startswith("sponsio_like.")]
)
def test_what_is_violated_has_applied(name: str) -> None:
    """Of every pattern, each trace that breaks it has applied it, and the empty one has not."""
    rule = contract("c").guarantees({"pattern": name, **CATALOG[name].example})
    replay = Replay([rule])
    for text in ("", *CATALOG[name].breaks):
        trace = trace_of({"id": "t", "events": notation.events(text)})
        judged = replay.judge(trace)
        if not judged.not_judged:
            assert bool(judged.applied) is bool(text), text


# --- the report -----------------------------------------------------------------------------------


@requirement("S-LOG-06")
def test_a_report_shows_what_never_applied(run: Any) -> None:
    """A contract of the guard that had nothing to do is in the report of its log, and first."""
    wrong = contract("wrong").guarantees("tool `chekc` must precede `isue_refund`")
    session = Guard([FEW, wrong], log="log.jsonl").session()
    session.decide("pay")
    session.decide("other")
    status, out = run("report", "log.jsonl")
    assert status == 0
    assert re.match(r"wrong +\. ", out.splitlines()[1])
    assert re.match(r"few +1 ", out.splitlines()[2])
    assert "never applied: `wrong`; compare the names in it with your agent's" in out
    found = json.loads(run("report", "log.jsonl", "--json")[1])["contracts"]
    assert [(each["contract"], each["applied"]) for each in found] == [("wrong", 0), ("few", 1)]


@requirement("S-LOG-07")
def test_an_empty_log_does_not_read_as_fine(run: Any) -> None:
    """The report of a log without a record is status 2; without a decision, it says so."""
    Guard([FEW], log="log.jsonl")
    status, out = run("report", "log.jsonl")
    assert status == 2
    assert "the decision log is empty" in out
    Guard([FEW], log="log.jsonl").session().finish()
    status, out = run("report", "log.jsonl")
    assert (status, "nothing was decided" in out, "no contract was violated" in out) == (
        0,
        True,
        False,
    )


# --- finished tools -------------------------------------------------------------------------------

LIMIT = contract("limit").guarantees(
    {"pattern": "amount_limit", "tool": "pay", "field": "amount", "total": 100}
)
SCHEMA = {"type": "object", "properties": {"amount": {"type": "integer"}}}


async def remote(runtime: Any = None, **arguments: dict[str, Any]) -> Any:
    """What adapters for MCP servers build: any arguments, and an answer with an artifact."""
    return f"paid {arguments['amount']}", {"raw": "secret"}


def bought(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


def finished(**options: Any) -> Any:
    """A finished tool, with a schema of JSON and an artifact."""
    from langchain_core.tools import StructuredTool

    said: dict[str, Any] = {"name": "pay", "description": "Pays.", "args_schema": SCHEMA}
    said |= {"response_format": "content_and_artifact", "coroutine": remote, **options}
    return StructuredTool(**said)


@requirement("S-TOOL-24")
@pytest.mark.parametrize("how", ["tool", "wrap", "by name"])
async def test_a_finished_tool_is_guarded(how: str) -> None:
    """A tool that is an object already is guarded like a function, and stays what it was."""
    records: list[dict[str, Any]] = []
    guard, given = Guard([LIMIT], log=records.append), finished(return_direct=True)
    made = (
        guard.tool(given)
        if how == "tool"
        else guard.wrap([given])[0]
        if how == "wrap"
        else guard.wrap({"pay": given})["pay"]
    )
    assert type(made) is type(given)
    same = ("name", "description", "args_schema", "response_format", "return_direct")
    assert [getattr(made, each) for each in same] == [getattr(given, each) for each in same]
    with guard.session().active():
        call = {"type": "tool_call", "name": "pay", "id": "1", "args": {"amount": 60}}
        answer = await made.ainvoke(call)
        assert (answer.content, answer.artifact) == ("paid 60", {"raw": "secret"})
        with pytest.raises(CallBlocked, match="limit"):
            await made.ainvoke(call)
    assert [each["event"] for each in records] == RECORDS
    assert given.coroutine is remote


@requirement("S-TOOL-24")
def test_a_finished_tool_is_decided_on_what_its_schema_makes() -> None:
    """A tool of a function, sync: its arguments are coerced by its schema; an answer is read."""
    from langchain_core.tools import StructuredTool

    read = contract("read").guarantees({"ltl": 'G(called(pay) -> !Y O output matches "paid 60")'})
    guard = Guard([LIMIT, read])
    made = guard.tool(StructuredTool.from_function(bought, name="pay"))
    with guard.session().active():
        assert made.invoke({"amount": "60"}) == "paid 60"
        with pytest.raises(CallBlocked, match="read"):
            made.invoke({"amount": "1"})
    said = contract("said").guarantees({"ltl": 'G(called(pay) -> !Y O output = "paid 60")'})
    kept = contract("kept").guarantees({"ltl": 'G(called(pay) -> !Y O output matches "secret")'})
    guard = Guard([said, kept])
    later = guard.tool(finished())
    with guard.session().active():
        asyncio.run(later.ainvoke({"amount": 60}))
        with pytest.raises(CallBlocked) as stopped:
            asyncio.run(later.ainvoke({"amount": 1}))
    assert [each.contract for each in stopped.value.outcome.violations] == ["said"]


@requirement("S-TOOL-24")
def test_a_finished_tool_may_return_its_advice_or_be_a_substitute() -> None:
    """The advice is returned beside no artifact; a substitute is made of data by its schema."""
    guard = Guard([LIMIT.strategy(Redirect("bought"))])
    from langchain_core.tools import StructuredTool

    guard.tool(StructuredTool.from_function(bought))
    made = guard.tool(finished(), blocked="return")
    with guard.session().active():
        asyncio.run(made.ainvoke({"amount": 60}))
        assert asyncio.run(made.ainvoke({"amount": 60})) == "paid 60"
    guard = Guard([LIMIT])
    made = guard.tool(finished(), blocked="return")
    with guard.session().active():
        assert "limit" in asyncio.run(made.ainvoke({"amount": 101}))


@requirement("S-TOOL-24")
def test_a_tool_whose_body_is_a_method_is_refused() -> None:
    """A tool of another class is refused with what to make of it."""
    from langchain_core.tools import BaseTool

    class Own(BaseTool):
        name: str = "own"
        description: str = "."

        def _run(self) -> str:
            return ""

    with pytest.raises(ContractError, match="make a StructuredTool of a function that calls it"):
        Guard([FEW]).tool(Own())


# --- one id, one session --------------------------------------------------------------------------


@pytest.mark.long
@requirement("S-HOST-01")
def test_an_id_that_is_open_has_one_session() -> None:
    """A host that opens a session at each request, and holds on to none, has one budget."""
    guard = Guard([FEW])
    assert isinstance(guard.session("x").decide("pay"), Allowed)
    gc.collect()
    assert isinstance(guard.session("x").decide("pay"), Blocked)
    assert guard.session("x") is guard.session("x", inputs=None)
    assert isinstance(guard.session("y").decide("pay"), Allowed)
    assert guard.session() is not guard.session()


@requirement("S-HOST-01")
def test_an_id_that_is_open_with_other_options_is_an_error() -> None:
    """With another clock, or other options, there is neither the session nor a second one."""
    guard = Guard([FEW])
    session = guard.session("x")
    others: list[dict[str, Any]] = [
        {"clock": lambda: 0.0},
        {"assume_success": True},
        {"inputs": ["results"]},
    ]
    for options in others:
        with pytest.raises(SessionError, match=r"session `x` is open already, with another \w+="):
            guard.session("x", **options)
    session.finish()
    assert guard.session("x", clock=lambda: 0.0) is not session


@requirement("S-HOST-01")
def test_threads_that_open_an_id_at_once_have_one_session() -> None:
    """However many threads open an id at once, its budget is spent once."""
    guard, start, outcomes = Guard([FEW]), threading.Barrier(8), list[Any]()

    def work() -> None:
        start.wait()
        outcomes.append(guard.session("x").decide("pay"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(each, Allowed) for each in outcomes) == 1


@requirement("S-HOST-02")
def test_a_restored_session_is_one_of_its_own(monkeypatch: Any) -> None:
    """A host may go back, and two ways: a restored session is a new one, and that of its id."""
    guard = Guard([FEW])
    session = guard.session("x")
    before = session.snapshot()
    session.decide("pay")
    fork = guard.restore(before)
    assert fork is not session
    assert isinstance(fork.decide("pay"), Allowed)
    assert guard.session("x") is fork


@requirement("S-HOST-03")
def test_sessions_that_nobody_holds_are_kept_up_to_a_cap(
    monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Beyond the cap the oldest session that nobody holds is let go, and the host is told once."""
    monkeypatch.setattr("sponsio_like.guard.sessions.KEPT_CAP", 3)
    guard = Guard([FEW])
    held = guard.session("held")
    for n in range(3):
        guard.session(str(n)).finish()
    assert not caplog.records
    for n in range(5):
        guard.session(str(n)).decide("pay")
    assert caplog.text.count("3 sessions are open") == 1
    gc.collect()
    assert guard.session("held") is held
    assert isinstance(guard.session("4").decide("pay"), Blocked)
    assert isinstance(guard.session("0").decide("pay"), Allowed)


# --- the first hour -------------------------------------------------------------------------------

ROOT = Path(__file__).parent.parent.parent


def demo_shown() -> str:
    """What the demo prints."""
    stream = io.StringIO()
    demo.run(console_for(stream, width=200))
    return stream.getvalue()


def test_what_the_demo_says_to_do_next_can_be_run(monkeypatch: Any, tmp_path: Path) -> None:
    """Where the program is not on the path, the commands name it as it is found from here."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.executable", str(Path.cwd() / ".venv" / "bin" / "python"))
    commands = [line for line in demo_shown().partition("What to do next")[2].splitlines() if line]
    programs = {line.split()[0] for line in commands if "demo/contracts" in line}
    assert programs == {".venv/bin/python"}  # there is no script beside it
    Path(".venv/bin").mkdir(parents=True)
    Path(".venv/bin/sponsio-like").touch()
    assert "  .venv/bin/sponsio-like check demo/contracts.yaml" in demo_shown()
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/sponsio-like")
    assert "  sponsio-like demo --save demo" in demo_shown()


def test_the_demo_shows_its_contracts() -> None:
    """What each contract says is shown before what it does."""
    before = demo_shown().partition("STOPPED")[0]
    for each in load(demo.CONTRACTS).contracts:
        assert each.name in before
        assert all(rule.sentence in before for rule in each.rules)


def test_the_readme_does_not_name_a_package_that_is_not_there() -> None:
    """As long as the package is on no index, no page tells to install it from one."""
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "not on PyPI yet" in readme
    assert not re.search(r"pip install '?sponsio-like", readme)


def test_what_was_measured_can_be_read_once() -> None:
    """Each number of the table of speed says what it is, and how many times ours."""
    readme = (ROOT / "README.md").read_text("utf-8")
    assert re.search(
        r"p50 [\d.]+ ms, which is \d+ times ours, and p99 [\d.]+ ms, \d+ times", readme
    )
