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


@pattern(
    "exclusion",
    "tools `{first}` and `{second}` are mutually exclusive",
    says=(
        (
            "{first:one} and {second:one} (are mutually exclusive | exclude each other | "
            "rule each other out) [IN_SESSION]"
        ),
        "no [single | one] session MAY (CALL | see | have) both {first:one} and {second:one}",
        "NEVER_CALL both {first:one} and {second:one} [IN_SESSION]",
        "CALL either {first:one} or {second:one} [,] [but] (not both | never both)",
        "only one of {first:one} (and | or) {second:one} MAY BE_CALLED",
        (
            "{first:one} and {second:one} MUST_NOT BE_CALLED (together | in SAME session | "
            "in one session | in a single session)"
        ),
        (
            "NEVER_CALL {first:one} (and | with | together with) {second:one} (together | "
            "in SAME session | in one session)"
        ),
        "either {first:one} or {second:one} [,] [but] (not both | never both)",
        "{first:one} excludes {second:one}",
        "{first:one} and {second:one} MUST_NOT both BE_CALLED [together | IN_SESSION]",
        (
            "(a | each | every | one) session (may | can) (use | call) either {first:one} or "
            "{second:one} [,] [but] (not both | never both)"
        ),
        (
            "either {first:one} or {second:one} (may | can) BE_CALLED [in (a | one | any | each | "
            "the same) session] [,] [but] (not both | never both)"
        ),
    ),
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
    says=(
        "[AGENT] ONLY_ALLOWED to CALL {tools:alone}",
        "no (tools | tool) OTHER_THAN {tools:union}",
        "(allow | permit) no [other] (tools | tool) OTHER_THAN {tools:union}",
        "NEVER_CALL anything OTHER_THAN {tools:union}",
        "nothing OTHER_THAN {tools:union} MAY BE_CALLED",
        (
            "FORBID (everything | anything | all tools | every tool | any tool) OTHER_THAN "
            "{tools:union}"
        ),
        "AGENT MAY CALL nothing OTHER_THAN {tools:union}",
        "AGENT MAY only CALL {tools:alone}",
        "AGENT MAY CALL only {tools:alone}",
        "only CALL {tools:alone} [tools]",
        "CALL only {tools:alone}",
        "only {tools:alone} MAY BE_CALLED",
        (
            "AGENT MAY CALL (nothing but | no tools but | no tool but | no tools except) "
            "{tools:union}"
        ),
        "allow only {tools:alone}",
        "only allow {tools:alone}",
        "the only allowed tools are {tools:alone}",
        "only {tools:alone} (are | is) allowed",
        (
            "no (tools | tool) (but | except | other than) {tools:union} (MAY BE_CALLED | are "
            "allowed | is allowed)"
        ),
        "NEVER_CALL any (tool | tools) (but | except | other than) {tools:union}",
        "AGENT (may | can | is allowed to | are allowed to) CALL {tools:alone} only",
        (
            "AGENT (may | can | is allowed to | are allowed to) CALL {tools:alone} [only] [,] "
            "[and] nothing else"
        ),
        "[AGENT MAY] CALL no (tools | tool) OTHER_THAN {tools:union}",
    ),
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
    says=(
        (
            "{unsafe:every} MUST be (redirected | rerouted | routed | sent) to {safe:tool_name}"
            " [instead]"
        ),
        "(reroute | route | send) {unsafe:every} to {safe:tool_name} instead",
        "redirect {unsafe:every} to {safe:tool_name}",
        "CALL {safe:tool_name} (instead of | in place of) {unsafe:tools}",
        "instead of [CALLING] {unsafe:tools} [,] CALL {safe:tool_name}",
        "replace {unsafe:every} (with | by) {safe:tool_name}",
        "(when | whenever | if) {unsafe:tools} is called [,] CALL {safe:tool_name} instead",
        "{unsafe:every} MUST be replaced (with | by) {safe:tool_name}",
        (
            "(when | whenever | if) AGENT (tries | calls | wants | tries to CALL | wants to "
            "CALL) {unsafe:tools} [,] CALL {safe:tool_name} (instead | in its place) [[,] "
            "with the same arguments]"
        ),
    ),
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
