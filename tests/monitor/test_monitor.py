"""Monitors and what stands around them: rest, distance, windows of calls in flight, one answer."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like.checks.compile import compile_policy
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract
from sponsio_like.engine.clause import Clause
from sponsio_like.engine.findings import (
    Finding,
    enforced,
    findings_of,
    holding,
    needing_ruling,
    observed,
    reported,
    strictest,
)
from sponsio_like.engine.judgement import judge
from sponsio_like.engine.ledger import Ledger
from sponsio_like.event_types import Call, Message
from sponsio_like.events.atoms import OPEN
from sponsio_like.events.context import Context
from sponsio_like.logic.decomposition import decompose
from sponsio_like.monitor.in_flight import open_positions
from sponsio_like.monitor.monitor import Monitor, State, overall
from sponsio_like.monitor.past import Letter
from sponsio_like.monitor.program import Program
from sponsio_like.monitor.reachability import FAR
from sponsio_like.monitor.relative_state import NEVER, awaits_results, due, is_unchanged, memory
from sponsio_like.monitor.residual import both, one
from sponsio_like.monitor.state import PositionCounts, Witness
from sponsio_like.monitor.trees import branching
from sponsio_like.monitor.windows import WindowEntry, branches_of_window
from sponsio_like.outcome import Ask, Block, Decision, Escalate, Redirect, Violation, Warn
from sponsio_like.syntax import read
from tests.support.play import opened


def monitor(text: str) -> Monitor:
    """The monitor of a formula."""
    return Monitor(Program(), decompose(read(text)))


class Watched:
    """A monitor that is stepped by hand: `a` a call of a, `a?` one in flight, `.` any other."""

    def __init__(self, text: str) -> None:
        rule = Rule(read(text))
        self.clause = Clause(Contract("c", (rule,)), rule)
        self.monitor = self.clause.monitor
        self.state = self.monitor.start
        self.position = -1
        self.bad: list[bool] = []
        self.letters: list[Letter] = []

    def __call__(self, run: str) -> Watched:
        for word in run.split():
            self.position += 1
            call = Call("other" if word == "." else word.rstrip("?!"))
            letter = tuple(
                value if value is not OPEN or "?" in word else "!" not in word
                for value in self.clause.read(call, Context())
            )
            self.letters.append(letter)
            step = self.monitor.step(self.state, letter, self.position, float(self.position))
            self.state = step.state
            self.bad.append(step.violated)
        return self


ON_NOTHING = [
    ("count(a) = 0", False),
    ("count(a) = 1", True),
    ("sum(a, x) = 0", False),
    ("sum(a, x) = 1", True),
    ("repeats(a) = 0", False),
    ("repeats(a) = 1", True),
    ("since(a) > 3", False),
    ("since(a) <= 3", True),
    ("age(a) > 3", False),
    ("called(a)", True),
    ("!called(a)", False),
    ("X called(a)", True),
    ("WX called(a)", False),
    ("F called(a)", True),
    ("F[<=3] called(a)", True),
    ("G[<=3] called(a)", False),
    ("X called(a) U called(b)", True),
    ("X called(a) W called(b)", False),
    ("WX called(a) | called(b)", False),
    ("WX called(a) & called(b)", True),
    ("!(last(arg(x), called(a)) = 1)", True),
    ("(WX called(a) & WX called(b)) | called(c)", False),
    ("Y called(a) | called(b)", True),
    ("!(called(a) S called(b))", False),
    ("called(a) S called(b)", True),
]


@pytest.mark.parametrize(("text", "pending"), ON_NOTHING)
def test_an_empty_session_keeps_what_holds_on_nothing(text: str, pending: bool) -> None:
    """Nothing has happened, nothing was summed, and it never happened: what then does not hold."""
    assert bool(opened(text).session.pending()) is pending


AHEAD = [
    ("G(called(a) -> F called(b))", "", 0),
    ("G(called(a) -> X F called(b))", "a", 1),
    ("G(called(a) -> X F (called(b) & X called(c)))", "a", 2),
    ("G(called(a) -> F[<=4] (called(b) & Y called(c)))", "a", 2),
    ("G(called(a) -> F[<=4] (called(b) & Y called(c)))", "a c", 1),
    ("G(called(a) -> F[<=4] called(b)) & G(called(c) -> F[<=4] called(d))", "a c", 2),
    ("G(called(a) -> G[<=2] !called(b))", "a", 0),
    ("G(done(a) -> X F called(b))", "a?", FAR),
]


@pytest.mark.parametrize(("text", "run", "ahead"), AHEAD)
def test_a_monitor_knows_how_far_away_it_is_from_all_that_is_owed(
    text: str, run: str, ahead: int
) -> None:
    """The least number of positions that keeps everything; far, while a result is awaited."""
    watched = Watched(text)(run)
    assert watched.monitor.ahead(watched.state, watched.position) == ahead


DUE = [
    ("G(called(a) -> F called(b))", "a", NEVER),
    ("G(called(a) -> F[<=4] called(b))", "a", 4),
    ("G(called(a) -> F[<=4] called(b))", "a .", 4),
    ("G(called(a) -> F[<=4] (called(b) & Y called(c)))", "a", 3),
    ("G(called(a) -> F[<=4] called(b)) & G(called(c) -> F[<=4] called(d))", "a c", 3),
    ("G(called(a) -> G[<=4] !called(b))", "a", 4),
    ("G(called(a) -> O[<=4] called(b))", "b", 5),
    ("G(called(a) -> O[<=4] called(b))", "b . .", 5),
    ("G(called(a) -> O[<=4] called(b))", "b . . . .", 5),
    ("G(called(a) -> O[<=4] called(b))", "b . . . . .", NEVER),
    ("G(called(a) -> O[<=4] called(b))", ".", NEVER),
    ("G(called(c) -> O[<=4] called(b)) & G(called(a) -> F called(d))", "b a", 4),
    ("G(called(a) -> F[<=1] called(b))", "a", 1),
]


@pytest.mark.parametrize(("text", "run", "position"), DUE)
def test_a_step_bound_says_when_a_monitor_has_to_be_woken(
    text: str, run: str, position: int
) -> None:
    """The first position at which leaving it alone would be too late."""
    watched = Watched(text)(run)
    assert due(watched.monitor, watched.state, watched.position) == position


SAME = [
    ("G(called(a) -> O called(b))", "b", "b .", True),
    ("G(called(a) -> O called(b))", "", "b", False),
    ("G(called(a) -> Y called(b))", "b", "b .", False),
    ("G(called(a) -> O[<=1] called(b))", "b .", "b . .", True),
    ("G(called(a) -> O[<=1] called(b))", ".", ". b", False),
    ("G(called(a) -> count[<=2](b) <= 1)", "b b", "b b .", True),
    ("G(called(a) -> count[<=2](b) <= 1)", ".", ". b", False),
    ("G(called(a) -> count(b) <= 1)", ".", ". b", False),
    ("G(called(a) -> since(b) <= 1)", "b", "b .", True),
    ("G(called(a) -> since(b) <= 1)", "b", "b b", False),
]


@pytest.mark.parametrize(("text", "before", "after", "expected"), SAME)
def test_a_state_is_the_same_if_time_alone_has_made_it_forget(
    text: str, before: str, after: str, expected: bool
) -> None:
    """Stamps that fall out of their windows are no change; new ones are."""
    one_, other = Watched(text)(before), Watched(text)(after)
    assert is_unchanged(one_.monitor, one_.state, other.state) is expected


def test_states_are_remembered_relative_to_the_last_position() -> None:
    """So that the same situation later is the same."""
    for text in (
        "G(called(a) -> O[<=3] called(b))",
        "G(called(a) -> H[<=3] !called(b))",
        "G(called(a) -> since(b) <= 3)",
        "G(called(b) -> F[<=3] called(a))",
    ):
        early, late = Watched(text)("b ."), Watched(text)("b . . . b .")
        assert memory(early.monitor, early.state, 1) == memory(late.monitor, late.state, 5)
        assert memory(early.monitor, early.state, 1) != memory(late.monitor, late.state, 4)
    counted = Watched("G(called(a) -> count(b) <= 3)")
    assert memory(counted.monitor, counted("b").state, 0)[0] == (1,)


def test_a_state_is_in_the_air_while_a_result_is_awaited() -> None:
    """By an obligation, or by the past."""
    assert not awaits_results(Watched("G(done(a) -> F called(b))")("b .").state)
    assert awaits_results(Watched("G(done(a) -> F called(b))")("a?").state)
    assert awaits_results(Watched("G(called(b) -> Y O done(a))")("a?").state)
    assert not awaits_results(Watched("G(called(b) -> Y O done(a))")("a").state)


# --- branches -------------------------------------------------------------------------------------


def test_only_calls_whose_results_matter_are_remembered() -> None:
    """Not what came in between, and not a call after whose result nothing depends on another."""
    watched = Watched("G(called(b) -> Y O done(a))")("a . a? . a? .")
    assert watched.state.branches == ()
    watched = Watched("G(called(b) -> Y O done(a))")("a? . a? .")
    assert list(branching(watched.state.branches)) == [0, 2]
    failed = watched.monitor.settle(watched.state, 2, {_slot(watched): False}, 3)
    assert list(branching(failed.state.branches)) == [0]
    done = watched.monitor.settle(watched.state, 0, {_slot(watched): True}, 3)
    assert done.state.branches == ()


def _slot(watched: Watched) -> int:
    return next(i for i, slot in enumerate(watched.monitor.program.slots) if slot.waits)


REPLAYED = [
    ("G(called(b) -> O done(a))", "a? . . b?", 4),
    ("G(called(b) -> O[<=2] done(a))", "a? . .", 3),
    ("G(called(b) -> Y Y done(a))", "a? .", 2),
    ("G(called(b) -> count(done(a)) <= 1)", "a? . a? .", 4),
    ("G(called(b) -> since(done(a)) <= 1)", "a? . .", 3),
    ("G(called(b) -> (!called(c) S done(a)))", "a? . c . .", 5),
    ("G(called(b) -> H[<=2] !done(a))", "a? . . .", 4),
]


@pytest.mark.parametrize(("text", "run", "length"), REPLAYED)
def test_a_late_result_leaves_the_registers_as_a_timely_one(
    text: str, run: str, length: int
) -> None:
    """Whichever way the call settles, and whatever came in between."""
    for result in (True, False):
        late = Watched(text)(run)
        assert late.position == length - 1
        (slot,) = {_slot(late)}
        state: State = late.state
        for position in branching(late.state.branches):
            state = late.monitor.settle(state, position, {slot: result}, late.position).state
        timely = Watched(text)(run.replace("?", "" if result else "!"))
        assert state.registers == timely.state.registers
        assert state.branches == ()


@pytest.mark.parametrize(
    "text", ["G(called(b) -> O[<=3] done(a))", "G(called(b) -> Y Y Y done(a))"]
)
def test_a_window_of_an_older_snapshot_becomes_branches(text: str) -> None:
    """It has only the positions that the contract had seen; the others are stepped over."""
    for run in ("a? . . c", "a? . . . c", "a? . c . . c", "a? c . . c", "a? c . .", "a? . ."):
        watched, window = Watched(text), list[WindowEntry]()
        for word in run.split():
            before = watched.state.registers
            watched(word)
            if word != ".":
                here = watched.position
                letter = watched.letters[-1]
                window.append(WindowEntry(here, float(here), before, letter))
        trees = branches_of_window(watched.monitor, window, watched.position)
        assert trees == watched.state.branches, run


def test_calls_in_flight_are_those_of_what_is_owed() -> None:
    """Each with its open slots."""
    owed = both(one(("D", 3, 1, True)), both(one(("D", 3, 0, False)), one(("X", 2))))
    assert open_positions([owed, one(("D", 5, 1, True))]) == {3: [0, 1], 5: [1]}
    assert open_positions([]) == {}


# --- one answer -----------------------------------------------------------------------------------


def violation(mode: Any = "enforce") -> Violation:
    """A violation of some contract."""
    return Violation("c", 0, "a", "blocked", "m", mode)


RANKED: list[Decision] = [Warn(), Redirect("b"), Escalate(), Ask("ask", lambda _: Block()), Block()]


def test_the_strictest_answer_of_the_enforced_contracts_wins() -> None:
    """Block, then a callable, a person, a redirect; warnings and observers stop nothing."""
    found = [Finding(n, violation(), answer) for n, answer in enumerate(RANKED)]
    for weak, strong in ((found[i], found[j]) for j in range(5) for i in range(j)):
        assert strictest([weak, strong]) == strong.decision
        assert strictest([strong, weak]) == strong.decision
    assert strictest([found[0]]) is None
    assert strictest([]) is None
    silent = Finding(9, violation("observe"), Block())
    assert strictest([silent]) is None
    assert strictest([silent, found[1]]) == found[1].decision
    assert (enforced([silent]), observed([silent])) == ((), (silent.violation,))
    assert (enforced([found[1]]), observed([found[1]])) == ((found[1].violation,), ())


def test_only_enforced_contracts_ask_anybody() -> None:
    """Neither a callable nor a person is asked about what is only observed."""
    for answer in (Escalate(), Ask("ask", lambda _: Block())):
        silent, loud = (Finding(0, violation(mode), answer) for mode in ("observe", "enforce"))
        wanted, other = (
            (holding, needing_ruling) if isinstance(answer, Escalate) else (needing_ruling, holding)
        )
        assert [each for each, _ in wanted([silent, loud])] == [loud]
        assert [*other([silent, loud])] == []


def test_of_equally_strict_clauses_the_first_speaks_for_the_contract() -> None:
    """And the strictest of all, wherever it stands."""
    rules = tuple(Rule(read(f"G !called({tool})")) for tool in "abc")
    policy = compile_policy([Contract("c", rules)], "enforce")
    assert [
        each.clause
        for each in findings_of(policy, dict.fromkeys([1, 0, 2], Witness()), Call("a"), 0)
    ] == [1]
    assert [
        each.clause
        for each in findings_of(policy, dict.fromkeys([0, 1, 2], Witness()), Call("a"), 0)
    ] == [0]


def test_a_contract_is_found_once_with_the_strictest_of_its_clauses() -> None:
    """And with the action that its strategy is; what cannot be stopped is reported."""
    answers: list[Decision] = [Warn(), Block(), Redirect("z")]
    rules = [
        Rule(read(f"G !called({tool})"), answer=answer)
        for tool, answer in zip("abc", answers, strict=True)
    ]
    policy = compile_policy([Contract("c", tuple(rules)), Contract("d", (rules[0],))], "enforce")
    found = findings_of(policy, dict.fromkeys([0, 1, 2, 3], Witness()), Call("a"), 7)
    assert [(each.clause, each.violation.contract) for each in found] == [(1, "c"), (3, "d")]
    assert [each.violation.action for each in found] == ["blocked", "warned"]
    assert [each.violation.position for each in found] == [7, 7]
    (later,) = findings_of(policy, dict.fromkeys([2, 0], Witness()), Call("a"), 7)
    assert (later.clause, later.violation.action) == (2, "redirected")
    (said,) = findings_of(policy, dict.fromkeys([1], Witness()), Message("user", "x"), 7)
    assert (said.violation.action, said.decision) == ("reported", Warn())
    (answered,) = findings_of(policy, dict.fromkeys([1], Witness()), Message("assistant", "x"), 7)
    assert (answered.violation.action, answered.violation.tool) == ("blocked", None)
    assert [
        each.contract for each in reported(policy, dict.fromkeys([2, 1, 3], Witness()), 7, "a")
    ] == ["c", "d"]
    assert reported(policy, {}, 7, "a") == ()


def test_verdicts_of_clauses_make_one_of_the_contract() -> None:
    """Violated if one is; satisfied if all are."""
    assert overall({"violated", "satisfied"}) == "violated"
    assert overall({"satisfied"}) == "satisfied"
    assert overall({"satisfied", "inconclusive"}) == "inconclusive"
    assert overall(set()) == "inconclusive"


# --- ledger ---------------------------------------------------------------------------------------


def test_a_copy_of_a_ledger_has_the_values_it_is_asked_for() -> None:
    """What happens to the copy does not happen to the ledger, and the other way around."""
    rule = Rule(read("G(count(a) <= 1)"), by=("x",))
    ledger = Ledger(compile_policy([Contract("c", (rule,))], "enforce"))

    def happen(where: Ledger, x: int) -> bool:
        event = Call("a", {"x": x})
        reads = [where.read(i, event, Context()) for i in where.touched(event)]
        judgement = judge(where, event, reads, 0.0)
        where.commit(judgement)
        return bool(judgement.violated)

    assert not happen(ledger, 1)
    assert not happen(ledger, 2)
    keys = [*ledger.keyed[0]]
    twin = ledger.copy(keys[:1])
    assert {*twin.keyed[0]} == {keys[0]}
    assert ledger.copy([("none",)]).keyed == {0: {}}
    assert happen(twin, 1)
    assert not happen(ledger, 3)
    assert len(twin.keyed[0]) == 1
    assert len(ledger.keyed[0]) == 3
    places = {place for _, _, place in ledger.all_states()}
    assert places == {PositionCounts(0, 0)}
