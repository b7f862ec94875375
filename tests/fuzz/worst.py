"""The search for the dearest decision: random guarantees with many obligations, random sessions.

    python -m tests.fuzz.worst [decisions] [--seed N] [--only FORMULA]

In: a number of decisions, a seed. Out: how much work they took, in steps of the search and in
comparisons of what is owed, and in CPU time (median, p99, most); and the dearest ones, with what
reproduces them. Tests read the work alone: it is the same on every machine.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sponsio_like import Guard, contract
from sponsio_like.errors import ContractError
from sponsio_like.session.session import Session

LENGTH = 25
"""Decisions of one session."""
SHOWN = 5
"""Most decisions that are shown."""
WORDS = (
    "G({a} -> F[<={n}] {b})",
    "G({a} -> F[<={n}] {b} | G[<={m}] !{c})",
    "G({a} -> F {b})",
    "G({a} -> X F {b})",
    "G({a} -> (F {b} | X {c}))",
    "G({a} -> F ({b} | {c}))",
    "G({a} -> (!{b} U {c}))",
    "G({a} -> (!{b} W {c}))",
    "G({a} -> X (!{b} U ({c} | {d})))",
    "G({a} -> G[<={n}] !{b})",
    "G({a} -> G[<={n}] (!{b} | F[<={m}] {c}))",
    "G({a} -> F[<={n}] ({b} & X F[<={m}] {c}))",
    "G({a} -> F[<={n}] ({b} | {c} & X F {d}))",
    "G({a} & Y O[<={n}] {b} -> F {c})",
    "G({a} -> X {b} | X X {c})",
    "G({a} -> WX (!{a} U {b}))",
    "F ({a} & X F ({b} & X F {c}))",
    "F[<={n}] ({a} & G[<={m}] !{b})",
    "(F {a} -> F[<={n}] {b})",
    "(G !{a} | F ({b} & X {c}))",
    "(!{a} U ({b} & F {c}))",
    "(F {a} & F {b} | G (!{c} | F {d}))",
)
BOUNDS = (1, 2, 3, 5, 8, 13, 20, 30, 50, 100)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one decision took. `where`: the number of the formula, and of the decision."""

    steps: int
    seconds: float
    where: tuple[int, int]


def formula_of(dice: random.Random) -> str:
    """Eight to twelve mixed obligations of four to eight tools, as a text."""
    tools = [f"t{k}" for k in range(dice.randint(4, 8))]
    return " & ".join(_obligation(dice, tools) for _ in range(dice.randint(8, 12)))


def _obligation(dice: random.Random, tools: list[str]) -> str:
    what = dice.choices(("called", "done"), (3, 1), k=4)
    atoms = {
        name: f"{kind}({dice.choice(tools)})" for name, kind in zip("abcd", what, strict=True)
    }
    said = dice.choice(WORDS).format(n=dice.choice(BOUNDS), m=dice.choice(BOUNDS), **atoms)
    if dice.random() < 0.1:
        return f"({said} | {_obligation(dice, tools)})"
    return said
