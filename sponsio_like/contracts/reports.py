"""Reads what programs that run tests report: how many have passed, and what was set aside.

In: the words of a text or of the name of a field, and its value. Out: whether tests have passed.
What was skipped or was expected to fail (`5 passed, 2 skipped`) is no objection where some have
passed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

PASS = re.compile(r"\bpass(?:ed|ing)\b", re.IGNORECASE)
"""A word that counts tests where a number stands beside it."""
ASIDE = r"(?:skipped|ignored|xfailed|xpassed|todo|deselected|filtered out)"
"""Names of tests that were not run, or that did what was expected of them."""
SOME = re.compile(r"(?<![\w.,])[1-9]\d*(?: tests?| checks?)? \0|\0 ?[:=] ?[1-9]|\ball(?: \w+)? \0")
"""All, or a number above 0, have passed, here `\\0`."""
SET_ASIDE = re.compile(
    r"[|,;]?\s*(?:\b\d+ skipped, \d+ \0, \d+ of \d+ total\b"
    rf"|(?<![\w.-])\d+ {ASIDE}\b|\b{ASIDE} ?[:=] ?\d+\b(?![.,]\d))"
)
"""The number of tests that were set aside."""
COUNTED = {"all", "tests", "test", "checks", "cases", "suites", "num", "number", "of", "count"}
COUNTED |= {"total", "is", "has", "have", "was"}
"""The words that may stand beside the accepted one in the name of a field: `num_passed_tests`."""
SUITES = {"suites"}
"""Names of what is counted apart from tests."""


def without_set_aside(text: str) -> str:
    """Return a text without the numbers of tests that were set aside, where some have passed."""
    return SET_ASIDE.sub(" ", text) if SOME.search(text) else text


def is_named(name: str, word: str) -> bool:
    """True if the name of a field says that what it has is so: `passed`, `all_passed`."""
    return _others(name, word) is not None


def number_of_tests(value: Any) -> Decimal | None:
    """Return a number, also one in digits; None for anything else."""
    if isinstance(value, str):
        return Decimal(value) if re.fullmatch(r"[0-9]{1,9}", value) else None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return Decimal(value)


def is_set_aside(name: str, value: Any) -> bool:
    """True if a field tells how many tests were set aside: `xfailed: 1`."""
    return number_of_tests(value) is not None and _aside(name) is not None


def falls_short(fields: Mapping[str, Any], word: str) -> bool:
    """True if fewer have passed or were set aside than there are: `{passed: 3, total: 5}`."""
    done, there = dict[bool, Decimal](), dict[bool, Decimal]()
    for name, value in fields.items():
        number, of = number_of_tests(value), not SUITES.isdisjoint(name.split())
        if number is None:
            continue
        if _others(name, word) is not None or _aside(name) is not None:
            done[of] = done.get(of, Decimal()) + number
        elif name == "tests" or _others(name, "total") is not None:
            there[of] = max(there.get(of, Decimal()), number)
    return any(there.get(of, done[of]) > done[of] for of in done)


def _others(name: str, word: str) -> set[str] | None:
    """Return the words beside this one in a name; None if it is not there, or others are."""
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", name)
    others = set((name[: found.start()] + name[found.end() :]).split()) if found else {""}
    return others if others <= COUNTED else None


def _aside(name: str) -> str | None:
    """Return the word of a name that says that tests were set aside; None if it has none."""
    found = re.search(rf"\b{ASIDE}\b", name)
    return found[0] if found and _others(name, found[0]) is not None else None
