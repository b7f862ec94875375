"""Compares two versions of contracts on recorded traces: what the change newly stops or allows.

In: contracts before and after, and traces or the sessions of a log. Out: for each contract the
calls and responses that it stops and did not, or no longer stops, with examples. Both are replayed
as if all was enforced, on what happened; a call that was refused then is tried again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from sponsio_like.contracts import File
from sponsio_like.replay.replay import Replay
from sponsio_like.replay.report import STOPPING
from sponsio_like.terminal import Cell, Styled, Table, counted
from sponsio_like.traces import CallEvent, DenialEvent, MessageEvent, Trace

EXAMPLES = 3
"""The most examples of each contract and kind."""
DifferenceKind: TypeAlias = Literal[
    "newly stopped", "newly let through", "newly left open", "no longer open"
]
KINDS: tuple[DifferenceKind, ...] = get_args(DifferenceKind)


@dataclass(frozen=True, slots=True)
class Differing:
    """One call, response or obligation that two versions of contracts judge differently."""

    kind: DifferenceKind
    contract: str
    trace: str
    position: int
    what: str


@dataclass(slots=True)
class Difference:
    """The differences that a change of contracts makes on recorded traces."""

    traces: int = 0
    calls: int = 0
    counts: dict[str, Counter[DifferenceKind]] = field(default_factory=dict)
    events: Counter[DifferenceKind] = field(default_factory=Counter)
    examples: list[Differing] = field(default_factory=list)
    modes: list[tuple[str, str, str]] = field(default_factory=list)
    not_judged: Counter[str] = field(default_factory=Counter)

    @property
    def same(self) -> bool:
        """True if both versions do the same."""
        return not self.events and not self.modes

    def as_json(self) -> dict[str, Any]:
        """Return what `sponsio-like diff --json` prints."""
        return {
            "traces": self.traces,
            "calls": self.calls,
            **{kind.replace(" ", "_"): self.events[kind] for kind in KINDS},
            "contracts": {name: dict(found) for name, found in self.counts.items()},
            "modes": [{"contract": n, "before": a, "after": b} for n, a, b in self.modes],
            "not_judged": dict(self.not_judged),
            "examples": [
                {"kind": e.kind, "contract": e.contract, "trace": e.trace,
                 "position": e.position, "what": e.what}
                for e in self.examples
            ],
        }  # fmt: skip

    def table(self) -> Table:
        """Return a row for each contract that differs."""
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (name, *[found[kind] for kind in KINDS]) for name, found in self.counts.items()
        )
        return Table(("contract", *KINDS), rows).without_zeros(*KINDS[2:])

    def page(self) -> list[Styled]:
        """Return the examples, the modes that differ, and the totals, for people."""
        out: list[Styled] = [(f"  {_line(each)}", "") for each in self.examples]
        out += [(f"{name}: mode {a} before, {b} now", "bold") for name, a, b in self.modes]
        return out + [(line, "") for line in self._conclusion()]

    def markdown(self) -> str:
        """Return the difference as Markdown, for a pull request."""
        lines = ["### What this change of contracts does", ""]
        if self.counts:
            lines += ["| contract | " + " | ".join(KINDS) + " |", "|---|" + "---:|" * len(KINDS)]
            for name, found in self.counts.items():
                cells = " | ".join(str(found[kind]) for kind in KINDS)
                lines.append(f"| {_escaped(name)} | {cells} |")
            lines.append("")
        lines += [f"- {_escaped(_line(each))}" for each in self.examples]
        lines += [f"- {_escaped(name)}: mode {a} before, {b} now" for name, a, b in self.modes]
        return "\n".join([*lines, "", *self._conclusion()]) + "\n"

    def _conclusion(self) -> Iterator[str]:
        seen = f"{counted(self.traces, 'trace')}, {counted(self.calls, 'call')}"
        said = ", ".join(f"{self.events[kind]:,} {kind}" for kind in KINDS if self.events[kind])
        yield f"{seen}: {said or 'both versions stop the same'}"
        for name, times in self.not_judged.items():
            yield f"`{name}` could not be judged in {counted(times, 'trace')}"


def _line(each: Differing) -> str:
    return f"{each.trace}, call {each.position}, {each.what}: {each.kind} by `{each.contract}`"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def difference(old: File, new: File, traces: Iterable[Trace]) -> Difference:
    """Compare two contract files on traces."""
    found = Difference()
    before, after = (_mode_of(each) for each in (old, new))
    shared = [name for name in after if name in before and before[name] != after[name]]
    found.modes = [(name, before[name], after[name]) for name in shared]
    players = [Replay(each.contracts, tools=each.inventory) for each in (old, new)]
    for trace in traces:
        found.traces += 1
        found.calls += trace.calls
        blind = {name for player in players for name in player.missing(trace)}
        found.not_judged.update(sorted(blind))
        one, two = (_stops(player, trace) for player in players)
        _compared(found, trace, one, two)
    return found


def _mode_of(file: File) -> dict[str, str]:
    return {
        each.name: (each.mode or file.mode or "enforce")
        + (f" {100 * each.share:g} %" if each.share < 1 else "")
        for each in file.contracts
    }


Stops: TypeAlias = dict[tuple[int, int, str], frozenset[str]]
"""The contracts that stop an event, by its place among all, its position, and what it is."""


def _stops(player: Replay, trace: Trace) -> tuple[Stops, frozenset[str]]:
    """Return what is stopped in a trace, and the contracts that stay unfulfilled."""
    play = player.play(trace)
    stops: Stops = {}
    for place, played in enumerate(play.events(try_refused=True)):
        names = {each.contract for each in played.violations if each.action in STOPPING}
        match played.event:
            case CallEvent(call, _) | DenialEvent(call):
                what = f"`{call.tool}`"
            case MessageEvent(message, _):
                what = message.role
            case _:
                continue
        if names:
            stops[place, played.position, what] = frozenset(names)
    _, left = play.finish()
    return stops, frozenset(each.contract for each in left)


def _compared(
    found: Difference,
    trace: Trace,
    one: tuple[Stops, frozenset[str]],
    two: tuple[Stops, frozenset[str]],
) -> None:
    (before, owed_before), (after, owed_after) = one, two
    for place in sorted({*before, *after}):
        if place in after and place not in before:
            _note(found, "newly stopped", after[place], trace, place)
        elif place in before and place not in after:
            _note(found, "newly let through", before[place], trace, place)
    end = (0, trace.calls, "the end")
    if new := owed_after - owed_before:
        _note(found, "newly left open", new, trace, end)
    if gone := owed_before - owed_after:
        _note(found, "no longer open", gone, trace, end)


def _note(
    found: Difference,
    kind: DifferenceKind,
    names: frozenset[str],
    trace: Trace,
    place: tuple[int, int, str],
) -> None:
    found.events[kind] += 1
    for name in sorted(names):
        counts = found.counts.setdefault(name, Counter())
        counts[kind] += 1
        if counts[kind] <= EXAMPLES:
            found.examples.append(Differing(kind, name, trace.id, place[1], place[2]))
