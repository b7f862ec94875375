"""From violated clauses to one answer.

The strictest strategy wins, and every contract is reported once.

In: the clauses an event violates. Out: findings (a violation and what its strategy answers), and
the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sponsio_like.compiler import Policy
from sponsio_like.demands import demand
from sponsio_like.events import Call, Event, Message
from sponsio_like.outcome import Action, Block, Decision, Redirect, Violation, Warn
from sponsio_like.window import WindowFull

_STRICTNESS: dict[type[Decision], int] = {Warn: 0, Redirect: 1, Block: 2}


class Finding(NamedTuple):
    """A violation of clause `clause`, and what its strategy answers."""

    clause: int
    violation: Violation
    decision: Decision


def findings(
    policy: Policy, violated: Iterable[int], event: Event, position: int
) -> tuple[Finding, ...]:
    """One finding for every contract that is violated now."""
    tool = event.tool if isinstance(event, Call) else None
    found: dict[int, Finding] = {}
    for i in violated:
        owner = policy.owner[i]
        decision = policy.decision(i) if stoppable(event) else Warn()
        if (
            owner not in found
            or _STRICTNESS[type(decision)] > _STRICTNESS[type(found[owner].decision)]
        ):
            action = _action(decision) if stoppable(event) else "reported"
            found[owner] = Finding(i, _violation(policy, i, position, tool, action), decision)
    return tuple(found.values())


def reported(
    policy: Policy, violated: Iterable[int], position: int, tool: str | None
) -> tuple[Violation, ...]:
    """Violations that no call could have prevented, or that a result has revealed."""
    first = {policy.owner[i]: i for i in reversed(list(violated))}
    return tuple(
        _violation(policy, i, position, tool, "reported") for _, i in sorted(first.items())
    )


def unreadable(policy: Policy, i: int, event: Event, position: int, error: Exception) -> Finding:
    """A clause that could not be read: it blocks where it is enforced, whatever its strategy."""
    tool = event.tool if isinstance(event, Call) else None
    violation = _violation(policy, i, position, tool, "blocked" if stoppable(event) else "reported")
    why = str(error) if isinstance(error, WindowFull) else type(error).__name__
    reason = f"it could not be evaluated ({why}); {violation.message}"
    return Finding(
        i,
        Violation(violation.contract, position, tool, violation.action, reason, violation.mode),
        Block(),
    )


def stoppable(event: Event) -> bool:
    """Whether there is something to stop: a call, or a response that has not been shown."""
    return isinstance(event, Call) or (isinstance(event, Message) and event.role == "assistant")


def strictest(found: Iterable[Finding]) -> Decision | None:
    """What is to be done: the strictest answer of the enforced contracts.

    None to let it through.
    """
    answers = [each.decision for each in found if each.violation.mode == "enforce"]
    for answer in answers:
        if isinstance(answer, Block):
            return answer
    return next((answer for answer in answers if isinstance(answer, Redirect)), None)


def enforced(found: Iterable[Finding]) -> tuple[Violation, ...]:
    """The violations of enforced contracts."""
    return tuple(each.violation for each in found if each.violation.mode == "enforce")


def observed(found: Iterable[Finding]) -> tuple[Violation, ...]:
    """The violations of contracts that only observe."""
    return tuple(each.violation for each in found if each.violation.mode == "observe")


def renamed(args: Mapping[str, Any], redirect: Redirect) -> dict[str, Any]:
    """The arguments for the substitute: renamed, or dropped, as the redirect says."""
    if redirect.renames is None:
        return dict(args)
    names = dict(redirect.renames)
    return {
        names.get(key, key) or "": value
        for key, value in args.items()
        if names.get(key, key) is not None
    }


def _violation(
    policy: Policy, i: int, position: int, tool: str | None, action: Action
) -> Violation:
    owner = policy.owner[i]
    contract = policy.contracts[owner]
    return Violation(
        contract.name, position, tool, action, demand(policy.clauses[i]), policy.modes[owner]
    )


def _action(decision: Decision) -> Action:
    match decision:
        case Block():
            return "blocked"
        case Redirect():
            return "redirected"
        case Warn():
            return "warned"
