"""Safety: order, confirmation, permission and secrecy before what cannot be undone.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from typing import Literal

import sponsio_like.logic.formula as f
from sponsio_like.contracts import (
    Accept,
    AnswerField,
    Counts,
    Event,
    Field,
    Name,
    Positive,
    Rule,
    Tools,
    Within,
    before,
    by_name,
    calls_of_any,
    confirmed,
    default,
    dependent_calls,
    earlier,
    fresh_variable,
    granted_since_last,
    narrowed,
    pattern,
    whenever,
    worked,
)
from sponsio_like.errors import ContractError
from sponsio_like.events import Call, Context, atom
from sponsio_like.logic.formula import Formula
from sponsio_like.outcome import Escalate

CONFIRM_IT = default("confirm_{action}", optional=True)


@pattern(
    "safety",
    "tool `{first}` must precede `{then}`",
    "must call `{first}` before `{then}`",
    "tool `{first}` must precede `{then}` by at most {within.seconds} second(s)",
    "tool `{first}` must precede `{then}` by at most {within.steps} step(s)",
    says=(
        (
            "{first:tools} MUST have (happened | succeeded | finished | completed | been "
            "called) at most {within:span} before {then:every}"
        ),
        "{first:tools} first [,] [and] [only] then {then:tools}",
        "before [CALLING] {then:every} [,] {first:tools} MUST HAVE_OK",
        "the first [tool] (call | step | tool) {then:all_others} MUST_BE {first:tools}",
        (
            "{first:tools} MUST (be called first | run first | come first | be the first call "
            "| be the first tool call | be the first step) {then:all_others}"
        ),
        (
            "(every | each | any | a) (session | conversation | run) MUST (start | begin) with "
            "[CALLING] {first:tools} {then:all_others}"
        ),
        (
            "{first:tools} MUST (BE_CALLED | come | run | precede) before (anything | "
            "everything | every other tool | any other tool | all other tools | every other "
            "call | any other call | all other calls) [else] {then:all_others}"
        ),
        (
            "[always | MUST | AGENT MUST] CALL {first:tools} before (anything | everything | "
            "every other tool | any other tool | all other tools | every other call | any "
            "other call | all other calls) [else] {then:all_others}"
        ),
        (
            "{then:every} [MAY | comes | MAY come] only [BE_CALLED] (if | once | when | "
            "after) {first:tools} OK [FIRSTLY]"
        ),
        "{then:every} ONLY_ALLOWED (if | once | when | after) {first:tools} OK [FIRSTLY]",
        (
            "{then:every} ([MAY] only [BE_CALLED] | ONLY_ALLOWED) (if | when | after) "
            "{first:tools} SUCCEEDED AGO {within:span}"
        ),
        "{then:every} REQUIRES {first:tools} to HAVE_OK [FIRSTLY]",
        (
            "{first:tools} (MUST (precede | come before) | precedes) {then:every} by AT_MOST "
            "{within:span}"
        ),
        "{then:every} MUST wait (for | until) {first:tools} [OK]",
        (
            "{first:tools} (is | are) (a prerequisite | prerequisites | a precondition) (of | "
            "for) {then:every}"
        ),
        (
            "(nothing | no tool | no tools | no other tool) {then:all_others} MAY BE_CALLED "
            "(before | until | without | unless) [CALLING] {first:tools} [OK]"
        ),
        (
            "(all other tools | every other tool | everything else) {then:all_others} "
            "FORBIDDEN (before | until | without | unless) [CALLING] {first:tools} [OK]"
        ),
        "{then:every} comes after {first:tools}",
        (
            "{first:tools} (MUST (precede | come before | HAVE_OK before) | precedes | comes "
            "before | happens before | runs before) [CALLING] {then:every} [MAY BE_CALLED] "
            "[by at most {within:span}]"
        ),
        "{first:tools} IS_CALLED [first] before [CALLING] {then:every}",
        "{first:tools} [IS_CALLED] AT_MOST {within:span} before [CALLING] {then:every}",
        (
            "[always | MUST | AGENT MUST] [first] CALL {first:tools} [at least once] before "
            "[CALLING] {then:every}"
        ),
        (
            "before [CALLING] {then:every} [,] [always | MUST | AGENT MUST] CALL "
            "{first:tools} [first]"
        ),
        (
            "NEVER_CALL {then:every} (before | without | until) [CALLING] {first:tools} [OK] "
            "[FIRSTLY]"
        ),
        "NEVER_CALL {then:every} (until | unless) {first:tools} OK [FIRSTLY]",
        "FORBID {then:every} (before | without | until | unless) [CALLING] {first:tools} [OK]",
        "NEVER_CALL {then:every} until [after] {first:tools}",
        "[AGENT MAY] only CALL {then:every} after [CALLING] {first:tools} [OK]",
        "[AGENT MAY] only CALL {then:every} (once | if | when) {first:tools} OK",
        "[AGENT MAY] CALL {then:every} only after [CALLING] {first:tools} [OK]",
        "{then:every} [MAY] only [BE_CALLED] after [CALLING] {first:tools} [OK]",
        "{then:every} (MAY BE_CALLED only | ONLY_ALLOWED) after [CALLING] {first:tools} [OK]",
        "{then:every} MAY only BE_CALLED (once | if | when) {first:tools} OK",
        "{then:every} MUST come after {first:tools}",
        "{then:every} MUST BE_CALLED after [CALLING] {first:tools}",
        (
            "{then:every} REQUIRES {first:tools} (first | beforehand | to be called first | "
            "to have been called | before it)"
        ),
        "no {then:tools} (before | without) [CALLING] {first:tools} [OK] [FIRSTLY]",
        "{then:every} (MUST | REQUIRES to) be preceded by {first:tools}",
        "{then:every} is preceded by {first:tools}",
        "{first:tools} is required before [CALLING] {then:every}",
        "(require | wait for) {first:tools} before [CALLING] {then:every}",
        "[AGENT MUST] first CALL {first:tools} [,] [and] [only] then [CALL] {then:tools}",
        (
            "{then:every} MUST_NOT (precede | come before | happen before | run before) "
            "{first:every}"
        ),
        "AGENT MUST (have called | have run) {first:tools} before [CALLING] {then:every}",
        (
            "NEVER_CALL {then:every} (until | unless) AGENT HAVE_CALLED {first:tools} [first "
            "| before]"
        ),
        (
            "[AGENT MAY] only CALL {then:every} (after | once | if | when) AGENT HAVE_CALLED "
            "{first:tools}"
        ),
        "{then:every} (without | before) CALLING {first:tools} [first] FORBIDDEN",
        (
            "before [CALLING] {then:every} [HAPPENS] [,] AGENT MUST (have called | have run "
            "| have used) {first:tools} [successfully]"
        ),
        "no {then:tools} (until | unless) [CALLING] {first:tools} OK [FIRSTLY]",
        (
            "NEVER_CALL {then:every} unless {first:tools} SUCCEEDED (AGO {within:span} | (in "
            "| within) (one of the | the last | one of the last) {within:span} [before it])"
        ),
        (
            "only (after | once | if | when) [CALLING] {first:tools} [OK] (may | can) "
            "{then:names} BE_CALLED"
        ),
        "not (before | until) {first:tools} OK (may | can) {then:names} BE_CALLED",
        (
            "never MAY {then:names} BE_CALLED ((before | without) [CALLING] {first:tools} "
            "[OK] | (until | unless) {first:tools} OK) [FIRSTLY]"
        ),
        "(NEVER_CALL {then:every} | no {then:tools}) without EARLIER {first:names} [FIRSTLY]",
        (
            "(NEVER_CALL {then:every} | no {then:tools}) unless {first:tools} OK (at most | "
            "no more than) {within:span} (earlier | before | ago)"
        ),
        "until {first:tools} OK [,] {then:every} MUST wait",
        "(until | unless) {first:tools} OK [FIRSTLY] [,] NEVER_CALL {then:every}",
    ),
    keeps=("", "check", "check refund", "check refund refund", "check! check refund"),
    breaks=("refund", "check! refund", "check? refund ok:check", "refund check"),
    example={"first": "check", "then": "refund"},
)
def must_precede(
    first: Tools,
    then: Tools,
    accept: Accept | None = None,
    within: Within | None = None,
    counts: Counts = "done",
) -> Formula:
    """`then` is only called after `first` has succeeded: an order of calls, and no gate.

    Whatever `first` answers, its success counts, and one serves for the whole session. A call of
    `first` that failed, or that is still in flight, does not. `accept`: only answers that are so
    count (as in `must_confirm`). `within`: one of so many calls before `then`, or not more than so
    many seconds before it: `{steps: 10}` (or `10`), `{seconds: 3600}`. `then: "*"` is all tools but
    `first`. A call that lacks the field of a `$x` of `then` is refused.
    """
    known = worked(first, counts)
    known = known if accept is None else known & accept
    return before(then, [first], earlier(known, within, f.disj(*dependent_calls(then, first))))


@pattern(
    "safety",
    "tool `{action}` requires confirmation",
    "tool `{action}` requires confirmation by `{by}`",
    says=(
        "{action:every} only (with | after) (CONFIRMATION | CONFIRMED_BY {by:tools})",
        "[the] user MUST confirm before [CALLING] {action:every}",
        "{action:every} REQUIRES [the] user's confirmation",
        "no {action:one} without CONFIRMATION [BY {by:tools}]",
        "require CONFIRMATION for {action:every}",
        "{action:every} MUST be confirmed BY {by:tools} (FIRSTLY | WITH_SAME {same:pairs})",
        (
            "{action:every} REQUIRES CONFIRMED_BY {by:tools} [FIRSTLY | EACH_TIME | "
            "WITH_SAME {same:pairs}]"
        ),
        (
            "before [CALLING] {action:every} [,] AGENT (REQUIRES | want | wants) "
            "CONFIRMED_BY {by:tools} [[,] one (per | for each | for every) (run | call)]"
        ),
        (
            "(the user | the client | the customer) MUST (say yes | agree | confirm) BY "
            "{by:tools} before [CALLING] {action:every}"
        ),
        "AGENT MUST confirm {action:every} BY {by:tools} [FIRSTLY]",
        (
            "NEVER_CALL {action:every} unless (the user has confirmed it | it is confirmed | it"
            " was confirmed | confirmed) [BY {by:tools}]"
        ),
        "{action:every} REQUIRES CONFIRMATION [FIRSTLY | EACH_TIME]",
        "{action:every} MUST be confirmed [first] [(by | through | via | with) {by:tools}]",
        "NEVER_CALL {action:every} without (CONFIRMATION | CONFIRMED_BY {by:tools})",
        (
            "[always | AGENT MUST] (ask for | ask the user for | get | obtain | require) "
            "CONFIRMATION before [CALLING] {action:every}"
        ),
        ("[always | AGENT MUST] (ask | ask the user | ask first) before [CALLING] {action:every}"),
        "confirm [every | each] {action:names} (first | before CALLING it | before it runs)",
        (
            "before [CALLING] {action:every} [,] [always | AGENT MUST] (ask for | ask the "
            "user for | get | obtain) CONFIRMATION"
        ),
        "NEVER_CALL {action:every} without asking (the user | first | the user first)",
        "the user MUST confirm {action:every} [first]",
        "[AGENT MAY] only CALL {action:every} (after | with) CONFIRMATION",
        (
            "[AGENT MAY] only CALL {action:every} (after | if | once | when) the user has "
            "confirmed it"
        ),
        "AGENT REQUIRES CONFIRMATION (to CALL | before CALLING) {action:every}",
        "CONFIRMATION is required before [CALLING] {action:every}",
        (
            "[always | AGENT MUST] (get | obtain | require | ask for) CONFIRMED_BY "
            "{by:tools} [EACH_TIME] before [CALLING] {action:every}"
        ),
        "by {by:tools} [,] {action:every} MUST be confirmed",
        (
            "AGENT (asks | asks the user) for CONFIRMATION [every time | each time] before "
            "[CALLING] {action:every}"
        ),
        (
            "{action:every} MUST be confirmed [BY {by:tools}] (each time | every time | "
            "before (every | each) (run | call | use))"
        ),
    ),
    keeps=(
        "",
        "confirm_delete=yes delete",
        'confirm_delete={"status":"confirmed"} delete confirm_delete=true delete',
    ),
    breaks=(
        "delete",
        "confirm_delete delete",
        "confirm_delete=yes delete delete",
        "confirm_delete! delete",
        'confirm_delete={"success":false} delete',
        'confirm_delete="yes, but not now" delete',
        "confirm_delete=declined delete",
    ),
    example={"action": "delete"},
)
def must_confirm(
    action: Tools,
    by: Tools | None = CONFIRM_IT,
    same: tuple[Field, ...] | None = None,
    accept: Accept | None = None,
    counts: Counts = "done",
) -> Rule:
    """Each run of `action` needs a confirmation of its own: a yes of `by` since the last run.

    Where an inventory is declared and has no such tool, each run is held until a person has
    answered its ticket.

    Only what cannot be read otherwise is a yes: `true`; a text that says yes, approved, confirmed
    or ok, and nothing else; or an object with that in its `status`, `answer`, `confirmed` and the
    like, and with nothing in any other field but ids, times, names, amounts. All other answers do
    not confirm, and neither does a success without an answer. `accept` says what confirms instead.
    A plain word has to stand in the answer whole, in any case, and nothing in the same text may
    deny it, take it back or leave it open (`approved, then revoked`), nor may another field say no.
    A regular expression is searched for anywhere in the answer, whatever stands beside it. The
    strict form compares one field: `{path: status, equals: verified}`; for a tool that answers
    nothing, `{equals: null}`.
    `same`: both calls have equal values of these fields.
    """
    if by is None:
        return Rule(f.Always(~calls_of_any(action)), answer=Escalate())
    yes = granted_since_last(confirmed(by, accept, counts), action, by)
    return Rule(before(action, [by], yes), by=same or ())


@pattern(
    "safety",
    "tool `{tool}` requires permission `{permission}`",
    says=(
        (
            "(nobody | no one) (but | except) agents (with | holding | that have | that hold | "
            "who have | who hold) ([the] permission {permission:role} | the {permission:role} "
            "permission) MAY CALL {tool:union}"
        ),
        (
            "{tool:union} MAY only BE_CALLED by agents (with | that have | that hold | who "
            "have | who hold | holding) ([the] permission {permission:role} | the "
            "{permission:role} permission)"
        ),
        (
            "only agents (that | who) (hold | have) [the] permission {permission:role} MAY CALL"
            " {tool:union}"
        ),
        "only agents holding [the] permission {permission:role} MAY CALL {tool:union}",
        "{tool:union} (both | all) REQUIRES the {permission:role} permission",
        "{tool:union} (both | all) REQUIRES [the] permission {permission:role}",
        "{permission:role} permission is (required | needed) (for | to CALL) {tool:union}",
        "{tool:union} REQUIRES [the] permission {permission:role}",
        (
            "NEVER_CALL {tool:every} without ([the] permission {permission:role} | the "
            "{permission:role} permission)"
        ),
        (
            "AGENT MUST (hold | have) ([the] permission {permission:role} | the "
            "{permission:role} permission) (to CALL | (whenever | when | before) CALLING) "
            "{tool:union}"
        ),
        "{tool:union} MAY only BE_CALLED with [the] permission {permission:role}",
        "only agents with [the] permission {permission:role} MAY CALL {tool:union}",
        "{tool:union} REQUIRES the {permission:role} permission",
        "AGENT REQUIRES [the] permission {permission:role} to CALL {tool:union}",
        "agents without [the] permission {permission:role} MUST_NOT CALL {tool:every}",
        "AGENT REQUIRES the {permission:role} permission to CALL {tool:union}",
        "only callers with [the] permission {permission:role} MAY CALL {tool:union}",
        (
            "only agents (holding | with | that have | that hold | who have | who hold) the "
            "{permission:role} permission MAY CALL {tool:union}"
        ),
        (
            "(to | in order to) CALL {tool:union} [,] ([the] permission {permission:role} | "
            "the {permission:role} permission) is (required | needed)"
        ),
    ),
    keeps=("", "permit:manager transfer", "other"),
    breaks=("transfer", "permit:clerk transfer", "permit:manager permit:clerk transfer"),
    example={"tool": "transfer", "permission": "manager"},
)
def requires_permission(tool: Tools, permission: Name) -> Formula:
    """`permission` is held whenever `tool` is called."""
    return whenever(tool, f.Permitted(permission))


@pattern(
    "safety",
    "no data leak from `{source}` to `{sink}`",
    says=(
        "nothing MAY (leak | flow | go | pass) from {source:tools} to {sink:tools}",
        (
            "nothing [(read | returned | obtained)] (by | from) {source:tools} MAY ((go | flow |"
            " leak | be sent | be passed) to | be sent (with | by | through | via)) {sink:tools}"
        ),
        "no data [MAY (leak | flow | go | pass)] from {source:tools} to {sink:tools}",
        (
            "no (output | outputs | result | results | data) (of | from) {source:tools} MAY "
            "(leak | flow | go | pass | be sent | be passed) to {sink:tools}"
        ),
        (
            "(nothing | no value | no values) ([that] {source:tools} [has] returned | (returned"
            " by | from) {source:tools}) MAY ARISES in [the] [(arguments | input | call) of] "
            "{sink:tools} {match:by_values}"
        ),
        (
            "([the] values | [the] data | what | anything) ((returned by | from) "
            "{source:tools} | [that] {source:tools} [has] returned) MUST_NOT ARISES in [the] "
            "[(arguments | input | call) of] {sink:tools} {match:by_values}"
        ),
        "no data leak from {source:tools} to {sink:tools}",
        "[NEVER] leak no data from {source:tools} to {sink:tools}",
        "NEVER (leak | send | pass | forward) CONTENT {source:tools} to {sink:tools}",
        (
            "CONTENT {source:tools} MUST_NOT (reach | leak to | flow to | leak into | flow into"
            " | be (sent | passed | forwarded | given) to | be sent (with | by | through | via)"
            " | go to) {sink:tools}"
        ),
    ),
    keeps=("", "send", "send read", "read! send", "read other"),
    breaks=("read send", "read other send"),
    example={"source": "read", "sink": "send"},
)
def no_data_leak(
    source: Tools,
    sink: Tools,
    match: Literal["order", "values"] = "order",
    fields: tuple[AnswerField, ...] | None = None,
    min_length: Positive | None = None,
    counts: Counts = "done",
) -> Formula:
    """Once `source` has succeeded, `sink` is never called. An agent may be either: {agent: bob}.

    `match: values`: no argument of `sink` contains what an output of `source` delivered before, a
    failed one too, wherever it stands in a text, in any case, however a number is grouped. What
    identifies nothing does not count: `3`, `true`, `Bern`, a year, a date. What counts has a digit
    or is an address and has at least `min_length` characters (4), or is a name of several words, a
    passage of 5 words, or the value of a field such as `password`. With `fields`, the values of
    these fields of the output count instead, whatever they are. Encodings are not seen, but for
    `%40` and the like.
    """
    if match == "values":
        leak = f.Var(fresh_variable("leak", source, sink))
        told = calls_of_any(source) & f.OutputIs("", "carries", _counting(leak, fields, min_length))
        return whenever(narrowed(sink, f.Condition("*", "carries", leak)), ~earlier(told))
    if fields or min_length:
        raise ContractError.of(
            "`fields` and `min_length` are about values", "write match: values beside them"
        )
    return whenever(sink, ~earlier(worked(source, counts)))


def _counting(leak: f.Var, fields: tuple[str, ...] | None, least: int | None) -> f.Var:
    """Return the variable, with the description of the values that count."""
    if not fields:
        return f.Var(leak.name, None if least is None else f"{least} characters")
    if least is not None or "*" in fields or any("," in each for each in fields):
        raise ContractError.of(
            "all values of `fields` count, whatever they are", "leave out `min_length`, `*` and `,`"
        )
    return f.Var(leak.name, ", ".join(fields))


@pattern(
    "safety",
    "destructive action `{action}` requires confirmation",
    says=(
        (
            "[the] destructive action {action:tools} MUST be confirmed [first] [(by | through "
            "| via | with) {gate:tools}]"
        ),
        "[the] destructive action {action:tools} REQUIRES [a] confirmation BY {gate:tools}",
        "[the] destructive action {action:tools} REQUIRES [a] confirmation",
    ),
    keeps=("", "confirm_drop=yes drop"),
    breaks=("drop", "confirm_drop drop", "confirm_drop=yes drop drop", "confirm_drop=false drop"),
    example={"action": "drop"},
)
def destructive_action_gate(
    action: Tools,
    gate: Tools | None = CONFIRM_IT,
    role: Name | None = None,
    accept: Accept | None = None,
    counts: Counts = "done",
) -> Rule | Formula:
    """Each run of `action` needs a confirmation of its own through `gate`.

    What confirms, and `accept`, are as in `must_confirm`.

    With `role`, a standing approval of the action by that role is needed as well. Where an
    inventory is declared and has no such tool, each run is held until a person (of the `role`) has
    answered its ticket.
    """
    if gate is None:
        return Rule(f.Always(~calls_of_any(action)), answer=Escalate((role,) if role else ()))
    gated = before(
        action, [gate], granted_since_last(confirmed(gate, accept, counts), action, gate)
    )
    if role is None:
        return gated
    return gated & by_name(action, lambda name: f.Approved(name, role))


@pattern(
    "safety",
    "after `{trigger}`, the next step must be `{next_action}`",
    says=(
        (
            "[right | immediately | directly] after [CALLING] {trigger:every} [,] the very next"
            " (step | call | tool | tool call) MUST_BE {next_action:tools}"
        ),
        (
            "(right | immediately | directly) after [CALLING] {trigger:every} [,] the next "
            "(step | call | tool | tool call) MUST_BE {next_action:tools}"
        ),
        (
            "after [CALLING] [every | each] {trigger:tools} [,] the next (step | call | tool) "
            "MUST_BE {next_action:tools}"
        ),
        (
            "(right | immediately | directly) after [CALLING] {trigger:every} [,] CALL "
            "{next_action:tools}"
        ),
        (
            "(right | immediately | directly) after [CALLING] {trigger:every} [,] "
            "{next_action:tools} IS_CALLED"
        ),
        (
            "{trigger:every} MUST be (immediately followed | followed immediately | directly "
            "followed | followed directly) by {next_action:tools}"
        ),
        (
            "the (next call | call | next step | step) after {trigger:every} MUST_BE "
            "{next_action:tools}"
        ),
        (
            "[always | MUST | AGENT MUST] CALL {next_action:tools} (right | immediately | "
            "directly) after [CALLING] {trigger:every}"
        ),
        (
            "the very next (call | step | tool | tool call) after [CALLING] {trigger:every} "
            "MUST_BE {next_action:tools}"
        ),
        (
            "(when | whenever | if) {trigger:tools} (is called | was called | runs | "
            "happens) [,] the next (step | call | tool) MUST_BE {next_action:tools}"
        ),
    ),
    keeps=("", "other", "lock report", "lock report other"),
    breaks=("lock other", "lock", "lock lock report"),
    example={"trigger": "lock", "next_action": "report"},
)
def workflow_step(trigger: Event, next_action: Event) -> Formula:
    """Right after `trigger` comes `next_action`; any other call there is refused.

    Both are tools, atoms or formulas. A trigger over the context alone fires when it becomes true,
    and binds the first call after that; a fact that was never told is not true.
    """
    if not _is_context(trigger):
        return f.Always(trigger >> f.Next(next_action))
    keys = [node.key for node in f.postorder(trigger) if isinstance(node, f.Ctx)]
    told = f.conj(trigger, *(f.Custom("ctx_told", (key,)) for key in keys))
    return f.Always((told & f.WeakYesterday(~told)) >> next_action)


@atom("ctx_told", inputs=frozenset({"facts"}))
def ctx_told(_: Call, context: Context, key: str) -> bool:
    """True if the host has told this fact."""
    return key in context.facts


def _is_context(trigger: Formula) -> bool:
    """True if the formula speaks of facts alone, of no position."""
    leaves = [node for node in f.postorder(trigger) if not f.children(node)]
    facts = (f.Ctx, f.Permitted, f.Approved, f.Tokens)
    return any(isinstance(leaf, facts) for leaf in leaves) and all(
        isinstance(leaf, (*facts, f.Const, f.Constant)) for leaf in leaves
    )
