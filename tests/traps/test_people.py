"""Traps of people, notifiers and tools: a deadlock, a word in a word, a gate that never closes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard, Held, Session, Violation, contract
from sponsio_like.notices import Notice, drain
from sponsio_like.patterns import (
    approval_active,
    destructive_action_gate,
    no_data_leak,
    rate_limit,
    token_budget,
    tool_allowlist,
    untrusted_source_gate,
)
from tests.semantics.manifest import requirement
from tests.support.play import opened

SOON = 3.0
"""Seconds within which everything here is done, unless it waits for itself."""


def ends(work: Callable[[], object]) -> bool:
    """Whether it ends soon; if it waits for itself, it is left behind."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(SOON)
    return not thread.is_alive()


# --- code of the user meets no lock ---------------------------------------------------------------


def held(*notify: Callable[[Notice], Any]) -> Guard:
    """Every payment waits for a person; these are told."""
    rule = contract("ask").guarantees(rate_limit("pay", 0))
    return Guard([rule.strategy({"escalate": {"notify": notify}})])


@requirement("T-11", "S-FAIL-03")
def test_a_strategy_may_call_the_session_back() -> None:
    """A callable that asks the session, or decides another call, does not wait for itself."""
    sessions: list[Session] = []

    def ask(_: Violation) -> str:
        (session,) = sessions
        session.fact("asked", True)
        assert isinstance(session.decide("look"), Allowed)
        assert session.pending() == ()
        return "warn_only"

    session = Guard([contract("c").guarantees(rate_limit("pay", 0)).strategy(ask)]).session()
    sessions.append(session)
    outcomes: list[Any] = []
    assert ends(lambda: outcomes.append(session.decide("pay")))
    assert [type(each) for each in outcomes] == [Allowed]


@requirement("T-11", "S-TELL-05")
def test_a_notifier_may_call_the_guard_back() -> None:
    """A notifier that answers, decides and opens a session of the same guard does not wait."""
    sessions: list[Session] = []
    answered: list[str] = []

    def answer(notice: Notice) -> None:
        (session,) = sessions
        if notice.call != "1":
            return
        assert isinstance(session.decide("pay", id="2"), Held)
        assert isinstance(guard.session().decide("pay"), Held)
        session.approve(str(notice.ticket), by="a program")
        answered.append(notice.call)

    guard = held(answer)
    sessions.append(guard.session())
    assert ends(lambda: sessions[0].decide("pay", id="1"))
    assert drain(SOON)
    assert answered == ["1"]
    assert isinstance(sessions[0].decide("pay", id="1"), Allowed)


@requirement("T-11", "S-TELL-04")
def test_a_notifier_that_hangs_is_waited_for_by_nobody() -> None:
    """Decisions, answers, other sessions and other notifiers go on while it hangs."""
    gate, told = threading.Event(), threading.Event()
    guard = held(lambda _: gate.wait(10 * SOON), lambda _: told.set())
    outcomes: list[Any] = []

    def work() -> None:
        session = guard.session()
        outcome = session.decide("pay", id="1")
        assert isinstance(outcome, Held)
        session.approve(outcome.ticket, by="ann")
        outcomes.extend([session.decide("pay", id="1"), guard.session().decide("pay")])

    try:
        assert ends(work)
        assert told.wait(SOON)
        assert [type(each) for each in outcomes] == [Allowed, Held]
    finally:
        gate.set()
        assert drain(SOON)


# --- gates that close -----------------------------------------------------------------------------


@requirement("T-15")
def test_untrusted_content_closes_the_gate_whenever_it_comes() -> None:
    """First, later, or again after a review: what has come in since has to be reviewed."""
    rule = contract("gate").guarantees(untrusted_source_gate("web", "review"))
    assert opened(rule)("send web send review=ok send") == "..x.."
    assert opened(rule)("other send web other") == "...x"
    assert opened(rule)("web review=ok send web send review=ok send") == "....x.."
    assert opened(rule)("web! send") == ".x"


@requirement("T-16")
def test_a_token_budget_blocks_calls() -> None:
    """Tokens add up over messages; from the limit on, no call of any tool runs."""
    rule = contract("budget").guarantees(token_budget(100))
    assert (
        opened(rule)("search tokens:60 search tokens:39 search tokens:1 search send") == "......xx"
    )


@requirement("T-19")
def test_a_leak_between_tools_is_stopped() -> None:
    """After `read` has succeeded, `send` is blocked, with whatever arguments and for good."""
    rule = contract("leak").guarantees(no_data_leak("read", "send"))
    assert opened(rule)("send read send send(to=ann) other send") == "..xx.x"
    assert opened(rule)("read! send") == ".."


# --- words in words -------------------------------------------------------------------------------


@requirement("T-26")
@pytest.mark.parametrize("decision", ["disallow", "disapprove", "disallowed"])
def test_a_decision_is_no_word_in_a_word(decision: object) -> None:
    """An approval stands if its decision is `approve`; nothing else in which that occurs is one."""
    fact = {"action": "drop", "role": "boss", "by": "ann"}
    confirmed = destructive_action_gate("drop", "ask", "boss")
    for rule in (approval_active("drop", "boss"), confirmed):
        for word, outcome in ((decision, Blocked), ("approve", Allowed)):
            session = Guard([contract("c").guarantees(rule)]).session()
            session.settle(session.decide("ask").id, output="yes")
            session.fact("approval", {**fact, "decision": word})
            assert isinstance(session.decide("drop"), outcome)


@requirement("T-27")
@pytest.mark.parametrize(
    "tool", ["mcp__attacker__search", "attacker.search", "search ", "Search", "server:search"]
)
def test_a_tool_of_another_server_is_another_tool(tool: str) -> None:
    """An allowlist of `search` allows `search`, and no name that ends in it."""
    session = Guard([contract("only").guarantees(tool_allowlist(["search"]))]).session()
    assert isinstance(session.decide("search"), Allowed)
    assert isinstance(session.decide(tool), Blocked)
