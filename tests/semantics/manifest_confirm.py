"""The rows of the manifest for confirmations, orders, and what is said about contracts.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; the bugs are in
`tests/planted/planted_confirm.py`.
"""

from __future__ import annotations

STATEMENTS: dict[str, str] = {
    "S-CONFIRM-01": "a yes may stand anywhere in a text",
    "S-CONFIRM-02": "other fields of an answer are not looked at",
    "S-CONFIRM-03": "no answer is a yes",
    "S-CONFIRM-04": "comparisons accept everything",
    "S-CONFIRM-05": "what is a yes is not told",
    "S-CONFIRM-06": "an order does not look at what it accepts",
    "S-CONFIRM-07": "seconds count from the call before",
    "S-CONFIRM-08": "a call may come before itself",
    "S-CONFIRM-09": "a receipt is a yes",
    "S-CONFIRM-10": "tests that were skipped count where none has passed",
    "S-ABOUT-01": "why is what",
    "S-ABOUT-02": "nobody is told why",
    "S-ABOUT-03": "callables change the arguments",
    "S-ABOUT-04": "arguments show",
    "S-ABOUT-05": "all arguments are shared",
    "S-ABOUT-06": "what is owed says nothing of itself",
    "S-ABOUT-07": "advice is always in English",
}
