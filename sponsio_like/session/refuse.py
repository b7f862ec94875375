"""Counts a refusal in the context, and ends the run if the strategy is `stop`.

In: the context of a session, and an event that is refused. Out: the context after it. No monitor
sees a refused event.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sponsio_like.engine import Finding, Policy, needing_ruling, stopping
from sponsio_like.events import Call, Context, Event
from sponsio_like.outcome import Block, Decision, Stop

ENDING = (Block, Stop)
"""The decisions that refuse an event for good."""


def after_refusal(
    policy: Policy, context: Context, event: Event, found: Iterable[Finding], answer: Decision
) -> Context:
    """Return the context after an event was answered so; `found`: what stood against it.

    An event that is held, may have a substitute, or has to be ruled on has not been refused yet.
    """
    found = tuple(found)
    if not isinstance(answer, ENDING) or needing_ruling(found):
        return context
    return count_refusal(policy, context, event, found)


def count_refusal(
    policy: Policy, context: Context, event: Event, found: Iterable[Finding] = ()
) -> Context:
    """Return the context after a refusal; a contract that was `found` may end the run with it."""
    if isinstance(event, Call) and policy.denials:
        terms = [each for each, asks in policy.denials.items() if asks(event) is not False]
        context = context.refused(event, terms)
    stopped = stopping(found)
    return replace(context, stopped=stopped) if stopped else context
