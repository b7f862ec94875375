"""Exclusion and redirects: tools that exclude each other, allowlists of tools, substitutes.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from sponsio_like.contracts import (
    Counts,
    ExactTools,
    OneTool,
    Renames,
    Rule,
    Tools,
    calls_of_any,
    check_disjoint,
    exclusive,
    pattern,
)
from sponsio_like.errors import ContractError
from sponsio_like.events import names_tool
from sponsio_like.logic.formula import Always, Formula
from sponsio_like.outcome import Redirect
from sponsio_like.patterns.phrasings import PHRASINGS


@pattern(
    "exclusion",
    "tools `{first}` and `{second}` are mutually exclusive",
    says=PHRASINGS["mutual_exclusion"],
    keeps=("", "approve approve", "reject", "approve! reject"),
    breaks=("approve reject", "reject approve", "approve? reject", "approve other reject"),
    example={"first": "approve", "second": "reject"},
)
def mutual_exclusion(first: Tools, second: Tools, counts: Counts = "done") -> Formula:
    """A session calls at most one of the two. A call that failed excludes nothing."""
    check_disjoint(
        first, second, "name two that differ; for once in a session write `irreversible_once`"
    )
    return exclusive(first, second, counts)


@pattern(
    "exclusion",
    "agent may only call `{tools:, }`",
    "agent may call no tool but {tools:with}",
    says=PHRASINGS["tool_allowlist"],
    keeps=("", "search", "search summarize search"),
    breaks=("delete", "search delete", "mcp__search"),
    example={"tools": ["search", "summarize"]},
)
def tool_allowlist(tools: ExactTools) -> Formula:
    """Only `tools` are called: exact names, with no prefix and no alias."""
    return Always(calls_of_any(tools))


@pattern(
    "exclusion",
    "redirect `{unsafe}` to `{safe}`",
    says=PHRASINGS["redirect_to_safe"],
    keeps=("", "log_request", "other"),
    breaks=("refund", "other refund"),
    example={"unsafe": "refund", "safe": "log_request"},
)
def redirect_to_safe(unsafe: Tools, safe: OneTool, map: Renames | None = None) -> Rule:  # noqa: A002  the word of contract files
    """`unsafe` is never called; `safe` runs in its place, with the same arguments.

    `map` renames arguments, or drops those that it maps to null.
    """
    if any(names_tool(match, safe) for match in unsafe):
        raise ContractError.of(f"`{safe}` would be redirected to itself", "name another tool")
    return Rule(Always(~calls_of_any(unsafe)), answer=Redirect(safe, map))
