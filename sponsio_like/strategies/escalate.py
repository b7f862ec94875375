"""Hold the call until a person has answered; notifiers tell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sponsio_like.errors import ContractError, Problems
from sponsio_like.kinds import Duration, Name, read
from sponsio_like.notices import Mailbox
from sponsio_like.operands import only
from sponsio_like.outcome import Escalate
from sponsio_like.strategies.options import function
from sponsio_like.vocabulary import Vocabulary


def escalate(options: Mapping[str, Any], words: Vocabulary) -> Escalate:
    """`{roles: [..], notify: [..], within: seconds}`; all may be left out.

    A notifier is a callable, `package.module:callable`, or `{webhook: url, timeout: s, retries:
    n, headers: {..}}`.
    """
    problems = Problems()
    only(options, ("roles", "notify", "within"), "strategy", problems)
    given = {key: value for key, value in options.items() if value is not None}
    roles = (
        problems.attempt(("roles",), read, tuple[Name, ...], given["roles"], words)
        if "roles" in given
        else ()
    )
    within = (
        problems.attempt(("within",), read, Duration, given["within"], words)
        if "within" in given
        else None
    )
    notify = given.get("notify", [])
    each = notify if isinstance(notify, (list, tuple)) else [notify]
    boxes = [problems.attempt(("notify", i), _mailbox, one) for i, one in enumerate(each)]
    problems.check()
    return Escalate(roles or (), tuple(box for box in boxes if box is not None), within)


def _mailbox(value: Any) -> Mailbox:
    if isinstance(value, Mailbox):
        return value
    if not isinstance(value, Mapping):
        return Mailbox(function(value, "a notifier"))
    problems = Problems()
    only(value, ("webhook", "timeout", "retries", "headers"), "notifier", problems)
    problems.check()
    if not isinstance(value.get("webhook"), str):
        raise ContractError.of("a notifier needs an address", "write {webhook: https://..}")
    rest = {key: value[key] for key in ("timeout", "retries", "headers") if key in value}
    from sponsio_like.webhook import Webhook

    return Mailbox(Webhook(value["webhook"], **rest), "webhook")
