"""Runs one call, or checks one answer, of a hand-written agent loop, as a block of code.

with running(session, "pay", {"amount": 5}) as call:
    call.output = pay(**call.args)
print(said(session, text))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sponsio_like.guard import CallHeld, blocked_exception, error_text
from sponsio_like.outcome import Allowed, Blocked, Held, Redirected
from sponsio_like.session import Session, caller_in
from sponsio_like.values import as_answer


@dataclass(slots=True)
class Running:
    """A call that may run: its tool and its arguments. The block stores the result in `output`."""

    id: str
    tool: str
    args: Mapping[str, Any]
    output: Any = None


@contextmanager
def running(
    session: Session, tool: str, args: Mapping[str, Any] | None = None, **how: Any
) -> Iterator[Running]:
    """Decide the call, let the block run it, and settle it with `output`, or with its exception.

    A redirect shows in `tool` and `args`. `how`: `id`, `agent`, `depth`; if agent or depth are not
    given, those that are `active()` count. Raises `CallBlocked` (`RunStopped`, if the run is over)
    or `CallHeld` before the block is entered.
    """
    agent, depth = caller_in(session).by
    outcome = session.decide(tool, args, **{"agent": agent, "depth": depth, **how})
    match outcome:
        case Blocked():
            raise blocked_exception(outcome)
        case Held():
            raise CallHeld(outcome)
        case Redirected(id, instead, changed):
            call = Running(id, instead, changed)
        case Allowed(id):
            call = Running(id, tool, args or {})
    try:
        yield call
    except BaseException as error:
        session.settle(call.id, error=error_text(error))
        raise
    session.settle(call.id, output=as_answer(call.output))


def said(session: Session, text: str) -> str:
    """Return the agent's answer if it may be shown. Raises `CallBlocked` or `CallHeld` if not."""
    outcome = session.message("assistant", text)
    match outcome:
        case Blocked():
            raise blocked_exception(outcome)
        case Held():
            raise CallHeld(outcome)
    return text
