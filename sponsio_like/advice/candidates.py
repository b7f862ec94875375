"""Selects the moves that matter to a refused event, and the goals that they bear on.

In: the clauses that refuse it. Out: the moves that they tell apart, each once; those that bear on a
goal; and the least number of moves that is needed. Clauses that stop a move matter as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from sponsio_like.advice.goals import (
    by_context,
    by_others,
    by_steps,
    calls_until,
    conjunctive,
    slots_under,
)
from sponsio_like.advice.moves import (
    OTHER,
    GetResult,
    MakeEvent,
    Move,
    PassTime,
    StateFact,
    calls,
    facts,
    message_events,
)
from sponsio_like.advice.trial import Scenario, Trial, lengths
from sponsio_like.events import Call, Event, kind_of
from sponsio_like.monitor import Change

Kind: TypeAlias = Literal["calls", "waits", "facts"]

CALLS_CAP = 500
"""The most different calls that are looked at."""
FLIGHTS_CAP = 20
"""The most calls in flight whose results are tried."""
Flying: TypeAlias = tuple[str, str, tuple[Change, ...]]
"""A call in flight: its id, its tool, and the changes that wait for its result."""


class Obstacles(NamedTuple):
    """A scene, and the clauses that stop an event in it, each with its goals.

    `instead`: no clause stops the event itself, but this clause redirects it, and its substitute is
    stopped.
    """

    scene: Scenario
    standing: Mapping[int, frozenset[int]]
    instead: int | None = None

    @property
    def open(self) -> tuple[bool, int]:
        """The distance to a legal event: False if only a substitute is stopped; goals left."""
        first = bool(self.standing) and self.instead is None
        return first, sum(map(len, self.standing.values()))


class Candidates:
    """The moves of one search. `known` are the clauses that matter."""

    def __init__(
        self, trial: Trial, start: Scenario, event: Event, flights: tuple[Flying, ...]
    ) -> None:
        self.trial = trial
        self.policy = trial.policy
        self.clauses = trial.policy.clauses
        self.start = start
        self.event = event
        self.flights = flights
        self._kind: Kind | None = None
        self.known: set[int] = set()
        self.moves: list[Move] = []
        self._made: dict[tuple[str, str], MakeEvent] = {}
        self._tried: set[int] = set()
        self._bears: dict[tuple[int, int], frozenset[int]] = {}

    # --- moves ----------------------------------------------------------------------------------

    def learn(self, kind: Kind) -> bool:
        """Renew the moves, with the clauses that stop moves; return True if some are new."""
        news = bool(self.trial.refusers - self.known)
        if kind == self._kind and not news:
            return False
        self._kind = kind
        self.known |= self.trial.refusers
        known = -1
        while len(self.known) > known:
            known = len(self.known)
            self.moves = self._moves()
            self._bears.clear()
            for move in self.moves:
                if (
                    isinstance(move, MakeEvent)
                    and self.trial.left > 0
                    and id(move) not in self._tried
                ):
                    self._tried.add(id(move))
                    self.known.update(self.trial.judged(self.start, move.event)[1])
        return news

    def _moves(self) -> list[Move]:
        """Return the moves that may matter to the known clauses, each once."""
        clauses = [self.clauses[i] for i in sorted(self.known)]
        moves: list[Move] = [*self._results_to_come()]
        letters = [self._letters(self.event)]
        if not any(map(by_others, clauses)):
            letters.append([])
        named = list(
            islice(
                calls(clauses, self.event, self._inventory, self.policy.inventory.fields), CALLS_CAP
            )
        )
        self.trial.exact &= len(named) < CALLS_CAP
        for each in (*named, *message_events(clauses)):
            move = self._made.setdefault((each.words, str(getattr(each.event, "tool", ""))), each)
            found = self._letters(move.event)
            if found not in letters:
                letters.append(found)
                moves.append(move)
        if self._kind != "calls" and any(map(lengths, clauses)):
            moves.append(PassTime())
        if self._kind == "facts":
            agent = self.event.agent if isinstance(self.event, Call) else ""
            moves += facts(clauses, self.start.context, agent)
        return moves

    @property
    def _inventory(self) -> Iterable[str] | None:
        """The tools that can be called here, without those of other agents; None if not known."""
        tools = self.clauses[0].monitor.search.tools
        return None if tools is None else filter(self.policy.inventory.has, tools)

    def _letters(self, event: Event) -> list[Any]:
        """Return what the known clauses read at this event."""
        tagged = [] if isinstance(event, Call) else [kind_of(event)]
        seen = (
            self.policy.concerned(event.tool)
            if isinstance(event, Call)
            else self.policy.counting(kind_of(event))
        )
        reads = (self.trial.read(i, event, self.start.context) for i in seen if i in self.known)
        return [*tagged, *reads]

    def _results_to_come(self) -> Iterator[GetResult]:
        """Yield the results of calls in flight that matter."""
        room = FLIGHTS_CAP
        tools = [tool for _, tool, _ in self.flights]
        for id, tool, waits in self.flights:
            kept = tuple(filter(self._can_settle, waits))
            if any(each.clause in self.known for each in kept):
                room -= 1
                if room < 0:
                    self.trial.exact = False
                    return
                which = f"`{tool}`" if tools.count(tool) == 1 else f"`{tool}` with the id `{id}`"
                yield GetResult(f"wait for the result of {which}, which is in flight", tool, kept)

    def _can_settle(self, change: Change) -> bool:
        """True if the ledger has the position that waits for this result."""
        clause, ledger = self.clauses[change.clause], self.start.ledger
        if clause.by:
            return change.at.seen < ledger.keyed[change.clause].get(change.key, (None, 0))[1]
        return change.at.seen < ledger.next(change.clause).seen

    # --- goals that moves bear on -------------------------------------------------------------

    def is_steady(self, i: int) -> bool:
        """True if positions that clause `i` does not have to see leave it unchanged."""
        return not by_steps(self.clauses[i])

    def bearing(self, i: int, goal: int) -> frozenset[int]:
        """Return the numbers of the moves that bear on a goal by themselves."""
        if (i, goal) not in self._bears:
            slots = slots_under(self.clauses[i], goal)
            found = [k for k, each in enumerate(self.moves) if self._bears_on(each, i, slots)]
            self._bears[i, goal] = frozenset(found)
        return self._bears[i, goal]

    def _bears_on(self, move: Move, i: int, slots: frozenset[int]) -> bool:
        match move:
            case MakeEvent(_, Call(tool)) if i not in self.policy.concerned(tool):
                return False
            case MakeEvent(_, event):
                read = self.trial.read(i, event, self.start.context)
                return read is None or any(read.letter[k] for k in slots)
            case GetResult(_, _, waits):
                return any(each.clause == i for each in waits)
            case PassTime():
                return bool(lengths(self.clauses[i]))
            case StateFact():
                return by_context(self.clauses[i])

    def is_loose(self, i: int, scene: Scenario) -> bool:
        """True if any position may change clause `i`, not only those that bear on its goals."""
        clause = self.clauses[i]
        others = i in scene.ledger.wakes or i in self.policy.concerned(OTHER)
        return others or not self.is_steady(i) or clause.kinds != {"call"}

    def least(self, look: Obstacles) -> float:
        """Return a lower bound for the moves that are still needed.

        It counts goals of which no two share a move that bears on them; infinite if a goal has no
        such move.
        """
        if look.instead is not None:
            return 1  # another move may avoid the redirect
        sets: list[frozenset[int]] = []
        far: float = 1
        for i, found in look.standing.items():
            far = max(far, self.until(look.scene, i))
            if all(self._needs_bearing(look.scene, i, goal) for goal in found):
                bearing = [self.bearing(i, goal) for goal in found]
                sets += bearing if conjunctive(self.clauses[i]) else [frozenset().union(*bearing)]
        used: set[int] = set()
        count = 0
        for each in sorted(sets, key=len):
            if not each:
                return math.inf
            if used.isdisjoint(each):
                used |= each
                count += 1
        return max(count, far)

    def _needs_bearing(self, scene: Scenario, i: int, goal: int) -> bool:
        """True if a goal of clause `i` is only reached by moves that bear on it."""
        return not self.is_loose(i, scene) or self.until(scene, i, goal) == math.inf

    def until(self, scene: Scenario, i: int, goal: int | None = None) -> float:
        """Return how many positions clause `i` refuses the event at least; see `calls_until`."""
        read = self.trial.read(i, self.event, scene.context)
        if read is None or self.clauses[i].by:
            return 0
        last = scene.ledger.last(i).counted
        return calls_until(self.clauses[i], scene.ledger.states[i], read.letter, last, goal)
