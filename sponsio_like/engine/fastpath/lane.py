"""One lane: what a session asks it, and is given.

Out: plain records. How lanes are written stands in `fastpath/source.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sponsio_like.logic.formula import Delivered
from sponsio_like.monitor import Change, Read

Checked: TypeAlias = tuple[Any, ...]
"""The values that a lane has read of a call, in the order in which its own source names it."""
Opener: TypeAlias = Callable[[Any, Checked, float], "list[Change] | None"]
"""Ledger, values read, time -> the changes that wait for the result, or None."""
Reader: TypeAlias = Callable[[Checked], list[Read]]
"""The values read of a call -> the letter of each clause."""
ResultPart: TypeAlias = Literal["status", "answer", "all"]
"""The part of a call's result that contracts read: whether it is an error; conditions on its
answer, too; or more, which binds values or runs code of users.
"""


@dataclass(frozen=True, slots=True)
class Lane:
    """`check(..)` returns a tuple of what it has read, which the other functions take; or a list:
    the violated clauses and that tuple, if there are any, or a monitor has to judge the call; or
    None if the call has to take the slow path.

    `done` and `failed` commit and count the call with its result; False if the slow path has to do
    that; they are given the answer if they `read_answer`. `opened` makes it a call in flight, and
    returns the changes that wait for its result; None if the monitors have to do that. `reads` are
    what its clauses read. Both are compiled when they are first asked for.
    `sources`: the results that it delivers; `waiting`: the clauses without keys and values that may
    wait for calls in flight, `branching`: those that may run out of branches for them, None if one
    of them has keys or values. `needs_monitor`: a monitor has to judge the call; `result_part`:
    what is read of its result.
    """

    clauses: tuple[int, ...]
    sources: tuple[Delivered, ...]
    check: Callable[..., Any]
    done: Callable[..., bool]
    failed: Callable[..., bool]
    opened: Callable[[], Opener]
    reads: Callable[[], Reader]
    waiting: tuple[int, ...] = ()
    branching: tuple[int, ...] | None = ()
    needs_monitor: bool = False
    read_answer: bool = False
    result_part: ResultPart = "status"


class NoLane(Exception):
    """Calls of this tool have to take the slow path."""
