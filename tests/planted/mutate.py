"""Mechanical mutation: change one small thing in the engine, and see whether a test notices.

    python -m tests.planted.mutate [--sample N] [--jobs N] [--list] [modules...]

In: modules of the package, and the tests. Out: a table of killed and survived for each module,
and every survivor with its line. A survivor that means the same as the original is accepted, with
its reason, in `tests/planted/survivors.toml`. Exit status 1 if less than 90 % of the others are
killed, or if a survivor has no reason.

First all tests run once, to see which of them pass over which line (`tests/planted/covering.py`).
Then every mutant is a trial of the tests that pass over its lines: first those that have killed
most of its neighbours, then the quickest; one that survives these is tried with the others. Most
trials are forks of one process that has collected all tests (`tests/planted/warm.py`); what stands
in no function, and what survives but may have had a part in importing the package, is tried in a
process that has not (`tests/planted/trial.py`). A mutant on which the tests hang counts as killed.
Everything runs on a copy, so the files may be edited meanwhile.

To work on survivors, `--named FILE` tries only the mutants that a file names, such as the output of
an earlier run, and `--tests REGEX` only with the files of tests whose names are so. With
`--keep FILE`, tests that are as they were are not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tests.planted import trial, warm
from tests.planted.covering import LIKELY, REST, Suite, suite
from tests.planted.mutants import Mutant, mutants, mutated
from tests.planted.trial import ROOT, Result, Trial
from tests.planted.warm import Warm, function
from tests.reference import tables

REASONS = Path(__file__).with_name("survivors.toml")
MODULES = (
    *(
        "logic.tree",
        "logic.formula",
        "syntax",
        "monitor.program",
        "monitor.past",
        "monitor.progression",
    ),
    *(
        "monitor.residual",
        "logic.decomposition",
        "monitor.alphabet",
        "monitor.abstraction",
        "monitor.reachability",
        "monitor.in_flight",
        "monitor.monitor",
        "monitor.relevance",
        "events.atoms",
    ),
    *(
        "contracts.conditions",
        "monitor.slots",
        "events.relations",
        "engine.clause",
        "engine.index",
        "checks.guarantees",
        "engine.policy",
        "engine.ledger",
        "engine.findings",
    ),
    *(
        "monitor.branches",
        "monitor.trees",
        "monitor.owed",
        "monitor.groups",
        "monitor.windows",
        "engine.automaton",
        "engine.open_call",
    ),
    *(
        "monitor.relative_state",
        "session.flights",
        "session.decide",
        "events.context",
        "session.tickets",
        "session.interceptor",
        "session.session",
    ),
    *(
        "monitor.parametric.lookup",
        "events.condition_tests",
        "values.places",
        "values.frozen",
        "values.plain",
        "values.tokens",
        "values.word_index",
        "values.leaks",
        "events.argument_atoms",
    ),
    *(
        "contracts.comparisons",
        "contracts.confirmation",
        "contracts.blocks",
        "logic.targets",
        "contracts.matches",
        "monitor.parametric.variables",
        "monitor.parametric.atoms",
    ),
    *(
        "monitor.parametric.bindings",
        "monitor.parametric.store",
        "engine.per_value",
        "engine.judgement",
        "engine.settlement",
        "events.denials",
    ),
    *(
        "contracts.inventory",
        "monitor.parametric.result_bindings",
        "engine.status",
        "session.world",
    ),
    *(
        "engine.fastpath.deadlines",
        "engine.fastpath.letter",
        "engine.fastpath.readers",
        "engine.fastpath.source",
        "engine.fastpath.transitions",
        "engine.unread",
        "monitor.past_source",
        "monitor.successors",
        "session.fast",
        "session.settle",
    ),
)
AT_LEAST = 0.9
SECONDS = 120
"""Seconds of CPU that all other tests may take, where a mutant survives the first ones."""
EVERY = 100
"""After so many mutants the command says how far it is."""
ELSEWHERE = ".mutating"
"""Marks the copy on which all runs."""


class Done(NamedTuple):
    """What became of a mutant, and the test that killed it."""

    verdict: str
    test: str
    seconds: float


class Campaign:
    """All mutants of some modules, or some of them, and what has become of each so far."""

    def __init__(self, chosen: Sequence[Mutant], jobs: int, names: str, kept: Path | None) -> None:
        self.chosen = chosen
        self.names = names
        self.kept = kept
        self.jobs = jobs
        self.tests = Suite({}, {}, {}, [])
        self.done: dict[Mutant, Done] = {}
        self._number = {mutant: k for k, mutant in enumerate(chosen)}
        self._started = time.monotonic()
        self._said = 0
        self._stderr = os.dup(2)  # children write into files

    def run(self) -> dict[Mutant, Done]:
        """Try all: first those that can be tried in a warm process, then the others."""
        with tempfile.TemporaryDirectory() as folder:
            answer, output = Path(folder, "answer"), Path(folder, "output")
            trial.wait_for(trial.in_child(self._warm, answer, output))
            said = json.loads(answer.read_text())
            if "raised" in said:
                raise SystemExit(f"{output.read_text()}\n{said['raised']}")
        self.done = {self.chosen[int(k)]: Done(*each) for k, each in said["done"].items()}
        self._note(trial.run(self._cold(said["cold"]), self.jobs))
        return self.done

    def _warm(self) -> dict[str, Any]:
        """In a process of its own, which imports the package: what came of most mutants.

        And the tests for each that has to be tried from the start.
        """
        mine = (mutant.module for mutant in self.chosen)
        modules = dict.fromkeys((*(MODULES if self.kept else ()), *mine))
        warm.collected(self._try_warm, [*modules], self.names)
        done = {self._number[mutant]: each for mutant, each in self.done.items()}
        cold = {
            self._number[mutant]: self.tests.tests(mutant)
            for mutant in self.chosen
            if self._needs_cold(mutant)
        }
        return {"done": done, "cold": cold}

    def _try_warm(self, process: Warm) -> None:
        self.tests = suite(process, self.jobs, self.kept)
        process.seconds = self.tests.seconds
        self._say(f"{len(self.chosen)} mutants, {len(self.tests.seconds)} tests")
        for test in self.tests.failing:
            self._say(f"left out, since it fails or is slow: {test}")
        self._note(trial.run(self._patches(), self.jobs, process.attempted))
        self._say(f"{len(self._living())} survive the first tests; now the others")
        self._note(trial.run(self._others(), self.jobs, process.attempted))

    def _living(self) -> list[Mutant]:
        return [mutant for mutant, each in self.done.items() if each.verdict == "passed"]

    def _others(self) -> Iterator[Trial]:
        """A trial for each mutant that has survived, with the tests that it has not been given."""
        for mutant in self._living():
            tried = {*self.tests.tests(mutant)}
            left = [each for each in self.tests.tests(mutant, REST) if each not in tried]
            made = replace(self._trial(mutant, left), timeout=SECONDS, scope=mutant.scope)
            if left:
                yield made

    def _patches(self) -> Iterator[Trial]:
        """A trial, when its turn has come, for every mutant that can be tried warm."""
        for mutant in self.chosen:
            if function(mutant.module, mutant.scope) is not None:
                made = self._trial(mutant, self.tests.tests(mutant))
                yield replace(made, scope=mutant.scope)

    def _needs_cold(self, mutant: Mutant) -> bool:
        if mutant not in self.done:
            return True
        return self.done[mutant].verdict == "passed" and self.tests.is_imported(mutant)

    def _cold(self, tests: Mapping[str, Sequence[str]]) -> Iterator[Trial]:
        for number, each in tests.items():
            yield self._trial(self.chosen[int(number)], each)

    def _trial(self, mutant: Mutant, tests: Sequence[str]) -> Trial:
        phases = (tests[:LIKELY], tests[LIKELY:])
        return Trial(str(self._number[mutant]), mutant.module, mutated(mutant), phases)

    def _note(self, results: Iterable[Result]) -> None:
        """Take down what comes of trials, and say how it goes."""
        for result in results:
            if "cold" in result.said:
                continue
            mutant = self.chosen[int(result.trial.name)]
            self.done[mutant] = Done(result.verdict, result.test, result.seconds)
            if result.verdict == "failed" and "::" in result.test:
                self.tests.killers[mutant.module][result.test] += 1
            if result.verdict == "passed":
                self._say(f"lives: {mutant.name!r}")
            self._said += 1
            if self._said % EVERY == 0:
                survived = sum(done.verdict == "passed" for done in self.done.values())
                self._say(f"{len(self.done)} of {len(self.chosen)}, {survived} survive")

    def _say(self, text: str) -> None:
        seconds = time.monotonic() - self._started
        os.write(self._stderr, f"[{seconds:4.0f} s] {text}\n".encode())


# --- what is said of it ---------------------------------------------------------------------------


def reasons() -> dict[str, str]:
    """The survivors that are accepted, each with its reason."""
    accepted = tomllib.loads(REASONS.read_text("utf-8")) if REASONS.exists() else {}
    return {
        name: group["reason"] for group in accepted.get("accepted", ()) for name in group["mutants"]
    }


def report(done: dict[Mutant, Done], whole: Collection[str]) -> int:
    """Print the table and the survivors; the exit status. All of the modules `whole` is tried."""
    accepted = reasons()
    made = Counter(mutant.module for mutant in done)
    survivors = sorted(
        (mutant for mutant, each in done.items() if each.verdict == "passed"),
        key=lambda mutant: (mutant.module, mutant.line),
    )
    survived = Counter(mutant.module for mutant in survivors)
    print(f"\n{'module':32} {'mutants':>8} {'killed':>8} {'survived':>9} {'killed':>8}")
    for module in (*made, ""):
        total = made[module] if module else len(done)
        lived = survived[module] if module else len(survivors)
        share = 100 * (total - lived) / max(total, 1)
        print(f"{module or 'all':32} {total:8} {total - lived:8} {lived:9} {share:7.1f}%")
    how = Counter(cause(each) for each in done.values() if each.verdict != "passed")
    print("\nkilled by " + ", ".join(f"{what}: {number}" for what, number in how.most_common()))
    unexplained = [mutant for mutant in survivors if mutant.name not in accepted]
    accepted_here = len(survivors) - len(unexplained)
    real = len(done) - accepted_here
    print(f"{accepted_here} survivors are accepted, with a reason each")
    print(f"{100 * (real - len(unexplained)) / max(real, 1):.1f} % of the other {real} are killed")
    for mutant in unexplained:
        print(f"survived without a reason, line {mutant.line}: {mutant.name!r}")
    names = {mutant.name for mutant in survivors}
    idle = [name for name in accepted if name.partition(":")[0] in whole and name not in names]
    for name in idle:
        print(f"has a reason, but did not survive: {name!r}")
    enough = len(unexplained) <= (1 - AT_LEAST) * real
    return 0 if enough and not unexplained and not idle else 1


def cause(done: Done) -> str:
    """What has killed a mutant."""
    if done.verdict == "timeout":
        return "time that ran out"
    return "a test" if "::" in done.test else done.test


def modules_named(name: str) -> list[str]:
    """The modules of this name, or whose last part it is: `values.leaks`, or `leaks`."""
    found = [each for each in MODULES if each == name or each.endswith(f".{name}")]
    if not found:
        raise SystemExit(
            f"`{name}` is no module that is mutated; `MODULES` of {__file__} lists them"
        )
    return found


def stale() -> list[str]:
    """The mutants that have a reason, and are none: their line has changed, or their module."""
    accepted = reasons()
    modules = {name.partition(":")[0] for name in accepted}
    made = {each.name for module in modules & {*MODULES} for each in mutants(module)}
    return [name for name in accepted if name not in made]


def aside(arguments: Sequence[str]) -> int:
    """Run the command on a copy of the repository."""
    with tempfile.TemporaryDirectory(prefix="mutating-") as folder:
        copy = Path(folder, "copy")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "campaigns", "__pycache__"))
        (copy / ELSEWHERE).touch()
        command = [sys.executable, "-m", "tests.planted.mutate", *arguments]
        here = {**os.environ, "TMPDIR": folder, "PYTHONPATH": str(copy)}
        return subprocess.run(command, cwd=copy, env=here, check=False).returncode


def main(arguments: Sequence[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.planted.mutate", description="Mutation testing."
    )
    parser.add_argument("modules", nargs="*", help="names of modules; default: all")
    parser.add_argument("--sample", type=int, help="so many mutants, the same for a seed")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--tests", default="", help="only files of tests with such a name")
    parser.add_argument("--keep", type=Path, help="keep what is measured of the tests, and use it")
    parser.add_argument("--named", type=Path, help="only mutants that this file names")
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    asked = parser.parse_args(arguments)
    modules = [one for name in asked.modules for one in modules_named(name)] or [*MODULES]
    chosen = [mutant for module in modules for mutant in mutants(module)]
    whole = asked.sample is None or asked.sample >= len(chosen)
    if asked.named is not None:
        text = asked.named.read_text("utf-8")
        chosen = [mutant for mutant in chosen if repr(mutant.name) in text]
        whole = False
    elif not whole:
        picked = {*random.Random(asked.seed).sample(chosen, asked.sample)}
        chosen = [mutant for mutant in chosen if mutant in picked]
    if asked.list:
        for mutant in chosen:
            print(f"{mutant.line:4} {mutant.name}")
        return 0
    if not (ROOT / ELSEWHERE).exists():
        return aside(arguments)
    trial.prepare()
    tables.prepare()
    return report(
        Campaign(chosen, asked.jobs, asked.tests, asked.keep).run(), modules if whole else ()
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
