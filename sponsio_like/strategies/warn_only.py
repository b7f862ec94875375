"""The strategy `warn_only`: let the call run, and warn in the outcome and in the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sponsio_like.contracts import Vocabulary, none
from sponsio_like.outcome import Warn


def warn_only(options: Mapping[str, Any], words: Vocabulary) -> Warn:
    """Return the decision to warn. Raises `ContractError` if there are options."""
    del words
    none("warn_only", options)
    return Warn()
