"""Clauses with few states: where a call and its result lead is found out once, then remembered.

In: a state, a letter. Out: a `Move`: the states after the call and its result, as the readable
monitor says.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sponsio_like.engine.automaton import has_many_parts, is_simple
from sponsio_like.engine.clause import Clause
from sponsio_like.engine.fastpath.letter import of_answer
from sponsio_like.errors import ContractError
from sponsio_like.events import NOTHING_TOLD, OPEN, Status, kinds_of
from sponsio_like.monitor import (
    NEVER,
    Change,
    ClauseState,
    Letter,
    Now,
    PositionCounts,
    TooManyBranches,
)

MOVES_CAP = 4_096
"""Most moves that are remembered of one clause; with one more, all are forgotten."""
FEW_BITS = 8
"""Most truth values that a clause remembers whose states sessions share."""
HERE = PositionCounts(NEVER, NEVER)
"""A position for clauses to whose states all positions are alike."""


class Answered(NamedTuple):
    """The states after a call of which a clause reads the answer: by its status, and by what the
    conditions on its answer said. `letter`, `state`: what was read, and the state without a result.
    """

    letter: Letter
    state: ClauseState
    ends: dict[tuple[Any, ...], ClauseState | None]


class Move(NamedTuple):
    """The states after a call that is let through at once; None if the monitor has to be asked.

    `before` is kept, since moves are found by its identity. `answered`: for a clause that reads
    answers, in place of `done` and `failed`.
    """

    before: ClauseState
    done: ClauseState | None
    failed: ClauseState | None
    answered: Answered | None = None


def has_transitions(clause: Clause) -> bool:
    """True if states of the clause say nothing of positions, times, numbers and the context."""
    by_calls = all(kinds_of(slot.node) == {"call"} for slot in clause.slots)
    return by_calls and not clause.by and clause.automaton is not None


def of_few_bits(clause: Clause) -> bool:
    """True if the guarantee remembers a few truth values, and nothing else."""
    program, cells = clause.monitor.program, clause.monitor.past.cells
    few = len(cells) <= FEW_BITS
    return few and all(is_simple(program.nodes[cell.node], counts=False) for cell in cells)


class Transitions:
    """The moves of one clause that were looked up so far. Shared by all sessions.

    `known`: moves by the identity of the state, and the letter.
    """

    def __init__(self, number: int, clause: Clause) -> None:
        self._number, self._clause = number, clause
        self._answers = [k for k, slot in enumerate(clause.slots) if of_answer(slot)]
        self.known: dict[tuple[int, Letter], Move] = {}

    def find(self, state: ClauseState, letter: Letter, tool: str) -> Move | None:
        """The move from this state; None if the call is refused, or the monitor has to judge it."""
        try:
            after, violated = self._clause.step(state, letter, "call", HERE, 0.0)
            if violated:
                return None
            if state.flying:  # it waits for results, so that only they tell where it leads
                return Move(state, None, None)
            if self._answers and not self._idle(letter):
                move = Move(state, None, None, Answered(letter, after, {}))
            else:
                none = (False,) * len(self._answers)  # it makes no difference
                done, failed = (self._end(after, letter, each, tool, none) for each in ENDS)
                move = Move(state, done, failed)
        except (ContractError, TooManyBranches):  # the monitor will say so, where it is asked
            return None
        if has_many_parts(state):
            return move
        if len(self.known) >= MOVES_CAP:
            self.known.clear()
        self.known[id(state), letter] = move
        return move

    def end(self, move: Move, status: Status, *answers: bool) -> ClauseState | None:
        """Return the state after a call of this status, by what the conditions on its answer said;
        None if the monitor has to be asked.
        """
        if move.answered is None:
            return move.done if status == "ok" else move.failed
        letter, state, ends = move.answered
        key = (status, *answers)
        if key not in ends:
            try:
                ends[key] = self._end(state, letter, status, "", answers)
            except (ContractError, TooManyBranches):  # as above
                return None
        return ends[key]

    def _idle(self, letter: Letter) -> bool:
        """Return True if no condition on the answer makes a difference."""
        told = [each if isinstance(each, bool) else None for each in letter]
        return len(self._clause.idle_slots(told, self._answers)) == len(self._answers)

    def _end(
        self,
        state: ClauseState,
        letter: Letter,
        status: Status,
        tool: str,
        answers: tuple[bool, ...],
    ) -> ClauseState | None:
        """The state once the call has this status, if it waits for nothing but further calls that
        concern it, and if that reveals nothing.
        """
        clause, violated = self._clause, False
        if OPEN in letter:
            change = Change(self._number, (), HERE, state, letter)
            said = dict(zip(self._answers, answers, strict=True))
            final = {**clause.by_status(letter, status, tool), **said}
            state, violated = clause.settle(state, change, final, HERE, Now(0.0, NOTHING_TOLD))
        rests = clause.wakes_at(state, HERE, 0.0) == NEVER
        return state if rests and not (violated or state.flying) else None


ENDS: tuple[Status, Status] = ("ok", "error")
