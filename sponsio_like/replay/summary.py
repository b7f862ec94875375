"""Sums up a replay of many traces, for people.

In: judged traces, one by one. Out: a table with a row for each contract, and the first violations.
Nothing is kept that grows with the number of traces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import IO

from sponsio_like.outcome import Action, Violation
from sponsio_like.replay.replay import TraceVerdict
from sponsio_like.terminal import LateProgress, Styled, Table, counted, never_applied
from sponsio_like.traces import Trace, read_traces

EXAMPLES = 10
"""The most violations that are shown one by one."""


@dataclass(slots=True)
class ContractSummary:
    """The counts of one contract over all traces."""

    judged: int = 0
    applied: int = 0
    broken: int = 0
    actions: Counter[Action] = field(default_factory=Counter)
    unfulfilled: int = 0
    lacks: Counter[str] = field(default_factory=Counter)
    not_judged: int = 0

    @property
    def idle(self) -> bool:
        """True if the contract was judged, and never applied."""
        return bool(self.judged) and not self.applied and not self.broken


class Summary:
    """The counts over all traces, with a table and a page for people."""

    def __init__(self, contracts: Iterable[str]) -> None:
        self.lines: dict[str, ContractSummary] = {name: ContractSummary() for name in contracts}
        self.traces = 0
        self.calls = 0
        self.broken = 0
        self.violations = 0
        self.not_judged = 0
        self.examples: list[tuple[str, Violation]] = []
        self.overlooked: dict[tuple[str, str, str], str] = {}

    def add(self, judged: TraceVerdict) -> None:
        """Count one more trace."""
        self.traces += 1
        self.calls += judged.calls
        self.broken += not judged.clean
        self.violations += len(judged.violations)
        self.not_judged += bool(judged.not_judged)
        for name, line in list(self.lines.items()):
            line.judged += name not in judged.not_judged
            line.applied += name in judged.applied
            line.not_judged += name in judged.not_judged
            line.lacks.update(judged.not_judged.get(name, ()))
        for lost in judged.overlooked if len(self.overlooked) < EXAMPLES else ():
            self.overlooked.setdefault(lost, judged.id)
        violated = {each.contract for each in judged.violations}
        for name in violated | {each.contract for each in judged.unfulfilled}:
            self._line(name).broken += 1
        for each in judged.violations:
            self._line(each.contract).actions[each.action] += 1
            if len(self.examples) < EXAMPLES:
                self.examples.append((judged.id, each))
        for left in judged.unfulfilled:
            self._line(left.contract).unfulfilled += 1

    def warnings(self) -> Iterator[str]:
        """Yield a warning for each field that contracts name and that was not read."""
        for (tool, field_, contract), trace in self.overlooked.items():
            yield (
                f"warning: trace `{trace}`: `{contract}` names `{field_}` of `{tool}`, which "
                "stands beside empty `args` and is not read; write it into `args`"
            )

    def _line(self, name: str) -> ContractSummary:
        return self.lines.setdefault(
            name, ContractSummary()
        )  # the session refuses under names of its own, too

    def table(self, only: str | None = None) -> Table:
        """Return a row for each contract, in traces; those that never applied come first."""
        ranked = sorted(self.lines.items(), key=lambda item: not item[1].idle)
        rows = [_row(name, line) for name, line in ranked if only in (None, name)]
        table = Table(_COLUMNS, tuple(rows))
        return table.without_zeros("unfulfilled", "not judged")

    def page(self) -> list[Styled]:
        """Return the contracts that never applied, the first violations, and the totals."""
        page: list[Styled] = [("", "")]
        if idle := self.idle:
            page += [(never_applied(idle), "bold"), ("", "")]
        if self.examples:
            more = self.violations > len(self.examples)
            title = f"the first {len(self.examples)} violations" if more else "the violations"
            page.append((title, "bold"))
        for trace, found in groupby(self.examples, key=lambda each: each[0]):
            page.append((f"  {trace}", "dim"))
            page += [(f"    {_place(each)}", "") for _, each in found]
        if self.examples:
            page.append(("", ""))
        return page + [(line, "") for line in self._conclusion()]

    def _conclusion(self) -> list[str]:
        seen = f"{counted(self.traces, 'trace')}, {counted(self.calls, 'call')}"
        kept = "every judged contract was kept" if self._judged else "no contract could be judged"
        broken = f"contracts broken in {counted(self.broken, 'trace')}"
        out = [f"{seen}: {broken if self.broken else kept}"]
        blind = {name: line for name, line in self.lines.items() if line.not_judged}
        if blind:
            each = "; ".join(_lacking(name, line) for name, line in blind.items())
            what = counted(len(blind), "contract")
            where = counted(self.not_judged, "trace")
            out.append(f"{what} could not be judged in {where}: {each}")
        return out

    @property
    def _judged(self) -> bool:
        """True if any contract could be judged, or there was nothing to judge."""
        return any(line.judged for line in self.lines.values()) or not (self.traces and self.lines)

    @property
    def idle(self) -> list[str]:
        """The contracts that never applied."""
        return [name for name, line in self.lines.items() if line.idle]


def _lacking(name: str, line: ContractSummary) -> str:
    return f"`{name}` in {line.not_judged:,} without {', '.join(sorted(line.lacks))}"


def _place(violation: Violation) -> str:
    tool = "" if violation.tool is None else f", `{violation.tool}`"
    return f"call {violation.position}{tool}: {violation.action}, `{violation.contract}`"


_COLUMNS = (
    "contract", "judged", "applied", "broken", "violations", "unfulfilled", "not judged",
)  # fmt: skip


def _row(name: str, line: ContractSummary) -> tuple[str | int, ...]:
    actions = ", ".join(f"{action} {n:,}" for action, n in line.actions.most_common())
    counts = line.judged, line.applied, line.broken
    return (name, *counts, actions, line.unfulfilled, line.not_judged)


def read_all(paths: Iterable[Path], stream: IO[str] | None) -> Iterator[Trace]:
    """Yield the traces of all files in order; a slow reading shows a bar on `stream`."""
    files = list(paths)
    sizes = [path.stat().st_size if path.is_file() else 0 for path in files]
    if stream is None:
        for path in files:
            yield from read_traces(path)
        return
    bar = LateProgress(sum(sizes), stream)
    try:
        for path, size in zip(files, sizes, strict=True):
            yield from read_traces(path, bar)
            bar.next_file(size)
    finally:
        bar.close()
