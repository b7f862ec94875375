"""Reads atoms and terms with value variables: for which values they hold at an event.

In: an atom, a comparison or an amount, once, at load time. Out: an `Atom` (variables.py). It reads
the event once (`see`); then it answers for each value (`holds`), and lists the values for which it
may hold at all (`binds`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.events import (
    MISSING,
    OPEN,
    Call,
    Concerns,
    Context,
    Event,
    Message,
    Result,
    Truth,
    comparison_test,
    concerns,
    value_reader,
)
from sponsio_like.monitor.parametric.lookup import (
    BINDING,
    NOWHERE,
    UNBOUND,
    Form,
    Lookup,
    call_spot,
    form_value,
    holds,
    is_whole,
    look,
    look_for_words,
    ordered,
)
from sponsio_like.monitor.parametric.variables import Key, VariableLayout
from sponsio_like.values import ABSENT, NotCanonical, has_gaps, is_list, value_in_result

ZERO = Decimal(0)

# --- kinds of calls ---------------------------------------------------------------------------


class _Test(NamedTuple):
    """One condition with a variable.

    `place`: the variable's place in the key; -1 for a local variable, whose value only has to be
    there.
    """

    place: int
    form: Form
    condition: f.Condition
    var: f.Var


class _Kind(NamedTuple):
    """One match: `concerns` tests its conditions without variables, `tests` are those with
    variables.
    """

    concerns: Concerns
    tests: tuple[_Test, ...]
    strict: bool


Sighted: TypeAlias = "list[tuple[_Kind, bool | None, list[Lookup]]]"


@dataclass(frozen=True, slots=True)
class CallMatcher:
    """The atom `called`, `done` or `failed` of calls whose arguments carry the values."""

    what: str
    kinds: tuple[_Kind, ...]
    width: int

    def see(self, event: Event, _: Context) -> Sighted:
        if not isinstance(event, Call):
            return []
        seen: Sighted = []
        for kind in self.kinds:
            base = kind.concerns(event)
            if base is not False:
                seen.append(
                    (kind, base, [_seen(event, test, strict=kind.strict) for test in kind.tests])
                )
        return seen

    def holds(self, seen: Sighted, key: Key) -> Truth:
        answer = any_of([_answer(kind, base, looks, key) for kind, base, looks in seen])
        return OPEN if answer is True and self.what != "called" else answer

    @staticmethod
    def is_alike(seen: Sighted) -> bool:
        """True if the atom has the same truth for all values that the event binds."""
        return [len(kind.tests) for kind, _, _ in seen] == [1]

    @staticmethod
    def compares(seen: Sighted) -> bool:
        """True if something in the event is compared with the values, and does
        not only bind them.
        """
        pairs = (pair for kind, _, looks in seen for pair in zip(kind.tests, looks, strict=True))
        return any(test.condition.op not in BINDING and found.there for test, found in pairs)

    def binds(self, seen: Sighted) -> Iterator[Key]:
        for kind, _, looks in seen:
            yield from _keys(zip(kind.tests, looks, strict=True), self.width)


def any_of(answers: list[bool | None]) -> bool | None:
    """Return True if one of the answers is true, None if that is not certain, else False."""
    return True if True in answers else None if None in answers else False


def _answer(kind: _Kind, base: bool | None, looks: list[Lookup], key: Key) -> bool | None:
    pairs = list(zip(kind.tests, looks, strict=True))
    open_ = {test.place for test, found in pairs if _may_be_any(kind, test, found)}
    answers, nobody = [base], all(value is UNBOUND for value in key)
    for test, found in pairs:
        if nobody and open_ and test.place not in open_ and test.condition.op in BINDING:
            answers.append(bool(found.values))  # with the value that stands there
        else:
            answers.append(_tested(kind, test, found, key))
    return False if False in answers else None if None in answers else True


def _tested(kind: _Kind, test: _Test, found: Lookup, key: Key) -> bool | None:
    each = test.condition
    if test.place < 0:
        return bool(found.values) or (None if kind.strict or found.unclear else False)
    value = key[test.place]
    return holds(found, each.op, value, test.form, every=each.every, strict=kind.strict)


def _may_be_any(kind: _Kind, test: _Test, found: Lookup) -> bool:
    """True if the value at the test's place could be any value."""
    binds = test.condition.op in BINDING
    return binds and (found.unclear or (kind.strict and not found.there))


def _seen(call: Call, test: _Test, *, strict: bool) -> Lookup:
    each, place = test.condition, call_spot(call, test.condition.path)
    strict = strict and each.op in BINDING  # only what binds has to be there
    whole = is_whole(each.path)
    var, form = test.var, test.form
    found = look(place, each.op, var, form, given=False, whole=whole, every=each.every)
    lacking = "[]" in each.path and has_gaps(place)
    if each.every and (lacking or (strict and found.bare)):  # an element lacks it, so the list does
        return NOWHERE
    if each.every and each.op not in BINDING and not found.there:
        found = found._replace(there=is_list(place))
    short = strict and found.there and (lacking or found.bare)
    return found._replace(unclear=found.unclear or short)


def _keys(tested: Iterable[tuple[_Test, Lookup]], width: int) -> Iterator[Key]:
    """Yield the combinations of values that these tests bind; none if one
    variable stays unbound.
    """
    choices: list[set[Any] | None] = [None] * width
    for test, found in tested:
        tells = test.condition.op in BINDING or (test.condition.op == "!=" and width == 1)
        if tells and test.place >= 0:
            choices[test.place] = (choices[test.place] or set()) | set(found.values)
    if None not in choices:
        yield from itertools.product(*(each for each in choices if each is not None))


def of_target(target: f.Target, what: str, names: VariableLayout) -> CallMatcher:
    """Return the atom of calls that match `target`."""
    return CallMatcher(what, tuple(_kind(match, names) for match in target), len(names.places))


def _kind(match: f.Match, names: VariableLayout) -> _Kind:
    free = [each for each in match.conditions if not isinstance(each.value, f.Var)]
    bare = replace(match, conditions=tuple(free))
    tests = tuple(
        _Test(
            names.places.get(each.value.name, -1),
            names.forms.get(each.value.name, "exact"),
            each,
            each.value,
        )
        for each in match.conditions
        if isinstance(each.value, f.Var)
    )
    return _Kind(concerns((bare,)), tests, match.strict is True)


# --- outputs, messages, context ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutputMatcher:
    """The atom of a call whose output carries the value; it is known once the call has settled."""

    node: f.OutputIs
    place: int
    form: Form
    width: int
    indexed: bool = False

    def see(self, event: Event, _: Context) -> bool:
        return isinstance(event, Call)

    def holds(self, seen: bool, _: Key) -> Truth:
        return seen and OPEN

    def binds(self, _: bool) -> tuple[Key, ...]:
        return ()

    def found(self, result: Result) -> Lookup:
        """Return what stands at the atom's path in the result."""
        path, var = self.node.path, self.node.value
        assert isinstance(var, f.Var)
        place = value_in_result(result.output, path)
        if self.indexed:
            return look_for_words(place, whole=is_whole(path))
        return look(place, self.node.op, var, self.form, given=True, whole=is_whole(path))

    def revealed(self, found: Lookup) -> Iterator[Key]:
        """Return the keys of the values found in the result."""
        one = self.width == 1 and (self.node.op in BINDING or self.node.op == "!=")
        return zip(found.values) if one else iter(())

    def is_alike(self, found: Lookup) -> bool:
        """True if the result carries all values that were found in it, as far as is known."""
        return self.width == 1 and self.node.op in BINDING and not found.mixed

    def settled(self, found: Lookup, key: Key) -> bool | None:
        """True if the result carries the value of this key; None if that cannot be decided."""
        return holds(found, self.node.op, key[self.place], self.form)


@dataclass(frozen=True, slots=True)
class TextMatcher:
    """The atom of a message whose text carries the value."""

    node: f.TextIs
    place: int
    form: Form
    indexed: bool = False

    def see(self, event: Event, _: Context) -> Lookup:
        if not isinstance(event, Message):
            return NOWHERE
        if self.indexed:
            return look_for_words(event.text, whole=True)
        return look(event.text, self.node.op, self.node.value, self.form, given=True, whole=True)

    def holds(self, seen: Lookup, key: Key) -> bool | None:
        return holds(seen, self.node.op, key[self.place], self.form)

    @staticmethod
    def is_alike(seen: Lookup) -> bool:
        """True if the text carries all values that were found in it, as far as is known."""
        return not seen.mixed

    def binds(self, seen: Lookup) -> Iterator[Key]:
        return zip(seen.values)


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
