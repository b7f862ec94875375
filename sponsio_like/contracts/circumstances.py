"""Makes formulas of the conditions of sentences.

In: a condition as `prose` reads it, `["not", ["done", "login"]]`. Out: a `Formula` about now and
before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.contracts.targets import Vocabulary, read_target
from sponsio_like.logic.formula import Formula


def tool_test(words: Vocabulary) -> Callable[[str], bool]:
    """Return a function that is true of the names of tools and actions."""
    return lambda name: name in words.places or name in words.actions


def condition_formula(what: Any, words: Vocabulary) -> Formula:
    """Return the formula of a condition. Raises `ContractError` for what stands in it."""
    kind, *parts = what
    match kind:
        case "both":
            return f.conj(*(condition_formula(each, words) for each in parts))
        case "either":
            return f.disj(*(condition_formula(each, words) for each in parts))
        case "not":
            return ~condition_formula(parts[0], words)
        case "ctx":
            return f.Ctx(parts[0]).equals(parts[1])
        case "called" | "done" | "failed":
            return f.Once(f.Happens(kind, read_target(parts[0], words)))
        case "now":
            return f.Happens("called", read_target(parts[0], words))
        case "permitted":
            return f.Permitted(parts[0])
        case "agent":
            return f.ByAgent(parts[0])
    names = [parts[0]] if isinstance(parts[0], str) else parts[0]
    return f.disj(*(f.Approved(each, parts[1]) for each in names))
