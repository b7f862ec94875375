"""Translates the workload's contracts to our YAML: the same meaning, contract by contract.

In: rows of `workload.py`. Out: the text of a contract file. `python -m campaigns.bench.translated`
prints policy.yaml.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from campaigns.bench.workload import POLICY, Row

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "must_precede": ("first", "then"),
    "rate_limit": ("action", "limit"),
    "bounded_retry": ("action", "retries"),
    "idempotent": ("action",),
    "arg_blacklist": ("tool", "field", "patterns"),
    "arg_allowlist": ("tool", "field", "patterns"),
    "arg_length_limit": ("tool", "field", "max_chars"),
    "arg_value_range": ("tool", "field", "min", "max"),
    "cooldown": ("action", "steps"),
    "no_reversal": ("commitment", "reversal"),
    "mutual_exclusion": ("first", "second"),
    "loop_detection": ("action", "limit"),
    "always_followed_by": ("trigger", "response"),
    "approval_freshness": ("approval", "action", "max_steps"),
    "sanitized_before_sink": ("source", "sanitizer", "sink"),
    "tool_allowlist": ("tools",),
}
"""What our patterns call the arguments, in the order of the rows."""


def written(rows: Sequence[Row]) -> str:
    """Return the contract file. A contract about tools outside of an allowlist only warns."""
    lines = ["version: 1", "contracts:"]
    for number, row in enumerate(rows):
        said: dict[str, Any] = {"name": f"c{number} {row[0]}", "guarantee": guarantee(*row)}
        if row[0] == "tool_allowlist":
            said["strategy"] = "warn_only"
        lines.append(f"  - {json.dumps(said)}")
    return "\n".join(lines) + "\n"


def guarantee(name: str, *given: Any) -> dict[str, Any]:
    """Return one row as a pattern with named arguments."""
    match name, given:
        case "duplicate_call_limit", (tool, _, limit):  # by field: `q` is what the tool is asked
            return {"pattern": name, "tool": tool, "fields": ["q"], "limit": limit}
        case "at_most_n_times", (tool, limit):
            return {"pattern": "rate_limit", "action": tool, "limit": limit}
        case "scope_limit", (tool, folders):
            return {"pattern": name, "tool": tool, "fields": ["path"], "paths": folders}
        case "rate_limit", (tool, limit, seconds):
            window = {"seconds": seconds}
            return {"pattern": name, "action": tool, "limit": limit, "per": window}
        case "never_after", (tool, commitment):
            return {"pattern": "no_reversal", "commitment": commitment, "reversal": tool}
        case "cannot_follow_without", (action, first):
            return {"pattern": "must_precede", "first": first, "then": action}
        case "mutually_exclusive", (first, second):
            return {"pattern": "mutual_exclusion", "first": first, "second": second}
        case "at_most_total", (tool, field, total):
            return {"pattern": "amount_limit", "tool": tool, "field": field, "total": total}
    pairs = zip(ARGUMENTS[name], given, strict=True)
    return {"pattern": name, **{key: value for key, value in pairs if value is not None}}


if __name__ == "__main__":
    sys.stdout.write(written(POLICY))
