"""Makes one answer of violated clauses: the strictest strategy wins.

Every contract is reported once. In: the clauses that an event violates. Out: findings (a violation
and what its strategy answers), and the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from sponsio_like.contracts import CONTRACT
from sponsio_like.engine.policy import Policy
from sponsio_like.engine.status import FULL, demand
from sponsio_like.events import Call, Event, HeldBy, Message, Ticket, kind_of
from sponsio_like.monitor import TooManyBranches, Witness
from sponsio_like.outcome import (
    Action,
    Ask,
    Block,
    Decision,
    Escalate,
    Mode,
    Redirect,
    Stop,
    Violation,
    Warn,
)

_STRICTNESS: dict[type[Decision], int] = {
    Warn: 0,
    Redirect: 1,
    Escalate: 2,
    Ask: 3,
    Block: 4,
    Stop: 5,
}


def _strictness(decision: Decision) -> int:
    return _STRICTNESS[type(decision)]


INVENTORY = -1
"""The number that a finding of the inventory has in the place of a clause's."""
RISK = -2
"""The number that a finding of the risk gate has in the place of a clause's."""
RISK_NAME = "risk"
"""The name of the contract that such a finding has."""


class Finding(NamedTuple):
    """A violation of clause `clause`, and what its strategy answers.

    `key`: the values of its variables that violate it.
    """

    clause: int
    violation: Violation
    decision: Decision
    key: Any = None


def findings_of(
    policy: Policy,
    violated: Mapping[int, Witness],
    event: Event,
    position: int,
    rulings: Mapping[str, Decision] = MappingProxyType({}),
) -> tuple[Finding, ...]:
    """Return one finding for every contract that has one of these clauses, by the strictest answer.

    `rulings`: what callables of the user have answered, by contract.
    """
    tool, stops = event.tool if isinstance(event, Call) else None, stoppable(event)
    found: dict[int, Finding] = {}
    for i, witness in violated.items():
        owner = policy.owner[i]
        asked = policy.decision(i) if stops else Warn()
        name = policy.contracts[owner].name
        decision = rulings.get(name, asked) if isinstance(asked, Ask) else asked
        if owner not in found or _strictness(decision) > _strictness(found[owner].decision):
            action = action_of(asked) if stops else "reported"
            violation = _violation(policy, i, position, tool, action, witness)
            found[owner] = Finding(i, violation, decision, witness.key)
    return tuple(found.values())


def reported(
    policy: Policy, violated: Mapping[int, Witness], position: int, tool: str | None
) -> tuple[Violation, ...]:
    """Return violations that can no longer be prevented: time or a result has shown them."""
    first = {policy.owner[i]: i for i in reversed(list(violated))}
    return tuple(
        _violation(policy, i, position, tool, "reported", violated[i])
        for _, i in sorted(first.items())
    )


def lost(policy: Policy, position: int, tool: str | None, why: str) -> Violation:
    """Return the violation, in the name of the session, that its state no
    longer counts everything.
    """
    mode: Mode = "enforce" if policy.enforces else "observe"
    return Violation("session", position, tool, "reported", why, mode)


def in_doubt(policy: Policy, event: Event, why: str) -> str:
    """Return why an event is refused while the session's state is in doubt.

    Empty if no enforced contract might refuse the event.
    """
    for i, clause in enumerate(policy.clauses):
        owner = policy.owner[i]
        if policy.modes[owner] != "enforce" or kind_of(event) not in clause.kinds:
            continue
        if not stoppable(event) or (clause.is_plain and not clause.can_break(event)):
            continue
        name = policy.contracts[owner].name
        return f"the state of `{name}` is in doubt: {why}; go on in a new session"
    return ""


def unreadable(policy: Policy, i: int, event: Event, position: int, error: Exception) -> Finding:
    """Return the finding of a clause that could not be evaluated.

    It blocks where it is enforced, whatever its strategy.
    """
    tool = event.tool if isinstance(event, Call) else None
    action: Action = "blocked" if stoppable(event) else "reported"
    violation = _violation(policy, i, position, tool, action, Witness())
    why = str(error) if isinstance(error, TooManyBranches) else type(error).__name__
    lost = f"it could not be evaluated ({why})"
    because = violation.because and f"{lost}; {violation.because}"
    told = replace(violation, message=f"{lost}; {violation.message}", because=because)
    return Finding(i, told, Block())


def inventory_mode(policy: Policy) -> Mode:
    """Return the mode of the inventory: that of the guard; observe where nothing is enforced."""
    return policy.mode if policy.enforces else "observe"


def unlisted_call(policy: Policy, event: Event, position: int) -> Finding | None:
    """Return the finding for a call that the inventory does not have, or not with these arguments.

    None if the inventory has it, or if the event is not a call.
    """
    wrong = policy.inventory.wrong(event) if isinstance(event, Call) else None
    if wrong is None:
        return None
    assert isinstance(event, Call)
    mode = inventory_mode(policy)
    violation = Violation(CONTRACT, position, event.tool, "blocked", wrong.what, mode)
    return Finding(INVENTORY, violation, Block())


def stoppable(event: Event) -> bool:
    """True if the event can be stopped: a call, or a response that has not been shown."""
    return isinstance(event, Call) or (isinstance(event, Message) and event.role == "assistant")


def strictest(found: Iterable[Finding]) -> Decision | None:
    """Return the strictest answer of the enforced contracts; None to let the event through."""
    answers = [each.decision for each in found if each.violation.mode == "enforce"]
    answer = max(answers, key=_strictness, default=None)
    return None if isinstance(answer, Warn) else answer


def stopping(found: Iterable[Finding]) -> str:
    """Return the contract that ends the run; empty if none of these does."""
    return next(
        (f.violation.contract for f in _enforced(found) if isinstance(f.decision, Stop)), ""
    )


def needing_ruling(found: Iterable[Finding]) -> list[tuple[Finding, Ask]]:
    """Return the violations of enforced contracts that a callable of the user has to rule on."""
    return [(f, f.decision) for f in _enforced(found) if isinstance(f.decision, Ask)]


def holding(found: Iterable[Finding]) -> list[tuple[Finding, Escalate]]:
    """Return the violations of enforced contracts that a person has to answer."""
    return [(f, f.decision) for f in _enforced(found) if isinstance(f.decision, Escalate)]


def left_to_answer(found: tuple[Finding, ...], ticket: Ticket | None) -> tuple[Finding, ...]:
    """Return the findings that an approved ticket does not answer; all without a ticket."""
    if ticket is None:
        return found
    answered = {(asked.contract, asked.roles) for asked in ticket.asked}
    pairs = ((each.clause, (each.violation.contract, to.roles)) for each, to in holding(found))
    held = {clause for clause, asked in pairs if asked in answered}
    return tuple(each for each in found if each.clause not in held)


def still_asks(policy: Policy, asked: HeldBy) -> bool:
    """True if the contract would ask the same people today."""
    if asked.contract == RISK_NAME:
        return True
    answers = policy.answers(asked.contract)
    return any(isinstance(each, Ask) for each in answers) or asked.roles in [
        each.roles for each in answers if isinstance(each, Escalate)
    ]


def _enforced(found: Iterable[Finding]) -> list[Finding]:
    return [each for each in found if each.violation.mode == "enforce"]


def enforced(found: Iterable[Finding]) -> tuple[Violation, ...]:
    """Return the violations of enforced contracts."""
    return tuple(each.violation for each in found if each.violation.mode == "enforce")


def observed(found: Iterable[Finding]) -> tuple[Violation, ...]:
    """Return the violations of contracts that only observe."""
    return tuple(each.violation for each in found if each.violation.mode == "observe")


def renamed(args: Mapping[str, Any], redirect: Redirect) -> dict[str, Any]:
    """Return the arguments for the substitute: renamed, or dropped, as the redirect says."""
    if redirect.renames is None:
        return dict(args)
    names = dict(redirect.renames)
    return {
        names.get(key, key) or "": value
        for key, value in args.items()
        if names.get(key, key) is not None
    }


def _violation(
    policy: Policy, i: int, position: int, tool: str | None, action: Action, witness: Witness
) -> Violation:
    owner = policy.owner[i]
    name, mode, message = (
        policy.contracts[owner].name,
        policy.modes[owner],
        demand(policy.clauses[i]),
    )
    about = policy.contracts[owner].about
    if witness.full:
        message = f"{FULL}: {message}"
        about = replace(about, because=about.because and f"{FULL}: {about.because}")
    return Violation(
        name,
        position,
        tool,
        action,
        message,
        mode,
        witness.values,
        witness.since,
        about.because,
        about.owner,
        about.severity,
        about.tags,
    )


def action_of(decision: Decision) -> Action:
    """Return what enforcement does where a contract asks for this decision."""
    match decision:
        case Block() | Stop():
            return "blocked"
        case Redirect():
            return "redirected"
        case Warn():
            return "warned"
        case Escalate():
            return "held"
        case Ask():
            return "custom"
