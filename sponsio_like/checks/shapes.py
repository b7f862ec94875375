"""Finds clauses that differ in the names of their tools alone: what holds for one holds for all.

In: a contract, and one of its rules. Out: a key that is equal for such clauses, or None.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.contracts import Contract, Rule, formulas
from sponsio_like.outcome import Redirect


def rule_shape(contract: Contract, rule: Rule) -> Hashable | None:
    """Return the rule with its tools numbered in the order of their names in it.

    None where more than a number matters of a tool: its name under a glob, or in a redirect.
    """
    roots = (rule.formula, *formulas(contract))
    if any(isinstance(each, Redirect) for each in (contract.answer, rule.answer)):
        return None
    numbers: dict[str, str] = {}
    globs: list[str] = []

    def numbered(part: Any) -> f.Match | None:
        if not isinstance(part, f.Match):
            return None
        globs.extend(part.globs)
        names = tuple([numbers.setdefault(each, f"t{len(numbers)}") for each in part.names])
        return replace(part, names=names)

    renamed = tuple([f.rewritten(root, numbered) for root in roots])
    scope = contract.segment
    ends = None if scope is None else (scope.kind, scope.start is None, scope.stop is None)
    key = (renamed, contract.assumption is None, ends, rule.by, rule.authored)
    return None if globs else key
