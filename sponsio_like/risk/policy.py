"""The policy of risk: a model, a threshold, and what is done at a state whose risk is above it.

In: what the host has written, in Python or under `risk:` of a contract file. Out: a `RiskPolicy`;
opened under the contracts that it was learned with, a gate for each session. Neither numpy nor
scipy is needed.
"""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from sponsio_like.contracts import Examine, RiskSection, intervention
from sponsio_like.engine import RISK_NAME, Policy
from sponsio_like.errors import RiskError
from sponsio_like.outcome import Block, Decision, Escalate, Mode, Warn
from sponsio_like.risk.abstraction import Context, MonitorNames, Path
from sponsio_like.risk.estimate import By, Risk, Verdict
from sponsio_like.risk.gate import RiskGate
from sponsio_like.risk.model import (
    RiskModel,
    RunCount,
    State,
    changed_contracts,
    read_model,
    shortened,
)
from sponsio_like.risk.predicates import labels


@dataclass(frozen=True)
class RiskPolicy:
    """A model of risk, and what is done about it before a call runs.

    Let through if the upper bound is at most `threshold`; `on_risk` if the lower bound is above it;
    `on_unknown` between, and where no run has ever been (by default: a person is asked where the
    guard enforces, and it is logged where it observes). `horizon`: within so many calls; None: at
    all. Bounds hold at `confidence`; where fewer than `least` runs came to a state, those that came
    there with fewer symbols count. Raises `RiskError` for a threshold outside of (0, 1).
    """

    model: RiskModel
    threshold: float
    on_risk: Any = "escalate"
    on_unknown: Any = None
    horizon: int | None = None
    confidence: float = 0.95
    least: int = 30
    mode: Mode | None = None

    def __post_init__(self) -> None:
        for name in ("threshold", "confidence"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not 0 < value < 1:
                raise RiskError(f"{name} is `{value}`; write a number between 0 and 1")
        if type(self.least) is not int or self.least < 1:
            raise RiskError(f"least is `{self.least}`; write a number of runs, such as 30")
        if self.mode not in (None, "enforce", "observe"):
            raise RiskError(f"mode is `{self.mode}`; write enforce, or observe")
        self.model.column(self.horizon)
        object.__setattr__(self, "on_risk", intervention(self.on_risk, unknown=False))
        if self.on_unknown is not None:
            object.__setattr__(self, "on_unknown", intervention(self.on_unknown))

    @cached_property
    def table(self) -> Mapping[Context, Mapping[str, Risk]]:
        """The risk of every state that was seen, by its context and the call that is proposed."""
        out: dict[Context, dict[str, Risk]] = {}
        for state in self.model.states:
            out.setdefault(state[:2], {})[state[2]] = self._risk(state)
        return out

    @cached_property
    def safe(self) -> Mapping[Context, Mapping[str, Risk]]:
        """The states of `table` whose upper bound is at most the threshold."""
        return {
            context: {name: risk for name, risk in row.items() if risk.hi <= self.threshold}
            for context, row in self.table.items()
        }

    def _risk(self, state: State) -> Risk:
        delta, reach = 1 - self.confidence, self.model.header.reach
        widest = RunCount(0, 0, 0), 0
        for level in range(reach, -1, -1):
            count = self.model.count(shortened(state, level), self.horizon, level)
            widest = (count, level) if count.runs > widest[0].runs else widest
            if count.known >= self.least:
                widest = count, level
                break
        count, level = widest
        by: By = "observed" if shortened(state, level) == state else "backoff"
        bounds = count.interval(delta)
        return Risk(state, count.runs, count.hits, *bounds, by, level, self.horizon)

    def risk(self, context: Context, symbol: str) -> Risk:
        """Return the risk of a call that is proposed in a context."""
        found = self.table.get(context, {}).get(symbol)
        if found is not None:
            return found
        return Risk((*context, symbol), 0, 0, 0.0, 1.0, "unknown", 0, self.horizon)

    def opened(self, policy: Policy, *, relaxed: bool = False) -> RiskGate:
        """Return a gate for one session; `relaxed`: it only observes.

        Raises `RiskError` if the contracts are not the model's.
        """
        if id(policy) not in self._opened:
            self._check(policy, relaxed=relaxed)
            mode: Mode = "observe" if relaxed else self._mode(policy)
            self._opened[id(policy)] = policy, MonitorNames(policy), mode
        _, names, mode = self._opened[id(policy)]
        path = Path(names, self.model.header.reach, self._holds)
        return RiskGate(self, path, mode)

    @cached_property
    def _opened(self) -> dict[int, tuple[Policy, MonitorNames, Mode]]:
        return {}

    @cached_property
    def _holds(self) -> Any:
        named = self.model.header.predicates
        return labels(named) if named else None

    def _check(self, policy: Policy, *, relaxed: bool) -> None:
        if self.mode == "enforce" and not (policy.enforces or relaxed):
            raise RiskError("risk is to be enforced, and no contract is; enforce one, or observe")
        if changed := changed_contracts(self.model.header.contracts, policy.fingerprints):
            raise RiskError(
                f"the model of risk was learned under other contracts: {', '.join(changed)}; learn "
                "it again with `sponsio-like risk learn`"
            )
        if RISK_NAME in policy.fingerprints:
            raise RiskError(
                f"a contract is named `{RISK_NAME}`, as findings of risk are; rename it"
            )

    def _mode(self, policy: Policy) -> Mode:
        return self.mode or (policy.mode if policy.enforces else "observe")

    def verdict(self, risk: Risk) -> Verdict:
        """Return what the threshold says of a risk."""
        if risk.by != "unknown" and risk.hi <= self.threshold:
            return "runs"
        return "above" if risk.lo > self.threshold else "in doubt"

    def answer(self, risk: Risk, mode: Mode, told: int) -> Decision | None:
        """Return what is done about a risk; None: nothing, the call is let through.

        `told`: how often the model was told to examine itself.
        """
        verdict = self.verdict(risk)
        if verdict == "runs":
            return None
        chosen = self.on_risk if verdict == "above" else self.on_unknown
        if chosen is None:
            chosen = Escalate() if mode == "enforce" else Warn()
        if isinstance(chosen, Examine):
            return Block() if told < chosen.times else chosen.then
        decision: Decision = chosen
        return decision


def policy_of(section: RiskSection, folder: pathlib.Path) -> RiskPolicy:
    """Return the policy of a section `risk:`, whose model lies relative to `folder`."""
    said = {each.name: getattr(section, each.name) for each in fields(section)}
    given = {name: value for name, value in said.items() if value is not None and name != "model"}
    return RiskPolicy(read_model(folder / section.model), **given)
