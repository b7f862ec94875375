"""Resources: tokens and delegation.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from sponsio_like.contracts import Natural, Positive, pattern, whenever
from sponsio_like.logic.formula import Depth, Formula, Match, Tokens
from sponsio_like.patterns.phrasings import PHRASINGS

ANY = (Match(),)


@pattern(
    "resource",
    "total LLM tokens under {limit}",
    says=PHRASINGS["token_budget"],
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
    says=PHRASINGS["delegation_depth_limit"],
    keeps=("", "search", "search^1 search^2"),
    breaks=("search^3",),
    example={"limit": 2},
)
def delegation_depth_limit(limit: Natural) -> Formula:
    """Calls are made at most `limit` levels below the first agent."""
    return whenever(ANY, Depth() <= limit)
