"""Compliance: duties that exclude each other, and steps that have to follow or to come first.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from sponsio_like.contracts import (
    Counts,
    Field,
    Rule,
    Tools,
    before,
    check_disjoint,
    check_settles,
    counted_calls,
    earlier,
    exclusive,
    pattern,
    whenever,
    worked,
)
from sponsio_like.errors import ContractError
from sponsio_like.logic.formula import Always, Eventually, Formula, Next, Var, conj
from sponsio_like.patterns.phrasings import PHRASINGS


@pattern(
    "compliance",
    "after `{commitment}`, tool `{reversal}` is forbidden",
    says=PHRASINGS["no_reversal"],
    keeps=("", "reject", "approve", "reject approve", "approve! reject"),
    breaks=("approve reject", "approve? reject", "approve other reject"),
    example={"commitment": "approve", "reversal": "reject"},
)
def no_reversal(commitment: Tools, reversal: Tools, counts: Counts = "done") -> Formula:
    """After `commitment`, `reversal` is never called. One that failed commits to nothing."""
    check_disjoint(
        commitment, reversal, "name what takes it back; for once write `irreversible_once`"
    )
    return whenever(reversal, ~earlier(counted_calls(commitment, counts)))


@pattern(
    "compliance",
    "tools `{first}` and `{second}` must be by different agents",
    "tools `{first}` and `{second}` must be by different agents for the same `{same: and }`",
    says=PHRASINGS["segregation_of_duty"],
    keeps=("", "review@ann approve@bob", "review@ann review@ann", "review@ann! approve@ann"),
    breaks=("review@ann approve@ann", "approve@ann review@ann", "review@ann other approve@ann"),
    example={"first": "review", "second": "approve"},
)
def segregation_of_duty(
    first: Tools, second: Tools, counts: Counts = "done", same: tuple[Field, ...] | None = None
) -> Rule:
    """One agent never calls both `first` and `second`; failed calls do not count.

    `same`: both for equal values of these fields; for other values one agent may call both. A call
    that lacks one of these fields violates, and so does one with a list of several values there, or
    an object.
    """
    check_disjoint(first, second, "name two that differ")
    for target in (first, second):
        if any(isinstance(each.value, Var) for match in target for each in match.conditions):
            raise ContractError.of(
                "a `$x` cannot be compared for each agent by itself",
                "name the fields that both calls share: same: [FIELD]",
            )
    apart = exclusive(first, second, counts)
    return Rule(apart, by=("@agent", *(same or ())), single=bool(same))


@pattern(
    "compliance",
    "every `{trigger}` must be followed by `{response}`",
    says=PHRASINGS["always_followed_by"],
    keeps=("", "notify", "refund notify", "refund refund notify", "refund!"),
    breaks=("refund", "refund notify!", "notify refund", "refund notify refund"),
    example={"trigger": "refund", "response": "notify"},
)
def always_followed_by(trigger: Tools, response: Tools, counts: Counts = "done") -> Formula:
    """Every `trigger` that succeeded is followed by a `response` that succeeds.

    One response answers every trigger before it. What is still open at the end is unfulfilled.
    """
    check_settles(response, trigger)
    answer = Next(Eventually(worked(response, counts)))
    return Always(worked(trigger, counts) >> answer)


@pattern(
    "compliance",
    "`{steps: and }` must complete before `{gate}`",
    says=PHRASINGS["required_steps_completion"],
    keeps=("", "aml kyc loan", "kyc aml other loan", "aml"),
    breaks=("loan", "aml loan", "aml kyc! loan", "aml kyc? loan ok:kyc"),
    example={"steps": ["aml", "kyc"], "gate": "loan"},
)
def required_steps_completion(
    steps: tuple[Tools, ...], gate: Tools, counts: Counts = "done"
) -> Formula:
    """`gate` is only called after every one of `steps` has succeeded, in any order.

    It is an order, and no gate: whatever a step answers, its success counts; `must_confirm` with
    `accept` reads the answer. `gate: "*"` is all tools but the `steps`.
    """
    return conj(*(before(gate, steps, earlier(worked(step, counts))) for step in steps))
