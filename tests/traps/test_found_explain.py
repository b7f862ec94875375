"""`explain` blames the calls of which the formula is false, and no others; it is never silent."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like.contracts.loader import loads
from sponsio_like.replay.replay import Replay
from sponsio_like.replay.timeline import ExplainedViolation, explained, page
from sponsio_like.terminal import Styled
from sponsio_like.traces.trace import Trace, trace_of
from tests.semantics.manifest import requirement
from tests.support.notation import events


def trace(happened: Any) -> Trace:
    found = events(happened) if isinstance(happened, str) else happened
    return trace_of({"id": "t", "events": found})


def told(guarantee: str, happened: Any) -> list[ExplainedViolation]:
    """What `explain` tells of one contract on this trace; it tells what the replay has found."""
    file = loads(f"version: 1\ncontracts:\n  - {{name: c, guarantee: {guarantee}}}\n", "c.yaml")
    replay = Replay(file.contracts)
    judged = replay.judge(trace(happened))
    found = explained(replay, trace(happened))
    violated = {each.told.call for each in found if not each.told.open}
    assert violated == {each.position for each in judged.violations}
    return found


def lines(found: list[ExplainedViolation], happened: Any) -> str:
    shown: list[Styled] = page(trace(happened), found)
    return "\n".join(text for text, _ in shown)


# --- calls that are split by their fields ---------------------------------------------------------


@requirement("S-EXPLAIN-03")
def test_only_the_repeated_refund_is_blamed() -> None:
    """`idempotent by: [order]`: refund(1), refund(2), refund(2) blames the third call only."""
    happened = "refund(order=1) refund(order=2) refund(order=2)"
    (one,) = told("{pattern: idempotent, action: refund, by: [order]}", happened)
    assert (one.told.call, one.told.witnesses, one.values) == (2, (2,), (("order", 2),))
    assert [(each.what, each.call) for each in one.told.reasons] == [
        ("violates", 2),
        ("counted", 1),
    ]
    assert "violated in t, order = 2" in lines([one], happened)


def test_of_duplicates_those_beyond_the_limit_are_blamed() -> None:
    """`duplicate_call_limit` counts each value by itself, and so does its explanation."""
    happened = "mail(to=a) mail(to=b) mail(to=a) mail(to=c) mail(to=b) mail(to=a)"
    found = told("{pattern: duplicate_call_limit, tool: mail, fields: [to], limit: 1}", happened)
    assert [(each.told.witnesses, each.values) for each in found] == [
        ((2,), (("to", "a"),)),
        ((4,), (("to", "b"),)),
        ((5,), (("to", "a"),)),
    ]


def test_agents_are_split_as_well() -> None:
    """`segregation_of_duty` is judged for each agent; the other's calls are innocent."""
    happened = "ask@ann grant@bob ask@bob grant@ann"
    found = told("{pattern: segregation_of_duty, first: ask, second: grant}", happened)
    assert [(each.told.witnesses, each.values) for each in found] == [
        ((2,), (("@agent", "bob"),)),
        ((3,), (("@agent", "ann"),)),
    ]


def test_a_call_without_the_field_is_told_with_the_field() -> None:
    """A call that lacks what a clause is split by violates, and `explain` says what it lacks."""
    happened = "refund(order=1) refund"
    (one,) = told("{pattern: idempotent, action: refund, by: [order]}", happened)
    assert one.told.witnesses == (1,)
    assert "field `order` is missing" in lines([one], happened)


# --- what could not be read -----------------------------------------------------------------------


NESTED: list[dict[str, Any]] = [
    {"tool": "vet", "args": {"name": "bob"}},
    {"tool": "pay", "args": {"to": "bob"}},
    {"tool": "pay", "args": {"to": float("nan")}},
]


@requirement("S-EXPLAIN-04")
def test_a_bound_field_that_cannot_be_read_is_told() -> None:
    """Where the replay names a call, so does `explain`, and says what could not be read."""
    found = told('{ltl: "G(called(pay, to = $x) -> Y O called(vet, name = $x))"}', NESTED)
    (one,) = found
    assert (one.told.call, one.told.witnesses, one.values) == (2, (2,), ())
    assert [(each.what, each.text) for each in one.told.reasons if each.what == "unread"] == [
        ("unread", "field `to` could not be read")
    ]
    assert "<- field `to` could not be read" in lines(found, NESTED)


@requirement("S-EXPLAIN-04")
def test_a_condition_that_cannot_be_told_is_no_violation_of_its_words() -> None:
    """It is said that the field could not be read, not that the call was one of those forbidden."""
    happened = [{"tool": "pay", "args": {"n": {"a": 1}}}, {"tool": "pay", "args": {"n": 1}}]
    (one,) = told("{pattern: absent, match: {tool: pay, args: {n: {gt: 5}}}}", happened)
    assert one.told.witnesses == (0,)
    shown = lines([one], happened)
    assert "field `n` could not be read" in shown
    assert "violates it: called(pay" not in shown


def test_a_sum_that_cannot_be_added_is_told() -> None:
    """An amount that is no number violates a limit of amounts, and is named."""
    happened = [{"tool": "pay", "args": {"n": 5}}, {"tool": "pay", "args": {"n": "many"}}]
    (one,) = told("{pattern: amount_limit, tool: pay, field: n, total: 100}", happened)
    assert one.told.witnesses == (1,)
    assert "field `n` could not be read" in lines([one], happened)


def test_an_answer_that_cannot_be_read_is_told() -> None:
    """What a call was required for may be hidden in an answer that nobody can read."""
    happened = [
        {"tool": "get", "output": {"id": float("nan")}},
        {"tool": "pay", "args": {"to": "bob"}},
    ]
    rule = '{ltl: "G(called(pay, to = $x) -> Y O (done(get) & output.id = $x))"}'
    (one,) = told(rule, happened)
    assert one.told.witnesses == (1,)
    assert "field `id` of its answer could not be read" in lines([one], happened)


# --- time, tokens, refusals -----------------------------------------------------------------------


@requirement("S-EXPLAIN-05")
def test_time_that_ran_out_is_told() -> None:
    """A deadline in seconds blames the call that asked for more."""
    happened = "ask a +60s b"
    found = told("{pattern: deadline, trigger: ask, action: answer, seconds: 5}", happened)
    assert [(each.told.call, each.told.witnesses) for each in found] == [(2, (0,))]
    assert "time has run out" in lines(found, happened)


@requirement("S-EXPLAIN-05")
def test_tokens_count_as_in_a_session() -> None:
    """Usages of every kind are counted, those of the message at hand as well."""
    usage = {"input_tokens": 60, "output_tokens": 50}
    happened = [
        {"type": "message", "role": "assistant", "text": "", "usage": usage},
        {"tool": "search"},
    ]
    (one,) = told("{pattern: token_budget, limit: 100}", happened)
    assert one.told.witnesses == (0,)


@requirement("S-EXPLAIN-05")
def test_recorded_refusals_count_as_in_a_session() -> None:
    """A call that was refused too often before is the one to blame."""
    (one,) = told("{pattern: denial_limit, limit: 2}", "pay~ pay~ other pay")
    assert one.told.witnesses == (1,)


def test_results_of_others_are_not_delivered() -> None:
    """Only results of the source count for it."""
    rule = "{pattern: untrusted_source_gate, source: web, gate: review}"
    found = told(rule, "other send web send")
    assert [each.told.witnesses for each in found] == [(3,)]


# --- never silent ---------------------------------------------------------------------------------


def test_what_is_owed_from_the_start_is_told() -> None:
    """`F` at the top is owed by the first position; a session that ends without it is explained."""
    (one,) = told('{ltl: "F called(report)"}', "a b")
    assert (one.told.open, one.told.witnesses) == (True, (0,))
    assert one.told.reasons


@requirement("S-EXPLAIN-01")
def test_a_full_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing but a cap stands against a call, the call is named even so."""
    monkeypatch.setattr("sponsio_like.engine.ledger.KEYS_CAP", 1)
    happened = "refund(order=1) refund(order=2)"
    (one,) = told("{pattern: idempotent, action: refund, by: [order]}", happened)
    assert one.told.witnesses == (1,)


def test_a_call_outside_the_inventory_is_told() -> None:
    """What violates the inventory is in the replay, and in the explanation."""
    rule = "{pattern: rate_limit, action: pay, limit: 3}"
    text = f"version: 1\ntools: [pay]\ncontracts:\n  - {{name: c, guarantee: {rule}}}\n"
    file = loads(text)
    replay = Replay(file.contracts, tools=file.inventory)
    found = explained(replay, trace("pay nuke"))
    assert {each.position for each in replay.judge(trace("pay nuke")).violations} == {
        each.told.call for each in found
    }
