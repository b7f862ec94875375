"""Knows in which threads the garbage collector runs, and settles calls that it ends elsewhere.

The collector closes generators and coroutines that nobody can finish any more, at any moment: also
while its thread holds the lock of a session, for which it must not wait. So what they decide then
is refused.
"""

from __future__ import annotations

import _thread
import gc
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

COLLECTING: set[int] = set()
"""The threads in which the collector runs now."""
SECONDS = 1.0
"""The seconds after which this thread is taken to hold the lock itself."""


def is_collecting() -> bool:
    """True if the collector has called this code."""
    return _thread.get_ident() in COLLECTING


def would_wait(lock: Any) -> bool:
    """True if the collector has called this code while its own thread holds the lock, for which it
    would wait for ever. Other threads hold it for microseconds.
    """
    if not is_collecting():
        return False
    if lock.acquire(timeout=SECONDS):
        lock.release()
        return False
    return True


def elsewhere(settle: Callable[..., Any], id: str, **result: Any) -> None:
    """Settle a call in another thread; while the process ends none can start, and it is lost."""
    with suppress(RuntimeError):
        _thread.start_new_thread(settle, (id,), result)


def _noticed(phase: str, _: Any) -> None:
    change = COLLECTING.add if phase == "start" else COLLECTING.discard
    change(_thread.get_ident())


def _forked() -> None:
    """Forget the threads that a forked process does not have: new ones may get their numbers."""
    COLLECTING.intersection_update({_thread.get_ident()})


gc.callbacks.append(_noticed)
if hasattr(os, "register_at_fork"):  # there are systems that cannot fork
    os.register_at_fork(after_in_child=_forked)
