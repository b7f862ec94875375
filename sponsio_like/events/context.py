"""Keeps the facts that the host tells a session beside the trace: facts, permissions, tokens,
refusals.

A context is immutable: telling it something makes a new one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sponsio_like.errors import SessionError
from sponsio_like.event_types import Call, Message
from sponsio_like.events.denials import NONE_DENIED, Counted, count_denial
from sponsio_like.logic.formula import Delivered, Denied

MODELS = frozenset({"ai", "model", "bot"})
"""Names that other formats have for the role `assistant`."""


@dataclass(frozen=True, slots=True)
class Context:
    """The facts of a session beside its trace: facts, permissions, approvals, tokens.

    `told_at`: the time of each fact; `delivered`: how many results have arrived, by term; `denied`:
    the refused calls; `stopped`: the contract that has stopped the run, or empty.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    told_at: Mapping[str, float] = field(default_factory=dict)
    delivered: Mapping[Delivered, int] = field(default_factory=dict)
    denied: Counted = field(default_factory=lambda: NONE_DENIED)
    stopped: str = ""

    def told(self, key: str, value: Any, time: float) -> Context:
        """Return the context with one more fact, told at this time.

        A new approval replaces that of the same action, role and person. One that is none (refused,
        revoked) and names nobody replaces all of its action and role.
        """
        if key == "approval":
            kind, by = _what(value), str(value.get("by"))
            known = self.facts.get(key, {})
            kept = known.get(kind, {}) if value.get("by") or _stands(value, *kind) else {}
            value = {**known, kind: {**kept, by: {"time": time, **value}}}
        return replace(self, facts={**self.facts, key: value}, told_at={**self.told_at, key: time})

    def used(self, tokens: int) -> Context:
        """Return the context after so many more tokens."""
        return replace(self, tokens=self.tokens + tokens)

    def arrived(self, sources: Iterable[Delivered]) -> Context:
        """Return the context after one more result that counts for these sources."""
        counts = {source: self.delivered.get(source, 0) + 1 for source in sources}
        return replace(self, delivered={**self.delivered, **counts}) if counts else self

    def refused(self, call: Call, terms: Iterable[Denied]) -> Context:
        """Return the context after one more refused call that counts for these terms."""
        known = count_denial(self.denied, terms, call)
        return self if known is self.denied else replace(self, denied=known)

    def permits(self, agent: str, permission: str) -> bool:
        """True if `agent` holds `permission` now."""
        held = self.facts.get("permissions", ())
        if isinstance(held, Mapping):
            held = held.get(agent, ())
        return isinstance(held, (list, tuple, set, frozenset)) and permission in held

    def approved(self, action: str, role: str) -> bool:
        """True if a standing approval by `role` for `action` exists."""
        approvals = self.facts.get("approval", {}).get((action, role), {})
        return any(_stands(approval, action, role) for approval in approvals.values())

    def approved_at(self, action: str, role: str, never: Any) -> Any:
        """Return when the latest standing approval by `role` for `action` was
        given, else `never`.
        """
        approvals = self.facts.get("approval", {}).get((action, role), {})
        times = [each["time"] for each in approvals.values() if _stands(each, action, role)]
        return max(times, default=never)


NOTHING_TOLD = Context()
_NO = "deny, refuse, reject, revoke, disallow, disapprove"
_DONE = "denied, refused, rejected, revoked, disallowed, disapproved"
REFUSALS = frozenset(f"{_NO}, {_DONE}".split(", "))
"""The decisions that make an approval a refusal."""


def _what(approval: Mapping[str, Any]) -> tuple[str, str]:
    """Return the action that is approved, and the role that approves it."""
    return str(approval.get("action")), str(approval.get("role"))


def _stands(approval: Mapping[str, Any], action: str, role: str) -> bool:
    if approval.get("revoked"):
        return False
    asked = (approval.get("action"), approval.get("role"), approval.get("decision"))
    return asked == (action, role, "approve")


def tool_of(tool: Any, id: Any = "", agent: Any = "agent", depth: Any = 0) -> str:
    """Return the tool of a call. Raises `SessionError` if a part of the call has a wrong type."""
    if not isinstance(tool, str) or not isinstance(id, str):
        raise SessionError(f"tool {tool!r} and id {id!r} have to be strings")
    if not isinstance(agent, str) or not isinstance(depth, int) or isinstance(depth, bool):
        raise SessionError(f"agent {agent!r} has to be a string, depth {depth!r} a whole number")
    return tool


def check_settled(id: Any) -> None:
    """Raise `SessionError` for an id of a call that is empty or no text: no call would
    ever be settled by it.
    """
    if not isinstance(id, str):
        kind = type(id).__name__
        a = "an" if kind[0] in "AEIOU" else "a"
        hint = "write settle(outcome.id, output=..)"
        raise SessionError(f"a result needs the id of its call, not {a} {kind}; {hint}")


def of_batch(calls: Iterable[Sequence[Any]]) -> list[tuple[Any, Any, Any, str]]:
    """Return the calls of a batch, each with the reason to refuse its id, or an empty text.

    Raises `SessionError` before anything is decided.
    """
    batch: list[tuple[Any, Any, Any, str]] = []
    seen: set[str] = set()
    for tool, args, id in map(_of_batch, calls):
        tool_of(tool, "" if id is None else id)
        twice = (
            f"id `{id}` stands twice in this batch; give each call its own" if id in seen else ""
        )
        seen |= {id} if id else set()
        batch.append((tool, args, id, twice))
    return batch


def _of_batch(call: Sequence[Any]) -> tuple[Any, Any, Any]:
    if not isinstance(call, (list, tuple)) or len(call) not in (2, 3):
        raise SessionError(
            f"{call!r} is no call of a batch; write (tool, args) or (tool, args, id)"
        )
    return call[0], call[1], call[2] if len(call) > 2 else None


def check_message(role: Any, text: Any) -> Message:
    """Return a message; one that only calls tools has no text. Raises `SessionError`."""
    text = "" if text is None else text
    if not isinstance(role, str) or not isinstance(text, str):
        raise SessionError(f"role {role!r} and text {text!r} have to be strings")
    if role.casefold() in MODELS:
        raise SessionError(f"role `{role}` is not that of a response; write `assistant`")
    return Message(role.casefold(), text)


TOKENS = (
    ("total_tokens",),
    (
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "output_tokens",
    ),
    ("prompt_tokens", "completion_tokens"),
)
"""The keys of usages. Of the first group that has a value, all values are added up."""


def tokens_of(usage: Any) -> int:
    """Return the tokens that a message reports. Raises `SessionError` for anything but a number of
    tokens.
    """
    if usage is None:
        return 0
    given = usage if isinstance(usage, Mapping) else {"total_tokens": usage}
    said = {key: each for key, each in given.items() if each is not None}
    parts = next(filter(None, ([said[k] for k in keys if k in said] for keys in TOKENS)), None)
    wrong = parts is None if said else False
    if wrong or any(type(each) is not int or each < 0 for each in parts or ()):
        raise SessionError(f"usage {usage!r} is no number of tokens; write {{'total_tokens': 12}}")
    return sum(parts or ())


def check_fact(key: Any, value: Any) -> Any:
    """Return the fact. Raises `SessionError` for one that no contract could understand."""
    if not isinstance(key, str):
        raise SessionError(f"fact {key!r} has no name; a name is a string")
    if key == "approval" and not (
        isinstance(value, Mapping) and {"action", "role"} <= value.keys()
    ):
        raise SessionError("an approval is a map with action, role and decision")
    if key == "approval":
        _check_decision(value)
        return {**value, "time": _moment(value["time"])} if "time" in value else value
    if key == "permissions" and not isinstance(value, (list, Mapping)):
        raise SessionError("permissions are a list, or a map from agent to list")
    return value


def _check_decision(approval: Mapping[str, Any]) -> None:
    """Raise `SessionError` for an approval that says neither yes nor no, unless it is revoked."""
    decision, revoked = approval.get("decision"), approval.get("revoked")
    if revoked is not None and not isinstance(revoked, bool):
        raise SessionError(f"`revoked` is {revoked!r}; write `true` or `false`")
    if decision == "approve" or (isinstance(decision, str) and decision in REFUSALS):
        return
    if decision is None and revoked:
        return
    said = "an approval without `decision`" if decision is None else f"decision `{decision}`"
    raise SessionError(f"{said} is neither yes nor no; write `approve`, or one of {_NO}")


def _moment(value: Any) -> float:
    """Return seconds since 1970, of a number or an ISO 8601 text. Raises `SessionError`."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value).timestamp()
        if not isinstance(value, bool) and isinstance(value, (int, float)) and math.isfinite(value):
            return float(value)
    except ValueError:
        pass
    raise SessionError(f"{value!r} is no time; write seconds since 1970, or 2026-01-31T12:00:00Z")


def names(atoms: Any) -> frozenset[str]:
    """Return the names that a plain step is told with. Raises `SessionError`
    for no list of names.
    """
    if isinstance(atoms, (list, tuple, set, frozenset)) and all(
        isinstance(each, str) for each in atoms
    ):
        return frozenset(atoms)
    raise SessionError(f"step {atoms!r} is no list of names; write ['door_open']")
