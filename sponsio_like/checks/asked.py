"""Lists what the contracts of a guard read of the calls of one tool: its arguments, and the caller.

In: a policy, the name of a tool. Out: names, each with a contract that asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sponsio_like.logic.formula as f
from sponsio_like.engine import Clause, Policy
from sponsio_like.events import Call, concerns
from sponsio_like.outcome import Mode
from sponsio_like.values import path_parts

WHO = ("agents", "depth")
"""The inputs that describe the caller."""


def who_is_asked(policy: Policy, tool: str) -> tuple[tuple[str, str, Mode], ...]:
    """Return which of the inputs `agents` and `depth` contracts read of calls of the tool, each
    with such a contract and its mode.
    """
    asking = policy.asking.get(tool)
    if asking is None:
        owners = sorted({policy.owner[i] for i in policy.concerned(tool)})
        needs = [(owner, policy.needs[policy.contracts[owner].name]) for owner in owners]
        asking = tuple((who, owner) for owner, inputs in needs for who in inputs & {*WHO})
        policy.asking[tool] = asking
    found = {(who, policy.modes[owner]): policy.contracts[owner].name for who, owner in asking}
    return tuple((who, name, mode) for (who, mode), name in sorted(found.items()))


def arguments_asked(policy: Policy, tool: str) -> dict[str, str]:
    """Return the arguments of the tool that contracts name, each with the first such contract."""
    found: dict[str, str] = {}
    for i in policy.concerned(tool):
        clause = policy.clauses[i]
        for path in paths_asked(clause, tool):
            for first in path_parts(path)[:1]:
                found.setdefault(first, clause.contract.name)
    return found


def nodes_of(clause: Clause) -> Iterator[f.Node]:
    """Yield the nodes of the formulas that a clause reads: its own, the assumption, the scope."""
    scope, roots = clause.contract.segment, [clause.rule.formula, clause.contract.assumption]
    roots += [scope.start, scope.stop] if scope else []
    return (node for root in roots if root is not None for node in f.postorder(root))


def paths_asked(clause: Clause, tool: str) -> Iterator[str]:
    """Yield the paths of the tool's arguments that a clause reads."""
    for node in nodes_of(clause):
        match node:
            case f.Arg(path) | f.Mark(path):
                yield path
            case f.Custom(_, (str(path), *_)):  # the built-in ones name the argument first
                yield path
            case f.Sum(target, path) if _of(target, tool):
                yield path
        for match in f.matches_of(node):
            conditions = match.conditions if _of((match,), tool) else ()
            yield from (each.path for each in conditions)
    yield from clause.by


def _of(target: f.Target, tool: str) -> bool:
    """True if a call of the tool may match the target."""
    anyhow = tuple(replace(match, conditions=(), agent=None) for match in target)
    return concerns(anyhow)(Call(tool)) is not False
