"""What is remembered of one clause between positions, and what becomes of it at one of them.

Out: plain records, immutable. What they mean is in `engine/clause.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sponsio_like.events.context import Context
from sponsio_like.events.events import Kind
from sponsio_like.monitor.monitor import Instance, State
from sponsio_like.monitor.past import Letter


class Place(NamedTuple):
    """A position: its number among those the clause sees, and those its guarantee counts."""

    seen: int
    counted: int


class Watch(NamedTuple):
    """All that a clause remembers. `gate`: over the whole session; `inner`: over the open segment.

    `over`: no further segment can open. `broken`: a violation was let through, the verdict has
    latched. `hanging`: what segments that have ended still owe, if calls in flight settle so.
    """

    gate: State
    inner: State | None
    over: bool = False
    broken: bool = False
    hanging: frozenset[Instance] = frozenset()


class Change(NamedTuple):
    """What clause number `clause` becomes if the position `at` is let through.

    `watch`: what it remembers then; for all values that the position does not bind, what each state
    becomes. `given`: what of the call has to be known when its answer comes.
    """

    clause: int
    key: Any
    at: Place
    watch: Any
    letter: Letter
    given: Any = ()


class Seen(NamedTuple):
    """What a watch has become, and whether the guarantee is violated where the assumption holds."""

    watch: Watch
    violated: bool


class Now(NamedTuple):
    """What an assumption may speak of besides the past."""

    time: float
    context: Context


class Witness(NamedTuple):
    """What a violation rests on: the values of the variables, and the call since which it is so.

    `full`: memory is full, so that it cannot be told. `key`: the values as they are remembered.
    """

    values: tuple[tuple[str, Any], ...] = ()
    since: int | None = None
    full: bool = False
    key: Any = None


class Read(NamedTuple):
    """What a clause reads at an event: its letter, and the values that choose its monitor.

    Of a clause with value variables, the letter is that of all values that the event does not bind,
    and the `key` what it reads for the others.
    """

    clause: int
    letter: Letter
    key: Any


@dataclass(frozen=True, slots=True)
class Judgement:
    """What letting an event through would change, and the clauses that it would violate.

    `witnesses`: by clause, the values that are violated, and since when; or that memory is full.
    """

    kind: Kind
    changes: tuple[Change, ...]
    violated: tuple[int, ...]
    failed: tuple[tuple[int, Exception], ...]
    time: float
    witnesses: Mapping[int, Witness] = field(default_factory=dict)
