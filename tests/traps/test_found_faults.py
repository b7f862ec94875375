"""Whatever is raised inside a decision or a result: nothing runs later that should not."""

from __future__ import annotations

import ast
import functools
import logging
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any, Literal, NamedTuple

import pytest

import sponsio_like
from sponsio_like import Allowed, Blocked, Guard, Session, Violation, contract
from sponsio_like.patterns import amount_limit, precedence
from tests.semantics.manifest import requirement
from tests.support.size import sized

PACKAGE = Path(sponsio_like.__file__).parent
RULES: tuple[Any, ...] = (
    {"ltl": "G(called(t) -> WX !called(t))"},
    {"ltl": "G(called(open) -> F[<=4] done(close))"},
    amount_limit("pay", "n", 100),
    precedence({"tool": "mail", "args": {"to": "$w"}}, {"tool": "vet", "args": {"name": "$w"}}),
    {"ltl": "G(message(assistant) -> Y O called(open))"},
    {"ltl": "G(called(close) -> ctx(paid) = true)"},
    {"ltl": "G(called(peek) -> !O(done(look) & output.ok = 1))"},
    {"ltl": "G(called(peep) -> !O(done(close) & output.ok = 1))"},
)
LONG = MappingProxyType({"n": 30})  # the slow path
TOLD = SAY, FACT = "(a message)", "(a fact)"
PLAY: tuple[tuple[str, Any], ...] = (
    ("t", {}), ("vet", {"name": "ann"}), ("pay", {"n": 60}), ("open", {}), ("t", {}), ("t", {}),
    ("pay", LONG), ("mail", {"to": "ann"}), (SAY, {}), ("close", {}), (FACT, {}), ("close", {}),
    ("pay", {"n": 20}), ("t", {}), ("mail", {"to": "bob"}), ("look", {}),
    ("peek", {}), ("peep", {}),
)  # fmt: skip


Mode = Literal["enforce", "observe"]
Where = tuple[str, int]  # a file and a line
Fault = tuple[Where, int]  # how often it has run by then
RESULTS = ("per_value", "settle", "settlement", "store")
CHANGE = frozenset(
    f"{name}.py" for name in ("fast", "interceptor", "ledger", "open_call", *RESULTS)
)
"""Where the state of a session is changed."""


class Strain(RecursionError):
    """Raised at one line."""


@functools.cache
def guard(mode: Mode) -> Guard:
    """One contract of each sort: of the next call, of what is owed, of a sum, of values."""
    return Guard([contract(f"c{i}").guarantees(rule) for i, rule in enumerate(RULES)], mode=mode)


class Played(NamedTuple):
    """What was told of each call: Allowed, Blocked, or what was raised; and of its result."""

    told: tuple[str, ...]
    raised: int
    session: Session


def play(session: Session) -> Played:
    """The calls of `PLAY`, each settled if it was let through, the sixth after the seventh."""
    told, later, raised = [], [], 0
    for k, (tool, args) in enumerate(PLAY):
        name = "raised"
        try:
            name = happen(session, tool, args, f"k{k}")
        except BaseException:
            raised += tool not in TOLD  # what cannot be told is said to the host
            stands = f"k{k}" in session._inner.flights or (tool == FACT and is_paid(session))
            name = "Flying" if stands else name
        told.append(name)
        if name == "Allowed" and tool not in TOLD:
            later.append(f"k{k}")
        while later and k != 3:  # the fourth call is in flight while the fifth is decided
            id = later.pop(0)
            try:
                again = any("settle it again" in each.message for each in settled(session, id))
            except BaseException:
                raised, again = raised + 1, True
            if again:
                settled(session, id)
    return Played(tuple(told), raised, session)


def settled(session: Session, id: str) -> tuple[Violation, ...]:
    """Settle a call; return the violations that this reveals."""
    return session.settle(id, output={"ok": 1})


def happen(session: Session, tool: str, args: Any, id: str) -> str:
    """Let a step of the play happen; the kind of the outcome."""
    if tool == FACT:
        session.fact("paid", True)
        return "Allowed"
    outcome = (
        session.message("assistant", "x") if tool == SAY else session.decide(tool, args, id=id)
    )
    return type(outcome).__name__


def is_paid(session: Session) -> bool:
    """Whether the fact is known."""
    return "paid" in session._inner.context.facts


def unruly(told: tuple[str, ...]) -> list[int]:
    """The calls that ran although a session that knows what ran before refuses them."""
    return [k for k, name in enumerate(told) if name == "Allowed" and not lawful(told[:k], k)]


@functools.lru_cache(maxsize=4096)
def lawful(told: tuple[str, ...], k: int) -> bool:
    """Whether call number `k` is let through after those before it that were."""
    session, later = guard("enforce").session(), list[str]()
    for n, name in enumerate(told):
        if name in ("Allowed", "Flying"):
            happen(session, *PLAY[n], f"k{n}")
        calls = PLAY[n][0] not in TOLD
        later += [f"k{n}"] if name == "Allowed" and calls else []
        while later and n != 3:
            session.settle(later.pop(0), output={"ok": 1})
    return happen(session, *PLAY[k], "last") == "Allowed"


# --- one fault ------------------------------------------------------------------------------------


@functools.cache
def heads(file: str, kind: type[ast.stmt]) -> frozenset[int]:
    """The lines at which such statements begin."""
    text = Path(file).read_text("utf-8") if Path(file).exists() else ""
    return frozenset(each.lineno for each in ast.walk(ast.parse(text)) if isinstance(each, kind))


@contextmanager
def tracing(seen: Counter[Where], fault: Fault | None, error: type) -> Iterator[None]:
    """Count the lines of the package that are run; at one of them, at that time, raise.

    Nothing is done at a `try`; and the way out of a `with` is one step, which no signal interrupts.
    """

    def calls(frame: FrameType, _: str, __: Any) -> Any:
        file = frame.f_code.co_filename
        wanted = fault[0][0] == file if fault else file.startswith((str(PACKAGE), "<a lane>"))
        if not wanted or file.endswith("session.py") or frame.f_code.co_name == "__exit__":
            return None
        once, skipped = heads(file, ast.With), set(heads(file, ast.Try))

        def line(frame: FrameType, what: str, _: Any) -> Any:
            where = (file, frame.f_lineno)
            if what == "line" and where[1] not in skipped:
                if where[1] in once:
                    skipped.add(where[1])
                seen[where] += 1
                if fault == (where, seen[where]):
                    raise error("injected")
            return line

        return line

    before = sys.gettrace()
    sys.settrace(calls)
    try:
        yield
    finally:
        sys.settrace(before)


@functools.cache
def lines(mode: Mode) -> tuple[Fault, ...]:
    """The lines that the play runs, at the first and at the last time."""
    seen: Counter[Where] = Counter()
    session = guard(mode).session()
    assert session.open
    with tracing(seen, None, Strain):
        play(session)
    return tuple((where, n) for where, most in sorted(seen.items()) for n in sorted({1, most}))


def some(mode: Mode, step: int) -> list[Fault]:
    """Lines at which something is changed, the last time; and a few of all others."""
    mine = [each for each in lines(mode) if Path(each[0][0]).name in CHANGE]
    last = {where: (where, n) for where, n in mine}
    return [*list(last.values())[::step], *lines(mode)[:: 40 * step]]


def faulted(mode: Mode, fault: Fault, error: type) -> Played:
    """The play, with one fault."""
    session = guard(mode).session()
    assert session.open  # it has a state from now on
    with tracing(Counter(), fault, error):
        return play(session)


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1, "sponsio_like")


def test_the_play_is_lawful_without_a_fault() -> None:
    """The play has calls that are let through and that are refused, and goes through all stages."""
    told = play(guard("enforce").session()).told
    assert unruly(told) == []
    assert {"Allowed", "Blocked"} == set(told)
    assert {Path(where).name for (where, _), _ in lines("enforce")} >= CHANGE


@pytest.mark.long
@requirement("S-FAIL-09")
@pytest.mark.parametrize(("error", "step"), [(Strain, sized(1, 2)), (KeyboardInterrupt, 3)])
def test_after_a_fault_nothing_runs_that_would_be_refused(error: type, step: int) -> None:
    """Wherever a decision or a result is interrupted, later calls are refused, never forgotten."""
    told = Counter[str]()
    for fault in some("enforce", step):
        played = faulted("enforce", fault, error)
        assert unruly(played.told) == [], fault
        assert not played.session._inner.lock.locked(), fault
        told["in doubt" if played.session._inner.ledger.half_written else "as before"] += 1
    assert told["in doubt"] > 10
    assert told["as before"] > told["in doubt"]  # what can be worked out first is


@pytest.mark.long
@requirement("S-FAIL-10")
def test_observed_no_fault_disturbs() -> None:
    """Where everything observes, every call runs and every result is taken."""
    for fault in some("observe", 3):
        played = faulted("observe", fault, Strain)
        calls = {
            name for name, (tool, _) in zip(played.told, PLAY, strict=True) if tool not in TOLD
        }
        assert (played.raised, calls) == (0, {"Allowed"}), fault
        assert not played.session._inner.lock.locked(), fault


# --- a state in doubt -----------------------------------------------------------------------------


@requirement("S-FAIL-09")
def test_a_state_in_doubt_refuses_what_it_may_restrict_and_says_so() -> None:
    """What an enforced contract might refuse is refused: it names the contract and what failed."""
    rule = contract("pairs").guarantees({"ltl": "G(called(pay) -> Y O called(vet))"})
    session = Guard([rule]).session()
    session.decide("vet", {}, id="a")
    session._inner.doubts(RecursionError())
    outcome = session.decide("pay")
    assert isinstance(outcome, Blocked)
    said = "the state of `pairs` is in doubt: RecursionError while call 0 was recorded"
    assert outcome.advice == f"{said}; go on in a new session"
    assert isinstance(session.decide("look"), Allowed)


@requirement("S-FAIL-09")
def test_a_state_in_doubt_outlives_a_snapshot() -> None:
    """A session that is restored from a state in doubt is in doubt."""
    session = guard("enforce").session()
    session._inner.doubts()
    again = guard("enforce").restore(session.snapshot())
    assert isinstance(again.decide("pay", {"n": 1}), Blocked)


@requirement("S-FAIL-10")
def test_a_state_in_doubt_is_reported_once_where_it_only_observes() -> None:
    """Observed, the agent goes on; the log says once that what is reported may be wrong."""
    records: list[Any] = []
    one = Guard(
        [contract("c").guarantees(amount_limit("pay", "n", 100))],
        mode="observe",
        log=records.append,
    )
    session = one.session()
    session.decide("pay", {"n": 1}, id="a")
    session._inner.doubts(RecursionError())
    assert [type(session.decide("pay", {"n": 1})) for _ in "abc"] == [Allowed] * 3
    assert str(records).count("is in doubt") == 1


@requirement("S-FAIL-09")
def test_near_a_full_stack_no_call_is_forgotten() -> None:
    """Of calls that may not follow each other never two run, however little stack is left."""
    one = Guard([contract("c").guarantees(RULES[0])])
    told = Counter[str]()
    names: list[str] = []
    session = one.session()

    def deep(left: int) -> None:
        if left:
            deep(left - 1)
            return
        for _ in "ttt":
            outcome = session.decide("t", {})
            names.append(type(outcome).__name__)
            session.settle(outcome.id)

    for left in range(sys.getrecursionlimit() - 200, sys.getrecursionlimit()):
        session = one.session()
        names.clear()
        with suppress(RecursionError):
            deep(left)
        names.append(type(session.decide("t")).__name__)
        told[" ".join(names)] += 1
        assert names.count("Allowed") <= 1, left
    assert len(told) > 1


@requirement("S-FAIL-09")
def test_a_result_that_cannot_be_taken_leaves_the_call_in_flight() -> None:
    """The host is told that the result is not kept, and may settle the call again."""
    session = guard("enforce").session()
    session.decide("vet", LONG, id="a")
    broken = (
        (
            str(PACKAGE / "session/user_code.py"),
            _line_of("session/user_code.py", "clauses, crowds, found = policy.clauses"),
        ),
        1,
    )
    with tracing(Counter(), broken, Strain):
        (said,) = session.settle("a", output=1)
    assert said.message == "the result of `vet` is not kept, settle it again: Strain"
    assert "a" in session._inner.flights
    assert session.settle("a", output=1) == ()
    assert not session._inner.settling


def _line_of(file: str, text: str) -> int:
    lines = (PACKAGE / file).read_text("utf-8").splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)
