"""The rows of the manifest for the patterns of values: each, and its planted bug.

In: nothing. Out: data, as in `tests/manifest_rows.py`; the bugs are in `tests/planted_values.py`.
"""

from __future__ import annotations

PATTERNS: dict[str, str] = {
    "C-absent": "what must not be has to be",
    "C-precedence": "what is required comes two events before",
    "C-response": "answers come at once",
    "C-bounded_response": "answers may take one event more",
    "C-resolved": "what is resolved comes again",
    "C-until": "releases are forgotten",
    "C-value_from": "only whole answers are sources",
    "C-message_says": "any message will do",
    "C-repeated_failure": "one failure more",
}
"""The patterns of the family `values`."""
