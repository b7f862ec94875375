"""The rows of the manifest for refused calls, runs that end, explanations, and their bugs.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; the bugs are in
`tests/planted/planted_denied.py`.
"""

from __future__ import annotations

PATTERNS: dict[str, str] = {"C-denial_limit": "one refusal more"}
"""The pattern that counts refusals."""

STATEMENTS: dict[str, str] = {
    "S-DENIED-01": "a no of a person is no refusal",
    "S-DENIED-02": "nothing is refused",
    "S-DENIED-03": "all calls are the same call",
    "S-DENIED-04": "what cannot be compared is not refused",
    "S-DENIED-05": "recorded refusals happen",
    "S-DENIED-06": "refusals beyond the cap are forgotten",
    "S-DENIED-07": "refusals of other threads are not seen",
    "S-DENIED-08": "snapshots forget refusals",
    "S-DENIED-09": "what is closed is not final",
    "S-STOP-01": "a stop is a block",
    "S-STOP-02": "the run goes on",
    "S-STOP-03": "snapshots forget the end",
    "S-STOP-04": "what is observed ends the run",
    "S-STOP-05": "the end is returned",
    "S-STOP-06": "the model is asked again",
    "S-STOP-07": "tools are possible after the end",
    "S-EXPLAIN-01": "what has no reason is not told",
    "S-EXPLAIN-02": "who asks is not to blame",
    "S-EXPLAIN-03": "values are not told apart in explanations",
    "S-EXPLAIN-04": "nothing says what could not be read",
    "S-EXPLAIN-05": "no time runs out in explanations",
    "S-EXPLAIN-06": "messages are taken for calls",
    "S-DENIED-10": "recorded refusals happen",
}
"""The statements about refused calls, and about the strategy `stop`."""
