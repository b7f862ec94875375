"""Approval and audit: approvals before an action, and records after it.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from sponsio_like.contracts import (
    Counts,
    Duration,
    Field,
    Name,
    Positive,
    Rule,
    Tools,
    before,
    by_name,
    check_settles,
    granted_since_last,
    pattern,
    worked,
)
from sponsio_like.logic.formula import (
    Always,
    ApprovalAge,
    Approved,
    Eventually,
    Formula,
    Next,
    Once,
    Steps,
    Yesterday,
)


@pattern(
    "approval",
    "`{action}` requires active approval from `{role}`",
    says=(
        (
            "{action:union} REQUIRES [an | a] [active | standing | valid | current] approval "
            "(from | by | of) {role:role} [that is] (no older than | not older than | at most) "
            "{seconds:seconds} [old]"
        ),
        (
            "{action:union} REQUIRES [a | the] {role:role} APOS approval [[that is] (no older "
            "than | not older than | at most) {seconds:seconds} [old]]"
        ),
        (
            "{action:union} REQUIRES [an | a] [active | standing | valid | current] approval "
            "(from | by | of) {role:role} [not older than {seconds:seconds}]"
        ),
        "{action:union} MUST be approved by {role:role}",
        (
            "NEVER_CALL {action:every} without [an | a] [active] approval (from | by | of) "
            "{role:role}"
        ),
        "{action:union} REQUIRES {role:office} approval",
        "require [a | the] {role:office} approval for {action:union}",
        "require [an | a | the] approval (from | by | of) {role:role} for {action:union}",
        "{role:role} MUST approve {action:union}",
        "NEVER_CALL {action:every} unless {role:role} has approved it",
        (
            "{action:union} (MAY only BE_CALLED | ONLY_ALLOWED) (while | if | when) (there is "
            "| there's) [an | a] [active | standing | valid | current] approval (from | by | "
            "of) {role:role} [AGED {seconds:seconds} [old]]"
        ),
        (
            "[always] (get | obtain | ask for) [an | a | the] approval (from | by | of) "
            "{role:role} before [CALLING] {action:every}"
        ),
        (
            "NEVER_CALL {action:every} (without | while there is no) [an | a] [active | "
            "standing] approval [of it] (from | by | of) {role:role} [AGED {seconds:seconds} "
            "[old]]"
        ),
        (
            "NEVER_CALL {action:every} unless {role:role} has approved it and (that | the) "
            "approval still stands"
        ),
        (
            "for {action:every} there MUST be [an] [active | standing] approval (from | by | "
            "of) {role:role} [[,] AGED {seconds:seconds} [old]]"
        ),
    ),
    keeps=("", "approve:refund/manager refund", "approve:refund/manager refund refund", "other"),
    breaks=("refund", "approve:refund/clerk refund", "approve:pay/manager refund"),
    example={"action": "refund", "role": "manager"},
)
def approval_active(action: Tools, role: Name, seconds: Duration | None = None) -> Formula:
    """A standing approval of `action` by `role` exists at the call, neither refused nor revoked.

    Who has approved can refuse or revoke; a no that names nobody ends the approvals of all. With
    `seconds`, it is at most so old; a renewed one is as old as its renewal, and one that is given
    in the future (by another clock) is not fresh.
    """

    def stands(name: str) -> Formula:
        given = Approved(name, role)
        return given if seconds is None else given & (ApprovalAge(name, role) <= seconds)

    return by_name(action, stands)


@pattern(
    "approval",
    "`{approval}` valid for {max_steps} steps before `{action}`",
    says=(
        (
            "{action:every} REQUIRES [a | an] [successful] {approval:names} among the [last] "
            "{max_steps:number} (steps | calls) before it"
        ),
        "{approval:tools} [is] valid for {max_steps:steps} before {action:every}",
        (
            "one of the [last] {max_steps:number} (calls | steps) before [CALLING] "
            "{action:every} MUST be (a successful {approval:names} | [a | an] "
            "{approval:names} THAT [has] succeeded)"
        ),
        (
            "{action:every} REQUIRES [a | an] [successful] {approval:names} within the "
            "{max_steps:number} (steps | calls) before it"
        ),
    ),
    keeps=("", "approve merge", "approve other merge", "approve merge merge"),
    breaks=("merge", "approve other other merge", "approve! merge", "approve? merge"),
    example={"approval": "approve", "action": "merge", "max_steps": 2},
)
def approval_freshness(
    approval: Tools, action: Tools, max_steps: Positive, counts: Counts = "done"
) -> Formula:
    """One of the `max_steps` calls before `action` is an `approval` that succeeded.

    One approval serves many calls. It is an order, and no gate: whatever the approval answers, its
    success counts; `must_confirm` reads the answer.
    """
    recent = Yesterday(Once(worked(approval, counts), Steps(max_steps - 1)))
    return before(action, [approval], recent)


@pattern(
    "approval",
    "every `{action}` must log `{audit}`",
    says=(
        (
            "{action:every} MUST be (recorded | logged | written down | documented) (with | by "
            "| in | to | through | via | using) {audit:tools}"
        ),
        (
            "{action:every} MUST (log | be logged by | be logged with | be logged to | be "
            "logged in | be recorded by) {audit:tools} [afterwards]"
        ),
        "[always] log {audit:tools} after [CALLING] {action:every}",
        "after [CALLING] {action:every} [,] {audit:tools} MUST be logged",
        "log {action:every} (with | in | to) {audit:tools}",
    ),
    keeps=("", "delete log", "delete delete log", "delete!"),
    breaks=("delete", "delete log!", "log delete"),
    example={"action": "delete", "audit": "log"},
)
def audit_after(action: Tools, audit: Tools, counts: Counts = "done") -> Formula:
    """Every `action` that succeeded is followed by an `audit` that succeeds."""
    check_settles(audit, action)
    return Always(worked(action, counts) >> Next(Eventually(worked(audit, counts))))


@pattern(
    "approval",
    "backup `{backup}` must precede `{action}`",
    says=(
        (
            "before [CALLING] {action:every} [,] there MUST be (a | its own) [new | fresh] "
            "backup (by | with | through) {backup:tools}"
        ),
        "(take | make) a (new | fresh) {backup:names} before [CALLING] {action:every}",
        (
            "[a] backup [by | with | through] {backup:tools} MUST (precede | come before) "
            "{action:every}"
        ),
        "{action:every} REQUIRES a backup (by | with | through) {backup:tools} [FIRSTLY]",
        (
            "[always] (take | make) a backup (by | with | through) {backup:tools} before "
            "[CALLING] {action:every}"
        ),
        "back up with {backup:tools} before [CALLING] {action:every}",
        (
            "{action:every} (REQUIRES (its own | a fresh | a new) [successful] "
            "{backup:names} FIRSTLY | MUST be preceded by (its own | a fresh | a new) "
            "[successful] {backup:names})"
        ),
    ),
    keeps=("", "snapshot drop", "snapshot other drop snapshot drop", "snapshot snapshot drop"),
    breaks=("drop", "snapshot drop drop", "snapshot! drop", "snapshot? drop"),
    example={"backup": "snapshot", "action": "drop"},
)
def backup_before_destructive(backup: Tools, action: Tools, counts: Counts = "done") -> Formula:
    """Before each `action`, a `backup` has succeeded since the one before.

    It is an order, and no gate: whatever the backup answers, its success counts; `must_confirm`
    with `accept` reads the answer.
    """
    return before(action, [backup], granted_since_last(worked(backup, counts), action, backup))


@pattern(
    "approval",
    "dry run `{dry_run}` must precede `{commit}`",
    says=(
        (
            "[a] dry run [by | with | through | of] {dry_run:tools} MUST (precede | come "
            "before) {commit:every} WITH_SAME {same:pairs}"
        ),
        (
            "{commit:every} REQUIRES [its own | a | an own] {dry_run:names} dry run [WITH_SAME "
            "{same:pairs}] [FIRSTLY]"
        ),
        (
            "[a] dry run [by | with | through | of] {dry_run:tools} MUST (precede | come "
            "before) {commit:every}"
        ),
        ("{commit:every} REQUIRES a dry run (by | with | through | of) {dry_run:tools} [FIRSTLY]"),
        (
            "[always] (do | make) a dry run (by | with | through | of) {dry_run:tools} "
            "before [CALLING] {commit:every}"
        ),
        (
            "a dry run (by | with | through | of) {dry_run:tools} MUST HAVE_OK [anew | again "
            "| EACH_TIME] before {commit:every}"
        ),
        ("{commit:every} MUST be preceded by a dry run (by | with | through | of) {dry_run:tools}"),
        (
            "{commit:every} (REQUIRES its own [successful] {dry_run:names} WITH_SAME "
            "{same:pairs} FIRSTLY | MUST be preceded by its own [successful] {dry_run:names} "
            "WITH_SAME {same:pairs})"
        ),
    ),
    keeps=("", "plan apply", "plan plan apply plan apply"),
    breaks=("apply", "plan apply apply", "plan! apply", "plan apply! apply"),
    example={"dry_run": "plan", "commit": "apply"},
)
def dry_run_before_commit(
    dry_run: Tools,
    commit: Tools,
    same: tuple[Field, ...] | None = None,
    counts: Counts = "done",
) -> Rule:
    """Before each `commit`, a `dry_run` has succeeded since the one before, whatever became of it.

    `same`: both have equal values of these fields. It is an order, and no gate: whatever the dry
    run answers, its success counts; `must_confirm` with `accept` reads the answer.
    """
    known = granted_since_last(worked(dry_run, counts), commit, dry_run)
    return Rule(before(commit, [dry_run], known), by=same or ())
