"""Comparisons and amounts with value variables: what they are for the values of a key.

In: terms, once, at load time. Out: `Atom`s (variables.py) that read the event or the context once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import sponsio_like.formula as f
from sponsio_like.context import Context
from sponsio_like.events import Event, Unreadable
from sponsio_like.terms import MISSING, value_reader
from sponsio_like.values import compare
from sponsio_like.variable_atoms import OfCalls, Sighted
from sponsio_like.variables import NOBODY, Key, Names, form_value

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class OfTerms:
    """A comparison of the present call, or of the context, with variables."""

    left: Callable[[Any, Event, Context], Any]
    op: f.Op
    right: Callable[[Any, Event, Context], Any]
    width: int

    def see(self, event: Event, context: Context) -> tuple[Event, Context]:
        return event, context

    def holds(self, seen: tuple[Event, Context], key: Key) -> bool | None:
        left, right = self.left(key, *seen), self.right(key, *seen)
        if MISSING in (left, right):
            return None
        if NOBODY in (left, right):
            return None if self.op not in ("=", "!=") else self.op == "!="
        return compare(left, self.op, right)

    def compares(self, seen: tuple[Event, Context]) -> bool:
        """Whether both sides are there, one of them a value."""
        sides = [side((NOBODY,) * self.width, *seen) for side in (self.left, self.right)]
        return NOBODY in sides and MISSING not in sides

    def binds(self, seen: tuple[Event, Context]) -> Iterator[Key]:
        if self.width == 1 and self.op in ("=", "!="):
            for side in (self.left, self.right):
                value = side((NOBODY,), *seen)
                if value is not NOBODY and value is not MISSING:
                    yield (value,)


@dataclass(frozen=True, slots=True)
class OfAmounts:
    """What a sum adds at a call that carries the values."""

    calls: OfCalls
    read: Callable[[Event, Context], Any]

    def see(self, event: Event, context: Context) -> tuple[Sighted, Any]:
        return self.calls.see(event, context), self.read(event, context)

    def holds(self, seen: tuple[Sighted, Any], key: Key) -> Any:
        answer = self.calls.holds(seen[0], key)
        return ZERO if answer is False else MISSING if answer is None else seen[1]

    def binds(self, seen: tuple[Sighted, Any]) -> Iterator[Key]:
        return self.calls.binds(seen[0])


def side(node: f.Term, names: Names) -> Callable[[Any, Event, Context], Any]:
    """How one side of a comparison is read, for the values of the variables."""
    if isinstance(node, f.Variable) and node.name in names.places:
        place = names.places[node.name]
        return lambda key, event, context: key[place]
    if isinstance(node, f.Variable):
        node = f.Arg(names.local[node.name])
    read, forms = value_reader(node), set(names.forms.values())
    form = forms.pop() if len(forms) == 1 else "exact"

    def value(_: Any, event: Event, context: Context) -> Any:
        found = read(event, context)
        try:
            return found if found is MISSING else form_value(found, form)
        except Unreadable:
            return MISSING

    return value
