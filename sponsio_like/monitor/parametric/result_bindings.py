"""Binds variables by a call and its own result together: the call some of them, the result the
last.

In: an atom like `done(get_order, id = $o)` beside `output.item = $i`. Out: what the call binds,
kept until its result is there; then the keys that both bind together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.events import OPEN, Context, Event, Truth
from sponsio_like.monitor.parametric.atoms import CallMatcher
from sponsio_like.monitor.parametric.lookup import BINDING, UNBOUND
from sponsio_like.monitor.parametric.variables import Key, VariableLayout, vars_in
from sponsio_like.monitor.program import Program, operands

Part: TypeAlias = tuple[tuple[int, Any], ...]
"""Some places of a key, each with its value."""


class PartialBinding(NamedTuple):
    """The values that a call has bound: `parts` for certain, `doubted` perhaps.

    `unclear`: it may have bound any value.
    """

    parts: tuple[Part, ...]
    doubted: tuple[Part, ...] = ()
    unclear: bool = False

    @property
    def all(self) -> tuple[Part, ...]:
        """Everything that the call may have bound."""
        return (*self.parts, *self.doubted)


NOTHING = PartialBinding(())


@dataclass(frozen=True, slots=True)
class PartialCall:
    """The atom `done` or `failed` of calls whose arguments carry the values of some variables."""

    calls: CallMatcher

    def see(self, event: Event, context: Context) -> PartialBinding:
        certain: dict[Part, None] = {}
        doubted: dict[Part, None] = {}
        unclear = False
        for kind, base, looks in self.calls.see(event, context):
            pairs = list(zip(kind.tests, looks, strict=True))
            if not kind.strict and not all(found.there for _, found in pairs):
                continue
            unclear |= any(found.unclear or not found.there for _, found in pairs)
            choices: dict[int, set[Any]] = {}
            for test, found in pairs:
                mine = set(found.values)
                choices[test.place] = choices.get(test.place, mine) & mine
            each = ([(place, value) for value in values] for place, values in choices.items())
            (doubted if base is None else certain).update(dict.fromkeys(itertools.product(*each)))
        return PartialBinding(tuple(certain), tuple(doubted), unclear)

    def holds(self, seen: PartialBinding, key: Key) -> Truth:
        if seen.unclear or _fits_some(seen.all, key):
            return OPEN
        return OPEN if seen.all and all(value is UNBOUND for value in key) else False

    def binds(self, _: PartialBinding) -> tuple[Key, ...]:
        return ()


def _fits_some(parts: Iterable[Part], key: Key) -> bool:
    return any(all(key[place] == value for place, value in part) for part in parts)


def settled_part(given: PartialBinding, key: Key, *, vague: bool, default: bool) -> bool:
    """True if a call that has settled with the atom's status carries the values of this key.

    `vague`: its result cannot be read; for values that nothing has bound, the answer is then
    `default`.
    """
    if _fits_some(given.parts, key):
        return True
    if not default:
        return False
    nobody = vague and all(value is UNBOUND for value in key)
    return given.unclear or _fits_some(given.doubted, key) or (nobody and bool(given.all))


def bound_keys(
    given: PartialBinding, width: int, told: Mapping[int, Iterable[Any]]
) -> Iterator[Key]:
    """Yield the keys that a call and its result bind together. `told`: the result's values, by
    place.
    """
    for part in given.all:
        known = dict(part)
        each = [(known[p],) if p in known else tuple(told.get(p, ())) for p in range(width)]
        yield from itertools.product(*each)


# --- which atoms are tied -------------------------------------------------------------------------


def places_of(node: f.Node, names: VariableLayout) -> list[set[str]]:
    """Return the variables that an atom binds: one set for each way in which it holds."""
    match node:
        case f.Happens(what, target):
            each = [vars_in(f.Happens(what, (match,))) for match in target]
        case f.OutputIs() | f.TextIs():
            each = [vars_in(node)]
        case _:
            return []
    bound = ({var.name for op, var in found if op in BINDING} for found in each)
    return [one & set(names.places) for one in bound]


def is_part(node: f.Node, names: VariableLayout) -> bool:
    """True if an atom of calls waits for the result, and the call binds only some of the variables.

    A condition that only compares (`to != $x`) has an answer for all values, and so needs no
    result.
    """
    if not isinstance(node, f.Happens) or node.what == "called":
        return False
    found = vars_in(node)
    conditions = [each for match in node.target for each in match.conditions]
    simple = all(op in BINDING for op, _ in found) and not any(
        each.every for each in conditions if isinstance(each.value, f.Var)
    )
    return simple and any(0 < len(one) < len(names.places) for one in places_of(node, names))


def is_tied(program: Program, roots: Sequence[int], slot: int, names: VariableLayout) -> bool:
    """True if an atom that binds only some variables always stands beside one that binds the
    others.

    Both are about one call: the call that has settled, and its own result.
    """
    lits = {k for k, op in enumerate(program.nodes) if op[0] == "lit" and op[1] == slot}
    told = isinstance(program.slots[slot].node, f.Happens | f.OutputIs)
    if not told or not lits.isdisjoint(roots):
        return False
    parents = [op for op in program.nodes if lits.intersection(operands(op))]
    return all(ties(program, op, names) for op in parents)


def ties(program: Program, op: tuple[Any, ...], names: VariableLayout) -> bool:
    """True if `op` joins one call and its result, and both together bind all variables."""
    if op[0] not in ("and", "or"):
        return False
    lits = [program.nodes[k] for k in op[1:] if program.nodes[k][0] == "lit"]
    nodes = [program.slots[slot].node for _, slot, no in lits if no is (op[0] == "or")]
    calls = [node for node in nodes if is_part(node, names)]
    if len(calls) != 1:
        return False
    mine = places_of(calls[0], names)
    told = [one for node in nodes if isinstance(node, f.OutputIs) for one in places_of(node, names)]
    left = set(names.places) - mine[0]
    return all(one == mine[0] for one in mine) and len(left) == 1 and left in told
