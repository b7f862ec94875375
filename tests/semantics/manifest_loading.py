"""The rows of the manifest for what loading refuses and warns of: statements, planted bugs.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; the bugs are in
`tests/planted/planted_loading.py`.
"""

from __future__ import annotations

STATEMENTS: dict[str, str] = {
    "S-VERDICT-11": "many in flight may be anything",
    "S-OP-20": "initially is for ever",
    "S-LOAD-08": "first positions are all there are",
    "S-LOAD-09": "seconds from the call before are meant",
    "S-LOAD-10": "every strong next is meant",
    "S-LOAD-11": "nobody is warned",
    "S-LOAD-12": "every order can be kept",
    "S-LOAD-13": "no pen slips",
    "S-LOAD-18": "every two contracts get on",
    "S-LOAD-17": "kinds are not compared",
    "S-LOAD-16": "what is asked for waits for itself",
    "S-LOAD-15": "any number of atoms loads",
    "S-LOAD-14": "every dot is meant",
    "S-FILE-16": "a test of nothing passes",
    "S-FILE-15": "what is said to keep may break",
    "S-FILE-14": "a text imports",
    "S-FILE-13": "tests observe",
    "S-FILE-12": "an override may match nothing",
    "S-FILE-11": "any variable is read",
    "S-FILE-10": "included tools are unknown",
    "S-FILE-09": "one tool is read",
    "S-FILE-08": "words hide meaning",
}
