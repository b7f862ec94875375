"""Behaviours of every adapter: tools that fail or are cancelled, and a guard that fails itself."""

from __future__ import annotations

from sponsio_like.errors import InputMissing
from tests.adapters.harness import Open
from tests.adapters.rules import (
    UNLUCKY,
    check,
    checked,
    few,
    pay,
    send,
    spending,
    staged_by_facts,
    told,
    undecided,
)

# --- tools that fail ------------------------------------------------------------------------------


def test_a_tool_that_raises_is_settled_as_an_error(opened: Open) -> None:
    """The log says so, and the model is told, unless the framework lets the error end the run."""
    stage = opened(few("pay", 5))
    stage.bench.broken.add("pay")
    report = stage.run([pay(5, "a")], raises=True)
    assert report.raised or "out of order" in report.refused("a")
    assert (stage.tools(), stage.statuses("pay")) == (["pay"], ["error"])


def test_a_prerequisite_that_failed_does_not_count(opened: Open) -> None:
    """Only a check that has succeeded makes the payment legal."""
    stage = opened(checked())
    stage.bench.broken.add("check")
    stage.run([check("a")], raises=True)
    stage.run([pay(5, "b")]).refused("b")
    stage.bench.broken.clear()
    assert stage.run([check("c")], [pay(5, "d")]).result("d") == "paid 5"


def test_a_call_that_failed_counts_as_tried(opened: Open) -> None:
    """A limit counts what was let through, whatever became of it."""
    stage = opened(spending(100))
    stage.bench.broken.add("pay")
    stage.run([pay(60, "a")], raises=True)
    stage.bench.broken.clear()
    stage.run([pay(60, "b")]).refused("b")
    assert stage.tools() == ["pay"]


def test_a_failure_leaves_the_calls_beside_it_alone(opened: Open) -> None:
    """Each call of the turn ends as it ended."""
    stage = opened(few("pay", 5))
    stage.bench.broken.add("pay")
    stage.run([send("hello", "a"), pay(5, "b"), check("c")], raises=True)
    assert stage.statuses("send", "pay", "check") == ["ok", "error", "ok"]


def test_a_cancelled_call_is_settled_as_an_error(opened: Open) -> None:
    """It has not succeeded, nobody waits for it any more, and the thread can go on."""
    stage = opened(checked(), few("pay", 1))
    stage.bench.pause["check"] = lambda: False
    stage.cancel([check("a")])
    stage.bench.pause.clear()
    stage.run([pay(5, "b")]).refused("b")
    assert stage.statuses("check") == ["error"]
    assert stage.run([check("c")], [pay(5, "d")]).result("d") == "paid 5"


# --- a guard that fails ---------------------------------------------------------------------------


def test_a_condition_that_raises_refuses_the_call(opened: Open) -> None:
    """What cannot be decided does not run; the model is told, and the next call is decided anew."""
    stage = opened(told("G(called(pay) -> adapters_lucky())"), few("pay", 1))
    report = stage.run([pay(UNLUCKY, "a"), send("hello", "b")], [pay(5, "c")])
    report.refused("a")
    assert (report.result("b"), report.result("c")) == ("sent hello to ann", "paid 5")
    assert stage.ran == [("send", {"to": "ann", "text": "hello"}), ("pay", {"amount": 5})]


def test_a_strategy_that_raises_refuses_the_call(opened: Open) -> None:
    """An answer that cannot be had is no."""
    stage = opened(few("pay").strategy(undecided))
    report = stage.run([pay(5, "a")], [send("hello", "b")])
    report.refused("a")
    assert (report.result("b"), stage.tools()) == ("sent hello to ann", ["send"])


def test_a_clock_that_raises_refuses_the_call(opened: Open) -> None:
    """Without the time nothing is decided and nothing runs; when there is one again, calls do."""
    stage = opened(few("pay", 1))
    stage.run([send("hello", "a")])
    stage.host.clock.broken = True
    stage.run([pay(5, "b")]).refused("b")
    stage.host.clock.broken = False
    assert stage.run([pay(5, "c")]).result("c") == "paid 5"
    assert stage.tools() == ["send", "pay"]


def test_observing_hides_what_fails_in_the_guard(opened: Open) -> None:
    """Where nothing is enforced, no failure of a condition or of the clock reaches the agent."""
    stage = opened(told("G(called(pay) -> adapters_lucky())"), mode="observe")
    assert stage.run([pay(UNLUCKY, "a")]).result("a") == f"paid {UNLUCKY}"
    stage.host.clock.broken = True
    assert stage.run([pay(5, "b")]).result("b") == "paid 5"


# --- contracts that cannot be watched here --------------------------------------------------------


def test_a_contract_on_what_nobody_tells_is_refused(opened: Open) -> None:
    """Where the agent is built or first run, by name: it would look armed, and block for ever."""
    raised: Exception | None
    try:
        stage = opened(staged_by_facts())
        raised = stage.run([send("hello", "a")], raises=True).raised
        assert stage.tools() == []
    except InputMissing as error:
        raised = error
    assert isinstance(raised, InputMissing)
    assert "`staged` needs facts" in str(raised)
