"""Traps of time and memory: what must not cost more the longer, the larger or the more there is."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Contract, ContractError, Guard, Session, contract
from sponsio_like.patterns import (
    always_followed_by,
    arg_allowlist,
    arg_blacklist,
    bounded_retry,
    cooldown,
    deadline,
    loop_detection,
    must_confirm,
    must_precede,
    rate_limit,
    tool_allowlist,
    workflow_step,
)
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement
from tests.session.test_memory import forget
from tests.support.costs import beside, costs

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*a cap of 1000000000 is never reached"),
    pytest.mark.filterwarnings("ignore:.*too large for exact verdicts"),
]
"""What these tests load is meant to be large."""


def guarded(*rules: Any, **options: Any) -> Guard:
    """A guard of one contract for each rule."""
    each = [contract(f"rule {n}").guarantees(rule) for n, rule in enumerate(rules)]
    return Guard(each, **options)


def calling(session: Session, calls: Sequence[tuple[str, Any]]) -> Callable[[], None]:
    """Decides these calls, and settles those that are let through."""

    def work() -> None:
        for tool, args in calls:
            outcome = session.decide(tool, args)
            if isinstance(outcome, Allowed):
                session.settle(outcome.id)

    return work


# --- regular expressions --------------------------------------------------------------------------

HOSTILE = "a" * 60_000 + "!"
EXPLOSIVE = ["(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){20}$", r"(\w+\s?)*$", "^(([a-z])+.)+[A-Z]"]


@requirement("T-30")
@pytest.mark.parametrize("pattern", EXPLOSIVE)
def test_no_regular_expression_explodes(pattern: str) -> None:
    """What makes a backtracking matcher take ages on 29 characters is decided on 60,000 at once."""
    rules = [
        arg_blacklist("bash", "command", [f"(?:{pattern})\\z#"]),
        arg_allowlist("log", "text", [pattern.rstrip("$")]),
        read(f"G !called(run, command matches {pattern!r})"),
        read(f"G !(message(assistant) & text matches {pattern.rstrip('$') + '#'!r})"),
    ]
    session = guarded(*rules).session()

    def work() -> None:
        assert isinstance(session.decide("bash", {"command": HOSTILE}), Allowed)
        session.decide("log", {"text": HOSTILE})
        session.decide("run", {"command": HOSTILE})
        session.message("assistant", HOSTILE)

    assert beside(work) < 2_000


@requirement("T-30")
@pytest.mark.parametrize(
    "pattern",
    [
        r"(a)\1",
        "(?=a)b",
        "(?!a)b",
        "(?<=a)b",
        "(?<!a)b",
        "(?>a+)b",
        "a++",
        "(?P=x)",
        "(",
        "a{1001}",
    ],
)
@pytest.mark.parametrize("place", ["pattern", "match", "formula", "message"])
def test_what_cannot_be_matched_in_linear_time_is_refused_with_its_place(
    pattern: str, place: str, tmp_path: Path
) -> None:
    """Back-references, look-around and the like are refused in a file, wherever used."""
    written = pattern.replace("\\", "\\\\")
    guarantee = {
        "pattern": f"{{pattern: arg_blacklist, tool: t, field: f, patterns: [>>'{pattern}']}}",
        "match": "{pattern: rate_limit, limit: 1, action: {tool: t, args: {f: {matches: >>'"
        + pattern
        + "'}}}}",
        "formula": f"{{ltl: >>'G !called(t, f matches \"{written}\")'}}",
        "message": f"{{ltl: >>'G !text matches \"{written}\"'}}",
    }[place]
    line = f"    guarantee: {guarantee}"
    file = tmp_path / "rules.yaml"
    file.write_text(f"version: 1\ncontracts:\n  - name: a\n{line.replace('>>', '')}\n", "utf-8")
    with pytest.raises(ContractError, match="does not compile") as error:
        Guard.from_yaml(file)
    assert f"rules.yaml:4:{line.index('>>') + 1}" in str(error.value)


@requirement("T-30")
def test_the_size_of_regular_expressions_is_bounded() -> None:
    """A program that would be too large, or a text too long to be one, is refused when loaded."""
    for pattern in ("(((a{100}){100}){100})", "x" * 1_001, "((a{0,30}){0,30}){0,30}"):
        with pytest.raises(ContractError):
            arg_blacklist("bash", "command", [pattern])


@requirement("T-30")
def test_a_text_over_the_cap_violates_at_once() -> None:
    """A text too long to be searched is refused, not searched for ever and not let through."""
    session = guarded(arg_blacklist("bash", "command", ["(a+)+$"])).session()
    outcomes: list[object] = []
    text = "b" * 5_000_000
    assert beside(lambda: outcomes.append(session.decide("bash", {"command": text}))) < 1_000
    assert isinstance(outcomes[0], Blocked)


@pytest.mark.long
@requirement("T-33")
def test_there_is_no_cliff_beyond_some_number_of_regular_expressions() -> None:
    """Each of 600 regular expressions costs what each of 300 does, in one contract or many."""
    words = [f"forbidden{n}x*" for n in range(600)]
    calls = [("bash", {"command": "ls -l"})] * 3

    def one(number: int) -> Callable[[], None]:
        return calling(guarded(arg_blacklist("bash", "command", words[:number])).session(), calls)

    def many(number: int) -> Callable[[], None]:
        rules = [read(f'G !called(bash, command matches "{word}")') for word in words[:number]]
        return calling(guarded(*rules).session(), calls)

    for make in (one, many):
        few, all_ = costs(make(300), make(600))
        assert all_ < 5 * few


@requirement("T-33")
def test_the_last_of_600_regular_expressions_is_looked_for() -> None:
    """However many regular expressions there are, each of them counts."""
    words = [f"forbidden{n}x*;" for n in range(600)]
    session = guarded(arg_blacklist("bash", "command", words)).session()
    for n in (0, 299, 511, 512, 513, 599):
        outcome = session.decide("bash", {"command": f"echo forbidden{n}xxx; ls"})
        assert isinstance(outcome, Blocked)
    assert isinstance(session.decide("bash", {"command": "echo forbidden600;"}), Allowed)


# --- memory ---------------------------------------------------------------------------------------

ALL_SORTS = (
    must_precede("check", "pay"),
    must_confirm("drop", by="ask"),
    always_followed_by("pay", "tell"),
    rate_limit("pay", 10**9),
    rate_limit("shell", 5, per={"steps": 10}),
    cooldown("write", steps=3),
    deadline("pay", "tell", steps=20),
    workflow_step("lock", "tell"),
    bounded_retry("deploy", 3),
    loop_detection("search", 5),
    read("G(called(write) -> since(called(read)) <= 5)"),
    read("G(called(pay) -> sum(pay, amount) <= 1000000000)"),
    read("G(called(tell) -> !failed(tell))"),
    read("G(called(search) -> count[<=60s](search) <= 10)"),
)
TOOLS = (
    "check",
    "pay",
    "drop",
    "ask",
    "tell",
    "shell",
    "write",
    "lock",
    "deploy",
    "search",
    "read",
)


def happenings() -> Iterator[tuple[str, dict[str, Any], int, int]]:
    """Tool, arguments, how it ends, and whether its result comes late; it does not repeat."""
    state = 7
    while True:
        state = (state * 48271) % 0x7FFFFFFF
        yield TOOLS[state % 11], {"amount": state % 97, "text": "x" * 200}, state % 7, state % 5


def live(session: Session, number: int, events: Iterator[Any]) -> None:
    """Let so many calls happen; some results come one call late."""
    waiting: list[tuple[str, int]] = []
    for _ in range(number):
        tool, args, ends, late = next(events)
        waiting.append((session.decide(tool, args).id, ends))
        if late:
            for id, how in waiting:
                session.settle(id, output=None if how else "done", error=None if how else "no")
            waiting.clear()


@pytest.mark.long
@requirement("T-31")
def test_a_session_does_not_grow_with_its_trace() -> None:
    """After 500 calls that each pattern has seen, 2,500 more take less than 50 bytes each.

    Most of it are names in the interpreter's own cache of attributes, which is bounded.
    """
    guard = guarded(*ALL_SORTS, mode="observe")

    def opened() -> Session:
        times = iter(range(10**9))
        return guard.session(clock=lambda: float(next(times)))

    live(opened(), 3_000, happenings())  # fills what is remembered for all sessions together
    session, events = opened(), happenings()
    kept: list[int] = []
    tracemalloc.start()
    try:
        for number in (500, 2_500):
            live(session, number, events)
            for clause in guard.policy.clauses:
                clause._quiet.clear()  # is bounded, and of all sessions together,
            forget()  # as these are
            gc.collect()
            kept.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert kept[1] - kept[0] < 125_000


@pytest.mark.long
@requirement("T-31")
def test_calls_that_are_refused_cost_no_memory() -> None:
    """An agent that tries in vain, thousands of times, with new ids and tools, leaves nothing."""
    session = guarded(tool_allowlist(["read"]), must_precede("check", "pay")).session()

    def attack(first: int, last: int) -> None:
        for n in range(first, last):
            session.decide(f"tool {n}", {"n": n, "text": "x" * 1_000}, id=f"id {n}")

    attack(0, 5_000)  # what is remembered of names is capped, for all sessions together
    gc.collect()
    tracemalloc.start()
    try:
        attack(5_000, 10_000)
        gc.collect()
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 100_000


# --- cost -----------------------------------------------------------------------------------------


def others(number: int) -> list[Contract]:
    """Contracts of every sort about tools that nobody calls."""
    makers: list[Callable[[str, str], Any]] = [
        must_precede,
        lambda a, b: rate_limit(a, 3),
        lambda a, b: cooldown(a, steps=3),
        lambda a, b: arg_blacklist(a, "command", [f"{b}.*x"]),
        lambda a, b: deadline(a, b, steps=3),
        always_followed_by,
    ]
    return [
        contract(f"other {n}").guarantees(makers[n % len(makers)](f"a{n}", f"b{n}"))
        for n in range(number)
    ]


MINE = [
    contract("gate").guarantees(must_precede("check", "pay")),
    contract("few").guarantees(rate_limit("pay", 10**9)),
    contract("safe").guarantees(arg_blacklist("bash", "command", ["sudo"])),
]
CALLS: list[tuple[str, Any]] = [
    ("check", {}),
    ("pay", {"n": 1}),
    ("bash", {"command": "ls"}),
    ("x", {}),
]


@requirement("T-32")
def test_contracts_of_other_tools_cost_nothing() -> None:
    """A decision under 600 contracts, three of which concern the tool, costs that of the three."""
    alone = calling(Guard(MINE).session(), CALLS * 25)
    among = calling(Guard([*others(300), *MINE, *others(600)[300:]]).session(), CALLS * 25)
    few, many = costs(alone, among)
    assert many < 3 * few


@requirement("T-35")
@pytest.mark.parametrize("number", [3_000, 10_000])
def test_thousands_of_tool_names_slow_no_decision_down(number: int) -> None:
    """After calls of 10,000 different tools a decision takes what it took before."""
    guard = Guard(
        [
            *others(300),
            *MINE,
            contract("globs").guarantees(rate_limit(["mcp__*", "*_delete"], 10**9)),
        ]
    )
    session = guard.session()
    work = calling(session, CALLS * 25)
    (before,) = costs(work)
    prefixes = ("tool_", "mcp__server__", "it's ")
    calling(session, [(f"{prefixes[n % 3]}{n}", {}) for n in range(number)])()
    (after,) = costs(work)
    assert after < 3 * before


@requirement("T-35")
def test_a_name_never_heard_of_is_decided_as_fast_as_any() -> None:
    """The ten-thousandth new tool costs what the hundredth did: names are not gone through."""
    session = Guard([*others(100), *MINE]).session()
    new = iter(range(10**9))

    def work() -> None:
        calling(session, [(f"tool {next(new)}", {}) for _ in range(100)])()

    (early,) = costs(work)
    calling(session, [(f"tool {next(new)}", {}) for _ in range(10_000)])()
    (late,) = costs(work)
    assert late < 4 * early


@requirement("T-35")
def test_a_rule_may_name_thousands_of_tools() -> None:
    """A list of 3,000 tools in one rule loads soon, and a name is found wherever it stands."""
    names = [f"tool {n}" for n in range(3_000)]
    session = guarded(tool_allowlist(names), rate_limit(names, 10**9)).session()
    first, last = costs(
        calling(session, [(names[0], {})] * 50), calling(session, [(names[-1], {})] * 50)
    )
    assert last < 4 * first
    assert isinstance(session.decide("tool 3000"), Blocked)


# --- depth ----------------------------------------------------------------------------------------


@requirement("T-34")
@pytest.mark.parametrize("steps", [200, 5_000])
def test_a_cooldown_may_be_long(steps: int) -> None:
    """A cooldown of thousands of steps counts them exactly, without recursion."""
    session = guarded(cooldown("pay", steps=steps)).session()
    calling(session, [("pay", {})])()
    for blocked_at in (0, steps // 2, steps - 1):
        while session.calls - 1 < blocked_at:
            calling(session, [("other", {})])()
        assert isinstance(session.decide("pay"), Blocked)
    calling(session, [("other", {})])()
    assert isinstance(session.decide("pay"), Allowed)


@requirement("T-34")
def test_an_allowlist_may_have_hundreds_of_tools() -> None:
    """An allowlist of 400 tools allows all of them, and nothing else."""
    names = [f"tool_{n}" for n in range(400)]
    session = guarded(tool_allowlist(names)).session()
    assert all(isinstance(session.decide(name), Allowed) for name in names)
    for name in ("tool_400", "tool_", "Tool_1", "tool_1 ", "mcp__x__tool_1"):
        assert isinstance(session.decide(name), Blocked)


def nested(text: str, inside: str, end: str, depth: int) -> str:
    """`text` so many times around `inside`."""
    return text * depth + inside + end * depth


DEEP = {
    "brackets": ("G(called(pay) -> %s)", "(", "O done(check)", ")"),
    "not": ("G(called(pay) -> %s)", "!!", "O done(check)", ""),
    "or": ("G(called(pay) -> %s)", "(called(x) | ", "O done(check)", ")"),
    "and": ("G(called(pay) -> %s)", "(!called(x) & ", "O done(check)", ")"),
    "implies": ("G(called(pay) -> %s)", "(called(pay) -> ", "O done(check)", ")"),
    "once": ("G(called(pay) -> %s)", "O ", "done(check)", ""),
    "since": ("G(called(pay) -> %s)", "(called(pay) S ", "O done(check)", ")"),
    "finally": ("G(called(check) -> %s)", "F ", "called(pay)", ""),
    "always": ("%s", "G ", "(called(pay) -> O done(check))", ""),
}


@pytest.mark.long
@requirement("T-34")
@pytest.mark.parametrize("shape", DEEP)
def test_formulas_may_be_500_levels_deep(shape: str, tmp_path: Path) -> None:
    """A formula of a file, nested 500 levels deep, loads, decides and goes through a snapshot."""
    frame, text, inside, end = DEEP[shape]
    path = tmp_path / "deep.yaml"
    formula = frame % nested(text, inside, end, 500)
    path.write_text(f"version: 1\ncontracts: [{{name: deep, guarantee: {{ltl: '{formula}'}}}}]\n")
    guard = Guard.from_yaml(path)
    session = guard.session()
    first = session.decide("pay")
    assert isinstance(first, Allowed if shape == "finally" else Blocked)
    session.settle(session.decide("check").id)
    session = guard.restore(session.snapshot())
    assert session.pending() or shape != "finally"
    assert isinstance(session.decide("pay"), Allowed)
    assert session.finish() == ()


@pytest.mark.long
@requirement("T-34")
@pytest.mark.parametrize(
    ("operator", "depth"), [("X ", 10), ("Y ", 500), ("WX ", 500), ("WY ", 500)]
)
def test_steps_may_be_hundreds_of_levels_deep(operator: str, depth: int) -> None:
    """So many nested steps lead to the position that is so far away, and to no other."""
    formula = f"G(called(pay) -> {operator * depth}called(mark))"
    session = guarded(read(formula), mode="observe").session()
    seen = 0
    between = ["other"] * (depth - 1)
    for name in ["mark", *between, "pay", *between, "mark", "other"]:
        outcome = session.decide(name)
        assert isinstance(outcome, Allowed)
        seen += len(outcome.observed)
        session.settle(outcome.id)
    assert seen == 0
    assert session.finish() == ()


@requirement("T-34")
def test_obligations_may_be_500_levels_deep() -> None:
    """Of 500 nested steps of the future, each call takes one away; the rest stays owed."""
    session = guarded(read(f"G(called(pay) -> {'X ' * 500}called(mark))")).session()
    assert [type(session.decide(tool)) for tool in ("pay", "other")] == [Allowed] * 2
    (owed,) = session.pending()
    assert owed.contract == "rule 0"
