"""The exceptions of calls that do not run, in decorated tools and hand-written loops.

In: an outcome. Out: the exception that says so.
"""

from __future__ import annotations

from typing import Any

from sponsio_like.errors import SponsioLikeError
from sponsio_like.events import Ticket
from sponsio_like.outcome import Blocked, Held, Violation


class CallBlocked(SponsioLikeError):
    """Raised when a call was blocked: the tool has not run.

    Its text is `advice`, which is worked out when it is first read.
    """

    def __init__(self, outcome: Blocked) -> None:
        super().__init__(outcome)
        self.outcome = outcome

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is pickled: the text of the advice, since its function cannot be."""
        out = self.outcome
        return _again, (out.id, out.violations, self.advice, out.ends_run)

    def __str__(self) -> str:
        return self.advice

    @property
    def advice(self) -> str:
        """One sentence for the model: the reason, and what would make the call legal."""
        return self.outcome.advice


class RunStopped(CallBlocked):
    """Raised when a call was blocked and the run is over: no later call runs either.

    End the agent's loop. It is raised whatever `blocked=` says, so that no loop goes on.
    """


class CallHeld(SponsioLikeError):
    """Raised when a call was held: `ticket` has to be answered, then the call made again."""

    def __init__(self, outcome: Held) -> None:
        self.outcome = outcome
        self.ticket: Ticket = outcome.ticket
        who = " or ".join(f"`{role}`" for role in outcome.ticket.roles) or "a person"
        super().__init__(f"`{outcome.ticket.tool}` waits for {who}, ticket {outcome.ticket.id}")

    def __reduce__(self) -> tuple[Any, ...]:
        return CallHeld, (self.outcome,)


def blocked_exception(outcome: Blocked) -> CallBlocked:
    """Return the exception that a blocked call raises."""
    return RunStopped(outcome) if outcome.ends_run else CallBlocked(outcome)


def _again(id: str, violations: tuple[Violation, ...], advice: str, ends: bool) -> CallBlocked:
    return blocked_exception(Blocked(id, violations, lambda: advice, ends))
