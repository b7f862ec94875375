"""The strategy `block`, the default: refuse the call, and tell the model why.

The model is also told the shortest way to make the call legal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sponsio_like.contracts import Vocabulary, none
from sponsio_like.outcome import Block


def block(options: Mapping[str, Any], words: Vocabulary) -> Block:
    """Return the decision to block. Raises `ContractError` if there are options."""
    del words
    none("block", options)
    return Block()
