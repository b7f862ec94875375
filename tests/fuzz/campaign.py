"""Hold the engine against the oracle, on random guarantees and sessions: `make fuzz N=1000000`.

    python -m tests.fuzz [pairs] [--seed N] [-j PROCESSES] [--only FORMULA]

In: a number of (formula, trace) pairs, a seed. Out: a histogram of what they were, and every
disagreement, made as small as it gets, with what reproduces it. Exit status 1 if there is one, or
if the pairs were not as varied as `WANTED` says. The same seed makes the same formulas and traces,
on any day and any number of processes.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import multiprocessing
import random
import re
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from math import inf

import sponsio_like.logic.formula as f
from sponsio_like.errors import ContractError
from tests.fuzz.fuzz_cases import Formulas
from tests.fuzz.fuzz_judge import Judged, TooMuch
from tests.fuzz.fuzz_tally import LATE, LENGTH, Tally, describe, describe_trace, lines, missed
from tests.fuzz.fuzz_traces import Event, Traces
from tests.fuzz.shrinking import shrunk, written

TRACES = 80
"""Most traces for each formula."""
TROUBLE = 30_000
"""Most trouble that the oracle may take with one formula; then the next one has its turn."""
CHUNK = 10
"""Formulas for each piece of work."""
MOST = 5
"""After so many disagreements the campaign ends."""


# --- one formula ----------------------------------------------------------------------------------


def work(seed: int, first: int, count: int, trouble: int = TROUBLE, most: int = MOST) -> Tally:
    """Compare on some formulas, by their numbers."""
    tally = Tally()
    for number in range(first, first + count):
        if len(tally.failures) < most:
            one_formula(tally, seed, number, trouble)
    return tally


def one_formula(tally: Tally, seed: int, number: int, trouble: int) -> None:
    """Compare on one formula: its verdict before any event, and all its traces."""
    dice = random.Random(f"{seed}/{number}")
    formula = Formulas(dice).guarantee()
    where = f"python -m tests.fuzz --seed {seed} --only {number}"
    try:
        judged = Judged(formula, trouble)
        engine, judge = judged.start()
    except TooMuch:
        tally.add("formulas", "given up: the oracle needs too long")
        return
    except ContractError as error:
        tally.add("formulas", f"refused: {re.sub('`.*`', '`..`', error.problems[0].what)}")
        return
    tally.add("start", judge)
    if engine != judge and judged.late([engine], [judge]):
        tally.add("formulas", LATE)
    elif engine != judge:
        fail(tally, where, formula, [])
    elif judged.watched.refused:
        tally.add("formulas", "refused by both: tautology or contradiction")
    else:
        describe(tally, formula)
        with contextlib.suppress(TooMuch):
            traces(tally, judged, dice, where)


def traces(tally: Tally, judged: Judged, dice: random.Random, where: str) -> None:
    """Compare on the traces of one formula."""
    sessions = Traces(dice, judged.formula)
    for number in range(TRACES):
        length = dice.randint(2, 7) if dice.random() < 0.985 else dice.randint(12, 20)
        events = sessions.trace(length)
        said, expected = judged.both(events)
        tally.add("pairs", "compared")
        if said != expected and judged.late(said.verdicts, expected.verdicts):
            tally.add("trace", LATE)
            continue
        if said != expected:
            fail(tally, where, judged.formula, events)
            return
        describe_trace(tally, events, said)
        if number == 0 and judged.is_exact:
            answer = judged.written_out(events, said.verdicts[-1], LENGTH)
            tally.add("written out", f"{answer}, {said.verdicts[-1]}")
            if answer == "wrong":
                fail(tally, where, judged.formula, events)


def fail(tally: Tally, where: str, formula: f.Formula, events: Sequence[Event]) -> None:
    """Count a disagreement, made as small as it gets."""
    tally.add("pairs", "disagree")

    def fails(smaller: f.Formula, shorter: Sequence[Event]) -> bool:
        try:
            return Judged(smaller, 10 * TROUBLE).differ(shorter)
        except (TooMuch, ContractError, ValueError):
            return False

    case = (formula, events)
    if fails(*case):
        case = shrunk(case, fails)
    said = Judged(case[0], inf)
    both = said.start() if said.watched.refused else said.both(case[1])
    tally.failures.append(
        f"{where}\n{written(case)}\n    engine: {both[0]}\n    oracle: {both[1]}\n"
    )


# --- the campaign ---------------------------------------------------------------------------------


def campaign(pairs: int, seed: int = 1, jobs: int = 1, most: int = MOST) -> Tally:
    """Compare on at least so many pairs; the same ones however many processes there are.

    Interrupted, it has compared fewer.
    """
    total = Tally()
    with contextlib.suppress(KeyboardInterrupt):
        for tally in pieces(seed, jobs, most):
            total.merge(tally)
            progress(total, pairs)
            if total.pairs >= pairs or len(total.failures) >= most:
                break
    return total


def pieces(seed: int, jobs: int, most: int) -> Iterator[Tally]:
    """One piece of work after the other, without end, in this process or in several."""
    starts = itertools.count(step=CHUNK)
    if jobs == 1:
        yield from (work(seed, first, CHUNK, TROUBLE, most) for first in starts)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        waiting: deque[Future[Tally]] = deque()
        try:
            for first in starts:
                waiting.append(pool.submit(work, seed, first, CHUNK, TROUBLE, most))
                if len(waiting) > 2 * jobs:
                    yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def progress(tally: Tally, pairs: int) -> None:
    """How far it is, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{tally.pairs:,} of {pairs:,} pairs", end="", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("pairs", nargs="?", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one formula")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--most", type=int, default=MOST, help="disagreements, then it ends")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    if options.only is not None:
        tally = work(options.seed, options.only, 1, 10 * TROUBLE)
    else:
        tally = campaign(options.pairs, options.seed, options.jobs, options.most)
    print("\n".join(lines(tally)))
    print("\n".join(["", *tally.failures]))
    wanting = list(missed(tally))
    print("\n".join(wanting))
    disagree = tally.counts["pairs", "disagree"]
    print(f"seed {options.seed}: {tally.pairs:,} pairs, {disagree} disagree, ", end="")
    print(f"{time.monotonic() - began:.0f} s")
    return 1 if disagree or wanting else 0


if __name__ == "__main__":
    sys.exit(main())
