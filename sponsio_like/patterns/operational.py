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
from sponsio_like.logic.formula import Count, Formula, Repeats, Seconds, Steps, Target

SESSION = default("session")
ANY = default("*")


@pattern(
    "operational",
    "tool `{action}` at most {limit} times",
    "tool `{action}` at most {limit} times per {per.seconds} seconds",
    "tool `{action}` at most {limit} times per {per.steps} steps",
    says=(
        (
            "({action:tools} MAY BE_CALLED | [AGENT MAY] CALL {action:tools}) {limit:count} "
            "{per:window} (at most | at the most | at maximum | max | tops)"
        ),
        "{action:tools} {limit:most} {per:window}",
        "allow {limit:most} {action:name_calls} [{per:window}]",
        "[allow] only {limit:number} (calls | uses) (of | to) {action:tools} [{per:window}]",
        "{action:tools} COLON {limit:most} {per:window}",
        "{action:tools} COLON ({limit:atmost} [{per:window}] | {limit:count} {per:window} TOPS)",
        (
            "(a | each | every | one) session (gets | has | MAY have | MAY make | MAY use) "
            "({limit:most} {action:name_calls} | [only] {limit:number} {action:name_calls} "
            "TOPS | only {limit:number} {action:name_calls})"
        ),
        (
            "{action:tools} (gets | has | MAY have) ({limit:most} (calls | uses) "
            "[{per:window}] | {limit:number} (calls | uses) ([{per:window}] TOPS | TOPS "
            "[{per:window}]))"
        ),
        (
            "{per:window} [,] AGENT (get | gets | have | has | MAY make | MAY have) "
            "({limit:most} {action:name_calls} | only {limit:number} {action:name_calls} | "
            "{limit:number} {action:name_calls} TOPS)"
        ),
        (
            "AGENT (get | gets | MAY make | MAY have | MAY take) ({limit:most} "
            "{action:name_calls} | only {limit:number} {action:name_calls}) [{per:window}]"
        ),
        "{action:tools} is capped at {limit:number} (calls | times | uses) [{per:window}]",
        (
            "{action:together} (together | combined | taken together | in total) {limit:atmost}"
            " [{per:window}]"
        ),
        "{action:tools} never {limit:excess} [{per:window}]",
        "(never | no) more than {limit:number} {action:name_calls} [{per:window}]",
        "{limit:most} {action:one} {per:window}",
        "{action:tools} {limit:atmost} [{per:window}]",
        "{action:tools} MAY BE_CALLED {limit:atmost} [{per:window}]",
        "{action:tools} MAY only BE_CALLED {limit:count} [{per:window}]",
        "[AGENT MAY] CALL {action:tools} {limit:atmost} [{per:window}]",
        "[AGENT MAY] only CALL {action:tools} {limit:count} [{per:window}]",
        "NEVER_CALL {action:tools} {limit:excess} [{per:window}]",
        (
            "[there MAY be] {limit:most} (calls | call | uses | runs) (of | to) "
            "{action:tools} [{per:window}]"
        ),
        (
            "(limit {action:tools} | {action:tools} is limited) to {limit:number} (calls | "
            "call | times | uses) [{per:window}]"
        ),
        "{limit:most} {action:name_calls} [{per:window}] [is allowed | are allowed]",
        "[rate] limit {action:tools} to {limit:number} [calls | times] {per:window}",
        "cap {action:tools} at {limit:number} (calls | times | uses) [{per:window}]",
        "{action:tools} is called {limit:atmost} [{per:window}]",
        "[AGENT MAY make | make | there MAY be] {limit:most} {action:any_call} [{per:window}]",
        "(never | no) more than {limit:number} {action:any_call} [{per:window}]",
        "{per:window} [,] {action:tools} [MAY BE_TRIED] {limit:atmost}",
        (
            "{per:window} [,] {limit:most} (MAY be {action:tools} | {action:name_calls} [is "
            "allowed | are allowed])"
        ),
        "{per:window} [,] [AGENT MAY] CALL {action:tools} {limit:atmost}",
        "{action:tools} MAY BE_TRIED {limit:atmost} [{per:window}] [EVEN_IF_IT_FAILS]",
    ),
    keeps=("", "query query", "query other query", "other other other"),
    breaks=("query query query", "query! query! query", "query? query? query"),
    example={"action": "query", "limit": 2},
)
def rate_limit(
    action: Tools, limit: Natural, per: Window = SESSION, counts: Counts = "called"
) -> Formula:
    """`action` is called at most `limit` times, in the session or in any window; tries count.

    `per: {seconds: N}` are the last N seconds, `per: {steps: N}` this call and the N-1 before it.
    """
    return whenever(action, Count(counted_calls(action, counts), None, per) <= limit)


@pattern(
    "operational",
    "tool `{action}` at most once",
    says=(
        "CALL {action:tools} ONCE (per | for each | for every) {by:pairs}",
        "{action:tools} ONCE",
        "CALL {action:tools} ONCE",
        "{action:tools} MAY BE_CALLED ONCE",
        "{action:tools} MAY only BE_CALLED once",
        "only CALL {action:tools} once",
        "NEVER_CALL {action:tools} (twice | again | more than once)",
        "NEVER_CALL {action:tools} (twice | again | more than once) for SAME {by:pairs}",
        "only one {action:tool_name} (is allowed | per session)",
        "only one (call | use) (of | to) {action:tool_name} [is allowed | per session]",
        "{action:tools} MUST be idempotent (by | per) {by:pairs}",
        (
            "{action:tools} ([MAY BE_CALLED] ONCE | MAY only BE_CALLED once) (per | for each "
            "| for every | for SAME) {by:pairs}"
        ),
        (
            "([AGENT MAY] CALL {action:tools} ONCE | [AGENT MAY] only CALL {action:tools} "
            "once) (per | for each | for every | for SAME) {by:pairs}"
        ),
        (
            "PER {by:pairs} [,] ({action:tools} ([MAY BE_TRIED] ONCE | MAY only BE_TRIED "
            "once) | [AGENT MAY] CALL {action:tools} ONCE)"
        ),
        "{action:tools} MAY BE_TRIED ONCE [EVEN_IF_IT_FAILS]",
        (
            "{action:tools} (gets | has) (one | a single | only one | just one) (try | "
            "attempt | shot) EVEN_IF_IT_FAILS"
        ),
    ),
    keeps=("", "transfer", "other transfer other"),
    breaks=("transfer transfer", "transfer! transfer"),
    example={"action": "transfer"},
)
def idempotent(
    action: Tools, by: tuple[Field, ...] | None = None, counts: Counts = "called"
) -> Rule:
    """`action` is called at most once; with `by`, once for each combination of these values."""
    return Rule(whenever(action, Count(counted_calls(action, counts)) <= 1), by=by or ())


@pattern(
    "operational",
    "tool `{action}` cooldown of {steps} steps",
    "tool `{action}` cooldown of {seconds} seconds",
    says=(
        (
            "BETWEEN ((calls | uses) (of | to) {action:tools} | {action:name_calls}) [,] there "
            "MUST be AT_LEAST {steps:number} other calls"
        ),
        "{action:tools} REQUIRES a {*:span} cooldown",
        (
            "there MUST be AT_LEAST {*:span} BETWEEN ({action:name_calls} | (calls | "
            "uses) (of | to) {action:tools})"
        ),
        (
            "after [CALLING] {action:every} [,] (wait | leave) [at least] {*:span} before "
            "CALLING ({action:names} | it) again"
        ),
        (
            "after (a | an | one | each | every | any) {action:names} [,] no (other | further |"
            " second | more) {action:names} for [at least] {*:span}"
        ),
        (
            "{action:tools} [MAY BE_CALLED] (at most | no more often than | not more often "
            "than) every {*:span}"
        ),
        "AT_LEAST {*:span} BETWEEN (calls | uses) (of | to) {action:tools}",
        "[leave] AT_LEAST {*:span} BETWEEN {action:name_calls}",
        "{action:tools} [(has | REQUIRES) a] cooldown of {*:span}",
        (
            "BETWEEN ((calls | uses) (of | to) {action:tools} | {action:name_calls}) [,] "
            "(wait [at least] {*:span} | there MUST be AT_LEAST {*:span} | at least {*:span} "
            "MUST (pass | lie) | leave [at least] {*:span})"
        ),
        (
            "{action:tools} MUST wait [at least] {*:span} (BETWEEN calls | after each call | "
            "before it is called again)"
        ),
        "NEVER_CALL {action:tools} more often than (every | once every) {*:span}",
        ("wait [at least] {*:span} BETWEEN (calls | call | uses) (of | to) {action:tools}"),
        ("at least {*:span} MUST (pass | lie) BETWEEN (calls | uses) (of | to) {action:tools}"),
        "[leave] at least {*:span} BETWEEN (calls | uses) (of | to) {action:tools}",
        "(wait | leave) [at least] {*:span} BETWEEN {action:name_calls}",
        (
            "after [CALLING] {action:every} [,] the next {steps:number} calls MUST ((be "
            "something other than | not be) {action:names} | be something else)"
        ),
        "AT_LEAST {*:span} MUST (pass | lie) BETWEEN {action:name_calls}",
        (
            "after [CALLING] {action:names} [,] (make | there MUST be) at least "
            "{steps:number} other calls before (CALLING it again | it is called again)"
        ),
    ),
    keeps=("", "send", "send other other send", "other send"),
    breaks=("send send", "send other send", "send! other send"),
    example={"action": "send", "steps": 2},
)
def cooldown(
    action: Tools,
    steps: Positive | None = None,
    seconds: Duration | None = None,
    counts: Counts = "called",
) -> Formula:
    """After `action`, the next `steps` calls are others; or it is not called for `seconds`."""
    bound = _bound(steps, seconds)
    if isinstance(bound, Steps):
        bound = Steps(bound.count + 1)
    return whenever(action, Count(counted_calls(action, counts), None, bound) <= 1)


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
    says=(
        (
            "after [CALLING] {trigger:every} [,] {action:tools} MUST (follow | come | occur) "
            "within {*:span}"
        ),
        (
            "(when | whenever | once | if | as soon as) {trigger:tools} (is called | was "
            "called | has been called) [,] [then] ({action:tools} (IS_CALLED | MUST (follow "
            "| come)) | CALL {action:tools}) within {*:span}"
        ),
        (
            "within {*:span} (of | after) [CALLING] {trigger:every} [,] {action:tools} MUST "
            "(follow | happen | come | occur)"
        ),
        "{action:tools} within {*:span} (of | after) [CALLING] {trigger:every}",
        (
            "{action:tools} MUST (BE_CALLED | happen | follow | come | run) within {*:span} "
            "(of | after) [CALLING] {trigger:every}"
        ),
        (
            "[always | MUST] CALL {action:tools} within {*:span} (of | after) [CALLING] "
            "{trigger:every}"
        ),
        "{trigger:every} IS_FOLLOWED followed by {action:tools} within {*:span}",
        "after [CALLING] {trigger:every} [,] {action:tools} IS_CALLED within {*:span}",
        "after [CALLING] {trigger:every} [,] CALL {action:tools} within {*:span}",
        "within {*:span} (of | after) [CALLING] {trigger:every} [,] {action:tools} IS_CALLED",
        "within {*:span} (of | after) [CALLING] {trigger:every} [,] CALL {action:tools}",
        (
            "[always | MUST] CALL {action:tools} no later than {*:span} after [CALLING] "
            "{trigger:every}"
        ),
        "{action:tools} MUST follow {trigger:every} within {*:span}",
        (
            "{action:tools} MUST (BE_CALLED | happen | follow | come | run) no later than "
            "{*:span} after [CALLING] {trigger:every}"
        ),
    ),
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
    says=(
        "a failed {action:tools} MAY be (retried | tried again | repeated) {retries:atmost}",
        "(when | if | whenever | once) {action:tools} fails [,] {retries:most} (retries | retry)",
        "(when | if | whenever | once) {action:tools} fails [,] retry it {retries:atmost}",
        "{action:tools} [MAY have] AT_MOST {retries:number} (retries | retry)",
        "{retries:most} (retries | retry) (of | for) {action:tools}",
        "retry {action:tools} {retries:atmost}",
        "NEVER retry {action:tools} {retries:excess}",
        "{action:tools} MAY be retried {retries:atmost}",
        "{action:tools} MUST_NOT be retried {retries:excess}",
        "NEVER retry {action:tools} {retries:zero}",
        "{action:tools} MUST_NOT be retried {retries:zero}",
        "a failed {action:tools} MUST_NOT be retried {retries:excess}",
        (
            "(when | if | whenever | once | after) {action:tools} FAILS [,] (it MAY be "
            "(retried | tried again) {retries:atmost} | (it MUST_NOT | it's not to) be "
            "(retried | tried again) {retries:zero})"
        ),
        (
            "{action:tools} MUST_NOT be retried {retries:zero} after (it failed | it has "
            "failed | a failure)"
        ),
    ),
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
    says=(
        (
            "(never | no) more than {limit:number} {action:name_calls} in a row with the same "
            "arguments"
        ),
        "{action:tools} MUST_NOT loop {limit:excess}",
        "NEVER loop {action:tools} {limit:excess}",
        "NEVER_CALL {action:tools} {limit:excess} in a row SAME_ARGS",
    ),
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
    says=(
        (
            "{limit:most} (refusals | refusal | refused calls | denied calls | blocked calls) "
            "per {per:refused}"
        ),
        "{tool:tools} {limit:most} (refusals | refusal) per {per:refused}",
        (
            "{tool:tools} that (was | has been) (refused | denied | blocked) {limit:count} "
            "MUST_NOT be (made | tried | repeated | called | retried) again {per:each_call}"
        ),
        (
            "(once | after | if | when) {tool:tools} (was | has been) refused {limit:count} "
            "[,] (it MUST_NOT be called | NEVER call it) again SAME_ARGS {per:each_call}"
        ),
        (
            "after {limit:number} refusals of {tool:tools} (in | per) [a | one | the] "
            "{per:refused} [,] it MUST_NOT be called ANYMORE"
        ),
    ),
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
