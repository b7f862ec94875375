"""The strategies that contract files can name: `block`, `escalate`, `redirect_to_safe`, `stop`,
`warn_only`; and what reads `strategy:` and its options.

In: the name of a strategy and its options, as they stand in a contract file; they are read once,
when contracts are loaded. Out: the decision on each violation. Users may name a callable of theirs
instead; the set of decisions (`outcome.Decision`) is closed.
"""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from sponsio_like.contracts.operands import check_keys
from sponsio_like.contracts.parameters import Duration, Name, OneTool, Renames, read_parameter
from sponsio_like.contracts.targets import NOTHING, Vocabulary
from sponsio_like.errors import ContractError, Problems, closest, read_at, read_each
from sponsio_like.events import Call, Message
from sponsio_like.notices import Mailbox, Sparsely
from sponsio_like.outcome import Ask, Block, Decision, Escalate, Redirect, Stop, Violation, Warn
from sponsio_like.values import freeze


def check_no_options(name: str, options: Mapping[str, Any]) -> None:
    """Raise `ContractError` if there are any options."""
    if options:
        raise ContractError.of(f"`{name}` has no options", f"write strategy: {name}")


def read_function(value: Any, what: str) -> Callable[[Any], Any]:
    """Return a callable of one argument, given as it is or by its path `package.module:name`.

    Raises `ContractError` if there is no such callable.
    """
    found = _imported(value) if isinstance(value, str) else value
    if not callable(found):
        raise ContractError.of(f"`{value}` is not {what}", "write package.module:callable")
    try:
        inspect.signature(found).bind(None)
    except TypeError:
        raise ContractError.of(f"`{value}` has to take one argument") from None
    except ValueError:  # a builtin that does not say
        pass
    made: Callable[[Any], Any] = found
    return made


SPARSE = ("every", "per_minute")
"""The options of a notifier that is told less."""


def mailbox(value: Any) -> Mailbox:
    """Return the mailbox of a notifier: a function, its path, `{webhook: url}`, `{slack: url}`.

    Raises `ContractError` for what cannot be told anything.
    """
    if isinstance(value, Mailbox):
        return value
    if isinstance(value, str) and "://" in value:
        raise ContractError.of("an address is no notifier by itself", "write {webhook: https://..}")
    if not isinstance(value, Mapping):
        return Mailbox(read_function(value, "a notifier"))
    problems = Problems()
    options = ("timeout", "retries", "headers")
    check_keys(value, ("webhook", "slack", *options, *SPARSE), "notifier", problems)
    problems.check()
    kind = "slack" if "slack" in value else "webhook"
    if not isinstance(value.get(kind), str) or {"slack", "webhook"} <= set(value):
        raise ContractError.of("a notifier needs one address", "write {webhook: https://..}")
    rest = {key: value[key] for key in options if key in value}
    from sponsio_like.webhook import Webhook

    told: Callable[[Any], Any] = Webhook(value[kind], **rest, slack=kind == "slack")
    sparse = {key: value[key] for key in SPARSE if key in value}
    if sparse or kind == "slack":
        told = Sparsely(told, **({"every": 0} if kind == "webhook" else {}) | sparse)
    return Mailbox(told, kind)


def mailboxes(value: Any) -> tuple[Mailbox, ...]:
    """Return the mailboxes of one notifier, or of several.

    Raises `ContractError` as `mailbox` does.
    """
    one = isinstance(value, (str, Mapping, Mailbox)) or not isinstance(value, Iterable)
    each = () if value is None else (value,) if one else tuple(value)
    return tuple(read_at(("notify",), read_each, mailbox, each))


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    if not name or not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise ContractError.of(
            f"`{path}` is no path to a callable", "write package.module:callable"
        )
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # to import a module is to run it
        why = f"{type(error).__name__}: {error}"
        raise ContractError.of(f"`{path}` cannot be imported: {why}") from error
    return found


Options: TypeAlias = Mapping[str, Any]
Strategy: TypeAlias = Callable[[Options, Vocabulary], Decision]


def block(options: Options, _: Vocabulary) -> Block:
    """Return the decision to refuse the call and to tell the model why, and the shortest way to
    make it legal. Raises `ContractError` if there are options.
    """
    check_no_options("block", options)
    return Block()


def stop(options: Options, _: Vocabulary) -> Stop:
    """Return the decision to refuse the call and every later one of the session, which ends the
    run. Raises `ContractError` if there are options.
    """
    check_no_options("stop", options)
    return Stop()


def warn_only(options: Options, _: Vocabulary) -> Warn:
    """Return the decision to let the call run, with a warning in the outcome and in the log.
    Raises `ContractError` if there are options.
    """
    check_no_options("warn_only", options)
    return Warn()


def escalate(options: Options, words: Vocabulary) -> Escalate:
    """Return the decision to hold the call until a person has answered, of
    `{roles: [..], notify: [..], within: seconds}`; all may be left out.

    A notifier is a callable, `package.module:callable`, or `{webhook: url, timeout: s, retries:
    n, headers: {..}}`. Raises `ContractError` with every mistake.
    """
    problems = Problems()
    check_keys(options, ("roles", "notify", "within"), "strategy", problems)
    read = {"roles": tuple[Name, ...] | None, "within": Duration | None}
    roles, within = (
        problems.attempt((key,), read_parameter, kind, options.get(key), words)
        for key, kind in read.items()
    )
    boxes = problems.attempt((), mailboxes, options.get("notify"))
    problems.check()
    return Escalate(roles or (), boxes or (), within)


def redirect_to_safe(options: Options, words: Vocabulary) -> Redirect:
    """Return the decision to run another tool instead, of `{to: tool, map: {old name: new name}}`.

    The substitute has the call's id and is decided like any call. An argument renamed to null is
    left out. Raises `ContractError` with every mistake.
    """
    problems = Problems()
    check_keys(options, ("to", "map"), "redirect", problems)
    if "to" not in options:
        raise ContractError.of(
            "`redirect_to_safe` needs `to`", "write {redirect_to_safe: {to: tool}}"
        )
    to = problems.attempt(("to",), read_parameter, OneTool, options.get("to", ""), words)
    renames = problems.attempt(("map",), read_parameter, Renames | None, options.get("map"), words)
    problems.check()
    return Redirect(str(to), renames)


STRATEGIES: dict[str, Strategy] = {
    "block": block,
    "escalate": escalate,
    "redirect_to_safe": redirect_to_safe,
    "stop": stop,
    "warn_only": warn_only,
}
"""The strategies, by name."""


def strategy(value: Any, words: Vocabulary = NOTHING) -> Decision:
    """Return the decision of a strategy: its name, `{name: {option: value}}`, or a callable.

    A callable, or its path `package.module:callable`, is given the `Violation` and answers with one
    of the others. Raises `ContractError` for a strategy that does not exist.
    """
    if isinstance(value, Decision):
        return value
    name: Any = value
    options: Any = None
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, options),) = value.items()
    if isinstance(name, str) and name in STRATEGIES:
        if not isinstance(options, Mapping | None):
            raise ContractError.of(
                f"`{options}` does not describe `{name}`", f"write {name}, or {{{name}: {{..}}}}"
            )
        return read_at((name,), STRATEGIES[name], options or {}, words)
    if callable(value) or (isinstance(value, str) and ":" in value):
        return _asking(value)
    raise _unknown(name)


def _asking(value: Any) -> Ask:
    found = read_function(value, "a strategy")
    if inspect.iscoroutinefunction(found):
        raise ContractError.of(f"`{value}` is a coroutine", "a strategy is a plain function")
    name = value if isinstance(value, str) else getattr(found, "__qualname__", repr(found))
    return Ask(name, found)


def ruling(ask: Ask, violation: Violation, event: Call | Message) -> Decision:
    """Return the decision that the user's callable makes about a violation.

    It is given the call with its own copy of the arguments, or the text of a response. If it
    raises, or answers with anything but a strategy, the decision is to block.
    """
    try:
        if isinstance(event, Call):
            told = replace(violation, call=replace(event, args=freeze(event.args)))
        else:
            told = replace(violation, text=event.text)
        answer = strategy(ask.function(told))
    except Exception:  # a strategy is user code; whatever goes wrong, the call does not run
        logger().exception("strategy %s of contract `%s` failed", ask.name, violation.contract)
        return Block()
    return Block() if isinstance(answer, Ask) else answer


def logger() -> logging.Logger:
    """Return the logger that failures of user code are written to."""
    return logging.getLogger("sponsio_like")


def _unknown(name: Any) -> ContractError:
    if name in ("observe", "enforce"):
        return ContractError.of(f"`{name}` is a mode", f"write mode: {name}")
    if isinstance(name, str) and "." in name:
        return ContractError.of(
            f"unknown strategy `{name}`", "a callable is written package.module:callable"
        )
    return ContractError.of(f"unknown strategy `{name}`", closest(name, tuple(STRATEGIES)))
