"""The description of calls to match: tool names, globs, conditions on arguments, the agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Scalar: TypeAlias = bool | int | float | str | None
Op: TypeAlias = Literal[
    "<", "<=", "=", "!=", ">=", ">", "in", "matches", "has", "carries", "under", "outside"
]


@dataclass(frozen=True, slots=True)
class Var:
    """A value variable, `$x`: one value, the same at every place of the variable.

    `regex`: the value is what its group (or the whole expression) finds in a text.
    """

    name: str
    regex: str | None = None


Operand: TypeAlias = "Scalar | tuple[Scalar, ...] | Var"


@dataclass(frozen=True, slots=True)
class Condition:
    """`path op value` on the arguments of a call; with `[]` in the path: of some element.

    `every`: of every element. The path `*` is all arguments together, `@agent` the agent, `@call`
    the tool and all arguments. `has $x`: the value stands in there as a whole token; `carries $x`:
    as a leak would (docs/semantics.md).
    """

    path: str
    op: Op
    value: Operand
    every: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """One kind of call: exact tool names, globs over the full name, conditions, the agent.

    `strict`: a call that lacks the field of a variable may have any value; if False, it does not
    match. None: by the pattern in which the match stands.
    """

    names: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    agent: str | None = None
    strict: bool | None = None


Target: TypeAlias = tuple[Match, ...]
"""Any of these kinds of call."""


def is_glob(name: str) -> bool:
    """True if a name stands for every tool that looks like it; `db[prod]` is a name."""
    return "*" in name or "?" in name
