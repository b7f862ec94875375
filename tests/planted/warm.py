"""Run tests against a changed function, in a process that has already imported and collected all.

In: mutants that stand in functions. Out: as `tests/planted/trial.py` says, in a fraction of the
time: each trial is a fork of one process in which pytest has collected every test, and only gives
one function another body. What has been worked out while importing stays as it was, so a mutant
that survives here and has a part in that is tried again from the start (`tests/planted/mutate.py`).
"""

from __future__ import annotations

import ast
import gc
import inspect
import re
import resource
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.planted import trial
from tests.planted.trial import ROOT, Trial

SKIPPED = (
    *("advice", "architecture", "bounds", "cli", "commands", "demo", "docs", "draft_endpoint"),
    *("draft_quality", "examples", "forest", "fuzz", "import", "limits", "manifest", "memory"),
    *("mutation", "oracle", "oracle_runs", "overtaken", "phrasings", "planted", "predicates"),
    *("processes", "report", "size", "threads", "trace", "unsaved", "wheel"),
)
"""Tests that say little about the engine, take long, or start processes of their own."""
STACK = 1 << 20
"""Bytes of stack of each thread: the threads of hundreds of guards have to fit into the memory of a
trial, since a notice whose thread cannot start is waited for in vain."""
PATIENCE = 5.0
"""A test that takes so many times as long as without the mutant hangs."""
AT_LEAST = 2.0
"""Seconds that every test has."""


def function(module: str, scope: Sequence[str]) -> FunctionType | None:
    """The function, as it is imported, of this name; None if there is none that can be changed."""
    found: Any = sys.modules.get(f"sponsio_like.{module}")
    for name in scope:
        found = vars(found).get(name) if hasattr(found, "__dict__") else None
    while not isinstance(found, FunctionType):
        match found:
            case property(fget=inner) | cached_property(func=inner):
                found = inner
            case staticmethod() | classmethod():
                found = found.__func__
            case _:
                return None
    found = inspect.unwrap(found)  # of a context manager: what it was made of
    return found if scope and found.__name__ == scope[-1] else None


def body(tree: ast.Module, old: FunctionType) -> CodeType:
    """What `old` is compiled to in a changed module. No line moves, so it stands where it stood."""
    codes = [compile(tree, old.__code__.co_filename, "exec", dont_inherit=True)]
    for code in codes:
        if (code.co_qualname, code.co_firstlineno) == (
            old.__code__.co_qualname,
            old.__code__.co_firstlineno,
        ):
            return code
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
    raise LookupError(f"{old.__qualname__} is not in its module")


def watcher(modules: Sequence[str]) -> Any:
    """Counts the lines of these modules that run."""
    import coverage

    paths = [str(trial.path_of(module)) for module in modules]
    cover = coverage.Coverage(data_file=None, include=paths, config_file=False)
    cover.set_option("run:disable_warnings", ["no-data-collected"])
    return cover


class Warm:
    """A plugin for pytest: instead of the tests, runs `work`, which may fork trials.

    `imported`: the lines of each module that have run until then. `seconds`: of each test, for
    those that have been measured.
    """

    def __init__(self, work: Callable[[Warm], None], modules: Sequence[str]) -> None:
        self.work = work
        self.modules = modules
        self.items: dict[str, pytest.Item] = {}
        self.imported: dict[str, set[int]] = {}
        self.seconds: Mapping[str, float] = {}
        self._failed = ""
        self._watcher = watcher(modules)
        self._watcher.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """All tests are collected."""
        self._watcher.stop()
        data = self._watcher.get_data()
        for module in self.modules:
            self.imported[module] = set(data.lines(str(trial.path_of(module))) or ())
        self.items = {item.nodeid: item for item in session.items}
        gc.collect()
        gc.freeze()
        self.work(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has been set up, run, or half_written down; or skipped, which is no pass."""
        if not report.passed and not self._failed:
            self._failed = report.nodeid

    def first_failure(self, tests: Sequence[str], seconds: Callable[[str], float]) -> str:
        """Run these tests in this process, a fork, each for no longer than so many seconds.

        The first that fails, or nothing.
        """
        self._failed = ""
        items = [self.items[test] for test in tests]
        for item, following in zip(items, [*items[1:], None], strict=True):
            used = resource.getrusage(resource.RUSAGE_SELF)
            trial.limit(int(used.ru_utime + used.ru_stime + seconds(item.nodeid)) + 1)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                return self._failed
        return ""

    def attempted(self, attempt: Trial) -> dict[str, str]:
        """Run a trial's tests in this process, a fork; its source is a tree."""
        changed = function(attempt.module, attempt.scope)
        assert changed is not None
        assert isinstance(attempt.source, ast.Module)
        code = body(attempt.source, changed)
        if code.co_freevars != changed.__code__.co_freevars:
            return {"cold": "it needs other variables of what is around it"}
        changed.__code__ = code
        tests = [test for tests in attempt.tests for test in tests]
        seconds = self.seconds
        return {
            "failed": self.first_failure(tests, lambda test: AT_LEAST + PATIENCE * seconds[test])
        }


def collected(work: Callable[[Warm], None], modules: Sequence[str], names: str = "") -> None:
    """Collect tests in this process, all or those in files of such a name; `work` runs trials."""
    options = [each for each in trial.OPTIONS if each != "-x"]
    warm = Warm(work, modules)
    threading.stack_size(STACK)
    pytest.main(
        [*options, "-s", "-o", "addopts=", "-m", "not wheel", *files(names)], plugins=[warm]
    )


def files(names: str = "") -> list[str]:
    """All files of tests that mutants are tried on; only those of such a name, if one is given."""
    return [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if path.stem.removeprefix("test_") not in SKIPPED and re.search(names, path.stem)
    ]
