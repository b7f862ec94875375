"""Mechanical mutation: change one small thing in the engine, and see whether a test notices.

    python -m tests.mutate [--sample N] [--jobs N] [--list] [modules...]

In: modules of the package, and the tests. Out: a table of killed and survived for each module,
and every survivor with its line. A survivor may be accepted with a reason, in
`tests/survivors.toml`. Exit status 1 if less than 90 % are killed, or if a survivor has no
reason.

First all tests run once, to see which of them pass over which line, and how long each takes. Then
every mutant is a trial (`tests/trial.py`) of the tests that pass over its line: first those that
have killed its neighbours, then the quickest. A mutant on which the tests hang counts as killed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests import tables, trial
from tests.mutants import Mutant, mutants, mutated
from tests.trial import ROOT, Result, Trial

REASONS = Path(__file__).with_name("survivors.toml")
MODULES = (
    *("formula", "events", "values", "atoms", "targets", "context", "reading", "program"),
    *("past", "future", "residual", "alphabet", "search", "window", "monitor"),
    *("listening", "resting", "clause", "compiler", "ledger", "interceptor"),
    *("verdicts", "session", "guard"),
)
SKIPPED = (
    "architecture",
    "demo",
    "docs",
    "import",
    "manifest",
    "memory",
    "planted",
    "threads",
    "wheel",
)
"""Tests that say nothing about the engine, take long, or start processes of their own."""
AT_LEAST = 0.9
SLOW = 6.0
"""A test that takes longer, in seconds, is not used."""
BUDGET = 20.0
"""Seconds of tests that one mutant is given."""
NEIGHBOURS = 4
"""So many of the tests that killed mutants nearby are tried first."""


# --- which tests, for which line ------------------------------------------------------------------


@dataclass
class Suite:
    """The tests that pass without a change: how long each takes, and which lines it runs."""

    seconds: dict[str, float]
    over: dict[str, dict[int, list[str]]]
    failing: list[str]
    killers: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def phases(self, mutant: Mutant) -> tuple[list[str], list[str]]:
        """The tests to try on this mutant: a few likely ones, then the others."""
        lines = self.over.get(mutant.module, {})
        found = {test for line in mutant.lines for test in lines.get(line, ())}
        ranked = sorted(found, key=lambda test: self.seconds.get(test, SLOW))
        likely = [test for test, _ in self.killers[mutant.module].most_common() if test in found]
        likely = likely[:NEIGHBOURS] or ranked[:1]
        left, rest = BUDGET, []
        for test in ranked:
            left -= self.seconds.get(test, SLOW)
            if test not in likely and left > 0:
                rest.append(test)
        return likely, rest


class Watching:
    """A plugin for pytest: how long each test takes, which lines it runs, and which fail."""

    def __init__(self, coverage: Any) -> None:
        self.coverage = coverage
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.failing: set[str] = set()

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """From here on, lines are this test's."""
        self.coverage.switch_context(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has been set up, run, or torn down."""
        self.seconds[report.nodeid] += report.duration
        if not report.passed:
            self.failing.add(report.nodeid)


def measured(files: Sequence[str]) -> dict[str, Any]:
    """Run all tests once, in this process."""
    import coverage

    cover = coverage.Coverage(
        data_file=None, source=[str(ROOT / "sponsio_like")], config_file=False
    )
    cover.start()
    watching = Watching(cover)
    options = [each for each in trial.OPTIONS if each != "-x"]
    pytest.main([*options, "-o", "addopts=", "-m", "not wheel", *files], plugins=[watching])
    cover.stop()
    data = cover.get_data()
    over = {}
    for module in MODULES:
        lines = data.contexts_by_lineno(str(trial.path_of(module)))
        over[module] = {
            line: all_or(tests, watching.seconds) for line, tests in lines.items() if tests
        }
    return {"seconds": watching.seconds, "over": over, "failing": sorted(watching.failing)}


def all_or(tests: Iterable[str], every: Iterable[str]) -> list[str]:
    """These tests; or all, for a line that runs when the module is imported."""
    found = [test for test in tests if test]
    return sorted(found or every)


def suite() -> Suite:
    """Run all tests once, in a process of their own."""
    files = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if path.stem.removeprefix("test_") not in SKIPPED
    ]
    with tempfile.TemporaryDirectory() as folder:
        answer, output = Path(folder, "answer"), Path(folder, "output")
        trial.wait_for(trial.in_child(lambda: measured(files), answer, output))
        said = json.loads(answer.read_text())
        if "raised" in said:
            raise SystemExit(f"{output.read_text()}\n{said['raised']}")
    failing = set(said["failing"])
    seconds = {t: s for t, s in said["seconds"].items() if t not in failing and s <= SLOW}
    over = {
        module: {int(line): [t for t in tests if t in seconds] for line, tests in lines.items()}
        for module, lines in said["over"].items()
    }
    return Suite(seconds, over, sorted(failing))


# --- running --------------------------------------------------------------------------------------


def trials(chosen: Iterable[Mutant], tests: Suite, found: dict[str, Mutant]) -> Iterator[Trial]:
    """One trial for each mutant, made when its turn has come."""
    for mutant in chosen:
        name = f"{mutant.module}:{mutant.index}.{mutant.change}"
        found[name] = mutant
        yield Trial(name, mutant.module, mutated(mutant), tests.phases(mutant))


def run(chosen: Sequence[Mutant], tests: Suite, jobs: int) -> list[tuple[Mutant, Result]]:
    """Run all mutants, and say how it goes."""
    found: dict[str, Mutant] = {}
    results = []
    started = time.monotonic()
    for result in trial.run(trials(chosen, tests, found), jobs):
        mutant = found[result.trial.name]
        if result.verdict == "failed" and "::" in result.test:
            tests.killers[mutant.module][result.test] += 1
        results.append((mutant, result))
        if len(results) % 50 == 0:
            survived = sum(result.verdict == "passed" for _, result in results)
            seconds = time.monotonic() - started
            text = f"{len(results)} of {len(chosen)}, {survived} survived, {seconds:.0f} s"
            print(text, file=sys.stderr, flush=True)
    return results


def reasons() -> dict[str, str]:
    """The survivors that are accepted, each with its reason."""
    accepted = tomllib.loads(REASONS.read_text("utf-8")) if REASONS.exists() else {}
    return {
        name: group["reason"] for group in accepted.get("accepted", ()) for name in group["mutants"]
    }


def report(results: Sequence[tuple[Mutant, Result]], whole: bool) -> int:
    """Print the table and the survivors; the exit status."""
    accepted = reasons()
    made = Counter(mutant.module for mutant, _ in results)
    survivors = sorted(
        (mutant for mutant, result in results if result.verdict == "passed"),
        key=lambda mutant: (mutant.module, mutant.line),
    )
    survived = Counter(mutant.module for mutant in survivors)
    print(f"\n{'module':14} {'mutants':>8} {'killed':>8} {'survived':>9} {'killed':>8}")
    for module in (*made, ""):
        total = made[module] if module else sum(made.values())
        lived = survived[module] if module else len(survivors)
        share = 100 * (total - lived) / max(total, 1)
        print(f"{module or 'all':14} {total:8} {total - lived:8} {lived:9} {share:7.1f}%")
    late = sum(result.verdict == "timeout" for _, result in results)
    print(f"\n{late} of the killed ran out of time\n")
    unexplained = [mutant for mutant in survivors if mutant.name not in accepted]
    print(f"{len(survivors) - len(unexplained)} survivors are accepted, with a reason each")
    for mutant in unexplained:
        print(f"survived without a reason, line {mutant.line}: {mutant.name!r}")
    stale = set(accepted) - {mutant.name for mutant in survivors} if whole else set()
    for name in sorted(stale):
        print(f"has a reason, but did not survive: {name!r}")
    enough = len(survivors) <= (1 - AT_LEAST) * len(results)
    return 0 if enough and not unexplained and not stale else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description="Mutation testing.")
    parser.add_argument(
        "modules", nargs="*", default=MODULES, help="names of modules; default: all"
    )
    parser.add_argument("--sample", type=int, help="only so many mutants, the same ones every time")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    asked = parser.parse_args(arguments)
    modules = [Path(name).stem for name in asked.modules]
    chosen = [mutant for module in modules for mutant in mutants(module)]
    if asked.sample is not None and asked.sample < len(chosen):
        chosen = sorted(random.Random(1).sample(chosen, asked.sample), key=lambda m: m.module)
    if asked.list:
        for mutant in chosen:
            print(f"{mutant.line:4} {mutant.name}")
        return 0
    trial.prepare()
    tables.prepare()
    tests = suite()
    print(f"{len(chosen)} mutants, {len(tests.seconds)} tests, {sum(tests.seconds.values()):.0f} s")
    for test in tests.failing:
        print(f"left out, since it fails without any change: {test}")
    return report(
        run(chosen, tests, asked.jobs), whole=asked.sample is None and modules == [*MODULES]
    )


if __name__ == "__main__":
    sys.exit(main())
