"""Behaviours of every adapter: calls that wait for a person."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.harness import Answer, Open, Report
from tests.adapters.rules import asked, check, checked, no, pay, send, small, spending, yes


def shown(report: Report) -> list[tuple[str | None, str, dict[str, Any]]]:
    """What people were shown, each call once."""
    found: list[tuple[str | None, str, dict[str, Any]]] = []
    for each in report.shown:
        ticket = each.call, each.tool, dict(each.args)
        if ticket not in found:
            found.append(ticket)
    return found


# --- one call -------------------------------------------------------------------------------------


def test_a_held_call_waits(opened: Open) -> None:
    """Nothing has run, the model is told nothing yet, and people are shown the call."""
    stage = opened(asked())
    report = stage.run([pay(900, "a")])
    assert (stage.tools(), report.told) == ([], ())
    assert report.waiting == {"a"}
    assert shown(report) == [("a", "pay", {"amount": 900})]


def test_an_approved_call_runs_once(opened: Open) -> None:
    """It runs with the arguments that were approved, and its result goes to the model."""
    stage = opened(asked())
    report = stage.run([pay(900, "a")], people=[yes("a")])
    assert stage.ran == [("pay", {"amount": 900})]
    assert (report.result("a"), report.waiting) == ("paid 900", frozenset())
    assert (stage.outcomes("pay")[-1], stage.statuses("pay")) == ("allowed", ["ok"])


def test_a_denied_call_never_runs(opened: Open) -> None:
    """The model is told that somebody said no, and goes on."""
    stage = opened(asked())
    report = stage.run([pay(900, "a")], [send("sorry", "b")], people=[no("a")])
    assert "said no" in report.refused("a")
    assert stage.tools() == ["send"]


def test_a_call_that_nobody_answers_in_time_never_runs(opened: Open) -> None:
    """The model is told that nobody answered, and goes on; before that time the call waits."""
    stage = opened(asked(within=60))
    report = stage.run([pay(900, "a")], [send("sorry", "b")], people=[30.0, 31.0])
    assert "nobody answered in time" in report.refused("a")
    assert stage.tools() == ["send"]
    assert stage.run([pay(900, "c")], thread="two", people=[30.0]).waiting == {"c"}


def test_an_approval_is_good_for_one_call(opened: Open) -> None:
    """The same call in a later turn has to be asked for again."""
    stage = opened(asked())
    report = stage.run([pay(900, "a")], [pay(900, "b")], people=[yes("a")])
    assert report.result("a") == "paid 900"
    assert (set(report.waiting), stage.tools()) == ({"b"}, ["pay"])


def test_an_approval_answers_only_who_asked(opened: Open) -> None:
    """Another contract that forbids the call blocks it all the same."""
    stage = opened(asked(), checked())
    report = stage.run([pay(900, "a")], [check("b")], people=[yes("a")])
    report.refused("a")
    assert stage.tools() == ["check"]


def test_only_those_who_may_answer_are_heard(opened: Open) -> None:
    """A yes of somebody in another role lets nothing run."""
    stage = opened(asked())
    stage.run([pay(900, "a")], people=[{"a": Answer(True, "bob", "clerk")}], raises=True)
    assert stage.tools() == []


def test_people_are_shown_the_arguments_that_the_body_receives(opened: Open) -> None:
    """`"900"` for a number is shown, approved and received as one and the same number."""
    stage = opened(asked())
    report = stage.run([pay("900", "a")], people=[yes("a")])
    assert shown(report) == [("a", "pay", {"amount": 900})]
    assert (report.result("a"), stage.ran) == ("paid 900", [("pay", {"amount": 900})])


# --- several calls of one turn --------------------------------------------------------------------

ORDERS: tuple[tuple[Any, ...], ...] = (
    ({**yes("a"), **no("b")},),
    ({**no("b"), **yes("a")},),
    (yes("a"), no("b")),
    (no("b"), yes("a")),
)


@pytest.mark.long
def test_answers_reach_their_own_calls_in_any_order(opened: Open) -> None:
    """At once or one by one, in whatever order: exactly what was approved runs, once."""
    for people in ORDERS:
        for first, second in ((900, 800), (800, 900)):
            stage = opened(asked())
            report = stage.run([pay(first, "a"), pay(second, "b")], people=people)
            assert stage.ran == [("pay", {"amount": first})]
            assert report.result("a") == f"paid {first}"
            assert "said no" in report.refused("b")


def test_the_last_of_three_may_be_the_one_that_is_approved(opened: Open) -> None:
    """Its place in the turn means nothing, and neither has it to be answered last."""
    for people in ([yes("c"), no("a"), no("b")], [no("b"), yes("c"), no("a")]):
        stage = opened(asked())
        report = stage.run([pay(900, "a"), pay(800, "b"), pay(700, "c")], people=people)
        assert stage.ran == [("pay", {"amount": 700})]
        assert report.result("c") == "paid 700"
        assert [each.call for each in report.told if each.error] in (["a", "b"], ["b", "a"])


def test_an_answer_leaves_the_others_waiting(opened: Open) -> None:
    """A yes for one call is none for the call beside it, which waits on."""
    stage = opened(asked())
    report = stage.run([pay(900, "a"), pay(800, "b")], people=[yes("b")])
    assert ("pay", {"amount": 900}) not in stage.ran
    assert "a" in report.waiting
    assert len(stage.tools()) <= 1


def test_equal_calls_are_answered_one_by_one(opened: Open) -> None:
    """Two calls with the same arguments are two questions."""
    for good, bad in (("a", "b"), ("b", "a")):
        stage = opened(asked())
        report = stage.run([pay(900, "a"), pay(900, "b")], people=[yes(good), no(bad)])
        assert report.result(good) == "paid 900"
        assert "said no" in report.refused(bad)
        assert stage.tools() == ["pay"]


def test_a_pause_repeats_nothing(opened: Open) -> None:
    """However often people are asked, the calls beside run once, and so does what is approved."""
    stage = opened(asked(), small(1_000))
    calls = [send("hello", "a"), pay(900, "b"), pay(5, "c"), pay(800, "d"), pay(2_000, "e")]
    report = stage.run(calls, people=[{}, yes("d"), {}, yes("b")])
    assert sorted(stage.tools()) == ["pay", "pay", "pay", "send"]
    assert report.result("a") == "sent hello to ann"
    assert [report.result(each) for each in "bcd"] == ["paid 900", "paid 5", "paid 800"]
    report.refused("e")
    assert sorted(stage.statuses("pay", "send")) == ["ok"] * 4


def test_limits_hold_when_held_calls_are_approved(opened: Open) -> None:
    """An approval answers the question that was asked; a limit that is used up by then stands."""
    stage = opened(asked(50), spending(100))
    report = stage.run([pay(60, "a"), pay(70, "b")], people=[yes("a", "b")])
    assert stage.tools() == ["pay"]
    assert sorted(each.error for each in report.told) == [False, True]


def test_threads_do_not_answer_for_each_other(opened: Open) -> None:
    """The same call with the same id in another thread is asked for by itself."""
    stage = opened(asked())
    assert stage.run([pay(900, "a")], people=[yes("a")]).result("a") == "paid 900"
    assert stage.run([pay(900, "a")], thread="two").waiting == {"a"}
    assert stage.tools() == ["pay"]


# --- only observed --------------------------------------------------------------------------------


def test_nobody_is_asked_where_calls_are_only_observed(opened: Open) -> None:
    """The call runs at once, and the log says that it would have been held."""
    stage = opened(asked(), mode="observe")
    report = stage.run([pay(900, "a")])
    assert (report.result("a"), report.shown) == ("paid 900", ())
    assert (stage.outcomes("pay"), stage.actions("pay")) == (["allowed"], ["held"])
