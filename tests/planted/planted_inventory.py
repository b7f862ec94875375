"""Bugs against what inventories mean.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`). The requirements that they break are in
`tests/semantics/manifest_inventory.py`.
"""

from __future__ import annotations

MEANING = (
    (
        "every tool is listed",
        "contracts/inventory.py",
        'return self.tools is None or self.unlisted == "allow" or tool in self.tools',
        "return True",
    ),
    (
        "any argument will do",
        "contracts/inventory.py",
        "if name not in self.roots and value is not None:",
        "if name not in args:",
    ),
    (
        "true is an integer",
        "contracts/inventory.py",
        "return isinstance(value, int) and not isinstance(value, bool)",
        "return isinstance(value, int)",
    ),
    (
        "what is not declared is never allowed",
        "contracts/inventory.py",
        'closed = self.unlisted == "refuse"',
        "closed = True",
    ),
    (
        "the inventory always enforces",
        "engine/findings.py",
        'return policy.mode if policy.enforces else "observe"',
        'return "enforce"',
    ),
    (
        "substitutes need not be listed",
        "checks/guarantees.py",
        "if isinstance(answer, Redirect) and not known.has(answer.tool):",
        "if known is None:",
    ),
    (
        "tools of other agents can be called",
        "contracts/inventory.py",
        "or tool in self.tools\n",
        "or tool in (self.names or ())\n",
    ),
    (
        "adapters are not met",
        "adapters/langchain/middleware.py",
        "    checked_by(guard, known)\n",
        "    checked_by(guard, Tools([]))\n",
    ),
    (
        "what is declared of tools is never compared",
        "checks/names.py",
        "if fields is None or arguments is None:",
        "if arguments is not None:",
    ),
    (
        "names are never checked",
        "checks/names.py",
        "if known_tools.complete or not known_tools.tools:",
        "if not known_tools.complete or not known_tools.tools:",
    ),
    ("defaults are always there", "checks/names.py", "words, met=True,", "words,"),
    (
        "whatever no run gives is refused",
        "cli/draft/tool_files.py",
        "None if told.fields(each) is None else fields",
        "fields",
    ),
    (
        "nothing is left unchecked",
        "cli/draft/tool_files.py",
        "if lacking else []",
        "if not known else []",
    ),
    (
        "numbers have fields",
        "contracts/targets.py",
        "if rest and kind in _A and not _is_read(kind, rest[0]):",
        'if rest and kind == "boolean":',
    ),
)
