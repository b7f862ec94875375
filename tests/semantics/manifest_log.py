"""The rows of the manifest for the log and the way to enforcement: statements, planted bugs.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; the bugs are in
`tests/planted/planted_log.py`.
"""

from __future__ import annotations

STATEMENTS: dict[str, str] = {
    "S-LOG-09": "every sink is quick",
    "S-LOG-10": "lines that are no JSON are passed over",
    "S-LOG-11": "names of tools are evidence",
    "S-LOG-12": "every chain has an end",
}
