"""The patterns, one file for each family.

To add one, write its function in such a file and its name here.
"""

from __future__ import annotations

from sponsio_like.patterns.agentic import (
    confirm_after_source,
    irreversible_once,
    sanitized_before_sink,
    untrusted_source_gate,
)
from sponsio_like.patterns.approval import (
    approval_active,
    approval_freshness,
    audit_after,
    backup_before_destructive,
    dry_run_before_commit,
)
from sponsio_like.patterns.arguments import (
    amount_limit,
    arg_allowlist,
    arg_blacklist,
    arg_length_limit,
    arg_value_range,
    data_intact,
)
from sponsio_like.patterns.compliance import (
    always_followed_by,
    no_reversal,
    required_steps_completion,
    segregation_of_duty,
)
from sponsio_like.patterns.exclusion import (
    mutual_exclusion,
    redirect_to_safe,
    tool_allowlist,
)
from sponsio_like.patterns.identity import (
    ctx_matches_required,
    ctx_required,
    duplicate_call_limit,
    time_since,
)
from sponsio_like.patterns.operational import (
    bounded_retry,
    cooldown,
    deadline,
    denial_limit,
    idempotent,
    loop_detection,
    rate_limit,
)
from sponsio_like.patterns.output import (
    max_length,
    no_keywords,
    no_pii,
)
from sponsio_like.patterns.resource import (
    delegation_depth_limit,
    token_budget,
)
from sponsio_like.patterns.safety import (
    destructive_action_gate,
    must_confirm,
    must_precede,
    no_data_leak,
    requires_permission,
    workflow_step,
)
from sponsio_like.patterns.texts import (
    dangerous_bash_commands,
    dangerous_sql_verbs,
    date_within,
    host_allowlist,
    no_other_call,
    scope_limit,
)
from sponsio_like.patterns.values import (
    absent,
    bounded_response,
    message_says,
    precedence,
    repeated_failure,
    resolved,
    response,
    until,
    value_from,
)

# fmt: off
__all__ = [
    "absent", "always_followed_by", "amount_limit", "approval_active", "approval_freshness",
    "arg_allowlist", "arg_blacklist", "arg_length_limit", "arg_value_range", "audit_after",
    "backup_before_destructive", "bounded_response", "bounded_retry", "confirm_after_source",
    "cooldown", "ctx_matches_required", "ctx_required", "dangerous_bash_commands",
    "dangerous_sql_verbs", "data_intact", "date_within", "deadline", "delegation_depth_limit",
    "denial_limit", "destructive_action_gate", "dry_run_before_commit", "duplicate_call_limit",
    "host_allowlist", "idempotent", "irreversible_once", "loop_detection", "max_length",
    "message_says", "must_confirm", "must_precede", "mutual_exclusion", "no_data_leak",
    "no_keywords", "no_other_call", "no_pii", "no_reversal", "precedence", "rate_limit",
    "redirect_to_safe", "repeated_failure", "required_steps_completion", "requires_permission",
    "resolved", "response", "sanitized_before_sink", "scope_limit", "segregation_of_duty",
    "time_since", "token_budget", "tool_allowlist", "until", "untrusted_source_gate", "value_from",
    "workflow_step",
]
# fmt: on
