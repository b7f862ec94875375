"""The rows of the manifest for the patterns of values: each, and its planted bug.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; the bugs are in
`tests/planted/planted_values.py`.
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

STATEMENTS: dict[str, str] = {
    "S-KEY-06": "a null makes another call",
    "S-CMP-13": "what is optional is required",
    "S-KEY-07": "another tool is a duplicate",
    "S-VALUE-01": "values that are not bound stand still",
    "S-VALUE-02": "the value is not named",
    "S-VALUE-03": "text is not compared as text",
    "S-VALUE-04": "a call without the field matches",
    "S-VALUE-05": "one element is enough",
    "S-VALUE-06": "outputs bind nothing",
    "S-VALUE-07": "parts of words are words",
    "S-VALUE-08": "unequal values are equal",
    "S-VALUE-09": "prohibitions are forgotten",
    "S-VALUE-10": "blindness is told every time",
    "S-VALUE-11": "values are kept for ever",
    "S-VALUE-12": "values that never occur may violate",
    "S-VALUE-13": "what changed is not remembered",
    "S-VALUE-14": "answers are tied to no call",
    "S-VALUE-15": "nothing is required of calls that precedence matches",
    "S-VALUE-16": "any of several values vouches",
    "S-VALUE-17": "only answers that are texts are searched",
    "S-VALUE-18": "digits are ordered as text",
    "S-VALUE-19": "what a regular expression leaves is let alone",
    "S-VALUE-20": "codes are nothing without their blanks",
    "S-LEAK-01": "percent signs hide a value",
    "S-LEAK-02": "numbers are what their groups are",
    "S-LEAK-03": "every number identifies",
    "S-LEAK-04": "fields that are asked for are not looked at",
    "S-LEAK-05": "a passage is longer than it is",
    "S-LEAK-06": "advice says what leaks",
    "S-LEAK-07": "names of fields deliver nothing",
}
"""The statements about value variables, and about leaks."""
