"""The patterns: a file for each family. To add one, write its function there and its name here."""

from __future__ import annotations

from sponsio_like.patterns.arguments import (
    arg_allowlist,
    arg_blacklist,
    arg_length_limit,
    arg_value_range,
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
from sponsio_like.patterns.operational import (
    bounded_retry,
    cooldown,
    deadline,
    idempotent,
    loop_detection,
    rate_limit,
)
from sponsio_like.patterns.safety import (
    destructive_action_gate,
    must_confirm,
    must_precede,
    no_data_leak,
    requires_permission,
    workflow_step,
)

__all__ = [
    "always_followed_by",
    "arg_allowlist",
    "arg_blacklist",
    "arg_length_limit",
    "arg_value_range",
    "bounded_retry",
    "cooldown",
    "deadline",
    "destructive_action_gate",
    "idempotent",
    "loop_detection",
    "must_confirm",
    "must_precede",
    "mutual_exclusion",
    "no_data_leak",
    "no_reversal",
    "rate_limit",
    "redirect_to_safe",
    "required_steps_completion",
    "requires_permission",
    "segregation_of_duty",
    "tool_allowlist",
    "workflow_step",
]
