"""Records in which tests each contract applied, and which of its tools and values no test uses.

In: a contract file, and its tests with their traces. Out: a `Coverage` for each contract.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

import sponsio_like.logic.formula as f
from sponsio_like.contracts import Contract, File, WrittenTest, formulas
from sponsio_like.events import names_tool
from sponsio_like.logic import conjuncts
from sponsio_like.outcome import Unfulfilled, Violation
from sponsio_like.replay.replay import Replay
from sponsio_like.traces import CallEvent, Trace
from sponsio_like.values import kind_step, path_parts

NEAR = 0.75
"""Names are alike from this ratio of difflib on."""
LIST_THEM = "if the agent has such a tool, list all of its tools in `tools:`"


class Coverage(NamedTuple):
    """The tests in which a contract applied and was kept, and those that expect it to be broken.

    `untried` are the tools and texts that it names and no test has.
    """

    kept: tuple[str, ...]
    broken: tuple[str, ...]
    untried: tuple[str, ...] = ()

    @property
    def missing(self) -> str:
        """The parts of the contract that no test covers, in words; empty if nothing is missing."""
        said = []
        match bool(self.kept), bool(self.broken):
            case False, False:
                said.append("no test reaches it")
            case True, False:
                said.append("no test breaks it")
            case False, True:
                said.append("no test keeps it")
        if self.untried:
            said.append("never tried: " + ", ".join(f"`{each}`" for each in self.untried))
        return "; ".join(said)


def coverage_of(file: File, pairs: Iterable[tuple[WrittenTest, Trace]]) -> Mapping[str, Coverage]:
    """Return the coverage of each contract of a file, by name."""
    pairs = list(pairs)
    kept: dict[str, dict[str, None]] = {each.name: {} for each in file.contracts}
    broken: dict[str, dict[str, None]] = {each.name: {} for each in file.contracts}
    bans = {each.name: _forbidden(each) for each in file.contracts}
    replay = Replay(file.contracts, tools=file.inventory)
    for test, trace in pairs:
        verdict = replay.judge(trace)
        wrong = owed_by(verdict.violations, verdict.unfulfilled)
        for name, keeping in kept.items():
            if name in wrong and name in test.by:
                broken[name][test.name] = None
            elif name not in wrong and (verdict.applied.get(name) or _spared(trace, bans[name])):
                keeping[test.name] = None
    tried = {each for _, trace in pairs for each in _tried(trace)}
    return {
        each.name: Coverage(
            tuple(kept[each.name]),
            tuple(broken[each.name]),
            tuple(
                dict.fromkeys(
                    said for said, fact in _named(each) if not _is_tried(said, fact, tried)
                )
            ),
        )
        for each in file.contracts
    }


def _forbidden(contract: Contract) -> tuple[f.Match, ...]:
    """Return the calls that a contract forbids, if it does nothing else; else none."""
    found: list[f.Match] = []
    for rule in contract.rules:
        for part in conjuncts(rule.formula):
            match part:
                case f.Always(f.Not(f.Happens("called", target))):
                    found.extend(target)
                case _:
                    return ()
    return tuple(found)


def _spared(trace: Trace, bans: tuple[f.Match, ...]) -> bool:
    """True if a call is of a forbidden tool, and is let through for what it asks.

    Where every call of the tool is forbidden, a call of another tool is one that keeps it.
    """
    calls = [each.call.tool for each in trace.events if isinstance(each, CallEvent)]
    return any(names_tool(ban, tool) is bool(ban.conditions) for ban in bans for tool in calls)


def unspoken(
    file: File, pairs: Iterable[tuple[WrittenTest, Trace]], coverage: Mapping[str, Coverage]
) -> Mapping[str, str]:
    """Return the tests that pass for nothing, by name: no contract speaks of what they call.

    Where a file has `tools:`, calls of others are refused, which the tests show by themselves.
    """
    if file.inventory.tools is not None:
        return {}
    named = f.matches_in(root for each in file.contracts for root in formulas(each))
    meant = [match for match in named if match.names or match.globs]
    names = sorted({name for match in meant for name in match.names})
    reached = {test for each in coverage.values() for test in (*each.kept, *each.broken)}
    found: dict[str, list[str]] = {}
    for test, trace in pairs:
        found.setdefault(test.name, []).extend(_called(test, trace))
    said: dict[str, str] = {}
    for name, tools in found.items():
        unnamed = [one for one in tools if not any(names_tool(match, one) for match in meant)]
        for tool in unnamed:
            if near := get_close_matches(tool, names, n=1, cutoff=NEAR):
                said[name] = f"no contract names `{tool}`; did you mean `{near[0]}`? {LIST_THEM}"
        if len(unnamed) == len(tools) and name not in reached:
            said.setdefault(name, _nothing_said(tools))
    return said


def _called(test: WrittenTest, trace: Trace) -> list[str]:
    """Return the tools of a trace, each once; without the last call if a contract stops it."""
    calls = [each.call.tool for each in trace.events if isinstance(each, CallEvent)]
    stopped = test.expect not in ("allowed", "unfulfilled")
    return list(dict.fromkeys(calls[:-1] if stopped else calls))


def _nothing_said(tools: Iterable[str]) -> str:
    calls = ", ".join(f"`{each}`" for each in tools) or "what happens in this trace"
    return f"no contract speaks of {calls}: the test would pass whatever they say; {LIST_THEM}"


def owed_by(violations: Iterable[Violation], unfulfilled: Iterable[Unfulfilled]) -> tuple[str, ...]:
    """Return the names of the contracts of these, each once."""
    names = (*(each.contract for each in violations), *(each.contract for each in unfulfilled))
    return tuple(dict.fromkeys(names))


def _named(contract: Contract) -> Iterator[tuple[str, bool]]:
    """Yield the tools that a contract names, and the texts with which it compares arguments.

    With each, True if it is a fact of a text, such as a command that the text runs.
    """
    for match in f.matches_in(formulas(contract)):
        yield from ((name, False) for name in sorted(match.names))
        for each in match.conditions:
            values = each.value if isinstance(each.value, tuple) else (each.value,)
            fact = any(kind_step(part) is not None for part in path_parts(each.path))
            if each.op in ("=", "in"):
                yield from ((value, fact) for value in values if isinstance(value, str))


def _is_tried(said: str, fact: bool, tried: Collection[str]) -> bool:
    return said in tried or (fact and any(said.lower() in each.lower() for each in tried))


def _tried(trace: Trace) -> Iterator[str]:
    for event in trace.events:
        if isinstance(event, CallEvent):
            yield event.call.tool
            yield from _texts(event.call.args)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for each in value.values():
                yield from _texts(each)
        case list() | tuple():
            for each in value:
                yield from _texts(each)
