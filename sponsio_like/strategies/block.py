"""Refuse the call; the model is told why, and the shortest way to make it legal. The default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sponsio_like.contracts.options import none
from sponsio_like.contracts.targets import Vocabulary
from sponsio_like.outcome import Block


def block(options: Mapping[str, Any], words: Vocabulary) -> Block:
    """`block` has no options."""
    del words
    none("block", options)
    return Block()
