"""Values and their neighbours, by one who had not seen this package: each is told as expected.

In: `blind_values.jsonl`, 217 texts. `true`: what is named stands in the text; null: no careful
reader takes it for a value; `stop`: it leads away from example.com.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import sponsio_like.kinds  # noqa: F401  declares the kinds
from sponsio_like.values import TEXT_KINDS, UNREADABLE

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("blind_values.jsonl").read_text("utf-8").splitlines()
]
OTHERWISE = {
    "National Insurance number BG 12 34 56 C": "a prefix that is not issued is found, too",
    "pk_live_jB4W7Mi3Dekc79empAgLc3as": "a key that is public is found like a secret one",
    "CHF 1\u2019234.50": "a curly apostrophe between digits is not read",
    "1,234 EUR": "read as 1234: a comma before three digits is never the decimal one",
    "5th of March 2026": "dates in words are not read",
    "13/04/2026": "dates with the day or the month first are not read",
    "04/13/2026": "as before",
    "31.12.2026": "as before",
    "2026/03/05": "dates with slashes are not read",
}
"""The texts that are told otherwise than was expected; docs/kinds-measured.md names them."""


def first(facts: Mapping[str, Any] | None, name: str) -> Any:
    """Return the first value of a fact; what cannot be read, if there is none."""
    return next(iter((facts or {}).get(name, ())), UNREADABLE)


def found(kind: str, text: str) -> bool:
    """Return True if the detector of this kind finds something."""
    if kind == "api_key":
        return bool((TEXT_KINDS["secrets"].read(text) or {}).get("finds"))
    names = set((TEXT_KINDS["personal"].read(text) or {}).get("finds", ()))
    if kind == "national_id":
        return bool(names - {"email", "phone", "card", "iban"})
    return bool(kind in names)


def allowed(kind: str, text: str) -> bool:
    """Return True if the text leads to example.com, or to a part of it."""
    place = {"url": ("url", "host"), "host": ("domain", "name"), "domain": ("domain", "name")}[kind]
    name, fact = ("email", "domain") if "@" in text and kind == "domain" else place
    host = first(TEXT_KINDS[name].read(text), fact)
    return isinstance(host, str) and f".{host}".endswith(".example.com")


def is_as_expected(row: Mapping[str, Any]) -> bool:
    """Return True if the text is told as its author expects."""
    kind, text, expected = row["kind"], row["text"], row["expect"]
    if kind in ("host", "domain", "url"):
        return allowed(kind, text) is (expected == "allow")
    if kind not in ("money", "date"):
        return found(kind, text) is expected
    facts = TEXT_KINDS[kind].read(text)
    if kind == "money":
        told = first(facts, "amount"), first(facts, "currency")
        if expected is None:
            return UNREADABLE in told
        return told == (Decimal(expected["amount"]), expected.get("currency", told[1]))
    if expected is None:
        return first(facts, "date") is UNREADABLE
    if "T" not in expected:
        return bool(first(facts, "date") == expected)
    at = datetime.fromisoformat(expected).astimezone(UTC).timestamp()
    return bool(first(facts, "seconds") == at)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['kind']} {row['text'][:40]}")
def test_a_text_is_told_as_its_author_expects(row: dict[str, Any]) -> None:
    """All but nine are: of those that a rule has to stop, one."""
    assert is_as_expected(row) == (row["text"] not in OTHERWISE)
