"""Plant each bug in the engine, and see whether the tests that are meant to find it notice.

    python -m tests.planted.planting [beginnings of ids or names ...]

In: the requirements of `tests/semantics/manifest.py`, each with a bug and its tests, and the bugs
of `tests/planted/planted.py`, each with one test. Out: those that no test noticed, the time it
took; exit status 1 if there are any.

Every bug is tried in a process of its own, a fork of one in which pytest has collected all tests:
it gives the changed functions other bodies and runs the tests. What stands in no function, and
what was not noticed so (it may have had its part in importing the package), is tried again in a
process that has not imported the package.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.planted import trial
from tests.planted.planted import BUGS
from tests.planted.trial import ROOT, Result, Trial
from tests.reference import tables

PACKAGE = ROOT / "sponsio_like"
SECONDS = 20
"""Longest trial, in seconds of CPU."""
SLOWEST = 5
"""So many of the slowest trials are told."""


@dataclass(frozen=True)
class Planting:
    """A bug: `old` in `file` becomes `new`; and the tests of which one has to notice it.

    `tests` are names as pytest knows them; a parametrized test stands for all its cases.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether what it replaces stands in its file, once."""
        return (PACKAGE / self.file).read_text("utf-8").count(self.old) == 1

    @property
    def source(self) -> str:
        """The file with the bug in it."""
        return (PACKAGE / self.file).read_text("utf-8").replace(self.old, self.new)

    @property
    def module(self) -> str:
        """The module that the file is; the file itself if it is none."""
        return self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def trial(self, tests: Sequence[str]) -> Trial:
        """The trial of these tests."""
        return Trial(self.name, self.module, self.source, [tests], SECONDS)


def plantings(chosen: Sequence[str]) -> list[Planting]:
    """All bugs, or those whose names begin so."""
    from tests.semantics.manifest import UNPLANTED, UNTESTED, bugs, carriers, requirements

    known = bugs()
    found = [Planting(each.name, each.file, each.old, each.new, (each.test,)) for each in BUGS]
    for row in requirements():
        if row.id not in UNTESTED | UNPLANTED:
            bug, nodes = known[row.bug], tuple(each.node for each in carriers()[row.id])
            found.append(Planting(f"{row.id} {bug.name}", bug.file, bug.old, bug.new, nodes))
    return [each for each in found if each.name.startswith(tuple(chosen or [""]))]


# --- functions that have changed ------------------------------------------------------------------


def emptied(tree: ast.Module) -> dict[str, str]:
    """Take the bodies out of all functions; what they were, by qualified name."""
    bodies: dict[str, str] = {}

    def visit(nodes: Iterable[ast.stmt], prefix: str) -> None:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                bodies[prefix + node.name] = ast.dump(ast.Module(node.body, []))
                node.body = []

    visit(tree.body, "")
    return bodies


def changed(old: str, new: str) -> list[str] | None:
    """The functions whose bodies differ; None if anything else does."""
    trees = ast.parse(old), ast.parse(new)
    before, after = map(emptied, trees)
    if ast.dump(trees[0]) != ast.dump(trees[1]):
        return None
    return [name for name in before if before[name] != after[name]]


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code, and all that is defined in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from codes(each)


def function(module: str, name: str) -> FunctionType | None:
    """The function of this name, out of its decorators; None if there is none."""
    from sponsio_like.contracts.declaration import Pattern

    found: Any = sys.modules.get(f"sponsio_like.{module}")
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    while not isinstance(found, FunctionType) or hasattr(found, "__wrapped__"):
        match found:
            case property(fget=inner) | cached_property(func=inner):
                found = inner
            case staticmethod() | classmethod():
                found = found.__func__
            case Pattern(build=inner):
                found = inner
            case _:
                found = getattr(found, "__wrapped__", None)
        if found is None:
            return None
    return found if found.__code__.co_qualname == name else None


def bodies(module: str, source: str) -> list[tuple[FunctionType, CodeType]] | None:
    """Every changed function with its new body; None if that is not all that has changed."""
    path = trial.path_of(module)
    names = changed(path.read_text("utf-8"), source) if path.exists() else None
    if names is None:
        return None
    fresh = {each.co_qualname: each for each in codes(compile(source, str(path), "exec"))}
    found = [(function(module, name), fresh[name]) for name in names]
    return [(old, new) for old, new in found if old] if all(old for old, _ in found) else None


# --- in a process that has collected all tests ----------------------------------------------------


@dataclass(eq=False)  # plugins have to be hashable for some other plugins
class Warm:
    """A plugin for pytest: instead of running tests, forks the trials.

    `noticed`: the names of those that a test noticed. `seconds`: how long each took. `ids`: every
    test by its name.
    """

    chosen: Sequence[str]
    noticed: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)
    ids: dict[str, list[str]] = field(default_factory=dict)
    failed: str = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """All tests are collected."""
        self.items = {item.nodeid: item for item in session.items}
        for id in self.items:
            self.ids.setdefault(id, []).append(id)
            if id.endswith("]"):
                self.ids.setdefault(id.partition("[")[0], []).append(id)
        gc.collect()
        gc.freeze()
        planted = [each for each in plantings(self.chosen) if each.fits]
        trials = [each.trial(self.all_of(each.tests)) for each in planted]
        for done in trial.run(trials, attempt=self.attempted):
            self.seconds[done.trial.name] = done.seconds
            if wrong(done) is None:
                self.noticed.add(done.trial.name)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has been set up, run, or half_written down."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def all_of(self, tests: Iterable[str]) -> list[str]:
        """These tests; all cases of those that have many."""
        return [id for test in tests for id in self.ids.get(test, ())]

    def attempted(self, attempt: Trial) -> dict[str, str]:
        """Run the tests of a trial in this process, a fork."""
        trial.limit(attempt.timeout)
        assert isinstance(attempt.source, str)
        changes = bodies(attempt.module, attempt.source)
        if changes is None:
            return {}
        for old, new in changes:
            old.__code__ = new
        items = [self.items[id] for id in attempt.tests[0]]
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return {"failed": self.failed}
        return {}


def warm(chosen: Sequence[str]) -> dict[str, Any]:
    """Collect all tests and try every bug. What was noticed, and the tests of what was not."""
    plugin = Warm(chosen)
    options = [each for each in trial.OPTIONS if each != "-x"]
    pytest.main([*options, "-s", "-o", "addopts=", "-m", "not wheel", "tests"], plugins=[plugin])
    again = [
        replace(each, tests=tuple(plugin.all_of(each.tests)))
        for each in plantings(chosen)
        if each.name not in plugin.noticed
    ]
    slow = sorted(plugin.seconds.items(), key=lambda pair: -pair[1])[:SLOWEST]
    return {
        "total": len(plantings(chosen)),
        "again": [asdict(each) for each in again],
        "slow": [f"{seconds:.1f} s: {name}" for name, seconds in slow],
    }


# --- in a process that has not imported the package -----------------------------------------------


def cold(attempt: Trial) -> dict[str, str]:
    """Run the tests of a trial in this process, a fork."""
    if trial.path_of(attempt.module).exists():
        said = trial.attempted(attempt)
        os.environ["SLOW_PATH"] = "1"  # a bug of the readable monitor may only show there
        return said or trial.attempted(attempt)
    changed, read = PACKAGE / attempt.module, Path.read_text

    def instead(path: Path, *args: Any, **options: Any) -> str:
        return str(attempt.source) if path == changed else read(path, *args, **options)

    setattr(Path, "read_text", instead)  # noqa: B010  types do not matter here
    status, failed = trial.run_tests(attempt.tests[0])
    return {"failed": failed or "import"} if status else {}


def wrong(done: Result) -> str | None:
    """What is wrong with a trial: the bug has to make a test fail, not an import, nor time out."""
    if done.verdict == "failed":
        return None if "::" in done.test else f"no test could be run ({done.test})"
    return {"passed": "not noticed", "timeout": "the tests take too long"}[done.verdict]


def answer_of(work: Callable[[], Any]) -> Any:
    """What `work` returns, done in a fork of this process."""
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        answer, output = Path(folder, "answer"), Path(folder, "output")
        trial.wait_for(trial.in_child(work, answer, output))
        said = json.loads(answer.read_text("utf-8"))
        if "raised" in said:
            raise SystemExit(f"{said['raised']}\n{output.read_text('utf-8', 'replace')[-4000:]}")
        return said


def cpu() -> float:
    """Seconds of CPU that this process and its children have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main(chosen: Sequence[str]) -> int:
    """Plant all bugs, or those whose names begin so, and say which were not noticed."""
    trial.prepare()
    tables.prepare()
    said = answer_of(lambda: warm(chosen))
    left = [Planting(**{**each, "tests": tuple(each["tests"])}) for each in said["again"]]
    trials = [each.trial(each.tests) for each in left if each.fits and each.tests]
    missed = [f"{each.name}: cannot be planted" for each in left if not each.fits or not each.tests]
    missed += [
        f"{done.trial.name}: {complaint}"
        for done in trial.run(trials, attempt=cold)
        if (complaint := wrong(done))
    ]
    total = said["total"]
    for line in (*said["slow"], *missed):
        print(line)
    print(f"{total - len(missed)} of {total} planted bugs are noticed, {len(left)} of them cold")
    print(f"{cpu():.0f} seconds of CPU")
    return 1 if missed or not total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
