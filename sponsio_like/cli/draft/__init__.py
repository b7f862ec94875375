"""The command `draft`: contracts for a specification, drafted by a model and checked on recorded
runs.

In: texts, traces, tool files and a model. Out: a contract file of which each line was checked.
"""

from sponsio_like.cli.draft.command import DraftRequest, prompt_for, run_draft
from sponsio_like.cli.draft.tool_files import kinds_in_tools, unchecked_names

# fmt: off
__all__ = [
    "DraftRequest", "kinds_in_tools", "prompt_for", "run_draft", "unchecked_names",
]
# fmt: on
