"""Plays the traces of tests through enforced contracts, and compares what happens.

In: a contract file that has been read. Out: `Tested`: a result for each test, and what the tests
saw of each contract. Every contract is enforced, whatever its mode: a test says what it would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from sponsio_like.contracts import ALL_INPUTS, Contract, Expected, File, WrittenTest
from sponsio_like.errors import ContractError, Problem, TraceError, closest
from sponsio_like.outcome import Allowed, Blocked, Held, Outcome, Redirected, Violation
from sponsio_like.replay.replay import Replay
from sponsio_like.replay.shortest import timed
from sponsio_like.replay.testing.coverage import Coverage, coverage_of, owed_by, unspoken
from sponsio_like.traces import CallEvent, Trace, read_traces, trace_of


class TestResult(NamedTuple):
    """The result of one test: `wrong` says what differs from what is expected; else it is empty."""

    test: WrittenTest
    wrong: str = ""

    @property
    def passed(self) -> bool:
        """True if all is as expected."""
        return not self.wrong


@dataclass(frozen=True, slots=True)
class Tested:
    """The results of the tests of one file, in order, and the coverage of each contract."""

    results: tuple[TestResult, ...]
    coverage: Mapping[str, Coverage]

    @property
    def passed(self) -> bool:
        """True if there are tests, and all of them passed."""
        return bool(self.results) and all(each.passed for each in self.results)


def run_tests(file: File) -> Tested:
    """Run the tests of a file; trace files stand relative to the file that names them.

    Raises `ContractError` for a trace that cannot be played, with its place.
    """
    pairs = [(test, trace) for test in file.tests for trace in traces_of(test, file)]
    coverage = coverage_of(file, pairs)
    idle = unspoken(file, pairs, coverage)
    results = [
        each._replace(wrong=each.wrong or idle.get(each.test.name, ""))
        for each in results_of(file.contracts, file, pairs)
    ]
    return Tested(tuple(results), coverage)


def became_in(test: WrittenTest, file: File) -> tuple[Expected, tuple[str, ...]] | None:
    """Return what the contracts of a file do with the trace of a test; None if they stop it before
    its last step.

    Raises `ContractError` for a trace that cannot be played.
    """
    (trace,) = traces_of(test, file)
    play = _armed(file.contracts, file).play(trace)
    acts = [_became(each.outcome, each.violations) for each in play.events() if each.outcome]
    late, unfulfilled = play.finish()
    unmet = owed_by(late, unfulfilled)
    if not acts or any(what not in ("allowed", "warned") for what, _ in acts[:-1]):
        return None
    what, by = acts[-1]
    if what == "allowed":
        return ("unfulfilled", unmet) if unmet else ("allowed", ())
    return what, tuple(by)


def _armed(contracts: Iterable[Contract], file: File) -> Replay:
    armed = [replace(each, mode="enforce", share=1.0) for each in contracts]
    return Replay(armed, enforce=True, tools=file.inventory)


def results_of(
    contracts: Iterable[Contract], file: File, pairs: Iterable[tuple[WrittenTest, Trace]]
) -> list[TestResult]:
    """Return the result of each test under these contracts. Raises `ContractError`."""
    replay = _armed(contracts, file)
    return [TestResult(test, _wrong(test, replay, trace)) for test, trace in pairs]


def traces_of(test: WrittenTest, file: File) -> list[Trace]:
    """Return the traces of a test: one, or all of its file. Raises `ContractError`."""
    try:
        if test.file:
            folder = Path(test.where.rsplit(":", 2)[0]).parent
            return [replace(each, inputs=ALL_INPUTS) for each in read_traces(folder / test.file)]
        events = timed(test.events)
        trace = replace(trace_of({"id": test.name, "events": events}, test.name), inputs=ALL_INPUTS)
    except (TraceError, OSError) as error:
        raise ContractError(
            Problem(str(error), test.where, "see docs/testing-contracts.md")
        ) from None
    known = file.inventory.tools
    for each in trace.events:
        tool = each.call.tool if isinstance(each, CallEvent) else None
        if tool is not None and known is not None and tool not in known and "tools" not in test.by:
            what = f"the test `{test.name}` calls `{tool}`, which is no tool of this file"
            raise ContractError(Problem(what, test.where, closest(tool, known)))
    return [trace]


def _wrong(test: WrittenTest, replay: Replay, trace: Trace) -> str:
    """Return what differs from what is expected; empty if nothing does."""
    play = replay.play(trace)
    seen = list(play.events())
    late, unfulfilled = play.finish()
    acts = [(i, each) for i, each in enumerate(seen) if each.outcome is not None]
    for number, (_, each) in enumerate(acts, 1):
        last = number == len(acts)
        what, by = _became(each.outcome, each.violations)
        name = getattr(getattr(each.event, "call", None), "tool", "the message")
        expected = test.expect if last and test.expect != "unfulfilled" else "allowed"
        if what == expected and (last and test.by and expected != "allowed"):
            lacking = [name for name in test.by if name not in by]
            if lacking:
                return f"`{name}` was {what} by {_named(by)}, not by {_named(lacking)}"
        elif what != expected and not (what == "warned" and not last):
            place = "" if last else f" (step {number} of {len(acts)}, not the last)"
            whom = f" by {_named(by)}" if by else ""
            return f"`{name}`{place} was {what}{whom}; expected: {expected}"
    if not acts:
        return "nothing in this trace is decided"
    unmet = owed_by(late, unfulfilled)
    lacking = (
        [each for each in test.by if each not in unmet] if test.expect == "unfulfilled" else []
    )
    if lacking:
        return f"at the end nothing is owed by {_named(lacking)}; expected: unfulfilled"
    if unmet and test.expect == "allowed":
        return f"at the end {_named(unmet)} is unfulfilled; expected: allowed"
    return ""


def _became(outcome: Outcome | None, violations: Iterable[Violation]) -> tuple[Expected, list[str]]:
    """Return what became of a call or a message, and by which contracts."""
    by = list(dict.fromkeys(each.contract for each in violations))
    match outcome:
        case Blocked():
            return "blocked", by
        case Held():
            return "held", by
        case Redirected():
            return "redirected", by
        case Allowed() if by:
            return "warned", by
    return "allowed", by


def _named(names: Iterable[str]) -> str:
    return " and ".join(f"`{each}`" for each in names) or "nobody"
