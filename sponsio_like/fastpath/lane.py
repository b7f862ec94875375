"""One lane: what a session asks it, and is given.

Out: plain records. How lanes are written stands in `fastpath/source.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.logic.formula import Delivered
from sponsio_like.monitor import Read

Checked: TypeAlias = tuple[Any, ...]
"""What a lane has read of a call, in the order in which its own source names it."""


class Lane(NamedTuple):
    """`check(..)`: what the others are given; a list of the clauses that stand against the call; or
    None if it has to go the long way.

    `done` and `failed` commit the call with its result; False if the long way has to do that, None
    if there is nothing to commit. `reads` are what its clauses read. `sources`: the results that
    it delivers; `branching`: the clauses that may run out of branches for calls in flight.
    `at_once`: a monitor has to judge the call; `by_status`: contracts read no more of its result
    than whether it is an error.
    """

    clauses: tuple[int, ...]
    sources: tuple[Delivered, ...]
    check: Callable[..., Checked | list[int] | None]
    done: Callable[..., bool] | None
    failed: Callable[..., bool] | None
    reads: Callable[[Checked], list[Read]]
    branching: tuple[int, ...] = ()
    at_once: bool = False
    by_status: bool = True


class Roundabout(Exception):
    """Calls of this tool have to go the long way."""
