"""Decorated tools: functions whose calls are decided by contracts before the body runs.

In: a function, a coroutine function or a method. Out: the same, but each call is decided before
the body runs, on the arguments that the body receives, and settled after it.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sponsio_like.checks import check_names, who_is_asked
from sponsio_like.engine import Policy, renamed
from sponsio_like.errors import ContractError, InputMissing, SessionError
from sponsio_like.guard.arguments import BoundCall, ToolSignature
from sponsio_like.guard.flow import Fitted, Flow, OnBlock, OnHold, Run, adrive, call_flow, drive
from sponsio_like.guard.toolbox import Toolbox, is_of_another, object_of, overridden
from sponsio_like.outcome import Redirect
from sponsio_like.session import Caller, Session, caller_in, caller_under
from sponsio_like.values import as_answer


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Tool:
    """One decorated function, with its session and its answers to blocked and held calls."""

    name: str
    function: Callable[..., Any]
    signature: ToolSignature
    box: Toolbox[Tool]
    batch: dict[str, Tool]
    session: Session | None
    on_block: OnBlock
    on_hold: OnHold
    answer: Callable[[Any], Any] = as_answer

    @property
    def home(self) -> str:
        """The class that a method belongs to; empty for a function."""
        return self.function.__qualname__.rpartition(".")[0] if self.signature.owner else ""

    def flow(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Flow:
        """Return the flow of one call: decided and settled, or run plainly where only observed."""
        here = self._here()
        if here is None:
            return _plainly(Run(self.function, args, kwargs))
        if here.session.policy.enforces:
            bound = self.signature.bind(args, kwargs)
        else:
            try:
                bound = self.signature.watch(args, kwargs)
            except TypeError:  # they do not fit; the function raises that itself
                return _plainly(Run(self.function, args, kwargs))
        run = Run(self.function, bound.args, bound.kwargs, self.answer)
        owner = args[:1] if self.signature.owner else ()

        def fit(redirect: Redirect) -> Fitted:
            return self._fitted(redirect, bound, owner)

        return call_flow(here, self.name, bound.read, run, fit, self.on_block, self.on_hold)

    # --- the substitute -------------------------------------------------------------------------

    def _fitted(self, redirect: Redirect, bound: BoundCall, owner: tuple[Any, ...]) -> Fitted:
        """Return the substitute, bound to what this tool would have received, else to its data.

        Raises `LookupError`, `TypeError` or `ValueError` if it cannot run.
        """
        tool = self.box.substitute(redirect.tool, self)
        tool, owner = tool.owned(self, owner)
        later = inspect.iscoroutinefunction
        if later(tool.function) and not later(self.function):
            raise TypeError(f"`{tool.name}` is a coroutine, `{self.name}` is not")
        data = bound.read()
        hosts = (tool.signature.hosts & bound.named.keys()) - data.keys()
        shared = {name: bound.named[name] for name in hosts}
        given = renamed({name: bound.named[name] for name in data}, redirect)
        try:
            fitted = tool.signature.bind(owner, {**shared, **given})
        except ValueError:  # not of the expected type; its data may be
            fitted = tool.signature.bind(owner, {**shared, **renamed(data, redirect)})
        run = Run(tool.function, fitted.args, fitted.kwargs, tool.answer)
        return Fitted(run, fitted.read())

    def owned(self, other: Tool, owner: tuple[Any, ...]) -> tuple[Tool, tuple[Any, ...]]:
        """Return this method as the object has it, and the object to call it on.

        Raises `TypeError` if this is a method of another class, or of another object of a class.
        """
        if not self.home:
            if is_of_another(self.function, owner[0] if owner else object_of(other.function)):
                raise TypeError(f"`{self.name}` is a method of another object than `{other.name}`")
            return self, ()
        if self.home != other.home:
            raise TypeError(f"`{self.name}` is a method of another class")
        made = self.signature.owner == "self"
        if made and inspect.isclass(owner[0]):
            raise TypeError(f"`{self.name}` is a method of an object, `{other.name}` is not")
        mine = owner if made or inspect.isclass(owner[0]) else (type(owner[0]),)
        found = overridden(self.function, owner[0])
        return (self, mine) if found is None else self._overridden(found, owner[0], mine)

    def _overridden(
        self, found: Any, of: Any, mine: tuple[Any, ...]
    ) -> tuple[Tool, tuple[Any, ...]]:
        """Return the tool that a subclass has made of this method, and the object to call it on."""
        function, owned = getattr(found, "__func__", found), not isinstance(found, staticmethod)
        if not inspect.isfunction(function):
            raise TypeError(f"`{self.name}` of `{type(of).__name__}` is no method")
        signature = ToolSignature(function, self.name, owned=owned)
        owner = mine if not isinstance(found, classmethod) or inspect.isclass(of) else (type(of),)
        return replace(self, function=function, signature=signature), owner if owned else ()

    # --- the session ----------------------------------------------------------------------------

    def _here(self) -> Caller | None:
        """Return the session and the agent of this call; None if unknown and nothing is enforced.

        Raises `SessionError` if it is not known and something is enforced.
        """
        policy = self.box.policy
        here = caller_under(policy) if self.session is None else caller_in(self.session)
        if here is not None and here.session.policy.family is policy.family and here.session.open:
            self._check_who(here)
            self._check_names()
            return here
        what = "none is active" if here is None else f"`{here.session.id}` is finished or another's"
        hint = "write `with session.active(): ...` around the agent"
        if policy.enforces:
            raise SessionError(f"tool `{self.name}` needs a session of its guard; {what}; {hint}")
        _warn(f"tool `{self.name}` is not observed: {what}; {hint}", 5)
        return None

    def _check_names(self) -> None:
        """Raise `ContractError` if contracts name unknown tools; where only observed, warn."""
        policy = self.box.policy
        if policy.known_tools.complete:
            return
        try:
            check_names(policy)
        except ContractError as error:
            if policy.enforces:
                raise
            _warn(str(error), 6)

    def _check_who(self, here: Caller) -> None:
        """Raise `InputMissing` if an enforced contract needs an agent not told; else warn."""
        told = {"agents": here.agent, "depth": here.depth}
        for asked, contract, mode in who_is_asked(here.session.policy, self.name):
            if told[asked] is None:
                what = f"contract `{contract}` needs {asked} of calls of `{self.name}`"
                hint = "write `with session.active(agent=.., depth=..): ...` around the agent"
                if mode == "enforce":
                    raise InputMissing(f"{what}; {hint}")
                _warn(f"{what}; {hint}", 6)


def _plainly(run: Run) -> Flow:
    return (yield run)


def _warn(text: str, above: int) -> None:
    """Warn the caller of the tool; where warnings are errors, log the warning and go on."""
    try:
        warnings.warn(text, stacklevel=above)
    except UserWarning:
        import logging  # needed only here

        logging.getLogger("sponsio_like").warning("%s", text)


GUARDED = "_sponsio_like_guarded"
"""The attribute of a guarded function that says by whom: contracts, name and session."""


def refuse_again(policy: Policy, function: Any, name: str, session: Session | None = None) -> None:
    """Raise `ContractError` for a function that is guarded so already: each call would count
    twice.
    """
    if getattr(function, GUARDED, None) == (policy.family, name, session):
        raise ContractError.of(
            f"`{name}` is decorated with this guard already, and each call would count twice",
            "give the function as it was before",
        )


def guarded_function(tool: Tool) -> Callable[..., Any]:
    """Return the function that decides before it runs the tool."""
    decides = _deciding(tool)
    setattr(decides, GUARDED, (tool.box.policy.family, tool.name, tool.session))
    return decides


def _deciding(tool: Tool) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(tool.function):

        @functools.wraps(tool.function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            return await adrive(tool.flow(args, kwargs))

        return awaited

    @functools.wraps(tool.function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        return drive(tool.flow(args, kwargs))

    return plain
