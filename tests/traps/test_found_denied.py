"""An agent that keeps trying what was refused: it is counted, closed, held, or its run ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from sponsio_like import Blocked, Guard, Held, Session

FILE = """\
version: 1
contracts:
  - name: policy first
    guarantee: {pattern: must_precede, first: check, then: refund}
  - name: tries
    guarantee: {pattern: denial_limit, limit: 3}
    strategy: STRATEGY
"""


def tried(strategy: str, folder: Path) -> Session:
    """A session in which the same refund was refused three times."""
    path = folder / "contracts.yaml"
    path.write_text(FILE.replace("STRATEGY", strategy), "utf-8")
    session = Guard.from_yaml(path).session("s")
    for _ in range(3):
        outcome = session.decide("refund", {"order": 1})
        assert isinstance(outcome, Blocked)
        assert [each.contract for each in outcome.violations] == ["policy first"]
    return session


@pytest.mark.parametrize("strategy", ["block", "stop", "escalate"])
def test_the_same_refused_call_a_hundred_times_is_counted(strategy: str, tmp_path: Path) -> None:
    """From the fourth try on, `denial_limit` stands against the call as well, however often."""
    session = tried(strategy, tmp_path)
    for n in range(97):
        outcome = session.decide("refund", {"order": 1})
        assert isinstance(outcome, Blocked)
        over = strategy == "stop"
        assert outcome.ends_run is over
        expected = ["session"] if over and n else ["policy first", "tries"]
        assert [each.contract for each in outcome.violations] == expected


def test_a_call_that_was_refused_too_often_stays_closed(tmp_path: Path) -> None:
    """`block`: what would have made it legal comes too late; another call is not closed."""
    session = tried("block", tmp_path)
    session.settle(session.decide("check").id)
    outcome = session.decide("refund", {"order": 1})
    assert isinstance(outcome, Blocked)
    assert "this is final: do not try it again" in outcome.advice
    assert not isinstance(session.decide("refund", {"order": 2}), Blocked)


def test_a_call_that_was_refused_too_often_is_held(tmp_path: Path) -> None:
    """`escalate`: a person decides whether it may be tried again."""
    session = tried("escalate", tmp_path)
    session.settle(session.decide("check").id)
    assert isinstance(session.decide("refund", {"order": 1}), Held)


def test_a_run_with_too_many_refusals_ends(tmp_path: Path) -> None:
    """`stop`: the fourth try ends the run, and nothing is let through any more."""
    session = tried("stop", tmp_path)
    outcome = session.decide("refund", {"order": 1})
    assert isinstance(outcome, Blocked)
    assert outcome.ends_run
    check = session.decide("check")
    assert isinstance(check, Blocked)
    assert check.advice == "the run was stopped by `tries`, for good"
