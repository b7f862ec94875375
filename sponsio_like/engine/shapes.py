"""Compiles the first rule of each shape, and makes the other rules of that shape from it.

In: rules. Out: their clauses. Two rules have one shape if their formulas are alike but for names of
tools, constants, conditions on arguments and arguments of atoms, and these are equal at the same
places. What a clause asks and remembers depends on the shape alone; what it reads does not.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import sponsio_like.logic.formula as f
from sponsio_like.contracts import Contract, Rule
from sponsio_like.engine.automaton import Automaton
from sponsio_like.engine.clause import Clause

_TARGETED = frozenset({f.Happens, f.Sum, f.Repeats, f.Delivered, f.Denied})
_SPECIAL = frozenset({f.Const, f.Custom, f.Variable, f.TextIs, f.OutputIs, f.Count})


@functools.cache
def _other_fields(kind: type[f.Node]) -> tuple[str, ...]:
    """Return the fields of a kind of node that may be something else than nodes."""
    said = kind.__annotations__
    nodes = ("Formula", "Term", "tuple[Formula, ...]")
    return tuple(name for name in f.fields_of(kind) if said[name] not in nodes)


class Shape(NamedTuple):
    """A rule as it is compiled.

    `key`: a number, equal for rules of one shape; `exactly`: a number, equal for those of one shape
    that have the same values, too, and so differ in the names of tools alone; `names`: these names;
    `nodes`: all nodes. The last two are in the order of the key.
    """

    key: int
    exactly: int
    names: tuple[str, ...]
    nodes: tuple[f.Node, ...]


class _Outline:
    """The numbers of the parts of formulas, as they are met."""

    def __init__(self) -> None:
        self.nodes: dict[f.Node, int] = {}
        self.names: dict[str, int] = {}
        self.conditions: dict[f.Condition, int] = {}
        self.values: list[Any] = []
        self.bounded = False

    def add(self, root: f.Formula) -> list[Any] | None:
        """Return the formula's part of the key; None for one without a shape (globs, values)."""
        key, nodes = list[Any](), self.nodes
        for node in f.postorder(root):
            if node in nodes:
                continue
            key += (type(node), *[nodes[each] for each in f.children(node)])
            if fields := _other_fields(type(node)):
                said = self._said(node, fields)
                if said is None:
                    return None
                key += said
            nodes[node] = len(nodes)
        key.append(nodes[root])
        return key

    def _said(self, node: f.Node, fields: tuple[str, ...]) -> Sequence[Any] | None:
        """Return what a node says besides the nodes in it, which are its children."""
        kind = type(node)
        if kind in _SPECIAL:
            match node:
                case f.Const(value):
                    self.values.append(f.exact(value))
                    return ()
                case f.Custom(name, args):
                    self.values.append(f.exact(args))
                    return (name,)
                case f.Variable() | f.TextIs() | f.OutputIs(_, _, f.Var()):
                    return None
                case f.Count(_, _, bound):
                    self.bounded = self.bounded or bound is not None
        said: list[Any] = []
        for name in fields:
            part = getattr(node, name)
            if part is None or type(part) is str:
                said.append(part)
            elif name == "target" and kind in _TARGETED:
                matches = [self._match(each) for each in part]
                if None in matches:
                    return None
                said += matches
            else:
                said.append(self.nodes[part] if isinstance(part, f.Node) else f.exact(part))
        return said

    def _match(self, match: f.Match) -> tuple[Any, ...] | None:
        if match.globs:
            return None
        names, asked = self.names, tuple[int, ...]()
        if match.conditions:
            if any([isinstance(each.value, f.Var) for each in match.conditions]):
                return None
            self.values += [f.exact(each) for each in match.conditions]
            places = self.conditions
            asked = tuple([places.setdefault(each, len(places)) for each in match.conditions])
        named = tuple([names.setdefault(each, len(names)) for each in match.names])
        return named, asked, match.agent, match.strict


def shape_of(
    contract: Contract, rule: Rule, tools: frozenset[str] | None, numbers: dict[Hashable, int]
) -> Shape | None:
    """Return the shape of a rule of this contract; None if more of it matters: globs and variables.

    `tools`: the inventory; of a name it matters whether it is there. `numbers`: those of the shapes
    so far.
    """
    scope = contract.segment
    ends = () if scope is None else (scope.start, scope.stop)
    outline, key = _Outline(), list[Any]()
    for root in (rule.formula, contract.assumption, *ends):
        said = None if root is None else outline.add(root)
        if root is not None and said is None:
            return None
        key.append(None if said is None else tuple(said))
    values = tuple(outline.values)
    if outline.bounded or not _owed_always(rule.formula):
        key.append(values)  # how much is remembered, or owed at first, depends on constants
    known = () if tools is None else tuple([name in tools for name in outline.names])
    whole = (*key, scope and scope.kind, rule.by, rule.single, rule.authored, known)
    number = numbers.setdefault(whole, len(numbers))
    exactly = numbers.setdefault((number, values), len(numbers))
    return Shape(number, exactly, tuple(outline.names), tuple(outline.nodes))


def _owed_always(formula: f.Formula) -> bool:
    """True if each part of a conjunction is owed at every position."""
    parts = formula.parts if isinstance(formula, f.And) else (formula,)
    return all(isinstance(part, f.Always) for part in parts)


class _Made(NamedTuple):
    """A clause that others are made from, and where its slots and names stand in its shape."""

    clause: Clause
    slots: tuple[int, ...]
    names: tuple[int, ...]


class Compiled:
    """The clauses of one policy, each shape compiled once. `tools`: the inventory, if known."""

    def __init__(self, tools: Iterable[str] | None) -> None:
        self._tools = None if tools is None else tuple(tools)
        self._known = None if tools is None else frozenset(self._tools or ())
        self._numbers: dict[Hashable, int] = {}
        self._made: dict[int, _Made] = {}
        self._automata: dict[int, Automaton | None] = {}

    def shape(self, contract: Contract, rule: Rule) -> Shape | None:
        """Return the shape of a rule of this contract, if it has one."""
        return shape_of(contract, rule, self._known, self._numbers)

    def clause(self, contract: Contract, rule: Rule, shape: Shape | None) -> Clause:
        """Return the clause of a rule of this shape. Raises `ContractError` if there is none."""
        made = None if shape is None else self._made.get(shape.key)
        if shape is None or made is None:
            clause = Clause(contract, rule, self._tools)
            if shape is not None:
                self._keep(clause, shape)
            return clause
        nodes = [shape.nodes[k] for k in made.slots]
        clause = made.clause.alike(contract, rule, nodes, [shape.names[k] for k in made.names])
        if shape.exactly not in self._automata:
            clause.readers  # noqa: B018  which checks the values
            self._automata[shape.exactly] = clause.automaton and Automaton()
        clause.automaton = self._automata[shape.exactly]
        return clause

    def _keep(self, clause: Clause, shape: Shape) -> None:
        """Keep a clause, so that others of its shape are made from it."""
        nodes = {node: k for k, node in enumerate(shape.nodes)}
        names = {name: k for k, name in enumerate(shape.names)}
        if clause.bindings is None and all(slot.node in nodes for slot in clause.slots):
            slots = tuple([nodes[slot.node] for slot in clause.slots])
            self._made[shape.key] = _Made(clause, slots, tuple([names[e] for e in clause.names]))
            self._automata[shape.exactly] = clause.automaton
