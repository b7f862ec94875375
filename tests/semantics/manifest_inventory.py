"""The rows of the manifest for inventories: statements, planted bugs.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; its bugs:
`tests/planted/planted_inventory.py`.
"""

from __future__ import annotations

STATEMENTS: dict[str, str] = {
    "S-INV-01": "every tool is listed",
    "S-INV-02": "any argument will do",
    "S-INV-03": "true is an integer",
    "S-INV-04": "what is not declared is never allowed",
    "S-INV-05": "the inventory always enforces",
    "S-INV-06": "substitutes need not be listed",
    "S-INV-07": "tools of other agents can be called",
    "S-INV-08": "adapters are not met",
    "S-INV-09": "names are never checked",
    "S-INV-10": "defaults are always there",
    "S-INV-11": "nothing is left unchecked",
    "S-INV-12": "numbers have fields",
    "S-INV-13": "what is declared of tools is never compared",
    "S-INV-14": "whatever no run gives is refused",
}
