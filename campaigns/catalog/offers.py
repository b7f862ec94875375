"""Counts the inputs that the traces have, without which a contract cannot be judged.

In: the folder of corpora, and the contracts that no recorded run can show. Out: for each file how
many traces have messages, outputs, facts, and so on, told from the JSON; and what a replay says of
those contracts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from campaigns.study import ROOT, lines, replay_of
from sponsio_like.contracts.loader import load
from sponsio_like.traces.trace import trace_of

NONE = "campaigns/catalog/unseen.yaml"
"""A file with one contract of each pattern that needs an input that no trace has."""
VALUES = "campaigns/values/contracts.yaml"
"""A file of contracts over values, which have a campaign and a page of their own."""
REFUSALS = {"denial_limit"}
"""The patterns that count refused calls."""
INPUTS = (
    "calls",
    "outputs",
    "errors",
    "refused",
    "messages",
    "usage",
    "facts",
    "agents",
    "depth",
    "times",
)


@dataclass
class Offer:
    """The inputs that the traces of one file have; `unseen` counts those that patterns miss."""

    name: str
    traces: int = 0
    has: Counter[str] = field(default_factory=Counter)
    unseen: dict[str, Counter[str]] = field(default_factory=dict)
    judged: set[str] = field(default_factory=set)


def offered(folder: Path, first: int | None = None) -> list[Offer]:
    """Return the inputs of each file of a folder, in order."""
    return [_file(folder, path.name, first) for path in sorted(folder.glob("*.jsonl.gz"))]


def _file(folder: Path, name: str, first: int | None) -> Offer:
    named = {each.name: each.rules[0].pattern for each in load(ROOT / NONE).contracts}
    replay, out = replay_of(NONE), Offer(name)
    out.unseen = {pattern: Counter() for pattern in named.values()}
    for value in islice(lines(folder, name), first):
        out.traces += 1
        out.has.update(set(_has(value["events"])))
        lacks = replay.missing(trace_of(value, name))
        for contract, pattern in named.items():
            if lack := lacks.get(contract):
                out.unseen[pattern][" and ".join(sorted(lack))] += 1
            else:
                out.judged.add(contract)
    return out


def _has(events: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    fields = {"agents": "agent", "depth": "depth", "times": "time", "outputs": "output"}
    for event in events:
        kind = event.get("type", "call")
        yield from (name for name, key in fields.items() if key in event)
        yield from (["usage"] if event.get("usage") else [])
        yield {"call": "calls", "message": "messages", "fact": "facts"}.get(kind, kind)
        status = {"error": "errors", "refused": "refused"}.get(event.get("status", "ok"))
        yield from ([status] if status else [])
