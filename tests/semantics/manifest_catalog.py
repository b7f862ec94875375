"""The rows of the manifest for the rest of the catalog: each pattern, and its planted bug.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; the bugs are in
`tests/planted/planted_catalog.py`.
"""

from __future__ import annotations

PATTERNS: dict[str, str] = {
    "C-amount_limit": "amounts may be negative",
    "C-data_intact": "what has failed is the reference",
    "C-untrusted_source_gate": "any answer opens the gate",
    "C-confirm_after_source": "any answer confirms what came in",
    "C-sanitized_before_sink": "sanitizers may fail",
    "C-irreversible_once": "what failed has done nothing",
    "C-token_budget": "the budget may be met",
    "C-delegation_depth_limit": "one level deeper",
    "C-approval_active": "the other role approves",
    "C-approval_freshness": "approvals stay fresh for one step more",
    "C-audit_after": "audits come first",
    "C-backup_before_destructive": "one backup serves for ever",
    "C-dry_run_before_commit": "dry runs may fail",
    "C-ctx_required": "the fact must be another",
    "C-ctx_matches_required": "any text matches",
    "C-duplicate_call_limit": "duplicates are one too many",
    "C-time_since": "time may run out",
    "C-no_keywords": "words are parts of words",
    "C-no_pii": "only mail is personal",
    "C-max_length": "one word more",
}
"""The patterns of the catalog that are not in `tests/semantics/manifest_rows.py`."""
