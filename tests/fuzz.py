"""Hold the engine against the oracle, on random guarantees and sessions: `make fuzz N=1000000`.

    python -m tests.fuzz [pairs] [--seed N] [-j PROCESSES] [--only FORMULA]

In: a number of (formula, trace) pairs, a seed. Out: a histogram of what they were, and every
disagreement, made as small as it gets, with what reproduces it. Exit status 1 if there is one, or
if the pairs were not as varied as `WANTED` says. The same seed makes the same pairs, on any number
of processes.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import multiprocessing
import random
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from math import inf

import sponsio_like.formula as f
from sponsio_like.errors import ContractError
from tests.fuzz_cases import FUTURE, PAST, TERMS, Event, Formulas, Traces, mixed
from tests.fuzz_judge import Judged, Said, TooMuch
from tests.shrinking import shrunk, written

TRACES = 60
"""Most traces for each formula."""
TROUBLE = 20_000
"""Most trouble that the oracle may take with one formula; then the next one has its turn."""
CHUNK = 10
"""Formulas for each piece of work."""
LENGTH = 2
"""So long are the continuations that are written out."""
SHOWN = 5
"""After so many disagreements the campaign ends."""
MIXED = "past and future, the outermost G set aside"
WANTED: dict[tuple[str, str], float] = {
    ("start", "inconclusive"): 0.8,  # neither tautology nor contradiction
    ("trait", MIXED): 0.3,
    ("trait", "bounds in steps"): 0.15,
    ("trait", "bounds in seconds"): 0.08,
    ("trait", "counts, sums, distances"): 0.15,
    ("trace", "with a failed call"): 0.3,
    ("trace", "with a late result"): 0.05,
    ("trace", "with a call in flight at the end"): 0.1,
    ("trace", "with messages or plain steps"): 0.05,
    ("trace", "with facts"): 0.01,
    ("trace", "with time that passes unevenly"): 0.5,
    ("verdict", "violated"): 0.2,
    ("verdict", "inconclusive"): 0.2,
    ("verdict", "satisfied"): 0.02,
}
"""The shares that a campaign must have at least: of formulas, or of traces."""
ENOUGH = 2_000
"""So many pairs have the wanted shares."""


@dataclass
class Tally:
    """What was tried, and what came of it."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, kind: str, *names: str) -> None:
        """Count one thing of each name."""
        self.counts.update((kind, name) for name in names)

    def merge(self, other: Tally) -> None:
        """Take over what another one has counted."""
        self.counts.update(other.counts)
        self.failures += other.failures

    def of(self, kind: str) -> dict[str, int]:
        """All counts of one kind, the greatest first."""
        found = {name: n for (each, name), n in self.counts.items() if each == kind}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    @property
    def pairs(self) -> int:
        """How many pairs were compared."""
        return self.counts["pairs", "compared"]


# --- one formula ----------------------------------------------------------------------------------


def work(seed: int, first: int, count: int) -> Tally:
    """Compare on some formulas, by their numbers."""
    tally = Tally()
    for number in range(first, first + count):
        one_formula(tally, seed, number)
    return tally


def one_formula(tally: Tally, seed: int, number: int) -> None:
    """Compare on one formula: its verdict before any event, and all its traces."""
    dice = random.Random(f"{seed}/{number}")
    formula = Formulas(dice).guarantee()
    where = f"python -m tests.fuzz --seed {seed} --only {number}"
    try:
        judged = Judged(formula, TROUBLE)
        engine, judge = judged.start()
    except TooMuch:
        tally.add("formulas", "given up: the oracle needs too long")
        return
    except ContractError as error:
        tally.add("formulas", f"refused: {error.problems[0].what}")
        return
    tally.add("start", judge)
    if engine != judge:
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
        length = dice.randint(2, 8) if dice.random() < 0.97 else dice.randint(12, 20)
        events = sessions.trace(length)
        said, expected = judged.both(events)
        tally.add("pairs", "compared")
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
    if len(tally.failures) < SHOWN and fails(*case):
        case = shrunk(case, fails)
    said = Judged(case[0], inf)
    both = said.start() if said.watched.refused else said.both(case[1])
    tally.failures.append(
        f"{where}\n{written(case)}\n    engine: {both[0]}\n    oracle: {both[1]}\n"
    )


# --- what was tried -------------------------------------------------------------------------------


def describe(tally: Tally, formula: f.Formula) -> None:
    """Count what a formula is made of."""
    nodes = list(f.postorder(formula))
    tally.add("formulas", "compared")
    tally.add("operator", *{operator(node) for node in nodes})
    tally.add("depth", f"{depth(formula):2}")
    past, ahead = (any(isinstance(n, kinds) for n in nodes) for kinds in (PAST, FUTURE))
    seconds = has_bound(nodes, f.Seconds) or any(isinstance(node, f.Age) for node in nodes)
    traits = {
        "past and future": past and ahead,
        MIXED: mixed(formula),
        "bounds in steps": has_bound(nodes, f.Steps),
        "bounds in seconds": seconds,
        "counts, sums, distances": any(isinstance(node, TERMS) for node in nodes),
    }
    tally.add("trait", *(name for name, has in traits.items() if has))


def operator(node: f.Node) -> str:
    """What a node is called in the histogram."""
    name = node.what if isinstance(node, f.Happens) else type(node).__name__
    conditioned = isinstance(node, f.Happens) and any(m.conditions or m.agent for m in node.target)
    bound = getattr(node, "bound", None)
    return f"{name}{' if' if conditioned else ''}{f' {type(bound).__name__}' if bound else ''}"


def has_bound(nodes: Sequence[f.Node], kind: type) -> bool:
    """Whether one of them has a bound of this kind."""
    return any(isinstance(getattr(node, "bound", None), kind) for node in nodes)


def depth(node: f.Node) -> int:
    """How deep a formula is nested."""
    return 1 + max((depth(below) for below in f.children(node)), default=0)


def describe_trace(tally: Tally, events: Sequence[Event], said: Said) -> None:
    """Count what was in a trace, and what came of it."""
    reports = sum(map(len, said.reports))
    kinds = {event["type"] for event in events}
    told = [event for event in events if event["type"] != "fact"]
    settled = [event["id"] for event in events if event["type"] == "result"]
    calls = [i for i, event in enumerate(events) if event["type"] == "call"]
    late = [i for i in calls if events[i]["id"] in settled and not follows(events, i)]
    traits = {
        "with a failed call": any(event.get("status") == "error" for event in events),
        "with a late result": bool(late),
        "with a call in flight at the end": any(events[i]["id"] not in settled for i in calls),
        "with messages or plain steps": bool({"message", "step"} & kinds),
        "with facts": "fact" in kinds,
        "with time that passes unevenly": len({event["time"] for event in events}) > 2,
        "with a result that reveals": any(
            found and event["type"] == "result"
            for event, found in zip(told, said.reports, strict=True)
        ),
        "unfulfilled at the end": said.unfulfilled,
    }
    tally.add("trace", *(name for name, has in traits.items() if has))
    tally.add("verdict", said.verdicts[-1])
    tally.add("reports", f"{reports:2}" if reports < 10 else "10+")
    tally.add("events", f"{len(events):2}")


def follows(events: Sequence[Event], i: int) -> bool:
    """Whether the next event is the result of the call."""
    following = events[i + 1] if i + 1 < len(events) else {}
    return following.get("type") == "result" and following["id"] == events[i]["id"]


# --- the campaign ---------------------------------------------------------------------------------


def campaign(pairs: int, seed: int = 1, processes: int = 1) -> Tally:
    """Compare on at least so many pairs; the same ones however many processes there are."""
    total = Tally()
    for tally in pieces(seed, processes):
        total.merge(tally)
        progress(total, pairs)
        if total.pairs >= pairs or len(total.failures) >= SHOWN:
            break
    return total


def pieces(seed: int, processes: int) -> Iterator[Tally]:
    """One piece of work after the other, without end, in this process or in several."""
    starts = itertools.count(step=CHUNK)
    if processes == 1:
        yield from (work(seed, first, CHUNK) for first in starts)
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        waiting: deque[Future[Tally]] = deque()
        try:
            for first in starts:
                waiting.append(pool.submit(work, seed, first, CHUNK))
                if len(waiting) > 2 * processes:
                    yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def missed(tally: Tally) -> Iterator[str]:
    """The wanted shares that were not reached."""
    if tally.pairs < ENOUGH:
        return
    wholes = {
        "start": sum(tally.of("start").values()),
        "trait": tally.of("formulas").get("compared", 0),
    }
    for (kind, name), wanted in WANTED.items():
        found = tally.counts[kind, name] / wholes.get(kind, tally.pairs)
        if found < wanted:
            yield f"only {found:.1%} {name}; wanted: {wanted:.0%}"


def progress(tally: Tally, pairs: int) -> None:
    """How far it is, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{tally.pairs:,} of {pairs:,} pairs", end="", file=sys.stderr, flush=True)


def lines(tally: Tally) -> Iterator[str]:
    """The histogram, for people."""
    formulas, pairs = tally.of("formulas").get("compared", 0), tally.pairs
    started = sum(tally.of("start").values())
    yield f"{pairs:,} pairs of {formulas:,} formulas, {tally.counts['pairs', 'disagree']} disagree"
    by_hand = f"verdicts held against all continuations of {LENGTH} positions, written out"
    sections = [
        ("formulas, before any event", "start", started),
        ("formulas", "formulas", sum(tally.of("formulas").values())),
        ("formulas with", "trait", formulas),
        ("formulas with the operator", "operator", formulas),
        ("formulas of depth", "depth", formulas),
        ("traces", "trace", pairs),
        ("traces with the final verdict", "verdict", pairs),
        ("traces with so many reports", "reports", pairs),
        ("traces with so many events", "events", pairs),
        (by_hand, "written out", sum(tally.of("written out").values())),
    ]
    for title, kind, whole in sections:
        found = tally.of(kind)
        names = sorted(found) if kind in ("depth", "reports", "events") else list(found)
        yield f"\n{title}"
        yield from (f"  {found[name] / whole:7.1%} {found[name]:9,}  {name}" for name in names)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("pairs", nargs="?", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one formula")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes at a time")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    if options.only is not None:
        tally = work(options.seed, options.only, 1)
    else:
        tally = campaign(options.pairs, options.seed, options.jobs)
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
