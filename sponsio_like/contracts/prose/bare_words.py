"""Says which words without quotes are names of tools, fields or roles, and which are not.

In: a word of a sentence, or what stands before it. Out: a match, or None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

VERB = re.compile(
    r"(?:\b(?:call|calls|calling|called|invoke|invoking|tools?|calls? (?:of|to))\s+)"
    r"(?:(?:either|both|the|tool|tools|one of|any of)\s+)*$",
    re.IGNORECASE,
)
"""The words after which a bare word is plainly the name of a tool."""
ENDS_LIST = re.compile(r"\b(?:or|and)\s+\S*$", re.IGNORECASE)
"""The word before the last name of a list; "never call `pay`, now" is none."""
SHAPE = re.compile(r"[A-Za-z]\w*_\w*|[\w:-]*\*[\w:*-]*|\w*[a-z]\w*[A-Z]\w*")
"""A word that looks like nothing but the name of a tool: `run_tests`, `pay_*`, `runTests`."""

NO_FIELDS = re.compile(
    r"(?:requests?|operations?|actions?|results?|outputs?|responses?|arguments?|parameters?|args?|"
    r"usages?|uses?|invocations?|executions?|attempts?|runs?|times?|events?|messages?|answers?|"
    r"data|content|permissions?|access|retry|retries|sessions?|users?|agents?|conversations?|"
    r"days?|hours?|minutes?|seconds?|weeks?|steps?|calls?|tools?|confirmations?|approvals?)",
    re.IGNORECASE,
)
"""Words that are fields only in quotes."""
NO_ARGUMENTS = re.compile(
    r"(?:arguments?|args?|parameters?|params?|inputs?|outputs?|results?|responses?|answers?|"
    r"calls?|uses?|usages?|runs?|executions?|invocations?|attempts?|retries|total|sum|number)",
    re.IGNORECASE,
)
"""Words before "of" that say more than one field, or what comes back; fields only in quotes."""
SPECIAL = re.compile(r"[$*+?{}()|\[\]]")
REGEX = re.compile(r"\\|\.[*+?]|\[[^\]]*-[^\]]*\]|\(\?|^\^")
"""Signs that stand in a regular expression, and hardly in a text."""
POINTERS = re.compile(
    r"(?:above|below|following|listed|mentioned|quoted|said|given|shown|there|here|himself|"
    r"users?|customers?|agents?|replies|word|words|text|texts)",
    re.IGNORECASE,
)
"""Words behind "the words" that are not themselves meant."""
CURRENCIES = {"usd": "USD", "eur": "EUR", "gbp": "GBP", "chf": "CHF"} | {
    **dict.fromkeys(("dollar", "dollars"), "USD"),
    **dict.fromkeys(("euro", "euros"), "EUR"),
}
SIGNS = {"$": "USD", "€": "EUR", "£": "GBP"}
ANYBODY = frozenset({"human", "person", "people", "user", "users", "customer", "me", "us", "i"})
"""Words that are roles only in quotes."""


def singulars(word: str) -> Iterator[str]:
    """Yield the words whose plural this may be: `transfers` of `transfer`, `entries` of `entry`."""
    for ending, single in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(ending) and word != ending:
            yield word.removesuffix(ending) + single
