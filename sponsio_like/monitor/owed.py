"""Sorts the instances that still owe something by what they owe, apart from their bounds.

In: the instances. Out: groups that owe the same until different positions or times, so that a
position that changes nothing for a group is seen once, and not for each instance.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from sponsio_like.monitor.residual import (
    BOUNDED,
    Bounds,
    Literal,
    Residual,
    Shape,
    conjunction,
    literals_of,
    without_bounds,
)

Instance: TypeAlias = frozenset[Residual]

OWING_CAP = 64
"""Most sets of instances of which their groups are remembered."""
LARGE = 1_024
"""Most alternatives, in all, of a set of instances that is remembered among so many."""
FEW = 4
"""Most sets that are remembered beside a larger one."""


class Group(NamedTuple):
    """Instances of one residual each, which are alike but for their bounds.

    `shape`: the residual without them; `literals`: of the residuals, each with the first of all
    bounds; `only`: they have one literal; `strongest`: the residuals that imply all others.
    """

    shape: Shape
    literals: tuple[Literal, ...]
    instances: tuple[Instance, ...]
    strongest: tuple[Residual, ...]

    @property
    def only(self) -> Literal | None:
        """The literal, if there is one alone."""
        return self.literals[0] if len(self.literals) == 1 else None


class Owing(NamedTuple):
    """The groups of instances, the others, and all that they owe together."""

    groups: tuple[Group, ...]
    others: tuple[Instance, ...]
    joint: frozenset[Residual]


NOTHING = Owing((), (), frozenset())
KNOWN: dict[frozenset[Instance], Owing] = {}
"""The groups that were made lately, for all sessions: at most `OWING_CAP`."""


def owing(live: frozenset[Instance], before: frozenset[Instance] = frozenset()) -> Owing:
    """Return the instances by what they owe.

    `before`: what was owed until now, of which most is still owed: only the rest is looked at.
    """
    found = KNOWN.get(live)
    if found is None:
        base = KNOWN.get(before)
        found = (
            _added(NOTHING, live) if base is None else _changed(base, before - live, live - before)
        )
        parts = sum([len(residual) for each in live for residual in each])
        if len(KNOWN) >= (OWING_CAP if parts <= LARGE else FEW):
            KNOWN.clear()
        KNOWN[live] = found
    return found


def _changed(base: Owing, gone: frozenset[Instance], more: frozenset[Instance]) -> Owing:
    """Return what is owed, without some instances, and with others.

    What is left of a group that one of them was in is grouped anew.
    """
    touched = {without_bounds(*each)[0] for each in gone if len(each) == 1}
    groups = tuple([each for each in base.groups if each.shape not in touched])
    others = tuple([each for each in base.others if each not in gone]) if gone else base.others
    left = [each for group in base.groups if group.shape in touched for each in group.instances]
    rest = Owing(groups, others, base.joint)
    return _added(rest, [*more, *(each for each in left if each not in gone)])


def _added(base: Owing, more: Iterable[Instance]) -> Owing:
    """Return what is owed, with more instances."""
    groups, others = {each.shape: each for each in base.groups}, list(base.others)
    alike: dict[Shape, dict[Bounds, Instance]] = {}
    for each in more:
        shape, bounds = without_bounds(*each) if len(each) == 1 else (None, ())
        if shape is None:
            others.append(each)
        else:
            alike.setdefault(shape, {})[bounds] = each
    for shape, found in alike.items():
        groups[shape] = _joined(groups.get(shape), shape, found)
    owed = [residual for each in others for residual in each]
    each_group = groups.values()
    joint = conjunction([*owed, *(one for group in each_group for one in group.strongest)])
    return Owing(tuple(each_group), tuple(others), joint)


def _joined(group: Group | None, shape: Shape, found: dict[Bounds, Instance]) -> Group:
    """Return a group with more instances, by their bounds."""
    new = tuple(found.values())
    bounds, before = list(found), group.instances if group else ()
    strong = [*(group.strongest if group else ()), *(each for one in new for each in one)]
    if len(bounds[0]) == 1:
        strong = [min(strong, key=lambda residual: without_bounds(residual)[1])]
    if group is not None:
        bounds.append(_firsts_of(group))
    strongest = strong if len(strong) == 1 else conjunction(strong)
    return Group(shape, _firsts(new[0], bounds), (*before, *new), tuple(strongest))


def _firsts_of(group: Group) -> Bounds:
    """Return the first bounds of a group, as `without_bounds` returns those of one residual."""
    return tuple([-b if kind in "Gg" else b for kind, _, b in _bounded(group.literals)])


def _bounded(literals: Iterable[Literal]) -> list[Literal]:
    return sorted([literal for literal in literals if literal[0] in BOUNDED])


def _firsts(instance: Instance, each: Iterable[Bounds]) -> tuple[Literal, ...]:
    """Return the literals of an instance, each with the first of the bounds of all instances."""
    literals = literals_of(instance)
    firsts = [
        (kind, node, -max(bounds) if kind in "Gg" else min(bounds))
        for (kind, node, _), bounds in zip(
            _bounded(literals), zip(*each, strict=True), strict=False
        )
    ]
    return (*firsts, *(literal for literal in literals if literal[0] not in BOUNDED))


def waiting_for(live: frozenset[Instance], position: int) -> tuple[list[Instance], list[Instance]]:
    """Return the instances that wait for the call at this position, and all others."""
    found, waiting, others = owing(live), list[Instance](), list[Instance]()
    for group in found.groups:
        (waiting if _waits(group.literals, position) else others).extend(group.instances)
    for each in found.others:
        (waiting if _waits(literals_of(each), position) else others).append(each)
    return waiting, others


def _waits(literals: Iterable[Literal], position: int) -> bool:
    return any(each[0] == "D" and each[1] == position for each in literals)


def is_bounded(live: frozenset[Instance]) -> bool:
    """True if a bound in steps is owed."""
    found = owing(live)
    each = [group.literals for group in found.groups] + [*map(literals_of, found.others)]
    return any(literal[0] in "FG" for literals in each for literal in literals)


def times_due(live: frozenset[Instance]) -> list[float]:
    """Return times at which bounds in seconds run out, the first of all among them."""
    found = owing(live)
    each = [group.literals for group in found.groups] + [*map(literals_of, found.others)]
    return [literal[2] for literals in each for literal in literals if literal[0] in "fg"]


def bounds_after(live: frozenset[Instance], position: int) -> list[int]:
    """Return bounds in steps that end after this position, the first of all among them."""
    found, few = owing(live), list[Iterable[Literal]]()
    for group in found.groups:
        firsts = [literal for literal in group.literals if literal[0] in "FG"]
        passed = any(literal[2] <= position for literal in firsts)
        few += map(literals_of, group.instances) if passed else [firsts]
    few += map(literals_of, found.others)
    each = (literal for literals in few for literal in literals)
    return [lit[2] for lit in each if lit[0] in "FG" and lit[2] > position]
