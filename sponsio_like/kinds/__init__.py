"""The kinds of text: each reads a text by its grammar into facts.

In: the text of an argument or an answer. Out: facts by name, each with its values. A contract asks
for them by a path, `command:shell.runs[]`, or by `command: {runs: [rm]}` where the field's kind is
declared. `UNREADABLE` stands among the values for what cannot be resolved; a prohibition refuses
it. A kind of yours is a function with `@kind`.
"""

from sponsio_like.kinds.date import date_bounds, date_text
from sponsio_like.kinds.detectors import chosen_detectors, has_hits, hits
from sponsio_like.kinds.email import domain, email
from sponsio_like.kinds.fact_values import value_hint
from sponsio_like.kinds.file_path import file_path
from sponsio_like.kinds.ident import ident
from sponsio_like.kinds.money import money
from sponsio_like.kinds.personal import personal
from sponsio_like.kinds.registry import OfKind, import_needed, installed, kind, unknown
from sponsio_like.kinds.secret import secrets
from sponsio_like.kinds.shell import shell
from sponsio_like.kinds.sql import SQL_VERBS, sql
from sponsio_like.kinds.url import host_of, private_host, url
from sponsio_like.values import UNREADABLE, Facts

# fmt: off
__all__ = [
    "SQL_VERBS", "UNREADABLE", "Facts", "OfKind", "chosen_detectors", "date_bounds", "date_text",
    "domain", "email", "file_path", "has_hits", "hits", "host_of", "ident", "import_needed",
    "installed", "kind", "money", "personal", "private_host", "secrets", "shell", "sql", "unknown",
    "url", "value_hint",
]
# fmt: on
