"""Loading, files, replay, log, failure (docs/semantics.md, sections 18 to 21)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sponsio_like.cli import app
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.contracts.loader import loads
from sponsio_like.errors import ContractError
from sponsio_like.events import registry
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Allowed, Blocked
from sponsio_like.replay.replay import Replay, TraceVerdict
from sponsio_like.syntax import read
from sponsio_like.traces.trace import trace_of
from tests.semantics.manifest import requirement
from tests.support.costs import beside
from tests.support.play import guarded, opened

# --- loading ----------------------------------------------------------------------------------


def mistakes(*what: str | Contract) -> list[str]:
    """What is said about contracts that cannot be loaded, one line for each problem."""
    with pytest.raises(ContractError) as caught:
        guarded(*what)
    return [str(problem) for problem in caught.value.problems]


@requirement("S-LOAD-01")
@pytest.mark.parametrize(
    "formula",
    [
        "true",
        "G(called(a) -> called(a))",
        "G(called(a) -> F called(a))",
        "F called(a) | G !called(a)",
    ],
)
def test_what_can_never_be_violated_is_refused(formula: str) -> None:
    """A guarantee that protects nothing is a mistake."""
    (mistake,) = mistakes(formula)
    assert "can never be violated" in mistake


@requirement("S-LOAD-02")
@pytest.mark.parametrize(
    "formula", ["false", "F called(a) & G !called(a)", "X called(a) & X called(b)"]
)
def test_what_can_never_be_kept_is_refused(formula: str) -> None:
    """A guarantee that every session would break is a mistake."""
    (mistake,) = mistakes(formula)
    assert "can never be kept" in mistake


@requirement("S-LOAD-03")
@pytest.mark.parametrize(
    "formula",
    [
        'G !text matches "(a"',
        'G !output matches "a**"',
        'G !called(a, v matches "(?=a)")',
        'G(called(a) -> arg(v) matches "\\\\1")',
        'G(called(b) -> Y (ctx(k) matches "["))',
    ],
)
def test_regular_expressions_are_compiled_at_load_time(formula: str) -> None:
    """What does not compile is refused before anything runs, wherever it stands."""
    (mistake,) = mistakes(formula)
    assert "does not compile" in mistake


@requirement("S-LOAD-04")
def test_names_are_unique() -> None:
    """Two contracts of one guard cannot have the same name."""
    (mistake,) = mistakes(
        contract("c").guarantees(read("G !called(a)")),
        contract("c").guarantees(read("G !called(b)")),
    )
    assert "two contracts are named `c`" in mistake


@requirement("S-LOAD-05")
def test_unknown_words_are_refused_with_the_closest() -> None:
    """Atoms, patterns and arguments that do not exist are refused, and the nearest is named."""
    (mistake,) = mistakes('G(called(a) -> arg_contain("v", "x"))')
    assert "unknown atom `arg_contain`" in mistake
    assert "`arg_contains`" in mistake
    for written, hint in (
        ({"pattern": "must_preced", "first": "a", "then": "b"}, "did you mean `must_precede`?"),
        ({"pattern": "rate_limit", "action": "a", "limits": 3}, "did you mean `limit`?"),
    ):
        with pytest.raises(ContractError, match="did you mean") as caught:
            contract("c").guarantees(written)
        assert hint in str(caught.value)


@requirement("S-LOAD-06")
def test_all_problems_are_told_at_once() -> None:
    """Every problem of every contract is in one error, each with its contract."""
    found = mistakes("true", "G !called(a)", "G(Y F called(a))", 'G !text matches "("')
    assert [each.split(":")[0] for each in found] == [f"contract `rule {n}`" for n in (0, 2, 3)]


# --- contract files ---------------------------------------------------------------------------


def file(body: str, head: str = "") -> str:
    """A contract file with one contract."""
    return f"version: 1\n{head}\ncontracts:\n- name: c\n{body}"


def told(text: str) -> list[str]:
    """The mistakes of a file."""
    with pytest.raises(ContractError) as caught:
        loads(text, "f.yaml")
    return [str(problem) for problem in caught.value.problems]


def from_file(text: str) -> Any:
    """A session under the contracts of a file."""
    read_file = loads(text, "f.yaml")
    return opened(*read_file.contracts, guard={"tools": read_file.inventory})


@requirement("S-FILE-01")
@pytest.mark.parametrize(
    ("guarantee", "trace", "signs"),
    [
        ("{pattern: must_precede, first: check, then: pay}", "pay check pay", "x.."),
        ('{ltl: "G !called(pay)"}', "check pay", ".x"),
        ('"tool `pay` at most 1 times"', "pay pay", ".x"),
        ('["tool `pay` at most 1 times", {ltl: "G !called(x)"}]', "x pay pay", "x.x"),
    ],
)
def test_guarantees_are_written_in_four_ways(guarantee: str, trace: str, signs: str) -> None:
    """A guarantee is a pattern, a formula, a sentence, or a list, which is their conjunction."""
    assert from_file(file(f"  guarantee: {guarantee}"))(trace) == signs


@requirement("S-FILE-02")
@pytest.mark.parametrize(
    ("tool", "signs"),
    [
        ("pay", "..x.."),
        ("[pay, refund]", "..xx."),
        ("'*'", ".xxxx"),
        ("spend", "..xx."),
        ("{tool: pay, args: {n: {gt: 5}}}", "....."),
        ("{tool: pay, args: {n: 1}}", "..x.."),
        ("{tool: [pay, refund], agent: agent}", "..xx."),
    ],
)
def test_a_tool_is_a_name_a_list_a_glob_an_action_or_a_match(tool: str, signs: str) -> None:
    """Where a pattern takes a tool, a list has one shared count, and a match looks at arguments."""
    text = file(
        f"  guarantee: {{pattern: rate_limit, action: {tool}, limit: 1}}",
        "actions: {spend: [pay, refund]}",
    )
    assert (
        from_file(text)("pay(n=1) other pay(n=1) refund(n=5) check".replace("other", "o")) == signs
    )


@requirement("S-FILE-03")
def test_names_outside_the_inventory_are_refused() -> None:
    """A tool or a field that the inventory does not have is a mistake, with the closest one."""
    body = "  guarantee: {pattern: arg_value_range, tool: %s, field: %s, max: 5}"
    tools = "tools: {pay: {fields: {amount: number}}, refund: {fields: {id: string}}}"
    assert loads(file(body % ("pay", "amount"), tools)).contracts
    (mistake,) = told(file(body % ("pya", "amount"), tools))
    assert "unknown tool `pya`; did you mean `pay`?" in mistake
    (mistake,) = told(file(body % ("pay", "amuont"), tools))
    assert "has no field `amuont`; did you mean `amount`?" in mistake
    (mistake,) = told(file('  guarantee: {ltl: "G !called(pya)"}', tools))
    assert "unknown tool `pya`" in mistake


@requirement("S-FILE-04")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (file("  guarantee: {ltl: 'G !called(a)'}\n  strat: block"), "unknown key `strat`"),
        (file("  guarantee: {ltl: 'G !called(a)'}\n  mode: observe\n  mode: enforce"), "`mode`"),
        (
            file("  guarantee: {pattern: required_steps_completion, steps: ab, gate: c, x: 1}"),
            "no argument `x`",
        ),
        (
            file("  guarantee: {pattern: arg_blacklist, tool: a, field: f, patterns: rm}"),
            "not a list",
        ),
        (file("  guarantee: {pattern: rate_limit, action: a, limit: [3]}"), "not a whole number"),
        (file("  guarantee: {ltl: 'G !called(a)'}", "contarcts: []"), "unknown key `contarcts`"),
    ],
)
def test_what_a_file_cannot_mean_is_refused(text: str, said: str) -> None:
    """Unknown keys, keys given twice, a value for a list and a list for a value are mistakes."""
    assert any(said in mistake for mistake in told(text))


@requirement("S-FILE-05")
def test_every_mistake_has_file_line_and_column() -> None:
    """All mistakes are told at once, in the order of the file, with their places."""
    text = file(
        "  guarantee: {pattern: must_precede, first: a, than: b}\n  mode: watch\n- guarantee: x"
    )
    assert [each.split(" ")[0] for each in told(text)] == [
        "f.yaml:5:14:",
        "f.yaml:5:48:",
        "f.yaml:6:9:",
        "f.yaml:7:3:",
        "f.yaml:7:14:",
    ]


@requirement("S-FILE-06")
@pytest.mark.parametrize("word", ["no", "on", "010", "1_000", "*x", "&x 1", "!!str x"])
def test_words_that_readers_disagree_about_are_refused(word: str) -> None:
    """Tags, anchors, aliases, and words that readers of YAML disagree about are mistakes."""
    assert told(file(f"  guarantee: {{pattern: rate_limit, action: {word}, limit: 1}}"))
    assert told(" " * 1_000_001)


@requirement("S-FILE-07")
@pytest.mark.parametrize(
    "sentence",
    [
        "tool `a` must precede `b` twice",
        "please, tool `a` must precede `b`",
        "tool a must precede `b`, or so",
    ],
)
def test_sentences_are_understood_as_a_whole_or_refused(sentence: str) -> None:
    """A sentence with a word too many is not understood, and the closest sentence is named."""
    (mistake,) = told(file(f'  guarantee: "{sentence}"'))
    assert "is not understood" in mistake
    assert "must precede" in mistake.split("did you mean")[1]


@requirement("S-FILE-07")
def test_a_sentence_that_can_mean_two_things_is_refused_with_both() -> None:
    """Of two meanings none is chosen: both are named."""
    (mistake,) = told(file("  guarantee: tool `a` must not precede `b`"))
    assert "can mean two things" in mistake
    assert "“tool `b` must precede `a`” or “after `a`, tool `b` is forbidden”" in mistake


# --- traces as files --------------------------------------------------------------------------

GATE = contract("gate").guarantees(read("G(called(pay) -> Y O done(check))"))


def judged(
    *events: dict[str, Any], contracts: tuple[Contract, ...] = (GATE,), enforce: bool = False
) -> TraceVerdict:
    """What a replay says about events."""
    return Replay(contracts, enforce=enforce).judge(trace_of({"id": "t", "events": list(events)}))


@requirement("S-REPLAY-01")
@pytest.mark.parametrize(
    ("check", "result", "violations"),
    [
        ({}, [], 0),
        ({"status": "ok"}, [], 0),
        ({"status": "error"}, [], 1),
        ({"id": "c"}, [{"type": "result", "id": "c", "status": "ok"}], 1),
    ],
)
def test_a_call_settles_when_its_trace_says(
    check: dict[str, Any], result: list[dict[str, Any]], violations: int
) -> None:
    """With a status, or nothing, a call settles at once; with a later result it is in flight."""
    assert (
        len(judged({"tool": "check", **check}, {"tool": "pay"}, *result).violations) == violations
    )


@requirement("S-REPLAY-02")
def test_events_without_a_time_are_a_second_apart() -> None:
    """A missing time is one second after the event before; unknown fields do not matter."""
    soon = contract("soon").guarantees(read("G(called(a) -> F[<=2s] called(b))"))
    for more, violations in ((1, 0), (2, 1)):
        events: list[dict[str, Any]] = [
            {"tool": "a", "args": {}, "colour": "red"},
            *[{"tool": "c"}] * more,
            {"tool": "b"},
        ]
        assert len(judged(*events, contracts=(soon,)).violations) == violations
    assert (
        len(
            judged({"tool": "a", "time": 5}, {"tool": "b", "time": 9}, contracts=(soon,)).violations
        )
        == 1
    )


@requirement("S-REPLAY-03")
def test_a_replay_observes_unless_it_enforces() -> None:
    """A violating call stays in the trace; enforced, it never happened."""
    once = contract("once").guarantees(read("G(called(end) -> !Y O called(pay))"))
    events = [{"tool": "pay"}, {"tool": "end"}]
    both = (GATE, once)
    assert [v.contract for v in judged(*events, contracts=both).violations] == ["gate", "once"]
    assert [v.contract for v in judged(*events, contracts=both, enforce=True).violations] == [
        "gate"
    ]
    redirect = contract("r").guarantees(
        {"pattern": "redirect_to_safe", "unsafe": "pay", "safe": "ask"}
    )
    seen = contract("seen").guarantees(read("G(called(end) -> Y called(ask))"))
    found = judged(*events, contracts=(redirect, seen), enforce=True).violations
    assert [(v.contract, v.action) for v in found] == [("r", "redirected")]


@requirement("S-REPLAY-04", "S-REPLAY-05")
def test_a_line_has_what_was_violated_and_where() -> None:
    """Positions count calls from 0; a message has the calls so far and no tool."""
    polite = contract("polite").guarantees(read('G !text matches "rude"')).strategy("warn_only")
    late = contract("late").guarantees(read("G !failed(pay)"))
    owed = contract("owed").guarantees(read("G(called(pay) -> X F called(tell))"))
    line = judged(
        {"type": "message", "role": "user", "text": "hello"},
        {"tool": "other"},
        {"tool": "pay", "id": "p"},
        {"type": "message", "role": "assistant", "text": "rude"},
        {"type": "result", "id": "p", "status": "error"},
        contracts=(GATE, polite, late, owed),
    ).as_json()
    assert line["calls"] == 2
    assert [(v["contract"], v["position"], v["tool"], v["action"]) for v in line["violations"]] == [
        ("gate", 1, "pay", "blocked"),
        ("polite", 2, None, "warned"),
        ("late", 1, "pay", "reported"),
    ]
    assert [each["contract"] for each in line["unfulfilled"]] == ["owed"]
    named = {"id", "calls", "violations", "unfulfilled", "not_judged"}
    assert set(line) == {*named, "applied"}
    json.dumps(line)


@requirement("S-REPLAY-06")
def test_what_a_trace_does_not_tell_is_not_judged() -> None:
    """A contract over messages is not judged on a trace without messages, and not silently."""
    polite = contract("polite").guarantees(read('G !text matches "rude"'))
    found = judged({"tool": "pay"}, contracts=(GATE, polite))
    assert list(found.not_judged) == ["polite"]
    assert [v.contract for v in found.violations] == ["gate"]


@requirement("S-REPLAY-07")
@pytest.mark.parametrize(
    ("events", "status"), [('[{"tool": "check"}]', 0), ('[{"tool": "pay"}]', 1), ("[5]", 2)]
)
def test_the_exit_status_tells(tmp_path: Path, events: str, status: int) -> None:
    """0: nothing violated, 1: something, 2: input that cannot be read."""
    contracts, traces = tmp_path / "c.yaml", tmp_path / "t.jsonl"
    contracts.write_text(file("  guarantee: {pattern: must_precede, first: check, then: pay}"))
    traces.write_text(f'{{"id": "t", "events": {events}}}\n')
    result = CliRunner().invoke(app, ["replay", str(contracts), str(traces), "--json"])
    found = (
        result.exit_code
        if result.exception is None or isinstance(result.exception, SystemExit)
        else 2
    )
    assert found == status


# --- log --------------------------------------------------------------------------------------


@requirement("S-LOG-01")
def test_every_decision_is_logged() -> None:
    """Each decision is in the log with its outcome and all violations, observed ones included."""
    played = opened("G !called(a)", contract("w").guarantees(read("G !called(a)")).observe())
    played("a b?")
    blocked, allowed = played.records
    assert (blocked["event"], blocked["outcome"]) == ("decision", "blocked")
    assert [v["contract"] for v in blocked["violations"]] == ["rule 0", "w"]
    assert (allowed["event"], allowed["outcome"], allowed["violations"]) == (
        "decision",
        "allowed",
        [],
    )


def full(record: dict[str, Any]) -> None:
    raise OSError("disk full")


@requirement("S-LOG-02")
@pytest.mark.parametrize("sink", [full, set[Any]().add], ids=["function", "called at once"])
def test_a_sink_that_raises_disturbs_nothing(sink: Any) -> None:
    """Decisions are made, calls settled and sessions finished whatever the log does."""
    session = guarded("G(called(pay) -> Y O done(check))", log=sink).session()
    session.settle(session.decide("check").id)
    assert isinstance(session.decide("pay"), Allowed)
    assert session.finish() == ()


# --- failure ----------------------------------------------------------------------------------


@pytest.fixture
def fragile() -> Iterator[set[str]]:
    """A registered atom `fine()`, that raises while the set has its tool."""
    before, broken = dict(registry.CUSTOM), set[str]()

    @registry.atom("fine")
    def _(call: Any, context: Any) -> bool:
        if call.tool in broken:
            raise RuntimeError("no connection")
        return True

    yield broken
    registry.CUSTOM.clear()
    registry.CUSTOM.update(before)


@requirement("S-FAIL-01")
def test_a_failing_atom_blocks_and_leaves_no_mark(fragile: set[str]) -> None:
    """The call is blocked while its atom fails; the next one is decided as if it had not been."""
    played = opened("G(called(pay) -> fine())", "G(count(pay) <= 1)")
    fragile.add("pay")
    assert played("pay pay other") == "xx."
    fragile.clear()
    assert played("pay pay") == ".x"


@requirement("S-FAIL-01")
def test_a_failing_clock_blocks() -> None:
    """Whatever goes wrong in a decision, the tool does not run."""

    def broken() -> float:
        raise OSError("no clock")

    assert isinstance(guarded("G !called(a)").session(clock=broken).decide("b"), Blocked)


@requirement("S-FAIL-02")
def test_in_observe_mode_nothing_disturbs_the_agent(fragile: set[str]) -> None:
    """A failure while observing is told, and the call is allowed."""
    fragile.add("pay")
    played = opened("G(called(pay) -> fine())", guard={"mode": "observe"})
    assert played("pay pay") == "ww"
    outcome = played.outcomes[-1]
    assert isinstance(outcome, Allowed)
    assert "could not be evaluated" in str(outcome.observed[0])


@requirement("S-FAIL-03")
def test_code_of_the_user_may_call_the_session() -> None:
    """An atom, a clock and a sink that use the session do not wait for themselves."""
    before = dict(registry.CUSTOM)
    session: Any = None

    @registry.atom("meddles")
    def _(call: Any, context: Any) -> bool:
        session.fact("seen", call.tool)
        return not session.pending()

    def clock() -> float:
        return float(len(session.verdicts())) if session else 0.0

    def sink(record: dict[str, Any]) -> None:
        session.pending()

    answers: list[Any] = []
    try:
        session = guarded("G(called(pay) -> meddles())", log=sink).session(clock=clock)
        thread = threading.Thread(target=lambda: answers.append(session.decide("pay")), daemon=True)
        thread.start()
        thread.join(timeout=10)
    finally:
        registry.CUSTOM.clear()
        registry.CUSTOM.update(before)
    assert [type(answer) for answer in answers] == [Allowed]


@requirement("S-FAIL-04")
def test_regular_expressions_run_in_linear_time() -> None:
    """An expression that makes other engines stall decides at once."""
    session = guarded('G !called(a, v matches "^(a+)+$")').session()
    outcomes: list[object] = []
    text = "a" * 40_000 + "!"
    assert beside(lambda: outcomes.append(session.decide("a", {"v": text}))) < 1_000
    assert isinstance(outcomes[0], Allowed)


@requirement("S-FAIL-04")
@pytest.mark.parametrize("regex", ["a" * 1_001, "((a{100}){100}){50}"])
def test_huge_regular_expressions_are_refused(regex: str) -> None:
    """An expression that is too long, or needs too much memory, is refused when loaded."""
    assert mistakes(f'G !called(a, v matches "{regex}")')


@requirement("S-FAIL-05")
def test_arguments_are_read_within_bounds() -> None:
    """Beyond 5,000 values or 64 levels nothing can be compared, and that violates."""
    safe = 'G(called(a) -> !arg_contains("v", "rm"))'
    deep: Any = "x"
    for _ in range(80):
        deep = [deep]
    session = guarded(safe).session()
    assert isinstance(session.decide("a", {"v": ["x"] * 1_000}), Allowed)
    assert isinstance(session.decide("a", {"v": ["x"] * 6_000}), Blocked)
    assert isinstance(session.decide("a", {"v": deep}), Blocked)
    loop: list[Any] = []
    loop.append(loop)
    assert isinstance(session.decide("a", {"v": loop}), Blocked)
    session = guarded('G !called(a, "v[]" = "y")').session()
    assert isinstance(session.decide("a", {"v": ["x"] * 1_000}), Allowed)
    assert isinstance(session.decide("a", {"v": ["x"] * 6_000}), Blocked)


@requirement("S-FAIL-06", "T-31")
def test_what_has_been_settled_is_forgotten() -> None:
    """Nothing is kept of calls that have settled: the state is as large after 50 as after 5."""
    played = opened("G(called(pay) -> Y (!called(a) S done(check)))", "G(done(a) -> X F done(b))")
    sizes = []
    for times in (5, 45):
        played("check? a b ok:check pay " * times)
        sizes.append(len(json.dumps(played.session.snapshot())))
    assert sizes[1] < sizes[0] + 20


@requirement("S-FAIL-07", "T-32", "T-35")
def test_other_contracts_cost_nothing() -> None:
    """A decision asks only the clauses that its tool concerns, however many others there are."""
    many = Guard(
        contract(f"c{n}").guarantees(read(f"G(called(b{n}) -> Y O done(a{n}))")) for n in range(50)
    )
    session = many.session()
    assert len(many.policy.concerned("b7")) == 1
    assert len(many.policy.concerned("other")) == 0
    assert many.policy.concerned("another") is many.policy.concerned("other")
    assert isinstance(session.decide("b7"), Blocked)


@requirement("S-FAIL-07")
def test_what_concerns_every_call_sees_every_call() -> None:
    """A clause that reads the context is asked at calls that it does not name."""
    named = "G(count(called(b)) <= 9)"
    played = opened("G(ctx(stop) = true -> O called(a))", named)
    assert played("ctx:stop=false other b ctx:stop=true other b a other b") == "..xx..."
