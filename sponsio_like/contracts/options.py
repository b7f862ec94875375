"""Readers for the options of strategies: callables, notifiers."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sponsio_like.contracts.operands import only
from sponsio_like.errors import ContractError, Problems
from sponsio_like.notices import Mailbox


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


def mailbox(value: Any) -> Mailbox:
    """Return the mailbox of a notifier: a function, its path, or `{webhook: url}`.

    Raises `ContractError` for what cannot be told anything.
    """
    if isinstance(value, Mailbox):
        return value
    if isinstance(value, str) and "://" in value:
        raise ContractError.of("an address is no notifier by itself", "write {webhook: https://..}")
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
