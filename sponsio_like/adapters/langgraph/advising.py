"""What the model is told of refused calls, worked out beside the event loop.

In: the rulings of a batch. Out: nothing; each refusal knows its advice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.guard.flow import Flow, Run
from sponsio_like.outcome import Blocked


def advised(rulings: Sequence[Ruling], *, later: bool) -> Flow:
    """Work out what the model is told of calls that are refused; `later`: in a thread."""
    refused = [each for each in rulings if isinstance(each.outcome, Blocked)]

    def work() -> list[str]:
        return [each.told for each in refused]

    if refused:
        yield Run(asyncio.to_thread, (work,)) if later else Run(work)
