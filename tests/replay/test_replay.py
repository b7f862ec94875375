"""Replay: what contracts would have done on recorded traces."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like.contracts.declaration import CATALOG, Pattern
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.outcome import Redirect
from sponsio_like.replay.replay import Replay, TraceVerdict
from sponsio_like.traces.trace import Trace, trace_of
from tests.support.notation import events

GATE = contract("gate").guarantees("tool `check` must precede `refund`")
FEW = contract("few").guarantees("tool `refund` at most 1 times")
ANSWERED = contract("answered").guarantees({"ltl": "G(done(refund) -> X F done(mail))"})
POLITE = contract("polite").guarantees({"ltl": 'G(text matches "rude" -> !message(assistant))'})


def trace(text: str, **fields: Any) -> Trace:
    """A trace in the short notation."""
    return trace_of({"id": "t", "events": events(text), **fields})


def judge(text: str, *contracts: Contract, enforce: bool = False) -> TraceVerdict:
    """What becomes of a trace."""
    return Replay(contracts, enforce=enforce).judge(trace(text))


def places(judged: TraceVerdict) -> list[tuple[str, int, str]]:
    """Each violation as contract, position and action."""
    return [(each.contract, each.position, each.action) for each in judged.violations]


def test_a_line_of_json_has_all_that_was_found() -> None:
    """A judged trace has id, calls, violations, unfulfilled obligations and what was not judged."""
    judged = judge("refund other", GATE, ANSWERED, POLITE)
    assert judged.as_json() == {
        "id": "t",
        "calls": 2,
        "violations": [
            {
                "contract": "gate",
                "position": 0,
                "tool": "refund",
                "action": "blocked",
                "message": "tool `check` must precede `refund`",
            }
        ],
        "unfulfilled": [
            {"contract": "answered", "message": judged.unfulfilled[0].message},
        ],
        "not_judged": ["polite"],
        "applied": {"gate": 1, "answered": 1},
    }
    assert "done(mail)" in judged.unfulfilled[0].message


def test_a_violating_call_stays_in_the_trace() -> None:
    """A replay observes: what would have been stopped did happen, for every contract."""
    judged = judge("refund refund refund", GATE, FEW)
    assert places(judged) == [
        ("gate", 0, "blocked"),
        ("gate", 1, "blocked"),
        ("few", 1, "blocked"),
        ("gate", 2, "blocked"),
        ("few", 2, "blocked"),
    ]


def test_enforced_a_violating_call_is_taken_out() -> None:
    """With `enforce`, what is stopped did not happen; positions count the recorded calls."""
    judged = judge("refund refund check refund refund", GATE, FEW, enforce=True)
    assert places(judged) == [
        ("gate", 0, "blocked"),
        ("gate", 1, "blocked"),
        ("few", 4, "blocked"),
    ]
    assert judged.calls == 5


def test_enforced_a_contract_in_observe_mode_takes_nothing_out() -> None:
    """`enforce` replays every contract in its own mode."""
    judged = judge("refund refund", GATE.observe(), FEW, enforce=True)
    assert places(judged) == [
        ("gate", 0, "blocked"),
        ("gate", 1, "blocked"),
        ("few", 1, "blocked"),
    ]


def test_enforced_a_substitute_stands_in_the_calls_place() -> None:
    """A redirect's substitute is in the trace instead of the call, and its result is unknown."""
    to_log = contract("safe").guarantees("tool `check` must precede `refund`")
    to_log = to_log.strategy(Redirect("log"))
    logged = contract("logged").guarantees({"ltl": "F called(log)"})
    done = contract("done").guarantees({"ltl": "F done(log)"})
    judged = judge("refund", to_log, logged, done, enforce=True)
    assert places(judged) == [("safe", 0, "redirected")]
    assert [each.contract for each in judged.unfulfilled] == ["done"]
    late = judge("refund? ok:refund", to_log, done, enforce=True)
    assert [each.contract for each in late.unfulfilled] == ["done"]


def test_a_call_settles_when_the_trace_says_so() -> None:
    """With a status a call is settled at once; with a later result it is in flight between."""
    assert judge("check refund", GATE).clean
    assert places(judge("check! refund", GATE)) == [("gate", 1, "blocked")]
    assert places(judge("check? refund ok:check", GATE)) == [("gate", 1, "blocked")]
    assert judge("check? ok:check refund", GATE).clean
    assert places(judge("check? error:check refund", GATE)) == [("gate", 1, "blocked")]


def test_a_failure_without_words_is_still_a_failure() -> None:
    """A call with status `error` has failed, also if it has no output."""
    failing = trace_of({"events": [{"tool": "check", "status": "error"}, {"tool": "refund"}]})
    assert places(Replay([GATE]).judge(failing)) == [("gate", 1, "blocked")]


def test_what_a_result_reveals_is_reported_at_its_call() -> None:
    """A violation that only a result shows is reported, at the position of the call it settles."""
    never = contract("never").guarantees({"ltl": "G !done(pay)"})
    assert places(judge("a pay? b ok:pay", never)) == [("never", 1, "reported")]
    gone = contract("gate").guarantees("tool `check` must precede `refund`")
    judged = judge("refund pay? b ok:pay", never, gone, enforce=True)
    assert places(judged) == [("gate", 0, "blocked"), ("never", 1, "reported")]


def test_what_time_reveals_is_reported() -> None:
    """A deadline that runs out between two events is reported at the next, and stops nothing."""
    soon = contract("soon").guarantees("tool `answer` within 10 seconds of `ask`")
    judged = judge("ask +60s other answer", soon)
    assert [(each.position, each.tool, each.action) for each in judged.violations] == [
        (1, None, "reported")
    ]
    assert judge("ask +9s answer", soon).clean


def test_the_clock_is_the_traces() -> None:
    """Times come from the trace; an event without one is a second after the one before."""
    slow = contract("slow").guarantees("tool `a` cooldown of 5 seconds")
    assert places(judge("a b a", slow)) == [("slow", 2, "blocked")]
    assert judge("a +5s a", slow).clean
    assert places(judge("a +4s a", slow)) == [("slow", 1, "blocked")]


def test_a_message_is_judged_at_the_calls_so_far() -> None:
    """A response that violates is at the number of calls so far, and has no tool."""
    judged = judge('a b msg:assistant="rude" c', POLITE)
    assert [(each.position, each.tool, each.action) for each in judged.violations] == [
        (2, None, "blocked")
    ]


def test_a_contract_without_its_inputs_is_not_judged() -> None:
    """A contract whose inputs a trace does not deliver is not judged on it; all others are."""
    replay = Replay([GATE, POLITE])
    without = replay.judge(trace("refund"))
    assert list(without.not_judged) == ["polite"]
    assert without.not_judged["polite"] == {"messages"}
    assert places(without) == [("gate", 0, "blocked")]
    with_messages = replay.judge(trace('msg:assistant="rude" refund'))
    assert list(with_messages.not_judged) == []
    assert places(with_messages) == [("polite", 0, "blocked"), ("gate", 0, "blocked")]


def test_facts_are_seen_from_the_next_decision_on() -> None:
    """A fact of the trace changes the context of the calls after it."""
    allowed = contract("allowed").guarantees("tool `pay` requires permission `teller`")
    judged = judge("permit:clerk pay permit:teller pay", allowed)
    assert places(judged) == [("allowed", 0, "blocked")]


def test_steps_are_observed() -> None:
    """A plain observation is judged, and what it violates is reported."""
    shut = contract("shut").guarantees({"ltl": 'G !step("open")'})
    seen = trace_of({"events": [{"type": "step", "atoms": ["open"]}]})
    assert places(Replay([shut]).judge(seen)) == [("shut", 0, "reported")]


def test_one_trace_leaves_no_mark_on_the_next() -> None:
    """Every trace is a session of its own."""
    replay = Replay([GATE, FEW])
    first = replay.judge(trace("check refund"))
    assert first.clean
    assert places(replay.judge(trace("refund"))) == [("gate", 0, "blocked")]
    assert replay.judge(trace("check refund")) == first


def test_calls_that_share_an_id_all_count() -> None:
    """In a recorded trace, a call whose id was in flight already has happened all the same."""
    twice = [
        {"tool": "refund", "id": "x"},
        {"tool": "refund", "id": "x"},
        {"type": "result", "id": "x"},
        {"tool": "refund"},
    ]
    judged = Replay([FEW]).judge(trace_of({"events": twice}))
    assert places(judged) == [("few", 1, "blocked"), ("few", 2, "blocked")]


@pytest.mark.parametrize("pattern", CATALOG.values(), ids=lambda each: each.name)
def test_every_pattern_judges_its_own_traces(pattern: Pattern) -> None:
    """Traces that keep a pattern are clean; those that break it are found, if it can be judged."""
    replay = Replay([contract("it").guarantees(pattern.rule(pattern.example))])
    for text in pattern.keeps:
        assert replay.judge(trace(text)).clean, text
    for text in pattern.breaks:
        judged = replay.judge(trace(text))
        assert not judged.clean or judged.not_judged, text
