"""Learns ahead what the first calls under a policy would have to learn.

In: a policy. Out: lessons, each some milliseconds at most: the lane of a tool; a call of it that is
decided and settled in a session of its own, from which all sessions have the transitions; the
advice for it, if it is refused. No code of users runs, and nothing is decided otherwise than
without lessons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from sponsio_like.advice import load_search
from sponsio_like.engine import Policy, named_lane, runs_user_code
from sponsio_like.events import Call
from sponsio_like.session.denied import LaneRefusal
from sponsio_like.session.fast import settle_fast, try_fast
from sponsio_like.session.interceptor import Interceptor
from sponsio_like.session.settle import settle

Lesson: TypeAlias = Callable[[], object]
ID = "rehearsed"
"""The id of each rehearsed call, in a session of its own."""


def lessons(policy: Policy) -> Iterator[Lesson]:
    """Yield what can be learned ahead, tool by tool."""
    yield load_search
    safe = not any(runs_user_code(slot) for clause in policy.clauses for slot in clause.slots)
    for tool in sorted(policy.index.names):
        yield partial(named_lane, policy, tool)
        if safe:
            yield partial(_rehearse, policy, tool)


def _rehearse(policy: Policy, tool: str) -> None:
    """Decide and settle a call of this tool in a new session, which nobody else has."""
    inner = Interceptor(policy, lambda: 0.0, ID, None)
    found = try_fast(inner, tool, {}, ID, "agent", 0)
    if isinstance(found, LaneRefusal):
        found()
        return
    if found is None:
        inner.attempt(Call(tool, {}, ID))
    if settle_fast(inner, ID, None, None) is None:
        settle(inner, ID, None, None)
