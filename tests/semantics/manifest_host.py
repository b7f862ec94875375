"""The rows of the manifest for the host: its log, sessions and traces. Statements, planted bugs.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; the bugs are in
`tests/planted/planted_host.py`.
"""

from __future__ import annotations

STATEMENTS: dict[str, str] = {
    "S-LOG-03": "loggers are told no fields",
    "S-LOG-04": "all records are as loud",
    "S-LOG-05": "anything is a log",
    "S-REPLAY-08": "other formats are read as empty calls",
    "S-REPLAY-09": "lines of other formats look like nothing",
    "S-REPLAY-10": "what cannot be judged is no failure",
    "S-REPLAY-11": "prerequisites apply",
    "S-REPLAY-12": "a file without traces is fine",
    "S-REPLAY-14": "any role answers a held call",
    "S-REPLAY-13": "fields beside empty arguments are overlooked",
    "S-LOG-06": "the log names no contracts",
    "S-LOG-07": "an empty log is fine",
    "S-LOG-08": "what was approved was stopped",
    "S-HOST-01": "an id has two budgets",
    "S-HOST-02": "nobody goes back",
    "S-HOST-03": "sessions that nobody holds are gone",
    "S-HOST-04": "any text is on",
    "S-TELL-13": "anything is a notifier",
    "S-TOOL-24": "contracts read artifacts",
}
"""The statements of docs/semantics.md about what a host gives, and what it is told."""
