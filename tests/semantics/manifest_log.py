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
    "S-LOG-13": "rotated logs are followed no more",
    "S-LOG-14": "what is left is judged",
    "S-LOG-15": "the deciding thread counts",
    "S-LOG-16": "refused calls are passed over",
    "S-LOG-17": "what waited goes with the fork",
    "S-TELL-14": "tickets are left out",
    "S-TELL-15": "names are mark-up",
    "S-RELOAD-01": "contracts that are loaded again are forgotten",
    "S-RELOAD-02": "contracts are loaded again whatever tools there are",
    "S-RELOAD-03": "nobody is told that contracts stay",
    "S-SHARE-01": "shares are drawn for each contract file",
}
