"""The registry of strategies, and the reader of `strategy:`, which yields a decision.

The strategies of this package are in the room `strategies`, which fills the registry. A callable of
the user may be one, too.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from sponsio_like.contracts.options import function
from sponsio_like.contracts.targets import NOTHING, Vocabulary
from sponsio_like.errors import ContractError, Problems, closest
from sponsio_like.events import Call, Message
from sponsio_like.outcome import Ask, Block, Decision, Violation
from sponsio_like.values import freeze

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
