"""The rows of the manifest for lineage and world: statements, planted bugs.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; the bugs are in
`tests/planted/planted_world.py`.
"""

from __future__ import annotations

STATEMENTS: dict[str, str] = {
    "S-WORLD-01": "nothing is on the world",
    "S-WORLD-02": "snapshots leave the world out",
    "S-WORLD-03": "forks see what they have seen",
    "S-WORLD-04": "what runs again counts again",
    "S-WORLD-05": "an id is one call for ever",
    "S-WORLD-06": "what is refused counts in the world",
    "S-WORLD-07": "observers count nothing in the world",
    "S-WORLD-08": "stores that fail are passed over",
    "S-WORLD-09": "contracts are told by their names",
    "S-WORLD-10": "clocks run in transactions",
    "S-WORLD-11": "transactions begin late",
    "S-WORLD-12": "calls in flight fill the store",
}
