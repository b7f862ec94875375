"""The trajectory monitor: safety specifications over the steps of an agent, watched live.

In: one observation a step (flags, or the names of what holds). Out: a report at any time, and the
final one at the end. It uses the engine of the contracts: the same formulas, and the same
three-valued verdicts, which never change once they are `violated` or `satisfied`. A step that some
trajectory has made before, from the same state, is looked up.

    monitor = TrajectorySafetyMonitor({"no_exfiltration": G(not_(atom("upload")))})
    monitor.observe({"upload"})
    assert monitor.report()["violations"] == ["no_exfiltration"]
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.checks import compile_policy
from sponsio_like.contracts import Rule, contract
from sponsio_like.engine import Ledger, Policy, judge, open_obligations, verdicts
from sponsio_like.errors import ContractError, ContractWarning, SessionError
from sponsio_like.events import NOTHING_TOLD, Step
from sponsio_like.monitor import ClauseState, Now, Verdict, overall


@dataclass(frozen=True, slots=True)
class StepObservation:
    """The observations of one step of the agent."""

    tool_call: bool = False
    verification_passed: bool = False
    handoff: bool = False
    coherence_check: bool = False
    injection_detected: bool = False
    output_emitted: bool = False
    fact_claim: bool = False
    evidence_retrieved: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The names of the flags that are set."""
        return frozenset(each.name for each in dataclasses.fields(self) if getattr(self, each.name))


# --- formulas -------------------------------------------------------------------------------------


def atom(name: str) -> f.Formula:
    """Return an atom: this step was observed with this name: `atom("tool_call")`."""
    if not name or not isinstance(name, str):
        raise ContractError.of(f"`{name!r}` is not the name of an atom", "write a text")
    return f.Observed(name)


def not_(body: f.Formula) -> f.Formula:
    """Return the formula that `body` does not hold."""
    return body.body if isinstance(body, f.Not) else f.Not(body)


def and_(*parts: f.Formula) -> f.Formula:
    """Return the formula that all of them hold; without any: true."""
    return f.conj(*dict.fromkeys(parts))


def or_(*parts: f.Formula) -> f.Formula:
    """Return the formula that one of them holds; without any: false."""
    return f.disj(*dict.fromkeys(parts))


def implies(left: f.Formula, right: f.Formula) -> f.Formula:
    """Return the formula that if `left` holds, so does `right`."""
    return f.Implies(left, right)


def G(body: f.Formula) -> f.Formula:  # noqa: N802  the name that temporal logic gave it
    """Return the formula that `body` holds now and at every later step (always)."""
    return body if _unbounded(body, f.Always) else f.Always(body)


def F(body: f.Formula) -> f.Formula:  # noqa: N802
    """Return the formula that `body` holds now or at some later step (eventually).

    If it has not held by the end, it is violated.
    """
    return body if _unbounded(body, f.Eventually) else f.Eventually(body)


def _unbounded(body: f.Formula, kind: type[f.Always | f.Eventually]) -> bool:
    return isinstance(body, kind) and body.bound is None


def X(body: f.Formula) -> f.Formula:  # noqa: N802
    """Return the formula that there is a next step, and `body` holds there."""
    return f.Next(body)


def U(left: f.Formula, right: f.Formula) -> f.Formula:  # noqa: N802
    """Return the formula that `right` holds now or later, and `left` at every step before."""
    return f.Until(left, right)


SPECIFICATIONS: Mapping[str, f.Formula] = {
    "tool_calls_are_verified": G(implies(atom("tool_call"), F(atom("verification_passed")))),
    "handoff_is_coherence_checked": G(implies(atom("handoff"), X(atom("coherence_check")))),
    "no_output_after_injection": G(not_(and_(atom("injection_detected"), atom("output_emitted")))),
    "fact_claims_are_grounded": G(implies(atom("fact_claim"), F(atom("evidence_retrieved")))),
}
"""The specifications that are watched unless others are given."""


# --- the monitor ----------------------------------------------------------------------------------

MOVES_CAP = 4_096
"""Most steps that are remembered of the same specifications; with one more, all are forgotten."""


class _Place:
    """A state of all specifications, and what is known of the steps that may follow.

    `moves`: from what is observed to the next place, and the specifications that it violates.
    """

    __slots__ = ("moves", "states")

    def __init__(self, states: tuple[ClauseState, ...]) -> None:
        self.states = states
        self.moves: dict[StepObservation | frozenset[str], tuple[_Place, tuple[str, ...]]] = {}


class _Specifications:
    """Specifications, compiled, and the steps that were made from their states. All monitors of
    the same specifications share them.
    """

    def __init__(self, specs: tuple[tuple[str, f.Formula], ...], policy: Policy) -> None:
        self.policy = policy
        self.named = {c.name: spec for c, (_, spec) in zip(policy.contracts, specs, strict=True)}
        parts = [node for _, spec in specs for node in f.postorder(spec)]
        self.spoken = frozenset(each.name for each in parts if isinstance(each, f.Observed))
        self.learns = all(each.automaton is not None for each in policy.clauses)
        self.start = _Place(policy.starts)
        self._places = {policy.starts: self.start}
        self._known = 0

    def moved(
        self, place: _Place, step: StepObservation | frozenset[str], at: int
    ) -> tuple[_Place, tuple[str, ...]]:
        """Return the place after this step, number `at`, and the specifications that it violates.

        It is remembered, unless the state says something of positions.
        """
        names = step.names if isinstance(step, StepObservation) else step
        ledger, event = self.ledger(place, at), Step(names)
        reads = [ledger.read(i, event, NOTHING_TOLD) for i in ledger.touched(event)]
        judgement = judge(ledger, event, reads, 0.0)
        states, bad = list(place.states), [*judgement.violated, *dict(judgement.failed)]
        for change in judgement.changes:
            assert change.state is not None
            states[change.clause] = change.state
        violated = tuple([self.policy.contracts[self.policy.owner[i]].name for i in bad])
        if not self.learns:
            return _Place(tuple(states)), violated
        if self._known >= MOVES_CAP:
            self._forget()
        after = self._places.setdefault(tuple(states), _Place(tuple(states)))
        place.moves[step] = after, violated
        self._known += 1
        return after, violated

    def ledger(self, place: _Place, steps: int) -> Ledger:
        """Return the ledger of a session in this state, after so many steps."""
        ledger = Ledger(self.policy)
        ledger.states = list(place.states)
        ledger.positions = [steps] * len(ledger.positions)
        return ledger

    def _forget(self) -> None:
        """Forget all steps. Monitors stay where they are."""
        for each in self._places.values():
            each.moves.clear()
        self._places = {self.start.states: self.start}
        self._known = 0


class TrajectorySafetyMonitor:
    """A monitor of named specifications over one trajectory; monitors never share state.

    Raises `ContractError` for a specification that can never be violated, or never be kept, or that
    speaks of anything but atoms of steps.
    """

    def __init__(self, specs: Mapping[str, f.Formula] = SPECIFICATIONS) -> None:
        if not isinstance(specs, Mapping):
            raise ContractError.of("specifications have names", 'write {"name": G(atom("name"))}')
        self._specs = _compiled(tuple(specs.items()))
        self._place = self._specs.start
        self._steps = 0
        self._violated_at: dict[str, int | None] = {}
        self._final: dict[str, Verdict] | None = None

    def observe(self, step: StepObservation | Iterable[str]) -> None:
        """Take one step. Raises `SessionError` after `finalize`."""
        if self._final is not None:
            raise SessionError("the trajectory is finalized; make a new monitor")
        if not isinstance(step, StepObservation):
            step = self._specs.spoken.intersection(_names(step))
        found = self._place.moves.get(step) or self._specs.moved(self._place, step, self._steps)
        self._place, violated = found
        for name in violated:
            self._violated_at.setdefault(name, self._steps)
        self._steps += 1

    def report(self) -> dict[str, Any]:
        """Return verdicts, formulas and step numbers (from 0), never what was observed."""
        return self._report(self._final or verdicts(self._ledger()))

    def finalize(self) -> dict[str, Any]:
        """End the trajectory, and return the report.

        What is still owed is violated, at no step; all the rest is satisfied.
        """
        if self._final is None:
            ledger, final = self._ledger(), dict[str, Verdict]()
            owed = {each.contract for each in open_obligations(ledger, Now(0.0, NOTHING_TOLD))}
            for name, verdict in verdicts(ledger).items():
                broken = verdict == "violated" or name in owed
                final[name] = "violated" if broken else "satisfied"
            self._final = final
        return self._report(self._final)

    def _ledger(self) -> Ledger:
        return self._specs.ledger(self._place, self._steps)

    def _report(self, found: Mapping[str, Verdict]) -> dict[str, Any]:
        specs = [
            {
                "name": name,
                "verdict": found[name],
                "formula": written(spec),
                "violated_at_step": self._violated_at.get(name),
            }
            for name, spec in self._specs.named.items()
        ]
        return {
            "verdict": overall(set(found.values())),
            "steps": self._steps,
            "specs": specs,
            "violations": [name for name in self._specs.named if found[name] == "violated"],
        }


@functools.lru_cache(maxsize=64)
def _compiled(specs: tuple[tuple[str, f.Formula], ...]) -> _Specifications:
    """Return these specifications, compiled once, for all trajectories."""
    if not specs:
        raise ContractError.of("no specification", 'write {"name": G(atom("name"))}')
    for name, spec in specs:
        _of_steps(name, spec)
    contracts = [replace(contract(name), rules=(Rule(spec),)) for name, spec in specs]
    policy = compile_policy(contracts, "observe")
    for each in policy.warnings:
        warnings.warn(str(each), ContractWarning, stacklevel=3)
    return _Specifications(specs, policy)


def _names(step: Iterable[str]) -> Iterable[str]:
    known = type(step) in (set, frozenset)  # the usual ones are told quickly
    if not known and (isinstance(step, (str, Mapping)) or not isinstance(step, Iterable)):
        raise SessionError("a step is a StepObservation or a set of names")
    names = step if known else list(step)
    for each in names:
        if not isinstance(each, str):
            raise SessionError("a step is a StepObservation or a set of names")
    return names


def _of_steps(name: str, spec: Any) -> None:
    """Raise `ContractError` for a specification that no step could ever affect."""
    if not isinstance(spec, f.Formula):
        raise ContractError.of(f"specification `{name}` is no formula", 'write G(atom("name"))')
    leaves = [node for node in f.postorder(spec) if not f.children(node)]
    for node in leaves:
        if not isinstance(node, f.Observed | f.Const | f.Constant):
            raise ContractError.of(
                f"specification `{name}` speaks of `{node!r}`", "a trajectory has atoms alone"
            )
    if not any(isinstance(node, f.Observed) for node in leaves):
        raise ContractError.of(f"specification `{name}` speaks of no atom", 'write atom("name")')


# --- formulas as the logician writes them -------------------------------------------------------

_UNARY = {f.Not: "¬", f.Always: "G ", f.Eventually: "F ", f.Next: "X "}
_BINARY = {f.And: " ∧ ", f.Or: " ∨ ", f.Implies: " → ", f.Iff: " ↔ ", f.Until: " U "}


def written(formula: f.Formula) -> str:
    """Return a formula as logicians write it: `G (tool_call → F verification_passed)`.

    Operators without such a sign are written as in files.
    """
    done: dict[f.Node, str] = {}
    for node in f.postorder(formula):
        below = [done[child] for child in f.children(node)]
        inner = [
            f"({text})" if type(child) in _BINARY else text
            for child, text in zip(f.children(node), below, strict=True)
        ]
        match node:
            case f.Observed(name):
                done[node] = name
            case f.Formula() if type(node) in _UNARY and getattr(node, "bound", None) is None:
                done[node] = f"{_UNARY[type(node)]}{inner[0]}"
            case f.Formula() if type(node) in _BINARY:
                done[node] = _BINARY[type(node)].join(inner)
            case _:
                done[node] = repr(node)
    return done[formula]
