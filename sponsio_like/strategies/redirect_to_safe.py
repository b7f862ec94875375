"""The strategy `redirect_to_safe`: run a safe tool instead, under the same call id.

The substitute is decided like any call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sponsio_like.contracts import OneTool, Renames, Vocabulary, only, read_parameter
from sponsio_like.errors import ContractError, Problems
from sponsio_like.outcome import Redirect


def redirect_to_safe(options: Mapping[str, Any], words: Vocabulary) -> Redirect:
    """Return the decision for `{to: tool, map: {old name: new name}}`.

    An argument renamed to null is dropped. Raises `ContractError` with every mistake.
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
