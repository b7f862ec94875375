"""One guarded call, from decision to result: decide, run, settle.

In: a session, a tool, its arguments, and how to run it. Out: what the tool returned, or what the
user has chosen for calls that are blocked or held. The flow is a generator that yields what has
to be run, so that one and the same serves plain functions and coroutines.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from sponsio_like.errors import SponsioLikeError
from sponsio_like.outcome import Allowed, Blocked, Held, Redirected
from sponsio_like.session import Session
from sponsio_like.tickets import Ticket

POLL_SECONDS = 0.05
"""How often a call that waits for a person looks for the answer."""

OnBlock: TypeAlias = "Literal['raise', 'return'] | Callable[[Blocked], Any]"
"""A call that is blocked raises `CallBlocked`, returns the advice, or what a callable makes."""
OnHold: TypeAlias = Literal["raise", "return", "wait"]
"""A call that is held raises `CallHeld`, returns the `Ticket`, or waits for the answer."""


class CallBlocked(SponsioLikeError):
    """The tool has not run. `advice` is for the model: why, and what would make the call legal."""

    def __init__(self, outcome: Blocked) -> None:
        self.outcome = outcome
        super().__init__(outcome.advice)

    @property
    def advice(self) -> str:
        """One sentence for the model."""
        return self.outcome.advice


class CallHeld(SponsioLikeError):
    """The tool has not run: `ticket` has to be answered, then the call made again."""

    def __init__(self, outcome: Held) -> None:
        self.outcome = outcome
        self.ticket: Ticket = outcome.ticket
        who = " or ".join(f"`{role}`" for role in outcome.ticket.roles) or "a person"
        super().__init__(f"`{outcome.ticket.tool}` waits for {who}, ticket {outcome.ticket.id}")


class Run(NamedTuple):
    """Something to be run; a coroutine is awaited, if the driver can."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}


class Wait(NamedTuple):
    """Wait until the ticket has been answered."""

    session: Session
    ticket: Ticket

    @property
    def over(self) -> bool:
        """Whether there is an answer."""
        return self.session.ticket(self.ticket).status != "open"

    def wait(self) -> bool:
        """Wait here."""
        while not self.over:
            time.sleep(POLL_SECONDS)
        return True


Step: TypeAlias = Run | Wait
Flow: TypeAlias = Generator[Step, Any, Any]
Substitute: TypeAlias = Callable[[Redirected], Run]


def flow(
    session: Session,
    tool: str,
    data: Mapping[str, Any],
    run: Run,
    substitute: Substitute,
    on_block: OnBlock = "raise",
    on_hold: OnHold = "raise",
) -> Flow:
    """Decide the call, run what may run, and settle it."""
    outcome = session.decide(tool, data)
    while isinstance(outcome, Held) and on_hold == "wait":
        yield Wait(session, outcome.ticket)
        outcome = session.decide(tool, data, id=outcome.id)
    match outcome:
        case Allowed(id):
            return (yield from _settled(session, id, run))
        case Redirected(id):
            return (yield from _redirected(session, outcome, substitute, on_block))
        case Held():
            if on_hold == "return":
                return outcome.ticket
            raise CallHeld(outcome)
        case Blocked():
            return refused(outcome, on_block)


def refused(outcome: Blocked, on_block: OnBlock) -> Any:
    """What a blocked call comes to."""
    if on_block == "raise":
        raise CallBlocked(outcome)
    return outcome.advice if on_block == "return" else on_block(outcome)


def _settled(session: Session, id: str, run: Run) -> Flow:
    """Run it, and tell the session what became of it, whatever that is."""
    try:
        output = yield run
    except BaseException as error:
        session.settle(id, error=f"{type(error).__name__}: {error}")
        raise
    session.settle(id, output=output)
    return output


def _redirected(
    session: Session, outcome: Redirected, substitute: Substitute, on_block: OnBlock
) -> Flow:
    try:
        run = substitute(outcome)
    except (LookupError, TypeError, ValueError) as error:
        session.settle(outcome.id, error=str(error))
        why = f"`{outcome.tool}` was to run instead, but it cannot: {error}"
        return refused(Blocked(outcome.id, outcome.violations, lambda: why), on_block)
    return (yield from _settled(session, outcome.id, run))


# --- drivers --------------------------------------------------------------------------------------


def drive(steps: Flow) -> Any:
    """Go through a flow, running each step here."""
    try:
        step = next(steps)
        while True:
            step = _advance(steps, step)
    except StopIteration as end:
        return end.value


def _advance(steps: Flow, step: Step) -> Step:
    try:
        result = step.wait() if isinstance(step, Wait) else step.function(*step.args, **step.kwargs)
    except BaseException as error:
        return steps.throw(error)
    return steps.send(result)


async def adrive(steps: Flow) -> Any:
    """Go through a flow, awaiting what has to be awaited."""
    try:
        step = next(steps)
        while True:
            try:
                result = await _awaited(step)
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        return end.value


async def _awaited(step: Step) -> Any:
    if isinstance(step, Run):
        result = step.function(*step.args, **step.kwargs)
        return await result if inspect.isawaitable(result) else result
    while not step.over:  # noqa: ASYNC110  a person answers, in any thread
        await asyncio.sleep(POLL_SECONDS)
    return None
