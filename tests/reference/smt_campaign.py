"""Hold the engine against z3, on random statements with value variables and random traces.

    python -m tests.reference.smt_campaign [pairs] [--seed N] [--only PAIR] [--brute]

In: a number of pairs, a seed. Out: a histogram of what they were, and every disagreement, made as
small as it gets, with what makes it again. Exit status 1 if there is one, or if the pairs were not
as varied as `WANTED` says. With `--brute` z3 is held against `tests/reference/smt_brute.py`
instead.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sponsio_like.errors import ContractError
from tests.reference.smt import judged
from tests.reference.smt_brute import failing
from tests.reference.smt_cases import Cases
from tests.reference.smt_compared import Pair, compared, differences, shrunk
from tests.reference.smt_engine import engine_witnesses
from tests.reference.smt_reading import statement
from tests.reference.smt_values import FRESH, at

MOST = 5
"""After so many disagreements the campaign ends."""
WANTED = {
    "violated": 0.4,
    "kept": 0.35,
    "several events": 0.2,
    "several values": 0.15,
    "two variables": 0.07,
    "texts": 0.2,
    "messages": 0.03,
}
"""The shares of all pairs that a campaign must have at least."""
ENOUGH = 300
"""So many pairs have the wanted shares."""


@dataclass
class Tally:
    """What was tried, and what came of it."""

    pairs: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    solving: float = 0.0

    def missed(self) -> list[str]:
        """The wanted shares that were not reached."""
        if self.pairs < ENOUGH:
            return []
        shares = {name: self.counts[name] / self.pairs for name in WANTED}
        return [
            f"{name}: {shares[name]:.0%}, wanted {wanted:.0%}"
            for name, wanted in WANTED.items()
            if shares[name] < wanted
        ]


def pair_of(seed: int, number: int) -> Pair:
    """One pair, by its number."""
    return Cases(random.Random(f"{seed}/{number}")).pair()


def campaign(pairs: int, seed: int = 1, *, brute: bool = False, most: int = MOST) -> Tally:
    """Compare on so many pairs. Interrupted, it has compared fewer."""
    tally = Tally()
    with contextlib.suppress(KeyboardInterrupt):
        for number in range(10 * pairs):
            if tally.pairs >= pairs or len(tally.failures) >= most:
                break
            one(tally, pair_of(seed, number), f"--seed {seed} --only {number}", brute=brute)
            if sys.stderr.isatty() and number % 100 == 0:
                print(f"\r{tally.pairs:,} of {pairs:,} pairs", end="", file=sys.stderr, flush=True)
    return tally


def one(tally: Tally, pair: Pair, where: str, *, brute: bool) -> None:
    """Compare on one pair."""
    if not brute and is_open(pair):
        tally.counts["left out: several variables, one of which cannot be read, or is refused"] += 1
        return
    try:
        wrong = _by_brute(tally, pair) if brute else _by_engine(tally, pair)
    except ContractError as error:
        tally.counts[f"refused: {re.sub('`.*?`', '`..`', error.problems[0].what)}"] += 1
        return
    tally.pairs += 1
    if wrong:
        smaller = pair if brute else shrunk(pair, _disagrees)
        told = wrong if brute else differences(*smaller)
        mapping, events = smaller
        lines = [f"python -m tests.reference.smt_campaign {where}", f"  {json.dumps(mapping)}"]
        lines += [f"    {json.dumps(event)}" for event in events]
        tally.failures.append("\n".join([*lines, *(f"  {each}" for each in told), ""]))


def is_open(pair: Pair) -> bool:
    """Whether the engine takes every value for meant, and the solver tells some (S-VALUE-04)."""
    mapping, events = pair
    read = statement(mapping)
    if len(read.variables()) < 2:
        return False
    for part in read.patterns():
        for event in filter(part.names_it, events):
            for test in part.tests:
                found = at(event, test.place)
                refused = part.refuses(test, event) and found.misses(test.place)
                if test.op == "binds" and (found.blind or refused):
                    return True
    return False


def _disagrees(pair: Pair) -> bool:
    """Whether the two still disagree; not on what one of them refuses."""
    try:
        return not is_open(pair) and bool(differences(*pair))
    except (ContractError, KeyError, ValueError):
        return False


def _by_engine(tally: Tally, pair: Pair) -> list[str]:
    said = engine_witnesses(*pair)
    started = time.process_time()
    verdict = judged(*pair)
    tally.solving += time.process_time() - started
    _describe(tally, pair, verdict.witnesses)
    return list(compared(statement(pair[0]), pair[1], said, verdict))


def _by_brute(tally: Tally, pair: Pair) -> list[str]:
    started = time.process_time()
    verdict = judged(*pair)
    tally.solving += time.process_time() - started
    _describe(tally, pair, verdict.witnesses)
    expected = failing(*pair)
    if pair[0].get("pattern") == "until":
        assert judged(*pair, by="trigger").violated == verdict.violated
    if verdict.witnesses == expected and verdict.violated == bool(expected):
        return []
    return [
        f"z3 only: {verdict.witnesses - expected}",
        f"brute only: {expected - verdict.witnesses}",
    ]


def _describe(
    tally: Tally, pair: Pair, witnesses: frozenset[tuple[int, tuple[object, ...]]]
) -> None:
    """Count what the pair was."""
    read = statement(pair[0])
    tests = [test for part in read.patterns() for test in part.tests]
    state = "violated" if witnesses else "kept"
    values = {value for _, value in witnesses if FRESH not in value}
    traits = {
        "several events": len({number for number, _ in witnesses}) > 1,
        "several values": len(values) > 1,
        "two variables": len(read.variables()) > 1,
        "texts": any(test.place.how != "plain" for test in tests),
        "messages": any(part.kind == "message" for part in read.patterns()),
        "no variables": not read.variables(),
        "spared calls (S-LOAD-16)": "spared" in read.parts,
    }
    told = [name for name, so in traits.items() if so]
    tally.counts.update([state, f"{read.form}, {state}", *told])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.reference.smt_campaign", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("pairs", nargs="?", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one pair")
    parser.add_argument("--brute", action="store_true", help="z3 against the definition")
    parser.add_argument("--most", type=int, default=MOST, help="disagreements, then it ends")
    options = parser.parse_args(arguments)
    started = time.process_time()
    if options.only is None:
        tally = campaign(options.pairs, options.seed, brute=options.brute, most=options.most)
    else:
        tally = Tally()
        one(tally, pair_of(options.seed, options.only), "", brute=options.brute)
    for name, count in sorted(tally.counts.items()):
        print(f"{count:>8,}  {name}")
    print("\n".join(["", *tally.failures, *tally.missed()]))
    seconds = time.process_time() - started
    print(f"seed {options.seed}: {tally.pairs:,} pairs, {len(tally.failures)} disagree, ", end="")
    print(f"{seconds:.0f} s, {tally.solving:.0f} s of them z3")
    return 1 if tally.failures or tally.missed() else 0


if __name__ == "__main__":
    sys.exit(main())
