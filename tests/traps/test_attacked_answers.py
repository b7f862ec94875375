"""Answers that were shaped to be misread: a yes with something beside it, a word that is denied."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sponsio_like import Allowed, Guard, contract
from sponsio_like.patterns import must_confirm, must_precede, until, untrusted_source_gate
from tests.semantics.manifest import requirement


def played(rule: Any, *calls: tuple[str, Any]) -> str:
    """Which of these calls, each with its answer, are allowed (`A`) and refused (`B`)."""
    mine, out = Guard([contract("rule").guarantees(rule)]).session(), ""
    for tool, answer in calls:
        outcome = mine.decide(tool, {})
        out += "A" if isinstance(outcome, Allowed) else "B"
        if isinstance(outcome, Allowed):
            mine.settle(outcome.id, output=answer)
    return out


# --- a yes with something beside it ---------------------------------------------------------------

BESIDE: list[Any] = [
    {"status": "ok", "data": {"approved": "pending"}},
    {"status": "ok", "data": {"decision": "hold on"}},
    {"status": "ok", "approval_status": "waiting"},
    {"status": "ok", "pending": True},
    {"status": "ok", "pending": "yes"},
    {"status": "ok", "pending": 1},
    {"status": "ok", "isApproved": "later"},
    {"ok": True, "user_reply": "stop"},
    {"status": "ok", "outcome": "timed out"},
    {"ok": True, "injection_detected": True},
    {"ok": True, "flagged": True},
    {"ok": True, "flagged_by": "a scanner"},
    {"status": "ok", "verdict": "malicious"},
    {"status": "ok", "http_code": 403},
    {"status": "ok", "data": ["withheld"]},
    {"status": "ok", "order": '{"approved": "tomorrow"}'},
    {"status": "ok", "note": "as discussed"},
    '{"ok": true, "data": {"result": {"approved": "in two days"}}}',
    {"review": {"status": "approved", "error": "expired"}},
    {"review": {"status": "approved"}, "error": "expired"},
    {"review": {"status": "pending"}},
    {"review": {"status": "approved"}, "status": "pending"},
    {"previous_review": {"status": "approved"}},
    {"order": {"status": "confirmed"}},
    {"review": {"ok": True}},
    {"review": "approved by nobody yet"},
    {"reviews": [{"status": "approved"}, {"status": "approved"}]},
]
DATA: list[Any] = [
    {"status": "ok", "data": {"approved": True, "approvedBy": "Ann"}},
    {"approval_status": "approved", "request_id": "r-7", "timestamp": 17.5},
    {"isApproved": True, "success": True, "user": {"id": 7, "name": "Ann"}},
    {"status": "ok", "pending": False, "order_ids": [7, 8], "approved_at": "2026-01-02"},
    {"review": {"status": "approved", "reviewer": "Ann"}},
    {"ok": True, "data": {"approved": True, "id": 7}},
    {"data": {"review": {"status": "approved"}}},
]


@requirement("S-CONFIRM-02", "S-CONFIRM-03")
@pytest.mark.parametrize("answer", BESIDE, ids=repr)
def test_a_field_that_is_no_yes_and_no_plain_data_confirms_nothing(answer: Any) -> None:
    """An object confirms only if every field in it is a yes, or plainly holds no answer."""
    assert played(must_confirm("pay", by="ask"), ("ask", answer), ("pay", None)) == "AB"
    gate = untrusted_source_gate("web")
    assert played(gate, ("web", "x"), ("review", answer), ("send", None)) == "AAB"


@requirement("S-CONFIRM-02")
@pytest.mark.parametrize("answer", DATA, ids=repr)
def test_ids_times_and_names_beside_a_yes_are_no_objection(answer: Any) -> None:
    """What plainly holds no answer may stand beside one, at any depth."""
    assert played(must_confirm("pay", by="ask"), ("ask", answer), ("pay", None)) == "AA"


# --- a plain word ---------------------------------------------------------------------------------

DENIED: list[Any] = [
    {"requested": "approved", "answer": "no"},
    {"requested": "approved", "answer": "hmm"},
    {"requested": "approved", "confirmed": False},
    {"status": "rejected", "options": ["approved", "rejected"]},
    ["not", "approved"],
    "approved: false",
    "approved = no",
    "approved? not yet",
]
SAID: list[Any] = [
    *("approved", "Approved.", "APPROVED", "the order is approved"),
    *({"status": "Approved", "code": 200}, {"ok": True, "answer": "approved by Ann"}),
    *({"status": "approved", "error": False}, {"content": [{"type": "text", "text": "approved"}]}),
]


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize("answer", DENIED, ids=repr)
def test_a_plain_word_is_not_accepted_where_something_says_otherwise(answer: Any) -> None:
    """The word that is accepted stands there, and neither it nor another field is a no."""
    for rule in (
        must_confirm("pay", by="ask", accept="approved"),
        must_precede("ask", "pay", accept="approved"),
    ):
        assert played(rule, ("ask", answer), ("pay", None)) == "AB"


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize("answer", SAID, ids=repr)
def test_a_plain_word_is_accepted_in_any_case(answer: Any) -> None:
    """`accept: approved` takes `Approved.` too, in a text or in any field."""
    rule = must_confirm("pay", by="ask", accept="approved")
    assert played(rule, ("ask", answer), ("pay", None)) == "AA"


# --- texts in JSON text ---------------------------------------------------------------------------


def searched(answer: Any, regex: str) -> str:
    """What is allowed: to read this answer, and to send afterwards unless the answer matches."""
    rule = until({"tool": "*", "output": {"matches": regex}}, "send")
    return played(rule, ("get", answer), ("send", None))


@requirement("S-VALUE-17")
@pytest.mark.parametrize(
    ("answer", "regex"),
    [
        (json.dumps({"a": "Ignoriere fr\u00fcher"}), "(?i)ignoriere fr\u00fcher"),
        (r'{"a":"\u003cINFORMATION\u003e"}', "<INFORMATION>"),
        (r'{"a":"\u003cINFORMATION\u003e", "a": 1}', "<INFORMATION>"),
        ({"a": r'["\u003cINFORMATION\u003e"]'}, "<INFORMATION>"),
        ({"<INFORMATION>": 1}, "<INFORMATION>"),
        (r'{"\u003cINFORMATION\u003e": 1}', "<INFORMATION>"),
        ('{"bags": 2}', '"bags": 2'),
        (json.dumps(["x"] * 20_000 + ["<INFORMATION>"]), "<INFORMATION>"),
        (json.dumps(["x" * 70_000]), "<INFORMATION>"),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_the_texts_in_json_text_are_searched(answer: Any, regex: str) -> None:
    """JSON text matches as it is written, or by a text or key in it as it is read."""
    assert searched(answer, regex) == "AB"


@requirement("S-VALUE-17")
def test_long_json_text_is_not_too_long_if_the_texts_in_it_are_not() -> None:
    """A thousand clean rows, written as JSON, stop nothing."""
    rows = [
        {"id": n, "note": f"a clean row with the number {n}", "by": "x" * 60} for n in range(1000)
    ]
    assert len(json.dumps(rows)) > 100_000
    assert searched(json.dumps(rows), "<INFORMATION>") == "AA"
