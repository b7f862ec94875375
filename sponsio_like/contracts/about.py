"""What people say about a contract: why it is there, whose it is, how bad it is to break it.

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
    """What is said about a contract; what is empty has not been said."""

    because: str = ""
    owner: str = ""
    severity: Severity | None = None
    tags: tuple[str, ...] = ()

    def said(self) -> dict[str, Any]:
        """What has been said, by key."""
        return said_of(self)


def said_of(about: Any) -> dict[str, Any]:
    """What is said of a contract, by key: of an `About`, or where a violation is told."""
    return {key: said for key in KEYS if (said := getattr(about, key))}


UNSAID = About()
"""Of a contract about which nothing is said."""


def words(value: Any) -> str:
    """A text in which there is something, without the blanks around it."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ContractError.of(f"`{value}` is not a text", "write some words")


def severity(value: Any) -> Severity:
    """How bad a violation is, by its name."""
    for known in SEVERITIES:
        if value == known:
            return known
    raise ContractError.of(
        f"unknown severity `{value}`", closest(value, SEVERITIES) or f"one of {SEVERITIES}"
    )


def tags(value: Any) -> tuple[str, ...]:
    """A list of words."""
    if not isinstance(value, (list, tuple)) or not value:
        raise ContractError.of(f"`{value}` is not a list", f"write [{value}]")
    problems = Problems()
    found = [problems.attempt((i,), words, each) for i, each in enumerate(value)]
    problems.check()
    return tuple(each for each in found if each is not None)
