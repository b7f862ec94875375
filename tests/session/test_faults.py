"""Whatever fails: enforced, nothing runs that was not allowed; observed, everything runs once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest

from sponsio_like import Allowed, Blocked, Held, Session
from tests.semantics.manifest import requirement
from tests.support.faults import (
    HITS,
    KEEPS,
    POINTS,
    STRATEGIES,
    VIOLATES,
    Mode,
    allowed,
    failing,
    guarded,
    matrix,
    opened,
    play,
)

FAULTS = [point for point in POINTS if point != "nothing"]
PAY = "faults_pay"


@requirement("S-FAIL-08")
@pytest.mark.parametrize("amount", [VIOLATES, KEEPS], ids=["violates", "keeps"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("point", POINTS)
def test_enforced_the_tool_runs_only_if_it_is_allowed(
    point: str, strategy: str, amount: int
) -> None:
    """Whatever raises, the body runs once if the call was allowed, and otherwise never."""
    for later in (False, True):
        played = play(point, strategy, "enforce", amount, later=later)
        assert (played.ran, played.instead) == allowed(played)
        assert played.ran + played.instead <= 1
        assert played.word == matrix()[point, strategy, "enforce", amount].word


@requirement("S-FAIL-08")
@pytest.mark.parametrize("amount", [VIOLATES, KEEPS], ids=["violates", "keeps"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("point", POINTS)
def test_observed_the_tool_runs_exactly_once(point: str, strategy: str, amount: int) -> None:
    """Whatever raises, the agent is not disturbed: it has what the tool returned, or raised."""
    for later in (False, True):
        played = play(point, strategy, "observe", amount, later=later)
        assert (played.ran, played.instead) == (1, 0)
        assert played.word == ("runs, raises" if point == "tool" else "runs")


@requirement("S-FAIL-08")
def test_a_call_that_violates_never_runs_enforced_but_where_it_is_only_warned_about() -> None:
    """In the whole table, the tool itself runs only under `warn_only`, or if the call is kept."""
    ran = {
        strategy
        for (_, strategy, mode, amount), played in matrix().items()
        if mode == "enforce" and amount == VIOLATES and played.ran
    }
    assert ran == {"warn_only"}


def test_every_point_of_the_table_was_reached() -> None:
    """Each row is about something that has happened: there was an exception at its point."""
    matrix()
    assert set(HITS) == set(FAULTS)


# --- all that a host may do with a session --------------------------------------------------------

ACTS: dict[str, Callable[[Session], Any]] = {
    "decide": lambda session: session.decide(PAY, {"amount": VIOLATES}),
    "decide what is kept": lambda session: session.decide(PAY, {"amount": KEEPS}),
    "decide a batch": lambda session: session.decide_batch([(PAY, {"amount": KEEPS})] * 2),
    "settle": lambda session: session.settle("before", output="paid"),
    "settle an error": lambda session: session.settle("before", error="no"),
    "settle nothing": lambda session: session.settle("never"),
    "a message": lambda session: session.message("user", "hello"),
    "a response": lambda session: session.message("assistant", "hello"),
    "a step": lambda session: session.step({"p"}),
    "a fact": lambda session: session.fact("key", "value"),
    "approve": lambda session: session.approve(session.tickets()[0], by="ann"),
    "verdicts": lambda session: session.verdicts(),
    "pending": lambda session: session.pending(),
    "snapshot": lambda session: json.dumps(session.snapshot()),
    "finish": lambda session: session.finish(),
}


@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize("point", [*FAULTS[:7], "nothing"])
@pytest.mark.parametrize("act", ACTS)
def test_the_host_meets_no_exception_of_user_code(act: str, point: str, mode: Mode) -> None:
    """Every method of a session answers, whatever of the user's own code raises meanwhile."""
    session = opened(guarded("escalate", point, mode))
    session.decide(PAY, {"amount": KEEPS}, id="before")
    if act == "approve" and mode == "observe":
        return
    if act == "approve":
        session = opened(guarded("escalate", "nothing", mode))
        assert isinstance(session.decide(PAY, {"amount": VIOLATES}), Held)
    with failing(point):
        ACTS[act](session)


@pytest.mark.parametrize("point", ["atom", "assumption", "clock", "strategy"])
def test_a_failed_decision_leaves_no_mark(point: str) -> None:
    """The next call is decided as if the one that failed had never been tried."""
    session = opened(guarded("a callable", point, "enforce"))
    session.fact("the time", "has been told")
    before = session.snapshot()
    with failing(point):
        assert isinstance(session.decide(PAY, {"amount": VIOLATES}, id="1"), Blocked)
    assert session.snapshot() == before
    assert isinstance(session.decide(PAY, {"amount": KEEPS}, id="1"), Allowed)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("point", ["atom", "clock", "strategy", "sink"])
def test_an_interrupt_goes_on_and_leaves_the_session_usable(
    point: str, kind: type[BaseException]
) -> None:
    """An interrupt in user code reaches the host; the tool does not run, and no lock is held."""
    session = opened(guarded("a callable", point, "enforce"))
    with failing(point, kind), pytest.raises(kind):
        session.decide(PAY, {"amount": VIOLATES})
    assert isinstance(session.decide(PAY, {"amount": VIOLATES}), Blocked)
    assert isinstance(session.decide(PAY, {"amount": KEEPS}), Allowed)
    assert session.calls == 1
