"""How far every contract of one session has come, and what one more position would do to it.

In: a policy and an event that has been read. Out: a `Judgement`; nothing changes until `commit`.
Only clauses that the event concerns are touched, and those that have asked to be woken.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sponsio_like.atoms import OPEN
from sponsio_like.clause import Change, Clause, Now, Place, Watch
from sponsio_like.compiler import Counter, Policy
from sponsio_like.context import Context
from sponsio_like.events import Call, Event, Kind, kind_of
from sponsio_like.past import Letter
from sponsio_like.residual import literals_of
from sponsio_like.resting import NEVER

KEYS_CAP = 100_000
"""Most values that one clause remembers; a call that needs another one violates."""


class Read(NamedTuple):
    """What a clause reads at an event: its letter, and the values that choose its monitor."""

    clause: int
    letter: Letter
    key: Any


@dataclass(frozen=True, slots=True)
class Judgement:
    """What letting an event through would change, and the clauses that it would violate."""

    kind: Kind
    changes: tuple[Change, ...]
    violated: tuple[int, ...]
    failed: tuple[tuple[int, Exception], ...]
    time: float


class Ledger:
    """The watches of one session. Not thread-safe by itself: the session holds the lock.

    `apart`: contracts on the world count positions of their own, each by itself. No clause is due
    at the next position as long as fewer have `passed` than the `soonest` that wakes one.
    """

    __slots__ = (
        "alarms", "counters", "keyed", "lineage", "passed", "policy", "positions", "soonest",
        "wakes", "watches",
    )  # fmt: skip

    def __init__(self, policy: Policy, *, apart: bool = False) -> None:
        self.policy = policy
        self.lineage = policy.lineage if apart else policy.all
        self.counters = policy.counters_apart if apart else policy.counters
        self.positions: dict[Counter, int] = {each: 0 for pair in self.counters for each in pair}
        self.watches: list[Watch] = list(policy.starts)
        self.keyed: dict[int, dict[Any, tuple[Watch, int]]] = {
            i: {} for i, clause in enumerate(policy.clauses) if clause.by
        }
        self.wakes: dict[int, int] = policy.wakes.copy()
        self.soonest = min(self.wakes.values(), default=NEVER)
        self.passed = 0
        self.alarms: dict[tuple[int, Any], float] = {}

    # --- asking -------------------------------------------------------------------------------

    def touched(self, event: Event) -> list[int]:
        """The clauses that have to see this event."""
        kind = kind_of(event)
        concerned = (
            self.policy.concerned(event.tool)
            if isinstance(event, Call)
            else self.policy.counting(kind)
        )
        woken = self._woken(kind)
        return [*concerned, *(i for i in woken if i not in concerned)] if woken else list(concerned)

    def _woken(self, kind: Kind) -> list[int]:
        """The clauses whose step clock runs out at this position; few ever have one running."""
        counters, positions = self.counters, self.positions
        due = [i for i, wake in self.wakes.items() if wake <= positions[counters[i][0]]]
        return [i for i in due if kind in self.policy.clauses[i].kinds]

    def read(self, i: int, event: Event, context: Context) -> Read:
        """Read the event for clause `i`. Atoms that users registered run here, and may raise."""
        clause = self.policy.clauses[i]
        return Read(i, clause.read(event, context), clause.key(event) if clause.by else ())

    def judge(self, event: Event, reads: Iterable[Read], time: float) -> Judgement:
        """What would become of the clauses if this event were let through."""
        kind = kind_of(event)
        changes: list[Change] = []
        violated: list[int] = []
        failed: list[tuple[int, Exception]] = []
        for read in reads:
            clause = self.policy.clauses[read.clause]
            place = self._place(clause, read)
            if place is None:
                if clause.can_break(event):
                    violated.append(read.clause)
                continue
            watch, at = place
            try:
                seen = clause.step(watch, read.letter, kind, at, time)
            except Exception as error:  # this clause answers for itself; the others go on
                failed.append((read.clause, error))
                continue
            changes.append(Change(read.clause, read.key, at, seen.watch, read.letter))
            if seen.violated:
                violated.append(read.clause)
        return Judgement(kind, tuple(changes), tuple(violated), tuple(failed), time)

    def _place(self, clause: Clause, read: Read) -> tuple[Watch, Place] | None:
        """The watch to step and its next position.

        None for a call without a key, or without room for it.
        """
        if not clause.by:
            return self.watches[read.clause], self.next(read.clause)
        if read.key is None:
            return None
        monitors = self.keyed[read.clause]
        if read.key not in monitors and self.is_full(read.clause):
            return None
        watch, length = monitors.get(read.key) or (clause.start, 0)
        return watch, Place(length, length)

    def is_full(self, i: int) -> bool:
        """Whether clause `i` remembers as many values as it may."""
        return len(self.keyed[i]) >= KEYS_CAP

    def owner(self, i: int) -> int:
        """The contract that clause `i` counts for, if it is on the world and counts apart."""
        return self.counters[i][0].owner

    def next(self, i: int) -> Place:
        """The next position of clause `i`, if it has no keys."""
        seen, counted = self.counters[i]
        return Place(self.positions[seen], self.positions[counted])

    def last(self, i: int) -> Place:
        """The last position of clause `i`, if it has no keys."""
        seen, counted = self.counters[i]
        return Place(self.positions[seen] - 1, self.positions[counted] - 1)

    # --- committing ---------------------------------------------------------------------------

    def commit(self, judgement: Judgement, owners: Container[int] | None = None) -> None:
        """Let the event through. `owners`: only for their clauses; all, if not given."""
        self.passed += 1
        for change in judgement.changes:
            if owners is None or self.owner(change.clause) in owners:
                self._store(change.clause, change.key, change.watch, change.at, judgement.time)
        for counter in self.positions:
            if judgement.kind in counter.kinds and (owners is None or counter.owner in owners):
                self.positions[counter] += 1

    def _store(self, i: int, key: Any, watch: Watch, last: Place, time: float) -> None:
        clause = self.policy.clauses[i]
        if clause.by:
            self.keyed[i][key] = (watch, last.seen + 1)
        else:
            self.watches[i] = watch
            self.set_wake(i, clause.wakes_at(watch, last, time))
        if clause.timed:
            self._set_alarm((i, key), watch)

    def wake(self, i: int, watch: Watch, position: int, time: float) -> None:
        """Clause `i` has come so far, and has just seen its position: when is it woken next."""
        at = self.policy.clauses[i].wakes_at(watch, Place(position, position), time)
        self.set_wake(i, at)

    def due(self) -> list[int]:
        """The clauses that have to see the next call, whatever its tool."""
        return self._woken("call")

    def set_wake(self, i: int, position: int) -> None:
        """Clause `i` has to see this position, whatever the tool; `NEVER`: none."""
        if position == NEVER:
            self.wakes.pop(i, None)
        else:
            self.wakes[i] = position
        self.soonest = min(self.wakes.values(), default=NEVER)

    def _set_alarm(self, name: tuple[int, Any], watch: Watch) -> None:
        """Remember when the first time bound of this watch runs out."""
        live = watch.inner.live if watch.inner is not None else ()
        due = [literal[2] for each in live for literal in literals_of(each) if literal[0] in "fg"]
        if due:
            self.alarms[name] = min(due)
        else:
            self.alarms.pop(name, None)

    # --- results, time, the end ---------------------------------------------------------------

    def waiting(
        self, judgement: Judgement, owners: Container[int] | None = None
    ) -> tuple[Change, ...]:
        """The changes whose clauses wait for this call's result. `owners`: only their clauses."""
        waits = [change for change in judgement.changes if OPEN in change.letter]
        if owners is not None:
            waits = [each for each in waits if self.owner(each.clause) in owners]
        return tuple(waits)

    def settle(self, change: Change, final: Mapping[int, bool], now: Now) -> bool:
        """A call has its result. True if it reveals a violation."""
        clause = self.policy.clauses[change.clause]
        watch, last = self._known(change.clause, change.key)
        seen = clause.settle(watch, change, final, last, now)
        self._store(change.clause, change.key, seen.watch, last, now.time)
        return seen.violated

    def expire(self, now: Now) -> list[int]:
        """Time has come. The clauses of which something ran out between positions."""
        violated = []
        for i, key in [name for name, due in self.alarms.items() if due < now.time]:
            watch, last = self._known(i, key)
            seen = self.policy.clauses[i].expire(watch, last, now)
            self._store(i, key, seen.watch, last, now.time)
            if seen.violated:
                violated.append(i)
        return violated

    def _known(self, i: int, key: Any) -> tuple[Watch, Place]:
        """What is remembered of clause `i`, for this key if it is split, and its last position."""
        clause = self.policy.clauses[i]
        if not clause.by:
            return self.watches[i], self.last(i)
        watch, length = self.keyed[i][key]
        return watch, Place(length - 1, length - 1)

    def all_watches(self) -> list[tuple[int, Watch, Place]]:
        """Every watch with its clause and its last position."""
        out = []
        for i, clause in enumerate(self.policy.clauses):
            if clause.by:
                each = self.keyed[i].values()
                out += [(i, watch, Place(length - 1, length - 1)) for watch, length in each]
            else:
                out.append((i, self.watches[i], self.last(i)))
        return out

    def put(self, i: int, watch: Any) -> None:
        """Set what clause `i` remembers: a watch, or for a split clause one for each key."""
        clause = self.policy.clauses[i]
        for key, (each, length) in watch.items() if clause.by else ():
            self._store(i, key, each, Place(length - 1, length - 1), 0.0)
        if not clause.by and (watch is not self.policy.starts[i] or i in self.wakes):
            self._store(i, (), watch, self.last(i), 0.0)

    def clear(self, i: int) -> None:
        """Clause `i` starts anew."""
        self.set_wake(i, NEVER)
        for name in [name for name in self.alarms if name[0] == i]:
            del self.alarms[name]
        if self.policy.clauses[i].by:
            self.keyed[i] = {}
        else:
            self.watches[i] = self.policy.starts[i]
            if i in self.policy.wakes:
                self._store(i, (), self.watches[i], self.last(i), 0.0)

    def before(self, event: Event) -> Ledger:
        """A copy of what matters to this event."""
        return self.copy([clause.key(event) for clause in self.policy.clauses if clause.by])

    def copy(self, keys: Iterable[Any] = ()) -> Ledger:
        """A copy to try things on: states are immutable, so it is shallow.

        Of split clauses, only these keys.
        """
        twin = object.__new__(Ledger)
        twin.policy = self.policy
        twin.lineage, twin.counters = self.lineage, self.counters
        twin.positions = dict(self.positions)
        twin.watches = list(self.watches)
        wanted = set(keys)
        twin.keyed = {
            i: {k: each[k] for k in wanted if k in each} for i, each in self.keyed.items()
        }
        twin.wakes, twin.soonest, twin.passed = dict(self.wakes), self.soonest, self.passed
        twin.alarms = {
            (i, key): due
            for (i, key), due in self.alarms.items()
            if i not in twin.keyed or key in twin.keyed[i]
        }
        return twin

    def joined(self, other: Ledger) -> Ledger:
        """A copy that has the keys of `other` besides its own."""
        twin = self.copy(key for each in self.keyed.values() for key in each)
        twin.keyed = {i: {**other.keyed[i], **each} for i, each in twin.keyed.items()}
        twin.alarms = {**other.alarms, **twin.alarms}
        return twin
