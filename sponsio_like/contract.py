"""What the user asked for: a named contract, however it was written.

In: a builder, a YAML file (`loader.py`), sentences (`phrases.py`). Out: a frozen `Contract`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sponsio_like.formula import Formula
from sponsio_like.outcome import Decision, Mode
from sponsio_like.pattern import Rule


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a trace in which a guarantee binds; every segment is a fresh start (Dwyer 1999)."""

    kind: Literal["after", "before", "between", "after_until"]
    start: Formula | None = None
    stop: Formula | None = None


@dataclass(frozen=True, slots=True)
class Contract:
    """Assume / guarantee, with a strategy and a mode. `where` is `file:line:column` of its name."""

    name: str
    rules: tuple[Rule, ...] = ()
    assumption: Formula | None = None
    segment: Scope | None = None
    answer: Decision | None = None
    mode: Mode | None = None
    where: str = ""
