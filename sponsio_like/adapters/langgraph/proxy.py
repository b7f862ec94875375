"""A tool that asks before each run of its body: what runs is what was decided.

In: a tool, and what to do when it is about to run. Out: an object of the same state and the same
class, but for four methods. Whatever middlewares make of a call, and however often they run it,
they do so through this object. The validation of a tool may make something else of a call each
time: what its body is about to receive is compared with what was decided, too.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, get_type_hints

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest

from sponsio_like.adapters.langgraph.asked_calls import Asking, alike, call_fingerprint
from sponsio_like.guard import Flow, adrive, drive
from sponsio_like.session import fresh_id
from sponsio_like.values import as_data

CHANGED = "it was changed before it ran"
"""The error of a call that was let through, and does not run as it was decided."""
_SHORT = 12
"""Characters of a mark: enough to tell a value from the next one."""


class Changed(Exception):
    """Raised if a body may not run on what it would receive now. `ruling`: why."""

    def __init__(self, ruling: Any) -> None:
        super().__init__(ruling.told)
        self.ruling = ruling


class BodyChecks(Protocol):
    """Decides before the body of a tool runs: the `RunningCall` of `attempts.py` does.

    `decided`: the ruling that the body runs under.
    """

    id: str
    decided: Mapping[str, Any]

    def flow(
        self, tool: BaseTool, call: Mapping[str, Any], go: Callable[[Any], Any], *, later: bool
    ) -> Flow:
        """Run the body, if it may run as it is called now; return its output, or the refusal."""

    def came(self, id: str, what: Mapping[str, Any]) -> None:
        """Tell the session what a run has come to: `output`, or `error`."""

    def ruled(self, asking: Asking) -> Any:
        """Decide this run, and return the ruling."""


class Pair(NamedTuple):
    """A value of a tool's body that answers the model and its host apart."""

    content: Any
    artifact: Any


_CHECKS: dict[int, tuple[BaseTool, BodyChecks, BaseTool]] = {}
"""Proxies of calls that are on their way, by `id`, each with what it stands for (where several
guards are asked, another proxy); each is held here until its call has ended."""
_MADE: dict[int, list[int]] = {}
"""The proxies, by `id`, that ask one `BodyChecks`, by its `id`."""
_BODY: ContextVar[tuple[tuple[int, ...], list[Any]]] = ContextVar(
    "sponsio_like_body", default=((), [])
)
"""The proxies whose body runs here, by `id`, from the outermost on, and what it has returned: their
methods, which call each other, ask once."""


def proxy(tool: BaseTool, checks: BodyChecks) -> BaseTool:
    """Return the tool, asking before it runs. Call `release` when the call has ended."""
    if any(each is checks for each, _ in _around(tool)):
        return tool
    made: BaseTool = object.__new__(_proxy_class(type(_real(tool))))
    for slot in ("__dict__", "__pydantic_fields_set__", "__pydantic_private__"):
        object.__setattr__(made, slot, getattr(tool, slot))
    object.__setattr__(made, "__pydantic_extra__", getattr(tool, "__pydantic_extra__", None))
    _CHECKS[id(made)] = (made, checks, tool)
    _MADE.setdefault(id(checks), []).append(id(made))
    return made


def release(checks: BodyChecks) -> None:
    """Forget the proxies of a call that has ended."""
    for each in _MADE.pop(id(checks), ()):
        _CHECKS.pop(each, None)


@dataclass
class Request(ToolCallRequest):
    """The request of a tool call. A tool that a middleware puts in place asks, too."""

    checks: tuple[BodyChecks, ...] = field(kw_only=True)

    def override(self, **changes: Any) -> Any:
        """Do what `ToolCallRequest.override` does; a tool that is put in place asks, too."""
        if isinstance(tool := changes.get("tool"), BaseTool):
            changes["tool"] = _proxies(tool, self.checks)
        return super().override(**changes)


def asking(request: Any, tool: BaseTool | None, checks: BodyChecks, call: Any) -> Request:
    """Return the request with a tool that asks before it runs; with none, if it is unknown."""
    every = (*getattr(request, "checks", ()), checks)
    own = None if tool is None else _proxies(tool, every)
    return Request(call, own, request.state, request.runtime, checks=every)


def _proxies(tool: BaseTool, every: Iterable[BodyChecks]) -> BaseTool:
    """Return the tool, which asks each of these."""
    return functools.reduce(proxy, every, tool)


def _around(tool: BaseTool) -> Iterator[tuple[BodyChecks, BaseTool]]:
    """Yield who is asked before this tool runs, outermost first, and the tool behind each."""
    while (known := _CHECKS.get(id(tool))) is not None:
        _, checks, tool = known
        yield checks, tool


def _real(tool: BaseTool) -> BaseTool:
    """Return the tool behind all proxies."""
    return [tool, *(each for _, each in _around(tool))][-1]


@functools.cache
def _proxy_class(of: type[BaseTool]) -> type[BaseTool]:
    run, arun = of._run, of._arun  # noqa: SLF001  a proxy is a subclass

    def asking(name: str, word: str) -> Any:
        plain = getattr(of, name)

        @functools.wraps(plain)
        def method(self: Any, *args: Any, **more: Any) -> Any:
            if not _asks(self):
                return plain(self, *args, **more)
            given, *rest = args or (more.pop(word),)
            return drive(_checked(self, given, lambda on, it: getattr(on, name)(it, *rest, **more)))

        return method

    def aasking(name: str, word: str) -> Any:
        plain = getattr(of, name)

        @functools.wraps(plain)
        async def method(self: Any, *args: Any, **more: Any) -> Any:
            if not _asks(self):
                return await plain(self, *args, **more)
            given, *rest = args or (more.pop(word),)
            go = lambda on, it: getattr(on, name)(it, *rest, **more)  # noqa: E731
            return await adrive(_checked(self, given, go, later=True))

        return method

    @functools.wraps(run)
    def _run(self: Any, *args: Any, **kwargs: Any) -> Any:
        _met(self, kwargs)
        return _noted(self, run(self, *args, **kwargs))

    @functools.wraps(arun)
    async def _arun(self: Any, *args: Any, **kwargs: Any) -> Any:
        _met(self, kwargs)
        return _noted(self, await arun(self, *args, **kwargs))

    own = {"invoke": asking("invoke", "input"), "run": asking("run", "tool_input")}
    own |= {"ainvoke": aasking("ainvoke", "input"), "arun": aasking("arun", "tool_input")}
    own |= {"_run": _told(_run, run), "_arun": _told(_arun, arun)}
    return type(of.__name__, (of,), {**own, "__module__": of.__module__})


def _told(method: Any, body: Any) -> Any:
    """Return the method with the parameters of the body: LangChain works them out in each call."""
    try:
        types, parameters = get_type_hints(body), inspect.signature(body)
    except (AttributeError, NameError, SyntaxError, TypeError, ValueError):
        return method
    method.__annotations__, method.__signature__ = types, parameters
    return method


def _asks(tool: BaseTool) -> bool:
    return id(tool) in _CHECKS and not _runs(tool)


def _checked(
    made: BaseTool, given: Any, run: Callable[[Any, Any], Any], *, later: bool = False
) -> Flow:
    """Return what comes of running the tool with `given`, if that may run."""
    _, checks, tool = _CHECKS[id(made)]
    real = _real(tool)

    def go(call: Any) -> Any:
        with _inside(made) as returned:
            return run(tool if id(tool) in _CHECKS else made, _as_given(given, call)), returned

    async def ago(call: Any) -> Any:
        with _inside(made) as returned:
            on = tool if id(tool) in _CHECKS else made
            return await run(on, _as_given(given, call)), returned

    call, went = _call_of(real, given, checks.id), ago if later else go
    return _as_asked(given, (yield from checks.flow(real, call, went, later=later)))


def _runs(tool: BaseTool) -> bool:
    """True if the body of this proxy runs here."""
    return _BODY.get()[0][-1:] == (id(tool),)


@contextmanager
def _inside(tool: BaseTool) -> Iterator[list[Any]]:
    """Mark the block as the run of this proxy's body; yield the list of what it returns."""
    proxies, returned = _BODY.get()
    known = _CHECKS.get(proxies[-1]) if proxies else None
    if known is None or known[2] is not tool:  # no other proxy stands for this one
        proxies, returned = (), []
    token = _BODY.set(((*proxies, id(tool)), returned))
    try:
        yield returned
    finally:
        _BODY.reset(token)


def _is_call(given: Any) -> bool:
    """True if a tool is run with a call, and not with its arguments alone."""
    return isinstance(given, Mapping) and given.get("type") == "tool_call"


def _call_of(tool: BaseTool, given: Any, id: str) -> dict[str, Any]:
    if _is_call(given):
        return dict(given)
    args = given if isinstance(given, Mapping) else dict.fromkeys(list(tool.args)[:1], given)
    return {"name": tool.name, "args": args, "id": id, "type": "tool_call"}


def _as_given(given: Any, call: Any) -> Any:
    return call if _is_call(given) else call["args"]


def _as_asked(given: Any, came: Any) -> Any:
    """Return the result as its caller expects it: no message, if given arguments alone."""
    return came.content if isinstance(came, ToolMessage) and not _is_call(given) else came


def _met(made: BaseTool, received: Mapping[str, Any]) -> None:
    if not _runs(made):
        return
    for each in _BODY.get()[0]:
        if each in _CHECKS:
            _, checks, tool = _CHECKS[each]
            meet(checks, _real(tool), received)


def _noted(tool: BaseTool, value: Any) -> Any:
    returned = _BODY.get()[1]
    if _runs(tool):
        apart = tool.response_format == "content_and_artifact" and isinstance(value, tuple)
        returned.append(Pair(*value) if apart and len(value) == 2 else value)
    return value


# --- what a body receives -------------------------------------------------------------------------


def marks_of(args: Mapping[str, Any]) -> dict[str, str]:
    """Return a mark of each argument by its name; `""` for a value that is no plain data."""
    return {name: _mark(each) for name, each in args.items()}


def meet(body: BodyChecks, tool: BaseTool, received: Mapping[str, Any]) -> None:
    """Decide anew what a validation has made of a call, where something else was decided.

    Raises `Changed` if the body may not run on it.
    """
    raw, marks = body.decided.get("raw", {}), body.decided.get("read", {})
    mine = {name: each for name, each in received.items() if name in (marks or raw)}
    if not marks and alike(mine, raw):
        return
    marks = marks or marks_of(raw)
    data = {name: as_data(each) for name, each in mine.items()}
    pairs = ((_mark(each), marks[name]) for name, each in data.items())
    if not any(now and was and now != was for now, was in pairs):
        return
    body.came(body.decided["id"], {"error": CHANGED})
    ruling = body.ruled(Asking(f"{body.id}/{fresh_id()}", tool.name, data, data, passed=data))
    if ruling.tool != tool.name:
        raise Changed(ruling)
    body.decided = ruling.kept()


def _mark(value: Any) -> str:
    return call_fingerprint("", {"": value})[:_SHORT]
