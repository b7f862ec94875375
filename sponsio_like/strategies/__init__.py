"""The strategies that contract files can name: `block`, `escalate`, `redirect_to_safe`, `stop`,
`warn_only`.

In: the options of a strategy, as they stand in a contract file; they are read once, when contracts
are loaded. Out: the decision on each violation. Users may name a callable of theirs instead; the
set of decisions (`outcome.Decision`) is closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sponsio_like.contracts import (
    STRATEGIES,
    Duration,
    Name,
    OneTool,
    Renames,
    Vocabulary,
    mailboxes,
    none,
    only,
    read_parameter,
)
from sponsio_like.errors import ContractError, Problems
from sponsio_like.outcome import Block, Escalate, Redirect, Stop, Warn

Options = Mapping[str, Any]


def block(options: Options, _: Vocabulary) -> Block:
    """Return the decision to refuse the call and to tell the model why, and the shortest way to
    make it legal. Raises `ContractError` if there are options.
    """
    none("block", options)
    return Block()


def stop(options: Options, _: Vocabulary) -> Stop:
    """Return the decision to refuse the call and every later one of the session, which ends the
    run. Raises `ContractError` if there are options.
    """
    none("stop", options)
    return Stop()


def warn_only(options: Options, _: Vocabulary) -> Warn:
    """Return the decision to let the call run, with a warning in the outcome and in the log.
    Raises `ContractError` if there are options.
    """
    none("warn_only", options)
    return Warn()


def escalate(options: Options, words: Vocabulary) -> Escalate:
    """Return the decision to hold the call until a person has answered, of
    `{roles: [..], notify: [..], within: seconds}`; all may be left out.

    A notifier is a callable, `package.module:callable`, or `{webhook: url, timeout: s, retries:
    n, headers: {..}}`. Raises `ContractError` with every mistake.
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


def redirect_to_safe(options: Options, words: Vocabulary) -> Redirect:
    """Return the decision to run another tool instead, of `{to: tool, map: {old name: new name}}`.

    The substitute has the call's id and is decided like any call. An argument renamed to null is
    left out. Raises `ContractError` with every mistake.
    """
    problems = Problems()
    only(options, ("to", "map"), "redirect", problems)
    if "to" not in options:
        raise ContractError.of(
            "`redirect_to_safe` needs `to`", "write {redirect_to_safe: {to: tool}}"
        )
    to = problems.attempt(("to",), read_parameter, OneTool, options.get("to", ""), words)
    renames = problems.attempt(("map",), read_parameter, Renames | None, options.get("map"), words)
    problems.check()
    return Redirect(str(to), renames)


STRATEGIES.update(
    block=block,
    escalate=escalate,
    redirect_to_safe=redirect_to_safe,
    stop=stop,
    warn_only=warn_only,
)
