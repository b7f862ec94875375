"""What to do when a contract is violated: a file for each strategy, and its line here.

A strategy reads its options, once, at load time, and says how a violation is answered. The set of
strategies is open; the set of answers (`outcome.Decision`) is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from sponsio_like.errors import ContractError, Problems, closest
from sponsio_like.outcome import Block, Decision, Redirect, Warn
from sponsio_like.strategies.block import block
from sponsio_like.strategies.redirect_to_safe import redirect_to_safe
from sponsio_like.strategies.warn_only import warn_only
from sponsio_like.vocabulary import NOTHING, Vocabulary

Strategy: TypeAlias = Callable[[Mapping[str, Any], Vocabulary], Decision]

STRATEGIES: dict[str, Strategy] = {
    "block": block,
    "redirect_to_safe": redirect_to_safe,
    "warn_only": warn_only,
}


def strategy(value: Any, words: Vocabulary = NOTHING) -> Decision:
    """The decision of a strategy: its name, or `{name: {option: value}}`.

    Raises `ContractError` for a strategy that does not exist, or not yet.
    """
    if isinstance(value, Block | Warn | Redirect):
        return value
    name: Any = value
    options: Any = None
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, options),) = value.items()
    if isinstance(name, str) and name in STRATEGIES and isinstance(options or {}, Mapping):
        problems = Problems()
        found = problems.attempt((name,), STRATEGIES[name], options or {}, words)
        problems.check()
        return found or Block()
    raise _unknown(name)


def _unknown(name: Any) -> ContractError:
    if name in ("observe", "enforce"):
        return ContractError.of(f"`{name}` is a mode", f"write mode: {name}")
    if name == "escalate":
        return ContractError.of("`escalate` comes in a later version", "write block for now")
    if isinstance(name, str) and (":" in name or "." in name):
        what = f"callables such as `{name}` come in a later version"
        return ContractError.of(what, "write block for now")
    return ContractError.of(f"unknown strategy `{name}`", closest(name, tuple(STRATEGIES)))
