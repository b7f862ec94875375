"""Counts refused calls beside the trace, for the terms that ask for them.

In: a term, and a call that was refused. Out: its counts with one more. Counts are capped: calls, or
tools, beyond the cap share one count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from sponsio_like.event_types import Call, Event
from sponsio_like.logic.formula import Denied
from sponsio_like.values import NotCanonical, digest, without_nulls

DENIED_CAP = 1_000
"""Most calls, or tools, that one term counts by themselves; all others are counted together."""


@dataclass(frozen=True, slots=True)
class Denials:
    """The refusals that one term counts. `more`: of all calls without a count of their own."""

    each: Mapping[str, int] = field(default_factory=dict)
    more: int = 0

    def with_one(self, key: str) -> Denials:
        """Return these, and one more of this key."""
        if key not in self.each and len(self.each) >= DENIED_CAP:
            return replace(self, more=self.more + 1)
        return replace(self, each={**self.each, key: self.each.get(key, 0) + 1})


Counted = Mapping[Denied, Denials]
NONE_DENIED: Counted = MappingProxyType({})


def count_denial(known: Counted, terms: Iterable[Denied], call: Call) -> Counted:
    """Return the known counts, with one more refusal for each of these terms."""
    more = {term: known.get(term, Denials()).with_one(_key(term, call)) for term in terms}
    return {**known, **more} if more else known


def refusals(known: Counted, term: Denied, event: Event) -> int:
    """Return the value of the term at an event; only a call has a tool and arguments."""
    found = known.get(term)
    if found is None:
        return 0
    if term.like == "any":
        return found.each.get("", found.more)
    assert isinstance(event, Call)  # at other events the term has no value
    return found.each.get(_key(term, event), found.more)


def _key(term: Denied, call: Call) -> str:
    """Return a key, equal for calls that the term counts together; unreadable
    ones by their tool.
    """
    match term.like:
        case "any":
            return ""
        case "tool":
            return digest(call.tool, None)
    try:
        return digest(call.tool, without_nulls(call.args))
    except (NotCanonical, TypeError, ArithmeticError):  # numbers of an odd kind
        return digest(call.tool, {}) + "?"
