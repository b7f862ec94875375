"""Which tests pass over which line of the engine, and how long each takes.

In: a process that has collected all tests. Out: a `Suite`, by which a mutant gets the tests that
may notice it. Every test runs once, in a fork; those that fail, or are slow, are left out.
"""

from __future__ import annotations

import resource
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests import trial
from tests.mutants import Mutant
from tests.trial import Trial
from tests.warm import Warm, watcher

SLOW = 5
"""A test that takes longer, in seconds, is not used."""
BUDGET = 15.0
"""Seconds of tests that one mutant is given. (Lines being counted, they take several times as
long as without.)"""
LIKELY = 8
"""So many of the tests that killed most mutants of the module are tried first."""


@dataclass
class Suite:
    """The tests that pass without a change: how long each takes, and which lines it runs.

    `imported`: the lines that run before any test does. `killers`: how many mutants of a module
    each test has killed so far.
    """

    seconds: dict[str, float]
    over: dict[str, dict[int, list[str]]]
    imported: dict[str, set[int]]
    failing: list[str]
    killers: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests to try on this mutant: the likely ones first, then the quickest."""
        lines = self.over.get(mutant.module, {})
        found = {test for line in mutant.lines for test in lines.get(line, ())}
        if not found:  # a line that only runs while the module is imported
            found = {test for tests in lines.values() for test in tests}
        likely = [test for test, _ in self.killers[mutant.module].most_common() if test in found]
        likely = likely[:LIKELY]
        ranked = sorted(found.difference(likely), key=lambda test: (self.seconds[test], test))
        return [*self._affordable([*likely, *ranked])]

    def _affordable(self, tests: Sequence[str]) -> Iterator[str]:
        left = BUDGET
        for test in tests:
            left -= self.seconds[test]
            if left < 0:
                return
            yield test

    def is_imported(self, mutant: Mutant) -> bool:
        """Whether the mutant's line runs before any test does."""
        return not self.imported.get(mutant.module, set()).isdisjoint(mutant.lines)


def measured(process: Warm, test: str) -> dict[str, Any]:
    """Run one test in this process, a fork: the lines it passes over, and its seconds."""
    paths = {module: str(trial.path_of(module)) for module in process.modules}
    before = _seconds()
    cover = watcher(process.modules)
    cover.start()
    failed = process.first_failure([test], lambda _: SLOW)
    cover.stop()
    data = cover.get_data()
    lines = {module: data.lines(path) or [] for module, path in paths.items()}
    return {"failed": failed, "seconds": _seconds() - before, "lines": lines}


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def suite(process: Warm, jobs: int) -> Suite:
    """Run all tests once, each in a fork of this process."""
    trials = (Trial(test, "", "", [[test]], timeout=2 * SLOW) for test in process.items)
    seconds: dict[str, float] = {}
    failing: list[str] = []
    over: dict[str, dict[int, list[str]]] = {m: defaultdict(list) for m in process.modules}
    for result in trial.run(trials, jobs, lambda each: measured(process, each.name)):
        test, said = result.trial.name, result.said
        if result.verdict != "passed":
            failing.append(test)
            continue
        seconds[test] = said["seconds"]
        for module, lines in said["lines"].items():
            for line in lines:
                over[module][line].append(test)
    return Suite(seconds, over, process.imported, sorted(failing))
