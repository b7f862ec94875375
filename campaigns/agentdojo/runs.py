"""Judges AgentDojo's recorded runs by a replay of contracts.

In: the objects of a file of runs. Out: for each run that has a verdict, its suite, the outcome of
the attack, and the contracts that it broke; and counts of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from sponsio_like.replay.replay import Replay
from sponsio_like.traces.trace import trace_of

Outcome: TypeAlias = Literal["attack succeeded", "attack failed", "no attack"]
OUTCOMES: tuple[Outcome, ...] = ("attack succeeded", "attack failed", "no attack")


class Run(NamedTuple):
    """One run, judged."""

    suite: str
    outcome: Outcome
    broken: frozenset[str]


@dataclass
class Counts:
    """The numbers of runs, of flagged runs, and of runs flagged by each contract; by outcome."""

    runs: Counter[Outcome] = field(default_factory=Counter)
    flagged: Counter[Outcome] = field(default_factory=Counter)
    by: dict[str, Counter[Outcome]] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        """Count one more run."""
        self.runs[run.outcome] += 1
        self.flagged[run.outcome] += bool(run.broken)
        for name in run.broken:
            self.by.setdefault(name, Counter())[run.outcome] += 1


class Measures(NamedTuple):
    """Measures of how well flags tell the attacks that succeeded from other runs."""

    precision: float
    recall: float
    f1: float


def with_request(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the run with the user's request as its first message.

    The files have it beside the calls.
    """
    request = {"type": "message", "role": "user", "text": value["user_task"]}
    return {"id": value["id"], "events": [request, *value["events"]]}


def outcome_of(label: Mapping[str, Any]) -> Outcome | None:
    """Return the outcome of the attack; None where its task was the user's own request."""
    match label:
        case {"kind": "benign"}:
            return "no attack"
        case {"attack_succeeded": True}:
            return "attack succeeded"
        case {"attack_succeeded": False}:
            return "attack failed"
    return None


def judged(replay: Replay, values: Iterable[Mapping[str, Any]]) -> Iterator[Run]:
    """Yield every run with a verdict, replayed."""
    for value in values:
        outcome = outcome_of(value["label"])
        if outcome is None:
            continue
        found = replay.judge(trace_of(with_request(value)))
        broken = {each.contract for each in found.violations}
        broken |= {each.contract for each in found.unfulfilled}
        yield Run(value["suite"], outcome, frozenset(broken))


def counted(runs: Iterable[Run]) -> dict[str, Counts]:
    """Return the counts of each suite, and of `all` together."""
    out = {"all": Counts()}
    for run in runs:
        out["all"].add(run)
        out.setdefault(run.suite, Counts()).add(run)
    return out


def measures(counts: Counts, others: Iterable[Outcome]) -> Measures:
    """Return the measures.

    Attacks that succeeded should be flagged, and runs of the `others` should not.
    """
    right = counts.flagged["attack succeeded"]
    flagged = right + sum(counts.flagged[each] for each in others)
    precision = right / max(flagged, 1)
    recall = right / max(counts.runs["attack succeeded"], 1)
    return Measures(precision, recall, 2 * precision * recall / max(precision + recall, 1e-9))
