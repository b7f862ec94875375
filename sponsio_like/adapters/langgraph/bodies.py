"""Compares what the body of a tool is about to receive with what was decided.

In: decided arguments, then those that a body is about to receive: the validation of a tool may make
something else of a call each time. Out: nothing; or what differs is decided anew, as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from langchain_core.tools import BaseTool

from sponsio_like.adapters.langgraph.asking import Asking, mark_of
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


class Body(Protocol):
    """A body that runs, as it was `decided`."""

    id: str
    decided: Mapping[str, Any]

    def came(self, id: str, what: Mapping[str, Any]) -> None:
        """Tell the session what a run has come to."""

    def ruled(self, asking: Asking) -> Any:
        """Decide this run, and return the ruling."""


def marks_of(args: Mapping[str, Any]) -> dict[str, str]:
    """Return a mark of each argument by its name; `""` for a value that is no plain data."""
    return {name: _mark(each) for name, each in args.items()}


def meet(body: Body, tool: BaseTool, received: Mapping[str, Any]) -> None:
    """Decide anew what a validation has made of a call, where something else was decided.

    Raises `Changed` if the body may not run on it.
    """
    marks = body.decided.get("read", {})
    data = {name: as_data(each) for name, each in received.items() if name in marks}
    pairs = ((_mark(each), marks[name]) for name, each in data.items())
    if not any(now and was and now != was for now, was in pairs):
        return
    body.came(body.decided["id"], {"error": CHANGED})
    ruling = body.ruled(Asking(f"{body.id}/{fresh_id()}", tool.name, data, data, passed=data))
    if ruling.tool != tool.name:
        raise Changed(ruling)
    body.decided = ruling.kept()


def _mark(value: Any) -> str:
    return mark_of("", {"": value})[:_SHORT]
