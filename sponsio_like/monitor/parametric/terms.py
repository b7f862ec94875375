"""Reads comparisons and amounts with value variables, for the values of a key.

In: terms, once, at load time. Out: `Atom`s (variables.py) that read the event or the context once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.events import MISSING, Context, Event, comparison_test, value_reader
from sponsio_like.monitor.parametric.atoms import CallMatcher, Sighted
from sponsio_like.monitor.parametric.lookup import UNBOUND, Form, form_value, ordered
from sponsio_like.monitor.parametric.variables import Key, VariableLayout
from sponsio_like.values import ABSENT, NotCanonical

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of the present call, or of the context, with variables."""

    left: Callable[[Any, Event, Context], Any]
    op: f.Op
    right: Callable[[Any, Event, Context], Any]
    width: int
    form: Form = "exact"

    def see(self, event: Event, context: Context) -> tuple[Event, Context]:
        return event, context

    def holds(self, seen: tuple[Event, Context], key: Key) -> bool | None:
        left, right = self.left(key, *seen), self.right(key, *seen)
        if left is MISSING or right is MISSING:
            return None
        if left is ABSENT or right is ABSENT:
            return False
        if UNBOUND in (left, right):
            return None if self.op not in ("=", "!=") else self.op == "!="
        if self.form != "exact" and self.op not in ("=", "!="):
            return ordered(left, self.op, right, self.form)
        return comparison_test(left, self.op, right)

    def compares(self, seen: tuple[Event, Context]) -> bool:
        """True if both sides can be read, and one of them is a variable."""
        sides = [side((UNBOUND,) * self.width, *seen) for side in (self.left, self.right)]
        return UNBOUND in sides and MISSING not in sides and ABSENT not in sides

    def binds(self, seen: tuple[Event, Context]) -> Iterator[Key]:
        if self.width == 1 and self.op in ("=", "!="):
            for side in (self.left, self.right):
                value = side((UNBOUND,), *seen)
                if value is not UNBOUND and value is not MISSING and value is not ABSENT:
                    yield (value,)


@dataclass(frozen=True, slots=True)
class AmountMatcher:
    """The amount that a sum adds at a call that carries the values."""

    calls: CallMatcher
    read: Callable[[Event, Context], Any]

    def see(self, event: Event, context: Context) -> tuple[Sighted, Any]:
        return self.calls.see(event, context), self.read(event, context)

    def holds(self, seen: tuple[Sighted, Any], key: Key) -> Any:
        answer = self.calls.holds(seen[0], key)
        return ZERO if answer is False else MISSING if answer is None else seen[1]

    def binds(self, seen: tuple[Sighted, Any]) -> Iterator[Key]:
        return self.calls.binds(seen[0])


def form_of(names: VariableLayout) -> Form:
    """Return the form in which the values of a clause are compared; `exact` if forms differ."""
    forms = set(names.forms.values())
    return forms.pop() if len(forms) == 1 else "exact"


def side(node: f.Term, names: VariableLayout) -> Callable[[Any, Event, Context], Any]:
    """Return the function that reads one side of a comparison, for the values of the variables."""
    if isinstance(node, f.Variable) and node.name in names.places:
        place = names.places[node.name]
        return lambda key, event, context: key[place]
    if isinstance(node, f.Variable):
        node = f.Arg(names.local[node.name])
    read, form = value_reader(node), form_of(names)

    def value(_: Any, event: Event, context: Context) -> Any:
        found = read(event, context)
        try:
            none = found is MISSING or found is ABSENT
            return found if none else form_value(found, form)
        except NotCanonical:
            return MISSING

    return value
