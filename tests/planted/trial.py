"""Run tests against the package with one of its modules changed.

In: trials: a module's new source or tree, and tests in the order they are to run. Out: for each
whether a test failed, and which. Every trial runs in a process of its own, forked from one that
has not imported the package, but has everything else: pytest, the libraries, and what the oracle
says. (`tests/planted/warm.py` runs them in a process that has imported the package as well.)
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias

import pytest

ROOT = Path(__file__).parents[2]
LIBRARIES = (
    *("asyncio", "hypothesis", "lark", "re2", "yaml"),
    *("rich.console", "rich.table", "typer", "typer.testing"),
)
OPTIONS = (
    *("-x", "-q", "--no-header", "--tb=line", "--import-mode=importlib"),
    *("-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
MEMORY = 6 << 30
"""Most bytes of address space that a trial may have; threads reserve far more than they use."""

Verdict = Literal["failed", "passed", "timeout"]


@dataclass(frozen=True)
class Trial:
    """A change, and the tests that should notice it, in phases: the first that fails ends it.

    `timeout`: seconds of CPU; three times as long on the wall. `scope`: the function that is all
    that has changed, for a process that has imported the module.
    """

    name: str
    module: str
    source: str | ast.Module
    tests: Sequence[Sequence[str]]
    timeout: int = 40
    scope: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """What came of a trial, and the test that failed (`import` if none could be run).

    `said`: all that the child has answered.
    """

    trial: Trial
    verdict: Verdict
    test: str
    seconds: float
    output: str
    said: Mapping[str, Any] = field(default_factory=dict)


def path_of(module: str) -> Path:
    """The file of a module of the package: `monitor`, `patterns.safety`, `strategies`."""
    place = ROOT / "sponsio_like" / module.replace(".", "/")
    inside = place / "__init__.py"
    return inside if inside.exists() else place.with_name(f"{place.name}.py")


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a changed source."""

    def __init__(self, module: str, source: str | ast.Module) -> None:
        self.name = f"sponsio_like.{module}"
        self.path = str(path_of(module))
        self.source = source

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        place = Path(self.path)
        inside = [str(place.parent)] if place.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname, place, loader=self, submodule_search_locations=inside
        )

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, self.path, "exec", dont_inherit=True), vars(module))  # noqa: S102


class Chosen:
    """A plugin for pytest: runs these tests in this order, and notes the first that fails."""

    def __init__(self, tests: Iterable[str]) -> None:
        self.rank = {test: n for n, test in enumerate(tests)}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Only the chosen tests, in their order."""
        chosen = [item for item in items if item.nodeid in self.rank]
        items[:] = sorted(chosen, key=lambda item: self.rank[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has run."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file could not be imported: that is noticed, too."""
        if report.failed and not self.failed:
            self.failed = "import"


def prepare() -> None:
    """Import everything that a trial needs but does not change."""
    assert not any(name.split(".")[0] == "sponsio_like" for name in sys.modules)
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)
    os.environ["TESTS"] = "all"
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def run_tests(tests: Sequence[str], plugins: Sequence[object] = ()) -> tuple[int, str]:
    """Run these tests in this process, in this order.

    The exit status, and the first that failed.
    """
    chosen = Chosen(tests)
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    status = pytest.main([*OPTIONS, "-o", "addopts=", *files], plugins=[chosen, *plugins])
    if status == pytest.ExitCode.USAGE_ERROR:
        raise RuntimeError(f"no such tests: {tests}")
    return int(status), chosen.failed


# --- in the child ---------------------------------------------------------------------------------


def in_child(work: Callable[[], Any], answer: Path, output: Path) -> int:
    """Fork; the child works, writes its answer as JSON, and is gone. The number of the process."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.setpgid(0, 0)
        sink = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        answer.write_text(json.dumps(work()))
        status = 0
    except BaseException as error:  # whatever it is, the parent has to hear of it
        answer.write_text(json.dumps({"raised": repr(error)}))
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(status)


def attempted(trial: Trial) -> dict[str, str]:
    """Run a trial's tests in this process, which has not imported the package."""
    limit(trial.timeout)
    sys.meta_path.insert(0, Changed(trial.module, trial.source))
    for tests in trial.tests:
        if tests:
            status, failed = run_tests(tests)
            if status != 0:
                return {"failed": failed or "import"}
    return {}


def limit(seconds: int) -> None:
    """Let this process use so much time, and no more memory than `MEMORY`."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))


Attempt: TypeAlias = Callable[[Trial], Mapping[str, Any]]
"""Runs a trial in the process it is called in: nothing, or what has failed."""


# --- in the parent --------------------------------------------------------------------------------


@dataclass
class Running:
    """A trial that has started."""

    trial: Trial
    started: float
    answer: Path
    output: Path

    def result(self, late: bool) -> Result:
        """What the child has left behind."""
        seconds = time.monotonic() - self.started
        output = self.output.read_text("utf-8", "replace") if self.output.exists() else ""
        said: dict[str, Any] = {"raised": "crashed"}
        if self.answer.exists():
            said = json.loads(self.answer.read_text() or "{}")
        if late:
            return Result(self.trial, "timeout", "", seconds, output)
        if "raised" in said:
            return Result(self.trial, "failed", said["raised"], seconds, output)
        test = said.get("failed", "")
        return Result(self.trial, "failed" if test else "passed", test, seconds, output, said)


def run(trials: Iterable[Trial], jobs: int = 2, attempt: Attempt = attempted) -> Iterator[Result]:
    """Run trials, so many at a time. A trial is only asked for when there is room for it."""
    queue = iter(trials)
    running: dict[int, Running] = {}
    with tempfile.TemporaryDirectory(prefix="trial-") as folder:
        for number in range(1 << 30):
            if len(running) < jobs:
                trial = next(queue, None)
                if trial is not None:
                    running.update([start(trial, attempt, Path(folder), number)])
                    continue
            if not running:
                return
            child, late = first_of(running)
            done = running.pop(child)
            yield done.result(late)
            for path in (done.answer, done.output):
                path.unlink(missing_ok=True)


def start(trial: Trial, attempt: Attempt, folder: Path, number: int) -> tuple[int, Running]:
    """Start a trial."""
    begun = Running(trial, time.monotonic(), folder / f"{number}.json", folder / f"{number}.txt")
    return in_child(lambda: attempt(trial), begun.answer, begun.output), begun


def first_of(running: dict[int, Running]) -> tuple[int, bool]:
    """The next child that ends; or that is stopped, because its time is up."""
    while True:
        for child, each in running.items():
            gone, status = os.waitpid(child, os.WNOHANG)
            if gone:
                return child, os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
            if time.monotonic() > each.started + 3 * each.trial.timeout:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return child, True
        time.sleep(0.01)


def wait_for(child: int) -> None:
    """Until this child has ended."""
    os.waitpid(child, 0)
