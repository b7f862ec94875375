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
ADVISED_CAP = 16
"""The most tools of which the advice for a refused call is rehearsed."""


def lessons(policy: Policy) -> Iterator[Lesson]:
    """Yield what can be learned ahead, tool by tool; the advice last, which takes longest."""
    yield load_search
    safe = not any(runs_user_code(slot) for clause in policy.clauses for slot in clause.slots)
    tools = sorted(policy.index.names)
    for tool in tools:
        yield partial(named_lane, policy, tool)
        if safe:
            yield partial(_rehearse, policy, tool)
    if safe:
        yield from (partial(_advise, policy, tool) for tool in tools[:ADVISED_CAP])


def _rehearse(policy: Policy, tool: str) -> None:
    """Decide and settle a call of this tool in a new session, which nobody else has."""
    inner = _session(policy)
    if try_fast(inner, tool, {}, ID, "agent", 0) is None:
        inner.attempt(Call(tool, {}, ID))
    if settle_fast(inner, ID, None, None) is None:
        settle(inner, ID, None, None)


def _advise(policy: Policy, tool: str) -> None:
    """Read the advice for a call of this tool, if its lane refuses it in a new session."""
    found = try_fast(_session(policy), tool, {}, ID, "agent", 0)
    if isinstance(found, LaneRefusal):
        found()


def _session(policy: Policy) -> Interceptor:
    return Interceptor(policy, lambda: 0.0, ID, None)
