"""Decorated tools: whose calls they are, in which context, and what reaches another process."""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import asyncio
import contextvars
import copy
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from sponsio_like import CallBlocked, CallHeld, InputMissing, SessionError, contract
from sponsio_like.loops import running as running_call
from sponsio_like.patterns import delegation_depth_limit, must_precede, rate_limit
from sponsio_like.syntax import read
from tests.guard.test_tools import events, held, ruled
from tests.semantics.manifest import requirement

NOT_BOB = read("G(called(pay) -> !(agent = bob))")

# --- who calls ------------------------------------------------------------------------------------


@requirement("S-TOOL-22")
def test_calls_are_made_by_the_agent_that_is_active() -> None:
    """`active(agent=, depth=)` tells contracts who calls, in nested blocks and in loops."""
    guard, records = ruled(NOT_BOB, delegation_depth_limit(1))
    pay = guard.tool(lambda: "paid", name="pay", blocked="return")
    session = guard.session()
    with session.active(agent="ann", depth=0):
        assert pay() == "paid"
        with session.active(agent="bob", depth=1):
            assert pay() != "paid"
            with session.active(agent="cid"):
                assert pay() == "paid"
            with session.active(agent="cid", depth=2):
                assert pay() != "paid"
            with pytest.raises(CallBlocked), running_call(session, "pay"):
                raise AssertionError
            with running_call(session, "pay", agent="ann") as call:
                call.output = "paid"
        assert pay() == "paid"
    decided = [each for each in records if each["event"] == "decision"]
    assert [each["agent"] for each in decided] == ["ann", "bob", "cid", "cid", "bob", "ann", "ann"]
    assert [each["outcome"] == "allowed" for each in decided] == [1, 0, 1, 0, 0, 1, 1]


@requirement("S-TOOL-22")
async def test_agents_in_parallel_tasks_are_told_apart() -> None:
    """Each task of a session has an agent of its own; a tool bound to the session knows it, too."""
    guard, records = ruled(NOT_BOB)
    session = guard.session()
    pay = guard.tool(lambda: "paid", name="pay", session=session, blocked="return")

    async def work(agent: str) -> bool:
        with session.active(agent=agent):
            await asyncio.sleep(0)
            return bool(pay() == "paid")

    assert await asyncio.gather(*map(work, ("ann", "bob", "cid"))) == [True, False, True]
    assert {each["agent"] for each in records if each["event"] == "decision"} == {
        "ann",
        "bob",
        "cid",
    }


@requirement("S-TOOL-22")
@pytest.mark.parametrize("rule", [NOT_BOB, delegation_depth_limit(0)], ids=["agents", "depth"])
def test_a_contract_on_the_caller_is_never_silently_idle(rule: Any) -> None:
    """Where nobody has said who calls, a tool that an enforced contract asks about is refused."""
    guard, _ = ruled(rule)
    runs: list[int] = []
    pay = guard.tool(lambda: runs.append(1), name="pay")
    session, other = guard.session(), guard.session()
    with other.active(agent="ann", depth=0), session.active():
        with pytest.raises(InputMissing, match=r"contract `rule 0` needs .* of calls of `pay`"):
            pay()
        with session.active(agent="agent", depth=0):
            pay()
    assert runs == [1]


@requirement("S-TOOL-22")
def test_who_observes_only_is_warned() -> None:
    """An observed contract that does not know the caller disturbs nobody, and says so."""
    guard, records = ruled(
        contract("depth").guarantees(delegation_depth_limit(0)).observe(),
        rate_limit("pay", 1),
    )
    pay = guard.tool(lambda: "paid", name="pay")
    with guard.session().active():
        with pytest.warns(UserWarning, match="contract `depth` needs depth") as caught:
            assert pay() == "paid"
        with pytest.warns(UserWarning, match="needs depth"), pytest.raises(CallBlocked):
            pay()
    assert caught[0].filename == __file__
    assert events(records) == ["allowed", "ok", "blocked"]


def test_where_no_contract_asks_nobody_has_to_say_who_calls() -> None:
    """Tools that no contract on agents concerns run as ever."""
    guard, _ = ruled(NOT_BOB)
    note = guard.tool(lambda: "noted", name="note")
    with guard.session().active():
        assert note() == "noted"


# --- contexts -------------------------------------------------------------------------------------


@requirement("S-TOOL-15")
def test_a_block_may_end_in_another_context() -> None:
    """A fixture that is a generator may be closed elsewhere: nothing was active there."""
    guard, _ = ruled()
    pay = guard.tool(lambda: "paid", name="pay")

    def fixture() -> Iterator[None]:
        with guard.session().active():
            yield

    context, block = contextvars.copy_context(), fixture()
    context.run(next, block)
    assert context.run(pay) == "paid"
    assert next(block, "done") == "done"
    with pytest.raises(SessionError):
        pay()


@requirement("S-TOOL-16")
def test_what_is_not_observed_runs_where_warnings_are_errors(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A warning that is raised is logged instead: observing disturbs nobody."""
    guard, _ = ruled(mode="observe")
    pay = guard.tool(lambda: "paid", name="pay")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pay() == "paid"
    assert "tool `pay` is not observed" in caplog.text


@requirement("S-TOOL-09")
async def test_a_plain_function_does_not_wait_in_an_event_loop() -> None:
    """It would stop the loop that has to bring the answer; in a thread, or async, it may wait."""
    guard, _ = ruled(held())
    runs: list[int] = []

    @guard.tool(held="wait")
    def pay(amount: int) -> None:
        runs.append(amount)

    session = guard.session()
    with session.active():
        pay(5)
        with pytest.raises(SessionError, match="`pay` would wait in an event loop"):
            pay(900)
        assert runs == [5]
        session.approve(session.tickets()[0], by="ann")
        pay(900)
        waiting = asyncio.create_task(asyncio.to_thread(pay, 901))
        while not session.tickets():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        session.approve(session.tickets()[0], by="ann")
        await waiting
    assert runs == [5, 900, 901]


# --- other processes ------------------------------------------------------------------------------


@requirement("S-TOOL-08")
@pytest.mark.parametrize(
    "send",
    [lambda it: pickle.loads(pickle.dumps(it)), copy.copy],  # noqa: S301
)
def test_errors_reach_other_processes(send: Any) -> None:
    """`CallBlocked` and `CallHeld` can be pickled, with the advice and the ticket."""
    guard, _ = ruled(must_precede("check", "send"), held())
    pay = guard.tool(lambda amount: amount, name="pay")
    with guard.session().active():
        with pytest.raises(CallBlocked) as blocked:
            guard.tool(lambda: 1, name="send")()
        with pytest.raises(CallHeld) as waits:
            pay(900)
    refused, again = send(blocked.value), send(waits.value)
    assert (str(refused), refused.outcome) == (str(blocked.value), blocked.value.outcome)
    assert (str(again), again.ticket) == (str(waits.value), waits.value.ticket)


def test_the_package_can_be_run() -> None:
    """`python -m sponsio_like` is the command line."""
    command = [sys.executable, "-m", "sponsio_like", "patterns", "rate_limit"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "rate_limit" in done.stdout


@requirement("S-TOOL-15")
@requirement("S-TOOL-22")
def test_sessions_of_two_guards_are_active_at_once() -> None:
    """A tool of the outer guard has its session and its agent, also under both guards."""
    (outer, records), (inner, _) = ruled(rate_limit("pay", 2)), ruled(rate_limit("pay", 1))
    pay = outer.tool(lambda: "paid", name="pay", blocked="return")
    both = outer.tool(
        inner.tool(lambda: "paid", name="pay"), name="pay", session=outer.session("a")
    )
    with outer.session("a").active(agent="ann"), inner.session("b").active(agent="bob"):
        assert pay() == "paid"
        assert both() == "paid"
        assert pay() != "paid"
        with outer.session("a").active():
            pay()
    decided = [each for each in records if each["event"] == "decision"]
    assert {(each["session"], each["agent"]) for each in decided} == {("a", "ann")}
