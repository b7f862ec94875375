"""Replays contracts on recorded traces.

In: contracts and traces. Out: for each trace what was violated, where, and what enforcement does
about it. A replay observes: what happened stays in the trace. With `enforce`, a call that is
stopped did not happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sponsio_like.advice import labelled, plainly
from sponsio_like.checks import arguments_asked, compile_policy, content_missing
from sponsio_like.contracts import Contract, InventoryLike, declared, inputs_needed, said_of
from sponsio_like.engine import ByName, Policy
from sponsio_like.errors import SessionError
from sponsio_like.event_types import Record
from sponsio_like.events import Call
from sponsio_like.outcome import (
    Allowed,
    Blocked,
    Held,
    Mode,
    Outcome,
    Redirected,
    Unfulfilled,
    Violation,
)
from sponsio_like.replay.applied import Applied
from sponsio_like.session import ARGUMENTS, Gate, Log, Session
from sponsio_like.traces import (
    CallEvent,
    DenialEvent,
    Event,
    FactEvent,
    MessageEvent,
    ResultEvent,
    StepEvent,
    Trace,
)


class Played(NamedTuple):
    """One event, replayed.

    `position` is the number of calls before it; `outcome` is that of a call or a message.
    """

    event: Event
    position: int
    outcome: Outcome | None
    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class TraceVerdict:
    """The result of one trace: violations, and what stayed unfulfilled.

    `not_judged` has contracts with the inputs that they miss; `applied` the number of events to
    which each contract applied (`engine/applicability.py`); `overlooked` the tool, the field and
    the contract for each field that a contract names and that stood beside empty arguments.
    """

    id: str
    calls: int
    violations: tuple[Violation, ...]
    unfulfilled: tuple[Unfulfilled, ...]
    not_judged: Mapping[str, frozenset[str]]
    applied: Mapping[str, int] = field(default_factory=dict)
    overlooked: tuple[tuple[str, str, str], ...] = ()

    @property
    def clean(self) -> bool:
        """True if every judged contract was kept to the end."""
        return not self.violations and not self.unfulfilled

    def as_json(self, *, values: bool = True) -> dict[str, Any]:
        """Return the line of `sponsio-like replay --json`.

        Without `values`, labels stand for the values of variables.
        """
        word = plainly if values else labelled()
        return {
            "id": self.id,
            "calls": self.calls,
            "violations": [_plain(each, word) for each in self.violations],
            "unfulfilled": [
                {"contract": each.contract, "message": each.message}
                | _witness(each, word)
                | said_of(each)
                for each in self.unfulfilled
            ],
            "not_judged": list(self.not_judged),
            "applied": dict(self.applied),
        }


def _plain(violation: Violation, word: Callable[[Any], Any]) -> dict[str, Any]:
    fields = ("contract", "position", "tool", "action", "message")
    since = {} if violation.since is None else {"since": violation.since}
    found = {each: getattr(violation, each) for each in fields}
    return found | _witness(violation, word) | since | said_of(violation)


def _witness(found: Violation | Unfulfilled, word: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the values of the contract's variables; empty if it has none."""
    values = {name: word(value) for name, value in found.values}
    return {"values": values} if values else {}


class Replay:
    """Contracts, compiled to judge any number of traces one after the other.

    With `enforce` all are enforced but those that say `mode: observe` themselves. Raises
    `ContractError` if they cannot be compiled. Not for several threads.
    """

    def __init__(
        self,
        contracts: Iterable[Contract],
        *,
        enforce: bool = False,
        mode: Mode = "enforce",
        tools: InventoryLike = None,
    ) -> None:
        as_written = tuple(contracts)
        observed = tuple(replace(contract, mode="observe") for contract in as_written)
        self.contracts = as_written if enforce else observed
        self.needs = {contract.name: inputs_needed(contract) for contract in self.contracts}
        self._mode: Mode = "enforce" if enforce else mode
        self._inventory = declared(tools)
        self._records: list[Record] = []
        self._policies: dict[tuple[frozenset[Any], ...], tuple[Policy, ByName]] = {}
        self.policy = self._policy(self.contracts)

    def judge(self, trace: Trace) -> TraceVerdict:
        """Play a trace to its end; return what became of it."""
        play = self.play(trace)
        applied = Applied(*self.ready(trace))
        violations: list[Violation] = []
        for played in play.events():
            violations += played.violations
            applied.see(played.event)
        late, unfulfilled = play.finish()
        every = (*violations, *late)
        lacks = self.missing(trace)
        lost = tuple(self._overlooked(trace))
        return TraceVerdict(trace.id, trace.calls, every, unfulfilled, lacks, applied.end(), lost)

    def play(self, trace: Trace, gate: Gate | None = None) -> Playback:
        """Return a play of this trace with those contracts that can be judged on it, and a gate."""
        policy, _ = self.ready(trace)
        self._records.clear()
        return Playback(trace, policy, self._records, gate)

    def _overlooked(self, trace: Trace) -> Iterator[tuple[str, str, str]]:
        """Yield the fields beside empty arguments that contracts name."""
        policy, _ = self.ready(trace)
        for tool, name in sorted(trace.beside):
            if contract := arguments_asked(policy, tool).get(name):
                yield tool, name, contract

    def ready(self, trace: Trace) -> tuple[Policy, ByName]:
        """Return the contracts that can be judged on a trace, compiled, and found by names."""
        key = trace.inputs, trace.withheld
        found = self._policies.get(key)
        if found is None:
            missing = self.missing(trace)
            left = [each for each in self.contracts if each.name not in missing]
            policy = self._policy(left) if missing else self.policy
            found = self._policies[key] = (policy, ByName(policy))
        return found

    def missing(self, trace: Trace) -> dict[str, frozenset[str]]:
        """Return the contracts that cannot be judged on a trace, with the inputs it lacks."""
        unrecorded = content_missing(self.policy, trace.withheld)
        lacks = {
            name: (wants - trace.inputs) | unrecorded.get(name, frozenset())
            for name, wants in self.needs.items()
        }
        return {name: lack for name, lack in lacks.items() if lack}

    def _policy(self, contracts: Iterable[Contract]) -> Policy:
        return compile_policy(contracts, self._mode, self._inventory)


class Playback:
    """One trace, played through a session whose clock is the trace's.

    `records` takes the session's log: it has every violation, also those that time or a result
    reveals.
    """

    def __init__(
        self, trace: Trace, policy: Policy, records: list[Record], gate: Gate | None = None
    ) -> None:
        self.trace = trace
        self.records = records
        self.time = 0.0
        self.calls = 0
        log = Log(records.append, ARGUMENTS)
        self.session = Session(policy, trace.id, clock=lambda: self.time, log=log, gate=gate)
        self._places: list[int] = []
        self._substituted: set[str] = set()

    def events(self, *, try_refused: bool = False) -> Iterator[Played]:
        """Play the events one by one, and yield each.

        With `try_refused`, a call that was refused when it was recorded is decided, too, beside the
        session, which does not change by it.
        """
        for event in self.trace.events:
            position = self.calls
            if try_refused and isinstance(event, DenialEvent):
                yield Played(event, position, *self._tried(event.call))
            outcome = self._play(event)
            if try_refused and isinstance(event, DenialEvent):
                self.records.clear()
                continue
            yield Played(event, position, outcome, self._violations(position))
            self.calls = position + isinstance(event, CallEvent)

    def finish(self) -> tuple[tuple[Violation, ...], tuple[Unfulfilled, ...]]:
        """End the session; return what time has violated by then, and what stays unfulfilled."""
        unfulfilled = self.session.finish()
        return self._violations(self.calls), unfulfilled

    def _tried(self, call: Call) -> tuple[Outcome, tuple[Violation, ...]]:
        """Decide a call in a copy of the session."""
        self.time = call.time
        copy = Session(self.session.policy, self.trace.id, clock=lambda: self.time)
        copy.resume(self.session.snapshot())
        outcome = copy.decide(call.tool, call.args, agent=call.agent, depth=call.depth)
        match outcome:
            case Allowed(_, warnings, observed):
                return outcome, (*warnings, *observed)
            case _:
                return outcome, outcome.violations

    def _play(self, event: Event) -> Outcome | None:
        match event:
            case CallEvent():
                return self._call(event)
            case DenialEvent(call):
                self.time = call.time
                self.session.refused(call.tool, call.args, agent=call.agent, depth=call.depth)
            case ResultEvent(id, _, time):
                self.time = time
                if id not in self._substituted:
                    self._settle(event)
            case MessageEvent(message, usage):
                self.time = message.time
                return self.session.message(message.role, message.text, usage=usage)
            case FactEvent(key, value, time):
                self.time = time
                self.session.fact(key, value)
            case StepEvent(step):
                self.time = step.time
                self.session.step(step.atoms)
        return None

    def _call(self, event: CallEvent) -> Outcome:
        call, result = event.call, event.result
        self.time = call.time
        before = self.session.calls
        outcome = self._decided(call)
        if isinstance(outcome, Held) and event.approved_by:
            outcome = self._answered(call, outcome, event.approved_by)
        if self.session.calls > before:
            self._places.append(self.calls)
        match outcome:
            case Allowed():
                if result is not None:
                    self._settle(ResultEvent(outcome.id, result, call.time))
            case Redirected():  # the substitute never ran, so it has no result
                self._substituted.add(call.id)
            case Blocked() | Held():  # it did not run
                pass
        return outcome

    def _decided(self, call: Call) -> Outcome:
        return self.session.decide(
            call.tool, call.args, id=call.id, agent=call.agent, depth=call.depth
        )

    def _answered(self, call: Call, held: Held, role: str) -> Outcome:
        """Return what becomes of a held call when a person of this role says yes.

        It stays held if the role may not answer, or another role has to answer, too. What the
        person let through is no violation of the trace.
        """
        try:
            ticket = self.session.approve(held.ticket, by=role, role=role)
        except SessionError:
            return held
        if ticket.status != "approved":
            return held
        self.records.clear()
        outcome = self._decided(call)
        forgiven = {each.contract for each in ticket.asked}
        for record in self.records:
            found = record.get("violations", ())
            record["violations"] = [each for each in found if each["contract"] not in forgiven]
        return outcome

    def _settle(self, settled: ResultEvent) -> None:
        output = settled.result.output
        if settled.result.status == "ok":
            self.session.settle(settled.id, output=output)
        else:
            self.session.settle(settled.id, error="" if output is None else output)

    def _violations(self, position: int) -> tuple[Violation, ...]:
        """Return the violations logged since the last time, at positions of the recorded trace."""
        found = [
            Violation(**each) for record in self.records for each in record.get("violations", ())
        ]
        self.records.clear()
        return tuple(self._placed(each, position) for each in found)

    def _placed(self, each: Violation, now: int) -> Violation:
        since = None if each.since is None else self._place(each.since, now)
        return replace(each, position=self._place(each.position, now), since=since)

    def _place(self, position: int, now: int) -> int:
        """Return the position in the recorded trace for one of the session.

        The session does not count the calls that it stopped; the trace does.
        """
        return self._places[position] if position < len(self._places) else now
