"""Measures work without a clock on the wall: calls of functions, and ratios in one run.

In: functions. Out: `work`, how many functions one calls; `beside`, how many times as long as a
yardstick it takes, for what happens inside C code; `costs`, the work of several, to be compared.
A busy machine changes none of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any


def work(act: Callable[[], object]) -> int:
    """How many functions it calls in this thread, those written in Python and in C."""
    count = 0

    def tick(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def costs(*acts: Callable[[], object]) -> list[int]:
    """The work of each, after a first time that fills the caches."""
    for act in acts:
        act()
    return [work(act) for act in acts]


def beside(act: Callable[[], object]) -> float:
    """How many times as much CPU it takes as a yardstick that runs before and after it.

    The yardstick is a loop of plain Python that takes about a millisecond on an idle machine.
    """
    before = _cpu(_yardstick)
    taken = _cpu(act)
    return taken / max(before, _cpu(_yardstick))


def _cpu(act: Callable[[], object]) -> float:
    """CPU of this thread alone, in seconds: other processes and threads do not count."""
    started = time.thread_time()
    act()
    return time.thread_time() - started


def _yardstick() -> int:
    return sum(len(str(number)) for number in range(10_000))
