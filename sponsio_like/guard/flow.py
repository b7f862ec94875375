"""One guarded call, from decision to result: decide, run, settle.

In: a session, a tool, its arguments, and how to run it. Out: what the tool returned, or what the
user has chosen for calls that are blocked or held. The flow is a generator that yields what has
to be run, so that one and the same serves plain functions and coroutines.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from types import AsyncGeneratorType, GeneratorType
from typing import Any, Literal, NamedTuple, TypeAlias

from sponsio_like.errors import SessionError
from sponsio_like.events.ticket import Ticket
from sponsio_like.guard.raised import CallHeld, blocked
from sponsio_like.outcome import Allowed, Blocked, Held, Redirect, Redirected
from sponsio_like.session.active import Acting
from sponsio_like.session.session import Session, decide_fitted
from sponsio_like.values.plain import as_answer

POLL_SECONDS = 0.05
"""How often a call that waits for a person looks for the answer."""

OnBlock: TypeAlias = "Literal['raise', 'return'] | Callable[[Blocked], Any]"
"""A call that is blocked raises `CallBlocked`, returns the advice, or what a callable makes.

One that ends the run raises `RunStopped`, whatever is chosen."""
OnHold: TypeAlias = Literal["raise", "return", "wait"]
"""A call that is held raises `CallHeld`, returns the `Ticket`, or waits for the answer."""


class Run(NamedTuple):
    """Something to be run; a coroutine is awaited, if the driver can.

    `answer`: what contracts read of what it returns.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}
    answer: Callable[[Any], Any] = as_answer


class Failed(NamedTuple):
    """What `Run.answer` makes of an answer that says that the tool has failed."""

    error: Any


class Wait(NamedTuple):
    """Wait until the ticket has been answered, or nobody can answer it any more."""

    session: Session
    ticket: Ticket

    @property
    def over(self) -> bool:
        """Whether the call has to be decided again."""
        try:
            return not self.session.open or self.session.ticket(self.ticket).status != "open"
        except SessionError:  # another call, equal to this one, has used it up
            return True

    def wait(self) -> None:
        """Wait here. Raises `SessionError` in an event loop, which would stand still."""
        if _in_event_loop():
            raise SessionError(
                f"`{self.ticket.tool}` would wait in an event loop, which may have to bring the "
                "answer; make the tool async, or run it in a thread"
            )
        while not self.over:
            time.sleep(POLL_SECONDS)


Step: TypeAlias = Run | Wait
Flow: TypeAlias = Generator[Step, Any, Any]


class Fitted(NamedTuple):
    """A substitute that can run: how, and the arguments that contracts read of it."""

    run: Run
    args: Mapping[str, Any]


@dataclass(slots=True)
class _Substitute:
    """Binds the substitute before it is decided; `run` is what may run then."""

    fit: Callable[[Redirect], Fitted]
    run: Run | None = None

    def __call__(self, redirect: Redirect) -> Mapping[str, Any] | str:
        self.run = None
        try:
            self.run, args = self.fit(redirect)
        except Exception as error:  # there is none, or it cannot take the arguments, in any way
            return told(error)
        return args


def flow(
    here: Acting,
    tool: str,
    read: Callable[[], Mapping[str, Any]],
    run: Run,
    fit: Callable[[Redirect], Fitted],
    on_block: OnBlock = "raise",
    on_hold: OnHold = "raise",
) -> Flow:
    """Decide the call, run what may run, and settle it.

    The arguments are read again after each wait: they are what the tool receives.
    """
    session, instead = here.session, _Substitute(fit)
    outcome = decide_fitted(session, tool, read(), None, here.by, instead)
    while isinstance(outcome, Held) and on_hold == "wait":
        yield Wait(session, outcome.ticket)
        outcome = decide_fitted(session, tool, read(), outcome.id, here.by, instead)
    match outcome:
        case Allowed(id):
            return (yield from _settled(session, id, run))
        case Redirected(id):
            assert instead.run is not None  # what it runs was bound before it was decided
            return (yield from _settled(session, id, instead.run))
        case Held():
            if on_hold == "return":
                return outcome.ticket
            raise CallHeld(outcome)
        case Blocked():
            return (yield from _refused(outcome, on_block))


def _refused(outcome: Blocked, on_block: OnBlock) -> Flow:
    """What a blocked call comes to; the end of the run is always raised."""
    if on_block == "raise" or outcome.ends_run:
        raise blocked(outcome)
    return outcome.advice if on_block == "return" else (yield Run(on_block, (outcome,)))


def _settled(session: Session, id: str, run: Run) -> Flow:
    """Run it, and tell the session what became of it, whatever that is.

    A generator that it returns has not run: the call is in flight until it has.
    """
    try:
        output = yield run
    except BaseException as error:
        session.settle(id, error=told(error))
        raise
    if isinstance(output, GeneratorType):
        return _generated(session, id, output)
    if isinstance(output, AsyncGeneratorType):
        return _generated_later(session, id, output)
    answer = run.answer(output)
    if isinstance(answer, Failed):
        session.settle(id, error=answer.error)
    else:
        session.settle(id, output=answer)
    return output


def _generated(
    session: Session, id: str, body: Generator[Any, Any, Any]
) -> Generator[Any, Any, Any]:
    try:
        result = yield from body
    except BaseException as error:
        session.settle(id, error=told(error))
        raise
    session.settle(id, output=as_answer(result))
    return result


async def _generated_later(
    session: Session, id: str, body: AsyncGenerator[Any, Any]
) -> AsyncGenerator[Any, Any]:
    try:
        async with contextlib.aclosing(body):
            async for each in body:
                yield each
    except BaseException as error:
        session.settle(id, error=told(error))
        raise
    session.settle(id)


def told(error: BaseException) -> str:
    """An exception in words; its text may be code of the user."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _in_event_loop() -> bool:
    """Whether this thread runs one: then the host has loaded asyncio."""
    asyncio = sys.modules.get("asyncio")
    try:
        return asyncio is not None and asyncio.get_running_loop() is not None
    except RuntimeError:
        return False


# --- drivers --------------------------------------------------------------------------------------


def drive(steps: Flow) -> Any:
    """Go through a flow, running each step here.

    What a plain function returns may have to be awaited: then so has the answer, and the call is
    in flight until it has been.
    """
    step, end = _moved(steps)
    while step is not None:
        try:
            result = _run(step)
        except BaseException as error:
            step, end = _moved(steps, error=error)
            continue
        if isinstance(step, Run) and inspect.isawaitable(result):
            return _go_on(steps, result)
        step, end = _moved(steps, result)
    return end


async def adrive(steps: Flow) -> Any:
    """Go through a flow, awaiting what has to be awaited."""
    step, end = _moved(steps)
    return end if step is None else await _go_on(steps, _awaited(step))


async def _go_on(steps: Flow, waiting: Awaitable[Any]) -> Any:
    while True:
        try:
            result = await waiting
        except BaseException as error:
            step, end = _moved(steps, error=error)
        else:
            step, end = _moved(steps, result)
        if step is None:
            return end
        waiting = _awaited(step)


def _moved(
    steps: Flow, result: Any = None, error: BaseException | None = None
) -> tuple[Step | None, Any]:
    """The next step of a flow; or None, and what it has come to."""
    try:
        return (steps.send(result) if error is None else steps.throw(error)), None
    except StopIteration as end:
        return None, end.value
    except RuntimeError as wrapped:
        if isinstance(error, StopIteration) and wrapped.__cause__ is error:
            raise error from None  # it is the tool's own, and not the flow's
        raise


def _run(step: Step) -> Any:
    return step.wait() if isinstance(step, Wait) else step.function(*step.args, **step.kwargs)


async def _awaited(step: Step) -> Any:
    if isinstance(step, Run):
        result = step.function(*step.args, **step.kwargs)
        return await result if inspect.isawaitable(result) else result
    import asyncio  # the host has loaded it

    while not step.over:  # noqa: ASYNC110  answers come from any thread
        await asyncio.sleep(POLL_SECONDS)
    return None
