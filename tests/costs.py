"""What work costs: seconds of CPU, measured so that a busy machine troubles all alike.

In: functions. Out: what each takes at best. Tests compare these with each other, never with a
clock on the wall.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu(work: Callable[[], object]) -> float:
    """Seconds of CPU that this takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def costs(*works: Callable[[], object], rounds: int = 7) -> list[float]:
    """What each takes at best, after a first time that fills the caches; tried in turn."""
    for work in works:
        work()
    tried = [[cpu(work) for work in works] for _ in range(rounds)]
    return [min(each) for each in zip(*tried, strict=True)]
