"""What to do when a contract is violated: a file for each strategy, and its line here.

A strategy reads its options, once, at load time, and says how a violation is answered. The set of
strategies is open, and a callable of the user may be one; the set of answers (`outcome.Decision`)
is closed.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from sponsio_like.errors import ContractError, Problems, closest
from sponsio_like.events import Call, Message
from sponsio_like.freezing import freeze
from sponsio_like.outcome import Ask, Block, Decision, Violation
from sponsio_like.strategies.block import block
from sponsio_like.strategies.escalate import escalate
from sponsio_like.strategies.options import function
from sponsio_like.strategies.redirect_to_safe import redirect_to_safe
from sponsio_like.strategies.stop import stop
from sponsio_like.strategies.warn_only import warn_only
from sponsio_like.vocabulary import NOTHING, Vocabulary

Strategy: TypeAlias = Callable[[Mapping[str, Any], Vocabulary], Decision]

STRATEGIES: dict[str, Strategy] = {
    "block": block,
    "escalate": escalate,
    "redirect_to_safe": redirect_to_safe,
    "stop": stop,
    "warn_only": warn_only,
}


def strategy(value: Any, words: Vocabulary = NOTHING) -> Decision:
    """The decision of a strategy: its name, `{name: {option: value}}`, or a callable.

    A callable, or its path `package.module:callable`, is given the `Violation` and answers with
    one of the others. Raises `ContractError` for a strategy that does not exist.
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
    """What the callable of the user answers. One that raises, or answers otherwise, blocks.

    It is given the call with a copy of its arguments of its own, or the text of a response.
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
    """Where failures of user code are told."""
    return logging.getLogger("sponsio_like")


def _unknown(name: Any) -> ContractError:
    if name in ("observe", "enforce"):
        return ContractError.of(f"`{name}` is a mode", f"write mode: {name}")
    if isinstance(name, str) and "." in name:
        return ContractError.of(
            f"unknown strategy `{name}`", "a callable is written package.module:callable"
        )
    return ContractError.of(f"unknown strategy `{name}`", closest(name, tuple(STRATEGIES)))
