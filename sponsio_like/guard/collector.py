"""Pauses Python's cyclic garbage collector while contracts are loaded.

In: nothing. Out: a `with` block. Loading makes many objects that stay, and no garbage to speak of:
the collector looked at all of them again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 200
"""Fewest clauses after which the collector runs at once."""


def collect_once(clauses: int) -> None:
    """Run the collector after many clauses were loaded, if it is on: else the first call waits."""
    if clauses >= MANY and gc.isenabled():
        gc.collect()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Switch the collector off within the block, if it is on."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
