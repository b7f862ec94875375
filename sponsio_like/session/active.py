"""Keeps which session, agent and depth the calls of decorated tools belong to.

In: what `Session.active` is given. Out: the same within its block, in tasks too: a context
variable.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar


class Caller(NamedTuple):
    """A session, and who makes the calls in it; None where no block has said so."""

    session: Any
    agent: str | None = None
    depth: int | None = None
    around: Any = None
    """The session and the caller outside of the block, if that was another session."""

    @property
    def by(self) -> tuple[str, int]:
        """The agent and the depth of calls that are made here."""
        agent = "agent" if self.agent is None else self.agent
        return agent, 0 if self.depth is None else self.depth


S = TypeVar("S")
_ACTING: ContextVar[Caller | None] = ContextVar("sponsio_like_acting", default=None)


def caller_under(policy: Any) -> Caller | None:
    """Return the session and the caller of the innermost block under these contracts; else None."""
    return _innermost(lambda session: session.policy.family is policy.family)


def caller_in(session: Any) -> Caller:
    """Return the caller in this session, in this context; nobody is named outside of its blocks."""
    return _innermost(lambda each: each is session) or Caller(session)


def _innermost(ours: Callable[[Any], bool]) -> Caller | None:
    here = _ACTING.get()
    while here is not None and not ours(here.session):
        here = here.around
    return here


def _outside(session: Any) -> Caller | None:
    here = _ACTING.get()
    return here.around if here is not None and here.session is session else here


@contextlib.contextmanager
def active(session: S, agent: str | None, depth: int | None) -> Iterator[S]:
    """Make a session active within the block. A None is taken from a block around it."""
    around = caller_in(session)
    here = Caller(
        session, around.agent if agent is None else agent, around.depth if depth is None else depth
    )
    before = _ACTING.set(here._replace(around=_outside(session)))
    try:
        yield session
    finally:
        with contextlib.suppress(ValueError):  # the block ends in another context than it began in
            _ACTING.reset(before)
