"""Bugs against the patterns of values.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted_meaning.py`).
"""

from __future__ import annotations

VALUES = "patterns/values.py"

MEANING = (
    ("what must not be has to be", VALUES, "f.Always(~match)", "f.Always(match)"),
    (
        "what is required comes two events before",
        VALUES,
        "match >> earlier(requires)",
        "match >> earlier(f.Yesterday(requires))",
    ),
    ("answers come at once", VALUES, "f.Next(f.Eventually(by))", "f.Next(by)"),
    ("answers may take one event more", VALUES, "f.Steps(within - 1)", "f.Steps(within)"),
    (
        "what is resolved comes again",
        VALUES,
        "f.Eventually(by | match)",
        "f.Eventually(match)",
    ),
    ("releases are forgotten", VALUES, "f.Since(~release, trigger)", "f.Once(trigger)"),
    (
        "only whole answers are sources",
        VALUES,
        'f.OutputIs("", "has", value)',
        'f.OutputIs("", "=", value)',
    ),
    ("any message will do", VALUES, "f.Yesterday(said)", "f.Yesterday(f.Once(said))"),
    ("one failure more", VALUES, "failures < limit", "failures <= limit"),
)
