"""The rows of the manifest for adapters: traps, and their planted bugs.

In: nothing. Out: data, as in `tests/semantics/manifest_rows.py`; the bugs are in
`tests/planted/planted_adapters.py`.
"""

from __future__ import annotations

TRAPS: dict[str, tuple[str, str]] = {
    "T-39": (
        "A redirect runs the substitute, and never the original on other arguments.",
        "redirects change the name only",
    ),
    "T-40": (
        "A guarded node decides however it is run.",
        "plain runs are not decided",
    ),
    "T-41": (
        "A tool that is hidden from the model is refused when it is named.",
        "refused calls are let through",
    ),
    "T-42": (
        "No handler of errors swallows a question to a person.",
        "a question is an error",
    ),
    "T-43": (
        "An approval reaches the call that it was given to, and no other.",
        "any answer will do",
    ),
    "T-44": (
        "What has run does not run again when the graph is resumed.",
        "parallel calls are no tasks",
    ),
    "T-45": (
        "A call without an id does not run.",
        "calls need no ids",
    ),
    "T-46": (
        "A guarded tool keeps its artifacts, its state, its identity and its flags.",
        "tools see no state",
    ),
    "T-47": (
        "A replay or a fork has the history that it has, and no other.",
        "a thread has one session for ever",
    ),
    "T-48": (
        "A hook that crashes lets nothing run.",
        "what hooks raise is ignored",
    ),
}
"""Ways in which an adapter lets calls run past the contracts, twice, or for somebody else."""
