"""Steps that are remembered held against steps that are computed: the same session three times.

    python -m tests.fuzz.automata [formulas] [--seed N] [--only N]

In: random guarantees, assumptions, scopes and sessions, with many calls in flight and their results
late and in any order. Out: every difference between a guard that remembers steps, one that
remembers three, and one that computes each, with positions in the place of ranks. Some sessions are
restored half-way, also from the snapshot of the one that computes.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from dataclasses import replace
from typing import Any

from sponsio_like.contracts.definition import Contract, Scope
from sponsio_like.errors import ContractError
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Mode
from sponsio_like.session.session import Session
from tests.fuzz.fuzz_cases import Formulas
from tests.fuzz.fuzz_traces import Event, Traces, late
from tests.fuzz.twins import contracts, happen

FEW = 3
KINDS = ("after", "before", "between", "after_until")


class Three:
    """Three sessions of equal guards: the first remembers steps, the second few, the third none."""

    def __init__(self, made: list[Contract], mode: Mode) -> None:
        self.now = 0.0
        self.guards = [Guard(made, mode=mode) for _ in range(3)]
        for clause in self.guards[1].policy.clauses:
            if clause.automaton is not None:
                clause.automaton.cap = FEW
        for clause in self.guards[2].policy.clauses:
            clause.automaton = None
        self.sessions: list[Session] = []

    def difference(self, events: list[Event], dice: random.Random, tally: Counter[str]) -> str:
        """The first difference that these events make; nothing if there is none."""
        self.sessions = [each.session(clock=lambda: self.now) for each in self.guards]
        stop = dice.randrange(2 * len(events))
        for number, event in enumerate(events):
            self.now = event["time"]
            said = [(happen(each, event), each.verdicts()) for each in self.sessions]
            if not said[0] == said[1] == said[2]:
                return "\n      ".join([f"event {number}, {event}:", *map(str, said)])
            if number == stop:
                self.restore(dice, tally)
            flying = len(self.sessions[0]._inner.flights)
            tally["flying"] = max(tally["flying"], flying)
        ends = [(each.pending(), each.finish()) for each in self.sessions]
        same = ends[0] == ends[1] == ends[2]
        return "" if same else f"at the end: {ends}"

    def restore(self, dice: random.Random, tally: Counter[str]) -> None:
        """Go on from snapshots; sometimes all from that of the session that computes its steps."""
        tally["restored"] += 1
        made = [json.loads(json.dumps(each.snapshot())) for each in self.sessions]
        if dice.random() < 0.5:
            made = [made[2]] * 3
        self.sessions = [
            guard.restore(each, clock=lambda: self.now)
            for guard, each in zip(self.guards, made, strict=True)
        ]


def scoped(made: list[Contract], dice: random.Random) -> list[Contract]:
    """The contracts, of which some have a scope."""
    out = []
    for contract in made:
        makes = Formulas(dice)
        if dice.random() < 0.3 and not contract.rules[0].by:
            kind: Any = dice.choice(KINDS)
            ends = [makes.formula(makes.words(), 2, past=True) for _ in range(2)]
            start, stop = (None, ends[0]) if kind == "before" else (ends[0], ends[1])
            scope = Scope(kind, start, None if kind == "after" else stop)
            out.append(replace(contract, segment=scope))
        else:
            out.append(contract)
    return out


def compared(seed: int, number: int, tally: Counter[str]) -> str:
    """Some contracts and sessions, by number; the first difference."""
    dice = random.Random(f"{seed}/{number}")
    mode: Mode = "observe" if dice.random() < 0.5 else "enforce"
    try:
        made = scoped(contracts(dice), dice)
        three = Three(made, mode)
    except ContractError:
        tally["refused"] += 1
        return ""
    tally["guards"] += 1
    tally["clauses"] += len(three.guards[0].policy.clauses)
    tally["finite"] += sum(each.automaton is not None for each in three.guards[0].policy.clauses)
    for _ in range(6):
        sessions = Traces(dice, made[0].rules[0].formula)
        events = late(sessions.trace(dice.randint(4, 20)), dice)
        found = three.difference(events, dice, tally)
        tally["traces"] += 1
        if found:
            shown = "\n    ".join(map(str, made))
            return f"--seed {seed} --only {number}\n    {shown}\n    {found}"
    return ""


def main() -> int:
    """The campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formulas", type=int, nargs="?", default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    asked = parser.parse_args()
    tally: Counter[str] = Counter()
    numbers = range(asked.formulas) if asked.only is None else [asked.only]
    found = [each for number in numbers if (each := compared(asked.seed, number, tally))]
    print(*found[:5], dict(tally), sep="\n")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
