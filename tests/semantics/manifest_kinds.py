"""The rows of the manifest for kinds of text: statements, planted bugs.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; the bugs are in
`tests/planted/planted_kinds.py`.
"""

from __future__ import annotations

PATTERNS: dict[str, str] = {
    "C-scope_limit": "folders are prefixes",
    "C-host_allowlist": "hosts are suffixes",
    "C-dangerous_sql_verbs": "the first statement is all there is",
    "C-date_within": "days are moments",
    "C-dangerous_bash_commands": "only disks are destroyed",
    "C-no_other_call": "any call is such a call",
}
STATEMENTS: dict[str, str] = {
    "S-KIND-01": "a fact is one value",
    "S-KIND-02": "what is unknown is left out",
    "S-KIND-03": "a list is no command",
    "S-KIND-04": "any fact exists",
    "S-KIND-05": "escapes stay escapes",
    "S-KIND-06": "only means some",
    "S-KIND-07": "what is seen is not what is read",
    "S-KIND-08": "three digits are places",
    "S-KIND-09": "any two kinds agree",
    "S-KIND-10": "any redirection takes the output away",
    "S-KIND-11": "money is compared as a number",
}
