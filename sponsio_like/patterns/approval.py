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
from sponsio_like.patterns.phrasings import PHRASINGS


@pattern(
    "approval",
    "`{action}` requires active approval from `{role}`",
    says=PHRASINGS["approval_active"],
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
    says=PHRASINGS["approval_freshness"],
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
    says=PHRASINGS["audit_after"],
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
    says=PHRASINGS["backup_before_destructive"],
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
    says=PHRASINGS["dry_run_before_commit"],
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
