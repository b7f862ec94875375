"""Checks of contracts before they run, and of the host's tools against what contracts name.

In: contracts and an inventory of tools. Out: a compiled `Policy`, or every mistake at once.

`lint.py` asks all checks. `guarantees.py` finds what can never be violated, or never be kept, by
the search of the monitor; `together.py` compares contracts with each other.
"""

from sponsio_like.checks.asked import arguments_asked, who_is_asked
from sponsio_like.checks.compile import compile_policy, read_file
from sponsio_like.checks.content import content_missing
from sponsio_like.checks.lint import counted_apart, lowered, spellings
from sponsio_like.checks.names import (
    at_place,
    check_names,
    check_tool,
    check_tools,
    known_names,
    refuse_strangers,
    unchecked,
    unknown_names,
)
from sponsio_like.checks.stale_orders import outdated
from sponsio_like.checks.together import PAIRS_CAP, Claim, compared

# fmt: off
__all__ = [
    "PAIRS_CAP", "Claim", "arguments_asked", "at_place", "check_names", "check_tool", "check_tools",
    "compared", "compile_policy", "content_missing", "counted_apart", "known_names", "lowered",
    "outdated", "read_file", "refuse_strangers", "spellings", "unchecked", "unknown_names",
    "who_is_asked",
]
# fmt: on
