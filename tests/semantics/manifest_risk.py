"""The rows of the manifest for risk: statements, planted bugs.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; the bugs are in
`tests/planted/planted_risk.py`.
"""

from __future__ import annotations

STATEMENTS: dict[str, str] = {
    "S-RISK-01": "the lower bound lets through",
    "S-RISK-02": "what no run has done is let through",
    "S-RISK-03": "a failed call is one that succeeded",
    "S-RISK-04": "every visit counts, and not the first of a run alone",
    "S-RISK-05": "a stopped run ends well",
    "S-RISK-06": "bounds of a one-sided interval are taken for two-sided ones",
    "S-RISK-07": "few runs are enough",
    "S-RISK-08": "an edited model is read",
    "S-RISK-09": "a model of other contracts is used",
    "S-RISK-10": "the model is told without end",
    "S-RISK-11": "a snapshot without risk is at the beginning",
    "S-RISK-12": "a shard is counted twice",
}
