"""What counts as a confirmation: a call of the confirming tool that succeeded and did not say no.

In: the confirming tools, and what their answer has to match, if anything. Out: a formula.
"""

from __future__ import annotations

import re

from sponsio_like.events import Result
from sponsio_like.formula import Custom, Formula, OutputIs, Target
from sponsio_like.parts import Counts, worked
from sponsio_like.registry import atom

REFUSAL = re.compile(
    r"\W*(?:(?:no|not|none|nope|never|false)\b|den(?:y|ied|ies)|reject|cancel)", re.IGNORECASE
)


@atom("confirms", waits=True)
def confirms(_: str, result: Result) -> bool:
    """The answer is not a refusal: neither false nor a text that begins with no, deny, ..."""
    if isinstance(result.output, str):
        return REFUSAL.match(result.output) is None
    return result.output is not False


def confirmed(by: Target, accept: str | None, counts: Counts) -> Formula:
    """This call confirms. `accept`: its answer has to match; else it must not refuse."""
    answer = OutputIs("", "matches", accept) if accept else Custom("confirms")
    return worked(by, counts) & answer
