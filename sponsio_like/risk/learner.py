"""Learns a model of risk from recorded traces, one trace after the other.

In: contracts and traces. Out: a `RiskModel`. The traces are played under the contracts, which only
observe, with a gate that writes down the states at which a look-up would be made: after the
contracts have let a call through. Memory grows with the states, not with the traces.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from sponsio_like.contracts import Contract, InventoryLike
from sponsio_like.engine import Finding, Ledger
from sponsio_like.errors import RiskError
from sponsio_like.events import Call
from sponsio_like.outcome import Allowed, Decision, Violation
from sponsio_like.replay import Replay
from sponsio_like.risk.abstraction import Holds, MonitorNames, Path
from sponsio_like.risk.model import (
    BAD,
    BEGIN,
    END,
    HORIZONS,
    MODULUS,
    Data,
    Header,
    Move,
    RiskModel,
    State,
    shortened,
)
from sponsio_like.risk.predicates import labels
from sponsio_like.session import CallFields
from sponsio_like.traces import CallEvent, DenialEvent, Trace

VIOLATED = "violated"
REACH_CAP = 8


class Recorder:
    """A gate that lets everything through, and notes the states at which it was asked."""

    def __init__(self, names: MonitorNames, reach: int, holds: Holds | None) -> None:
        self.path = Path(names, reach, holds)
        self._asked: State = ("", (), "")
        self.states: list[tuple[str, State]] = []
        """The id of each call, and the state at which it was proposed."""

    def passes(self, ledger: Ledger, call: CallFields) -> bool:
        """Note the state, and return True."""
        self.path.fresh(ledger)
        self._asked = (*self.path.context, self.path.symbol(call[1], call[2]))
        return True

    def ahead(
        self, ledger: Ledger, call: Call, position: int, rulings: Mapping[str, Decision]
    ) -> Finding | None:
        """Note the state, and return None."""
        del position, rulings
        self.passes(ledger, (call.id, call.tool, call.args, call.agent, call.depth))
        return None

    def began(self, call: CallFields) -> None:
        """Keep the state that was asked about last."""
        self.states.append((call[0], self._asked))
        self.path.began(*call[:3])

    def note_result(self, ledger: Ledger, id: str, *, ok: bool) -> None:
        """Note the result of a call in flight."""
        del ledger
        self.path.note_result(id, ok)

    def ran(self, ledger: Ledger, call: CallFields, *, ok: bool) -> None:
        """Keep the state that was asked about last, and note the call and its result."""
        del ledger
        self.states.append((call[0], self._asked))
        self.path.ran(*call[:3], ok=ok)

    def risk(self, ledger: Ledger, tool: str, args: Mapping[str, Any]) -> None:
        """Nothing is known of any risk while learning."""

    def refused(self, finding: Finding) -> None:
        """Nothing is ever refused."""

    def told(self, id: str) -> None:
        """Nothing is told to a log."""

    def plain(self) -> Any:
        """Nothing is kept in a snapshot."""

    def resume(self, data: Any) -> None:
        """Nothing is restored."""


class RecordedRun:
    """One trace as far as risk goes: the states that were visited, and how it ended.

    `visits` are numbered by the calls of the trace; `bad` is the number of the call that made it
    bad (the number of all calls, if its end did), `stopped` that of the call at which somebody
    stepped in. None: never.
    """

    def __init__(self) -> None:
        self.visits: list[tuple[int, State]] = []
        self.bad: int | None = None
        self.stopped: int | None = None
        self.calls = 0

    @property
    def end(self) -> str | None:
        """`bad`, `end`, or None if nobody knows."""
        if self.bad is not None:
            return BAD
        return END if self.stopped is None else None


class Learner:
    """Counts, trace by trace. `bad`: `violated`, or `field=value` of the trace (`label.kind=x`).

    `reach`: the symbols that a state has, besides the call that is proposed. `predicates`: names
    for what holds of a call's `tool` and `args`. Raises `RiskError` for what cannot be counted.
    """

    def __init__(
        self,
        contracts: Iterable[Contract],
        *,
        reach: int = 2,
        bad: str = VIOLATED,
        predicates: Mapping[str, str] | None = None,
        horizons: tuple[int | None, ...] = HORIZONS,
        tools: InventoryLike = None,
    ) -> None:
        if not 0 <= reach <= REACH_CAP:
            raise RiskError(f"reach is {reach}; write 0 to {REACH_CAP}")
        if bad != VIOLATED and not bad.partition("=")[1]:
            raise RiskError(f"bad is `{bad}`; write `{VIOLATED}`, or field=value of a trace")
        self.replay = Replay(contracts, tools=tools)
        whole = self.replay.policy
        self.header = Header(reach, bad, whole.fingerprints, dict(predicates or {}), horizons)
        self._holds = labels(self.header.predicates) if predicates else None
        self._names = MonitorNames(whole)
        self._levels: list[dict[State, list[int]]] = [{} for _ in range(reach + 1)]
        self._moves: dict[Move, int] = {}
        self._data: dict[str, Any] = {"traces": 0, "bad": 0, "censored": 0, "left_out": 0}
        self._digest = 0

    def run(self, trace: Trace) -> RecordedRun | None:
        """Return what a trace shows; None if contracts cannot be judged on it."""
        if self.replay.missing(trace):
            return None
        gate, run = Recorder(self._names, self.header.reach, self._holds), RecordedRun()
        play = self.replay.play(trace, gate)
        found = 0
        for event, position, outcome, violations in play.events():
            breaks = self.header.bad == VIOLATED and any(map(_counts, violations))
            for _, state in gate.states[found:]:
                if not (isinstance(outcome, Allowed) and any(map(_stops, violations))):
                    run.visits.append((position, state))
            found = len(gate.states)
            if isinstance(event, DenialEvent) and run.stopped is None:
                run.stopped = position
            if breaks:
                mine = isinstance(event, CallEvent) and not any(map(_stops, violations))
                run.bad = position + mine
                break
            if run.stopped is not None:
                break
        run.calls = trace.calls
        self._ended(run, trace, play.finish() if run.bad is None else ((), ()))
        return run

    def _ended(self, run: RecordedRun, trace: Trace, left: tuple[Any, Any]) -> None:
        if run.stopped is None and trace.fields.get("intervened"):
            run.stopped = run.calls
        if run.stopped is not None:
            return
        if self.header.bad == VIOLATED:
            if run.bad is None and any(map(_counts, left[0])):
                run.bad = run.calls
            return
        name, _, wanted = self.header.bad.partition("=")
        if _field(trace.fields, name, trace.id) == wanted:
            run.bad = run.calls

    def add(self, trace: Trace) -> RecordedRun | None:
        """Count a trace, and return what it shows; None if contracts cannot be judged on it."""
        run = self.run(trace)
        self._digest = (self._digest + _hashed(trace)) % MODULUS
        if run is None:
            self._data["left_out"] += 1
        else:
            self.count(run)
        return run

    @property
    def data(self) -> Data:
        """The traces so far, in numbers."""
        return Data(**self._data, digest=f"{self._digest:x}")

    def count(self, run: RecordedRun) -> None:
        """Count a run: its first visits, and its moves."""
        self._data["traces"] += 1
        self._data["bad"] += run.bad is not None
        self._data["censored"] += run.end is None
        for level, rows in enumerate(self._levels):
            first: dict[State, int] = {}
            for at, state in run.visits:
                first.setdefault(shortened(state, level), at)
            for state, at in first.items():
                row = rows.get(state)
                if row is None:
                    row = rows[state] = [0] * (1 + 2 * len(self.header.horizons))
                self._visited(row, run, at)
        states = [BEGIN, *(state for _, state in run.visits)]
        moves: list[Move] = [*pairwise(states)]
        if run.end is not None:
            moves.append((states[-1], run.end))
        for move in moves:
            self._moves[move] = self._moves.get(move, 0) + 1

    def _visited(self, row: list[int], run: RecordedRun, at: int) -> None:
        row[0] += 1
        for i, horizon in enumerate(self.header.horizons):
            if run.bad is not None:
                row[2 + 2 * i] += horizon is None or run.bad - at <= horizon
            elif run.stopped is not None:
                row[1 + 2 * i] += horizon is None or at + horizon >= run.stopped

    def model(self) -> RiskModel:
        """Return the model of the traces so far. Raises `RiskError` if there are none."""
        if not self._data["traces"]:
            raise RiskError(
                f"nothing to learn from: {self._data['left_out']} traces, none with all inputs "
                "that the contracts need"
            )
        levels = tuple({s: tuple(row) for s, row in each.items()} for each in self._levels)
        used = {state[0] for state in levels[-1]}
        monitors = {name: parts for name, parts in self._names.said.items() if name in used}
        return RiskModel(self.header, self.data, levels, dict(self._moves), monitors)


def learn(contracts: Iterable[Contract], traces: Iterable[Trace], **options: Any) -> RiskModel:
    """Return the model of these traces under these contracts; options as of `Learner`."""
    learner = Learner(contracts, **options)
    for trace in traces:
        learner.add(trace)
    return learner.model()


def _counts(violation: Violation) -> bool:
    return violation.action != "warned" and violation.contract != "session"


def _stops(violation: Violation) -> bool:
    return violation.action not in ("warned", "reported")


def _field(fields: Mapping[str, Any], name: str, trace: str) -> str:
    value: Any = fields
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise RiskError(f"trace `{trace}` has no field `{name}`, by which it would be bad")
        value = value[part]
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def _hashed(trace: Trace) -> int:
    said = repr((trace.id, trace.events)).encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(said, digest_size=32).digest(), "big")
