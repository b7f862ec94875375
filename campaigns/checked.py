"""What only a person can say.

Violations that were read line by line, and why a contract never fires.

The campaign shows these in its tables, and fails if a violation listed here is no longer found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Checked:
    """One violation. `at`: its position; `right`: whether the verdict is, in words."""

    trace: str
    contract: str
    at: int
    happened: str
    right: str


CHECKED: tuple[Checked, ...] = ()
REASONS: Mapping[str, str] = {}
