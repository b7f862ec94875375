"""The registry of strategies, and the readers of `strategy:` and of options: they give a decision.

The strategies of this package are in the room `strategies`, which fills the registry. A callable of
the user may be one, too.
"""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from sponsio_like.contracts.operands import only
from sponsio_like.contracts.targets import NOTHING, Vocabulary
from sponsio_like.errors import ContractError, Problems, closest
from sponsio_like.events import Call, Message
from sponsio_like.notices import Mailbox, Sparsely
from sponsio_like.outcome import Ask, Block, Decision, Violation
from sponsio_like.values import freeze


def none(name: str, options: Mapping[str, Any]) -> None:
    """Raise `ContractError` if there are any options."""
    if options:
        raise ContractError.of(f"`{name}` has no options", f"write strategy: {name}")


def function(value: Any, what: str) -> Callable[[Any], Any]:
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
        return Mailbox(function(value, "a notifier"))
    problems = Problems()
    options = ("timeout", "retries", "headers")
    only(value, ("webhook", "slack", *options, *SPARSE), "notifier", problems)
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
    problems = Problems()
    boxes = [problems.attempt(("notify", i), mailbox, one) for i, one in enumerate(each)]
    problems.check()
    return tuple(box for box in boxes if box is not None)


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


Strategy: TypeAlias = Callable[[Mapping[str, Any], Vocabulary], Decision]

STRATEGIES: dict[str, Strategy] = {}
"""The strategies, by name; the room `strategies` fills it."""


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
        problems = Problems()
        found = problems.attempt((name,), STRATEGIES[name], options or {}, words)
        problems.check()
        return found or Block()
    if callable(value) or (isinstance(value, str) and ":" in value):
        return _asking(value)
    raise _unknown(name)


def _asking(value: Any) -> Ask:
    found = function(value, "a strategy")
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
