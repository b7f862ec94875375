"""Compliance: duties that exclude each other, and steps that have to follow or to come first.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from sponsio_like.contracts import (
    Counts,
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
from sponsio_like.logic.formula import Always, Eventually, Formula, Next, conj


@pattern(
    "compliance",
    "after `{commitment}`, tool `{reversal}` is forbidden",
    says=(
        "after [CALLING] {commitment:tools} [,] {reversal:union} FORBIDDEN [ANYMORE]",
        "after [CALLING] {commitment:tools} [,] NEVER_CALL {reversal:every} [ANYMORE]",
        (
            "(once | after | as soon as) {commitment:tools} OK [,] {reversal:union} FORBIDDEN "
            "[ANYMORE]"
        ),
        (
            "(once | after | as soon as) {commitment:tools} OK [,] NEVER_CALL "
            "{reversal:every} [ANYMORE]"
        ),
        "NEVER_CALL {reversal:every} [ANYMORE] (after | once) [CALLING] {commitment:tools} [OK]",
        (
            "{reversal:every} MUST_NOT (BE_CALLED | come | happen | run) after [CALLING] "
            "{commitment:tools} [OK]"
        ),
        (
            "no (more | further) (calls | calls to | calls of) {reversal:tools} (is | are) "
            "(allowed | permitted) after [CALLING] {commitment:tools} [OK]"
        ),
        "{reversal:every} MUST_NOT follow {commitment:every}",
        "{commitment:every} MUST_NOT be followed by {reversal:every}",
        "FORBID {reversal:every} (after | once) [CALLING] {commitment:tools} [OK]",
        (
            "after [CALLING] {commitment:tools} [,] no [more | further] {reversal:name_calls} "
            "(is | are) (allowed | permitted)"
        ),
        (
            "after [CALLING] {commitment:tools} [,] no [more | further] (call | calls) (of | "
            "to) {reversal:tools} (is | are) (allowed | permitted)"
        ),
        "no {reversal:one} (once | after) {commitment:tools} OK",
        (
            "{commitment:every} MUST_NOT (precede | come before | happen before | run before) "
            "{reversal:every}"
        ),
        (
            "{reversal:every} NO_LONGER BE_CALLED (after | once) [CALLING] "
            "{commitment:tools} [OK] [[,] unless (that call | that | it) failed]"
        ),
    ),
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
    says=(
        (
            "(the agent | an agent) (that | who) (calls | called | runs | ran | has called) "
            "{first:one} MUST_NOT be the same [one | agent] (that | who | as the one that) "
            "(calls | called | runs | ran | has called) {second:one}"
        ),
        (
            "(the agent | an agent) (that | who) (calls | called | has called | runs | ran) "
            "{first:one} MUST_NOT CALL {second:one} [,] (and | or) (the other way round | vice "
            "versa | the other way around | the reverse)"
        ),
        "(SAME | one) agent MUST_NOT both [CALL] {first:one} and [CALL] {second:one}",
        (
            "{first:one} and {second:one} MUST (be | be called | be done | be made | be "
            "run) by [two] different agents"
        ),
        "{first:one} and {second:one} MUST_NOT be (called | done | made | run) by SAME agent",
        "(SAME | one) agent MUST_NOT CALL both {first:one} and {second:one}",
        "no [single | one] agent MAY CALL both {first:one} and {second:one}",
        (
            "(the agent | an agent) (that | who) (calls | called | runs | ran) {first:one} "
            "MUST_NOT CALL {second:one}"
        ),
        "whoever (calls | called | runs | ran) {first:one} MUST_NOT CALL {second:one}",
        (
            "(the agent | an agent) (that | who) (calls | called | runs | ran) {first:one} "
            "MUST_NOT be the (one | agent) (that | who) (calls | called | runs | ran) "
            "{second:one}"
        ),
    ),
    keeps=("", "review@ann approve@bob", "review@ann review@ann", "review@ann! approve@ann"),
    breaks=("review@ann approve@ann", "approve@ann review@ann", "review@ann other approve@ann"),
    example={"first": "review", "second": "approve"},
)
def segregation_of_duty(first: Tools, second: Tools, counts: Counts = "done") -> Rule:
    """One agent never calls both `first` and `second`; failed calls do not count."""
    check_disjoint(first, second, "name two that differ")
    return Rule(exclusive(first, second, counts), by=("@agent",))


@pattern(
    "compliance",
    "every `{trigger}` must be followed by `{response}`",
    says=(
        "after [CALLING] {trigger:every} [,] there MUST [EVENTUALLY] be {response:later}",
        (
            "{trigger:every} (MUST [EVENTUALLY] be | is [EVENTUALLY]) followed [EVENTUALLY] "
            "by {response:later} [EVENTUALLY]"
        ),
        ("after [CALLING] {trigger:every} [,] [always | MUST | AGENT MUST] CALL {response:later}"),
        (
            "after [CALLING] {trigger:every} [,] [then] {response:later} (MUST [EVENTUALLY] "
            "BE_CALLED [EVENTUALLY] | is called)"
        ),
        (
            "(after | once | when | whenever | as soon as | every time | each time) "
            "{trigger:every} OK [,] [then] {response:later} IS_CALLED [EVENTUALLY]"
        ),
        (
            "(after | once | when | whenever | as soon as | every time | each time) "
            "{trigger:every} OK [,] [then] CALL {response:later} [EVENTUALLY]"
        ),
        "[always | MUST] CALL {response:later} after [CALLING] {trigger:every}",
        "{response:later} MUST BE_CALLED after [CALLING] {trigger:every}",
        (
            "(whenever | when | every time | each time | if) {trigger:tools} is called [,] "
            "[then] CALL {response:later} [EVENTUALLY | next]"
        ),
        (
            "(whenever | when | every time | each time | if) {trigger:tools} is called [,] "
            "[then] {response:later} MUST (BE_CALLED EVENTUALLY | EVENTUALLY BE_CALLED | "
            "follow [EVENTUALLY])"
        ),
        "{response:later} MUST follow (every | each) {trigger:names}",
        "{trigger:every} REQUIRES {response:later} EVENTUALLY",
        "{trigger:every} REQUIRES (a later | a subsequent | a following) {response:names}",
        (
            "(whenever | when | every time | each time | if) AGENT CALL {trigger:tools} [,] "
            "AGENT MUST CALL {response:later} (afterwards | later | after it | after that)"
        ),
        (
            "(whenever | when | every time | each time | if | after | once | as soon as) "
            "{trigger:tools} OK [,] [then] {response:later} MUST (follow | come | BE_CALLED "
            "| succeed) [EVENTUALLY]"
        ),
        (
            "{trigger:succeeded_call} (MUST [EVENTUALLY] be | is [EVENTUALLY]) followed by "
            "{response:later} [EVENTUALLY]"
        ),
        (
            "{response:later} MUST (follow | come | succeed | have succeeded | BE_CALLED) "
            "[EVENTUALLY] after {trigger:succeeded_call}"
        ),
        (
            "there MUST be no [successful] {trigger:names} (that isn't | that is not | which "
            "isn't | which is not) [later | eventually] followed by {response:later}"
        ),
    ),
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
    says=(
        "{gate:every} REQUIRES [that] {steps:together} ALL_OK [FIRSTLY]",
        (
            "{steps:together} MUST [both | all] (be complete | be completed | be done | be "
            "finished | have finished | have been called | have run | have passed) before "
            "[CALLING] {gate:every}"
        ),
        "no {gate:one} (until | before | without | unless) [CALLING] {steps:together} [ALL_OK]",
        (
            "{gate:every} REQUIRES {steps:together} to (have finished | have completed | have "
            "succeeded | have passed | pass | be done | be complete | be called first | succeed "
            "| finish first)"
        ),
        (
            "{steps:together} MUST [both | all] (HAVE_OK | come) [EACH_TIME] before "
            "[CALLING] {gate:every}"
        ),
        "before [CALLING] {gate:every} [,] {steps:together} MUST [both | all] HAVE_OK",
        (
            "{steps:one_step} MUST (complete | finish | have completed | have succeeded) "
            "before [CALLING] {gate:every}"
        ),
        "{steps:together} MUST precede {gate:every}",
        "[always | MUST] CALL {steps:together} before [CALLING] {gate:every}",
        "before [CALLING] {gate:every} [,] CALL {steps:together}",
        "{gate:every} REQUIRES {steps:together} (first | beforehand | before it)",
        "NEVER_CALL {gate:every} (before | without | until) [CALLING] {steps:together} [ALL_OK]",
        "NEVER_CALL {gate:every} (until | unless) {steps:together} ALL_OK",
        "(until | unless) {steps:together} ALL_OK [,] NEVER_CALL {gate:every}",
        (
            "{gate:every} (ONLY_ALLOWED | [MAY | comes | MAY come] only [BE_CALLED]) (after "
            "[CALLING] {steps:together} [ALL_OK] | (once | if | when) {steps:together} "
            "ALL_OK)"
        ),
        (
            "[AGENT MAY] only CALL {gate:every} (after [CALLING] {steps:together} [ALL_OK] | "
            "(once | if | when) {steps:together} ALL_OK)"
        ),
        "{steps:together} are required before [CALLING] {gate:every}",
        (
            "{gate:every} REQUIRES [that] {steps:together} (have | are) [both | all] "
            "(succeeded | passed | completed | finished | run | complete | done | been "
            "called) FIRSTLY"
        ),
        (
            "{steps:together} (all | both) MUST (be completed | be complete | be done | have "
            "succeeded | complete | succeed | finish | have run | BE_CALLED) before "
            "[CALLING] {gate:every}"
        ),
    ),
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
