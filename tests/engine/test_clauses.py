"""A clause with its assumption and scope, alone or split: when it fails, and when it is quiet.

Runs are written as `tests/support/play.py` reads them; a second passes between words.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from sponsio_like import Guard
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, Scope, contract
from sponsio_like.events import registry
from sponsio_like.logic.formula import conj
from sponsio_like.syntax import read
from tests.support.play import Played, opened


def scoped(kind: Any, guarantee: str, *ends: str, assume: str | None = None) -> Contract:
    """A contract with a scope."""
    formulas = [read(end) for end in ends]
    start, stop = (None, *formulas) if kind == "before" else (*formulas, None)[:2]
    rule = Rule(read(guarantee))
    return Contract("c", (rule,), read(assume) if assume else None, Scope(kind, start, stop))


def split(guarantee: str, *by: str) -> Contract:
    """A contract that is watched for every value by itself; it speaks of `o` as well."""
    rule = Rule(conj(read(guarantee), read("G(called(o) -> called(*))")), by=by)
    return Contract("c", (rule,))


def observed(each: str | Contract, **options: Any) -> Played:
    """A session in which everything is let through."""
    return opened(each, guard={"mode": "observe"}, **options)


# --- scopes ---------------------------------------------------------------------------------------

HANGING = [
    ("between", "G !failed(a)", "g a? h error:a", "...r"),
    ("between", "G !failed(a)", "g a? h ok:a", "...."),
    ("between", "G !failed(a)", "a? g h error:a", "...."),
    ("between", "G !failed(a)", "g h a? error:a", "...."),
    ("between", "G !failed(a)", "g a? a? h error:a error:a", "....rr"),
    ("between", "G !failed(a)", "g a? a? h ok:a error:a", ".....r"),
    ("after_until", "G !failed(a)", "g a? h g error:a", "....r"),
    ("between", "G !failed([a, b])", "g a? h g b? error:b error:a", ".....rr"),
    ("between", "F done(a)", "g a? h ok:a", "...."),
    ("between", "F done(a)", "g a? h error:a", "...r"),
    ("between", "F done(a)", "g a? a? h error:a ok:a", "......"),
    ("between", "F done(a)", "g a? a? h error:a error:a", ".....r"),
    ("between", "F done(a)", "g o h", "..w"),
    ("between", "F done(a)", "g a h", "..."),
    ("between", "G(done(a) -> X F called(b))", "g a? h error:a", "...."),
    ("between", "G(done(a) -> X F called(b))", "g a? h ok:a", "...r"),
    ("between", "G(done(a) -> X F called(b))", "g a? b h ok:a", "....."),
    ("between", "G(called(a) -> (done(a) & !failed(a)))", "g a? h error:a", "...r"),
]


@pytest.mark.parametrize(("kind", "guarantee", "run", "signs"), HANGING)
def test_what_a_segment_owes_to_a_result_is_settled_after_its_end(
    kind: str, guarantee: str, run: str, signs: str
) -> None:
    """A result that comes after the end still decides what the segment is worth."""
    assert observed(scoped(kind, guarantee, "called(g)", "called(h)"))(run) == signs


EITHER = (
    "G(called(a) -> done(a) | F called(b)) & G(called(a) -> failed(a) | F called(b)) & G !failed(c)"
)
TOGETHER = [
    ("g a? b h ok:a", "....."),
    ("g a? h", "..w"),
    ("g a? c? h ok:c", "...w."),
    ("g a? c? h error:c", "...wr"),
    ("g c? h ok:c", "...."),
]


@pytest.mark.parametrize(("run", "signs"), TOGETHER)
def test_what_cannot_be_kept_together_fails_at_the_end_of_its_segment(run: str, signs: str) -> None:
    """Each could come out well, but not both: that is told once."""
    assert observed(scoped("between", EITHER, "called(g)", "called(h)"))(run) == signs


def test_more_calls_in_flight_than_can_be_weighed_are_waited_for() -> None:
    """Whether they come out well together is then seen as their results arrive."""
    played = observed(scoped("between", "G !failed(a)", "called(g)", "called(h)"))
    assert played("g" + " a?" * 6 + " h") == "." * 8
    assert played.unfulfilled() == ["c"]
    assert played("error:a ok:a" + " ok:a" * 4) == "r....."
    played = observed("G !failed(a) & G(called(b) -> F called(c))")
    assert played("a? " * 6 + "b") == "." * 7
    assert played("error:a " + "ok:a " * 5) == "r....."


ALREADY = [
    ("G(called(a) -> X called(b) & X called(c) & !failed(a))", "a?", "w"),
    ("G(called(a) -> X called(b) & !failed(a))", "a?", "."),
    ("G(called(a) -> F[<=1] (called(c) & Y O done(a)))", "a? ok:a c", "..."),
    ("G(called(a) -> F[<=1] (called(c) & Y O done(a)))", "a? c", ".w"),
    ("G(called(a) -> F[<=1] (called(c) & Y O done(a)))", "a? error:a", ".r"),
    ("G(called(a) -> F[<=1] (called(c) & Y O done(d)))", "d? a ok:d c", "...."),
    ("G(called(a) -> F[<=1] (called(c) & Y O done(d)))", "d? a error:d", "..r"),
]


@pytest.mark.parametrize(("text", "run", "signs"), ALREADY)
def test_a_call_in_flight_may_settle_either_way_but_no_more(
    text: str, run: str, signs: str
) -> None:
    """What no result can mend is violated at once; what one may mend is not."""
    assert observed(text)(run) == signs


def test_a_segment_that_waits_for_results_is_still_pending() -> None:
    """Until they come, it may fail; then it is over."""
    played = observed(scoped("between", "F done(a)", "called(g)", "called(h)"))
    played("g a? h")
    assert played.unfulfilled() == ["c"]
    played = observed(scoped("between", "F done(a)", "called(g)", "called(h)"))
    played("g a? h ok:a")
    assert played.unfulfilled() == []


OPEN_ENDS: list[tuple[str, list[str], str]] = [
    ("before", [], "o"),
    ("between", [], "g o"),
    ("after_until", ["c"], "g o"),
    ("after_until", [], "o"),
    ("after_until", [], "g a h"),
    ("after", [], "o"),
    ("after", ["c"], "g o"),
]


@pytest.mark.parametrize(("kind", "unfulfilled", "run"), OPEN_ENDS)
def test_an_open_segment_is_unfulfilled_where_it_binds_to_the_end(
    kind: str, unfulfilled: list[str], run: str
) -> None:
    """`after` and `after_until` bind to the end of the session; the others need theirs."""
    ends = {"before": ["called(h)"], "after": ["called(g)"]}.get(kind, ["called(g)", "called(h)"])
    played = observed(scoped(kind, "F called(a)", *ends))
    played(run)
    assert played.unfulfilled() == unfulfilled


VERDICTS = [
    ("before", "G !called(a)", ("called(h)",), "", "inconclusive"),
    ("before", "G !called(a)", ("called(h)",), "h", "satisfied"),
    ("before", "G !called(a)", ("called(h)",), "h a", "satisfied"),
    ("before", "G !called(a)", ("called(h)",), "a", "violated"),
    ("before", "G !called(a)", ("called(h)",), "a h", "violated"),
    ("before", "F called(a)", ("called(h)",), "a", "inconclusive"),
    ("before", "F done(a)", ("called(h)",), "a? h", "inconclusive"),
    ("before", "F done(a)", ("called(h)",), "a? h ok:a", "satisfied"),
    ("before", "F done(a)", ("called(h)",), "a? h error:a", "violated"),
    ("after", "F called(a)", ("called(g)",), "g a", "inconclusive"),
    ("after", "G !called(a)", ("called(g)",), "g", "inconclusive"),
    ("after", "G !called(a)", ("called(g)",), "g a", "violated"),
    ("between", "F called(a)", ("called(g)", "called(h)"), "g a h", "inconclusive"),
    ("between", "F called(a)", ("called(g)", "called(h)"), "g h", "violated"),
]


@pytest.mark.parametrize(("kind", "guarantee", "ends", "run", "verdict"), VERDICTS)
def test_a_scope_that_may_open_again_leaves_the_verdict_open(
    kind: str, guarantee: str, ends: tuple[str, ...], run: str, verdict: str
) -> None:
    """Only `before` is over once and for all; a violation latches in every scope."""
    played = observed(scoped(kind, guarantee, *ends))
    played(run)
    assert played.verdict() == verdict


LATE_ENDS = [
    ("after", "G !called(a)", ("done(g)",), "g? a ok:g a", "...w"),
    ("after", "G !called(a)", ("done(g)",), "g? a error:g a", "...."),
    ("after", "G !called(a)", ("done(g)",), "g a", ".w"),
    ("after_until", "G !called(a)", ("done(g)", "called(h)"), "g a h a", ".w.."),
    ("before", "F called(a)", ("done(h)",), "h? ok:h", ".r"),
    ("before", "F called(a)", ("done(h)",), "h? error:h", ".."),
    ("before", "F called(a)", ("done(h)",), "a h? ok:h", "..."),
]


@pytest.mark.parametrize(("kind", "guarantee", "ends", "run", "signs"), LATE_ENDS)
def test_a_scope_may_begin_and_end_with_a_result(
    kind: str, guarantee: str, ends: tuple[str, ...], run: str, signs: str
) -> None:
    """When it arrives; then at once."""
    assert observed(scoped(kind, guarantee, *ends))(run) == signs


UNKNOWN_ENDS = [
    ("after", ("called(g, x > 1)",), "g(x=2) a", ".w"),
    ("after", ("called(g, x > 1)",), "g(x=1) a", ".."),
    ("after", ("called(g, x > 1)",), "g(x=[1,2]) a", ".w"),
    ("after", ("called(g, x > 1)",), "g a", ".."),
    ("before", ("called(h, x > 1)",), "h(x=2) a", ".."),
    ("before", ("called(h, x > 1)",), "h(x=[1,2]) a", ".w"),
    ("before", ("called(h, x > 1)",), "h a", ".w"),
]


@pytest.mark.parametrize(("kind", "ends", "run", "signs"), UNKNOWN_ENDS)
def test_a_scope_that_cannot_be_told_binds(
    kind: str, ends: tuple[str, ...], run: str, signs: str
) -> None:
    """An end that may or may not be there: it has begun, and has not ended."""
    assert observed(scoped(kind, "G !called(a)", *ends))(run) == signs


# --- assumptions ----------------------------------------------------------------------------------

ASSUMED = [
    ("G !failed(a)", "O[<=2] called(c)", "c a? error:a", "..r"),
    ("G !failed(a)", "O[<=2] called(c)", "c a? o error:a", "...."),
    ("G !failed(a)", "O[<=3] called(c)", "c a? o error:a", "...r"),
    ("G !failed(a)", "Y called(a)", "a? error:a", ".r"),
    ("G !failed(a)", "Y called(a)", "a? o error:a", "..."),
    ("G !failed(a)", "O[<=2s] called(c)", "c a? error:a", "..r"),
    ("G !failed(a)", "O[<=2s] called(c)", "c a? o error:a", "...."),
    ("G(called(a) -> F[<=2s] called(b))", "O[<=3s] called(c)", "a c +2s o", "..t."),
    ("G(called(a) -> F[<=2s] called(b))", "O[<=3s] called(c)", "c a +3s o", "..."),
    ("G !called(a)", "O called(c)", "a c a", "..w"),
    ("G !called(a)", "O done(c)", "c? a ok:c a", "...w"),
    ("G !called(a)", "ctx(k) = 1", "a ctx:k=1 a ctx:k=2 a", "ww."),
]


@pytest.mark.parametrize(("guarantee", "assume", "run", "signs"), ASSUMED)
def test_an_assumption_is_asked_where_the_violation_shows(
    guarantee: str, assume: str, run: str, signs: str
) -> None:
    """At the position that violates; of a result, or of time gone by, at what comes next."""
    made = Contract("c", (Rule(read(guarantee)),), read(assume))
    assert observed(made)(run) == signs


# --- time -----------------------------------------------------------------------------------------

TIMED = [
    ("G(called(a) -> F[<=5s] called(b))", "a +2s a +4s o", "..t.", True),
    ("G(called(a) -> F[<=5s] called(b))", "a +2s a +4s o b", "..t..", False),
    ("G(called(a) -> F[<=5s] called(b))", "a +2s a +4s o +2s o", "..t.t.", False),
    ("G(called(a) -> F[<=5s] called(b))", "a +5s o", "..", True),
    ("G(called(a) -> F[<=5s] called(b))", "a +5s b", "..", False),
    ("G(called(a) -> F[<=5s] called(b))", "a +6s b", ".t.", False),
    (
        "G(called(a) -> F[<=2s] called(b)) & G(called(c) -> F[<=3] called(b))",
        "c a +3s o",
        "..t.",
        True,
    ),
    ("G(called(a) -> G[<=2s] !called(b))", "a b", ".w", False),
    ("G(called(a) -> G[<=2s] !called(b))", "a +2s b", ".w", False),
    ("G(called(a) -> G[<=2s] !called(b))", "a +3s b", "..", False),
]


@pytest.mark.parametrize(("text", "run", "signs", "open_"), TIMED)
def test_time_runs_out_for_each_obligation_by_itself(
    text: str, run: str, signs: str, open_: bool
) -> None:
    """What was due is lost and told once; what is due later can still be kept."""
    played = observed(text)
    assert played(run) == signs
    assert bool(played.unfulfilled()) is open_


# --- results and verdicts -------------------------------------------------------------------------

RESULTS = [
    ("G(done(a) -> F[<=2] called(b))", "a? o o ok:a", "...r"),
    ("G(done(a) -> F[<=2] called(b))", "a? o ok:a", "..."),
    ("G(done(a) -> F[<=2] called(b))", "a? o ok:a o", "...w"),
    ("G(done(a) -> F[<=2] called(b))", "a? o b ok:a", "...."),
    ("G(done(a) -> F[<=2] called(b))", "a? o o error:a", "...."),
    ("G(done(a) -> G[<=2] !called(b))", "a? o b ok:a", "...r"),
    ("G(done(a) -> G[<=2] !called(b))", "a? o o b ok:a", "....."),
    ("G(called(c) -> Y(O done(a) & O done(b)))", "a? b c ok:a c", "..w.."),
    ("G(called(c) -> Y(O done(a) & O done(b)))", "a? b? ok:a c ok:b c", "...w.."),
    ("G(called(c) -> Y O(done(a) & Y done(b)))", "b? a? ok:b ok:a c", "....."),
    ("G(called(c) -> Y O(done(a) & Y done(b)))", "b? o a? ok:b ok:a c", ".....w"),
    ("G(called(c) -> Y O[<=2] done(a))", "a? o ok:a c", "...."),
    ("G(called(c) -> Y O[<=2] done(a))", "a? o o o ok:a c", ".....w"),
    ("G(called(c) -> Y O[<=2] done(a))", "a? o o ok:a c", "....."),
    ("G(called(c) -> Y O[<=2] done(a))", "a? o o ok:a o c", ".....w"),
    ("G(called(c) -> !done(a) S called(b))", "b a? ok:a c", "...w"),
    ("G(called(c) -> !done(a) S called(b))", "b a? error:a c", "...."),
    ("G(called(c) -> since(done(a)) <= 2)", "a? o ok:a c", "...."),
    ("G(called(c) -> since(done(a)) <= 2)", "a? o o ok:a c", "....w"),
    ("G(called(c) -> count(done(a)) <= 1)", "a? a? c ok:a c ok:a c", "......w"),
    ("G(called(c) -> age(done(a)) <= 3)", "a? o ok:a c", "...."),
    ("G(called(c) -> age(done(a)) <= 3)", "a? o o ok:a c", "....w"),
]


@pytest.mark.parametrize(("text", "run", "signs"), RESULTS)
def test_a_late_result_counts_at_the_position_of_its_call(text: str, run: str, signs: str) -> None:
    """As if it had been known, for all that comes later, however many calls are in flight."""
    assert observed(text)(run) == signs


def test_a_result_that_cannot_be_read_leaves_the_rest_of_its_position(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An atom that raises takes the value that violates; what was read with it stays."""
    monkeypatch.setattr(registry, "CUSTOM", dict(registry.CUSTOM))

    def broken(tool: str, result: Any) -> bool:
        raise ValueError(tool)

    registry.atom("broken", waits=True)(broken)
    text = "G(called(c) -> Y O called(a)) & G(called(d) -> !Y O broken())"
    assert observed(text)("a? ok:a c d") == "...w"


def test_a_clock_that_fails_lets_time_stand_still_where_nothing_can_be_refused() -> None:
    """A result has to be taken, and a fact to be told."""
    played = observed("G(called(a) -> F[<=2s] called(b))")
    played("a?")

    def broken() -> float:
        raise OSError("no clock")

    played.session._inner.clock = broken
    assert played.session.settle(played.outcomes[0].id) == ()
    played.session.fact("k", 1)
    assert played.session._inner.time == 0.0
    assert len(played.session.finish()) == 1


def test_a_value_that_is_missing_is_not_compared_with_a_list() -> None:
    """What a call lacks is in no list; what never happened cannot be told, so it violates."""
    for text, sign in (("last(arg(x), called(b))", "w"), ("arg(x)", ".")):
        played = observed(f"G(called(a) -> !({text} in ctx(k)))")
        played.session.fact("k", [])
        assert played("a") == sign
        assert played("b(x=1) a(x=1)") == ".."


# --- clauses per value ----------------------------------------------------------------------------

SPLIT = [
    ("G(called(a) -> Y called(b))", "b(x=1) a(x=1) a(x=2)", "..w"),
    ("G(called(a) -> Y called(b))", "b(x=1) b(x=2) a(x=1) a(x=2)", "...."),
    ("G(called(a) -> Y called(b))", "b(x=1) o(x=2) a(x=1)", "..."),
    ("G(called(a) -> O[<=2] called(b))", "b(x=1) o(x=1) a(x=1) a(x=1)", "...w"),
    ("G(called(a) -> O[<=2] called(b))", "b(x=1) o(x=2) o(x=2) a(x=1)", "...."),
    ("G(called(a) -> F[<=2] called(b))", "a(x=1) o(x=1) o(x=1)", "..w"),
    ("G(called(a) -> F[<=2] called(b))", "a(x=1) o(x=2) o(x=2) b(x=1)", "...."),
    ("G(count(a) <= 1)", "a(x=1) a(x=2) a(x=1)", "..w"),
    ("G(called(a) -> F[<=2s] called(b))", "a(x=1) a(x=2) b(x=1) +3s o", "...t."),
    ("G(called(a) -> F[<=2s] called(b))", "a(x=1) b(x=2) +3s o(x=2)", "..t."),
    ("G !called(a)", "a", "w"),
    ("G !called(a)", "b", "."),
]


@pytest.mark.parametrize(("text", "run", "signs"), SPLIT)
def test_a_split_clause_counts_the_positions_of_each_value(text: str, run: str, signs: str) -> None:
    """Steps are those of calls with the value; seconds are the same for all."""
    assert observed(split(text, "x"))(run) == signs


SPLIT_RESULTS = [
    ("a(x=1)? o(x=1) o(x=1) ok:a", "...r"),
    ("a(x=1)? o(x=1) ok:a", "..."),
    ("a(x=1)? o(x=2) o(x=2) ok:a", "...."),
    ("a(x=1)? o(x=1) b(x=1) ok:a", "...."),
    ("a(x=1)? o(x=1) ok:a o(x=1)", "...w"),
    ("a(x=1)? ok:a o(x=1) o(x=1)", "...w"),
    ("a(x=1)? a(x=2)? o(x=1) o(x=1) ok:a ok:a", "....r."),
]


@pytest.mark.parametrize(("run", "signs"), SPLIT_RESULTS)
def test_a_result_belongs_to_the_value_of_its_call(run: str, signs: str) -> None:
    """The monitor that saw the call hears of its result, at its own last position."""
    assert observed(split("G(done(a) -> F[<=2] called(b))", "x"))(run) == signs


NEARLY = "G(done(a) -> F[<=2] (called(b) & Y called(c)))"


@pytest.mark.parametrize("what", [NEARLY, split(NEARLY, "x")], ids=["whole", "split"])
def test_a_result_that_leaves_too_few_positions_violates_at_once(what: str | Contract) -> None:
    """What is owed has to fit into the positions after the last one."""
    assert observed(what)("a(x=1)? o(x=1) ok:a") == "..r"
    assert observed(what)("a(x=1)? c(x=1) ok:a") == "..."
    assert observed(what)("a(x=1)? ok:a") == ".."


def test_what_is_pending_is_so_for_each_value() -> None:
    """A split clause owes something as long as one value does; its verdict stays open."""
    played = observed(split("G(called(a) -> F called(b))", "x"))
    played("a(x=1) a(x=2) b(x=1)")
    assert len(played.session.pending()) == 1
    assert played.verdict() == "inconclusive"
    played("b(x=2)")
    assert played.session.pending() == ()


# --- snapshots ------------------------------------------------------------------------------------

KEPT: list[tuple[str | Contract, str, str, str]] = [
    ("G(called(a) -> O[<=2] called(b))", "b o", "a a", ".w"),
    ("G(called(b) -> F[<=2] called(a))", "b o", "o", "w"),
    ("G(called(b) -> F[<=2] called(a))", "b", "o o", ".w"),
    ("G(called(b) -> X called(a))", "b", "o", "w"),
    ("G(called(a) -> F[<=5s] called(b))", "a", "+6s o", "t."),
    ("G(called(a) -> count[<=3](a) <= 1)", "a o", "a", "w"),
    ("G(called(a) -> Y called(b))", "b", "o a", ".w"),
    (
        split("G(called(a) -> O[<=2] called(b))", "x"),
        "b(x=1) o(x=2)",
        "o(x=1) a(x=1) a(x=1)",
        "..w",
    ),
    (split("G(called(a) -> F[<=2] called(b))", "x"), "a(x=1) o(x=2)", "o(x=1) o(x=1)", ".w"),
    (split("G(called(a) -> F[<=5s] called(b))", "x"), "a(x=1) o(x=2)", "+6s o(x=3)", "t."),
    (split("G(count(a) <= 1)", "x"), "a(x=1) a(x=2)", "a(x=3) a(x=2)", ".w"),
    (scoped("before", "F called(a)", "called(h)"), "o", "h", "w"),
    (scoped("between", "F called(a)", "called(g)", "called(h)"), "g", "h", "w"),
]


@pytest.mark.parametrize(("what", "before", "after", "signs"), KEPT)
def test_a_restored_session_keeps_its_clocks(
    what: str | Contract, before: str, after: str, signs: str
) -> None:
    """Positions, step clocks and alarms go on where the snapshot was taken."""
    played = observed(what)
    played(before)
    data = json.loads(json.dumps(played.session.snapshot()))
    played.session = played.guard.restore(data, clock=played.clock)
    assert played(after) == signs


def test_a_result_finds_its_call_after_a_restart() -> None:
    """Calls in flight are part of the snapshot, with what waits for them."""
    for what in ("G !failed(a)", split("G !failed(a)", "x")):
        played = observed(what)
        played("a(x=1)? o(x=1)")
        data = json.loads(json.dumps(played.session.snapshot()))
        played.session = played.guard.restore(data, clock=played.clock)
        assert played("error:a") == "r"


def test_one_contract_of_many_clauses_is_reported_once() -> None:
    """By the first of its clauses; other contracts by themselves."""
    both = contract("both").guarantees(read("G !called(a)"), read("G !called([a, b])"))
    played = opened(both, "G !called(a)", guard={"mode": "observe"})
    played("a")
    (outcome,) = played.outcomes
    assert sorted(each.contract for each in outcome.observed) == ["both", "rule 1"]  # type: ignore[union-attr]


def test_a_deadline_in_seconds_passes_beside_one_in_steps() -> None:
    """No call has to come for it: the next one, whatever it is, finds it passed."""
    played = observed("G(called(a) -> (F[<=60s] called(b)) & (F[<=9] called(c)))")
    played("a")
    played.clock.now = 100.0
    played("z")
    assert set(played.session.verdicts().values()) == {"violated"}


def test_calls_are_no_steps_of_what_is_said_of_messages() -> None:
    """A deadline of one message, with five calls of any tools in between."""
    played = observed("G(message(user) -> F[<=1] message(assistant))")
    played.session.message("user", "hi")
    played("z z z z z")
    played.session.message("assistant", "yes")
    assert set(played.session.verdicts().values()) == {"inconclusive"}
    played.session.message("user", "and?")
    played.session.message("user", "and?")
    assert set(played.session.verdicts().values()) == {"violated"}


def test_a_state_that_rests_is_told_from_one_that_owes_beside_a_call_in_flight() -> None:
    """What one session has learned about the first does not let another one skip a call."""
    rule = "G(((done(a) -> X called(b)) & !done(k)) | count[<=50](called(z)) > 0)"
    guard = Guard([contract("c").guarantees({"ltl": rule})])
    rests, owes = guard.session(), guard.session()
    for tool in ("k", "e"):
        rests.decide(tool)
    first = owes.decide("a")
    owes.settle(owes.decide("e").id)
    assert [each.position for each in owes.settle(first.id)] == [0]
