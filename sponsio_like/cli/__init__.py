"""The command line `sponsio-like`: arguments in, text out, no logic.

In: the words of a command. Out: text, an exit status, and files where the user asks for them.
"""

from sponsio_like.cli import files, runs, shadow  # noqa: F401 - each adds its commands
from sponsio_like.cli.root import app, main

__all__ = ["app", "main"]
