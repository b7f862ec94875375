"""What a call is matched against: tool names, globs, conditions on arguments, the agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Scalar: TypeAlias = bool | int | float | str | None
Op: TypeAlias = Literal["<", "<=", "=", "!=", ">=", ">", "in", "matches"]


@dataclass(frozen=True, slots=True)
class Condition:
    """`path op value` on the arguments of a call; with `[]` in the path: of some element."""

    path: str
    op: Op
    value: Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """One kind of call: exact tool names, globs over the full name, conditions, the agent."""

    names: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    agent: str | None = None


Target: TypeAlias = tuple[Match, ...]
"""Any of these kinds of call."""


def is_glob(name: str) -> bool:
    """Whether a name stands for every tool that looks like it; `db[prod]` is a name."""
    return "*" in name or "?" in name
