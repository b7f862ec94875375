"""Runs one guarded call from decision to result: decide, run, settle.

In: a session, a tool, its arguments, and how to run it. Out: what the tool returned, or what the
user has chosen for calls that are blocked or held. The flow is a generator that yields what has
to be run, so that one and the same serves plain functions and coroutines.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import time
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from types import AsyncGeneratorType, GeneratorType
from typing import Any, Literal, NamedTuple, TypeAlias

from sponsio_like.errors import SessionError
from sponsio_like.events import Ticket
from sponsio_like.guard.raised import CallHeld, blocked_exception
from sponsio_like.outcome import Allowed, Blocked, Held, Redirect, Redirected
from sponsio_like.session import Caller, Session, decide_fitted
from sponsio_like.values import as_answer

NEVER_BEGUN = "what the tool returned was thrown away before it began"
Unbegun: TypeAlias = "list[weakref.finalize[..., Any]]"
"""Settles the call of a generator that is thrown away before it begins; empty from then on."""
POLL_SECONDS = 0.05
"""The seconds between two looks for the answer of a person."""

OnBlock: TypeAlias = "Literal['raise', 'return'] | Callable[[Blocked], Any]"
"""`raise`: a blocked call raises `CallBlocked`; `return`: it returns the advice; or it calls a
callable.

One that ends the run raises `RunStopped`, whatever is chosen.
"""
OnHold: TypeAlias = Literal["raise", "return", "wait"]
"""`raise`: a held call raises `CallHeld`; `return`: it returns the `Ticket`; `wait`: it waits for
the answer.
"""


class Run(NamedTuple):
    """A step of the flow: call this function; a coroutine is awaited, if the driver can.

    `answer` makes of the result what contracts read.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}
    answer: Callable[[Any], Any] = as_answer


class Failed(NamedTuple):
    """The result of `Run.answer` for an answer that says that the tool has failed."""

    error: Any


class WaitForAnswer(NamedTuple):
    """A step of the flow: wait until the ticket is answered, or nobody can answer it any more."""

    session: Session
    ticket: Ticket

    @property
    def over(self) -> bool:
        """True if the call has to be decided again."""
        try:
            return not self.session.open or self.session.ticket(self.ticket).status != "open"
        except SessionError:  # another call, equal to this one, has used it up
            return True

    def wait(self) -> None:
        """Block this thread until `over`.

        Raises `SessionError` in an event loop, which would stand still.
        """
        if _in_event_loop():
            raise SessionError(
                f"`{self.ticket.tool}` would wait in an event loop, which may have to bring the "
                "answer; make the tool async, or run it in a thread"
            )
        while not self.over:
            time.sleep(POLL_SECONDS)


Step: TypeAlias = Run | WaitForAnswer
Flow: TypeAlias = Generator[Step, Any, Any]


class Fitted(NamedTuple):
    """A substitute that can run, and its arguments as contracts read them."""

    run: Run
    args: Mapping[str, Any]


@dataclass(slots=True)
class _Substitute:
    """A function that binds the substitute before it is decided; `run` is then what may run."""

    fit: Callable[[Redirect], Fitted]
    run: Run | None = None

    def __call__(self, redirect: Redirect) -> Mapping[str, Any] | str:
        self.run = None
        try:
            self.run, args = self.fit(redirect)
        except Exception as error:  # there is none, or it cannot take the arguments
            return error_text(error)
        return args


def call_flow(
    here: Caller,
    tool: str,
    read: Callable[[], Mapping[str, Any]],
    run: Run,
    fit: Callable[[Redirect], Fitted],
    on_block: OnBlock = "raise",
    on_hold: OnHold = "raise",
) -> Flow:
    """Decide the call, run what may run, and settle it.

    `read` is asked again after each wait, since the arguments may have changed. `fit` binds the
    substitute of a redirect.
    """
    session, instead = here.session, _Substitute(fit)
    outcome = decide_fitted(session, tool, read(), None, here.by, instead)
    while isinstance(outcome, Held) and on_hold == "wait":
        yield WaitForAnswer(session, outcome.ticket)
        outcome = decide_fitted(session, tool, read(), outcome.id, here.by, instead)
    match outcome:
        case Allowed(id):
            return (yield from _settled(session, id, run))
        case Redirected(id):
            assert instead.run is not None  # bound before it was decided
            return (yield from _settled(session, id, instead.run))
        case Held():
            if on_hold == "return":
                return outcome.ticket
            raise CallHeld(outcome)
        case Blocked():
            return (yield from _refused(outcome, on_block))


def _refused(outcome: Blocked, on_block: OnBlock) -> Flow:
    """Return what a blocked call returns, or raise; the end of the run is always raised."""
    if on_block == "raise" or outcome.ends_run:
        raise blocked_exception(outcome)
    return outcome.advice if on_block == "return" else (yield Run(on_block, (outcome,)))


def _settled(session: Session, id: str, run: Run) -> Flow:
    """Run the call, and tell the session its result or its error.

    A generator that it returns has not run, nor has work that it has given to an executor: the call
    is in flight until it has.
    """
    try:
        output = yield run
    except BaseException as error:
        session.settle(id, error=error_text(error))
        raise
    begun: Unbegun = []
    if isinstance(output, GeneratorType):
        return _noted(_generated(session, id, output, begun), begun, session, id)
    if isinstance(output, AsyncGeneratorType):
        return _noted(_generated_later(session, id, output, begun), begun, session, id)
    if _is_submitted(output):
        if output.done():  # a loop would say so later, or never if it is closed
            _landed(session, id, run, output)
        else:
            output.add_done_callback(lambda done: _landed(session, id, run, done))
        return output
    _answered(session, id, run, output)
    return output


def _noted(made: Any, begun: Unbegun, session: Session, id: str) -> Any:
    """Return a generator whose call has failed if it is thrown away before it begins."""
    begun.append(weakref.finalize(made, session.settle, id, error=NEVER_BEGUN))
    return made


def _answered(session: Session, id: str, run: Run, output: Any) -> None:
    answer = run.answer(output)
    if isinstance(answer, Failed):
        session.settle(id, error=answer.error)
    else:
        session.settle(id, output=answer)


def _is_submitted(output: Any) -> bool:
    """Return True for the future of an executor, whose module is loaded then, or a task."""
    futures = sys.modules.get("concurrent.futures")
    return _is_task(output) or (futures is not None and isinstance(output, futures.Future))


def _is_task(output: Any) -> bool:
    """Return True for a task, or another future of asyncio: it runs also if it is not awaited."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio.isfuture(output)


def _landed(session: Session, id: str, run: Run, done: Any) -> None:
    try:
        output = done.result()
    except BaseException as error:  # what it raised, or that it was cancelled
        session.settle(id, error=error_text(error))
    else:
        _answered(session, id, run, output)


def _generated(
    session: Session, id: str, body: Generator[Any, Any, Any], begun: Unbegun
) -> Generator[Any, Any, Any]:
    begun.pop().detach()
    try:
        result = yield from body
    except BaseException as error:
        session.settle(id, error=error_text(error))
        raise
    session.settle(id, output=as_answer(result))
    return result


async def _generated_later(
    session: Session, id: str, body: AsyncGenerator[Any, Any], begun: Unbegun
) -> AsyncGenerator[Any, Any]:
    begun.pop().detach()
    go, given = body.asend, None  # `yield from` for those that are asynchronous
    try:
        async with contextlib.aclosing(body):
            while True:
                each = await go(given)
                try:
                    go, given = body.asend, (yield each)
                except GeneratorExit:
                    raise
                except BaseException as thrown:
                    go, given = body.athrow, thrown
    except StopAsyncIteration:
        session.settle(id)
    except BaseException as error:
        session.settle(id, error=error_text(error))
        raise


def error_text(error: BaseException) -> str:
    """Return an exception in words; its text may come from code of the user, and fail."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _in_event_loop() -> bool:
    """True if this thread runs an event loop; asyncio is loaded then."""
    asyncio = sys.modules.get("asyncio")
    try:
        return asyncio is not None and asyncio.get_running_loop() is not None
    except RuntimeError:
        return False


# --- drivers --------------------------------------------------------------------------------------


def drive(steps: Flow) -> Any:
    """Run each step of a flow in this thread; return the result of the flow.

    If a plain function returns an awaitable, the result is an awaitable, too, and the call is in
    flight until it has been awaited; if it returns a task, that is the result.
    """
    step, end = _next_step(steps)
    while step is not None:
        try:
            result = _run(step)
        except BaseException as error:
            step, end = _next_step(steps, error=error)
            continue
        if isinstance(step, Run) and inspect.isawaitable(result) and not _is_task(result):
            return _go_on(steps, result)
        step, end = _next_step(steps, result)
    return end


async def adrive(steps: Flow) -> Any:
    """Run each step of a flow, awaiting those that are awaitable; return the result of the flow."""
    step, end = _next_step(steps)
    return end if step is None else await _go_on(steps, _awaited(step))


async def _go_on(steps: Flow, waiting: Awaitable[Any]) -> Any:
    while True:
        try:
            result = await waiting
        except BaseException as error:
            step, end = _next_step(steps, error=error)
        else:
            step, end = _next_step(steps, result)
        if step is None:
            return end
        waiting = _awaited(step)


def _next_step(
    steps: Flow, result: Any = None, error: BaseException | None = None
) -> tuple[Step | None, Any]:
    """Return the next step of a flow and None; at its end None and its result."""
    try:
        return (steps.send(result) if error is None else steps.throw(error)), None
    except StopIteration as end:
        return None, end.value
    except RuntimeError as wrapped:
        if isinstance(error, StopIteration) and wrapped.__cause__ is error:
            raise error from None  # the tool raised it, not the flow
        raise


def _run(step: Step) -> Any:
    return (
        step.wait() if isinstance(step, WaitForAnswer) else step.function(*step.args, **step.kwargs)
    )


async def _awaited(step: Step) -> Any:
    if isinstance(step, Run):
        result = step.function(*step.args, **step.kwargs)
        return await result if inspect.isawaitable(result) else result
    import asyncio  # the host has loaded it

    while not step.over:  # noqa: ASYNC110  answers come from any thread
        await asyncio.sleep(POLL_SECONDS)
    return None
