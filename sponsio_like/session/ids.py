"""Makes unique names: of calls, of values, and of results.

Out: a text that is unique over processes and machines, without asking the system each time.
"""

from __future__ import annotations

import itertools
import os
import secrets

MADE = "auto-"
"""With this begins an id that the session made for a call."""
_numbers = itertools.count(1)
_own = ""


def _renew() -> None:
    global _own  # noqa: PLW0603  a process that was forked is another one
    _own = f"{secrets.token_hex(8)}-"


_renew()
if hasattr(os, "register_at_fork"):  # there are systems that cannot fork
    os.register_at_fork(after_in_child=_renew)


def fresh_id(prefix: str = "") -> str:
    """Return a name that was never given."""
    return f"{prefix}{_own}{next(_numbers)}"


def own_id(id: str | None) -> str:
    """Return the id of a call; a fresh one if the host gave none, or an empty one."""
    return fresh_id(MADE) if id is None or id == "" else id
