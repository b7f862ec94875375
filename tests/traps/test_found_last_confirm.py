"""Words beside their opposite, sentences among the data, answers that are given by hand."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Allowed, Guard, contract
from sponsio_like.patterns import (
    confirm_after_source,
    destructive_action_gate,
    must_confirm,
    must_precede,
    untrusted_source_gate,
)
from tests.manifest import requirement

GATES = {
    "must_confirm": must_confirm("pay", by="ask", accept="approved"),
    "destructive_action_gate": destructive_action_gate("pay", gate="ask", accept="approved"),
    "confirm_after_source": confirm_after_source("read", "ask", sinks=["pay"], accept="approved"),
    "untrusted_source_gate": untrusted_source_gate("read", "ask", ["pay"], accept="approved"),
    "must_precede": must_precede("ask", "pay", accept="approved"),
}


def opens(rule: Any, answer: Any) -> bool:
    """Whether a payment is let through after this answer."""
    mine = Guard([contract("rule").guarantees(rule)]).session()
    mine.settle(mine.decide("read").id, output="a page")
    mine.settle(mine.decide("ask").id, output=answer)
    return isinstance(mine.decide("pay"), Allowed)


# --- a word, and its opposite beside it -----------------------------------------------------------

TAKEN_BACK = [
    *("approved, then revoked", "not approved", "approved; later withdrawn", "approved but void"),
    *("Approved on Monday, rescinded on Tuesday", "approved, and overruled by the board"),
    *("the decision to have it approved was reversed", "nobody approved it", "approved \u274c"),
    *("No. Ann approved another one", "approved: 0", "approved=false", "approved / escalated"),
]
OPEN = [
    *("approved?", "Is it approved? Ask Ann", "approved if the manager agrees", "to be approved"),
    *("must be approved by finance", "approved subject to a second signature", "please approved"),
    *("will be approved tomorrow", "would have been approved", "approved or escalated, unknown"),
    *("almost approved", "approved once the fee is paid", "approved, unless Bob objects"),
]
PLAINLY = [
    *("approved", "Approved.", "Your request was approved by Ann.", "APPROVED (ticket A-17)"),
    *("Approved. No further action required.", "approved, no issues found", "approved: true"),
    *("Refund approved for order 17, 0 errors", {"status": "approved", "note": "by Ann"}),
]


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("answer", [*TAKEN_BACK, *OPEN])
def test_a_word_beside_its_opposite_is_not_accepted(gate: str, answer: str) -> None:
    """A text with the word that also takes it back, asks, or waits for something opens no gate."""
    assert not opens(GATES[gate], answer)
    assert not opens(GATES[gate], {"message": answer})


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("answer", PLAINLY, ids=repr)
def test_a_word_that_nothing_speaks_against_is_accepted(gate: str, answer: Any) -> None:
    """A sentence that has the word, and says that nothing is wrong, opens every gate."""
    assert opens(GATES[gate], answer)


@requirement("S-CONFIRM-04")
def test_a_word_may_have_a_no_in_itself() -> None:
    """What is accepted does not speak against itself, once or twice."""
    for word in ("not required", "no objection", "rejected", "on hold", "no virus found"):
        assert opens(must_confirm("pay", by="ask", accept=word), f"{word}; {word.title()}!")
        assert not opens(must_confirm("pay", by="ask", accept=word), f"{word}; withdrawn")


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize(
    ("accept", "answer"),
    [
        ("(approved)", "approved, then revoked"),
        ("^not approved$", "not approved"),
        ({"path": "status", "equals": "approved"}, {"status": "approved", "denied": True}),
        ({"matches": "approved"}, "not approved"),
    ],
)
def test_who_writes_an_expression_or_a_path_gets_what_is_written(accept: Any, answer: Any) -> None:
    """Only a plain word is read as a word."""
    assert opens(must_confirm("pay", by="ask", accept=accept), answer)


# --- data beside a yes ----------------------------------------------------------------------------

SENTENCES = [
    *(
        "payment was declined",
        "he said nope",
        "it was vetoed by the board",
        "ask me again on Monday",
    ),
    *("the board took it back", "overruled", "rescinded", "nobody knows who", "negative"),
]
NAMES = [
    *(
        "No\u00e9",
        "A-17",
        "Nina Holder",
        "Ann Waite",
        "Notaro",
        "Bank of America Merchant Services",
    ),
    *("Falk Stopper", "Ann van der Berg", "confirm_delete", "No\u00e9mie Blockland", "2026-01-02"),
    *("Wed, 21 Oct 2026 07:28:00 GMT", "Refund Desk", "Willa Failla", "United Airlines", "No. 17"),
]


@requirement("S-CONFIRM-02")
@pytest.mark.parametrize("field", ["name", "user", "tool", "order", "by", "order_id"])
@pytest.mark.parametrize("said", SENTENCES)
def test_what_is_said_in_a_field_of_data_is_an_objection(field: str, said: str) -> None:
    """A sentence beside a yes, or a word that says no, is no name, whatever its field is called."""
    assert not opens(must_confirm("pay", by="ask"), {"status": "approved", field: said})
    assert not opens(must_confirm("pay", by="ask"), {"approved": True, field: {"name": [said]}})


@requirement("S-CONFIRM-02")
@pytest.mark.parametrize("field", ["name", "user", "tool", "order", "by", "order_id"])
@pytest.mark.parametrize("name", NAMES)
def test_names_beside_a_yes_are_no_objection(field: str, name: str) -> None:
    """Names of people, of companies, of tools and dates are data, whatever syllables they have."""
    assert opens(must_confirm("pay", by="ask"), {"approved": True, field: name})
