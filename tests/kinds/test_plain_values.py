"""The kinds `money`, `date` and `id`: exact values, unknown where a text has two readings."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sponsio_like import Allowed, ContractError, Guard, contract
from sponsio_like.contracts import loads
from sponsio_like.kinds import UNREADABLE, date_bounds, date_text, ident, money
from sponsio_like.patterns import date_within
from tests.semantics.manifest import requirement

X = UNREADABLE
MONEY: dict[str, tuple[Any, Any]] = {
    "$1,234.50": (Decimal("1234.50"), X),
    "US$1,234.50": (Decimal("1234.50"), "USD"),
    "EUR 12": (12, "EUR"),
    "eur 12": (12, "EUR"),
    "12,50 €": (Decimal("12.50"), "EUR"),
    "12,50\u00a0€": (Decimal("12.50"), "EUR"),
    "1.234,50 €": (Decimal("1234.50"), "EUR"),
    "1 234,50 €": (Decimal("1234.50"), "EUR"),
    "1'234.50 CHF": (Decimal("1234.50"), "CHF"),
    "€1.234.567,89": (Decimal("1234567.89"), "EUR"),
    "12,34,567.50 INR": (Decimal("1234567.50"), "INR"),
    "R$ 1.000,00": (1000, "BRL"),
    "1,234 USD": (1234, "USD"),
    "$1,234": (1234, X),
    "1,234,567": (1234567, X),
    "-5": (-5, X),
    "-$5": (-5, X),
    "€-5.20": (Decimal("-5.20"), "EUR"),
    "5.0": (5, X),
    "0.125": (Decimal("0.125"), X),
    "0,5": (Decimal("0.5"), X),
    "0.1": (Decimal("0.1"), X),
    "¥500": (500, X),
    "kr 100": (100, X),
    "1.234": (X, X),
    "1,234": (X, X),
    "1,0000": (X, X),
    "1.000,0000 €": (X, "EUR"),
    "1.0000": (1, X),
    "12.345": (X, X),
    "1.234 €": (X, "EUR"),
    "KWD 1,234": (X, "KWD"),
    "5.": (X, X),
    "1,23,4": (X, X),
    "1.2.3": (X, X),
    "1 23": (X, X),
    "--5": (X, X),
    "(5)": (X, X),
    "1.5k": (X, X),
    "1e5": (X, X),
    "XYZ 5": (X, X),
    "USD 5 EUR": (X, X),
    "５": (X, X),
    "5 or 500": (X, X),
    "": (X, X),
    "9" * 65: (X, X),
}
DATES: dict[str, tuple[str, int, str]] = {
    "2026-11-23": ("2026-11-23", 1795392000, "monday"),
    "2026-11-23T12:30:00Z": ("2026-11-23", 1795437000, "monday"),
    "2026-11-23t12:30z": ("2026-11-23", 1795437000, "monday"),
    "2026-11-23 12:30": ("2026-11-23", 1795437000, "monday"),
    "2026-11-23T12:30:00 UTC": ("2026-11-23", 1795437000, "monday"),
    "2026-11-23T12:30:00+01:00": ("2026-11-23", 1795433400, "monday"),
    "Mon, 23 Nov 2026 12:00:00 +0000": ("2026-11-23", 1795435200, "monday"),
    "23 Nov 2026 12:00 GMT": ("2026-11-23", 1795435200, "monday"),
    "23. November 2026": ("2026-11-23", 1795392000, "monday"),
    "November 23, 2026": ("2026-11-23", 1795392000, "monday"),
    "Monday, Nov 23 2026": ("2026-11-23", 1795392000, "monday"),
    "Sept. 5, 2026": ("2026-09-05", 1788566400, "saturday"),
    "0001-01-01": ("0001-01-01", -62135596800, "monday"),
    "1969-12-31": ("1969-12-31", -86400, "wednesday"),
}
NO_DATES = (
    "03/04/2026", "23.11.2026", "2026/11/23", "20261123", "1795392000", "23 Nov 26", "2026-13-01",
    "2026-02-30", "2026-11-23T25:00:00Z", "Tue, 23 Nov 2026", "tomorrow", "2026-11", "Nov 2026", "",
    "2026-11-23 or later", "２０２６-11-23", "2026-11-23T12:30:00+99:00", "2026-W48-1",
)  # fmt: skip


@requirement("S-KIND-08")
@pytest.mark.parametrize("text", MONEY)
def test_an_amount_is_exact_and_has_its_currency(text: str) -> None:
    """Where it has one reading; else it is unknown."""
    amount, currency = MONEY[text]
    assert money(text) == {"amount": (amount,), "currency": (currency,)}


@requirement("S-KIND-08")
@pytest.mark.parametrize("text", DATES)
def test_a_date_is_a_day_and_a_moment(text: str) -> None:
    """As ISO 8601, RFC 2822 and names of months write it."""
    day, seconds, weekday = DATES[text]
    assert date_text(text) == {"date": (day,), "seconds": (seconds,), "weekday": (weekday,)}


@requirement("S-KIND-08")
@pytest.mark.parametrize("text", NO_DATES)
def test_a_date_with_two_readings_is_unknown(text: str) -> None:
    """And so is what is none."""
    assert {*date_text(text).values()} == {(X,)}
    assert date_bounds(text) is None


@requirement("S-KIND-08")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ORD 17", "ord17"),
        ("ord17", "ord17"),
        ("\uff2f\uff32\uff24\uff11\uff17", "ord17"),
        ("or\u200bd17", "ord17"),
        ("ord-17", "ord-17"),
        ("", X),
        ("a\x00", X),
        ("a" * 257, X),
    ],
)
def test_a_name_has_a_plain_form(text: str, value: Any) -> None:
    """Case, width and blanks make no difference; signs do."""
    assert ident(text) == {"value": (value,)}


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789.,' -+$€EURk\u00a0:TZNov", max_size=30))
def test_any_text_is_read(text: str) -> None:
    """Each fact has one value, and an amount is a number."""
    for facts in (money(text), date_text(text), ident(text)):
        assert all(len(values) == 1 for values in facts.values())
    (amount,) = money(text)["amount"]
    assert amount is X or isinstance(amount, (int, Decimal))


FILE = """
version: 1
tools: {{pay: {{fields: {{sum: money, when: date, order: id}}}}, find: {{fields: {{order: id}}}}}}
contracts:
  - name: rule
    guarantee: {}
"""


@requirement("S-KIND-08")
@pytest.mark.parametrize(
    ("match", "args", "passes"),
    [
        ("{sum: {amount: {gt: 1000}}}", {"sum": "$1,234.50"}, False),
        ("{sum: {amount: {gt: 1000}}}", {"sum": "$999.99"}, True),
        ("{sum: {amount: {gt: 1000}}}", {"sum": "1.234"}, False),
        ("{sum: {amount: {gt: 0.3}}}", {"sum": "0.3"}, True),
        ("{sum: {amount: {gt: 1000}}}", {"sum": 999}, True),
        ("{sum: {amount: {gt: 1000}}}", {"sum": 1001.5}, False),
        ("{sum: {currency: {ne: EUR}}}", {"sum": "5 €"}, True),
        ("{sum: {currency: {ne: EUR}}}", {"sum": "5"}, False),
        ("{when: {weekday: [saturday, sunday]}}", {"when": "2026-11-23"}, True),
        ("{when: {weekday: [saturday, sunday]}}", {"when": "2026-11-22"}, False),
        ("{when: {weekday: [saturday, sunday]}}", {"when": "11/23/2026"}, False),
        ("{order: {value: ord17}}", {"order": "ORD 17"}, False),
        ("{order: {value: ord17}}", {"order": 17}, True),
    ],
)
def test_facts_are_compared(match: str, args: dict[str, Any], passes: bool) -> None:
    """As numbers and texts; what is unknown is refused where it is forbidden."""
    rule = f"{{pattern: absent, match: {{tool: pay, args: {match}}}}}"
    file = loads(FILE.format(rule))
    session = Guard(file.contracts, tools=file.inventory).session()
    assert isinstance(session.decide("pay", args), Allowed) is passes


@requirement("S-KIND-08")
def test_names_are_bound_in_their_plain_form() -> None:
    """An order that was looked up may be paid, however its name is written."""
    rule = (
        "{pattern: precedence, match: {tool: pay, args: {order: {value: $o}}}, "
        "requires: {tool: find, args: {order: {value: $o}}}}"
    )
    file = loads(FILE.format(rule))
    session = Guard(file.contracts, tools=file.inventory).session()
    session.settle(session.decide("find", {"order": "ORD-17"}).id)
    assert isinstance(session.decide("pay", {"order": "ord-17"}), Allowed)
    assert not isinstance(session.decide("pay", {"order": "ord-18"}), Allowed)


NOON = 1795435200
"""2026-11-23 at noon, in UTC."""


@requirement("C-date_within")
@pytest.mark.parametrize(
    ("last", "coming", "text", "passes"),
    [
        (86400, None, "2026-11-23", True),
        (86400, None, "2026-11-22", True),
        (86400, None, "2026-11-21", False),
        (86400, None, "2026-11-24", False),
        (86400, None, "2026-11-22T12:00:00Z", True),
        (86400, None, "2026-11-22T11:59:59Z", False),
        (86400, None, "2026-11-23T13:30:00+02:00", True),
        (86400, None, "2026-11-23T12:00:01Z", False),
        (None, 86400, "2026-11-23", True),
        (None, 86400, "2026-11-24", True),
        (None, 86400, "2026-11-25", False),
        (None, 86400, "2026-11-22", False),
        (60, 60, "2026-11-23T12:01:00Z", True),
        (60, 60, "2026-11-23T11:58:59Z", False),
        (86400, None, "23/11/2026", False),
        (86400, None, None, False),
    ],
)
def test_a_date_lies_so_long_ago_or_ahead(
    last: float | None, coming: float | None, text: str | None, passes: bool
) -> None:
    """Measured from the time of the call; a day counts if some second of it lies there."""
    rule = contract("fresh").guarantees(date_within("refund", "bought", last, coming))
    for seen in (rule, rule.guarantees("never call `b` before `a`")):
        session = Guard([seen]).session(clock=lambda: NOON)
        assert isinstance(session.decide("refund", {"bought": text}), Allowed) is passes
    slow = Guard([rule]).session(clock=lambda: float(NOON))
    assert isinstance(slow.decide("refund", {"bought": text}), Allowed) is passes


def test_a_date_needs_a_bound() -> None:
    """One of both."""
    with pytest.raises(ContractError, match="`last` or `coming` is needed"):
        date_within("refund", "bought")
