"""Sorts the instances that still owe something by what they owe, apart from their bounds.

In: the instances. Out: groups that owe the same until different positions or times, so that a
position that changes nothing for a group is seen once, and not for each instance.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from sponsio_like.monitor.residual import (
    BOUNDED,
    Bounds,
    Literal,
    Residual,
    conjunction,
    literals_of,
    without_bounds,
)

Instance: TypeAlias = frozenset[Residual]

OWING_CAP = 64
"""Most sets of instances of which their groups are remembered."""


class Group(NamedTuple):
    """Instances of one residual each, which are alike but for their bounds.

    `literals`: of their residuals, with the first of all bounds; `only`: they have one literal;
    `strongest`: the residuals that imply all others.
    """

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


@functools.lru_cache(OWING_CAP)
def owing(live: frozenset[Instance]) -> Owing:
    """Return the instances by what they owe."""
    alike: dict[object, dict[Bounds, Instance]] = {}
    others: list[Instance] = []
    for each in live:
        shape, bounds = without_bounds(*each) if len(each) == 1 else (None, ())
        if shape is None:
            others.append(each)
        else:
            alike.setdefault(shape, {})[bounds] = each
    groups = tuple([_group(found) for found in alike.values()])
    owed = [residual for each in others for residual in each]
    joint = conjunction([*owed, *(each for group in groups for each in group.strongest)])
    return Owing(groups, tuple(others), joint)


def _group(found: dict[Bounds, Instance]) -> Group:
    instances = tuple(found.values())
    if len(next(iter(found))) == 1:
        strongest = frozenset(found[min(found)])
    else:
        strongest = conjunction([residual for each in instances for residual in each])
    return Group(_firsts(instances[0], found), instances, tuple(strongest))


def _firsts(instance: Instance, each: Iterable[Bounds]) -> tuple[Literal, ...]:
    """Return the literals of an instance, each with the first of the bounds of all instances."""
    literals = literals_of(instance)
    bounded = sorted([literal for literal in literals if literal[0] in BOUNDED])
    firsts = [
        (kind, node, -max(bounds) if kind in "Gg" else min(bounds))
        for (kind, node, _), bounds in zip(bounded, zip(*each, strict=True), strict=False)
    ]
    return (*firsts, *(literal for literal in literals if literal[0] not in BOUNDED))


def is_bounded(live: frozenset[Instance]) -> bool:
    """True if a bound in steps is owed."""
    found = owing(live)
    each = [group.literals for group in found.groups] + [*map(literals_of, found.others)]
    return any(literal[0] in "FG" for literals in each for literal in literals)


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
