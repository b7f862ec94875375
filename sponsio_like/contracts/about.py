"""Notes on a contract: its reason, its owner, the severity of a violation, tags.

In: `because:`, `owner:`, `severity:` and `tags:` of a contract. Out: an `About`. It is no part of
what a contract means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sponsio_like.errors import ContractError, Problems, closest
from sponsio_like.outcome import Severity

SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high", "critical")
KEYS = ("because", "owner", "severity", "tags")


@dataclass(frozen=True, slots=True)
class About:
    """The notes on one contract; a field is empty if nothing was written."""

    because: str = ""
    owner: str = ""
    severity: Severity | None = None
    tags: tuple[str, ...] = ()

    def said(self) -> dict[str, Any]:
        """Return the notes that were written, by key."""
        return said_of(self)


def said_of(about: Any) -> dict[str, Any]:
    """Return the notes of anything that has these fields, by key: an `About`, a `Violation`."""
    return {key: said for key in KEYS if (said := getattr(about, key))}


UNSAID = About()
"""An `About` without any note."""


def words(value: Any) -> str:
    """Return a text without the blanks around it. Raises `ContractError` if nothing is left."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ContractError.of(f"`{value}` is not a text", "write some words")


def severity(value: Any) -> Severity:
    """Return a severity from its name. Raises `ContractError` for others."""
    for known in SEVERITIES:
        if value == known:
            return known
    raise ContractError.of(
        f"unknown severity `{value}`", closest(value, SEVERITIES) or f"one of {SEVERITIES}"
    )


def tags(value: Any) -> tuple[str, ...]:
    """Return a list of words as a tuple. Raises `ContractError` for anything else."""
    if not isinstance(value, (list, tuple)) or not value:
        raise ContractError.of(f"`{value}` is not a list", f"write [{value}]")
    problems = Problems()
    found = [problems.attempt((i,), words, each) for i, each in enumerate(value)]
    problems.check()
    return tuple(each for each in found if each is not None)
