"""The kinds of text: each reads a text by its grammar into facts.

In: the text of an argument or an answer. Out: facts by name, each with its values. A contract asks
for them by a path, `command:shell.runs[]`, or by `command: {runs: [rm]}` where the field's kind is
declared. `UNREADABLE` stands among the values for what cannot be resolved; a prohibition refuses
it. A kind of yours is a function with `@kind`.
"""

from sponsio_like.kinds.email import domain, email
from sponsio_like.kinds.file_path import file_path
from sponsio_like.kinds.registry import installed, kind, unknown
from sponsio_like.kinds.shell import shell
from sponsio_like.kinds.sql import SQL_VERBS, sql
from sponsio_like.kinds.url import host_of, private_host, url
from sponsio_like.values import UNREADABLE, Facts

# fmt: off
__all__ = [
    "SQL_VERBS", "UNREADABLE", "Facts", "domain", "email", "file_path", "host_of", "installed",
    "kind", "private_host", "shell", "sql", "unknown", "url",
]
# fmt: on
