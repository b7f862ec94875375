"""Clauses with few states: where a call leads is found out once, and then remembered.

In: a watch, a letter. Out: a `Move`: the watches after the call and its result, as the readable
monitor says. This is the automaton of the clause, built as far as anybody has walked it.
"""

from __future__ import annotations

from typing import NamedTuple

from sponsio_like.engine.clause import Clause
from sponsio_like.errors import ContractError
from sponsio_like.events import OPEN, Context, Result, Status, kinds_of
from sponsio_like.monitor import (
    NEVER,
    Change,
    ClauseState,
    Letter,
    Now,
    Op,
    PositionCounts,
    TooManyBranches,
    awaits_results,
    literals_of,
)

MOVES_CAP = 4_096
"""Most moves that are remembered of one clause."""
FEW_BITS = 8
"""Most truth values that a clause remembers whose states sessions share."""
BITS = frozenset({"Y", "WY", "S", "T"})
UNBOUNDED = frozenset({"F", "G", "O", "H"})


class Move(NamedTuple):
    """The states after a call that is let through at once; None if the monitor has to be asked.

    `before` is kept, since moves are found by its identity.
    """

    before: ClauseState
    done: ClauseState | None
    failed: ClauseState | None


def has_transitions(clause: Clause) -> bool:
    """True if states of the clause say nothing of positions, times, numbers and the context."""
    by_calls = all(kinds_of(slot.node) == {"call"} for slot in clause.slots)
    return by_calls and not clause.by and clause.automaton is not None


def of_few_bits(clause: Clause) -> bool:
    """True if the guarantee remembers a few truth values, and nothing else."""
    program, cells = clause.monitor.program, clause.monitor.past.cells
    ops = [program.nodes[cell.node] for cell in cells]
    return len(cells) <= FEW_BITS and all(map(_is_bit, ops))


def _is_bit(op: Op) -> bool:
    return op[0] in BITS or (op[0] in UNBOUNDED and op[2] is None)


class Transitions:
    """The moves of one clause that were looked up so far. Shared by all sessions.

    `known`: moves by the identity of the watch, and the letter.
    """

    def __init__(self, number: int, clause: Clause) -> None:
        self._number, self._clause = number, clause
        self._watches: dict[ClauseState, ClauseState] = {}
        self.known: dict[tuple[int, Letter], Move] = {}

    def find(self, watch: ClauseState, letter: Letter, tool: str) -> Move | None:
        """The move from this watch, if it is not known by its identity.

        None if the call is refused, or the monitor has to judge it.
        """
        same = self._same(watch)
        if same is None or (id(same), letter) in self.known:
            return None if same is None else self.known[id(same), letter]
        try:
            if _waits(watch):
                return self._in_flight(watch, letter)
            if len(self.known) >= MOVES_CAP:
                return None
            move = self._learned(same, letter, tool)
        except (ContractError, TooManyBranches):  # the monitor will say so, where it is asked
            return None
        if move is not None:
            self.known[id(same), letter] = move
        return move

    def _in_flight(self, watch: ClauseState, letter: Letter) -> Move | None:
        """The move from a watch that waits for results: it only tells that the call may run."""
        seen = self._clause.step(watch, letter, "call", PositionCounts(NEVER, NEVER), 0.0)
        return None if seen.violated else Move(watch, None, None)

    def _same(self, watch: ClauseState) -> ClauseState | None:
        """The watch that is remembered for all that are equal to it."""
        if len(self._watches) >= MOVES_CAP and watch not in self._watches:
            return None
        return self._watches.setdefault(watch, watch)

    def _learned(self, watch: ClauseState, letter: Letter, tool: str) -> Move | None:
        at = PositionCounts(0, 0)
        seen = self._clause.step(watch, letter, "call", at, 0.0)
        if seen.violated:
            return None
        if OPEN not in letter:
            after = self._rests(seen.watch)
            return Move(watch, after, after)
        change = Change(self._number, (), at, seen.watch, letter)
        return Move(watch, self._after(change, "ok", tool), self._after(change, "error", tool))

    def _after(self, change: Change, status: Status, tool: str) -> ClauseState | None:
        """The watch after such a result; None if that reveals anything."""
        final = self._clause.results(change.letter, Result(status), tool)
        now = Now(0.0, Context())
        seen = self._clause.settle(change.watch, change, final, change.at, now)
        return None if seen.violated else self._rests(seen.watch)

    def _rests(self, watch: ClauseState) -> ClauseState | None:
        """The watch, if it waits for nothing but further calls that concern it."""
        if _waits(watch) or self._clause.wakes_at(watch, PositionCounts(0, 0), 0.0) != NEVER:
            return None
        return self._same(watch)


def _waits(watch: ClauseState) -> bool:
    states = [state for state in (watch.outer, watch.segment) if state is not None]
    hanging = any(literal[0] == "D" for each in watch.left_open for literal in literals_of(each))
    return hanging or any(map(awaits_results, states))
