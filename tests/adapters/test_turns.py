"""Behaviours of every adapter: parallel calls of one turn, call ids, turns and threads."""

from __future__ import annotations

from typing import Any

from tests.adapters.harness import Open
from tests.adapters.rules import check, checked, delete, few, kept, pay, send, small, spending

# --- one turn -------------------------------------------------------------------------------------


def test_a_limit_holds_over_parallel_calls(opened: Open) -> None:
    """Three payments of 60 under a limit of 100 in one turn end with one paid."""
    stage = opened(spending(100))
    report = stage.run([pay(60, "a"), pay(60, "b"), pay(60, "c")])
    assert stage.ran == [("pay", {"amount": 60})]
    assert sorted(each.error for each in report.told) == [False, True, True]
    assert {each.call for each in report.told} == {"a", "b", "c"}


def test_a_count_holds_over_many_parallel_calls(opened: Open) -> None:
    """Of eight calls under a limit of five, exactly five run."""
    stage = opened(few("pay", 5))
    report = stage.run([pay(n, f"call {n}") for n in range(8)])
    assert len(stage.tools()) == 5
    assert sum(each.error for each in report.told) == 3


def test_a_prerequisite_in_flight_does_not_count(opened: Open) -> None:
    """A call of the same turn has not succeeded yet; one of an earlier turn has."""
    stage = opened(checked())
    stage.bench.pause["check"] = lambda: stage.decided() >= 2
    report = stage.run([check("a"), pay(5, "b")], [pay(5, "c")])
    assert (report.result("a"), report.result("c")) == ("clean", "paid 5")
    report.refused("b")
    assert stage.tools() == ["check", "pay"]


def test_every_call_of_a_turn_gets_its_own_answer(opened: Open) -> None:
    """Results and errors stand under the ids of their calls, whatever the order."""
    stage = opened(few("pay"), kept())
    for n in range(3):
        calls = [send("hello", f"a{n}"), pay(5, f"b{n}"), delete("x", f"c{n}"), check(f"d{n}")]
        report = stage.run(calls[n:] + calls[:n], thread=f"thread {n}")
        report.refused(f"b{n}")
        results = [report.result(f"{each}{n}") for each in "acd"]
        assert results == ["sent hello to ann", "trashed x", "clean"]


# --- ids ------------------------------------------------------------------------------------------


def test_an_id_given_twice_in_one_turn_is_refused(opened: Open) -> None:
    """Nobody can tell whose result it would be: neither call runs, the same arguments or not."""
    for second in (5, 6):
        stage = opened(few("pay", 3))
        report = stage.run([pay(5, "a"), pay(second, "a"), send("hello", "b")], [pay(7, "c")])
        assert [each.error for each in report.told if each.call == "a"] == [True, True]
        assert stage.ran == [("send", {"to": "ann", "text": "hello"}), ("pay", {"amount": 7})]


def test_a_call_without_an_id_never_runs_unguarded(opened: Open) -> None:
    """It is decided like any other, or refused."""
    stage = opened(small(100), spending(100))
    for thread, amount in (("one", 900), ("two", 60), ("two", 60)):
        stage.run([pay(amount, None)], thread=thread, raises=True)
    assert stage.ran in ([], [("pay", {"amount": 60})])


def test_an_id_that_comes_again_in_a_later_turn_is_another_call(opened: Open) -> None:
    """Models that count their calls anew in each turn are guarded as well."""
    stage = opened(spending(100))
    first = stage.run([pay(60, "a")])
    then = stage.run([pay(60, "a")], [pay(30, "a")])
    assert first.result("a") == "paid 60"
    assert [each.error for each in then.told] == [True, False]
    assert stage.ran == [("pay", {"amount": 60}), ("pay", {"amount": 30})]


# --- turns and threads ----------------------------------------------------------------------------


def test_a_limit_holds_across_turns(opened: Open) -> None:
    """The same limit, one call a turn, whether or not the user has said something in between."""
    stage = opened(spending(100))
    report = stage.run([pay(60, "a")], [pay(60, "b")])
    assert report.result("a") == "paid 60"
    report.refused("b")
    assert stage.run([pay(60, "c")], [pay(40, "d")]).result("d") == "paid 40"
    stage.run([pay(1, "e")]).refused("e")
    assert stage.tools() == ["pay", "pay"]


def test_threads_are_isolated(opened: Open) -> None:
    """What one thread has used or earned is nothing to another, also while they take turns."""
    stage = opened(spending(100), checked())
    stage.run([check("a")], thread="one")
    assert stage.run([pay(60, "b")], thread="one").result("b") == "paid 60"
    stage.run([pay(60, "c")], thread="two").refused("c")
    assert stage.run([check("d")], [pay(60, "e")], thread="two").result("e") == "paid 60"
    stage.run([pay(60, "f")], thread="one").refused("f")


def test_without_a_thread_nothing_runs_unguarded(opened: Open) -> None:
    """Where nobody says whose call it is, a contract that counts could only be passed by."""
    stage = opened(few("pay", 1))
    for each in "ab":
        stage.run([pay(5, each)], thread=None, raises=True)
    assert stage.tools() == []


# --- only observed --------------------------------------------------------------------------------


def test_observing_disturbs_nothing(opened: Open) -> None:
    """Every call runs, once, as the model wrote it, and has its own result."""
    rules: list[Any] = [few("pay"), kept(), checked(), small(1)]
    stage = opened(*rules, mode="observe")
    report = stage.run([pay(60, "a"), delete("old", "b")], [pay(70, "c"), send("hello", "d")])
    assert sorted(stage.tools()) == ["delete", "pay", "pay", "send"]
    results = [report.result(each) for each in "abcd"]
    assert results == ["paid 60", "deleted old", "paid 70", "sent hello to ann"]
    assert (report.shown, report.waiting) == ((), frozenset())


def test_observing_logs_the_true_verdict(opened: Open) -> None:
    """The log says what enforcement would have done, each time, and how the calls ended."""
    stage = opened(few("pay"), kept(), mode="observe")
    stage.run([pay(60, "a"), delete("old", "b")], [pay(70, "c")])
    assert stage.outcomes("pay") + stage.outcomes("delete") == ["allowed"] * 3
    assert stage.actions("pay") == ["blocked", "blocked"]
    assert stage.actions("delete") == ["redirected"]
    assert stage.statuses("pay", "delete") == ["ok"] * 3
