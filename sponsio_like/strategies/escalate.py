"""The strategy `escalate`: hold the call until a person has answered; notifiers tell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sponsio_like.contracts import Duration, Name, Vocabulary, mailboxes, only, read_parameter
from sponsio_like.errors import Problems
from sponsio_like.outcome import Escalate


def escalate(options: Mapping[str, Any], words: Vocabulary) -> Escalate:
    """Return the decision for `{roles: [..], notify: [..], within: seconds}`; all may be left out.

    A notifier is a callable, `package.module:callable`, or `{webhook: url, timeout: s, retries:
    n, headers: {..}}`.
    """
    problems = Problems()
    only(options, ("roles", "notify", "within"), "strategy", problems)
    given = {key: value for key, value in options.items() if value is not None}
    roles = (
        problems.attempt(("roles",), read_parameter, tuple[Name, ...], given["roles"], words)
        if "roles" in given
        else ()
    )
    within = (
        problems.attempt(("within",), read_parameter, Duration, given["within"], words)
        if "within" in given
        else None
    )
    boxes = problems.attempt((), mailboxes, given.get("notify"))
    problems.check()
    return Escalate(roles or (), boxes or (), within)
