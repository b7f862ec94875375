"""What the host has told a session: facts, permissions, approvals, tokens. Immutable.

Telling makes a new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Context:
    """What the host has told a session: facts, permissions, approvals, tokens."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0

    def told(self, key: str, value: Any) -> Context:
        """The context with one more fact.

        A new approval replaces that of the same action, role and person.
        """
        if key == "approval" and isinstance(value, Mapping):
            mine = _approval_key(value)
            value = [
                *(each for each in self.facts.get(key, ()) if _approval_key(each) != mine),
                value,
            ]
        return Context({**self.facts, key: value}, self.tokens)

    def used(self, tokens: int) -> Context:
        """The context after so many more tokens."""
        return Context(self.facts, self.tokens + tokens)

    def permits(self, agent: str, permission: str) -> bool:
        """Whether `agent` holds `permission` now."""
        held = self.facts.get("permissions", ())
        if isinstance(held, Mapping):
            held = held.get(agent, ())
        return isinstance(held, (list, tuple, set, frozenset)) and permission in held

    def approved(self, action: str, role: str) -> bool:
        """Whether a standing approval by `role` for `action` exists."""
        approvals = self.facts.get("approval", ())
        return any(_stands(approval, action, role) for approval in approvals)


def _approval_key(approval: Any) -> Any:
    return tuple(str(approval.get(name)) for name in ("action", "role", "by"))


def _stands(approval: Any, action: str, role: str) -> bool:
    if not isinstance(approval, Mapping) or approval.get("revoked"):
        return False
    asked = (approval.get("action"), approval.get("role"), approval.get("decision"))
    return asked == (action, role, "approve")
