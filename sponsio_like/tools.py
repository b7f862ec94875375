"""Decorated tools: a function that cannot be called past its contracts.

In: a function, a coroutine function or a method. Out: the same, but each call is decided before
the body runs, on the arguments that the body receives, and settled after it.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sponsio_like.binding import Signature
from sponsio_like.compiler import Policy
from sponsio_like.errors import ContractError, SessionError
from sponsio_like.outcome import Redirected
from sponsio_like.running import Flow, OnBlock, OnHold, Run, adrive, drive, flow
from sponsio_like.session import Session, active_session


@dataclass(frozen=True, slots=True)
class Tool:
    """One decorated function: what it is called, where its session comes from, what a stop does."""

    name: str
    function: Callable[..., Any]
    signature: Signature
    box: Toolbox
    session: Session | None
    on_block: OnBlock
    on_hold: OnHold

    @property
    def home(self) -> str:
        """The class that a method belongs to."""
        return self.function.__qualname__.rpartition(".")[0] if self.signature.owner else ""

    def flow(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Flow:
        """What one call goes through."""
        session = self._current()
        if session is None:
            return _plainly(Run(self.function, args, kwargs))
        if self.box.policy.enforces:
            bound = self.signature.bind(args, kwargs)
        else:
            try:
                bound = self.signature.watch(args, kwargs)
            except TypeError:  # they do not fit, and the function says so itself
                return _plainly(Run(self.function, args, kwargs))
        run = Run(self.function, bound.args, bound.kwargs)
        owner = args[:1] if self.signature.owner else ()

        def substitute(outcome: Redirected) -> Run:
            return self.box.substitute(outcome, self, owner, bound.hosts)

        return flow(session, self.name, bound.read, run, substitute, self.on_block, self.on_hold)

    def owned_by(self, other: Tool, owner: tuple[Any, ...]) -> tuple[Any, ...]:
        """The object to call this method on, where a method of `owner` was to run.

        Raises `TypeError` if this is a method of another class.
        """
        if not self.home:
            return ()
        if self.home != other.home:
            raise TypeError(f"`{self.name}` is a method of another class")
        made = self.signature.owner == "self"
        if made and inspect.isclass(owner[0]):
            raise TypeError(f"`{self.name}` is a method of an object, `{other.name}` is not")
        return owner if made or inspect.isclass(owner[0]) else (type(owner[0]),)

    def _current(self) -> Session | None:
        """The session of this call. None where there is none, and nothing is enforced."""
        session = self.session or active_session()
        if session is not None and session.policy is self.box.policy and session.open:
            return session
        what = "none is active" if session is None else f"`{session.id}` is finished or another's"
        hint = "write `with session.active(): ...` around the agent"
        if self.box.policy.enforces:
            raise SessionError(f"tool `{self.name}` needs a session of its guard; {what}; {hint}")
        warnings.warn(f"tool `{self.name}` is not observed: {what}; {hint}", stacklevel=4)
        return None


def _plainly(run: Run) -> Flow:
    return (yield run)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The decorated tools of a guard, by name: substitutes are found here."""

    policy: Policy
    tools: dict[str, Tool] = field(default_factory=dict)

    def tool(
        self,
        function: Any,
        name: str | None,
        session: Session | None,
        on_block: OnBlock,
        on_hold: OnHold,
    ) -> Any:
        """The function, guarded. Raises `ContractError` for what cannot be guarded."""
        if isinstance(function, (staticmethod, classmethod)):
            inner = self.tool(function.__func__, name, session, on_block, on_hold)
            return type(function)(inner)
        mine = name or str(getattr(function, "__name__", ""))
        self._check(function, mine)
        tool = Tool(mine, function, Signature(function, mine), self, session, on_block, on_hold)
        self.tools[mine] = tool
        return _wrapped(tool)

    def _check(self, function: Any, name: str) -> None:
        if not callable(function) or not name or name == "<lambda>":
            raise ContractError.of(f"`{function!r}` is no function with a name", "give name=..")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise ContractError.of(
                f"`{name}` is a generator: its body would run after it was settled",
                "return a list",
            )
        known = self.tools.get(name)
        if known is not None and _home(known.function) != _home(function):
            raise ContractError.of(f"two tools are named `{name}`", "give one another name=..")

    def substitute(
        self,
        outcome: Redirected,
        instead_of: Tool,
        owner: tuple[Any, ...],
        hosts: Mapping[str, Any],
    ) -> Run:
        """How the substitute runs. Raises `LookupError`, `TypeError` or `ValueError` if it cannot.

        The substitute of a method may be a method of the same object.
        """
        tool = self.tools.get(outcome.tool)
        if tool is None:
            raise LookupError(f"no tool `{outcome.tool}` is decorated with this guard")
        if inspect.iscoroutinefunction(tool.function) and not inspect.iscoroutinefunction(
            instead_of.function
        ):
            raise TypeError(f"`{outcome.tool}` is a coroutine, `{instead_of.name}` is not")
        shared = {name: hosts[name] for name in tool.signature.hosts & hosts.keys()}
        bound = tool.signature.bind(tool.owned_by(instead_of, owner), {**shared, **outcome.args})
        return Run(tool.function, bound.args, bound.kwargs)


def check_answers(on_block: object, on_hold: object) -> None:
    """Raise `ContractError` for what cannot become of a blocked or held call."""
    if on_block not in ("raise", "return") and not callable(on_block):
        raise ContractError.of(f"blocked={on_block!r}", "write raise, return or a function")
    if on_hold not in ("raise", "return", "wait"):
        raise ContractError.of(f"held={on_hold!r}", "write raise, return or wait")


def _wrapped(tool: Tool) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(tool.function):

        @functools.wraps(tool.function)
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            return await adrive(tool.flow(args, kwargs))

        return guarded

    @functools.wraps(tool.function)
    def guarded_plainly(*args: Any, **kwargs: Any) -> Any:
        return drive(tool.flow(args, kwargs))

    return guarded_plainly


def _home(function: Any) -> tuple[Any, Any]:
    """Where a function was written: the same after its module is loaded again."""
    return getattr(function, "__module__", None), getattr(function, "__qualname__", None)
