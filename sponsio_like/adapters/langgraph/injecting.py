"""The arguments of a tool that the host gives, and no model: `ToolRuntime`, `InjectedState`, ..."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin, get_type_hints

from langchain_core.tools import BaseTool, InjectedToolArg
from langgraph.prebuilt import ToolRuntime


def injected_into(tool: BaseTool) -> frozenset[str]:
    """The names of these arguments, as the function of the tool says them.

    Older versions of LangChain do not know those of annotations that are texts; LangGraph does.
    """
    known = frozenset(getattr(tool, "_injected_args_keys", ()))
    functions = (getattr(tool, "func", None), getattr(tool, "coroutine", None), tool._run)  # noqa: SLF001
    function = next(each for each in functions if each is not None)
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return known
    return known | {name for name, each in hints.items() if _is_injected(each)}


def _is_injected(hint: Any) -> bool:
    whole, *about = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    return any(_is_mark(each) for each in (get_origin(whole) or whole, *about))


def _is_mark(each: Any) -> bool:
    if isinstance(each, type):
        return issubclass(each, (InjectedToolArg, ToolRuntime))
    return isinstance(each, InjectedToolArg)
