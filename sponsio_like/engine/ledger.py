"""Keeps how far every contract of one session has come.

In: a policy and an event that has been read. Out: a `Judgement`; nothing changes until `commit`.
Only two kinds of clauses are touched: those that the event concerns, and those that have come to
their wake position: the next one that a clause has to see whatever the tool.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from sponsio_like.engine.per_value import (
    OTHERS,
    due_at,
    instances,
    live_in,
    stored,
    wakes_at,
)
from sponsio_like.engine.policy import LINEAGE, Policy
from sponsio_like.events import NOTHING_TOLD, OPEN, Call, Context, Event, Kind, kind_of
from sponsio_like.monitor import (
    NEVER,
    Change,
    ClauseState,
    Judgement,
    Key,
    PositionCounts,
    Read,
    Witness,
    times_due,
)
from sponsio_like.values import Effort

NO_WITNESSES: Mapping[int, Witness] = MappingProxyType({})
_Due: TypeAlias = Sequence[float]
Entry: TypeAlias = tuple[int, Any, ClauseState, int, int, _Due]
"""An entry that `keep` stores: a clause, its key, its state, how many positions that has seen; its
wake position, its deadlines.
"""
NO_STORES: Any = MappingProxyType({})
NO_ALARMS: Any = MappingProxyType({})
"""The stores and the alarms of all sessions that have none."""
BEFORE = -math.inf
"""The time of states that are put back: before every time, so that no bound is over yet."""
KEYS_CAP = 100_000
"""Most keys that one clause with `by` remembers; a call that needs another one violates."""


class Ledger:
    """The states of one session. Not thread-safe by itself: the session holds the lock.

    `states`: by clause; `keyed`: those of clauses with `by`, by key; `bound`: those of clauses with
    value variables. `wakes`: the wake position of each clause that has one; `alarms`: when the
    first deadline of a clause, or of a key of it, is over.
    `apart`: contracts on the world count positions of their own, each by itself. `passed`: how many
    positions there were; `soonest`: the first one that a clause has to see whatever its tool.
    `half_written`: a change has begun and not ended; if it stays so, an exception was raised.
    """

    __slots__ = (
        "alarms", "calls", "counters", "counting", "half_written", "keyed", "lineage", "passed",
        "policy", "positions", "soonest", "states", "stores", "wakes",
    )  # fmt: skip

    def __init__(self, policy: Policy, *, apart: bool = False) -> None:
        self.policy = policy
        self.lineage = policy.lineage if apart else policy.all
        self.counting = policy.counting_apart if apart else policy.counting_all
        self.counters = self.counting.numbers
        self.positions = [0] * len(self.counting.counters)
        self.states: list[ClauseState] = list(policy.starts)
        self.keyed: Mapping[int, dict[Any, tuple[ClauseState, int]]] = policy.without_keys
        self.stores = (
            {i: instances(policy.clauses[i]) for i in policy.with_values}
            if policy.with_values
            else NO_STORES
        )
        self.wakes: dict[int, int] = policy.wakes
        self.soonest = min(self.wakes.values(), default=NEVER)
        self.passed = self.calls = 0
        self.alarms = NO_ALARMS
        self.half_written = False

    # --- asking -------------------------------------------------------------------------------

    def touched(self, event: Event) -> list[int]:
        """Return the clauses that have to see this event."""
        kind = kind_of(event)
        concerned = (
            self.policy.concerned(event.tool)
            if isinstance(event, Call)
            else self.policy.counting(kind)
        )
        woken = self._woken(kind)
        return [*concerned, *(i for i in woken if i not in concerned)] if woken else list(concerned)

    def _woken(self, kind: Kind) -> list[int]:
        """Return the clauses whose wake position has come; few ever have one."""
        counters, positions = self.counters, self.positions
        due = [i for i, wake in self.wakes.items() if wake <= positions[counters[i][0]]]
        return sorted([i for i in due if kind in self.policy.clauses[i].kinds])

    def read(self, i: int, event: Event, context: Context) -> Read:
        """Return what clause `i` reads of the event. Atoms that users registered run here, and may
        raise.
        """
        clause = self.policy.clauses[i]
        if clause.bindings is not None:
            reading = clause.bound_letters(event, context)
            return Read(i, reading.others, reading)
        return Read(i, clause.read(event, context), clause.key(event) if clause.by else ())

    def keys(self, i: int) -> dict[Any, tuple[ClauseState, int]]:
        """Return the keys of clause `i`, which has `by`: a dict of this session alone."""
        if self.keyed is self.policy.without_keys:
            self.keyed = {each: {} for each in self.keyed}
        return self.keyed[i]

    def is_full(self, i: int) -> bool:
        """True if clause `i` remembers as many keys as it may."""
        return len(self.keyed[i]) >= KEYS_CAP

    def owner(self, i: int) -> int:
        """Return the contract by which clause `i` is counted: one on the world, else `LINEAGE`."""
        return self.counting.counters[self.counters[i][0]].owner

    def next(self, i: int) -> PositionCounts:
        """Return the next position of clause `i`, if it has no keys."""
        seen, counted = self.counters[i]
        return PositionCounts(self.positions[seen], self.positions[counted])

    def last(self, i: int) -> PositionCounts:
        """Return the last position of clause `i`, if it has no keys."""
        seen, counted = self.counters[i]
        return PositionCounts(self.positions[seen] - 1, self.positions[counted] - 1)

    # --- committing ---------------------------------------------------------------------------

    def commit(self, judgement: Judgement, owners: Container[int] | None = None) -> None:
        """Let the event through: commit its changes and count the position.

        `owners`: only for clauses of these contracts; None: for all. It computes first what may
        raise, as far as that is possible. The caller sets `half_written` back.
        """
        mine = [c for c in judgement.changes if owners is None or self.owner(c.clause) in owners]
        of_values = [each for each in mine if each.clause in self.stores]
        rest = [each for each in mine if each.clause not in self.stores]
        kept = [self.rest(c.clause, c.key, c.state, c.at, judgement.time) for c in rest]
        self.half_written = True
        self.passed += 1
        for one in kept:
            self.keep(*one)
        for each in of_values:
            stored(self.stores[each.clause], each, self.calls)
        for i in {each.clause: None for each in of_values}:
            self.reschedule_values(i, self.next(i), judgement.time)
        if judgement.kind == "call" and (owners is None or LINEAGE in owners):
            self.calls += 1
        for k, (owner, kinds) in enumerate(self.counting.counters):
            if judgement.kind in kinds and (owners is None or owner in owners):
                self.positions[k] += 1

    def violates(self, clauses: Iterable[int]) -> None:
        """Remember that these clauses, which have no keys, are violated."""
        for i in clauses:
            state = self.states[i]
            if not state.violated:
                self.states[i] = state._replace(violated=True)

    def reschedule_values(self, i: int, last: PositionCounts, time: float) -> None:
        """Recompute when clause `i`, which has value variables, is woken next, and its deadline."""
        clause, store = self.policy.clauses[i], self.stores[i]
        if not clause.ignores_others:
            self.set_wake(i, wakes_at(clause, store, last, time))
        if clause.timed:
            due = due_at(store)
            self._set_alarm((i, OTHERS), (due,) if due < math.inf else ())

    def store(
        self, i: int, key: Any, state: ClauseState, last: PositionCounts, time: float
    ) -> None:
        """Remember the state of clause `i`, for this key, and when it is woken next."""
        self.keep(*self.rest(i, key, state, last, time))

    def rest(
        self, i: int, key: Any, state: ClauseState, last: PositionCounts, time: float
    ) -> Entry:
        """Return what `keep` needs to remember the state of clause `i`, for this key."""
        clause = self.policy.clauses[i]
        wakes = not clause.by and (clause.may_wake or not clause.is_plain)
        wake = clause.wakes_at(state, last, time) if wakes else NEVER
        return i, key, state, last.seen + 1, wake, times_due(live_in(state)) if clause.timed else ()

    def keep(self, i: int, key: Any, state: ClauseState, length: int, wake: int, due: _Due) -> None:
        """Remember what `rest` has returned."""
        clause = self.policy.clauses[i]
        if clause.by:
            self.keys(i)[key] = (state, length)
        else:
            self.states[i] = state
            self.set_wake(i, wake)
        if clause.timed:
            self._set_alarm((i, key), due)

    def reschedule(self, i: int, state: ClauseState, position: int, time: float) -> None:
        """Recompute when clause `i`, which has just seen `position`, is woken next."""
        at = self.policy.clauses[i].wakes_at(state, PositionCounts(position, position), time)
        self.set_wake(i, at)

    def due(self) -> list[int]:
        """Return the clauses that have to see the next call, whatever its tool."""
        return self._woken("call")

    def set_wake(self, i: int, position: int) -> None:
        """Note that clause `i` has to see this position, whatever the tool; `NEVER`: none."""
        if self.wakes.get(i, NEVER) == position:
            return
        if self.wakes is self.policy.wakes:  # which all sessions share
            self.wakes = self.wakes.copy()
        if position == NEVER:
            del self.wakes[i]
        else:
            self.wakes[i] = position
        self.soonest = min(self.wakes.values(), default=NEVER)

    def _set_alarm(self, name: tuple[int, Any], due: _Due) -> None:
        """Note when the first bound in seconds runs out; no alarm if there is none."""
        if not due:
            if name in self.alarms:
                del self.alarms[name]
            return
        if self.alarms is NO_ALARMS:
            self.alarms = {}
        self.alarms[name] = min(due)

    # --- results, time, the end ---------------------------------------------------------------

    def waiting(
        self, judgement: Judgement, owners: Container[int] | None = None
    ) -> tuple[Change, ...]:
        """Return the changes whose clauses wait for this call's result, without what is committed.

        `owners`: only their clauses.
        """
        waits = [each._replace(state=None) for each in judgement.changes if self._awaits(each)]
        if owners is not None:
            waits = [each for each in waits if self.owner(each.clause) in owners]
        return tuple(waits)

    def _awaits(self, change: Change) -> bool:
        clause = self.policy.clauses[change.clause]
        open_ = OPEN in change.letter
        return open_ and (clause.bindings is not None or clause.awaits(change.state, change.at))

    def known(self, i: int, key: Any) -> tuple[ClauseState, PositionCounts]:
        """Return the state of clause `i`, for this key if it has `by`, and its last position."""
        clause = self.policy.clauses[i]
        if not clause.by:
            return self.states[i], self.last(i)
        state, length = self.keyed[i][key]
        return state, PositionCounts(length - 1, length - 1)

    def witness(self, i: int, key: Key | None, *, full: bool = False) -> Witness:
        """Return the witness of a violation of clause `i` by these values."""
        bindings = self.policy.clauses[i].bindings
        if bindings is None:
            return Witness(full=full)
        values = () if key is None else bindings.said(key)
        since = self.stores[i].since(key)
        return Witness(values, None if since < 0 else since, full, key)

    def all_states(self) -> list[tuple[int, ClauseState, PositionCounts]]:
        """Return every state with its clause and its last position."""
        out = []
        for i, clause in enumerate(self.policy.clauses):
            if i in self.stores:
                store, last = self.stores[i], self.last(i)
                latched = [each._replace(violated=store.broken) for each in store.states()]
                out += [(i, state, last) for state in latched]
            elif clause.by:
                each = self.keyed[i].values()
                out += [
                    (i, state, PositionCounts(length - 1, length - 1)) for state, length in each
                ]
            else:
                out.append((i, self.states[i], self.last(i)))
        return out

    def put(self, i: int, state: Any) -> None:
        """Set what clause `i` remembers: a state, or with `by` one for each key."""
        clause = self.policy.clauses[i]
        if i in self.stores:
            self.stores[i].fill(state)
            self.reschedule_values(i, self.last(i), BEFORE)
            return
        for key, (each, length) in state.items() if clause.by else ():
            self.store(i, key, each, PositionCounts(length - 1, length - 1), BEFORE)
        if not clause.by and (state is not self.policy.starts[i] or i in self.wakes):
            self.store(i, (), state, self.last(i), BEFORE)

    def clear(self, i: int) -> None:
        """Reset clause `i` to what it was before the first position."""
        self.set_wake(i, NEVER)
        for name in [name for name in self.alarms if name[0] == i]:
            del self.alarms[name]
        if i in self.stores:
            self.stores[i] = instances(self.policy.clauses[i])
            self.set_wake(i, self.policy.wakes.get(i, NEVER))
        elif self.policy.clauses[i].by:
            self.keys(i).clear()
        else:
            self.states[i] = self.policy.starts[i]
            if i in self.policy.wakes:
                self.store(i, (), self.states[i], self.last(i), BEFORE)

    def before(self, event: Event, witnesses: Mapping[int, Witness] = NO_WITNESSES) -> Ledger:
        """Return a copy with the keys and values that this event, and its advice, need."""
        keyed = self.keyed is not self.policy.without_keys
        twin = self.copy([self.policy.clauses[i].key(event) for i in self.keyed] if keyed else ())
        if not self.stores:
            return twin
        with Effort():  # each text is split into words once
            for i, store in self.stores.items():
                told = [witnesses[i].key] if i in witnesses else []
                twin.stores[i] = store.copy([*self.keys_of(i, event), *told])
        return twin

    def keys_of(self, i: int, event: Event) -> list[Key]:
        """Return the values of the variables of clause `i` that the event itself binds."""
        clause = self.policy.clauses[i]
        return [] if clause.bindings is None else clause.bindings.keys_of(event, NOTHING_TOLD)

    def copy(self, keys: Iterable[Any] = ()) -> Ledger:
        """Return a copy to try things on: states are immutable, so it is shallow.

        Of clauses with `by`, it has only these keys.
        """
        twin: Ledger = object.__new__(Ledger)
        twin.policy = self.policy
        twin.lineage, twin.counters, twin.counting = self.lineage, self.counters, self.counting
        twin.positions, twin.states = self.positions[:], self.states[:]
        twin.passed, twin.calls, twin.half_written = self.passed, self.calls, False
        twin.wakes, twin.soonest = self.wakes, self.soonest
        twin.keyed, twin.stores, twin.alarms = self.keyed, NO_STORES, NO_ALARMS
        if self.wakes is not self.policy.wakes:  # as below: what all sessions share is not copied
            twin.wakes = self.wakes.copy()
        if self.keyed is not self.policy.without_keys:
            wanted = set(keys)
            twin.keyed = {
                i: {k: each[k] for k in wanted if k in each} for i, each in self.keyed.items()
            }
        if self.stores:
            twin.stores = {i: store.copy(()) for i, store in self.stores.items()}
        if self.alarms:
            twin.alarms = {
                (i, key): due
                for (i, key), due in self.alarms.items()
                if i not in twin.keyed or key in twin.keyed[i]
            }
        return twin

    def joined(self, other: Ledger) -> Ledger:
        """Return a copy that has the keys of `other` besides its own."""
        twin = self.copy(key for each in self.keyed.values() for key in each)
        twin.keyed = {i: {**other.keyed[i], **each} for i, each in twin.keyed.items()}
        twin.alarms = {**other.alarms, **twin.alarms}
        return twin
