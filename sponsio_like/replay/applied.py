"""Counts the events of a recorded trace to which each contract applied (`engine/applicability.py`).

In: the events, one by one. Out: counts. Assumptions and scopes are followed, so that a contract
whose assumption never holds never applied; those with value variables in them are not followed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sponsio_like.engine import ByName, Clause, Letter, Policy, applies, contract_names
from sponsio_like.events import NOTHING_TOLD, OPEN, Call, Context, Message, Result, kind_of
from sponsio_like.events import Event as Happening
from sponsio_like.logic.formula import Custom
from sponsio_like.traces import (
    CallEvent,
    DenialEvent,
    Event,
    FactEvent,
    MessageEvent,
    ResultEvent,
    StepEvent,
)

AppliedTo: TypeAlias = list[tuple[str, tuple[str, ...]]]
"""The contracts that applied to events, each with the id of the call, if it is one."""


class _ScopeState:
    """The assumption and the scope of a clause, evaluated event by event."""

    def __init__(self, clause: Clause) -> None:
        self._clause = clause
        self._state = clause.scope_monitor.start
        self._open = clause.kind_of_scope in (None, "before")
        self._over = False
        self.seen = 0

    def at(self, letter: Letter, time: float) -> bool:
        """Take one more event; return True if it is in a segment, and the assumption holds."""
        clause, read = self._clause, tuple(letter)
        values = clause.scope_monitor.past.read(read, self._state.registers, self.seen, time)
        self._state = clause.scope_monitor.step(self._state, read, self.seen, time).state
        self.seen += 1
        self._move(values)
        return self._open and bool(values[clause.assume])

    def settle(self, place: int, final: Mapping[int, Any], letter: Letter, time: float) -> None:
        """Take the result of the call at this place."""
        clause = self._clause
        self._state = clause.scope_monitor.settle(
            self._state, place, dict(final), self.seen - 1
        ).state
        if clause.opens_late:
            read = tuple(final.get(i, value) for i, value in enumerate(letter))
            self._move(clause.scope_monitor.past.read(read, self._state.registers, place, time))

    def _move(self, values: Sequence[Any]) -> None:
        clause = self._clause
        if self._open and clause.closes is not None and values[clause.closes]:
            self._open, self._over = False, clause.kind_of_scope == "before"
        if not self._open and not self._over:
            self._open = clause.opens is not None and bool(values[clause.opens])


@dataclass(slots=True)
class _Waiting:
    """A call in flight, with the letters of the clauses whose verdict its result decides."""

    tool: str
    id: str
    applied: set[int]
    letters: list[tuple[int, bool, int, tuple[Any, ...], list[Letter]]] = field(
        default_factory=list
    )


class Applied:
    """A counter of the events of one trace to which each contract applied; `counts` has them.

    `told` gets the contracts that applied to each event, with the id of the call; then refused
    calls are looked at, too, and are no part of `counts`.
    """

    def __init__(self, policy: Policy, by_name: ByName, told: AppliedTo | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self._told = told
        self._policy, self._by_name = policy, by_name
        self._context: Context = NOTHING_TOLD
        self._waiting: dict[str, _Waiting] = {}
        self._scopes = {
            i: _ScopeState(each) for i, each in enumerate(policy.clauses) if _is_conditional(each)
        }
        once = (i for i, each in enumerate(policy.clauses) if _has_session_obligation(each))
        self._count(once)

    def see(self, event: Event) -> None:
        """Take one more event of the trace."""
        match event:
            case CallEvent(call, result):
                waiting = self._read(call)
                if result is not None:
                    self._settle(waiting, result, call.time)
                else:
                    self._waiting[call.id] = waiting
            case ResultEvent(id, result, time) if id in self._waiting:
                self._settle(self._waiting.pop(id), result, time)
            case MessageEvent(message, _):
                self._count(self._read(message).applied)
            case StepEvent(step):
                self._count(self._read(step).applied)
            case DenialEvent(call) if self._told is not None:
                found = self._read(call, beside=True)
                late = {i for i, inside, *_ in found.letters if inside}
                names = contract_names(self._policy, found.applied | late)
                self._told.append((call.id, names))
            case FactEvent(key, value, time):
                self._context = self._context.told(key, value, time)
            case _:
                pass

    def end(self) -> dict[str, int]:
        """Return the counts. A call without a result is counted as if it applied."""
        for each in self._waiting.values():
            late = {i for i, inside, *_ in each.letters if inside}
            self._count(each.applied | late, each.id)
        return dict(self.counts)

    def _count(self, clauses: Iterable[int], id: str = "") -> None:
        names = contract_names(self._policy, clauses)
        self.counts.update(names)
        if self._told is not None:
            self._told.append((id, names))

    def _read(self, event: Happening, *, beside: bool = False) -> _Waiting:
        """Return the clauses that apply to an event, and those for which its result decides.

        `beside`: the event did not happen, and nothing changes.
        """
        named = (event.tool, event.id) if isinstance(event, Call) else ("", "")
        found = _Waiting(*named, set())
        for i in self._clauses_reading(event):
            clause, scope = self._policy.clauses[i], self._scopes.get(i)
            scope = copy(scope) if beside else scope
            base = _letter(clause, event, self._context)
            place = scope.seen if scope else 0
            inside = scope.at(base, event.time) if scope else True
            counts = kind_of(event) in clause.counts
            letters = _letters(clause, event, base, self._context) if counts else []
            asked = [each for each in letters if applies(clause, each)]
            waits = any(value is OPEN for value in base)
            if waits and (asked or scope):
                found.letters.append((i, inside and bool(asked), place, base, asked))
            elif inside and asked:
                found.applied.add(i)
        return found

    def _settle(self, call: _Waiting, result: Result, time: float) -> None:
        for i, inside, place, base, letters in call.letters:
            clause, scope = self._policy.clauses[i], self._scopes.get(i)
            final = clause.results(base, result, call.tool)
            if scope:
                scope.settle(place, final, base, time)
            filled = ([final.get(k, v) for k, v in enumerate(each)] for each in letters)
            if inside and any(applies(clause, each) for each in filled):
                call.applied.add(i)
        self._count(call.applied, call.id)

    def _clauses_reading(self, event: Happening) -> Iterator[int]:
        """Yield the numbers of the clauses that an event may concern, or with a scope to follow."""
        kind = kind_of(event)
        for i, clause in enumerate(self._policy.clauses):
            if kind not in clause.kinds:
                continue
            if (
                i in self._scopes
                or not isinstance(event, Call | Message)
                or self._names_event(i, event)
            ):
                yield i

    def _names_event(self, i: int, event: Call | Message) -> bool:
        name = self._policy.contracts[self._policy.owner[i]].name
        if isinstance(event, Call):
            return name in self._by_name("call", event.tool)
        return name in self._by_name("message", event.role)


def _is_conditional(clause: Clause) -> bool:
    """True if the clause has a scope or an assumption, and no variables."""
    limited = clause.kind_of_scope is not None or clause.contract.assumption is not None
    return limited and clause.bindings is None


def _has_session_obligation(clause: Clause) -> bool:
    """True if the clause has an obligation that no event causes: one that begins with
    the session.
    """
    return bool(clause.monitor.rest) and clause.kind_of_scope is None


def _letter(clause: Clause, event: Happening, context: Context) -> tuple[Any, ...]:
    """Return the letter of an event; an atom of a user has the value that violates."""
    pairs = zip(clause.slots, clause.readers, strict=True)
    return tuple(
        slot.default if isinstance(slot.node, Custom) else read(event, context)
        for slot, read in pairs
    )


def _letters(
    clause: Clause, event: Happening, base: tuple[Any, ...], context: Context
) -> list[Letter]:
    """Return the letter for each value that the event binds, and the one for all other values.

    Atoms of users are None in it.
    """
    unknown = {i for i, slot in enumerate(clause.slots) if isinstance(slot.node, Custom)}
    found = [base]
    if clause.bindings is not None:
        seen = tuple(atom.see(event, context) for _, _, atom in clause.bindings.atoms)
        keys = clause.bindings.keys_of(event, context)
        found = [clause.bindings.letter(base, seen, key) for key in (*keys, clause.bindings.nobody)]
    return [[None if i in unknown else v for i, v in enumerate(each)] for each in found]
