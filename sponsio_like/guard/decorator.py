"""Guards functions, methods and finished tools, and refuses what cannot be guarded.

In: a function, a method, a callable object. Out: the function that is called in its place.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any

from sponsio_like.checks import arguments_asked, check_tool
from sponsio_like.contracts import FieldKind
from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError
from sponsio_like.guard.arguments import ToolSignature
from sponsio_like.guard.described import check_fields, declared_kinds
from sponsio_like.guard.flow import OnBlock, OnHold
from sponsio_like.guard.structured_tools import guarded_tool, is_finished
from sponsio_like.guard.toolbox import Toolbox
from sponsio_like.guard.tools import Tool, guarded_function, refuse_again
from sponsio_like.session import Session


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """The options of a guarded tool. `fields` are the kinds of its arguments.

    Raises `ContractError` for values that are not possible.
    """

    name: str | None = None
    session: Session | None = None
    blocked: OnBlock = "raise"
    held: OnHold = "raise"
    fields: Any = None

    def __post_init__(self) -> None:
        if self.blocked not in ("raise", "return") and not callable(self.blocked):
            raise ContractError.of(f"blocked={self.blocked!r}", "write raise, return or a function")
        if not isinstance(self.fields, (Mapping, NoneType)):
            hint = 'write {"command": "shell"}'
            raise ContractError.of(f"fields={self.fields!r} is no map of kinds", hint)
        if self.held not in ("raise", "return", "wait"):
            raise ContractError.of(f"held={self.held!r}", "write raise, return or wait")


def decorated(box: Toolbox[Tool], given: Any, options: ToolOptions, batch: dict[str, Tool]) -> Any:
    """Return the function, or the finished tool, guarded.

    `batch` holds the tools that are wrapped together, and is one for all tools of one `wrap`.
    Raises `ContractError` for what cannot be guarded.
    """
    if is_finished(given):
        name = options.name or given.name

        def make(body: Callable[..., Any], signature: ToolSignature) -> Tool:
            return _made(box, name, body, signature, options, batch, kinds)

        kinds = declared_kinds(given, name, options.fields or {})
        return guarded_tool(given, make, box.add)
    function, owned = given, None
    if isinstance(given, (staticmethod, classmethod)):
        function, owned = given.__func__, isinstance(given, classmethod)
    name = options.name or str(getattr(function, "__name__", ""))
    _check(function, name)
    signature = ToolSignature(function, name, owned=owned)
    kinds = declared_kinds(function, name, options.fields or {})
    tool = _made(box, name, function, signature, options, batch, kinds)
    box.add(tool)
    return type(given)(guarded_function(tool)) if owned is not None else guarded_function(tool)


def _made(
    box: Toolbox[Tool],
    name: str,
    function: Callable[..., Any],
    signature: ToolSignature,
    options: ToolOptions,
    batch: dict[str, Tool],
    kinds: Iterable[FieldKind],
) -> Tool:
    """Return the `Tool` of a function, once its name and parameters are checked."""
    refuse_again(box.policy, function, name, options.session)
    check_fields(options.fields or {}, name, signature.arguments)
    check = functools.partial(_check_contracts, name=name, signature=signature, kinds=tuple(kinds))
    check(box.policy)
    box.checks[name] = check
    answers = options.session, options.blocked, options.held
    return Tool(name, function, signature, box, batch, *answers)


def _check(function: Any, name: str) -> None:
    if not callable(function) or not name or name == "<lambda>":
        raise ContractError.of(f"`{function!r}` is no function with a name", "give name=..")
    if _generates(function) or _generates(type(function).__call__):
        raise ContractError.of(
            f"`{name}` is a generator: its body would run after it was settled",
            "return a list, or decide a block of code, by running(..)",
        )


def _generates(function: Callable[..., Any]) -> bool:
    if getattr(function, "__globals__", {}).get("__name__") == "contextlib":
        function = getattr(function, "__wrapped__", function)  # the body of a context manager
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)


def _check_contracts(
    policy: Policy, name: str, signature: ToolSignature, kinds: Iterable[FieldKind]
) -> None:
    """Raise `ContractError` for what contracts say of a tool, and that is not so; or for one that
    reads a parameter whose type is not JSON data.
    """
    asked = arguments_asked(policy, name) if signature.hosts else {}
    for each in sorted(signature.hosts & asked.keys()):
        raise ContractError.of(
            f"contract `{asked[each]}` reads `{each}` of `{name}`, whose type is not JSON data",
            "annotate it with data, such as `str`, or not at all",
        )
    check_tool(policy, name, signature.arguments, signature.hosts, kinds)
