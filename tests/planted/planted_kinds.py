"""Bugs against kinds of text.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`). The requirements that they break are in
`tests/semantics/manifest_kinds.py`.
"""

from __future__ import annotations

MEANING = (
    (
        "the first statement is all there is",
        "kinds/sql.py",
        "    for node in nodes:\n        if node is not None",
        "    for node in nodes[:1]:\n        if node is not None",
    ),
    (
        "only disks are destroyed",
        "patterns/texts.py",
        '"matches", ".")',
        '"matches", "disk")',
    ),
    (
        "folders are prefixes",
        "values/paths.py",
        'place.startswith(folder.rstrip("/") + "/")',
        "place.startswith(folder)",
    ),
    (
        "hosts are suffixes",
        "events/text_atoms.py",
        "return host in exact or ",
        "return host.endswith(tuple(exact)) or host.startswith(tuple(exact)) or ",
    ),
    (
        "any call is such a call",
        "patterns/texts.py",
        "return whenever(bare, calls_of_any(call))",
        "return whenever(bare, calls_of_any(bare))",
    ),
    (
        "a fact is one value",
        "values/places.py",
        "return Many(values, each=True)",
        "return Many(values[:1], each=True)",
    ),
    (
        "what is unknown is left out",
        "values/text_kinds.py",
        "return (UNREADABLE,) if facts is None else facts.get(fact, (UNREADABLE,))",
        "return () if facts is None else tuple(x for x in facts[fact] if x is not UNREADABLE)",
    ),
    (
        "a list is no command",
        "values/text_kinds.py",
        "return self.of_words(tuple(value))",
        "return self.read(value[0])",
    ),
    (
        "any fact exists",
        "contracts/typed_fields.py",
        "if not fact or fact[0] not in kind.names:",
        "if not fact:",
    ),
    (
        "escapes stay escapes",
        "values/paths.py",
        "for _ in range(DECODINGS):",
        "for _ in range(0):",
    ),
    (
        "only means some",
        "contracts/typed_fields.py",
        '{"every": among} if many else among',
        "among",
    ),
)
