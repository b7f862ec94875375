"""Finds the value variables of formulas: their names, their places in keys, how they are compared.

In: formulas. Out: `VariableLayout`, and the protocol of atoms with variables. Values are canonical;
a variable that is bound from parts of texts anywhere is compared as text everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.events import Context, Event
from sponsio_like.logic import decompose
from sponsio_like.monitor.parametric.lookup import BINDING, Form
from sponsio_like.values import WordIndex

Key: TypeAlias = tuple[Any, ...]
"""One value for each variable of a clause, in the order of their names."""


@dataclass(frozen=True, slots=True, eq=False)
class TextKeys(Mapping[Key, Any]):
    """One key for each value of a text, all with the same letter; found when they are asked for."""

    words: WordIndex
    letter: Any = None

    def __getitem__(self, key: Key) -> Any:
        if key[0] not in self.words:
            raise KeyError(key)
        return self.letter

    def __iter__(self) -> Iterator[Key]:
        return zip(self.words)

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Many values of which nothing was known, and that an event or a result treats alike."""

    keys: Sequence[Key]


DIGITS = 30
"""Largest power of ten of a number that is shown as a number."""


LONG = "a long value"
"""The text that is shown in the place of a long value."""


@dataclass(frozen=True, slots=True)
class VariableLayout:
    """The variables of a clause: their places in its keys, and how their values are compared.

    `local`: those that only speak of the call that is judged, each with the field that it stands
    for; they take no part in the keys.
    """

    places: dict[str, int]
    forms: dict[str, Form]
    local: dict[str, str]


class Atom(Protocol):
    """An atom with variables in it, or the input of a term with variables."""

    def see(self, event: Event, context: Context) -> Any:
        """Return what the other methods need of the event, the same for all values."""

    def holds(self, seen: Any, key: Key) -> Any:
        """Return its value for this key; None if that cannot be decided."""

    def binds(self, seen: Any) -> Iterable[Key]:
        """Return the keys for which it may have another value than for keys
        that nothing has bound.
        """


def value_text(value: Any) -> Any:
    """Return a canonical value as data that people read; of a long one, only its fingerprint."""
    match value:
        case Decimal() if abs(value.adjusted()) > DIGITS:
            return str(value)
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case ("inf", positive):
            return "infinite" if positive else "minus infinite"
        case ("bool" | "NoneType", plain):
            return plain
        case ("list", items):
            return [value_text(each) for each in items]
        case ("map", pairs):
            return {str(key): value_text(each) for key, each in sorted(pairs, key=repr)}
        case ("hash", mark):
            return f"{LONG} ({mark[:8]})"
    return value


# --- which variables --------------------------------------------------------------------------


def vars_in(node: f.Node) -> list[tuple[f.Op | None, f.Var]]:
    """Return the variables of this very node, each with its operator; None: it stands as a term."""
    match node:
        case (
            f.Happens(_, target)
            | f.Sum(target)
            | f.Repeats(target)
            | f.Delivered(target)
            | f.Denied(target)
        ):
            each = (one for match in target for one in match.conditions)
            return [(one.op, one.value) for one in each if isinstance(one.value, f.Var)]
        case f.OutputIs(_, op, f.Var() as var) | f.TextIs(op, var):
            return [(op, var)]
        case f.Variable(name):
            return [(None, f.Var(name))]
    return []


def all_vars(root: f.Node) -> list[tuple[f.Op | None, f.Var]]:
    """Return the variables in a formula, each with its operator; None: it stands as a term."""
    return [each for node in f.postorder(root) for each in vars_in(node)]


def vars_given_by_context(node: f.Node) -> Iterator[str]:
    """Yield the variables for which the context gives the value: those that are `=` to it."""
    if isinstance(node, f.Compare) and node.op == "=":
        sides = f.children(node)
        if any(isinstance(each, f.Ctx) for each in sides):
            yield from (each.name for each in sides if isinstance(each, f.Variable))


def relations(node: f.Node, names: VariableLayout) -> list[f.Op]:
    """Return the operators by which the node compares variables without binding them."""
    found: list[f.Op] = []
    for each in f.postorder(node):
        known = [(op, var) for op, var in vars_in(each) if var.name in names.places]
        found += [op for op, _ in known if op is not None and op not in BINDING]
        if isinstance(each, f.Compare) and any(isinstance(s, f.Variable) for s in f.children(each)):
            told = any(isinstance(side, f.Ctx) for side in f.children(each))
            found += [] if each.op == "=" and told else [each.op]
    return found


def variable_layout(roots: Iterable[f.Node], judged: f.Formula) -> VariableLayout:
    """Return the variables of these formulas; `judged` is the guarantee."""
    roots = list(roots)
    if not any(all_vars(root) for root in roots):
        return VariableLayout({}, {}, {})
    local = _local(judged, [each for root in roots for each in _uses(root)])
    places: dict[str, int] = {}
    forms: dict[str, Form] = {}
    for op, var in (each for root in roots for each in all_vars(root)):
        if var.name in local:
            continue
        places.setdefault(var.name, len(places))
        form: Form = "exact"
        if op in ("has", "matches", "carries"):
            form = "folded" if op == "carries" else "text"
        if ORDER.index(form) > ORDER.index(forms.get(var.name, "exact")):
            forms[var.name] = form
        forms.setdefault(var.name, form)
    return VariableLayout(places, forms, local)


ORDER: tuple[Form, ...] = ("exact", "text", "folded")


def _uses(root: f.Node) -> list[str]:
    """Return the variables in a formula, once (or twice) for each time that they stand there.

    Equal parts of a formula are one node, and so counted through all the nodes above it.
    """
    nodes = list(f.postorder(root))
    times = dict.fromkeys(nodes, 0) | {root: 1}
    for node in reversed(nodes):
        for child in f.children(node):
            times[child] += times[node]
    found = ((var.name, min(times[node], 2)) for node in nodes for _, var in vars_in(node))
    return [name for name, n in found for _ in range(n)]


def _local(judged: f.Formula, uses: list[str]) -> dict[str, str]:
    """Return the variables that the judged call binds once, and that are only compared there."""
    binders: dict[str, list[str]] = {}
    compared: list[str] = []
    for body in (each for parts in decompose(judged).always for each in parts):
        for node, premise in _present(body):
            if isinstance(node, f.Happens) and premise and node.what == "called":
                for match in node.target if len(node.target) == 1 else ():
                    for each in match.conditions:
                        if (
                            isinstance(each.value, f.Var)
                            and each.op == "="
                            and "[]" not in each.path
                        ):
                            binders.setdefault(each.value.name, []).append(each.path)
            elif isinstance(node, f.Compare):
                compared += [each.name for each in f.children(node) if isinstance(each, f.Variable)]
    return {
        name: paths[0]
        for name, paths in binders.items()
        if len(paths) == 1 and name in compared and uses.count(name) == 1 + compared.count(name)
    }


def _present(body: f.Formula) -> Iterator[tuple[f.Formula, bool]]:
    """Yield what is said of this very position, each with True if it is a premise."""
    stack = [(body, False)]
    while stack:
        node, premise = stack.pop()
        match node:
            case f.Not(inner):
                stack.append((inner, not premise))
            case f.And(parts) | f.Or(parts):
                stack.extend((part, premise) for part in parts)
            case f.Implies(left, right):
                stack += [(left, not premise), (right, premise)]
            case f.Happens() | f.Compare():
                yield node, premise
