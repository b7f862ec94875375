"""Operation: rates, intervals, deadlines, retries, loops.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from typing import Literal

import sponsio_like.logic.formula as f
from sponsio_like.contracts import (
    Counts,
    Duration,
    Field,
    Natural,
    Positive,
    Rule,
    Tools,
    Window,
    calls_of_any,
    check_settles,
    counted_calls,
    default,
    pattern,
    whenever,
    worked,
)
from sponsio_like.errors import ContractError
from sponsio_like.events import names_tool
from sponsio_like.logic.formula import Count, Formula, Mark, Repeats, Seconds, Steps, Target
from sponsio_like.patterns.phrasings import PHRASINGS

SESSION = default("session")
ANY = default("*")


@pattern(
    "operational",
    "tool `{action}` at most {limit} times",
    "tool `{action}` at most {limit} times per {per.seconds} seconds",
    "tool `{action}` at most {limit} times per {per.steps} steps",
    "tool `{action}` at most {limit} times for each `{by: and }`",
    "tool `{action}` at most {limit} times per {per.seconds} seconds for each `{by: and }`",
    says=PHRASINGS["rate_limit"],
    keeps=("", "query query", "query other query", "other other other"),
    breaks=("query query query", "query! query! query", "query? query? query"),
    example={"action": "query", "limit": 2},
)
def rate_limit(
    action: Tools,
    limit: Natural,
    per: Window = SESSION,
    counts: Counts = "called",
    by: tuple[Field, ...] | None = None,
) -> Rule:
    """`action` is called at most `limit` times, in the session or in any window; tries count.

    `per: {seconds: N}` are the last N seconds, `per: {steps: N}` this call and the N-1 before it.
    With `by`, so often for each combination of these values; a call that lacks one of these fields
    violates, and so does one with a list of several values there, or an object.
    """
    few = whenever(action, Count(counted_calls(action, counts), None, per) <= limit)
    return Rule(few, by=by or (), single=True)


@pattern(
    "operational",
    "tool `{action}` at most once",
    says=PHRASINGS["idempotent"],
    keeps=("", "transfer", "other transfer other"),
    breaks=("transfer transfer", "transfer! transfer"),
    example={"action": "transfer"},
)
def idempotent(
    action: Tools, by: tuple[Field, ...] | None = None, counts: Counts = "called"
) -> Rule:
    """`action` is called at most once; with `by`, once for each combination of these values.

    A call with a list of several values at a field of `by`, or an object, violates.
    """
    once = whenever(action, Count(counted_calls(action, counts)) <= 1)
    return Rule(once, by=by or (), single=True)


@pattern(
    "operational",
    "tool `{action}` cooldown of {steps} steps",
    "tool `{action}` cooldown of {seconds} seconds",
    "tool `{action}` cooldown of {steps} steps after `{after}`",
    "tool `{action}` cooldown of {seconds} seconds after `{after}`",
    "tool `{action}` cooldown of {seconds} seconds for the same `{by: and }`",
    "tool `{action}` cooldown of {seconds} seconds after `{after}` for the same `{by: and }`",
    says=PHRASINGS["cooldown"],
    keeps=("", "send", "send other other send", "other send"),
    breaks=("send send", "send other send", "send! other send"),
    example={"action": "send", "steps": 2},
)
def cooldown(
    action: Tools,
    steps: Positive | None = None,
    seconds: Duration | None = None,
    counts: Counts = "called",
    after: Tools | None = None,
    by: tuple[Field, ...] | None = None,
) -> Rule:
    """After `action`, the next `steps` calls are others; or it is not called for `seconds`.

    With `after`, both are measured from calls of that tool. With `by`, for each combination of
    these values, which both calls have; a call that lacks one of these fields violates, and so does
    one with a list of several values there, or an object.
    """
    bound = _bound(steps, seconds)
    if isinstance(bound, Steps):
        bound = Steps(bound.count + 1)
    if after is not None and may_meet(after, action):
        raise ContractError.of("a call may be both `after` and `action`", "leave `after` out")
    most, pausing = (1, action) if after is None else (0, after)
    rested = whenever(action, Count(counted_calls(pausing, counts), None, bound) <= most)
    if after is not None:  # no monitor sees a call without its fields (S-KEY-03)
        known = (whenever(after, Mark(each).equals(Mark(each))) for each in by or ())
        rested = f.conj(rested, *known)
    return Rule(rested, by=by or (), single=True)


def _bound(steps: int | None, seconds: float | None) -> Steps | Seconds:
    if steps is not None and seconds is None:
        return Steps(steps)
    if seconds is not None and steps is None:
        return Seconds(float(seconds))
    raise ContractError.of("either `steps` or `seconds` is needed", "write steps: 3")


@pattern(
    "operational",
    "tool `{action}` within {steps} steps of `{trigger}`",
    "tool `{action}` within {seconds} seconds of `{trigger}`",
    says=PHRASINGS["deadline"],
    keeps=("", "other", "receive respond", "receive other respond", "receive receive respond"),
    breaks=("receive", "receive other", "receive other other", "receive other other respond"),
    example={"trigger": "receive", "action": "respond", "steps": 2},
)
def deadline(
    trigger: Tools,
    action: Tools,
    steps: Positive | None = None,
    seconds: Duration | None = None,
    counts: Counts = "called",
) -> Formula:
    """After `trigger`, one of the next `steps` calls is `action`; or it comes within `seconds`.

    The last call that could have been it is refused if it is another; a session that ends first
    leaves the deadline unfulfilled. Seconds that ran out are reported; no call is to blame.
    """
    bound = _bound(steps, seconds)
    check_settles(action, trigger)
    if isinstance(bound, Steps):
        soon: Formula = f.Next(f.Eventually(worked(action, counts), Steps(bound.count - 1)))
    elif may_meet(trigger, action):
        raise ContractError.of("a call may be both `trigger` and `action`", "use `steps`")
    else:
        soon = f.Eventually(worked(action, counts), bound)
    return f.Always(worked(trigger, counts) >> soon)


def may_meet(left: Target, right: Target) -> bool:
    """True if one tool may be of both, as far as their names say."""
    for one in left:
        for other in right:
            named = any(names_tool(other, name) for name in one.names)
            if named or any(names_tool(one, name) for name in other.names):
                return True
            if not one.names + one.globs or not other.names + other.globs:
                return True
            if any(_may_agree(a, b) for a in one.globs for b in other.globs):
                return True
    return False


def _may_agree(left: str, right: str) -> bool:
    """True if the parts of two globs before a sign such as `*` begin alike."""
    a, b = (min(glob.partition(sign)[0] for sign in "*?[") for glob in (left, right))
    return a.startswith(b) or b.startswith(a)


@pattern(
    "operational",
    "tool `{action}` at most {retries} retries",
    says=PHRASINGS["bounded_retry"],
    keeps=("", "deploy", "deploy! deploy", "deploy! deploy deploy! deploy", "deploy deploy deploy"),
    breaks=("deploy! deploy! deploy", "deploy! other deploy! deploy", "deploy! deploy? deploy"),
    example={"action": "deploy", "retries": 1},
)
def bounded_retry(action: Tools, retries: Natural) -> Formula:
    """After an `action` that failed, at most `retries` more tries until one succeeds.

    Tries in flight count; calls of other tools do not matter.
    """
    done, failed = f.Happens("done", action), f.Happens("failed", action)
    again = calls_of_any(action) & f.Yesterday(f.Since(~done, failed))
    return whenever(action, Count(again, reset=done) <= retries)


@pattern(
    "operational",
    "tool `{action}` must not loop more than {limit} times",
    says=PHRASINGS["loop_detection"],
    keeps=("", "search(q=1) search(q=1)", "search(q=1) search(q=1) other search(q=1) search(q=1)"),
    breaks=("search(q=1) search(q=1) search(q=1)", "search search! search?"),
    example={"action": "search", "limit": 2},
)
def loop_detection(
    action: Tools, limit: Positive, similar: Literal["equal", "fuzzy"] = "equal"
) -> Formula:
    """`action` is called at most `limit` times in a row with the same arguments.

    Another tool or other arguments end the run. `fuzzy`: nearly the same words are the same.
    """
    return whenever(action, Repeats(action, similar) <= limit)


@pattern(
    "operational",
    "at most {limit} refusals per {per:=}",
    "tool `{tool}` at most {limit} refusals per {per:=}",
    says=PHRASINGS["denial_limit"],
    keeps=("", "pay~ pay~", "pay~ pay~ other", "pay(n=1)~ pay(n=1)~ pay(n=2)"),
    breaks=("pay~ pay~ pay", "pay(n=1)~ pay(n=2)~ pay(n=1)~ other pay(n=1)"),
    example={"tool": "pay", "limit": 2},
)
def denial_limit(
    limit: Positive, per: Literal["call", "tool", "session"] = "call", tool: Tools = ANY
) -> Formula:
    """A call that was refused `limit` times is not made again, whatever made it legal meanwhile.

    `per: call` is the same tool with the same arguments, `tool` the same tool, `session` any of
    `tool`. Refusals happen where contracts are enforced; no others count.
    """
    like = "any" if per == "session" else per
    return whenever(tool, f.Denied(tool, like) < limit)
