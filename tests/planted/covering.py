"""Which tests pass over which line of the engine, and how long each takes.

In: a process that has collected all tests. Out: a `Suite`, by which a mutant gets the tests that
may notice it. Every test runs once, in a fork; those that fail, or are slow, are left out.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.planted import trial
from tests.planted.mutants import Mutant
from tests.planted.trial import Trial
from tests.planted.warm import Warm, watcher

SLOW = 4
"""A test that takes longer, in seconds of CPU, is not used."""
BUDGET = 10.0
"""Seconds of tests that one mutant is given first. (Lines being counted, they take several times
as long as without.)"""
REST = 120.0
"""Seconds of tests that one is given which survives those."""
HANGS = 120
"""Seconds after which tests that are measured together are measured alone."""
TOGETHER = 12
"""So many tests are measured in one process."""
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

    def tests(self, mutant: Mutant, budget: float = BUDGET) -> list[str]:
        """The tests to try on this mutant: the likely ones first, then the quickest."""
        lines = self.over.get(mutant.module, {})
        found = {test for line in mutant.lines for test in lines.get(line, ())}
        if not found:  # a line that only runs while the module is imported
            found = {test for tests in lines.values() for test in tests}
        likely = [test for test, _ in self.killers[mutant.module].most_common() if test in found]
        likely = likely[:LIKELY]
        ranked = sorted(found.difference(likely), key=lambda test: (self.seconds[test], test))
        return [*self._affordable([*likely, *ranked], budget)]

    def _affordable(self, tests: Sequence[str], budget: float) -> Iterator[str]:
        for test in tests:
            budget -= self.seconds[test]
            if budget < 0:
                return
            yield test

    def is_imported(self, mutant: Mutant) -> bool:
        """Whether the mutant's line runs before any test does."""
        return not self.imported.get(mutant.module, set()).isdisjoint(mutant.lines)


def measured(process: Warm, tests: Sequence[str]) -> dict[str, Any]:
    """Run tests in this process, a fork: of each, whether it failed, and its seconds; all lines.

    It ends with the first test that is too slow, and answers nothing.
    """
    cover = watcher(process.modules)
    cover.start()
    ran: dict[str, tuple[str, float]] = {}
    for test in tests:
        cover.switch_context(test)
        before = _seconds()
        failed = process.first_failure([test], lambda _: SLOW)
        ran[test] = failed, _seconds() - before
    cover.stop()
    data = cover.get_data()
    over = {m: data.contexts_by_lineno(str(trial.path_of(m))) for m in process.modules}
    return {"ran": ran, "over": over}


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def suite(process: Warm, jobs: int, kept: Path | None = None) -> Suite:
    """Run all tests once, in forks of this process; alone if they are too much together.

    `kept`: what is known from an earlier run, and will be in a later one.
    """
    found = Suite({}, {m: defaultdict(list) for m in process.modules}, process.imported, [])
    known = {} if kept is None else remembered(kept, process)
    every = [test for test in process.items if test not in known]
    for test, (seconds, over) in known.items():
        _add(found, {"ran": {test: ("", seconds)} if seconds else {}, "over": over})
        if not seconds:
            found.failing.append(test)
    _measure(found, process, every, jobs)
    if kept is not None:
        kept.write_text(json.dumps({"of": _hashes(process), **_by_test(found)}))
    return found


def _measure(found: Suite, process: Warm, every: Sequence[str], jobs: int) -> None:
    queue = [every[k : k + TOGETHER] for k in range(0, len(every), TOGETHER)]
    while queue:
        trials = [Trial(str(k), "", "", [tests], timeout=HANGS) for k, tests in enumerate(queue)]
        results = trial.run(trials, jobs, lambda each: measured(process, each.tests[0]))
        again: list[str] = []
        for result in results:
            tests = result.trial.tests[0]
            if result.said:
                _add(found, result.said)
            elif len(tests) > 1:
                again += tests
            else:
                found.failing += tests
        queue = [[test] for test in again]


def remembered(
    kept: Path, process: Warm
) -> dict[str, tuple[float, dict[str, dict[str, list[str]]]]]:
    """The seconds and lines of tests that are as they were when they were measured."""
    if not kept.exists():
        return {}
    said, now = json.loads(kept.read_text()), _hashes(process)
    if said["of"][""] != now[""]:
        return {}
    return {
        test: (seconds, {m: {line: [test] for line in lines} for m, lines in over.items()})
        for test, (seconds, over) in said["tests"].items()
        if test in process.items and said["of"].get(file_of(test)) == now[file_of(test)]
    }


def file_of(test: str) -> str:
    """The file that a test stands in."""
    return test.partition("::")[0]


def _hashes(process: Warm) -> dict[str, str]:
    """What stands in every file of tests; under no name, what stands in the package."""
    package = sorted((trial.ROOT / "sponsio_like").rglob("*.py"))
    files = {name: [trial.ROOT / name] for name in dict.fromkeys(map(file_of, process.items))}
    each = {"": package, **files}
    watched = " ".join(process.modules).encode()
    return {
        name: hashlib.sha256(watched + b"".join(path.read_bytes() for path in paths)).hexdigest()
        for name, paths in each.items()
    }


def _by_test(found: Suite) -> dict[str, Any]:
    over: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for module, lines in found.over.items():
        for line, tests in lines.items():
            for test in tests:
                over[test][module].append(line)
    seconds = {**found.seconds, **dict.fromkeys(found.failing, 0.0)}
    return {"tests": {test: (each, over[test]) for test, each in seconds.items()}}


def _add(found: Suite, said: Mapping[str, Any]) -> None:
    for test, (failed, seconds) in said["ran"].items():
        if failed or seconds > SLOW:
            found.failing.append(test)
        else:
            found.seconds[test] = seconds
    for module, lines in said["over"].items():
        for line, tests in lines.items():
            found.over[module][int(line)] += [
                sys.intern(test) for test in tests if test in found.seconds
            ]
