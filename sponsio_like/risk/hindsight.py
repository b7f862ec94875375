"""Plays a policy of risk over recorded runs: where it would have stepped in, and was it right.

In: a policy, the contracts that its model was learned with, traces. Out: a `Hindsight`: for each
run the first call that would have been stopped or asked about, and what became of the run.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sponsio_like.contracts import Contract, InventoryLike
from sponsio_like.errors import RiskError
from sponsio_like.risk.alarm import Alarm, Calibration, calibration
from sponsio_like.risk.estimate import Risk, Verdict
from sponsio_like.risk.learner import Learner, RecordedRun
from sponsio_like.risk.model import changed_contracts, described
from sponsio_like.risk.policy import RiskPolicy
from sponsio_like.traces import Trace


class Visit(NamedTuple):
    """A call that a run proposed, by its number in the run, and its risk."""

    at: int
    risk: Risk


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A recorded run: the risk of each of its calls, and how it ended.

    `bad`: the number of the call that made it bad (the number of all calls, if its end did);
    `ended`: False for a run that somebody stopped, of which the end is unknown.
    """

    id: str
    calls: int
    visits: tuple[Visit, ...]
    bad: int | None
    ended: bool

    def first(self, verdict: Verdict, policy: RiskPolicy) -> Visit | None:
        """Return the first call with such a verdict; None if there is none."""
        return next((each for each in self.visits if policy.verdict(each.risk) == verdict), None)


class Outcomes(NamedTuple):
    """Runs that ended alike: how many, and in how many a call would have been stopped, or asked
    about. A run may count as both.
    """

    runs: int
    stopped: int
    asked: int

    @property
    def share(self) -> float:
        """The share that would have been stopped; 0 of no runs."""
        return self.stopped / self.runs if self.runs else 0.0


class RiskyState(NamedTuple):
    """A state at which a policy would have stepped in: in so many runs, so many of them bad."""

    state: str
    runs: int
    bad: int
    risk: Risk


@dataclass(frozen=True)
class Hindsight:
    """The decisions that a policy would have made in recorded runs. `left_out`: not to be judged.

    `same`: these are the very runs that its model was learned from, so that the figures flatter.
    """

    policy: RiskPolicy
    runs: tuple[JudgedRun, ...]
    left_out: int
    same: bool

    def outcomes(self, *, bad: bool) -> Outcomes:
        """Return what would have been done in the runs that ended badly, or in those that did
        not.
        """
        mine = [run for run in self.runs if run.ended and (run.bad is not None) == bad]
        stopped = [run for run in mine if run.first("above", self.policy)]
        asked = [run for run in mine if run.first("in doubt", self.policy)]
        return Outcomes(len(mine), len(stopped), len(asked))

    @cached_property
    def leads(self) -> tuple[int, ...]:
        """The calls between the stop and the call that made a run bad, of each that is caught."""
        found = ((run.bad, run.first("above", self.policy)) for run in self.runs)
        return tuple(
            sorted(bad - visit.at for bad, visit in found if bad is not None and visit is not None)
        )

    @property
    def lead(self) -> float | None:
        """The median of `leads`, in calls; None if no run is caught."""
        return statistics.median(self.leads) if self.leads else None

    @cached_property
    def places(self) -> tuple[RiskyState, ...]:
        """The states at which calls would have been stopped, those of most runs first."""
        seen: dict[Risk, list[bool]] = {}
        for run in self.runs:
            visit = run.first("above", self.policy)
            if visit is not None and run.ended:
                seen.setdefault(visit.risk, []).append(run.bad is not None)
        found = (
            RiskyState(described(risk.state), len(ends), sum(ends), risk)
            for risk, ends in seen.items()
        )
        return tuple(sorted(found, key=lambda place: (-place.runs, place.state)))

    @cached_property
    def calibration(self) -> Calibration | None:
        """The calibration of the estimates, each visited state with how its run ended."""
        pairs = [
            (risk.estimate, self._came_true(run, at))
            for run in self.runs
            if run.ended
            for at, risk in run.visits
            if risk.estimate is not None
        ]
        return calibration(pairs) if pairs else None

    def _came_true(self, run: JudgedRun, at: int) -> bool:
        horizon = self.policy.horizon
        return run.bad is not None and (horizon is None or run.bad - at <= horizon)

    def wealth(self, alpha: float = 0.05) -> tuple[Alarm, list[float]]:
        """Return the alarm after all runs, and its worth after each: one prediction a run, that of
        its first call.
        """
        alarm, worth = Alarm(alpha), []
        for run in self.runs:
            first = next((v for v in run.visits if v.risk.estimate is not None), None)
            if run.ended and first is not None and first.risk.estimate is not None:
                alarm.see(first.risk.estimate, self._came_true(run, first.at))
                worth.append(alarm.wealth)
        return alarm, worth


def look_back(
    policy: RiskPolicy,
    contracts: Iterable[Contract],
    traces: Iterable[Trace],
    *,
    tools: InventoryLike = None,
) -> Hindsight:
    """Return what a policy would have done in these runs.

    Raises `RiskError` if the contracts are not those of the model, or a trace lacks the field that
    says how it ended.
    """
    header = policy.model.header
    named = header.predicates
    learner = Learner(
        contracts, reach=header.reach, bad=header.bad, predicates=named, tools=tools,
        horizons=header.horizons,
    )  # fmt: skip
    if changed := changed_contracts(header.contracts, learner.header.contracts):
        raise RiskError(
            f"the model of risk was learned under other contracts: {', '.join(changed)}"
        )
    runs = tuple(_judged(policy, learner, traces))
    data = learner.data
    return Hindsight(policy, runs, data.left_out, data.digest == policy.model.data.digest)


def _judged(policy: RiskPolicy, learner: Learner, traces: Iterable[Trace]) -> Iterator[JudgedRun]:
    for trace in traces:
        run = learner.add(trace)
        if run is not None:
            yield JudgedRun(trace.id, run.calls, _visits(policy, run), run.bad, run.end is not None)


def _visits(policy: RiskPolicy, run: RecordedRun) -> tuple[Visit, ...]:
    return tuple(Visit(at, policy.risk(state[:2], state[2])) for at, state in run.visits)
