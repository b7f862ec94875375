"""The search for the dearest decision: random guarantees with many obligations, random sessions.

    python -m tests.fuzz.worst [decisions] [--seed N] [--only FORMULA]

In: a number of decisions, a seed. Out: how much work they and the results of their calls took: in
steps of the search, in residuals that were progressed, and in CPU time, while the collector of
garbage stands still; and the dearest ones, with what reproduces them. Tests read the work alone.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import random
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from sponsio_like import Allowed, Guard, contract
from sponsio_like.errors import ContractError
from sponsio_like.monitor.successors import Successors

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
    """What one decision, or one result, took. `where`: the number of the formula, and of the call.

    `steps`: transitions of the search that were computed; `progressed`: residuals that were;
    `shown`: positions that were read;
    `said`: the answer to a call, or the number of violations that a result revealed.
    """

    said: str
    steps: int
    progressed: int
    shown: int
    seconds: float
    where: tuple[int, int]


@dataclass(slots=True)
class Work:
    """Counts what the search computes, while it is `counted`."""

    steps: int = 0
    progressed: int = 0
    shown: int = 0

    @property
    def now(self) -> tuple[int, int, int]:
        """What has been counted until now."""
        return self.steps, self.progressed, self.shown


@contextlib.contextmanager
def counted() -> Iterator[Work]:
    """Count the work of all searches."""
    work, owner = Work(), cast("Any", Successors)
    after, progressed, show = owner.owed_after, owner._progressed, owner._show

    def step(*args: Any) -> Any:
        work.steps += 1
        return after(*args)

    def progress(*args: Any) -> Any:
        work.progressed += 1
        return progressed(*args)

    def read(*args: Any) -> Any:
        work.shown += 1
        return show(*args)

    owner.owed_after, owner._progressed, owner._show = step, progress, read
    try:
        yield work
    finally:
        owner.owed_after, owner._progressed, owner._show = after, progressed, show


def formula_of(dice: random.Random) -> str:
    """Eight to twelve mixed obligations of four to eight tools, as a text."""
    tools = [f"t{k}" for k in range(dice.randint(4, 8))]
    return " & ".join(_obligation(dice, tools) for _ in range(dice.randint(8, 12)))


def _obligation(dice: random.Random, tools: list[str]) -> str:
    what = dice.choices(("called", "done"), (3, 1), k=4)
    atoms = {name: f"{kind}({dice.choice(tools)})" for name, kind in zip("abcd", what, strict=True)}
    said = dice.choice(WORDS).format(n=dice.choice(BOUNDS), m=dice.choice(BOUNDS), **atoms)
    if dice.random() < 0.1:
        return f"({said} | {_obligation(dice, tools)})"
    return said


def guard_of(text: str) -> Guard | None:
    """The guard of a formula; None if it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is too large for exact verdicts is the point
        try:
            return Guard([contract("x").guarantees({"ltl": text})])
        except ContractError:
            return None


def costs(seed: int, number: int, work: Work) -> Iterator[Cost]:
    """Play one session of the formula of this number, and yield what each event took."""
    dice = random.Random(f"{seed}/{number}")
    text = formula_of(dice)
    guard = guard_of(text)
    if guard is None:
        return
    tools = [*sorted(set(re.findall(r"t\d", text))), "other"]
    session, flying = guard.session(), list[str]()
    for k in range(LENGTH):
        tool, before, began = dice.choice(tools), work.now, time.process_time()
        outcome = session.decide(tool, id=str(k))
        yield _cost(type(outcome).__name__, work, before, began, (number, k))
        flying += [str(k)] if isinstance(outcome, Allowed) else []
        while flying and dice.random() < 0.6:
            settled, error = flying.pop(dice.randrange(len(flying))), dice.random() < 0.2
            before, began = work.now, time.process_time()
            revealed = session.settle(settled, error="no" if error else None)
            yield _cost(str(len(revealed)), work, before, began, (number, k))


def _cost(
    said: str, work: Work, before: tuple[int, int, int], began: float, where: tuple[int, int]
) -> Cost:
    seconds = time.process_time() - began
    steps, progressed, shown = (now - then for now, then in zip(work.now, before, strict=True))
    return Cost(said, steps, progressed, shown, seconds, where)


def decided(seed: int, number: int) -> str:
    """What was said of each event of the session of this number."""
    return " ".join(each.said for each in costs(seed, number, Work()))


def campaign(decisions: int, seed: int) -> list[Cost]:
    """What so many decisions took, and the results between them."""
    found: list[Cost] = []
    with counted() as work:
        for number in itertools.count():
            if len({each.where for each in found}) >= decisions:
                return found
            found += costs(seed, number, work)
    raise AssertionError("numbers do not end")


def quantile(values: list[float], part: float) -> float:
    """The value that this part of them does not exceed."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def main() -> None:
    """Read the command line, search, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("decisions", nargs="?", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of the one formula to play")
    told = parser.parse_args()
    gc.disable()
    if told.only is not None:
        print(formula_of(random.Random(f"{told.seed}/{told.only}")))
        with counted() as work:
            found = list(costs(told.seed, told.only, work))
    else:
        found = campaign(told.decisions, told.seed)
    print(f"{len(found)} events")
    for name in ("steps", "progressed", "shown", "seconds"):
        values = [getattr(each, name) for each in found]
        p50, p99, most = (quantile(values, part) for part in (0.5, 0.99, 1))
        print(f"{name}: p50 {p50:g}, p99 {p99:g}, most {most:g}")
    for each in sorted(found, key=lambda each: -each.seconds)[:SHOWN]:
        print(f"{each.seconds * 1e3:.1f} ms, {each.steps} steps: formula, call {each.where}")


if __name__ == "__main__":
    main()
