"""What was found when leaks, and values that are printed in groups, were attacked again."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Guard, contract
from sponsio_like.patterns import no_data_leak
from tests.manifest import requirement


def play(guarantee: Any, *calls: Any) -> str:
    """A letter for each call: its first of Allowed, Blocked. A third item is the answer."""
    mine = Guard([contract("c").guarantees(guarantee)]).session()
    out = ""
    for tool, args, *answer in calls:
        outcome = mine.decide(tool, args)
        out += type(outcome).__name__[0]
        if type(outcome).__name__ == "Allowed":
            mine.settle(outcome.id, output=answer[0] if answer else None)
    return out


LEAK = no_data_leak("read", "send", match="values")
IBAN = "DE89 3704 0044 0532 0130 00"


# --- names of fields, and escapes, of an answer ---------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ({"users": {"alice@corp.com": {"balance": 1}}}, "alice@corp.com"),
        ('{"users": {"alice@corp.com": {"balance": 1}}}', "to ALICE@corp.com, please"),
        ([{"alice%40corp.com": 1}], "alice@corp.com"),
        ({IBAN: 1}, IBAN.replace(" ", "")),
        ({IBAN.replace(" ", ""): 1}, IBAN),
        ({"Maria Schmidt": 1}, "maria schmidt"),
        ({"sk_live_4242": {}}, "?k=sk_live_4242"),
    ],
)
@requirement("S-LEAK-07")
def test_names_of_fields_of_an_answer_leak_as_values_do(answer: Any, passed: str) -> None:
    """An answer that is keyed by addresses or accounts delivers these."""
    assert play(LEAK, ("read", {}, answer), ("send", {"b": passed})) == "AB"


@pytest.mark.parametrize(
    ("name", "passed"),
    [
        ("balance", "the balance"),
        ("customer_account_number", "your customer account number"),
        ("shippingAddressLine", "shippingAddressLine"),
        ("strict-transport-security", "strict-transport-security"),
        ("address_line_2", "address line 2"),
        ("2024", "in 2024"),
    ],
)
@requirement("S-LEAK-07")
def test_what_fields_are_called_is_no_leak(name: str, passed: str) -> None:
    """Names as programs write them tell what a field is, not whose."""
    assert play(LEAK, ("read", {}, {name: None}), ("send", {"b": passed})) == "AA"


@pytest.mark.parametrize(
    "answer",
    [
        {"link": "mailto:alice%40corp.com"},
        "see mailto:alice%40corp.com",
        {"password": "sword%66ish"},
    ],
)
@requirement("S-LEAK-07")
def test_escapes_of_an_answer_are_looked_through(answer: Any) -> None:
    """As those of an argument are."""
    for text in ("alice@corp.com swordfish", "alice%40corp.com sword%66ish"):
        assert play(LEAK, ("read", {}, answer), ("send", {"b": text})) == "AB", text
