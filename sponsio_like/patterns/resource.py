"""Resources: tokens and delegation.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from sponsio_like.contracts import Natural, Positive, pattern, whenever
from sponsio_like.logic.formula import Depth, Formula, Match, Tokens

ANY = (Match(),)


@pattern(
    "resource",
    "total LLM tokens under {limit}",
    says=(
        (
            "((a | the | each | every) session | AGENT) MUST (stay | be) (under | below | at "
            "most) {limit:number} [llm] tokens [in total]"
        ),
        "keep the session (under | below) {limit:number} [llm] tokens",
        "keep [the] total [number of] [llm] tokens (under | below | at most) {limit:number}",
        (
            "[the] total [of | number of] [the] llm tokens [MUST (stay | be)] (under | below "
            "| at most) {limit:number}"
        ),
        (
            "(a | the | each | every) session MAY use (at most | no more than | fewer than | "
            "under) {limit:number} [llm] tokens"
        ),
        "(at most | no more than | fewer than | under) {limit:number} llm tokens",
        "[the] token budget is {limit:number}",
        (
            "[AGENT MAY] use (at most | no more than | fewer than | under) {limit:number} "
            "[llm] tokens [in total | per session]"
        ),
        "(at most | no more than) {limit:number} tokens [in total | per session]",
        "NEVER use more than {limit:number} [llm] tokens [in total | per session]",
        (
            "tool calls are only allowed (while | if | as long as | when) the session has "
            "used (fewer than | less than | under) {limit:number} [llm] tokens"
        ),
        "(a | the | each | every) session MUST_NOT use more than {limit:number} [llm] tokens",
        (
            "(stop calling [any] tools | no (more | further) [tool] calls | call no more "
            "tools) (once | after | as soon as) the session has used {limit:number} [llm] "
            "tokens"
        ),
    ),
    keeps=("", "search", "tokens:99 search"),
    breaks=("tokens:100 search", "tokens:60 search tokens:60 search"),
    example={"limit": 100},
)
def token_budget(limit: Positive) -> Formula:
    """Calls are let through while the session has used fewer than `limit` tokens.

    Messages tell them, in their usage: `total_tokens`, or input and output, or prompt and
    completion.
    """
    return whenever(ANY, Tokens() < limit)


@pattern(
    "resource",
    "sub-agent delegation at most {limit} levels",
    says=(
        (
            "(sub-agents | subagents | agents) [MAY be nested] AT_MOST {limit:number} (levels | "
            "level) [deep]"
        ),
        (
            "NEVER nest (sub-agents | subagents | agents) more than {limit:number} (levels | "
            "level) [deep]"
        ),
        ("sub-agent delegation [MUST (be | stay)] AT_MOST {limit:number} (levels | level) [deep]"),
        "{limit:most} (levels | level) of [sub-agent] delegation",
        (
            "[sub-agent] delegation MUST_NOT (go deeper than | exceed | be deeper than) "
            "{limit:number} (levels | level)"
        ),
        "delegate AT_MOST {limit:number} (levels | level) [deep]",
        "NEVER delegate more than {limit:number} (levels | level) [deep]",
        (
            "(sub-agents | subagents | agents) MAY be nested no deeper than {limit:number} "
            "(levels | level)"
        ),
        "[sub-agent] delegation [to sub-agents] is limited to {limit:number} (levels | level)",
    ),
    keeps=("", "search", "search^1 search^2"),
    breaks=("search^3",),
    example={"limit": 2},
)
def delegation_depth_limit(limit: Natural) -> Formula:
    """Calls are made at most `limit` levels below the first agent."""
    return whenever(ANY, Depth() <= limit)
