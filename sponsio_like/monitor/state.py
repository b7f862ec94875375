"""The records of what a clause remembers between positions, and of what one position changes.

All are immutable. What they mean is in `engine/clause.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sponsio_like.events import Context, Kind
from sponsio_like.monitor.monitor import State
from sponsio_like.monitor.owed import Instance
from sponsio_like.monitor.past import Letter


class PositionCounts(NamedTuple):
    """A position: its number among those the clause sees, and among those its guarantee counts."""

    seen: int
    counted: int


class ClauseState(NamedTuple):
    """All that a clause remembers.

    `outer`: the state over the whole session; `segment`: the state over the open segment, None if
    there is none; `closed`: no further segment can open; `violated`: a violation was let through,
    so that the verdict stays; `left_open`: what ended segments still owe, which calls in flight
    decide; `flying`: the positions of these calls, if the rest has their ranks (`automaton.py`).
    """

    outer: State
    segment: State | None
    closed: bool = False
    violated: bool = False
    left_open: frozenset[Instance] = frozenset()
    flying: tuple[int, ...] = ()


class Change(NamedTuple):
    """The change of clause number `clause` if the position `at` is let through.

    `state`: what it remembers then; with value variables, what each state becomes for all values
    that the position does not bind. `given`: what has to be known of the call when its result
    comes.
    """

    clause: int
    key: Any
    at: PositionCounts
    state: Any
    letter: Letter
    given: Any = ()


class ClauseStep(NamedTuple):
    """A state after an event, a result or a time; `violated`: that violates the clause."""

    state: ClauseState
    violated: bool


class Now(NamedTuple):
    """The time and the context: what an assumption may read besides the past."""

    time: float
    context: Context


class Witness(NamedTuple):
    """The evidence of a violation: the values of the variables, and the call since which it is so.

    `full`: memory is full, so that a violation cannot be excluded. `key`: the values as they are
    remembered.
    """

    values: tuple[tuple[str, Any], ...] = ()
    since: int | None = None
    full: bool = False
    key: Any = None


class Read(NamedTuple):
    """The letter that a clause reads at an event, and the key that chooses its monitor.

    Of a clause with value variables, the letter is that of all values that the event does not bind,
    and the `key` what it reads for the others.
    """

    clause: int
    letter: Letter
    key: Any


@dataclass(frozen=True, slots=True)
class Judgement:
    """The changes that an event makes if it is let through, and the clauses that it would violate.

    `failed`: the clauses that could not be judged, each with the exception. `witnesses`: by clause,
    the values that are violated, and since when; or that memory is full.
    """

    kind: Kind
    changes: tuple[Change, ...]
    violated: tuple[int, ...]
    failed: tuple[tuple[int, Exception], ...]
    time: float
    witnesses: Mapping[int, Witness] = field(default_factory=dict)
